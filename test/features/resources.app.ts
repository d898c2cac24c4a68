import {
  Catch,
  createParamDecorator,
  ForbiddenException,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Scope,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import {
  McpContext,
  McpError,
  McpModule,
  McpResource,
  type McpModuleOptions,
  type McpResourceContents,
} from 'nest-mcp';
import { z } from 'zod';

export class TicketDto {
  @IsInt()
  @Min(1)
  id: number;

  @IsOptional()
  @IsIn(['short', 'long'])
  form?: string;

  label(): string {
    return `Ticket ${this.id}`;
  }
}

const REPORT = z.object({ year: z.number().int(), open: z.boolean().optional() });

const LOGS = {
  type: 'object',
  properties: {
    level: { type: 'integer' },
    ratio: { type: 'number' },
    tag: { type: 'array', items: { type: 'string' } },
  },
  required: ['level'],
};

/** Counts how often a handler ran, so that a refusal is seen to be one before it. */
export const ran = new Map<string, number>();

export function resetRuns(): void {
  ran.clear();
}

const Uri = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const [, , , , call] = context.getArgs<[unknown, unknown, unknown, unknown, McpContext]>();
  return `decorated ${call.name}`;
});

@Injectable()
export class Listed {
  @McpResource({
    uri: 'docs://handbook',
    name: 'handbook',
    title: 'The handbook',
    description: 'All that is to be known',
    mimeType: 'text/markdown',
    size: 10,
    icons: [{ src: 'https://example.com/book.png', mimeType: 'image/png', sizes: ['48x48'] }],
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-07-28T10:00:00Z' },
    meta: { 'example.com/shelf': 3 },
    cache: { ttlMs: 60_000, scope: 'public' },
  })
  handbook(): string {
    return '# Handbook';
  }

  @McpResource({
    uri: 'ticket://{id}{?form}',
    name: 'ticket',
    title: 'One ticket',
    description: 'A ticket by its number',
    mimeType: 'application/json',
    icons: [{ src: 'https://example.com/ticket.png' }],
    annotations: { priority: 1, lastModified: '2026-07-28T10:00:00Z' },
    meta: { 'example.com/shelf': 4 },
    cache: { ttlMs: 5 },
  })
  ticket(params: TicketDto, context: McpContext): unknown {
    ran.set('ticket', (ran.get('ticket') ?? 0) + 1);
    return {
      params,
      isInstance: params instanceof TicketDto,
      label: params.label(),
      uri: context.name,
    };
  }
}

@Injectable()
export class Variables {
  @McpResource({ uri: 'report://{year}{?open}', params: REPORT })
  report(params: z.infer<typeof REPORT>): unknown {
    return params;
  }

  @McpResource({ uri: 'logs://{level}{?ratio,tag*}', params: LOGS })
  logs(params: Record<string, unknown>): unknown {
    return params;
  }

  @McpResource('dom://{id}{?a,b}')
  dom(params: Record<string, string>): unknown {
    return params;
  }

  @McpResource('rooms:///{path}')
  room({ path }: Record<string, string>): string {
    return path!;
  }

  @McpResource('file:///{+path}')
  file({ path }: Record<string, string>): string {
    return path!;
  }

  @McpResource('docs://a.b/c?x={x}')
  query(params: Record<string, string>): unknown {
    return params;
  }

  @McpResource('lists://{first}{/rest*}')
  list(params: Record<string, unknown>): unknown {
    return params;
  }

  @McpResource('bare://{id}')
  bare(context: McpContext): string {
    return context.name;
  }

  @McpResource('decorated://{id}')
  decorated(@Uri() uri: string, { id }: Record<string, string>): string {
    return `${uri} ${id}`;
  }
}

@Injectable()
export class Order {
  @McpResource('order://a/{x}')
  first(): string {
    return 'a/{x}';
  }

  @McpResource('order://{x}/{y}')
  second(): string {
    return '{x}/{y}';
  }

  @McpResource('order://a/one')
  fixed(): string {
    return 'fixed';
  }
}

const LARGER = new Uint8Array([9, 9, 0xff, 0xd8, 0xfe, 9]);

/** What `contents://{kind}` returns. */
const CONTENTS: Record<string, () => unknown> = {
  text: () => 'plain',
  'empty-text': () => '',
  number: () => 0,
  object: () => ({ a: 1 }),
  list: () => [],
  date: () => new Date(0),
  buffer: () => Buffer.from([0xff, 0xd8, 0xfe]),
  bytes: () => Uint8Array.of(0xff, 0xd8, 0xfe),
  view: () => LARGER.subarray(2, 5),
  'buffer-view': () => Buffer.from(LARGER.buffer, 2, 3),
  'data-view': () => new DataView(LARGER.buffer, 2, 3),
  'array-buffer': () => Uint8Array.of(0xff, 0xd8, 0xfe).buffer,
  'blob-member': () => ({ blob: LARGER.subarray(2, 5), mimeType: 'image/jpeg' }),
  'empty-bytes': () => Buffer.alloc(0),
  several: (): Partial<McpResourceContents>[] => [
    { text: 'one' },
    { uri: 'contents://several/2', text: 'two', mimeType: 'text/x-two', _meta: { 'example.com/n': 2 } },
    { uri: 'contents://several/3', blob: '/9j+' },
  ],
  whole: () => ({ contents: [{ text: 'whole' }], _meta: { 'example.com/whole': true } }),
  none: () => ({ contents: [] }),
  undefined: () => undefined,
  null: () => null,
  nothing: async function* () {},
  special: () => 'a\r\nb\n\ndata: c\n\nid: 1\n\u2028\u2029 \u{1F600}',
};

@Injectable()
export class Contents {
  @McpResource('contents://{kind}')
  async contents({ kind }: Record<string, string>, context: McpContext): Promise<unknown> {
    await context.progress(1);
    return CONTENTS[kind!]?.();
  }

  @McpResource('fixed://undefined')
  fixedUndefined(): unknown {
    return undefined;
  }

  @McpResource('fixed://null')
  fixedNull(): unknown {
    return null;
  }

  @McpResource('large://{size}')
  large({ size }: Record<string, string>): string {
    return 'x'.repeat(Number(size));
  }

  @McpResource({ uri: 'large-bytes://{size}', mimeType: 'image/png' })
  largeBytes({ size }: Record<string, string>): Buffer {
    return Buffer.alloc(Number(size), 0xff);
  }
}

class DomainError extends Error {
  constructor(readonly kind: string) {
    super(`canary of ${kind}`);
  }
}

/** A filter as a backend has it: it answers on the response, or gives the result. */
@Catch(DomainError)
class DomainFilter implements ExceptionFilter<DomainError> {
  catch({ kind }: DomainError, host: ArgumentsHost): unknown {
    if (kind === 'result') return 'from the filter';
    if (kind === 'error') throw new McpError(4001, 'read-only today', { until: '18:00' });
    const response = host
      .switchToHttp()
      .getResponse<{ status(code: number): { send(body: unknown): void } }>();
    response.status(Number(kind)).send(`status ${kind}`);
    return undefined;
  }
}

const THROWN: Record<string, () => unknown> = {
  '403': () => new ForbiddenException('Not yours'),
  '404': () => new NotFoundException('No such ticket'),
  '409': () => new HttpException('Somebody was faster', 409),
  '500': () => new HttpException('canary of the database', 500),
  mcp: () => new McpError(4001, 'read-only today', { until: '18:00' }),
  plain: () => new Error('canary of the driver'),
  text: () => 'canary',
  undefined: () => undefined,
};

/** Signals of the reads that hang. */
export const hanging = new Map<string, AbortSignal>();

@Injectable()
export class Failures {
  @McpResource('throws://{kind}')
  throws({ kind }: Record<string, string>): never {
    throw THROWN[kind!]!();
  }

  @McpResource('returns-error://{kind}')
  returnsError({ kind }: Record<string, string>): unknown {
    return THROWN[kind!]!();
  }

  @UseFilters(DomainFilter)
  @McpResource('filtered://{kind}')
  filtered({ kind }: Record<string, string>): never {
    throw new DomainError(kind!);
  }

  @McpResource({ uri: 'slow://{id}', timeout: 20 })
  slow(_: Record<string, string>, context: McpContext): Promise<never> {
    hanging.set(context.name, context.signal);
    return new Promise(() => undefined);
  }

  @McpResource('hangs://{id}')
  hangs(_: Record<string, string>, context: McpContext): Promise<string> {
    hanging.set(context.name, context.signal);
    return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve('late')));
  }
}

let made = 0;

@Injectable({ scope: Scope.REQUEST })
export class PerCall {
  private readonly number = ++made;
  private reads = 0;

  @McpResource('scoped://{id}')
  scoped({ id }: Record<string, string>): string {
    return `${id} ${this.number} ${++this.reads}`;
  }
}

export function resourcesModule(options: Partial<McpModuleOptions> = {}) {
  @Module({
    imports: [McpModule.forRoot({ name: 'resources', version: '1.0.0', ...options })],
    providers: [Listed, Variables, Order, Contents, Failures, PerCall],
  })
  class ResourcesModule {}
  return ResourcesModule;
}

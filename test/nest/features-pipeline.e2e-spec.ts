import { jest } from '@jest/globals';
import {
  BadRequestException,
  Catch,
  ConflictException,
  createParamDecorator,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  ParseIntPipe,
  UnprocessableEntityException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { IsInt, IsString, Min } from 'class-validator';
import {
  McpArgs,
  McpCompletion,
  McpContext,
  McpError,
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpResource,
} from 'nest-mcp';
import { map, of, tap, type Observable } from 'rxjs';
import { ADAPTERS, startApp, type AppOptions, type RunningApp } from '../support/app.js';
import { openPipe, type Pipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, openSession, type Json } from '../support/wire.js';
import { httpCallers, memoryCallers, stdioCallers, type Caller } from './feature-callers.js';

// What judges the answers is compiled with the first of them.
jest.setTimeout(30_000);
const traffic = new Traffic();
afterAll(() => traffic.verify());

function rootOf(features: readonly Type[], providers: Provider[] = []): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'pipeline', version: '1.0.0' })],
    providers: [...features, ...providers],
  })
  class RootModule {}
  return RootModule;
}

/** Runs some work against an application of its own, with a caller of each era over HTTP and in memory. */
async function within<T>(
  root: Type,
  options: AppOptions & { headers?: Record<string, string> },
  work: (callers: Caller[], running: RunningApp) => Promise<T>,
): Promise<T> {
  const { headers = {}, ...more } = options;
  const running = await startApp(root, more);
  try {
    const callers = [
      ...httpCallers(() => running.mcp, traffic, headers),
      ...memoryCallers(() => running.app, traffic, { headers }),
    ];
    return await work(callers, running);
  } finally {
    await running.close();
  }
}

class IdDto {
  @IsInt()
  @Min(1)
  id: number;
}

class TopicDto {
  @IsString()
  topic: string;
}

const readFixed: [string, Json] = ['resources/read', { uri: 'item://all' }];
const readItem: [string, Json] = ['resources/read', { uri: 'item://5' }];
const getPrompt: [string, Json] = ['prompts/get', { name: 'ask', arguments: { topic: 'rain' } }];
const complete: [string, Json] = [
  'completion/complete',
  {
    ref: { type: 'ref/prompt', name: 'ask' },
    argument: { name: 'topic', value: 'ra' },
  },
];
const requests = { fixed: readFixed, template: readItem, prompt: getPrompt, completion: complete };
type Kind = keyof typeof requests;
const KINDS = Object.keys(requests) as Kind[];

/** The text that an answer holds, or its error. */
function toldBy({ result, error }: Json): unknown {
  if (error) return error;
  const { contents, messages, completion } = result as {
    contents?: { text: string }[];
    messages?: { content: { text: string } }[];
    completion?: { values: string[] };
  };
  return contents?.[0]!.text ?? messages?.[0]!.content.text ?? completion!.values[0];
}

const tell = async (caller: Caller, kind: Kind) => toldBy(await caller.ask(...requests[kind]));
const requestOf = (context: ArgumentsHost) => context.switchToHttp().getRequest<Json>();

describe('the order of a call', () => {
  const steps: string[] = [];
  const isMcp = (context: ArgumentsHost) => context.getType<string>() === 'mcp';

  const guard = (name: string): CanActivate => ({
    canActivate(context) {
      if (isMcp(context)) steps.push(`${name} guard`);
      return true;
    },
  });
  const interceptor = (name: string): NestInterceptor => ({
    intercept(context, next) {
      if (!isMcp(context)) return next.handle();
      steps.push(`${name} interceptor`);
      return next.handle().pipe(tap({ finalize: () => steps.push(`${name} interceptor leaves`) }));
    },
  });
  const pipe = (name: string): PipeTransform => ({
    transform(value: unknown, { type, metatype }: ArgumentMetadata) {
      if (type === 'body') steps.push(`${name} pipe of ${metatype?.name}`);
      return value;
    },
  });
  const filter = (name: string): ExceptionFilter => {
    @Catch(ConflictException)
    class StepFilter implements ExceptionFilter {
      catch(_thrown: unknown, host: ArgumentsHost): unknown {
        steps.push(`${name} filter`);
        const { kind } = McpExecutionContext.create(host as ExecutionContext);
        return kind === 'completion' ? [`mended by ${name}`] : `mended by ${name}`;
      }
    }
    return new StepFilter();
  };
  const every = (name: string): MethodDecorator & ClassDecorator =>
    ((...target: [never]) => {
      for (const decorate of [
        UseGuards(guard(name)),
        UseInterceptors(interceptor(name)),
        UsePipes(pipe(name)),
        UseFilters(filter(name)),
      ])
        decorate(...target);
    }) as never;
  const conflict = (): never => {
    steps.push('handler');
    throw new ConflictException('unmended');
  };

  @every('class')
  class Ordered {
    @McpResource('item://all')
    @every('method')
    all(): never {
      return conflict();
    }

    @McpResource('item://{id}')
    @every('method')
    item(_params: IdDto): never {
      return conflict();
    }

    @McpPrompt()
    @every('method')
    ask(_args: TopicDto): never {
      return conflict();
    }
  }

  @every('own class')
  class OrderedCompletion {
    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    @every('own method')
    topics(_typed: string): never {
      return conflict();
    }
  }

  const APP: Provider[] = [
    { provide: APP_GUARD, useValue: guard('app') },
    { provide: APP_INTERCEPTOR, useValue: interceptor('app') },
    { provide: APP_PIPE, useValue: pipe('app') },
    { provide: APP_FILTER, useValue: filter('app') },
  ];
  const configure = (
    app: Pick<INestApplication, 'useGlobalGuards' | 'useGlobalInterceptors' | 'useGlobalPipes'>,
  ) => {
    app.useGlobalGuards(guard('global'));
    app.useGlobalInterceptors(interceptor('global'));
    app.useGlobalPipes(pipe('global'));
  };
  const call = (own: string, type?: string, before: string[] = []) => {
    const levels = ['app', 'global', `${own}class`, `${own}method`];
    return [
      ...before.map((level) => `${level} guard`),
      ...levels.map((level) => `${level} guard`),
      ...levels.map((level) => `${level} interceptor`),
      ...(type ? levels.map((level) => `${level} pipe of ${type}`) : []),
      'handler',
      ...levels.toReversed().map((level) => `${level} interceptor leaves`),
      `${own}method filter`,
    ];
  };
  const expected: Record<Kind, string[]> = {
    fixed: call(''),
    template: call('', 'IdDto'),
    prompt: call('', 'TopicDto'),
    // Of the prompt only the guards: its own pipeline is not what is called.
    completion: call('own ', undefined, ['app', 'global', 'class', 'method']),
  };
  const root = rootOf([Ordered, OrderedCompletion], APP);

  async function expectOrder(callers: readonly Caller[]): Promise<void> {
    for (const caller of callers) {
      for (const kind of KINDS) {
        steps.length = 0;
        expect(await tell(caller, kind)).toBe(`mended by ${kind === 'completion' ? 'own ' : ''}method`);
        expect({ kind, steps }).toEqual({ kind, steps: expected[kind] });
      }
    }
  }

  it.each(ADAPTERS)("is Nest's own in every kind, on %s and in memory", async (adapter) => {
    expect.hasAssertions();
    await within(root, { adapter, configure }, expectOrder);
  });

  it('is the same over stdio', async () => {
    expect.hasAssertions();
    const callers = stdioCallers(openPipe(root, { configure: (app) => configure(app as never) }), traffic);
    await expectOrder(callers);
    await callers.end();
  });
});

describe('interceptors', () => {
  let isCached = false;

  @Injectable()
  class WrapInterceptor implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      const { kind } = McpExecutionContext.create(context);
      if (isCached) return of(kind === 'completion' ? ['cached'] : 'cached');
      return next
        .handle()
        .pipe(
          map((value: unknown) =>
            kind === 'completion' ? (value as string[]).map((one) => `<${one}>`) : `<${value as string}>`,
          ),
        );
    }
  }

  let runs = 0;
  @UseInterceptors(WrapInterceptor)
  class Wrapped {
    @McpResource('item://all')
    all(): string {
      runs++;
      return 'all';
    }

    @McpResource('item://{id}')
    item({ id }: IdDto): Promise<string> {
      runs++;
      return Promise.resolve(`item ${id}`);
    }

    @McpPrompt()
    ask({ topic }: TopicDto): string {
      runs++;
      return topic;
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(typed: string): string[] {
      runs++;
      return [`${typed}in`];
    }
  }

  it.each(ADAPTERS)('map what a handler returns, in every kind, on %s', (adapter) =>
    within(rootOf([Wrapped]), { adapter }, async (callers) => {
      for (const caller of callers) {
        const told = [];
        for (const kind of KINDS) told.push(await tell(caller, kind));
        expect(told).toEqual(['<all>', '<item 5>', '<rain>', '<rain>']);
      }
    }),
  );

  it('answer instead of a handler, which does not run', async () => {
    isCached = true;
    runs = 0;
    await within(rootOf([Wrapped]), {}, async (callers) => {
      for (const caller of callers) for (const kind of KINDS) expect(await tell(caller, kind)).toBe('cached');
      expect(runs).toBe(0);
    });
    isCached = false;
  });
});

describe('pipes', () => {
  const Header = createParamDecorator(
    (name: string, context: ExecutionContext) => (requestOf(context)['headers'] as Json)[name],
  );

  class RefusePipe implements PipeTransform {
    transform(value: unknown, { type }: ArgumentMetadata): unknown {
      if (type === 'body') throw new UnprocessableEntityException('The pipe takes none of it');
      return value;
    }
  }

  class Piped {
    @McpResource('item://all')
    all(@Header('x-page', ParseIntPipe) page: number): string {
      return `page ${page + 1}`;
    }

    @McpResource('item://{id}')
    @UsePipes(RefusePipe)
    item(_params: IdDto): string {
      return 'never';
    }

    @McpPrompt()
    @UsePipes(RefusePipe)
    ask(_args: TopicDto): string {
      return 'never';
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(typed: string, @Header('x-page', ParseIntPipe) page: number): string[] {
      return [`${typed} ${page + 1}`];
    }
  }

  it.each(ADAPTERS)('of a method refuse arguments as -32602, on %s', (adapter) =>
    within(rootOf([Piped]), { adapter }, async (callers) => {
      const invalid = { code: -32602, message: 'The pipe takes none of it' };
      for (const caller of callers) {
        expect(await tell(caller, 'template')).toEqual({ ...invalid, data: { uri: 'item://5' } });
        expect(await tell(caller, 'prompt')).toEqual(invalid);
      }
    }),
  );

  it('of a parameter decorator run in every kind, and refuse as -32602', async () => {
    await within(rootOf([Piped]), { headers: { 'x-page': '4' } }, async (callers) => {
      for (const caller of callers) {
        expect(await tell(caller, 'fixed')).toBe('page 5');
        expect(await tell(caller, 'completion')).toBe('ra 5');
      }
    });
    await within(rootOf([Piped]), { headers: { 'x-page': 'four' } }, async (callers) => {
      const invalid = { code: -32602, message: 'Validation failed (numeric string is expected)' };
      for (const caller of callers) {
        expect(await tell(caller, 'fixed')).toEqual({ ...invalid, data: { uri: 'item://all' } });
        expect(await tell(caller, 'completion')).toEqual(invalid);
      }
    });
  });

  class Typed {
    @McpResource('item://{id}')
    item(params: IdDto): string {
      return `${params instanceof IdDto} ${typeof params.id} ${params.id}`;
    }

    @McpPrompt()
    ask(args: TopicDto): string {
      return `${args instanceof TopicDto} ${args.topic}`;
    }
  }

  it.each([
    ['without a ValidationPipe', undefined],
    ['with a global ValidationPipe that transforms', { transform: true, whitelist: true }],
    [
      'with one that refuses unknown members',
      { transform: true, forbidNonWhitelisted: true, whitelist: true },
    ],
  ])('make instances of texts and name each fault, %s', async (_how, options) => {
    const configure = (app: INestApplication) => {
      if (options) app.useGlobalPipes(new ValidationPipe(options));
    };
    await within(rootOf([Typed]), { configure }, async (callers) => {
      for (const caller of callers) {
        expect(await tell(caller, 'template')).toBe('true number 5');
        expect(await tell(caller, 'prompt')).toBe('true rain');
        const zero = (await caller.ask('resources/read', { uri: 'item://0' }))['error'];
        expect(zero).toMatchObject({ code: -32602, data: { uri: 'item://0' } });
        expect((zero as Json)['message']).toMatch(/^Invalid arguments for "item:\/\/0":\n- id: .*1/);
        const missing = (await caller.ask('prompts/get', { name: 'ask', arguments: {} }))['error'];
        expect(missing).toMatchObject({ code: -32602 });
        expect((missing as Json)['message']).toContain('topic');
        const more = { name: 'ask', arguments: { topic: 'x', more: 'y' } };
        const unknown = (await caller.ask('prompts/get', more))['error'];
        expect(unknown).toMatchObject({ code: -32602 });
        expect((unknown as Json)['message']).toContain('more');
      }
    });
  });
});

describe('A4: exception filters', () => {
  const filter = (name: string): ExceptionFilter => {
    @Catch(ConflictException)
    class NamedFilter implements ExceptionFilter {
      catch(_thrown: unknown, host: ArgumentsHost): unknown {
        const { kind } = McpExecutionContext.create(host as ExecutionContext);
        return kind === 'completion' ? [name] : name;
      }
    }
    return new NamedFilter();
  };
  const conflict = (): never => {
    throw new ConflictException('unmended');
  };

  @UseFilters(filter('class'))
  class OnMethod {
    @McpResource('item://all')
    @UseFilters(filter('method'))
    all(): never {
      return conflict();
    }

    @McpResource('item://{id}')
    @UseFilters(filter('method'))
    item(_params: IdDto): never {
      return conflict();
    }

    @McpPrompt()
    @UseFilters(filter('method'))
    ask(_args: TopicDto): never {
      return conflict();
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    @UseFilters(filter('method'))
    topics(_typed: string): never {
      return conflict();
    }
  }

  class Bare {
    @McpResource('item://all')
    all(): never {
      return conflict();
    }

    @McpResource('item://{id}')
    item(_params: IdDto): never {
      return conflict();
    }

    @McpPrompt()
    ask(_args: TopicDto): never {
      return conflict();
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(_typed: string): never {
      return conflict();
    }
  }

  @UseFilters(filter('class'))
  class OnClass extends Bare {}

  const app = { provide: APP_FILTER, useValue: filter('app') };

  it.each(
    ADAPTERS.flatMap((adapter) => [
      [adapter, 'method', OnMethod] as const,
      [adapter, 'class', OnClass] as const,
      [adapter, 'app', Bare] as const,
    ]),
  )('the nearest wins in every kind, on %s: the one on the %s', (adapter, name, features) =>
    within(rootOf([features], [app]), { adapter }, async (callers) => {
      for (const caller of callers) for (const kind of KINDS) expect(await tell(caller, kind)).toBe(name);
    }),
  );

  it('without one an HttpException is an error of its status', () =>
    within(rootOf([Bare]), {}, async (callers) => {
      for (const caller of callers)
        for (const kind of KINDS)
          expect(await tell(caller, kind)).toEqual({ code: 409, message: 'unmended' });
    }));

  it('are told of what a guard and the check of the arguments throw', async () => {
    const seen: string[] = [];
    @Catch()
    class EverythingFilter implements ExceptionFilter {
      catch(thrown: Error, host: ArgumentsHost): string {
        const { kind } = McpExecutionContext.create(host as ExecutionContext);
        seen.push(`${kind} ${thrown.name}`);
        return 'mended';
      }
    }
    class Guarded {
      @McpResource('item://all')
      @UseGuards({ canActivate: () => false })
      all(): void {}

      @McpPrompt()
      ask(_args: TopicDto): void {}
    }
    await within(
      rootOf([Guarded], [{ provide: APP_FILTER, useClass: EverythingFilter }]),
      {},
      async ([caller]) => {
        expect(await tell(caller!, 'fixed')).toBe('mended');
        expect(toldBy(await caller!.ask('prompts/get', { name: 'ask' }))).toBe('mended');
        expect(seen).toEqual(['resource ForbiddenException', 'prompt InvalidArgumentsException']);
      },
    );
  });

  it('turn one failure into another', async () => {
    @Catch()
    class OtherFilter implements ExceptionFilter {
      catch(): never {
        throw new McpError(4002, 'another', { at: 1 });
      }
    }
    await within(rootOf([Bare], [{ provide: APP_FILTER, useClass: OtherFilter }]), {}, async (callers) => {
      for (const caller of callers)
        for (const kind of KINDS)
          expect(await tell(caller, kind)).toEqual({ code: 4002, message: 'another', data: { at: 1 } });
    });
  });
});

describe('A4: a global filter written for HTTP', () => {
  interface RestResponse {
    status(code: number): { json?(body: unknown): void; send(body: unknown): void };
  }

  @Catch()
  class RestFilter implements ExceptionFilter {
    catch(thrown: unknown, host: ArgumentsHost): void {
      const response = host.switchToHttp().getResponse<RestResponse>();
      const status = thrown instanceof HttpException ? thrown.getStatus() : 500;
      const body = { status, title: (thrown as Error).message };
      const chained = response.status(status);
      if (chained.json) chained.json(body);
      else chained.send(body);
    }
  }

  let thrown: Error = new HttpException('No entry', 403);
  const fail = (): never => {
    throw thrown;
  };

  class Failing {
    @McpResource('item://all')
    all(): never {
      return fail();
    }

    @McpResource('item://{id}')
    item(_params: IdDto): never {
      return fail();
    }

    @McpPrompt()
    ask(_args: TopicDto): never {
      return fail();
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(_typed: string): never {
      return fail();
    }
  }
  const root = rootOf([Failing], [{ provide: APP_FILTER, useClass: RestFilter }]);

  async function expectShaped(callers: readonly Caller[]): Promise<void> {
    for (const caller of callers) {
      for (const kind of KINDS) {
        thrown = new HttpException('No entry', 403);
        expect(await tell(caller, kind)).toEqual({ code: 403, message: '{"status":403,"title":"No entry"}' });
        thrown = new NotFoundException('Nothing');
        const told = (await tell(caller, kind)) as Json;
        const message = '{"status":404,"title":"Nothing"}';
        const uri = requests[kind][1]['uri'];
        const code = caller.era === 'modern' ? -32602 : -32002;
        expect(told).toEqual(uri ? { code, message, data: { uri } } : { code: 404, message });
        thrown = new Error('canary');
        const masked = (await tell(caller, kind)) as Json;
        expect(masked).toEqual({
          code: -32603,
          message: expect.stringMatching(/^The \w+ failed \(reference [0-9a-f-]{36}\)$/),
        });
      }
    }
  }

  it.each(ADAPTERS)(
    'shapes the error by status and body, and leaves the wire whole, on %s',
    async (adapter) => {
      expect.hasAssertions();
      await within(root, { adapter }, expectShaped);
    },
  );

  it('shapes it over stdio as well', async () => {
    expect.hasAssertions();
    const callers = stdioCallers(openPipe(root), traffic);
    await expectShaped(callers);
    await callers.end();
  });
});

describe('parameters beside the arguments', () => {
  @Injectable()
  class LoginGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      requestOf(context)['user'] = { sub: 'ann', name: 'Ann' };
      return true;
    }
  }
  const CurrentUser = createParamDecorator((member: string | undefined, context: ExecutionContext) => {
    const user = requestOf(context)['user'] as Json;
    return member === undefined ? user : user[member];
  });
  const told = (ctx: McpContext, user: unknown, args: unknown) =>
    JSON.stringify([ctx.method, ctx.name, ctx.caller?.id, (ctx.request as Json)['user'] === user, args]);

  class Parameters {
    @McpResource('item://all')
    all(@CurrentUser() user: Json, ctx: McpContext): string {
      return told(ctx, user, null);
    }

    @McpResource('item://{id}')
    item(ctx: McpContext, params: IdDto, @CurrentUser() user: Json): string {
      return told(ctx, user, params);
    }

    @McpPrompt()
    ask(@CurrentUser() user: Json, args: TopicDto, ctx: McpContext): string {
      return told(ctx, user, args);
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(
      ctx: McpContext,
      @McpArgs() filled: Record<string, string>,
      typed: string,
      @CurrentUser() user: Json,
    ): string[] {
      return [told(ctx, user, { typed, filled })];
    }
  }
  const expected: Record<Kind, unknown> = {
    fixed: ['resources/read', 'item://all', 'ann', true, null],
    template: ['resources/read', 'item://5', 'ann', true, { id: 5 }],
    prompt: ['prompts/get', 'ask', 'ann', true, { topic: 'rain' }],
    completion: ['completion/complete', 'ask', 'ann', true, { typed: 'ra', filled: {} }],
  };
  const root = rootOf([Parameters], [{ provide: APP_GUARD, useClass: LoginGuard }]);
  const expectTold = async (callers: readonly Caller[]) => {
    for (const caller of callers)
      for (const kind of KINDS)
        expect(JSON.parse((await tell(caller, kind)) as string)).toEqual(expected[kind]);
  };

  it.each(ADAPTERS)(
    'A5: createParamDecorator() gets the same request, next to the arguments and the context, on %s',
    async (adapter) => {
      expect.hasAssertions();
      await within(root, { adapter }, expectTold);
    },
  );

  it('A5: over stdio as well', async () => {
    expect.hasAssertions();
    const callers = stdioCallers(openPipe(root), traffic);
    await expectTold(callers);
    await callers.end();
  });

  it('are missed by none of the arguments that are filled in already', () =>
    within(root, {}, async (callers) => {
      for (const caller of callers) {
        const answer = await caller.ask('completion/complete', {
          ...complete[1],
          context: { arguments: { topic: 'old', tone: 'kind' } },
        });
        expect((JSON.parse(toldBy(answer) as string) as unknown[])[4]).toEqual({
          typed: 'ra',
          filled: { tone: 'kind' },
        });
      }
    }));
});

/** Something that a test waits for. */
class Signpost<T = void> {
  private resolve: (value: T) => void = () => undefined;
  reached = new Promise<T>((resolve) => (this.resolve = resolve));

  reach(value: T): void {
    this.resolve(value);
  }

  reset(): void {
    this.reached = new Promise<T>((resolve) => (this.resolve = resolve));
  }
}

describe('handlers that take their time', () => {
  const started = new Signpost();
  const aborted = new Signpost<string>();
  const wait = (ctx: McpContext): Promise<never> => {
    started.reach();
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        aborted.reach(ctx.method);
        reject(ctx.signal.reason as Error);
      });
    });
  };

  class Slow {
    @McpResource('item://all')
    all(ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpResource('item://{id}')
    item(_params: IdDto, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpPrompt()
    ask(_args: TopicDto, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(_typed: string, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }
  }
  const root = rootOf([Slow]);
  beforeEach(() => {
    started.reset();
    aborted.reset();
  });

  describe.each(ADAPTERS)('over HTTP on %s', (adapter) => {
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(root, { adapter });
    });
    afterAll(() => running.close());

    it.each(KINDS)('F5: are aborted when a modern client goes away: %s', async (kind) => {
      const [method, params] = requests[kind];
      const leaving = new AbortController();
      const asked = fetch(running.mcp, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...modernHeaders(method, params),
        },
        body: JSON.stringify(modernMessage(method, params)),
        signal: leaving.signal,
      });
      await started.reached;
      leaving.abort();
      await expect(asked).rejects.toThrow('aborted');
      expect(await aborted.reached).toBe(method);
    });

    it.each(KINDS)('are aborted when a legacy client cancels: %s', async (kind) => {
      const [method, params] = requests[kind];
      const session = await openSession(running.mcp);
      const asked = session.request(method, params, 77);
      await started.reached;
      const { status } = await session.notify('notifications/cancelled', { requestId: 77, reason: 'enough' });
      expect(status).toBe(202);
      expect(await aborted.reached).toBe(method);
      await asked;
    });
  });

  describe('over stdio', () => {
    let pipe: Pipe;
    beforeAll(() => {
      pipe = openPipe(root);
    });
    afterAll(() => pipe.end());

    it.each(KINDS)('are aborted by notifications/cancelled, and not answered: %s', async (kind) => {
      const [method, params] = requests[kind];
      pipe.send(modernMessage(method, params, kind));
      await started.reached;
      pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: kind } });
      expect(await aborted.reached).toBe(method);
      pipe.send(modernMessage('prompts/list', {}, `after ${kind}`));
      await pipe.answer(`after ${kind}`);
      expect(pipe.lines.filter((line) => (JSON.parse(line) as Json)['id'] === kind)).toEqual([]);
    });
  });
});

describe('the time limit', () => {
  const aborted: string[] = [];
  const wait = (ctx: McpContext): Promise<never> => {
    ctx.signal.addEventListener('abort', () => aborted.push(ctx.method));
    return new Promise(() => undefined);
  };
  const hang: CanActivate = { canActivate: () => new Promise<boolean>(() => undefined) };

  class Slow {
    @McpResource({ uri: 'item://all', timeout: 20 })
    all(ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpResource({ uri: 'item://{id}', timeout: 21 })
    item(_params: IdDto, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpPrompt({ timeout: 22 })
    ask(_args: TopicDto, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(_typed: string, ctx: McpContext): Promise<never> {
      return wait(ctx);
    }

    @McpResource({ uri: 'hanging://x', timeout: 24 })
    @UseGuards(hang)
    hanging(): string {
      return 'never';
    }
  }

  @Module({
    imports: [McpModule.forRoot({ name: 'slow', version: '1.0.0', limits: { handlerTime: 23 } })],
    providers: [Slow],
  })
  class RootModule {}

  const late = (what: string, limit: number) => ({
    code: -32603,
    message: `The ${what} did not finish within ${limit} ms`,
  });

  it('is that of the handler or of the server, and aborts what runs', () =>
    within(RootModule, {}, async (callers) => {
      for (const caller of callers) {
        aborted.length = 0;
        expect(await tell(caller, 'fixed')).toEqual(late('resource', 20));
        expect(await tell(caller, 'template')).toEqual(late('resource', 21));
        expect(await tell(caller, 'prompt')).toEqual(late('prompt', 22));
        expect(await tell(caller, 'completion')).toEqual(late('completion', 23));
        expect(aborted).toEqual(['resources/read', 'resources/read', 'prompts/get', 'completion/complete']);
      }
    }));

  it('holds for guards too, also where a resource is subscribed to', () =>
    within(RootModule, {}, async (callers) => {
      const asked = { uri: 'hanging://x' };
      for (const caller of callers) {
        expect((await caller.ask('resources/read', asked))['error']).toEqual(late('resource', 24));
      }
      for (const caller of callers.filter(({ era }) => era === 'legacy'))
        expect((await caller.ask('resources/subscribe', asked))['error']).toEqual(late('resource', 24));
    }));
});

describe('McpExecutionContext', () => {
  const seen: unknown[] = [];
  const see = (where: string, host: ArgumentsHost) => {
    if (host.getType<string>() !== 'mcp') return;
    const view = McpExecutionContext.create(host as ExecutionContext);
    const { name, era, transport } = view.getContext();
    seen.push([where, view.kind, name, era, transport, { ...view.getArgs<object>() }]);
  };

  class Seeing implements CanActivate, NestInterceptor {
    canActivate(context: ExecutionContext): boolean {
      see('guard', context);
      return true;
    }
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      see('interceptor', context);
      return next.handle();
    }
  }
  @Catch()
  class SeeingFilter implements ExceptionFilter {
    catch(thrown: Error, host: ArgumentsHost): never {
      see('filter', host);
      throw thrown;
    }
  }
  const See = createParamDecorator((_data: unknown, context: ExecutionContext) => {
    see('parameter', context);
    return undefined;
  });

  @UseGuards(Seeing)
  @UseInterceptors(Seeing)
  @UseFilters(SeeingFilter)
  class Seen {
    @McpResource('item://all')
    all(@See() _seen: unknown): never {
      throw new BadRequestException('thrown');
    }

    @McpResource('item://{id}')
    item(_params: IdDto, @See() _seen: unknown): never {
      throw new BadRequestException('thrown');
    }

    @McpPrompt()
    ask(_args: TopicDto, @See() _seen: unknown): never {
      throw new BadRequestException('thrown');
    }

    @McpCompletion({ prompt: 'ask', argument: 'topic' })
    topics(_typed: string, @See() _seen: unknown): never {
      throw new BadRequestException('thrown');
    }
  }

  it('is there in each step of each kind', () =>
    within(rootOf([Seen]), {}, async (callers) => {
      const told = {
        fixed: ['resource', 'item://all', {}],
        template: ['resource', 'item://5', { id: '5' }],
        prompt: ['prompt', 'ask', { topic: 'rain' }],
        completion: ['completion', 'ask', { topic: 'ra' }],
      };
      for (const caller of callers) {
        for (const kind of KINDS) {
          seen.length = 0;
          // Only what a pipe throws tells of arguments.
          expect(await tell(caller, kind)).toEqual({ code: 400, message: 'thrown' });
          const [what, name, args] = told[kind];
          const transport = caller.title.startsWith('HTTP') ? 'http' : 'memory';
          const steps = ['guard', 'interceptor', 'parameter', 'filter'];
          expect(seen).toEqual(
            (kind === 'completion' ? ['guard', ...steps] : steps).map((step) => [
              step,
              what,
              name,
              caller.era,
              transport,
              args,
            ]),
          );
        }
      }
    }));
});

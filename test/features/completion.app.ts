import {
  createParamDecorator,
  ForbiddenException,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString } from 'class-validator';
import {
  McpArgs,
  McpCompletion,
  McpContext,
  McpError,
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpResource,
  type McpModuleOptions,
} from 'nest-mcp';

class TriageDto {
  @IsIn(['Billing', 'Technical', 'Account', 'Archive'])
  team: string;

  @IsInt()
  id: number;

  @IsOptional()
  @IsBoolean()
  urgent?: boolean;

  @IsOptional()
  @IsString()
  note?: string;
}

class KindDto {
  @IsString()
  kind: string;

  @IsOptional()
  @IsString()
  other?: string;
}

/** What the completers saw last. */
export const seen: { last?: Record<string, unknown> } = {};

/** How often a guarded completer ran. */
export const runs = { guarded: 0 };

const Caller = createParamDecorator((data: string, context: ExecutionContext) => {
  const execution = McpExecutionContext.create(context);
  return `${data} ${execution.kind} ${execution.getContext().method}`;
});

@Injectable()
class DenyAll implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** A limit of rate as a throttler has it: what one caller asks too often is refused. */
@Injectable()
class TwoCalls implements CanActivate {
  private readonly calls = new Map<string, number>();

  canActivate(context: ExecutionContext): boolean {
    const { transport, era, request } = McpExecutionContext.create(context).getContext();
    const { headers = {} } = request as { headers?: Record<string, string> };
    const caller = `${transport} ${era} ${headers['host'] ?? ''}`;
    const count = (this.calls.get(caller) ?? 0) + 1;
    this.calls.set(caller, count);
    if (count > 2) throw new HttpException('Too many requests', 429);
    return true;
  }
}

@Injectable()
class Prompts {
  @McpPrompt('triage')
  triage({ id }: TriageDto): string {
    return `Triage ${id}`;
  }

  @McpPrompt('kinds')
  kinds({ kind }: KindDto): string {
    return kind;
  }

  @UseGuards(DenyAll)
  @McpPrompt('secret')
  secret({ kind }: KindDto): string {
    return kind;
  }

  @McpPrompt('unlisted')
  unlisted({ kind }: KindDto): string {
    return kind;
  }

  @McpPrompt('limited')
  limited({ kind }: KindDto): string {
    return kind;
  }
}

@Injectable()
class Resources {
  @McpResource('ticket://{team}/{id}{?urgent}')
  ticket({ id }: TriageDto): string {
    return String(id);
  }

  @McpResource('plain://{name}')
  plain({ name }: Record<string, string>): string {
    return name!;
  }

  @UseGuards(DenyAll)
  @McpResource('secret://{name}')
  secret({ name }: Record<string, string>): string {
    return name!;
  }

  @McpResource('ticket://all')
  all(): string {
    return '';
  }
}

const IDS = Array.from({ length: 150 }, (_, index) => String(1000 + index));

const RETURNED: Record<string, () => unknown> = {
  list: () => ['a', 'b'],
  set: () => new Set(['a', 'b']),
  generator: function* () {
    yield 'a';
    yield 'b';
  },
  promise: () => Promise.resolve(['a']),
  numbers: () => [1, 2n, true],
  counted: () => ({ values: ['a'], total: 7, hasMore: true }),
  uncounted: () => ({ values: IDS }),
  undercounted: () => ({ values: IDS, total: 3, hasMore: false }),
  undefined: () => undefined,
  null: () => null,
  text: () => 'a',
  objects: () => [{ a: 1 }],
  '403': () => new ForbiddenException('Not yours'),
  '404': () => new NotFoundException('No such ticket'),
  mcp: () => new McpError(4001, 'read-only today', { until: '18:00' }),
  plain: () => new Error('canary of the driver'),
};

@Injectable()
class Completions {
  @McpCompletion({ prompt: 'triage', argument: 'id' })
  promptIds(typed: string, @McpArgs() filled: Record<string, string>, context: McpContext): string[] {
    const { name, method, transport, revision } = context;
    seen.last = { typed, filled, name, method, transport, revision };
    return IDS.filter((id) => id.startsWith(typed));
  }

  @McpCompletion({ resource: 'ticket://{team}/{id}{?urgent}', argument: 'id' })
  ticketIds(context: McpContext, @McpArgs() filled: Record<string, string>, typed: string): string[] {
    seen.last = { typed, filled, name: context.name };
    return IDS.filter((id) => id.startsWith(typed)).map((id) => `${filled['team'] ?? 'any'}-${id}`);
  }

  @McpCompletion({ resource: 'plain://{name}', argument: 'name' })
  names(@Caller('said') caller: string): string[] {
    return [caller];
  }

  @McpCompletion({ prompt: 'kinds', argument: 'kind' })
  kinds(typed: string): unknown {
    return RETURNED[typed]?.();
  }

  @McpCompletion({ prompt: 'kinds', argument: 'other' })
  throwing(typed: string): never {
    throw RETURNED[typed]!();
  }

  @McpCompletion({ prompt: 'secret', argument: 'kind' })
  secretKinds(): string[] {
    runs.guarded++;
    return ['canary'];
  }

  @McpCompletion({ resource: 'secret://{name}', argument: 'name' })
  secretNames(): string[] {
    runs.guarded++;
    return ['canary'];
  }

  @UseGuards(DenyAll)
  @McpCompletion({ prompt: 'secret', argument: 'other' })
  secretOthers(): string[] {
    runs.guarded++;
    return ['canary'];
  }

  @UseGuards(TwoCalls)
  @McpCompletion({ prompt: 'limited', argument: 'kind' })
  limitedKinds(): string[] {
    return ['a'];
  }

  @UseGuards(DenyAll)
  @McpCompletion({ prompt: 'limited', argument: 'other' })
  ownGuard(): string[] {
    runs.guarded++;
    return ['canary'];
  }
}

let made = 0;

@Injectable({ scope: Scope.REQUEST })
class PerCall {
  private readonly number = ++made;

  @McpCompletion({ prompt: 'triage', argument: 'note' })
  notes(): string[] {
    return [String(this.number)];
  }
}

export function completionModule(options: Partial<McpModuleOptions> = {}) {
  @Module({
    imports: [McpModule.forRoot({ name: 'completion', version: '1.0.0', ...options })],
    providers: [Prompts, Resources, Completions, PerCall],
  })
  class CompletionModule {}
  return CompletionModule;
}

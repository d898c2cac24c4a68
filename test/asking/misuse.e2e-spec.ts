import { setTimeout as delay } from 'node:timers/promises';
import {
  Catch,
  Injectable,
  Module,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { McpAskError, McpContext, McpExecutionContext, McpModule, McpTool } from 'nest-mcp';
import { from, mergeMap, NEVER, retry } from 'rxjs';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { CAPABILITIES_KEY, modern, ready, textOf, type Json } from '../support/wire.js';

const contextOf = (context: ExecutionContext) => McpExecutionContext.create(context).getContext();
const URL_FORM = 'https://example.com/agree';
const RESULT_SIZE = 20_000;

@Injectable()
class RetriesForEver implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry());
  }
}

/** As applications have it for their routes. */
@Catch()
class AnswersAll implements ExceptionFilter {
  catch(_thrown: unknown, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse<{ status(code: number): { json(body: unknown): void } }>()
      .status(500)
      .json({});
  }
}

@Injectable()
class RetriesLater implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry({ count: 3, delay: () => NEVER }));
  }
}

@Injectable()
class RetriesThrice implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry(3));
  }
}

@Injectable()
class AsksFirst implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    return from(contextOf(context).elicitUrl('Interceptor?', URL_FORM)).pipe(mergeMap(() => next.handle()));
  }
}

@Injectable()
class GuardThatAsks implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    return (await contextOf(context).elicitUrl('Guard?', URL_FORM)).action === 'accept';
  }
}

/** Finds out who is calling, after the one that asks. */
@Injectable()
class LateGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Json; user?: Json }>();
    request.user = { id: request.headers['x-user'] };
    return true;
  }
}

@Injectable()
class MisusedTools {
  @McpTool({ description: 'Asks under an interceptor that retries without end' })
  @UseInterceptors(RetriesForEver)
  async retried(ctx: McpContext): Promise<string> {
    return (await ctx.elicitUrl('Handler?', URL_FORM)).action;
  }

  @McpTool({ description: 'Asks again and again, whatever happens' })
  async insists(ctx: McpContext): Promise<string> {
    for (;;) {
      try {
        return (await ctx.elicitUrl('Handler?', URL_FORM)).action;
      } catch {
        // It does not let go.
      }
    }
  }

  @McpTool({ description: 'Asks, and then never comes to an end', timeout: 60_000 })
  async hangs(ctx: McpContext): Promise<string> {
    await ctx.elicitUrl('Handler?', URL_FORM).catch(() => undefined);
    return new Promise(() => undefined);
  }

  @McpTool({ description: 'Hangs longer than it may', timeout: 300 })
  hangsBriefly(ctx: McpContext): Promise<string> {
    return this.hangs(ctx);
  }

  @McpTool({ description: 'Asks under an interceptor that waits before it tries again', timeout: 60_000 })
  @UseInterceptors(RetriesLater)
  triedLater(ctx: McpContext): Promise<string> {
    return this.retried(ctx);
  }

  @McpTool({ description: 'Does something once that never ends, beside its question', timeout: 300 })
  async hangsOnce(ctx: McpContext): Promise<string> {
    void ctx.once('work', () => new Promise(() => undefined));
    return (await ctx.elicitUrl('Handler?', URL_FORM)).action;
  }

  @McpTool({ description: 'Does not wait for its question and fails, tried again three times' })
  @UseInterceptors(RetriesThrice)
  unheeded(ctx: McpContext): never {
    this.runs++;
    void ctx.elicitUrl('Handler?', URL_FORM);
    throw new Error('at once');
  }

  runs = 0;

  @McpTool({ description: 'Asks by a text that is larger than a result may be' })
  async large(ctx: McpContext): Promise<string> {
    return (await ctx.elicitUrl('x'.repeat(RESULT_SIZE), URL_FORM)).action;
  }

  @McpTool({ description: 'Asks under a filter that answers every error' })
  @UseFilters(AnswersAll)
  filtered(ctx: McpContext): Promise<string> {
    return this.rootsOf(ctx);
  }

  private async rootsOf(ctx: McpContext): Promise<string> {
    return (await ctx.roots()).map(({ uri }) => uri).join();
  }

  @McpTool({ description: 'Can do without an answer' })
  async withoutRoots(ctx: McpContext): Promise<string> {
    try {
      return (await ctx.roots()).map(({ uri }) => uri).join();
    } catch (error) {
      if (McpAskError.is(error) && error.fault === 'unsupported') return 'no roots';
      throw error;
    }
  }

  @McpTool({ description: 'Asks when it is over' })
  late(ctx: McpContext): string {
    this.asked = delay(50).then(() => Promise.allSettled([ctx.roots(), ctx.once('late', () => 'done')]));
    return 'over';
  }

  asked: Promise<PromiseSettledResult<unknown>[]> | undefined;

  @McpTool({ description: 'Asks twice, after its interceptor asked' })
  @UseInterceptors(AsksFirst)
  async asksTwice(ctx: McpContext): Promise<string> {
    const first = await ctx.elicitUrl('First?', URL_FORM);
    const second = await ctx.elicitUrl('Second?', URL_FORM);
    return `${first.action} ${second.action}`;
  }

  @McpTool({ description: 'Has a guard that asks before it is known who calls' })
  @UseGuards(GuardThatAsks, LateGuard)
  secret(ctx: McpContext): string {
    return `The secret of ${ctx.caller?.id}`;
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'misuse', version: '1.0.0', limits: { resultSize: RESULT_SIZE } })],
  providers: [MisusedTools],
})
class MisuseModule {}

describe.each(ADAPTERS)('handlers that ask where they should not, on %s', (adapter) => {
  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(MisuseModule, { adapter });
  });
  afterAll(() => running.close());

  const call = (name: string, more: Json = {}, headers: Record<string, string> = {}) =>
    modern(
      running.mcp,
      'tools/call',
      { name, ...more, _meta: { [CAPABILITIES_KEY]: { elicitation: { url: {} } } } },
      headers,
    );

  it.each(['retried', 'insists'])('%s: is asked for once, and nothing else stops meanwhile', async (name) => {
    const [asked] = await Promise.all([call(name), delay(1)]);
    expect(Object.keys(asked.result['inputRequests'] as Json)).toHaveLength(1);
  });

  it.each(['retried', 'insists'])(
    '%s: of a client that cannot be asked: nothing else stops',
    async (name) => {
      const session = await ready(running.mcp);
      const [failed, other] = await Promise.all([
        session.callTool(name),
        session.request('tools/call', { name: 'withoutRoots' }, 2),
      ]);
      expect([failed.result['isError'], textOf(failed.result)]).toEqual([
        true,
        'The client lacks the capability elicitation.url (elicitation/create)',
      ]);
      expect(textOf(other.result)).toBe('no roots');
    },
  );

  it.each(['retried', 'insists'])(
    'S-133, S-134: %s: is refused as any other call in 2026-07-28',
    async (name) => {
      const lacking = await modern(running.mcp, 'tools/call', { name });
      expect([lacking.status, lacking.error.code]).toEqual([400, -32021]);
      const forged = await call(name, { requestState: 'x' });
      const wrong = await call(name, { inputResponses: { 'elicitation-1': { action: 'yes' } } });
      expect([forged.error.code, wrong.error.code]).toEqual([-32602, -32602]);
    },
  );

  it.each(['hangs', 'hangsBriefly', 'triedLater'])(
    '%s: is asked for, though it does not end',
    async (name) => {
      const asked = await call(name);
      expect(Object.keys(asked.result['inputRequests'] as Json)).toEqual(['elicitation-1']);
    },
  );

  it('has no state to give while something done once has no end', async () => {
    const { result } = await call('hangsOnce');
    expect([result['isError'], textOf(result)]).toEqual([true, 'The tool did not finish within 300 ms']);
  });

  it('is not entered again while its question is read', async () => {
    const tools = running.app.get(MisusedTools);
    tools.runs = 0;
    const asked = await call('unheeded');
    expect([Object.keys(asked.result['inputRequests'] as Json), tools.runs]).toEqual([['elicitation-1'], 1]);
  });

  it('is asked nothing that is larger than a result may be', async () => {
    const { error } = await call('large');
    expect([error.code, error.message]).toEqual([
      -32603,
      `The result is larger than ${RESULT_SIZE} bytes: ask for less`,
    ]);
  });

  it('does without what its client cannot be asked, in both eras', async () => {
    const session = await ready(running.mcp);
    for (const { result } of [await call('withoutRoots'), await session.callTool('withoutRoots')])
      expect([textOf(result), result['isError']]).toEqual(['no roots', undefined]);
  });

  it('S-133, L2: lacks it all the same where a filter answers every error', async () => {
    const { status, error } = await call('filtered');
    expect([status, error.code, error.data]).toEqual([400, -32021, { requiredCapabilities: { roots: {} } }]);
  });

  it('gets nothing once its call is over, in both eras', async () => {
    const tools = running.app.get(MisusedTools);
    const session = await ready(running.mcp);
    for (const late of [() => call('late'), () => session.callTool('late')]) {
      expect(textOf((await late()).result)).toBe('over');
      for (const settled of await tools.asked!)
        expect(settled).toMatchObject({
          status: 'rejected',
          reason: { name: 'McpAskError', fault: 'ended' },
        });
    }
  });

  it('names what an interceptor asks apart from what its handler asks', async () => {
    const messages: unknown[] = [];
    let reply = await call('asksTwice');
    while (reply.result['inputRequests'] && messages.length < 5) {
      const [[key, asked]] = Object.entries(reply.result['inputRequests'] as Json) as [[string, Json]];
      messages.push([key, (asked['params'] as Json)['message']]);
      const { requestState } = reply.result;
      reply = await call('asksTwice', { requestState, inputResponses: { [key]: { action: 'accept' } } });
    }
    expect(messages).toEqual([
      ['outer-elicitation-1', 'Interceptor?'],
      ['elicitation-1', 'First?'],
      ['elicitation-2', 'Second?'],
    ]);
    expect(textOf(reply.result)).toBe('accept accept');
  });

  it('S-140: refuses a call whose guard asked before it was known who calls', async () => {
    const asked = await call('secret', {}, { 'x-user': 'ann' });
    const [key] = Object.keys(asked.result['inputRequests'] as Json);
    const { requestState } = asked.result;
    const answered = { requestState, inputResponses: { [key!]: { action: 'accept' } } };
    for (const user of ['ann', 'bob']) {
      const { error } = await call('secret', answered, { 'x-user': user });
      expect([error.code, error.message]).toEqual([
        -32603,
        'Internal error: a guard asked before the caller was known',
      ]);
    }
  });
});

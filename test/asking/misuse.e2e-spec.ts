import { setTimeout as delay } from 'node:timers/promises';
import {
  Injectable,
  Module,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { McpContext, McpExecutionContext, McpModule, McpTool } from 'nest-mcp';
import { from, mergeMap, retry } from 'rxjs';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { CAPABILITIES_KEY, modern, textOf, type Json } from '../support/wire.js';

const contextOf = (context: ExecutionContext) => McpExecutionContext.create(context).getContext();
const URL_FORM = 'https://example.com/agree';

@Injectable()
class RetriesForEver implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry());
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
        return (await ctx.elicitUrl('Handler?', URL_FORM, { key: 'agree' })).action;
      } catch {
        // It does not let go.
      }
    }
  }

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
  imports: [McpModule.forRoot({ name: 'misuse', version: '1.0.0' })],
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

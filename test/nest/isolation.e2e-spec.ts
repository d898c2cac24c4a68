import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import {
  createParamDecorator,
  Inject,
  Injectable,
  Module,
  Scope,
  ValidationPipe,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, APP_PIPE, REQUEST } from '@nestjs/core';
import { IsOptional, IsString } from 'class-validator';
import { McpContext, McpExecutionContext, McpModule, McpTool } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { startApp, type RunningApp } from '../support/app.js';
import { eventsOf, Traffic } from '../support/traffic.js';
import {
  callTool,
  modern,
  modernHeaders,
  modernMessage,
  openSession,
  textOf,
  type Json,
} from '../support/wire.js';

const CLIENTS = 200;
const STEPS = 3;

/** A generator with a seed, so that every run interleaves alike. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const random = randomOf(42);
let running = 0;

/** Gives way to the other calls, now for one turn, now for a few milliseconds. */
async function pause(): Promise<void> {
  const ms = random(4);
  await (ms === 0 ? turn() : wait(ms));
}

@Injectable()
class SecretGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<{ headers: Record<string, string>; user?: unknown }>();
    const secret = request.headers['x-secret'];
    await pause();
    request.user = { id: secret };
    http.getResponse<{ header(name: string, value: string): void }>().header('x-echo', secret ?? '');
    return true;
  }
}

const User = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ user: { id: string } }>().user.id,
);

class SecretDto {
  @IsString()
  secret: string;
}

/** Everything by which a call could learn of another's secret. */
async function echo(secret: string, user: string, context: McpContext, injected: string): Promise<Json> {
  running++;
  try {
    for (let step = 1; step <= STEPS; step++) {
      await pause();
      await context.progress(step, STEPS, secret);
    }
    const { headers } = context.request as { headers: Record<string, string> };
    return {
      id: context.requestId,
      secrets: [
        secret,
        user,
        injected,
        context.caller?.id,
        headers['x-secret'],
        context.meta['progressToken'],
      ],
    };
  } finally {
    running--;
  }
}

@Injectable()
class SharedTools {
  @McpTool()
  shared({ secret }: SecretDto, context: McpContext, @User() user: string): Promise<Json> {
    return echo(secret, user, context, user);
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedTools {
  constructor(@Inject(REQUEST) private readonly request: { headers: Record<string, string> }) {}

  @McpTool()
  scoped({ secret }: SecretDto, context: McpContext, @User() user: string): Promise<Json> {
    return echo(secret, user, context, this.request.headers['x-secret']!);
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'isolated', version: '1.0.0' })],
  providers: [SharedTools, ScopedTools, { provide: APP_GUARD, useClass: SecretGuard }],
})
class IsolatedModule {}

/** What one call came to: all its messages, or cut by its client. */
interface Ending {
  readonly secret: string;
  readonly id: number;
  readonly isCut: boolean;
  readonly header: string | null;
  readonly messages: Json[];
}

interface Sending {
  readonly url: string;
  readonly secret: string;
  readonly id: number;
  readonly message: Json;
  readonly headers: Record<string, string>;
  /** Hangs up once the first message is there. */
  readonly cuts: boolean;
}

async function send({ url, secret, id, message, headers, cuts }: Sending, traffic: Traffic): Promise<Ending> {
  const hangUp = new AbortController();
  const response = await (cuts ? fetch : traffic.fetch)(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-secret': secret,
      ...headers,
    },
    body: JSON.stringify(message),
    signal: hangUp.signal,
  });
  const header = response.headers.get('x-echo');
  if (!cuts) return { secret, id, isCut: false, header, messages: eventsOf(await response.text()) };
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('\n\n')) text += (await reader.read()).value ?? '\n\n';
  hangUp.abort();
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  return { secret, id, isCut: true, header, messages: eventsOf(whole) };
}

/** What a call's client was told, all of it. */
function seenIn({ isCut, header, messages }: Ending): unknown {
  const progress = messages.filter((message) => 'method' in message).map(({ params }) => params);
  const answer = messages.find((message) => !('method' in message)) ?? {};
  const { structuredContent } = (answer['result'] ?? {}) as Json;
  return isCut
    ? { header, first: progress[0] }
    : { header, progress, id: answer['id'], structuredContent, count: messages.length };
}

/** What it should be told: its own secret and nothing else. */
function expectedOf({ secret, id, isCut }: Ending): unknown {
  const progress = Array.from({ length: STEPS }, (_, step) => ({
    progressToken: secret,
    progress: step + 1,
    total: STEPS,
    message: secret,
  }));
  return isCut
    ? { header: secret, first: progress[0] }
    : {
        header: secret,
        progress,
        id,
        structuredContent: { id, secrets: Array.from({ length: 6 }, () => secret) },
        count: STEPS + 1,
      };
}

function shuffled<T>(items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0]!);
}

/** One client: its calls in random order, two at a time, with ids that every other client uses too. */
async function actAs(client: number, calls: number, url: string, traffic: Traffic): Promise<Ending[]> {
  const secret = `secret-${client}-${random(1_000_000)}`;
  const aborts = client % 4 >= 2;
  const session = client % 2 === 0 ? undefined : await openSession(url, '2025-11-25', { 'x-secret': secret });
  const call = async (id: number): Promise<Ending> => {
    const name = id % 2 === 0 ? 'scoped' : 'shared';
    const params = { name, arguments: { secret }, _meta: { progressToken: secret } };
    const cuts = aborts && id === 3;
    const ending = await send(
      session
        ? {
            url,
            secret,
            id,
            cuts,
            message: { jsonrpc: '2.0', id, method: 'tools/call', params },
            headers: { 'mcp-session-id': session.id, 'mcp-protocol-version': '2025-11-25' },
          }
        : {
            url,
            secret,
            id,
            cuts,
            message: modernMessage('tools/call', params, id),
            headers: modernHeaders('tools/call', params),
          },
      traffic,
    );
    if (cuts && session) {
      const { status } = await session.notify('notifications/cancelled', { requestId: id });
      if (status !== 202) throw new Error(`a cancellation was answered with ${status}`);
    }
    return ending;
  };
  const ids = shuffled(Array.from({ length: calls }, (_, index) => index + 1));
  const endings: Ending[] = [];
  const lane = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) endings.push(await call(id));
  };
  await Promise.all([lane(), lane()]);
  return endings;
}

describe.each([
  ['express', 5],
  ['fastify', 3],
] as const)('200 clients at once on %s, with %i calls each', (adapter, calls) => {
  const traffic = new Traffic();
  let app: RunningApp;

  beforeAll(async () => {
    app = await startApp(IsolatedModule, { adapter });
  });
  afterAll(() => {
    return app.close();
  });

  it('each get their own answers, in both eras, though half of them hang up in mid-call', async () => {
    const clients = Array.from({ length: CLIENTS }, (_, client) => client);
    const endings = (
      await Promise.all(clients.map((client) => actAs(client, calls, app.mcp, traffic)))
    ).flat();
    expect(endings).toHaveLength(CLIENTS * calls);
    expect(endings.filter(({ isCut }) => isCut)).toHaveLength(CLIENTS / 2);

    // One comparison for all: thousands of single ones would take longer than the calls.
    expect(endings.map(seenIn)).toEqual(endings.map(expectedOf));
    await traffic.verify();
    expect(traffic.count).toBe((CLIENTS * calls - CLIENTS / 2) * (STEPS + 1));
  }, 60_000);

  it('leave no call behind, and a good call succeeds', async () => {
    const { inFlight } = app.app.get(McpServer, { strict: false });
    while (inFlight.size > 0 || running > 0) await turn();
    const { result } = await callTool(app.mcp, 'shared', { secret: 'last' }, { 'x-secret': 'last' });
    expect(result['structuredContent']).toMatchObject({
      secrets: ['last', 'last', 'last', 'last', 'last', null],
    });
    expect([inFlight.size, running]).toEqual([0, 0]);
  });
});

describe('arguments that were not sent', () => {
  class OwnerDto {
    @IsOptional()
    @IsString()
    owner?: string;
  }

  @Injectable()
  class Claims {
    @McpTool()
    claim(claim: OwnerDto, context: McpContext): string {
      claim.owner ??= (context.request as { headers: Record<string, string> }).headers['x-user'];
      return String(claim.owner);
    }
  }

  @Injectable()
  class WritingGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      if (context.getType<string>() !== 'mcp') return true;
      const args = McpExecutionContext.create(context).getArgs<{ owner?: string }>();
      args.owner ??= context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers[
        'x-user'
      ];
      return true;
    }
  }

  it.each([
    ['a pipe that hands on what it got', [{ provide: APP_PIPE, useValue: new ValidationPipe() }]],
    ['a guard that writes to them', [{ provide: APP_GUARD, useClass: WritingGuard }]],
  ])('are new for each caller, also under %s', async (_name, providers) => {
    @Module({
      imports: [McpModule.forRoot({ name: 'claims', version: '1' })],
      providers: [Claims, ...providers],
    })
    class ClaimsModule {}
    const app = await startApp(ClaimsModule);
    const said: string[] = [];
    for (const user of ['alice', 'bob']) {
      const { result } = await modern(app.mcp, 'tools/call', { name: 'claim' }, { 'x-user': user });
      said.push(textOf(result));
    }
    await app.close();
    expect(said).toEqual(['alice', 'bob']);
  });
});

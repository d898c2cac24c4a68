import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import {
  Inject,
  Injectable,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type MiddlewareConsumer,
  type ModuleMetadata,
  type NestMiddleware,
  type NestModule,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, REQUEST } from '@nestjs/core';
import { IsOptional, IsString } from 'class-validator';
import {
  McpContext,
  McpDispatcher,
  McpTool,
  type McpModuleOptions,
  type McpPeer,
  type McpRevision,
} from 'nest-mcp';
import { openGet } from '../features/open-stream.js';
import { HeldCalls, LogRecorder, wireApp } from '../http/wire.app.js';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { openPipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { envelope, openSession, post, textOf, type Json, type LegacySession } from '../support/wire.js';
import { callOf, postInSession, sorted, strictMessages } from './post-stream.js';

/** The one revision that has batches. */
const REVISION = '2025-03-26';
const OTHERS: McpRevision[] = ['2024-11-05', '2025-06-18', '2025-11-25'];

class WhoDto {
  /** Who the guards are to take the caller for. */
  @IsOptional()
  @IsString()
  as?: string;
}

interface SeenRequest {
  headers: Record<string, string | undefined>;
  body: { id?: unknown; params?: { arguments?: { as?: string } } };
  user?: { id: string };
  marks?: string[];
}

const seenOf = (context: ExecutionContext) => context.switchToHttp().getRequest<SeenRequest>();

/** Takes the caller from the arguments, and marks the request as it does. */
@Injectable()
class WhoGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'mcp') return true;
    const request = seenOf(context);
    const as = request.body.params?.arguments?.as;
    if (as !== undefined) request.user = { id: as };
    request.marks = [...(request.marks ?? []), `${String(request.body.id)} as ${as ?? 'nobody'}`];
    return true;
  }
}

@Injectable()
class AdminGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return seenOf(context).user?.id === 'admin';
  }
}

/** Reads what guards of applications read, by the ways of both frameworks. */
function describeRequest(request: Record<string, unknown>): Json {
  const raw = (request['raw'] ?? request) as IncomingMessage;
  const call = (name: string, ...args: unknown[]) =>
    typeof request[name] === 'function'
      ? (request[name] as (...all: unknown[]) => unknown)(...args)
      : undefined;
  const told: string[] = [];
  const onTold = () => void told.push('told');
  raw.on('told', onTold);
  raw.emit('told');
  raw.off('told', onTold);
  raw.emit('told');
  return {
    headers: request['headers'],
    x: [
      call('get', 'x-thing'),
      call('header', 'X-Thing'),
      raw.headers['x-thing'],
      raw.headersDistinct['x-thing'],
    ],
    accepts: call('accepts', 'application/json'),
    is: call('is', 'application/json'),
    address: [request['ip'], request['ips'], raw.socket.remoteAddress],
    host: [
      request['hostname'],
      request['host'],
      request['protocol'],
      request['secure'],
      request['subdomains'],
    ],
    url: [request['url'], request['originalUrl'], request['path'], request['baseUrl'], raw.url],
    method: [request['method'], raw.method, raw.httpVersion, raw.complete],
    query: request['query'],
    params: request['params'],
    isNode: raw instanceof IncomingMessage,
    response: typeof (request['res'] as { setHeader?: unknown } | undefined)?.setHeader,
    route: (request['routeOptions'] as { url?: string } | undefined)?.url,
    told,
  };
}

@Injectable()
class BatchTools {
  @McpTool({ description: 'Tells who calls, and what the guards did' })
  who(_args: WhoDto, ctx: McpContext): Json {
    const { user, marks } = ctx.request as SeenRequest;
    return { user: user?.id ?? null, caller: ctx.caller?.id ?? null, marks: marks ?? [] };
  }

  @UseGuards(AdminGuard)
  @McpTool({ description: 'For the admin alone' })
  secret(_args: WhoDto): string {
    return 'the secret';
  }

  @McpTool({ description: 'Describes the request' })
  look(ctx: McpContext): Json {
    return describeRequest(ctx.request as Record<string, unknown>);
  }
}

let made = 0;

@Injectable({ scope: Scope.REQUEST })
class ScopedTools {
  private readonly instance = ++made;
  private calls = 0;

  constructor(@Inject(REQUEST) private readonly request: SeenRequest) {}

  @McpTool({ description: 'Tells what was made for it' })
  scoped(ctx: McpContext): Json {
    const { request, instance } = this;
    return { instance, calls: ++this.calls, id: request.body.id, isOwn: request === ctx.request };
  }
}

/** A guard that is made for each request makes the whole endpoint so. */
@Injectable({ scope: Scope.REQUEST })
class ScopedGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedMiddleware implements NestMiddleware {
  use(_request: unknown, _response: unknown, next: () => void): void {
    next();
  }
}

class UnderMiddleware implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(ScopedMiddleware).forRoutes('*path');
  }
}

function batchApp(
  options: Partial<McpModuleOptions> = {},
  guard: Type<CanActivate> = WhoGuard,
): ModuleMetadata & { module: new () => object } {
  const providers = [BatchTools, ScopedTools, { provide: APP_GUARD, useClass: guard }];
  return wireApp(options, { providers });
}

const ask = (id: string | number, method: string, params: Json = {}): Json => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const call = (id: string | number, name: string, args: Json = {}) =>
  ask(id, 'tools/call', { name, arguments: args });
const cancelled = (requestId: string | number): Json => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const errorOf = (message: Json | undefined) => (message?.['error'] as { code: number } | undefined)?.code;
const contentOf = (message: Json | undefined) => {
  const result = message?.['result'] as Json | undefined;
  return result && JSON.parse(textOf(result));
};

/** One client of 2025-03-26. */
interface Wire {
  /** What comes back for one text: an array, or a single error. */
  send(text: string): Promise<string>;
  /** Sends what is not answered. */
  tell(text: string): Promise<void>;
  readonly held: HeldCalls;
  close(): Promise<void>;
}

const initialize = ask('init', 'initialize', {
  protocolVersion: REVISION,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

const overHttp =
  (adapter: AdapterName) =>
  async (options: Partial<McpModuleOptions> = {}): Promise<Wire> => {
    const running = await startApp(batchApp(options), { adapter });
    const { id } = await openSession(running.mcp, REVISION);
    const headers = { 'mcp-session-id': id };
    return {
      send: async (text) => {
        const reply = await post(running.mcp, text, headers);
        expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
        expect(reply.status).toBe(reply.text.startsWith('[') ? 200 : 400);
        return reply.text;
      },
      tell: async (text) => {
        const { status, text: answer } = await post(running.mcp, text, headers);
        expect([status, answer]).toEqual([202, '']);
      },
      held: running.app.get(HeldCalls),
      close: () => running.close(),
    };
  };

async function overStdio(options: Partial<McpModuleOptions> = {}): Promise<Wire> {
  let held!: HeldCalls;
  const pipe = openPipe(batchApp(options) as unknown as Type, {
    configure: (app) => void (held = (app as unknown as RunningApp['app']).get(HeldCalls)),
  });
  let read = 1;
  pipe.send(initialize);
  await pipe.answer('init');
  const send = async (text: string) => {
    pipe.write(`${text}\n`);
    await pipe.next(() => pipe.lines.length > read);
    return pipe.lines[read++]!;
  };
  return {
    send,
    // What comes next is the answer to what is asked next.
    tell: async (text) => {
      pipe.write(`${text}\n`);
      expect(await send(JSON.stringify(ask('next', 'ping')))).toBe(
        '{"jsonrpc":"2.0","id":"next","result":{}}',
      );
    },
    get held() {
      return held;
    },
    close: () => pipe.end(),
  };
}

async function overMemory(options: Partial<McpModuleOptions> = {}): Promise<Wire> {
  const running = await startApp(batchApp(options));
  const { app } = running;
  const dispatcher = app.get(McpDispatcher);
  const peer: McpPeer = { send: () => undefined };
  await dispatcher.handleMessage(JSON.stringify(initialize), peer);
  return {
    send: async (text) => Buffer.from((await dispatcher.handleMessage(text, peer))!).toString(),
    tell: async (text) => expect(await dispatcher.handleMessage(text, peer)).toBeUndefined(),
    held: app.get(HeldCalls),
    close: () => running.close(),
  };
}

const WIRES = [
  ['HTTP on express', overHttp('express')],
  ['HTTP on fastify', overHttp('fastify')],
  ['stdio', overStdio],
  ['McpDispatcher', overMemory],
] as const;

describe.each(WIRES)('a batch of 2025-03-26 over %s', (_name, connect) => {
  const traffic = new Traffic();
  let wire: Wire;

  beforeAll(async () => {
    wire = await connect();
  });

  afterAll(async () => {
    await wire.close();
    await traffic.verify();
  });

  /** The answers to one batch, judged, by what they answer: a JSON token, or nothing where it has no id. */
  async function answers(text: string, tools: readonly unknown[] = []): Promise<Json[]> {
    const messages = JSON.parse(await wire.send(text)) as Json[];
    expect(Array.isArray(messages)).toBe(true);
    for (const message of messages) {
      const method = tools.includes(message['id']) ? 'tools/call' : undefined;
      const isLarge = typeof message['id'] === 'number' && !Number.isSafeInteger(message['id']);
      traffic.observe(isLarge ? { ...message, id: 0 } : message, REVISION, method);
    }
    return messages;
  }
  const byId = (messages: Json[], id: unknown) => {
    const found = messages.filter((message) => message['id'] === id);
    expect(found).toHaveLength(1);
    return found[0]!;
  };

  it('S-002: answers each message with its id, also where all answers together are more than one may be', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => at);
    const messages = JSON.parse(
      await wire.send(JSON.stringify(ids.map((id) => call(id, 'big', { size: 1024 * 1024 })))),
    ) as (Json & { error?: { code: number } })[];
    expect(messages.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    const refused = messages.filter(({ error }) => error);
    expect(refused.every(({ error }) => error?.code === -32603)).toBe(true);
    // The default of `resultSize` is 8 MiB.
    expect(messages.length - refused.length).toBe(7);
  });

  it('S-006, H2: gives each message its own outcome, by its own id', async () => {
    const batch = [
      call('ok', 'echo', { text: 'yes' }),
      call('1', 'refuse'),
      call(1, 'echo', { text: 5 }),
      call(2, 'nobody'),
      ask(3, 'no/such'),
      ask(4, 'ping'),
      ask(5, 'tools/call', { name: 7 }),
      { jsonrpc: '1.0', id: 6, method: 'ping' },
      { jsonrpc: '2.0', id: null, method: 'ping' },
      'no message',
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'unasked', result: {} },
      call('late', 'fail'),
    ];
    const messages = await answers(JSON.stringify(batch), ['ok', '1', 1, 'late']);
    expect(messages).toHaveLength(11);
    expect(textOf(byId(messages, 'ok')['result'] as Json)).toBe('yes');
    expect(byId(messages, '1')['result']).toEqual({
      content: [{ type: 'text', text: 'not today' }],
      isError: true,
    });
    expect(byId(messages, 1)['result']).toMatchObject({ isError: true });
    expect(byId(messages, 'late')['result']).toMatchObject({ isError: true });
    expect([2, 3, 4, 5, 6].map((id) => errorOf(byId(messages, id)))).toEqual([
      -32602,
      -32601,
      undefined,
      -32602,
      -32600,
    ]);
    const unnamed = messages.filter(({ id }) => id === null);
    expect(unnamed.map(errorOf)).toEqual([-32600, -32600]);
  });

  it('S-002, H3: ids come back with their type and all their digits', async () => {
    const ids = ['9007199254740993', '-0', '"9007199254740993"', '""', '0', `1${'0'.repeat(99)}`];
    const batch = ids.map((id) => JSON.stringify(ask('ID', 'ping')).replace('"ID"', id));
    const text = await wire.send(`[ ${batch.join(' ,\t')} ]`);
    const seen = text.matchAll(/"id":("[^"]*"|[^,]*),"result":\{\}/g);
    expect(sorted(Array.from(seen, ([, id]) => id))).toEqual(sorted(ids));
  });

  it('each call is made what is made for a call, and is given its own request', async () => {
    const messages = await answers(
      JSON.stringify([call('a', 'scoped'), call('b', 'scoped'), call('c', 'scoped')]),
      ['a', 'b', 'c'],
    );
    const told = messages.map(contentOf) as Json[];
    expect(new Set(told.map(({ instance }) => instance)).size).toBe(3);
    expect(messages.map(({ id }) => [id, 1, true])).toEqual(
      told.map(({ id, calls, isOwn }) => [id, calls, isOwn]),
    );
  });

  it('each call has its own guards, which see its own message, and what they set stays with it', async () => {
    const batch = [
      call('first', 'who'),
      call('admin', 'secret', { as: 'admin' }),
      call('bob', 'secret', { as: 'bob' }),
      call('nobody', 'secret'),
      call('ann', 'who', { as: 'ann' }),
      call('last', 'who'),
    ];
    for (const order of [batch, batch.toReversed()]) {
      const messages = await answers(
        JSON.stringify(order),
        batch.map(({ id }) => id),
      );
      const isError = (id: string) => (byId(messages, id)['result'] as Json)['isError'];
      expect(textOf(byId(messages, 'admin')['result'] as Json)).toBe('the secret');
      expect([isError('bob'), isError('nobody')]).toEqual([true, true]);
      for (const [id, user] of [
        ['first', null],
        ['ann', 'ann'],
        ['last', null],
      ] as const)
        expect(contentOf(byId(messages, id))).toEqual({
          user,
          caller: user,
          marks: [`${id} as ${user ?? 'nobody'}`],
        });
    }
  });

  it('cancels a call that came before in the same batch, which is not answered', async () => {
    const messages = await answers(
      JSON.stringify([
        call('gone', 'hold', { key: 'gone' }),
        cancelled('gone'),
        call('stays', 'hello'),
        cancelled('stays?'),
      ]),
      ['stays'],
    );
    expect(messages.map(({ id }) => id)).toEqual(['stays']);
    // Its id is free again.
    const [again] = await answers(JSON.stringify([call('gone', 'hello')]), ['gone']);
    expect(contentOf(again)).toEqual({ greeting: 'hello' });
  });

  it('refuses the second of two equal ids, and the first one is unharmed', async () => {
    const pending = answers(
      JSON.stringify([
        call('same', 'hold', { key: 'equal' }),
        call('same', 'hold', { key: 'never' }),
        ask(1, 'ping'),
      ]),
    );
    await wire.held.of('equal').started;
    wire.held.of('equal').release();
    const messages = (await pending).filter(({ id }) => id === 'same');
    expect(sorted(messages.map(errorOf))).toEqual(['-32600', 'undefined']);
    const result = messages.find((message) => 'result' in message)!['result'] as Json;
    expect(textOf(result)).toBe('equal let go');
  });

  it('S-005, S-072: is not answered where nothing in it asks for an answer', async () => {
    await wire.tell(
      JSON.stringify([
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        cancelled('nothing'),
        { jsonrpc: '2.0', id: 'unasked', result: {} },
        { jsonrpc: '2.0', id: 'unasked', error: { code: -1, message: 'no' } },
      ]),
    );
  });

  it('H2: gets one error where it is empty, too large or cut', async () => {
    const many = Array.from({ length: 101 }, (_, id) => ask(id, 'ping'));
    const errors = [];
    for (const text of ['[]', '[ ]', JSON.stringify(many), '[{"jsonrpc":"2.0","id":1,"method":"ping"}'])
      errors.push(JSON.parse(await wire.send(text)) as Json);
    const why = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } });
    const empty = why(-32600, 'Invalid request: the batch is empty');
    expect(errors).toEqual([
      empty,
      empty,
      why(-32600, 'Invalid request: the batch has more than 100 messages'),
      why(-32700, 'Parse error: the message is not JSON'),
    ]);
    expect(await answers(JSON.stringify(many.slice(1)))).toHaveLength(100);
  });

  it('S-007: does not serve initialize in it', async () => {
    const messages = await answers(JSON.stringify([{ ...initialize, id: 'again' }, ask(1, 'ping')]));
    expect(messages).toHaveLength(2);
    expect([errorOf(byId(messages, 'again')), byId(messages, 1)['result']]).toEqual([-32600, {}]);
  });
});

describe.each(WIRES)('calls of one batch over %s beyond the cap', (_name, connect) => {
  it('are refused each by itself', async () => {
    const wire = await connect({ limits: { inFlight: 2, inFlightPerChannel: 2 } });
    const keys = ['a', 'b', 'c', 'd'];
    const pending = wire.send(
      JSON.stringify([...keys.map((key) => call(key, 'hold', { key })), ask('p', 'ping')]),
    );
    await Promise.all(['a', 'b'].map((key) => wire.held.of(key).started));
    for (const key of ['a', 'b']) wire.held.of(key).release();
    const messages = JSON.parse(await pending) as Json[];
    expect(Object.fromEntries(messages.map((message) => [message['id'], errorOf(message)]))).toEqual({
      a: undefined,
      b: undefined,
      c: -32600,
      d: -32600,
      p: undefined,
    });
    await wire.close();
  });
});

describe.each(ADAPTERS)('a batch over HTTP on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let held: HeldCalls;
  let session: LegacySession;

  beforeAll(async () => {
    running = await startApp(batchApp({ http: { keepAlive: 1 } }), { adapter, logger: logs });
    held = running.app.get(HeldCalls);
    session = await openSession(running.mcp, REVISION);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  const send = (batch: unknown, headers: Record<string, string> = {}) =>
    post(running.mcp, JSON.stringify(batch), { 'mcp-session-id': session.id, ...headers });
  const stream = (batch: unknown, headers: Record<string, string> = {}) =>
    postInSession(running.mcp, session, { id: 0, method: 'tools/call' }, traffic, {
      body: JSON.stringify(batch),
      headers,
    });
  const hold = (key: string, token?: string | number) =>
    ask(key, 'tools/call', callOf('hold', { key }, token));

  it('shows guards the request as it is without a batch, by every way of the framework', async () => {
    const thing = { 'x-thing': 'a thing', 'content-length': undefined };
    const url = `${running.mcp}?a=1&b=2`;
    const look = call(1, 'look');
    const headers = { 'mcp-session-id': session.id, 'x-thing': 'a thing' };
    const alone = contentOf((await post(url, JSON.stringify(look), headers)).body) as Json;
    const reply = await post(url, JSON.stringify([look, { ...look, id: 2 }]), headers);
    const [first, second] = (reply.messages[0] as unknown as Json[]).map(contentOf) as [Json, Json];
    for (const one of [alone, first, second]) Object.assign(one['headers'] as Json, thing);
    expect(first).toEqual(alone);
    expect(second).toEqual(alone);
    expect(alone).toMatchObject({ isNode: true, told: ['told'], query: { a: '1', b: '2' } });
  });

  it.each([
    ['a guard', () => batchApp({}, ScopedGuard)],
    ['middleware', () => ({ module: UnderMiddleware, imports: [batchApp()] })],
  ])('makes a scope for each call also where %s has made one for the whole request', async (_what, root) => {
    const scoped = await startApp(root(), { adapter });
    const { id } = await openSession(scoped.mcp, REVISION);
    const reply = await post(scoped.mcp, JSON.stringify([call('a', 'scoped'), call('b', 'scoped')]), {
      'mcp-session-id': id,
    });
    const told = (reply.messages[0] as unknown as Json[]).map(contentOf) as Json[];
    expect(told.map(({ id: own, calls, isOwn }) => [own, calls, isOwn])).toEqual([
      ['a', 1, true],
      ['b', 1, true],
    ]);
    expect(new Set(told.map(({ instance }) => instance)).size).toBe(2);
    await scoped.close();
  });

  it('S-123: is a stream of single messages from the first progress on, which ends with the last answer', async () => {
    const pending = stream([hold('p1', 'one'), ask('ping', 'ping'), hold('p2', 2), ask('no', 'no/such')]);
    const [first, second] = await Promise.all([held.of('p1').started, held.of('p2').started]);
    await second.progress(1);
    const opened = await pending;
    expect(opened.headers['content-type']).toBe('text/event-stream');
    const text = 'x'.repeat(5_000);
    await Promise.all(
      [1, 2, 3].flatMap((step) => [first.progress(step, 9, text), second.progress(step + 1, 9, text)]),
    );
    held.of('p2').release();
    await opened.until(() => opened.messages.some(({ id }) => id === 'p2'));
    await first.progress(4);
    held.of('p1').release();
    expect(await opened.end).toBe('ended');
    const messages = strictMessages(opened.text);
    const progress = (token: unknown) =>
      messages.flatMap(({ params }) => {
        const { progressToken, progress: step } = (params ?? {}) as Json;
        return progressToken === token ? [step] : [];
      });
    expect([progress('one'), progress(2)]).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
    const answered = messages.filter((message) => !('method' in message));
    expect(sorted(answered.map(({ id }) => id))).toEqual(['no', 'p1', 'p2', 'ping']);
    expect(messages.at(-1)!['id']).toBe('p1');
  });

  it('S-006: arrives whole on a stream, though its answers are more than may wait for a client', async () => {
    const COUNT = 60;
    const many = Array.from({ length: COUNT }, (_, id) => call(id, 'big', { size: 100_000 }));
    const pending = stream([...many, hold('many', 1)]);
    const context = await held.of('many').started;
    held.of('many').release();
    await context.progress(1);
    const opened = await pending;
    expect(await opened.end).toBe('ended');
    const ids = strictMessages(opened.text).flatMap(({ id }) => id ?? []);
    expect(sorted(ids)).toEqual(sorted([...many.map(({ id }) => id), 'many']));
  });

  it('F1: is a stream as well once its calls are silent for a period, and is kept alive', async () => {
    const opened = await stream([hold('silent'), ask('ping', 'ping')]);
    expect(opened.headers['content-type']).toBe('text/event-stream');
    await opened.until(() => opened.text.includes(':\n\n'));
    held.of('silent').release();
    expect(await opened.end).toBe('ended');
    expect(sorted(strictMessages(opened.text).map(({ id }) => id))).toEqual(['ping', 'silent']);
  });

  it('D4, D5: is answered in the one form that its client takes, or 406', async () => {
    const batch = [call('a', 'hello'), call('b', 'steps', { count: 1 })];
    const json = await send([{ ...batch[1], params: callOf('steps', { count: 1 }, 1) }, batch[0]], {
      accept: 'application/json',
    });
    expect(json.headers.get('content-type')).toMatch(/^application\/json/);
    expect(sorted((json.messages[0] as unknown as Json[]).map(({ id }) => id))).toEqual(['a', 'b']);
    const streamed = await send(batch, { accept: 'text/event-stream' });
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(sorted(streamed.messages.flat().map(({ id }) => id))).toEqual(['a', 'b']);
    const neither = await send(batch, { accept: 'text/html' });
    expect([neither.status, neither.error.code]).toEqual([406, -32600]);
  });

  it('S-078, S-194: goes on when its connection is cut, and what came meanwhile is replayed', async () => {
    const pending = stream([hold('cut-1', 1), hold('cut-2', 2), ask('ping', 'ping')]);
    const [first, second] = await Promise.all([held.of('cut-1').started, held.of('cut-2').started]);
    await first.progress(1);
    const opened = await pending;
    await opened.count(1);
    const last = /^id: (\S+)$/m.exec(opened.text)![1]!;
    const { raw, socket } = first.request as {
      raw?: { socket: NodeJS.EventEmitter };
      socket: NodeJS.EventEmitter;
    };
    const closed = once(raw?.socket ?? socket, 'close');
    await opened.close();
    await closed;
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    await second.progress(1);
    held.of('cut-2').release();
    await held.of('cut-2').over;
    const again = await openGet(running.mcp, session, traffic, REVISION, { 'last-event-id': last });
    await again.until(() => again.messages.some(({ id }) => id === 'cut-2'));
    await first.progress(2);
    held.of('cut-1').release();
    expect(await again.end).toBe('ended');
    const messages = strictMessages(again.text);
    expect(sorted(messages.flatMap(({ id }) => id ?? []))).toEqual(['cut-1', 'cut-2', 'ping']);
    expect(messages.flatMap(({ params }) => (params as Json | undefined)?.['progressToken'] ?? [])).toEqual([
      2, 1,
    ]);
  });

  it('E8: ends with its session, without the answers that are missing', async () => {
    const own = await openSession(running.mcp, REVISION);
    const pending = post(running.mcp, JSON.stringify([hold('deleted-1'), hold('deleted-2')]), {
      'mcp-session-id': own.id,
    });
    await Promise.all(['deleted-1', 'deleted-2'].map((key) => held.of(key).started));
    await fetch(running.mcp, { method: 'DELETE', headers: { 'mcp-session-id': own.id } });
    for (const key of ['deleted-1', 'deleted-2']) expect(await held.of(key).aborted).toBe('AbortError');
    const reply = await pending;
    expect([reply.status, reply.text]).toEqual([204, '']);
  });

  it.each(OTHERS)('S-008, H2: is no message in a session of %s', async (revision) => {
    const own = await openSession(running.mcp, revision);
    const batches = [[ask(1, 'ping')], [cancelled(1)], [{ jsonrpc: '2.0', id: 1, result: {} }], []];
    for (const batch of batches) {
      const reply = await post(running.mcp, JSON.stringify(batch), { 'mcp-session-id': own.id });
      expect([reply.status, reply.error.code]).toEqual([400, -32600]);
      expect(reply.body['id']).toBe(revision <= '2025-06-18' ? null : undefined);
    }
  });

  it('S-008, H2: is no message of 2026-07-28, nor one without a session', async () => {
    const batch = [ask(1, 'ping')];
    const modern = await post(running.mcp, JSON.stringify(batch), { 'mcp-protocol-version': '2026-07-28' });
    expect([modern.status, modern.error.code, 'id' in modern.body]).toEqual([400, -32600, false]);
    const enveloped = await send([ask(1, 'tools/list', { _meta: envelope() })]);
    expect([enveloped.status, enveloped.error.code]).toEqual([400, -32600]);
    const bare = await post(running.mcp, JSON.stringify(batch));
    expect([bare.status, bare.error.code, 'id' in bare.body]).toEqual([400, -32600, false]);
    const unknown = await post(running.mcp, JSON.stringify(batch), { 'mcp-session-id': 'f'.repeat(32) });
    expect([unknown.status, unknown.error.code]).toEqual([404, -32600]);
  });

  it('is served without sessions to who names 2025-03-26, or no revision, and nowhere where none is', async () => {
    const [stateless, off] = await Promise.all([
      startApp(batchApp({ legacy: 'stateless' }), { adapter }),
      startApp(batchApp({ legacy: 'off' }), { adapter }),
    ]);
    const batch = JSON.stringify([call('a', 'hello'), ask('b', 'ping')]);
    const statuses = [];
    for (const headers of [
      {},
      { 'mcp-protocol-version': REVISION },
      { 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const { status, messages } = await post(stateless.mcp, batch, headers as Record<string, string>);
      statuses.push([status, messages.flat().length]);
    }
    statuses.push([(await post(off.mcp, batch)).status, 1]);
    expect(statuses).toEqual([
      [200, 2],
      [200, 2],
      [400, 1],
      [400, 1],
    ]);
    await Promise.all([stateless.close(), off.close()]);
  });

  it('nothing of all that is logged as a fault', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { McpContext, McpTool, type McpRevision } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { eventually, listenOverHttp, openGet, type OpenStream } from '../features/open-stream.js';
import { SlowReader } from '../features/slow-reader.js';
import { RawConnection } from '../http/raw-connection.js';
import { HeldCalls, LogRecorder, wireApp } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { compile, type Compiled } from '../support/compiled.js';
import { Traffic } from '../support/traffic.js';
import {
  modern,
  modernHeaders,
  modernMessage,
  openSession,
  post,
  replyOf,
  textOf,
  type Json,
  type LegacySession,
  type Reply,
} from '../support/wire.js';
import { callOf, postInSession, postModern, strictMessages } from './post-stream.js';

const LEGACY: McpRevision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const GRACE = 300;
/** A test that takes longer than the grace and this has failed. */
const ROOM = 2_000;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Calls that nothing ends, and what runs at the end. */
@Injectable()
class Deaf implements OnModuleDestroy, OnApplicationShutdown {
  running = 0;
  readonly aborted: string[] = [];
  readonly hooks: string[] = [];

  @McpTool({ description: 'Never ends, whatever its signal says' })
  async deaf(ctx: McpContext): Promise<string> {
    this.running++;
    ctx.signal.addEventListener('abort', () => this.aborted.push((ctx.signal.reason as Error).message));
    await ctx.progress(1);
    return new Promise(() => undefined);
  }

  onModuleDestroy(): void {
    this.hooks.push('destroyed');
  }

  onApplicationShutdown(): void {
    this.hooks.push('shut down');
  }
}

describe.each(ADAPTERS)('app.close() on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let server: McpServer;
  let deaf: Deaf;
  const sockets = new Set<Socket>();
  const logs = new LogRecorder();

  beforeEach(async () => {
    const limits = { shutdownGrace: GRACE };
    running = await startApp(wireApp({ limits }, { providers: [Deaf] }), { adapter, logger: logs });
    server = running.app.get(McpServer);
    deaf = running.app.get(Deaf);
    (running.app.getHttpServer() as Server).on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  });

  afterAll(() => traffic.verify());

  /** Whatever could keep something for a client, or Node alive. */
  async function expectNothing(): Promise<void> {
    const { feed } = server as unknown as { feed: { size: number } };
    expect([server.streams.size, server.inFlight.size, server.sessions.size, feed.size]).toEqual([
      0, 0, 0, 0,
    ]);
    await eventually(() => sockets.size === 0);
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
    expect((running.app.getHttpServer() as Server).listening).toBe(false);
  }

  it('A16, F5: ends a hundred calls that ignore their signal and ten streams, each in the form of its revision', async () => {
    const sessions = await Promise.all(LEGACY.map((revision) => openSession(running.mcp, revision)));
    const standing = await Promise.all(
      sessions.map((session, at) => openGet(running.mcp, session, traffic, LEGACY[at]!)),
    );
    const listening = await Promise.all(
      ['a', 2, 'c', 'd', 'e', 'f'].map((id) =>
        listenOverHttp(running.mcp, { toolsListChanged: true }, traffic, { id }),
      ),
    );
    const asJson = { accept: 'application/json' };
    const plain: Promise<Reply>[] = [];
    const streamed: Promise<OpenStream>[] = [];
    for (let at = 0; at < 25; at++) {
      const session: LegacySession = sessions[at % 4]!;
      const params = callOf('deaf', {}, `t-${at}`);
      plain.push(modern(running.mcp, 'tools/call', callOf('deaf'), at % 2 ? asJson : {}, at));
      plain.push(session.request('tools/call', callOf('deaf'), `p-${at}`, at % 2 ? asJson : {}));
      streamed.push(postModern(running.mcp, 'tools/call', params, traffic, { id: `s-${at}` }));
      streamed.push(
        postInSession(running.mcp, session, { id: `s-${at}`, method: 'tools/call', params }, traffic),
      );
    }
    const opened = await Promise.all(streamed);
    await eventually(() => deaf.running === 100);
    expect(server.inFlight.size).toBe(100);
    await running.close();

    const shutDown = { content: [{ type: 'text', text: 'The server is shutting down' }], isError: true };
    for (const reply of await Promise.all(plain)) {
      expect([reply.status, reply.messages.length]).toEqual([200, 1]);
      expect(reply.result).toMatchObject(shutDown);
    }
    for (const stream of opened) {
      expect(await stream.end).toBe('ended');
      const messages = strictMessages(stream.text);
      expect(messages.map(({ method }) => method)).toEqual(['notifications/progress', undefined]);
      expect(messages[1]!['id']).toMatch(/^s-/);
      expect(messages[1]!['result']).toMatchObject(shutDown);
    }
    expect(deaf.aborted).toEqual(Array.from({ length: 100 }, () => 'The server is shutting down'));
    for (const stream of standing) expect([await stream.end, stream.messages]).toEqual(['ended', []]);
    for (const [at, stream] of listening.entries()) {
      expect(await stream.end).toBe('ended');
      const id = ['a', 2, 'c', 'd', 'e', 'f'][at];
      expect(stream.messages).toHaveLength(2);
      expect(stream.messages[1]).toMatchObject({ id, result: { _meta: { [SUBSCRIPTION]: id } } });
    }
    expect(deaf.hooks).toEqual(['destroyed', 'shut down']);
    await expectNothing();
  }, 10_000);

  it(
    'waits no longer than for the last call, and refuses what comes meanwhile with its id',
    async () => {
      const held = running.app.get(HeldCalls).of('last');
      const session = await openSession(running.mcp);
      const pending = session.request('tools/call', callOf('hold', { key: 'last' }), 'last');
      await held.started;
      // Two connections that are there already.
      await Promise.all([session.request('ping'), session.request('ping')]);
      const closed = running.close();
      await eventually(() => deaf.hooks.includes('destroyed'));
      const late = [
        await modern(running.mcp, 'tools/call', callOf('hello'), {}, 'late'),
        await session.request('tools/call', callOf('hello'), 'late'),
      ];
      for (const { status, headers, body } of late) {
        expect([status, headers.get('retry-after'), body]).toEqual([
          503,
          '1',
          { jsonrpc: '2.0', id: 'late', error: { code: -32600, message: 'The server is shutting down' } },
        ]);
      }
      held.release();
      expect(textOf((await pending).result)).toBe('last let go');
      await closed;
      await expectNothing();
    },
    GRACE + ROOM,
  );

  it(
    'waits for no client that was to come back for its answer',
    async () => {
      const session = await openSession(running.mcp);
      const params = callOf('deaf', {}, 't');
      const stream = await postInSession(
        running.mcp,
        session,
        { id: 1, method: 'tools/call', params },
        traffic,
      );
      const standing = await openGet(running.mcp, session, traffic);
      await standing.until(() => standing.text !== '');
      await stream.close();
      await standing.close();
      await eventually(() => sockets.size <= 1);
      await running.close();
      expect(deaf.aborted).toEqual(['The server is shutting down']);
      await expectNothing();
    },
    GRACE + ROOM,
  );

  it(
    'waits for no client that does not read what it was sent',
    async () => {
      const held = running.app.get(HeldCalls).of('unread');
      const params = callOf('hold', { key: 'unread', progress: 0 }, 1);
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const reader = await SlowReader.open(
        running.mcp,
        'POST',
        { ...headers, ...modernHeaders('tools/call', params) },
        JSON.stringify(modernMessage('tools/call', params)),
      );
      const context = await held.started;
      const isUnread = () => Array.from(sockets).some(({ writableLength }) => writableLength > 0);
      // What waits still after a few turns is what the kernel takes no more of.
      for (let step = 1, turns = 0; turns < 5; turns = isUnread() ? turns + 1 : 0) {
        void context.progress(step++, undefined, 'x'.repeat(60_000));
        await setImmediate();
      }
      await running.close();
      reader.destroy();
      await eventually(() => sockets.size === 0);
      await expectNothing();
    },
    GRACE * 2 + ROOM,
  );
});

const holdOf = (key: string) => callOf('hold', { key });
const textOfMessage = (method: string, params: Json, id?: string) =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params });

describe.each(ADAPTERS)('what comes while calls are waited for, on %s', (adapter) => {
  it('refuses requests from the first moment, and takes what concerns those that run', async () => {
    const running = await startApp(wireApp({ limits: { shutdownGrace: 10_000 } }), { adapter });
    const held = running.app.get(HeldCalls);
    const session = await openSession(running.mcp);
    const old = { 'mcp-session-id': (await openSession(running.mcp, '2025-03-26')).id };
    const inSession = { 'mcp-session-id': session.id };
    const cancelled = session.request('tools/call', holdOf('cancelled'), 'cancelled');
    const late = session.request('tools/call', holdOf('late'), 'late');
    const last = session.request('tools/call', holdOf('last'), 'last');
    for (const key of ['cancelled', 'late', 'last']) await held.of(key).started;
    const connection = await RawConnection.open(running.url);
    const body = textOfMessage('notifications/cancelled', { requestId: 'late' });
    connection.write(
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nmcp-session-id: ${session.id}\r\n` +
        `content-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await fetch(running.mcp, { method: 'POST' });
    const closed = running.close();
    await eventually(() => running.app.get(McpServer).isClosing);

    const initialize = { protocolVersion: '2025-11-25', capabilities: {} };
    const refused: [Promise<Reply>, Json][] = [
      [modern(running.mcp, 'tools/call', { name: 'hello' }, {}, 'modern'), { id: 'modern' }],
      [session.request('ping', {}, 'ping'), { id: 'ping' }],
      [post(running.mcp, textOfMessage('initialize', initialize, 'new')), { id: 'new' }],
      [post(running.mcp, textOfMessage('ping', {}, 'lost'), { 'mcp-session-id': 'lost' }), { id: 'lost' }],
      [post(running.mcp, `[${textOfMessage('ping', {}, 'in a batch')}]`, old), { id: null }],
      [fetch(running.mcp, { headers: { ...inSession, accept: 'text/event-stream' } }).then(replyOf), {}],
    ];
    for (const [reply, id] of refused) {
      const { status, headers, body: said } = await reply;
      expect([status, headers.get('retry-after'), said]).toEqual([
        503,
        '1',
        { jsonrpc: '2.0', ...id, error: { code: -32600, message: 'The server is shutting down' } },
      ]);
    }

    expect((await session.notify('notifications/cancelled', { requestId: 'cancelled' })).status).toBe(202);
    expect(await held.of('cancelled').aborted).toBe('AbortError');
    expect((await post(running.mcp, '{"jsonrpc":"2.0","id":"none","result":{}}', inSession)).status).toBe(
      202,
    );
    // Its body was on its way.
    expect((await connection.write(body.slice(10)).answer()).status).toBe(202);
    expect(await held.of('late').aborted).toBe('AbortError');
    expect([(await cancelled).status, (await late).status]).toEqual([204, 204]);
    held.of('last').release();
    expect(textOf((await last).result)).toBe('last let go');
    connection.destroy();
    await closed;
  });
});

let compiled: Compiled;

beforeAll(() => {
  compiled = compile('test/streams/fixtures');
});

afterAll(() => compiled.remove());

describe.each(ADAPTERS)('a process that serves over %s', (adapter) => {
  /** Starts one with calls and streams of every kind. */
  async function start() {
    const traffic = new Traffic();
    const env = { ...process.env, NO_COLOR: '1', ADAPTER: adapter, GRACE: String(GRACE) };
    const child = spawn(process.execPath, [compiled.entry('test/streams/fixtures/serve-http.ts')], { env });
    const output = { text: '' };
    const listen = (text: string) => void (output.text += text);
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    const exit = once(child, 'close') as Promise<[number | null, string | null]>;
    await eventually(() => output.text.includes('listening on ') || child.exitCode !== null);
    const url = /listening on (\S+)/.exec(output.text)![1]!;
    const mcp = `${url}/mcp`;
    const session = await openSession(mcp);
    const params = callOf('deaf', {}, 1);
    const streams = await Promise.all([
      openGet(mcp, session, traffic),
      listenOverHttp(mcp, {}, traffic),
      postModern(mcp, 'tools/call', params, traffic),
      postInSession(mcp, session, { id: 1, method: 'tools/call', params }, traffic),
    ]);
    const plain = modern(mcp, 'tools/call', callOf('deaf'));
    await eventually(() => output.text.split('a call runs').length > 3);
    return { child, exit, output, streams, plain, traffic };
  }

  it.each([
    ['SIGTERM', [null, 'SIGTERM'], 'shut down by SIGTERM'],
    ['app.close()', [0, null], 'shut down by nobody'],
  ] as const)(
    'A16: answers all, runs every hook and ends by itself at %s',
    async (how, wanted, said) => {
      const { child, exit, output, streams, plain, traffic } = await start();
      if (how === 'SIGTERM') child.kill(how);
      else child.stdin.write('close\n');
      // What Nest does after the hooks is what the signal does by default.
      expect(await exit).toEqual(wanted);
      for (const stream of streams) expect(await stream.end).toBe('ended');
      expect(streams.map(({ messages }) => messages.filter(({ id }) => id !== undefined).length)).toEqual([
        0, 1, 1, 1,
      ]);
      expect(textOf((await plain).result)).toBe('The server is shutting down');
      for (const text of ['destroyed', 'before shutdown', said]) expect(output.text).toContain(text);
      expect(output.text).not.toMatch(/ERROR|WARN/);
      await traffic.verify();
    },
    // The start of the process and its calls are in it.
    GRACE + ROOM + 8_000,
  );
});

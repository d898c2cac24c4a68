import { connect as connectSocket, type Socket } from 'node:net';
import type { Server } from 'node:http';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { jest } from '@jest/globals';
import type { McpContext, McpRevision } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { eventually, listenOverHttp, openGet, type OpenStream } from '../features/open-stream.js';
import { SlowReader } from '../features/slow-reader.js';
import { RawConnection, rawRequest } from '../http/raw-connection.js';
import { HeldCalls, LogRecorder, wireApp } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  modernHeaders,
  modernMessage,
  openSession,
  textOf,
  type Json,
  type LegacySession,
} from '../support/wire.js';
import { callOf, postInSession, postModern, strictMessages } from './post-stream.js';

const LEGACY: McpRevision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const COMMENT = ':\n\n';

/** The application's server, with what it holds for clients. */
class Watched {
  readonly sockets = new Set<Socket>();
  readonly server: McpServer;

  constructor({ app }: RunningApp) {
    this.server = app.get(McpServer);
    (app.getHttpServer() as Server).on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Everything that is held for a client which is there, or was. */
  get held() {
    const { streams, inFlight, sessions } = this.server;
    const { feed } = this.server as unknown as { feed: { size: number } };
    return { streams: streams.size, calls: inFlight.size, sessions: sessions.size, listeners: feed.size };
  }

  get unread(): number {
    return Math.max(0, ...Array.from(this.sockets, ({ writableLength }) => writableLength));
  }
}

const NOTHING = { streams: 0, calls: 0, sessions: 0, listeners: 0 };

describe.each(ADAPTERS)('a silent stream on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let plain: RunningApp;
  let watched: Watched;
  let held: HeldCalls;

  beforeAll(async () => {
    // The reader has nothing to take for as long as a stream may stall, many times over.
    // A client that is away is waited for, though not for long.
    const limits = { streamStall: 50, replayTime: 50 };
    running = await startApp(wireApp({ http: { keepAlive: 1 }, limits }), { adapter, logger: logs });
    plain = await startApp(wireApp({ http: { keepAlive: 1, responses: 'json' } }), { adapter });
    watched = new Watched(running);
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await Promise.all([running.close(), plain.close()]);
    await traffic.verify();
  });

  const comments = (stream: OpenStream, count: number) =>
    stream.until(() => stream.text.split(COMMENT).length > count);

  it('F1: is kept alive by a comment each period, of every kind and revision, and clients see no message', async () => {
    const sessions = await Promise.all(LEGACY.map((revision) => openSession(running.mcp, revision)));
    const calls = sessions.map((session, at) =>
      postInSession(
        running.mcp,
        session,
        { id: 'c', method: 'tools/call', params: callOf('hold', { key: `silent-${at}` }) },
        traffic,
      ),
    );
    const modernCall = postModern(running.mcp, 'tools/call', callOf('hold', { key: 'silent-m' }), traffic);
    const standing = await Promise.all(
      sessions.map((session, at) => openGet(running.mcp, session, traffic, LEGACY[at]!)),
    );
    const listening = await listenOverHttp(running.mcp, {}, traffic);

    const errors: unknown[] = [];
    const surprises: unknown[] = [];
    const clients = await Promise.all([
      connectV2(running.mcp, 'auto', traffic),
      connectV2(running.mcp, 'legacy', traffic),
      connectV1(running.mcp, traffic),
    ]);
    const answers = clients.map((client, at) => {
      client.onerror = (error: Error) => void errors.push(error);
      client.fallbackNotificationHandler = (message: unknown) => {
        surprises.push(message);
        return Promise.resolve();
      };
      return client.callTool({ name: 'hold', arguments: { key: `client-${at}` } });
    });

    // Where plain answers are the rule, a silent call stays one.
    const plainHeld = plain.app.get(HeldCalls).of('plain');
    const plainCall = callTool(plain.mcp, 'hold', { key: 'plain' });
    await plainHeld.started;

    const streams = [...(await Promise.all([...calls, modernCall])), ...standing, listening];
    for (const stream of streams) expect([stream.status, stream.headers]).toMatchObject([200, HEADERS]);
    await Promise.all(streams.map((stream) => comments(stream, 2)));

    for (const key of ['silent-0', 'silent-1', 'silent-2', 'silent-3', 'silent-m']) held.of(key).release();
    for (const at of clients.keys()) held.of(`client-${at}`).release();
    plainHeld.release();
    for (const pending of [...calls, modernCall]) {
      const stream = await pending;
      expect(await stream.end).toBe('ended');
      expect(stream.messages.map(({ result }) => textOf(result as Json))).toEqual([
        expect.stringMatching(/^silent-. let go$/),
      ]);
    }
    for (const [at, result] of (await Promise.all(answers)).entries())
      expect(result.content).toEqual([{ type: 'text', text: `client-${at} let go` }]);
    for (const stream of standing) expect(stream.messages).toEqual([]);
    expect(listening.messages).toHaveLength(1);
    expect([errors, surprises]).toEqual([[], []]);
    const { headers, result } = await plainCall;
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(textOf(result)).toBe('plain let go');

    await Promise.all([...clients.map((client) => client.close()), ...standing.map((one) => one.close())]);
    await listening.close();
    await eventually(() => JSON.stringify(watched.held) === JSON.stringify(NOTHING));
  });

  it('F2: leaves no timer, listener or stream behind when its client hangs up', async () => {
    const beats = jest.spyOn(globalThis, 'setInterval');
    const stopped = jest.spyOn(globalThis, 'clearInterval');
    const session = await openSession(running.mcp);
    const started = beats.mock.calls.length;
    const modernPost = postModern(
      running.mcp,
      'tools/call',
      callOf('hold', { key: 'F2-m', progress: 1 }, 1),
      traffic,
    );
    const legacyPost = postInSession(
      running.mcp,
      session,
      { id: 1, method: 'tools/call', params: callOf('hold', { key: 'F2-l', progress: 1 }, 1) },
      traffic,
    );
    const streams = await Promise.all([
      modernPost,
      legacyPost,
      openGet(running.mcp, session, traffic),
      listenOverHttp(running.mcp, {}, traffic),
    ]);
    expect(beats.mock.calls.length - started).toBeGreaterThanOrEqual(4);
    await Promise.all(streams.map((stream) => stream.close()));
    expect(await held.of('F2-m').aborted).toBe('AbortError');
    held.of('F2-l').release();
    await held.of('F2-l').over;
    await eventually(() => JSON.stringify(watched.held) === JSON.stringify(NOTHING));
    const left = beats.mock.results.map(({ value }) => value as unknown);
    for (const [timer] of stopped.mock.calls) left.splice(left.indexOf(timer), left.includes(timer) ? 1 : 0);
    beats.mockRestore();
    stopped.mockRestore();
    expect(left).toEqual([]);
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

const NASTY =
  'one\r\ntwo\rthree\n\nfour\u2028five\u2029six\u0085seven\u{1f600}\ndata: x\nevent: y\nid: 1\n:c\nretry: 1\u0000\ufeff';

describe.each(ADAPTERS)('what is on a stream on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let watched: Watched;
  let held: HeldCalls;

  beforeAll(async () => {
    running = await startApp(wireApp(), {
      adapter,
      logger: logs,
      // What an application sets for all its answers.
      configure: (app) =>
        (app as NestExpressApplication).use((_request: unknown, response: Recorder, next: () => void) => {
          response.setHeader('Cache-Control', 'public, max-age=60');
          response.setHeader('X-Accel-Buffering', 'yes');
          response.setHeader('X-App', 'desk');
          next();
        }),
    });
    watched = new Watched(running);
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  /** A call that runs, and what it knows. */
  async function start(
    key: string,
    send: () => Promise<OpenStream>,
  ): Promise<[Promise<OpenStream>, McpContext]> {
    const stream = send();
    stream.catch(() => undefined);
    return [stream, await held.of(key).started];
  }
  const holdIn = (
    session: LegacySession,
    key: string,
    id: string | number = 1,
    token: string | number = 't',
  ) =>
    start(key, () =>
      postInSession(
        running.mcp,
        session,
        { id, method: 'tools/call', params: callOf('hold', { key }, token) },
        traffic,
      ),
    );
  const holdModern = (key: string, id: string | number = 1, token: string | number = 't') =>
    start(key, () =>
      postModern(
        running.mcp,
        'tools/call',
        {
          ...callOf('hold', { key }),
          _meta: { progressToken: token, 'io.modelcontextprotocol/logLevel': 'debug' },
        },
        traffic,
        { id },
      ),
    );

  it.each(LEGACY)(
    'F7: a standing stream of %s is open before there is anything to send',
    async (revision) => {
      const session = await openSession(running.mcp, revision);
      const stream = await openGet(running.mcp, session, traffic, revision);
      expect([stream.status, stream.headers]).toMatchObject([200, { ...HEADERS, 'x-app': 'desk' }]);
      if (revision === '2025-11-25') await stream.until(() => stream.text.endsWith('\n\n'));
      expect(stream.text).toMatch(revision === '2025-11-25' ? /^id: g\S+\nretry: 1000\ndata:\n\n$/ : /^$/);
      await stream.close();
    },
  );

  it('its headers are those of a stream, whatever the application sets for all answers', async () => {
    const [post, context] = await holdModern('headers');
    await context.progress(1);
    expect((await post).headers).toMatchObject({ ...HEADERS, 'x-app': 'desk' });
    held.of('headers').release();
    await (
      await post
    ).end;
  });

  it('F8: any text in any place of a message is one event, and one line of data, that reads back the same', async () => {
    const session = await openSession(running.mcp);
    await session.request('logging/setLevel', { level: 'debug' });
    for (const [key, begin] of [
      ['F8-l', () => holdIn(session, NASTY + 'l', NASTY.slice(0, 60), NASTY)],
      ['F8-m', () => holdModern(NASTY + 'm', NASTY.slice(0, 60), NASTY)],
    ] as const) {
      const name = NASTY + key.at(-1)!;
      const [post, context] = await begin();
      await context.progress(1, 2, NASTY);
      context.log.info({ [NASTY]: [NASTY] }, NASTY);
      held.of(name).release();
      const stream = await post;
      expect(await stream.end).toBe('ended');
      const messages = strictMessages(stream.text);
      expect(messages.map(({ params }) => params)).toEqual([
        { progressToken: NASTY, progress: 1, total: 2, message: NASTY },
        { level: 'info', data: { [NASTY]: [NASTY] }, logger: NASTY },
        undefined,
      ]);
      expect(messages[2]!['id']).toBe(NASTY.slice(0, 60));
      expect(textOf(messages[2]!['result'] as Json)).toBe(`${name} let go`);
      expect(stream.text).not.toContain('\r');
      expect(stream.text.match(/^data: /gm)).toHaveLength(3);
    }
  });

  it('F8: an error is one event as well, whatever is in it', async () => {
    const session = await openSession(running.mcp);
    const params = { name: NASTY };
    const accept = { accept: 'text/event-stream' };
    const streams = [
      await postInSession(
        running.mcp,
        session,
        { id: NASTY.slice(0, 9), method: 'tools/call', params },
        traffic,
        {
          headers: accept,
        },
      ),
      await postModern(running.mcp, 'no/such', {}, traffic, { headers: accept, id: NASTY.slice(0, 9) }),
    ];
    const errors = [];
    for (const stream of streams) {
      await stream.end;
      const isStream = stream.headers['content-type'] === 'text/event-stream';
      const [message] = isStream ? strictMessages(stream.text) : [JSON.parse(stream.text) as Json];
      expect(message!['id']).toBe(NASTY.slice(0, 9));
      errors.push((message!['error'] as Json)['code']);
    }
    expect(errors).toEqual([-32602, -32601]);
  });

  it('has one writer: what is said at once never mixes, and comes in the order it was said', async () => {
    const session = await openSession(running.mcp);
    await session.request('logging/setLevel', { level: 'debug' });
    const [post, context] = await holdIn(session, 'at once');
    const COUNT = 200;
    const text = 'x'.repeat(5_000);
    const reader = post.then((stream) => stream.end);
    await Promise.all(
      Array.from({ length: COUNT }, async (_, at) => {
        await setImmediate();
        await context.progress(at + 1, COUNT, `${at}${text}`);
        context.log.debug({ at, text });
      }),
    );
    held.of('at once').release();
    await reader;
    const messages = strictMessages((await post).text);
    const progress = messages.flatMap(({ method, params }) =>
      method === 'notifications/progress' ? [(params as Json)['progress'] as number] : [],
    );
    expect(progress.length).toBeGreaterThan(10);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(textOf(messages.at(-1)!['result'] as Json)).toBe('at once let go');
  });

  it('F4: what a tool says after its client hung up is dropped quietly, in both eras, and others do not notice', async () => {
    const [left, other] = [await openSession(running.mcp), await openSession(running.mcp)];
    const [otherPost, otherContext] = await holdIn(other, 'F4-other');
    await otherContext.progress(1);
    const otherStream = await otherPost;
    for (const [key, begin] of [
      ['F4-l', () => holdIn(left, 'F4-l')],
      ['F4-m', () => holdModern('F4-m')],
    ] as const) {
      const before = watched.sockets.size;
      const [post, context] = await begin();
      await context.progress(1);
      await (await post).close();
      await eventually(() => watched.sockets.size <= before);
      context.log.emergency('is anybody there?');
      await context.progress(2, 2, 'nobody');
      context.closeStream();
      expect(context.signal.aborted).toBe(key === 'F4-m');
      held.of(key).release();
      await held.of(key).over;
      await otherContext.progress(key === 'F4-l' ? 2 : 3);
    }
    held.of('F4-other').release();
    await otherStream.end;
    expect(otherStream.messages.map(({ params }) => (params as Json | undefined)?.['progress'])).toEqual([
      1,
      2,
      3,
      undefined,
    ]);
    expect((await left.request('ping')).result).toEqual({});
  });

  it('F5: a client of 2026-07-28 that hangs up aborts its call at once, and one before is as it was', async () => {
    const session = await openSession(running.mcp);
    const [, legacy] = await holdIn(session, 'F5-l');
    const [post, context] = await holdModern('F5-m');
    await context.progress(1);
    const stream = await post;
    await stream.count(1);
    const aborted = held.of('F5-m').aborted;
    await Promise.all([stream.close(), aborted]);
    expect((context.signal.reason as Error).message).toBe('The client closed the connection');
    expect([strictMessages(stream.text).length, legacy.signal.aborted]).toEqual([1, false]);
    await fetch(running.mcp, { method: 'DELETE', headers: { 'mcp-session-id': session.id } });
    expect(await held.of('F5-l').aborted).toBe('AbortError');
  });

  it('F6: a connection serves stream after stream, and plain answers between, in a session', async () => {
    const session = await openSession(running.mcp);
    const connection = await RawConnection.open(running.url);
    const ask = (id: number, params: Json) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      return rawRequest(
        'POST',
        '/mcp',
        [
          ['Host', 'localhost'],
          ['Content-Type', 'application/json'],
          ['Accept', 'application/json, text/event-stream'],
          ['Content-Length', String(Buffer.byteLength(body))],
          ['Mcp-Session-Id', session.id],
        ],
        body,
      );
    };
    const steps = (token: number) => callOf('steps', { count: 2 }, token);
    const answers: unknown[] = [];
    const take = async () => {
      const { status, headers, text } = await connection.answer();
      const type = headers['content-type']!.split(';')[0];
      const messages = type === 'text/event-stream' ? strictMessages(text) : [JSON.parse(text) as Json];
      answers.push([status, type, messages.map(({ id }) => id)]);
    };
    for (const id of [1, 2]) {
      connection.write(ask(id, steps(id)));
      await take();
    }
    connection.write(ask(3, callOf('hello')));
    await take();
    // Asked for at once, they come one after the other.
    connection.write(Buffer.concat([ask(4, steps(4)), ask(5, callOf('hello')), ask(6, steps(6))]));
    for (let left = 3; left > 0; left--) await take();
    connection.destroy();
    const streamed = (id: number) => [200, 'text/event-stream', [undefined, undefined, id]];
    const plain = (id: number) => [200, 'application/json', [id]];
    expect(answers).toEqual([streamed(1), streamed(2), plain(3), streamed(4), plain(5), streamed(6)]);
  });

  it('is cut as well where it takes nothing of an answer in plain JSON, and a small one is kept alive', async () => {
    const params = { name: 'big', arguments: { size: 16 * 1024 * 1024 } };
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const session = await openSession(running.mcp);
    const inSession = { ...headers, 'mcp-session-id': session.id };
    const legacy = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    for (const [more, body] of [
      [inSession, legacy],
      [
        { ...headers, ...modernHeaders('tools/call', params) },
        JSON.stringify(modernMessage('tools/call', params)),
      ],
    ] as const) {
      const before = watched.sockets.size;
      const reader = await SlowReader.open(running.mcp, 'POST', more, body);
      expect(reader.head).toContain('200 OK');
      await eventually(() => watched.sockets.size === before);
      expect((await reader.rest()).length).toBeLessThan(16 * 1024 * 1024);
    }
  });

  it('nothing of all that is logged as a fault', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

/** The few members of Node's response that middleware uses here. */
interface Recorder {
  setHeader(name: string, value: string): void;
}

describe.each(ADAPTERS)('a client that reads slowly, or not at all, on %s', (adapter) => {
  const STALL = 400;
  const ROOM = 256 * 1024;
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let watched: Watched;
  let held: HeldCalls;
  const text = 'x'.repeat(16 * 1024);

  beforeAll(async () => {
    const limits = { streamStall: STALL, streamBuffer: ROOM, resultSize: 64 * 1024 * 1024 };
    running = await startApp(wireApp({ limits }), { adapter, logger: logs });
    watched = new Watched(running);
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  /** A call whose client reads the head of its stream alone. */
  async function callSlowly(key: string, session?: LegacySession): Promise<[SlowReader, McpContext]> {
    const params = callOf('hold', { key, progress: 0 }, 1);
    const body = session
      ? { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      : modernMessage('tools/call', params);
    const headers = session ? { 'mcp-session-id': session.id } : modernHeaders('tools/call', params);
    const reader = await SlowReader.open(running.mcp, 'POST', { ...both, ...headers }, JSON.stringify(body));
    expect(reader.head).toContain('200 OK');
    return [reader, await held.of(key).started];
  }

  /** Says much, waiting for the reader each time. */
  function talk(context: McpContext, isEnough: () => boolean) {
    const said = { steps: 0 };
    const talking = (async () => {
      while (!isEnough() && !context.signal.aborted) await context.progress(++said.steps, undefined, text);
    })();
    return { said, talking };
  }

  it('makes a call wait for it that waits for its progress, and gets all of it in order', async () => {
    const session = await openSession(running.mcp);
    for (const [key, opened] of [
      ['wait-l', session],
      ['wait-m', undefined],
    ] as const) {
      const [reader, context] = await callSlowly(key, opened);
      let isEnough = false;
      const { said, talking } = talk(context, () => isEnough);
      await eventually(() => watched.unread > 0);
      for (let turns = 0; turns < 20; turns++) await setImmediate();
      const { steps } = said;
      for (let turns = 0; turns < 20; turns++) await setImmediate();
      // What waits is less than two messages more than the socket takes.
      expect([said.steps, watched.unread < 4 * text.length]).toEqual([steps, true]);
      isEnough = true;
      held.of(key).release();
      const rest = await reader.rest();
      await talking;
      expect(watched.unread).toBe(0);
      const progress = [...rest.matchAll(/"progress":(\d+),/g)].map(([, step]) => Number(step));
      expect(progress).toEqual(Array.from({ length: said.steps }, (_, at) => at + 1));
      expect(rest).toContain(`${key} let go`);
    }
  });

  it('loses nothing but progress that nobody waits for, and little of that is kept for it', async () => {
    const [reader, context] = await callSlowly('spill');
    for (let step = 1; step <= 5_000; step++) void context.progress(step, undefined, text);
    expect(watched.unread).toBeLessThan(ROOM);
    held.of('spill').release();
    const rest = await reader.rest();
    expect(rest.match(/"progress":/g)!.length).toBeLessThan(100);
    expect(rest).toContain('spill let go');
  });

  it('is cut once it took nothing for the limit while something waits: a call of 2026-07-28 is over, one before goes on', async () => {
    const session = await openSession(running.mcp);
    const [modernReader, modernContext] = await callSlowly('stall-m');
    const { talking } = talk(modernContext, () => false);
    expect(await held.of('stall-m').aborted).toBe('AbortError');
    await talking;
    expect(await modernReader.rest()).not.toContain('"result"');

    const [reader, context] = await callSlowly('stall-l', session);
    const before = watched.sockets.size;
    const legacy = talk(context, () => watched.sockets.size < before);
    await legacy.talking;
    expect(context.signal.aborted).toBe(false);
    const head = await reader.rest();
    expect(head).not.toContain('"result"');
    held.of('stall-l').release();
    await held.of('stall-l').over;
    // Its client comes back with the last event that it got whole.
    const last = [...(reader.head + head).matchAll(/id: (\S+)\ndata: .*\n\n/g)].at(-1)![1]!;
    const again = await openGet(running.mcp, session, traffic, '2025-11-25', { 'last-event-id': last });
    expect(await again.end).toBe('ended');
    expect(textOf(again.messages.at(-1)!['result'] as Json)).toBe('stall-l let go');
  });

  it('is not cut while it takes some bytes now and then, also within one large event', async () => {
    const SIZE = 16 * 1024 * 1024;
    const params = { name: 'big', arguments: { size: SIZE } };
    const body = JSON.stringify(modernMessage('tools/call', params));
    const { port } = new URL(running.url);
    const socket = connectSocket({ host: '127.0.0.1', port: Number(port) });
    const head = Object.entries({
      host: 'localhost',
      connection: 'close',
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'content-length': String(body.length),
      ...modernHeaders('tools/call', params),
    }).map(([name, value]) => `${name}: ${value}`);
    socket.write(['POST /mcp HTTP/1.1', ...head, '', body].join('\r\n'));
    // So many bytes in each fifth of the limit, that all of them take several times as long.
    const STEP = 1024 * 1024;
    let total = 0;
    let taken = 0;
    for await (const chunk of socket) {
      total += (chunk as Buffer).length;
      taken += (chunk as Buffer).length;
      if (taken < STEP) continue;
      taken = 0;
      await delay(STALL / 5);
    }
    expect(total).toBeGreaterThan(SIZE);
  });

  it('nothing of all that is logged as a fault', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

import { once } from 'node:events';
import { Agent, request as nodeRequest, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { type McpSessionCaps, type McpSessionData } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { Changes } from '../features/changes.app.js';
import { eventually } from '../features/open-stream.js';
import { HeldCalls, LogRecorder } from '../http/wire.app.js';
import { SharedDatabase, SharedSessionStore } from '../stores/shared.store.js';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { modern, openSession, post, textOf, type Json, type LegacySession, ready } from '../support/wire.js';
import {
  eventsIn,
  HOLD,
  idAt,
  LEGACY,
  letGo,
  messagesOf,
  openCall,
  OVER,
  progressOf,
  refusalOf,
  revisionOf,
  takeUp,
} from './calls.js';
import { sessionsApp } from './sessions.app.js';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

const initialize = (url: string, params: unknown, headers: Record<string, string> = {}) =>
  post(url, JSON.stringify({ jsonrpc: '2.0', id: 'i', method: 'initialize', params }), headers);

const end = async (url: string, { id }: Pick<LegacySession, 'id'>) =>
  (await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': id } })).status;

const kept = (running: RunningApp) => running.app.get(McpServer).sessions.store.count() as number;
const atWork = (running: RunningApp) => running.app.get(McpServer).sessions.size;

/** Whether a session is there, without using it: an `initialize` with the id of one that is is refused. */
const isThere = async (url: string, session: LegacySession) =>
  (await initialize(url, { protocolVersion: 1 }, { 'mcp-session-id': session.id })).status === 400;

describe.each(ADAPTERS)('the life of a session on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let held: HeldCalls;
  let changes: Changes;

  beforeAll(async () => {
    running = await startApp(sessionsApp(), { adapter, logger: logs });
    held = running.app.get(HeldCalls);
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it.each(LEGACY)(
    'S-080: one of %s that was ended is unknown, and its client begins anew',
    async (revision) => {
      const session = await ready(running.mcp, revision);
      const standing = await takeUp(running.mcp, session, undefined, traffic);
      changes.prompts();
      await standing.count(1);
      expect(await end(running.mcp, session)).toBe(204);
      expect(await standing.end).toBe('ended');
      const asked = await session.request('tools/list', {}, 'late');
      expect([asked.status, asked.body]).toEqual([404, { jsonrpc: '2.0', id: 'late', error: OVER }]);
      const notified = await session.notify('notifications/initialized');
      expect([notified.status, notified.body]).toEqual([404, { jsonrpc: '2.0', error: OVER }]);
      for (const event of [undefined, 'pAAAAAAAAAAAA.1'])
        expect(await refusalOf(await takeUp(running.mcp, session, event, traffic))).toEqual([
          404,
          { jsonrpc: '2.0', error: OVER },
        ]);
      const again = await openSession(running.mcp, revision, { 'mcp-session-id': session.id });
      expect(again.initialized.status).toBe(200);
      expect(again.initialized.headers.get('mcp-session-id')).toMatch(/^[0-9a-f]{32}$/);
      expect(again.initialized.headers.get('mcp-session-id')).not.toBe(session.id);
    },
  );

  it('E8, F5: DELETE ends the call, its stream, the standing streams and those that wait; once', async () => {
    const session = await ready(running.mcp);
    const [open, cut] = await Promise.all(
      ['open', 'cut'].map((key) =>
        openCall(running.mcp, session, HOLD(`${key} at DELETE`, 1), traffic, { id: key }),
      ),
    );
    const standing = [
      await takeUp(running.mcp, session, undefined, traffic),
      await takeUp(running.mcp, session, undefined, traffic),
    ];
    await Promise.all([open!.count(1), cut!.count(1)]);
    const event = idAt(cut!);
    await cut!.close();
    const resumed = await takeUp(running.mcp, session, event, traffic);
    const statuses = await Promise.all([end(running.mcp, session), end(running.mcp, session)]);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([204, 404]);
    expect(await messagesOf(open!)).toEqual(progressOf('open at DELETE', 1));
    for (const stream of [resumed, ...standing]) expect(await messagesOf(stream)).toEqual([]);
    for (const key of ['open at DELETE', 'cut at DELETE']) {
      expect(await held.of(key).aborted).toBe('AbortError');
      await held.of(key).over;
    }
    expect(await end(running.mcp, session)).toBe(404);
    const lost = await refusalOf(await takeUp(running.mcp, session, event, traffic));
    expect(lost).toEqual([404, { jsonrpc: '2.0', error: OVER }]);
    await eventually(() => changes.streams === 0);
  });

  it('E8: what hears of the end may end the session again', async () => {
    const session = await ready(running.mcp);
    const stream = await openCall(running.mcp, session, HOLD('ends again', 1), traffic);
    const ctx = await held.of('ends again').started;
    const again = new Promise<number>((resolve, reject) => {
      ctx.signal.addEventListener('abort', () => void end(running.mcp, session).then(resolve, reject));
    });
    expect(await end(running.mcp, session)).toBe(204);
    expect(await again).toBe(404);
    expect(await messagesOf(stream)).toEqual(progressOf('ends again', 1));
  });

  it('F4: what a tool sends after its client is gone is dropped quietly, and nobody else notices', async () => {
    for (const revision of LEGACY) {
      const [gone, other] = [await ready(running.mcp, revision), await ready(running.mcp, revision)];
      await gone.request('logging/setLevel', { level: 'debug' });
      const key = `left in ${revision}`;
      const stream = await openCall(running.mcp, gone, HOLD(key, 1), traffic);
      const ctx = await held.of(key).started;
      await stream.close();
      await ctx.progress(2);
      ctx.log.info('still here');
      held.of(key).release();
      await held.of(key).over;
      for (const session of [gone, other])
        expect(textOf((await session.callTool('echo', { text: 'served' })).result)).toBe('served');
    }
    await eventually(() => atWork(running) === 0);
  });

  it('S-070: one path takes POST, GET and DELETE, and nothing else', async () => {
    const session = await ready(running.mcp);
    expect((await session.request('ping')).status).toBe(200);
    const standing = await takeUp(running.mcp, session, undefined, traffic);
    expect(standing.status).toBe(200);
    for (const method of ['PUT', 'PATCH']) {
      const headers = { 'mcp-session-id': session.id };
      const refused = await fetch(running.mcp, { method, headers });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    }
    expect(await end(running.mcp, session)).toBe(204);
    expect(await standing.end).toBe('ended');
  });

  it('F7: a standing stream is open at once, before there is anything to send', async () => {
    for (const revision of LEGACY) {
      const stream = await takeUp(running.mcp, await ready(running.mcp, revision), undefined, traffic);
      expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(stream.headers['x-accel-buffering']).toBe('no');
      expect(stream.messages).toEqual([]);
      await stream.close();
    }
  });

  describe('a handshake that fails', () => {
    const client = (characters: number) => {
      const around = JSON.stringify([{ x: '' }, INITIALIZE.clientInfo]).length;
      return { ...INITIALIZE, capabilities: { x: 'x'.repeat(characters - around) } };
    };

    it.each([
      ['without params', undefined],
      ['without a version', { capabilities: {} }],
      ['with capabilities that are a list', { ...INITIALIZE, capabilities: [] }],
      ['with a client that has no version', { ...INITIALIZE, clientInfo: { name: 'x' } }],
      ['with a client that says too much', client(16_385)],
      [
        'with a client that says very many things',
        {
          ...INITIALIZE,
          capabilities: {
            experimental: Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`e${at}`, {}])),
          },
        },
      ],
    ])('keeps nothing: %s', async (_what, params) => {
      const before = kept(running);
      const reply = await initialize(running.mcp, params);
      expect([reply.body['id'], reply.error.code]).toEqual(['i', -32602]);
      expect(reply.headers.has('mcp-session-id')).toBe(false);
      expect(kept(running)).toBe(before);
    });

    it('takes as much as 16 384 characters about a client', async () => {
      const before = kept(running);
      const reply = await initialize(running.mcp, client(16_384));
      expect([reply.status, kept(running) - before]).toEqual([200, 1]);
      expect(await end(running.mcp, { id: reply.headers.get('mcp-session-id')! })).toBe(204);
    });
  });

  it('E2, E4: two sessions with equal ids and tokens get their own answers, progress and logs, whatever the socket', async () => {
    const sessions = [await ready(running.mcp), await ready(running.mcp, '2025-03-26')];
    await sessions[0]!.request('logging/setLevel', { level: 'info' });
    await sessions[1]!.request('logging/setLevel', { level: 'error' });
    const keys = [`first of two on ${adapter}`, `second of two on ${adapter}`];
    const streams = await Promise.all(
      sessions.map((session, at) => {
        const params = { ...HOLD(keys[at]!, 1), _meta: { progressToken: 'same' } };
        return openCall(running.mcp, session, params, traffic, { id: 1 });
      }),
    );
    for (const key of keys.toReversed()) {
      const ctx = await held.of(key).started;
      await ctx.progress(2, undefined, key);
      ctx.log.info(`info of ${key}`);
      ctx.log.error(`error of ${key}`);
    }
    // Each on a connection of its own, in turns.
    for (const [at, session] of [...sessions.entries(), ...sessions.entries()]) {
      const echo = { name: 'echo', arguments: { text: keys[at] } };
      const reply = await openCall(running.mcp, session, echo, traffic, { id: 2 });
      await reply.end;
      expect(JSON.parse(reply.text)).toMatchObject({ id: 2, result: { content: [{ text: keys[at] }] } });
    }
    keys.forEach((key) => held.of(key).release());
    for (const [at, stream] of streams.entries()) {
      const told = (await messagesOf(stream)).map(({ params, result }) => {
        const { progress, message, data } = (params ?? {}) as Json;
        return result === undefined ? (data ?? [progress, message]) : textOf(result as Json);
      });
      expect(told).toEqual([
        [1, undefined],
        [2, keys[at]],
        ...(at === 0 ? [`info of ${keys[at]}`] : []),
        `error of ${keys[at]}`,
        `${keys[at]} let go`,
      ]);
    }
  });

  it('D6, S-190, S-191, S-192: clients of every generation are served side by side, each in its own form', async () => {
    const raw = await Promise.all(LEGACY.map((revision) => ready(running.mcp, revision)));
    expect(raw.map(revisionOf)).toEqual(LEGACY);
    const [v1, v2, v2Legacy] = await Promise.all([
      connectV1(running.mcp, traffic),
      connectV2(running.mcp, 'auto', traffic),
      connectV2(running.mcp, 'legacy', traffic),
    ]);
    const greeting = { greeting: 'hello' };
    const content = [{ type: 'text', text: JSON.stringify(greeting) }];
    const round = async (at: number) => {
      const legacy = raw.map(async (session) => {
        const { headers, body } = await session.request('tools/call', { name: 'hello' }, at);
        traffic.observe(body, revisionOf(session), 'tools/call');
        const structured = revisionOf(session) >= '2025-06-18' ? { structuredContent: greeting } : {};
        expect(body).toEqual({ jsonrpc: '2.0', id: at, result: { content, ...structured } });
        expect(headers.has('mcp-session-id')).toBe(false);
      });
      const stray = { 'mcp-session-id': raw[at % raw.length]!.id, 'last-event-id': 'pAAAAAAAAAAAA.1' };
      const newest = modern(running.mcp, 'tools/call', { name: 'hello' }, stray, at).then(
        ({ headers, body }) => {
          traffic.observe(body, '2026-07-28', 'tools/call');
          expect(body).toMatchObject({
            id: at,
            result: { resultType: 'complete', content, structuredContent: greeting },
          });
          expect(headers.has('mcp-session-id')).toBe(false);
        },
      );
      const official = [v1, v2, v2Legacy].map(async (client) => {
        const result = await client.callTool({ name: 'hello' });
        expect(result).toMatchObject({ content, structuredContent: greeting });
      });
      await Promise.all([...legacy, newest, ...official]);
    };
    await Promise.all(Array.from({ length: 12 }, (_, at) => round(at)));
    expect(v2.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(v2Legacy.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    await Promise.all([v1, v2, v2Legacy].map((client) => client.close()));
  });

  it('F4: leaves no line in the log, whoever came and went', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

describe.each(ADAPTERS)(
  'the end of the application, caused by what hears of the end of a session, on %s',
  (adapter) => {
    it('E8: closes it once, and quietly', async () => {
      const logs = new LogRecorder();
      const running = await startApp(sessionsApp({ limits: { shutdownGrace: 50 } }), {
        adapter,
        logger: logs,
      });
      const held = running.app.get(HeldCalls);
      const traffic = new Traffic();
      const session = await ready(running.mcp);
      const stream = await openCall(running.mcp, session, HOLD('closes', 1), traffic);
      const standing = await takeUp(running.mcp, session, undefined, traffic);
      const ctx = await held.of('closes').started;
      const closed = new Promise<void>((resolve, reject) => {
        ctx.signal.addEventListener('abort', () => void running.close().then(resolve, reject));
      });
      expect(await end(running.mcp, session)).toBe(204);
      await closed;
      expect(await messagesOf(stream)).toEqual(progressOf('closes', 1));
      expect(await standing.end).toBe('ended');
      expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
    });
  },
);

/** A store on a slow network: sessions are kept when a test lets them. */
@Injectable()
class SlowStore extends SharedSessionStore {
  static database: SharedDatabase;
  static entered: () => void;
  static gate: Promise<void>;

  constructor() {
    super(SlowStore.database);
  }

  override async create(session: McpSessionData, caps: McpSessionCaps, idle: number): Promise<boolean> {
    SlowStore.entered();
    await SlowStore.gate;
    return super.create(session, caps, idle);
  }
}

describe.each(ADAPTERS)('a client that hangs up before its handshake is answered, on %s', (adapter) => {
  it('leaves no session behind', async () => {
    let open = () => {};
    SlowStore.database = new SharedDatabase();
    SlowStore.gate = new Promise((resolve) => (open = resolve));
    const entered = new Promise<void>((resolve) => (SlowStore.entered = resolve));
    const running = await startApp(sessionsApp({ sessions: { store: SlowStore } }), { adapter });
    const sockets: Socket[] = [];
    (running.app.getHttpServer() as Server).on('connection', (socket: Socket) => sockets.push(socket));
    const sent = nodeRequest(running.mcp, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }));
    await entered;
    const closed = once(sockets[0]!, 'close');
    sent.destroy();
    await closed;
    let writes = 0;
    const { sessions } = SlowStore.database;
    const set = sessions.set.bind(sessions);
    sessions.set = (id, text) => (writes++, set(id, text));
    open();
    await eventually(() => writes === 1 && sessions.size === 0);
    await running.close();
  });
});

describe.each(ADAPTERS)('the caps of sessions on %s', (adapter) => {
  const traffic = new Traffic();

  it('are for one caller alone: the longest idle goes, one that is busy never, and if all are: 503', async () => {
    const running = await startApp(sessionsApp({ sessions: { max: 5, maxPerCaller: 2 } }), { adapter });
    const held = running.app.get(HeldCalls);
    const ann = { 'x-user': 'ann' };
    const bob = await ready(running.mcp, '2025-11-25', { 'x-user': 'bob' });
    const calling = await ready(running.mcp, '2025-11-25', ann);
    const call = await openCall(running.mcp, calling, HOLD('of ann', 1), traffic, { headers: ann });
    await call.count(1);
    await call.close();
    const idle = await ready(running.mcp, '2025-11-25', ann);
    // The call goes on though its client is away, and was begun before.
    const listening = await ready(running.mcp, '2025-11-25', ann);
    expect([await isOver(idle), await isOver(calling), await isOver(bob)]).toEqual([true, false, false]);
    const standing = await takeUp(running.mcp, listening, undefined, traffic, ann);

    const refused = await initialize(running.mcp, INITIALIZE, ann);
    expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
      503,
      '1',
      {
        jsonrpc: '2.0',
        id: 'i',
        error: { code: -32600, message: 'Too many sessions, all of them in use: try again later' },
      },
    ]);
    expect(refused.headers.has('mcp-session-id')).toBe(false);
    const another = await openSession(running.mcp, '2025-11-25', { 'x-user': 'bob' });
    expect([another.initialized.status, await isOver(bob)]).toEqual([200, false]);

    await standing.close();
    await eventually(() => new Changes(running.app).streams === 0);
    // Of the two of hers, the one with the call is busy still.
    expect((await initialize(running.mcp, INITIALIZE, ann)).status).toBe(200);
    expect([await isOver(listening), await isOver(calling)]).toEqual([true, false]);
    held.of('of ann').release();
    const answered = await takeUp(running.mcp, calling, idAt(call), traffic, ann);
    expect(await messagesOf(answered)).toEqual([letGo('of ann', 1)]);
    await running.close();
    await traffic.verify();
  });

  it('count sessions without a caller in all alone', async () => {
    const running = await startApp(sessionsApp({ sessions: { max: 4, maxPerCaller: 1 } }), { adapter });
    const sessions: LegacySession[] = [];
    for (let at = 0; at < 5; at++) sessions.push(await ready(running.mcp));
    expect(await Promise.all(sessions.map(isOver))).toEqual([true, false, false, false, false]);
    await running.close();
  });

  async function isOver(session: LegacySession): Promise<boolean> {
    return (await session.request('ping')).status === 404;
  }
});

async function startIdling(adapter: AdapterName, idle: number) {
  const running = await startApp(sessionsApp({ sessions: { idle, max: 2_000 } }), { adapter });
  return { running, held: running.app.get(HeldCalls), changes: new Changes(running.app) };
}

describe.each(ADAPTERS)('sessions that nobody uses, on %s', (adapter) => {
  it('E6: end by themselves, a thousand of them, and leave nothing behind', async () => {
    const { running, changes } = await startIdling(adapter, 300);
    const before = changes.listeners;
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });
    const opened = await Promise.all(
      Array.from(
        { length: 1_000 },
        () =>
          new Promise<string>((resolve, reject) => {
            const headers = { 'content-type': 'application/json' };
            nodeRequest(running.mcp, { method: 'POST', agent, headers }, (response) => {
              response.resume();
              resolve(response.headers['mcp-session-id'] as string);
            })
              .on('error', reject)
              .end(body);
          }),
      ),
    );
    agent.destroy();
    expect(new Set(opened).size).toBe(1_000);
    await eventually(() => kept(running) === 0);
    expect([atWork(running), changes.listeners, changes.streams]).toEqual([0, before, 0]);
    for (const id of opened.slice(-3)) {
      const asked = await post(running.mcp, '{"jsonrpc":"2.0","id":1,"method":"ping"}', {
        'mcp-session-id': id,
      });
      expect([asked.status, asked.error]).toEqual([404, OVER]);
      const again = await initialize(running.mcp, INITIALIZE, { 'mcp-session-id': id });
      expect([again.status, again.headers.get('mcp-session-id') === id]).toEqual([200, false]);
    }
    await running.close();
  });

  it('E6: are not those with a stream open, nor those with a call running, whose client may be away', async () => {
    const { running, held, changes } = await startIdling(adapter, 400);
    const traffic = new Traffic();
    const sessions = await Promise.all([0, 1, 2].map(() => ready(running.mcp)));
    const [listening, calling, left] = sessions as [LegacySession, LegacySession, LegacySession];
    const standing = await takeUp(running.mcp, listening, undefined, traffic);
    await standing.until(() => eventsIn(standing).length === 1);
    const answered = calling.request('tools/call', HOLD('idling'));
    await held.of('idling').started;
    const cut = await openCall(running.mcp, left, HOLD('left', 1), traffic);
    await cut.count(1);
    await cut.close();
    // Three times the idle time of one that nobody uses.
    for (let turn = 0; turn < 3; turn++) {
      const unused = await openSession(running.mcp);
      await eventually(() => kept(running) === 3);
      expect(await isThere(running.mcp, unused)).toBe(false);
    }
    for (const session of sessions) expect(await isThere(running.mcp, session)).toBe(true);
    changes.prompts();
    expect(await standing.count(1)).toHaveLength(1);
    await standing.close();
    held.of('idling').release();
    expect((await answered).body).toEqual(letGo('idling', 1));
    held.of('left').release();
    await held.of('left').over;
    const again = await takeUp(running.mcp, left, idAt(cut), traffic);
    expect(await messagesOf(again)).toEqual([letGo('left', 1)]);
    // Now that nothing runs and nothing is open, they end as others do.
    await eventually(() => kept(running) === 0);
    await running.close();
    await traffic.verify();
  });
});

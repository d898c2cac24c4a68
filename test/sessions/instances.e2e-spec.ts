import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  McpEventBus,
  type McpBusMessage,
  type McpModuleOptions,
  type McpReplay,
  type McpSessionCaps,
  type McpSessionData,
} from 'nest-mcp';
import { Changes } from '../features/changes.app.js';
import { eventually, listChange, resourceChange } from '../features/open-stream.js';
import { HeldCalls, LogRecorder } from '../http/wire.app.js';
import { SharedDatabase, SharedEventStore, SharedSessionStore } from '../stores/shared.store.js';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import {
  openSession,
  post,
  replyOf,
  type Json,
  type LegacySession,
  type Reply,
  ready,
} from '../support/wire.js';
import {
  emptyAnswer,
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
  takeUp,
} from './calls.js';
import { sessionsApp } from './sessions.app.js';

/** One process of several. */
interface Instance extends RunningApp {
  readonly held: HeldCalls;
  readonly changes: Changes;
}

/** What several processes have in common, and what can go wrong with it. */
class Cluster {
  readonly database = new SharedDatabase();
  /** Of all: Nest has one logger in a process. */
  readonly logs = new LogRecorder();
  /** Commands that fail from now on, at once or on the network. */
  readonly failing = new Map<string, 'rejects' | 'throws'>();
  private readonly wire = new EventEmitter();
  private readonly options: Partial<McpModuleOptions>;
  /** How often somebody looked for events. */
  looks = 0;

  /** @param lease ms for which events are kept at most that nobody keeps */
  constructor(options: Partial<McpModuleOptions> = {}, lease = Number.POSITIVE_INFINITY) {
    const { database, wire } = this;
    const fail = (command: string) => this.fail(command);
    const look = () => void this.looks++;

    @Injectable()
    class Sessions extends SharedSessionStore {
      constructor() {
        super(database);
      }

      override create(session: McpSessionData, caps: McpSessionCaps, idle: number): Promise<boolean> {
        return fail('create') ?? super.create(session, caps, idle);
      }

      override get(id: string): Promise<McpSessionData | undefined> {
        return fail('get') ?? super.get(id);
      }

      override touch(id: string, idle: number): Promise<boolean> {
        return fail('touch') ?? super.touch(id, idle);
      }

      override update(...args: Parameters<SharedSessionStore['update']>): Promise<boolean> {
        return fail('update') ?? super.update(...args);
      }

      override delete(id: string): Promise<boolean> {
        return fail('delete') ?? super.delete(id);
      }
    }

    @Injectable()
    class Events extends SharedEventStore {
      constructor() {
        super(database);
      }

      override append(...[key, event, bounds]: Parameters<SharedEventStore['append']>): Promise<void> {
        const time = Math.min(bounds.time, lease);
        return fail('append') ?? super.append(key, event, { ...bounds, time });
      }

      override keep(...[key, time]: Parameters<SharedEventStore['keep']>): Promise<void> {
        return super.keep(key, Math.min(time, lease));
      }

      override after(...args: Parameters<SharedEventStore['after']>): Promise<McpReplay | undefined> {
        look();
        return fail('after') ?? super.after(...args);
      }

      override drop(session: string): Promise<void> {
        return fail('drop') ?? super.drop(session);
      }
    }

    @Injectable()
    class Bus extends McpEventBus {
      publish(message: McpBusMessage): Promise<void> {
        // As a network would: later, and as JSON.
        const sent = JSON.stringify(message);
        return fail('publish') ?? setImmediate().then(() => void wire.emit('message', sent));
      }

      subscribe(listener: (message: McpBusMessage) => void): Promise<() => Promise<void>> {
        const tell = (sent: string) => listener(JSON.parse(sent) as McpBusMessage);
        wire.on('message', tell);
        return Promise.resolve(() => Promise.resolve(void wire.off('message', tell)));
      }
    }

    const { sessions, ...rest } = options;
    this.options = { ...rest, bus: Bus, sessions: { ...sessions, store: Sessions, events: Events } };
  }

  get listeners(): number {
    return this.wire.listenerCount('message');
  }

  start(adapter: AdapterName): Promise<Instance> {
    return start(adapter, this.options, this.logs);
  }

  private fail(command: string): Promise<never> | undefined {
    const how = this.failing.get(command);
    if (how === undefined) return undefined;
    const fault = new Error(`the network ate ${command}`);
    if (how === 'throws') throw fault;
    return Promise.reject(fault);
  }
}

async function start(
  adapter: AdapterName,
  options: Partial<McpModuleOptions> = {},
  logger: LogRecorder | false = false,
): Promise<Instance> {
  const running = await startApp(sessionsApp(options), { adapter, logger });
  return { ...running, held: running.app.get(HeldCalls), changes: new Changes(running.app) };
}

const messageText = (method: string, params: Json = {}, id?: string | number) =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params });

/** A message of a session, to whichever instance. */
const tell = (instance: Instance, session: LegacySession, body: string, more: Record<string, string> = {}) =>
  post(instance.mcp, body, { 'mcp-session-id': session.id, ...more });

const end = async (instance: Instance, session: LegacySession): Promise<Reply> =>
  replyOf(await fetch(instance.mcp, { method: 'DELETE', headers: { 'mcp-session-id': session.id } }));

describe.each(ADAPTERS)('two instances that share their sessions, on %s', (adapter) => {
  const traffic = new Traffic();
  const cluster = new Cluster();
  let a: Instance;
  let b: Instance;

  beforeAll(async () => {
    [a, b] = await Promise.all([cluster.start(adapter), cluster.start(adapter)]);
  });

  afterAll(async () => {
    await Promise.all([a.close(), b.close()]);
    await traffic.verify();
  });

  it.each(LEGACY)('E7: a session of %s that began on one is served by both, in turns', async (revision) => {
    const session = await openSession(a.mcp, revision);
    expect((await tell(b, session, messageText('notifications/initialized'))).status).toBe(202);
    for (let at = 0; at < 6; at++) {
      const reply = await tell([b, a][at % 2]!, session, messageText('tools/call', { name: 'whoami' }, at));
      traffic.observe(reply.body, revision, 'tools/call');
      const text = (reply.result['content'] as { text: string }[])[0]!.text;
      expect(JSON.parse(text)).toEqual({
        client: { name: 'test', version: '1', capabilities: {} },
        era: 'legacy',
        revision,
        sessionId: session.id,
        requestId: at,
      });
    }
    const again = await tell(b, session, messageText('initialize', { protocolVersion: revision }, 9));
    expect([again.status, again.error.message]).toEqual([400, 'This session is initialized already']);
    const wrong = await tell(b, session, messageText('ping', {}, 1), { 'mcp-protocol-version': 'banana' });
    expect(wrong.status).toBe(400);
    expect((await end(b, session)).status).toBe(204);
    for (const instance of [a, b]) {
      const late = await tell(instance, session, messageText('ping', {}, 1));
      expect([late.status, late.error]).toEqual([404, OVER]);
    }
  });

  it("S-179: another caller's session is unknown on either", async () => {
    const ann = { 'x-user': 'ann' };
    const session = await ready(a.mcp, '2025-11-25', ann);
    for (const instance of [a, b]) {
      expect((await tell(instance, session, messageText('ping', {}, 1), ann)).status).toBe(200);
      const foreign = await tell(instance, session, messageText('ping', {}, 1), { 'x-user': 'bob' });
      expect([foreign.status, foreign.error]).toEqual([404, OVER]);
    }
  });

  it('what a client sets up on one counts on the other: readiness, level of logs, resources', async () => {
    const session = await openSession(a.mcp);
    const standing = await takeUp(a.mcp, session, undefined, traffic);
    await standing.until(() => eventsIn(standing).length === 1);
    await tell(b, session, messageText('notifications/initialized'));
    const subscribed = await tell(b, session, messageText('resources/subscribe', { uri: 'ticket://7' }, 1));
    expect(subscribed.result).toEqual({});
    b.changes.update('ticket://7', 'ticket://8');
    expect(await standing.count(1)).toEqual([resourceChange('ticket://7')]);
    a.changes.update('ticket://7');
    expect(await standing.count(2)).toHaveLength(2);
    await tell(b, session, messageText('resources/unsubscribe', { uri: 'ticket://7' }, 2));
    b.changes.update('ticket://7');
    b.changes.prompts();
    expect((await standing.count(3))[2]).toEqual(listChange('prompts'));

    await tell(b, session, messageText('logging/setLevel', { level: 'warning' }, 3));
    const call = await openCall(a.mcp, session, HOLD(`logs on ${adapter}`, 1), traffic);
    const ctx = await a.held.of(`logs on ${adapter}`).started;
    ctx.log.info('too quiet');
    ctx.log.error('loud');
    a.held.of(`logs on ${adapter}`).release();
    const messages = await messagesOf(call);
    expect(messages.map(({ method, params }) => [method, (params as Json | undefined)?.['data']])).toEqual([
      ['notifications/progress', undefined],
      ['notifications/message', 'loud'],
      [undefined, undefined],
    ]);
    await standing.close();
  });

  it.each([
    ['with a stream open', 1],
    ['with nothing sent', undefined],
  ])('a cancellation that one gets ends the call that the other runs, %s', async (what, progress) => {
    const session = await ready(a.mcp);
    const key = `cancelled ${what}`;
    const pending = tell(a, session, messageText('tools/call', HOLD(key, progress), 'seven'));
    const ctx = await a.held.of(key).started;
    const stranger = await ready(b.mcp);
    for (const [client, requestId] of [
      [session, 7],
      [stranger, 'seven'],
    ] as const) {
      const body = messageText('notifications/cancelled', { requestId });
      expect((await tell(b, client, body)).status).toBe(202);
    }
    // What was published before is heard before.
    b.changes.prompts();
    await setImmediate();
    await setImmediate();
    expect(ctx.signal.aborted).toBe(false);
    const cancel = messageText('notifications/cancelled', { requestId: 'seven' });
    expect((await tell(b, session, cancel)).status).toBe(202);
    expect(await a.held.of(key).aborted).toBe('AbortError');
    const reply = await pending;
    expect([reply.status, reply.messages]).toEqual(
      progress === undefined ? [204, []] : [200, progressOf(key, 1)],
    );
  });

  it('E8, F5: DELETE on one ends the calls and streams that the other has', async () => {
    const session = await ready(a.mcp);
    const key = `deleted on ${adapter}`;
    const call = await openCall(a.mcp, session, HOLD(key, 1), traffic);
    await call.count(1);
    const standing = await takeUp(a.mcp, session, undefined, traffic);
    await standing.until(() => eventsIn(standing).length === 1);
    expect((await end(b, session)).status).toBe(204);
    expect(await a.held.of(key).aborted).toBe('AbortError');
    expect(await messagesOf(call)).toEqual(progressOf(key, 1));
    expect(await messagesOf(standing)).toEqual([]);
    for (const instance of [a, b]) expect((await end(instance, session)).status).toBe(404);
    expect(Array.from(cluster.database.streams.values()).some((row) => row.includes(session.id))).toBe(false);
  });

  it('S-194: a call whose stream was cut is taken up on the other: what is there at once, the rest as it comes', async () => {
    const session = await ready(a.mcp);
    const key = `moved on ${adapter}`;
    const cut = await openCall(a.mcp, session, HOLD(key, 1), traffic, { id: 'moved' });
    const ctx = await a.held.of(key).started;
    await cut.count(1);
    await cut.close();
    await ctx.progress(2);
    await ctx.progress(3);
    const moved = await takeUp(b.mcp, session, idAt(cut), traffic);
    expect(await moved.count(2)).toEqual(progressOf(key, 2, 3));
    await ctx.progress(4);
    a.held.of(key).release();
    expect(await messagesOf(moved)).toEqual([...progressOf(key, 2, 3, 4), letGo(key, 'moved')]);
    const ids = [...eventsIn(cut), ...eventsIn(moved)].map(({ id }) => id);
    expect(ids).toEqual([1, 2, 3, 4, 5, 6].map((at) => `${idAt(cut).split('.')[0]}.${at}`));
    // Over is over on both.
    for (const instance of [a, b]) {
      const whole = await takeUp(instance.mcp, session, idAt(cut), traffic);
      expect(await messagesOf(whole)).toEqual([...progressOf(key, 2, 3, 4), letGo(key, 'moved')]);
      expect(await emptyAnswer(await takeUp(instance.mcp, session, idAt(moved), traffic))).toBe(204);
      const foreign = await takeUp(instance.mcp, await ready(a.mcp), idAt(cut), traffic);
      expect((await refusalOf(foreign))[0]).toBe(400);
    }
  });

  it('a stream that is followed on the other ends there too with the session', async () => {
    const session = await ready(a.mcp);
    const key = `followed on ${adapter}`;
    const cut = await openCall(a.mcp, session, HOLD(key, 1), traffic);
    await cut.count(1);
    await cut.close();
    const moved = await takeUp(b.mcp, session, idAt(cut), traffic);
    expect((await end(a, session)).status).toBe(204);
    expect(await messagesOf(moved)).toEqual([]);
    await a.held.of(key).over;
  });

  it('ctx.closeStream() on one brings its client back to the other', async () => {
    const session = await ready(a.mcp);
    const key = `polled on ${adapter}`;
    const first = await openCall(a.mcp, session, HOLD(key, 1), traffic);
    (await a.held.of(key).started).closeStream();
    expect(await messagesOf(first)).toEqual(progressOf(key, 1));
    a.held.of(key).release();
    const second = await takeUp(b.mcp, session, idAt(first), traffic);
    expect(await messagesOf(second)).toEqual([letGo(key, 1)]);
  });

  it('a standing stream that was cut goes on at the other, with what it missed', async () => {
    const session = await ready(a.mcp);
    const cut = await takeUp(a.mcp, session, undefined, traffic);
    a.changes.prompts();
    await cut.count(1);
    await cut.close();
    await eventually(() => a.changes.streams === 0);
    await b.changes.tools();
    const stored = () => Array.from(cluster.database.streams.values()).join();
    await eventually(() => stored().includes('tools/list_changed'));
    const moved = await takeUp(b.mcp, session, idAt(cut), traffic);
    expect(await moved.count(1)).toEqual([listChange('tools')]);
    // From here on everything is told there, once, whoever it comes from.
    a.changes.prompts();
    await moved.count(2);
    b.changes.resources();
    expect(await moved.count(3)).toEqual([
      listChange('tools'),
      listChange('prompts'),
      listChange('resources'),
    ]);
    const ids = eventsIn(moved).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const old = await takeUp(b.mcp, session, idAt(moved), traffic);
    expect(await messagesOf(moved)).toHaveLength(3);
    await old.close();
  });

  it.each(LEGACY)(
    'a change is told once though both have a standing stream of %s, and by the other once there is none',
    async (revision) => {
      const session = await ready(a.mcp, revision);
      const older = await takeUp(a.mcp, session, undefined, traffic);
      await older.until(() => older.text !== '' || a.changes.streams === 1);
      const newer = await takeUp(b.mcp, session, undefined, traffic);
      await newer.until(() => newer.text !== '' || b.changes.streams === 1);
      a.changes.prompts();
      b.changes.resources();
      expect(await newer.count(2)).toEqual([listChange('prompts'), listChange('resources')]);

      // One that its client leaves for good; who has an id to come back with is waited for.
      const newest = await takeUp(a.mcp, session, undefined, traffic);
      await a.changes.tools();
      expect(await newest.count(1)).toEqual([listChange('tools')]);
      await Promise.all([newer, newest].map((stream) => stream.close()));
      await eventually(() => a.changes.streams === 1 && b.changes.streams === 0);
      b.changes.prompts();
      expect(await older.count(1)).toEqual([listChange('prompts')]);
      expect([newer.messages.length, newest.messages.length]).toEqual([2, 1]);
      await older.close();
    },
  );

  it('leaves no line in the log', () => {
    expect(cluster.logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

describe.each(ADAPTERS)('a store of events that forgets soon what nobody keeps, on %s', (adapter) => {
  /** ms; open streams are said to be at work twice as often. */
  const LEASE = 950;

  it('a long call that says nothing is followed on the other to its answer', async () => {
    const cluster = new Cluster({ sessions: { idle: 1_000 } }, LEASE);
    const traffic = new Traffic();
    const [a, b] = await Promise.all([cluster.start(adapter), cluster.start(adapter)]);
    const session = await ready(a.mcp);
    const cut = await openCall(a.mcp, session, HOLD('silent', 1), traffic);
    await cut.count(1);
    await cut.close();
    const moved = await takeUp(b.mcp, session, idAt(cut), traffic);
    let isOver = false;
    void moved.end.then(() => (isOver = true));
    // It looks once a second, so the second look is after the time of the last event.
    const before = cluster.looks;
    await eventually(() => isOver || cluster.looks > before + 1);
    a.held.of('silent').release();
    expect(await messagesOf(moved)).toEqual([letGo('silent', 1)]);
    await Promise.all([a.close(), b.close()]);
    await traffic.verify();
  });
});

describe.each(ADAPTERS)('an instance that closes, on %s', (adapter) => {
  it('leaves its clients to the other: answers that they were not there for, and standing streams', async () => {
    const cluster = new Cluster({ limits: { shutdownGrace: 20 } });
    const traffic = new Traffic();
    const [a, b] = await Promise.all([cluster.start(adapter), cluster.start(adapter)]);
    const session = await ready(a.mcp);
    const cut = await openCall(a.mcp, session, HOLD('left', 1), traffic);
    await cut.count(1);
    await cut.close();
    const standing = await takeUp(a.mcp, session, undefined, traffic);
    await standing.until(() => eventsIn(standing).length === 1);
    await a.close();
    expect(await messagesOf(standing)).toEqual([]);

    const answered = await messagesOf(await takeUp(b.mcp, session, idAt(cut), traffic));
    expect(answered).toMatchObject([
      { id: 1, result: { isError: true, content: [{ text: 'The server is shutting down' }] } },
    ]);
    const moved = await takeUp(b.mcp, session, idAt(standing), traffic);
    b.changes.prompts();
    expect(await moved.count(1)).toEqual([listChange('prompts')]);
    await moved.close();
    expect((await tell(b, session, messageText('ping', {}, 2))).result).toEqual({});
    await b.close();
    expect([cluster.listeners, cluster.logs.ofLevel('error', 'warn', 'fatal')]).toEqual([0, []]);
    await traffic.verify();
  });
});

describe.each(ADAPTERS)('instances that share caps, on %s', (adapter) => {
  it('count the sessions of a caller on both, and end none that another may be at work for', async () => {
    const cluster = new Cluster({ sessions: { maxPerCaller: 2, max: 4 } });
    const [a, b] = await Promise.all([cluster.start(adapter), cluster.start(adapter)]);
    const ann = { 'x-user': 'ann' };
    const [first, second] = [await ready(a.mcp, '2025-11-25', ann), await ready(b.mcp, '2025-11-25', ann)];
    for (const instance of [a, b]) {
      const { initialized } = await openSession(instance.mcp, '2025-11-25', ann);
      expect([initialized.status, initialized.headers.get('retry-after')]).toEqual([503, '1']);
    }
    expect((await openSession(b.mcp, '2025-11-25', { 'x-user': 'bob' })).initialized.status).toBe(200);

    // Half a minute later as far as the store knows, but for the one that is used.
    const { sessions } = cluster.database;
    for (const [id, text] of sessions) {
      const row = JSON.parse(text) as { lastUsed: number };
      sessions.set(id, JSON.stringify({ ...row, lastUsed: row.lastUsed - 31_000 }));
    }
    expect((await tell(b, first, messageText('ping', {}, 1), ann)).status).toBe(200);
    const { initialized } = await openSession(a.mcp, '2025-11-25', ann);
    expect(initialized.status).toBe(200);
    expect((await tell(a, first, messageText('ping', {}, 1), ann)).status).toBe(200);
    for (const instance of [a, b])
      expect((await tell(instance, second, messageText('ping', {}, 1), ann)).status).toBe(404);
    await Promise.all([a.close(), b.close()]);
    expect(cluster.listeners).toBe(0);
  });
});

describe.each(ADAPTERS)('two instances that share nothing, on %s', (adapter) => {
  it('E7: a session of one is unknown to the other, whose client begins anew there', async () => {
    const [a, b] = await Promise.all([start(adapter), start(adapter)]);
    const session = await ready(a.mcp);
    const lost = await tell(b, session, messageText('tools/list', {}, 1));
    expect([lost.status, lost.body]).toEqual([404, { jsonrpc: '2.0', id: 1, error: OVER }]);
    const again = await openSession(b.mcp, '2025-11-25', { 'mcp-session-id': session.id });
    expect(again.initialized.status).toBe(200);
    expect(again.initialized.headers.get('mcp-session-id')).not.toBe(session.id);
    expect((await session.request('ping')).status).toBe(200);
    await Promise.all([a.close(), b.close()]);
  });
});

describe.each(ADAPTERS)('a store that fails, on %s', (adapter) => {
  const traffic = new Traffic();
  const cluster = new Cluster();
  let a: Instance;
  let b: Instance;

  beforeAll(async () => {
    [a, b] = await Promise.all([cluster.start(adapter), cluster.start(adapter)]);
  });

  afterEach(() => {
    cluster.failing.clear();
    cluster.logs.lines.length = 0;
  });

  afterAll(async () => {
    await Promise.all([a.close(), b.close()]);
    await traffic.verify();
  });

  const errors = () => cluster.logs.ofLevel('error', 'fatal', 'warn');

  describe.each(['rejects', 'throws'] as const)('and %s', (how) => {
    it.each([
      ['get', 'tools/list', 500],
      ['touch', 'tools/list', 500],
      ['create', 'initialize', 500],
      ['update', 'logging/setLevel', 200],
    ])(
      'is an error with its id, one line in the log, and nothing else: %s',
      async (command, method, status) => {
        const session = await ready(a.mcp);
        cluster.failing.set(command, how);
        const params = { level: 'info', protocolVersion: '2025-11-25', capabilities: {} };
        const body = messageText(method, params, 'asked');
        const reply = method === 'initialize' ? await post(a.mcp, body) : await tell(a, session, body);
        expect([reply.status, reply.body['id'], reply.error.code]).toEqual([status, 'asked', -32603]);
        expect(reply.text).not.toContain('network');
        expect(reply.headers.has('mcp-session-id')).toBe(false);
        expect(errors()).toHaveLength(1);
        expect(errors()[0]).toContain(`the network ate ${command}`);
        cluster.failing.clear();
        expect((await session.request('ping')).status).toBe(200);
      },
    );

    it('is an error without id to GET, DELETE and notifications', async () => {
      const session = await ready(a.mcp);
      cluster.failing.set('get', how);
      const told = await tell(a, session, messageText('notifications/initialized'));
      const ended = await end(a, session);
      const [status, opened] = await refusalOf(await takeUp(a.mcp, session, undefined, traffic));
      expect([told.status, ended.status, status]).toEqual([500, 500, 500]);
      const fault = { jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } };
      expect([told.body, ended.body, opened]).toEqual([fault, fault, fault]);
      expect(errors()).toHaveLength(3);
      cluster.failing.clear();
      cluster.failing.set('delete', how);
      expect((await end(a, session)).status).toBe(500);
      cluster.failing.clear();
      expect((await end(a, session)).status).toBe(204);
    });

    it('costs what was to be kept of a stream, but not the stream', async () => {
      const session = await ready(a.mcp);
      cluster.failing.set('append', how);
      const key = `not kept: ${how}`;
      const live = await openCall(a.mcp, session, HOLD(key, 1), traffic);
      a.held.of(key).release();
      expect(await messagesOf(live)).toEqual([...progressOf(key, 1), letGo(key, 1)]);
      // One line for each event.
      expect(errors()).toHaveLength(3);
      expect((await refusalOf(await takeUp(a.mcp, session, idAt(live, 0), traffic)))[0]).toBe(400);
    });

    it('is an error to who comes back, and to who was coming back already the end of the connection', async () => {
      const session = await ready(a.mcp);
      const key = `comes back: ${how}`;
      const cut = await openCall(a.mcp, session, HOLD(key, 1), traffic);
      await cut.count(1);
      await cut.close();
      const event = idAt(cut);
      const following = await takeUp(b.mcp, session, event, traffic);
      cluster.failing.set('after', how);
      expect(await messagesOf(following)).toEqual([]);
      expect(errors()).toHaveLength(1);
      const [status, refused] = await refusalOf(await takeUp(b.mcp, session, event, traffic));
      expect([status, refused]).toEqual([
        500,
        { jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } },
      ]);
      expect(errors()).toHaveLength(2);
      // Where the call runs, its stream is open before its past is looked for.
      expect(await messagesOf(await takeUp(a.mcp, session, event, traffic))).toEqual([]);
      expect(errors()).toHaveLength(3);
      cluster.failing.clear();
      a.held.of(key).release();
      const again = await takeUp(a.mcp, session, event, traffic);
      expect(await messagesOf(again)).toEqual([letGo(key, 1)]);
      await eventually(() => a.changes.streams === 0 && b.changes.streams === 0);
    });

    it('ends the session all the same where only its streams cannot be forgotten, or nobody be told', async () => {
      for (const command of ['drop', 'publish']) {
        const session = await ready(a.mcp);
        cluster.failing.set(command, how);
        expect((await end(a, session)).status).toBe(204);
        expect(errors()).toHaveLength(1);
        cluster.failing.clear();
        cluster.logs.lines.length = 0;
        expect((await session.request('ping')).status).toBe(404);
      }
    });
  });
});

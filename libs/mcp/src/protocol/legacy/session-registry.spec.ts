import { jest } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import {
  SharedDatabase,
  SharedEventStore,
  SharedSessionStore,
} from '../../../../../test/stores/shared.store.js';
import { RecordingWriter } from '../../../../../test/support/recording-writer.js';
import { CallLifetime } from '../call-lifetime.js';
import { ChangeFeed, type ChangeListener, type McpChange } from '../changes.js';
import { LocalEventBus, type McpBusMessage } from '../event-bus.js';
import { readId, type NotificationMessage, type ResponseMessage } from '../json-rpc.js';
import { parseMessage } from '../message-parser.js';
import type { McpRevision } from '../versions.js';
import type { McpEventStore, McpReplayBounds } from './event-store.js';
import type { Handshake } from './handshake.js';
import { LocalEventStore } from './local-event-store.js';
import { LocalSessionStore } from './local-session-store.js';
import { SessionRegistry, type SessionRegistryOptions } from './session-registry.js';
import type { Session } from './session.js';
import { SessionSignals } from './session-signals.js';
import type { McpSessionStore } from './session-store.js';

const MINUTE = 60_000;
const IDLE = 30 * MINUTE;
/** From here on a session of a shared store may be ended to make room. */
const LEASE = 30_000;
const client = { name: 'a', version: '1', capabilities: {} };
const handshakeOf = (revision: McpRevision = '2025-11-25'): Handshake => ({ revision, client });

/** Hears all that is published. */
class HeardBus extends LocalEventBus {
  readonly published: McpBusMessage[] = [];
  override publish(message: McpBusMessage): void {
    this.published.push(message);
    super.publish(JSON.parse(JSON.stringify(message)) as McpBusMessage);
  }
}

interface Process {
  readonly store: McpSessionStore;
  readonly events: McpEventStore;
}

const closers: (() => unknown)[] = [];
let unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);

function localProcess(): Process {
  const [store, events] = [new LocalSessionStore(), new LocalEventStore(1_000_000)];
  closers.push(
    () => store.close(),
    () => events.close(),
  );
  return { store, events };
}

function sharedProcess(database = new SharedDatabase()): Process {
  return { store: new SharedSessionStore(database), events: new SharedEventStore(database) };
}

interface Limits {
  readonly max?: number;
  readonly maxPerCaller?: number;
  readonly idle?: number;
  readonly bounds?: McpReplayBounds;
}

const BOUNDS: McpReplayBounds = { events: 100, bytes: 10_000, time: IDLE };

/** A registry of one process, and ways to use it. */
async function serve(
  process: Process,
  { max = 1000, maxPerCaller = 20, idle = IDLE, bounds = BOUNDS }: Limits = {},
  bus = new HeardBus(),
) {
  const faults: unknown[] = [];
  const listeners = new Set<ChangeListener>();
  const options: SessionRegistryOptions = {
    ...process,
    bounds,
    replayTime: 300_000,
    caps: { max, maxPerCaller },
    idle,
    signals: new SessionSignals(bus, (fault) => void faults.push(fault)),
    join: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onFault: (fault) => void faults.push(fault),
  };
  const registry = new SessionRegistry(options);
  await registry.start();
  closers.push(() => registry.close());
  const find = async (id: string, owner?: string) => registry.find(id, owner);
  return {
    registry,
    store: process.store,
    events: process.events,
    bus,
    faults,
    listeners,
    open: (owner?: string, revision?: McpRevision) => registry.open(handshakeOf(revision), owner, ['tools']),
    /** Whether it is there; to ask is to use it. */
    use: async (id: string | undefined, owner?: string) => {
      const found = await find(id!, owner);
      found?.release();
      return found !== undefined;
    },
    /** A request of it that is not answered. */
    occupy: async (id: string | undefined, owner?: string) => (await find(id!, owner))!,
    count: async (owner?: string) => process.store.count(owner),
  };
}

/** The clock goes on, and what it set off comes to its end. */
async function advance(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  await settle();
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 8; turns++) await turn();
}

function run(session: Session, token = '1'): CallLifetime {
  const lifetime = new CallLifetime();
  session.add(readId(token)!, lifetime);
  return lifetime;
}

function messageOf<Kind extends 'notification' | 'response'>(kind: Kind, value: object) {
  const message = parseMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...value })), {
    depth: 64,
    tokens: 1000,
  });
  if (message.kind !== kind) throw new Error(`a ${message.kind}`);
  return message as Extract<NotificationMessage | ResponseMessage, { kind: Kind }>;
}

const cancellation = (requestId: number | string) =>
  messageOf('notification', { method: 'notifications/cancelled', params: { requestId } });

/** A request to the client of that session, and the id it was sent with. */
function ask(session: Session): { id: string; asked: Promise<unknown> } {
  let text = '';
  const asked = session.peer.requests.ask(
    { method: 'roots/list' },
    { send: (sent) => void (text = sent), signal: new AbortController().signal, timeLimit: MINUTE },
  );
  return { id: (JSON.parse(text) as { id: string }).id, asked };
}

beforeAll(() => process.on('unhandledRejection', onUnhandled));
afterAll(() => process.off('unhandledRejection', onUnhandled));
beforeEach(() => {
  unhandled = [];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
});
afterEach(async () => {
  await settle();
  for (const close of closers.splice(0)) await close();
  await settle();
  const timers = jest.getTimerCount();
  jest.useRealTimers();
  if (timers > 0 || unhandled.length > 0)
    throw new Error(`${timers} timers and ${unhandled.length} rejections are left`);
});

const STORES: [string, () => Process][] = [
  ['the stores of one process', localProcess],
  ['stores that processes share', sharedProcess],
];

describe.each(STORES)('over %s', (_, make) => {
  describe('session ids', () => {
    it('S-079, S-180: are 32 hexadecimal digits, and all different', async () => {
      const { open } = await serve(make(), { max: 100_000 });
      const ids = await Promise.all(Array.from({ length: 200 }, () => open()));
      expect(new Set(ids).size).toBe(200);
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    });
  });

  describe('finding a session', () => {
    it('E2: gives each client its own, with what initialize settled', async () => {
      const { open, occupy } = await serve(make());
      const [first, second] = [await open('ann'), await open('bob', '2025-03-26')];
      expect(first).not.toBe(second);
      const { session } = await occupy(first, 'ann');
      expect([session.id, session.owner, session.revision]).toEqual([first, 'ann', '2025-11-25']);
      const { session: other } = await occupy(second, 'bob');
      expect([other.id, other.owner, other.revision, other.client]).toEqual([
        second,
        'bob',
        '2025-03-26',
        client,
      ]);
    });

    it('gives the same one to all that are at work for it, and another once it was let go', async () => {
      const { registry, open, occupy } = await serve(make());
      const id = await open('ann');
      expect(registry.size).toBe(0);
      const [first, second] = await Promise.all([occupy(id, 'ann'), occupy(id, 'ann')]);
      expect(second.session).toBe(first.session);
      first.release();
      expect([registry.size, first.session.isHeld]).toEqual([1, true]);
      second.release();
      second.release();
      expect(registry.size).toBe(0);
      expect((await occupy(id, 'ann')).session).not.toBe(first.session);
    });

    it.each([
      ['ann', 'bob'],
      ['ann', undefined],
      [undefined, 'ann'],
    ])(
      'takes the session of %p for unknown when %p asks, and does not count it as use',
      async (owner, asker) => {
        const { registry, open, use } = await serve(make());
        const id = await open(owner);
        await advance(20 * MINUTE);
        expect([await use(id, asker), registry.size]).toEqual([false, 0]);
        expect(await registry.lookUp(id!, asker)).toBeUndefined();
        await advance(10 * MINUTE);
        expect(await use(id, owner)).toBe(false);
      },
    );

    it.each(['', 'x', '0'.repeat(32), 'F'.repeat(32), `${'0'.repeat(31)}\n`, '__proto__', 'constructor'])(
      'E1: does not know %j',
      async (id) => {
        const { registry, open, use, count } = await serve(make());
        await open();
        expect([await use(id), await registry.lookUp(id, undefined)]).toEqual([false, undefined]);
        expect([registry.size, await count()]).toEqual([0, 1]);
      },
    );

    it('E4: keeps calls with one id of two sessions apart', async () => {
      const { registry, open, occupy } = await serve(make());
      const [one, other] = [(await occupy(await open())).session, (await occupy(await open())).session];
      const calls = [run(one), run(other)];
      await registry.cancel(other, cancellation(1));
      expect(calls.map(({ endReason }) => endReason)).toEqual([undefined, 'cancelled']);
    });

    it('has what its client set up, whichever request did it, and while another looked', async () => {
      const { open, occupy, use } = await serve(make());
      const id = await open();
      const { session, release } = await occupy(id);
      const looking = use(id);
      await session.peer.becomeReady();
      await session.peer.setLogLevel('error');
      await looking;
      await session.peer.follow('note://all');
      expect([session.peer.isReady, session.peer.logLevel]).toEqual([true, 'error']);
      release();
      const later = (await occupy(id)).session;
      expect(later).not.toBe(session);
      expect([later.peer.isReady, later.peer.logLevel]).toEqual([true, 'error']);
    });
  });

  describe('the idle time-out', () => {
    it('E6: ends a thousand abandoned sessions and leaves no timer', async () => {
      const { registry, open, use, count } = await serve(make());
      const ids: (string | undefined)[] = [];
      for (let index = 0; index < 20; index++)
        ids.push(...(await Promise.all(Array.from({ length: 50 }, () => open()))));
      await Promise.all(ids.slice(0, 10).map((id) => use(id)));
      expect([registry.size, await count()]).toEqual([0, 1000]);
      await advance(IDLE - 1);
      expect(await count()).toBe(1000);
      await advance(1);
      expect([await count(), await use(ids[0])]).toEqual([0, false]);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('counts from the last use', async () => {
      const { open, use, count } = await serve(make());
      const [used, unused] = [await open(), await open()];
      await advance(29 * MINUTE);
      expect(await use(used)).toBe(true);
      await advance(MINUTE);
      expect([await count(), await use(unused)]).toEqual([1, false]);
      await advance(29 * MINUTE - 1);
      expect(await use(used)).toBe(true);
    });

    it('never ends a session that is busy, and starts over when it is not', async () => {
      const { registry, open, occupy, use, count } = await serve(make());
      const id = await open();
      const { session, release } = await occupy(id);
      const lifetime = run(session);
      await advance(300 * MINUTE + 5000);
      expect([await count(), lifetime.isOpen, registry.size]).toEqual([1, true, 1]);
      release();
      expect(registry.size).toBe(0);
      await advance(IDLE - 1);
      expect(await count()).toBe(1);
      await advance(1);
      expect([await count(), await use(id)]).toEqual([0, false]);
    });

    it('of less than the time between two looks ends none that is busy either', async () => {
      const { open, occupy, count } = await serve(make(), { idle: 101 });
      const { release } = await occupy(await open());
      await advance(10_000);
      expect(await count()).toBe(1);
      release();
      await advance(101);
      expect(await count()).toBe(0);
    });

    it('frees the caller for new sessions', async () => {
      const { open, occupy } = await serve(make(), { maxPerCaller: 1 });
      const { release } = await occupy(await open('ann'), 'ann');
      expect(await open('ann')).toBeUndefined();
      release();
      await advance(IDLE);
      expect(await open('ann')).toBeDefined();
    });

    it('lets the session go once the client of its stream is given up', async () => {
      const { registry, open, occupy, listeners } = await serve(make(), { idle: MINUTE });
      const { session, release } = await occupy(await open());
      const writer = new RecordingWriter();
      const stream = session.open(writer);
      writer.cut();
      stream.detach(writer);
      release();
      expect([registry.size, listeners.size]).toEqual([1, 1]);
      await advance(300_000);
      expect([registry.size, listeners.size]).toEqual([0, 0]);
    });
  });

  describe('caps', () => {
    it('make room by ending the longest-idle session', async () => {
      const { open, use, count } = await serve(make(), { max: 2 });
      const [first, second] = [await open(), await open()];
      await advance(1);
      await use(first);
      await advance(LEASE);
      const third = await open();
      expect(await count()).toBe(2);
      expect([await use(second), await use(first), await use(third)]).toEqual([false, true, true]);
    });

    it('pass over a busy session, however long ago it was used', async () => {
      const { open, occupy, use } = await serve(make(), { max: 2 });
      const [busy, idle] = [await open(), await open()];
      const { session } = await occupy(busy);
      const lifetime = run(session);
      await advance(1);
      await use(idle);
      await advance(LEASE);
      expect(await open()).toBeDefined();
      expect([await use(busy), await use(idle), lifetime.isOpen]).toEqual([true, false, true]);
    });

    it('refuse when every session is busy', async () => {
      const { open, occupy, count } = await serve(make(), { max: 2 });
      for (const id of [await open(), await open()]) await occupy(id);
      await advance(LEASE);
      expect([await open(), await count()]).toEqual([undefined, 2]);
    });

    it('of one caller end only sessions of that caller', async () => {
      const { open, use, count } = await serve(make(), { maxPerCaller: 2 });
      const others = await open('bob');
      const first = await open('ann');
      await advance(1);
      const second = await open('ann');
      await advance(LEASE);
      const third = await open('ann');
      expect([await count(), await count('ann')]).toEqual([3, 2]);
      expect([await use(first, 'ann'), await use(second, 'ann'), await use(third, 'ann')]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await use(others, 'bob')).toBe(true);
    });

    it('of one caller refuse when all of that caller are busy, and others still get in', async () => {
      const { open, occupy } = await serve(make(), { maxPerCaller: 2 });
      for (const id of [await open('ann'), await open('ann')]) await occupy(id, 'ann');
      await advance(LEASE);
      expect(await open('ann')).toBeUndefined();
      expect(await open('bob')).toBeDefined();
      expect(await open()).toBeDefined();
    });

    it('of one caller do not apply without a caller', async () => {
      const { open, count } = await serve(make(), { maxPerCaller: 1 });
      for (let index = 0; index < 10; index++) await open();
      expect(await count()).toBe(10);
    });

    it('hold where many come at once', async () => {
      const { open, count } = await serve(make(), { max: 5 });
      for (let index = 0; index < 5; index++) await open();
      await advance(LEASE);
      const ids = await Promise.all(Array.from({ length: 4 }, () => open()));
      expect([ids.filter((id) => id === undefined), await count()]).toEqual([[], 5]);
    });
  });

  describe('ending a session', () => {
    it('E8, S-080: aborts what runs in it, ends its streams, and is told to one alone', async () => {
      const { registry, open, occupy, use, events } = await serve(make(), { maxPerCaller: 1 });
      const id = (await open('ann'))!;
      const { session, release } = await occupy(id, 'ann');
      const lifetime = run(session);
      const writer = new RecordingWriter();
      const { id: stream } = session.open(writer);
      const ended = await Promise.all([registry.end(id), registry.end(id), registry.end(id)]);
      expect(ended).toEqual([true, false, false]);
      expect(await registry.end(id)).toBe(false);
      expect([lifetime.endReason, writer.isEnded, registry.size]).toEqual(['cancelled', true, 0]);
      await settle();
      expect(await events.after({ session: id, stream }, 0)).toBeUndefined();
      release();
      release();
      expect([await use(id, 'ann'), registry.size]).toEqual([false, 0]);
      expect(await open('ann')).toBeDefined();
    });

    it('S-080: leaves nobody in it who asked for it meanwhile', async () => {
      const { registry, open, use, count } = await serve(make());
      for (let turns = 0; turns < 8; turns++) {
        const id = (await open())!;
        const finding = registry.find(id, undefined);
        for (let waited = 0; waited < turns; waited++) await turn();
        expect(await registry.end(id)).toBe(true);
        const found = await finding;
        // The end came between its look and its touch.
        expect(turns > 0 || found === undefined).toBe(true);
        expect([found?.session.isEnded ?? true, registry.size]).toEqual([true, 0]);
        found?.release();
        expect([await use(id), await count(), registry.size]).toEqual([false, 0, 0]);
      }
    });

    it('counts a caller down once when a session is ended twice', async () => {
      const { registry, open, occupy } = await serve(make(), { maxPerCaller: 2 });
      const [first, second] = [await open('ann'), await open('ann')];
      await registry.end(first!);
      await registry.end(first!);
      await occupy(second, 'ann');
      await occupy(await open('ann'), 'ann');
      await advance(LEASE);
      expect(await open('ann')).toBeUndefined();
    });

    it('of which nobody knows is none', async () => {
      const { registry } = await serve(make());
      expect(await registry.end('0'.repeat(32))).toBe(false);
    });

    it('of the whole registry leaves neither call nor stream nor timer', async () => {
      const { registry, open, occupy, listeners } = await serve(make());
      const { session, release } = await occupy(await open('ann'), 'ann');
      const lifetime = run(session);
      const [writer, away] = [new RecordingWriter(), new RecordingWriter()];
      session.open(writer);
      const stream = session.open(away);
      away.cut();
      stream.detach(away);
      await registry.close();
      release();
      await registry.close();
      expect([registry.size, listeners.size]).toEqual([0, 0]);
      expect([lifetime.endReason, writer.isEnded]).toEqual(['cancelled', true]);
    });
  });

  describe('what a client missed', () => {
    it('S-078: is found by session and stream', async () => {
      const { registry, open, occupy } = await serve(make());
      const [mine, other] = [(await occupy(await open())).session, (await occupy(await open())).session];
      const stream = mine.open(new RecordingWriter());
      stream.send('1');
      await settle();
      const from = { stream: stream.id, sequence: 1 };
      expect((await registry.missed(mine, from))?.events).toEqual([{ sequence: 2, message: '1' }]);
      expect(await registry.missed(other, from)).toBeUndefined();
    });
  });

  describe('what is kept of an open stream', () => {
    /** Of a minute, though the last event is long ago. */
    const BOUNDED = { bounds: { events: 100, bytes: 10_000, time: MINUTE } };

    it('is kept as long as the stream is open, however silent it is', async () => {
      const { registry, open, occupy } = await serve(make(), BOUNDED);
      const { session } = await occupy(await open());
      const [standing, answer] = [
        session.open(new RecordingWriter()),
        session.answerStream(new RecordingWriter(), () => ''),
      ];
      answer.begin();
      const kept = async () =>
        Promise.all(
          [standing, answer].map(({ id }) => registry.missed(session, { stream: id, sequence: 0 })),
        );
      await advance(10 * MINUTE);
      expect((await kept()).map((replay) => replay?.events.length)).toEqual([1, 1]);
      answer.end('{}');
      expect((await kept())[1]).toMatchObject({ isEnded: true });
      // What is over is forgotten in its time.
      await advance(300_000 + 10_000);
      expect((await kept()).map((replay) => replay?.events.length)).toEqual([1, undefined]);
    });

    it('is forgotten in its time where the process is gone', async () => {
      const { registry, events, open, occupy } = await serve(make(), BOUNDED);
      const { session } = await occupy(await open());
      const stream = session.answerStream(new RecordingWriter(), () => '');
      stream.begin();
      await settle();
      const keep = jest.spyOn(events, 'keep').mockImplementation(() => undefined);
      const kept = async () =>
        (await registry.missed(session, { stream: stream.id, sequence: 0 })) !== undefined;
      await advance(MINUTE - 1);
      expect(await kept()).toBe(true);
      await advance(1);
      expect([await kept(), keep.mock.calls.length]).toEqual([false, 6]);
      expect(keep.mock.calls[0]).toEqual([{ session: session.id, stream: stream.id }, MINUTE]);
      keep.mockRestore();
    });
  });

  describe('while a store fails', () => {
    it('a session that cannot be touched is not held, and is there again later', async () => {
      const { registry, store, open, occupy } = await serve(make());
      const id = await open();
      const touch = jest.spyOn(store, 'touch').mockImplementation(() => Promise.reject(new Error('down')));
      await expect(registry.find(id!, undefined)).rejects.toThrow('down');
      expect(registry.size).toBe(0);
      touch.mockRestore();
      expect((await occupy(id)).session.isHeld).toBe(true);
    });

    it('tells of one that cannot be kept from being idle, and goes on', async () => {
      const { store, open, occupy, faults } = await serve(make());
      const { release } = await occupy(await open());
      const touch = jest.spyOn(store, 'touch').mockImplementation(() => Promise.reject(new Error('down')));
      await advance(20_000);
      release();
      await settle();
      expect(faults.length).toBe(2);
      touch.mockRestore();
    });

    it('a session is over although its events cannot be dropped', async () => {
      const { registry, events, open, use, faults } = await serve(make());
      const id = await open();
      const drop = jest.spyOn(events, 'drop').mockImplementation(() => Promise.reject(new Error('down')));
      expect([await registry.end(id!), await use(id)]).toEqual([true, false]);
      expect(faults).toEqual([new Error('down')]);
      drop.mockRestore();
    });
  });
});

describe('between processes', () => {
  /** Two processes behind one address. */
  async function servePair(limits: Limits = {}) {
    const [database, bus] = [new SharedDatabase(), new HeardBus()];
    const here = await serve(sharedProcess(database), limits, bus);
    const there = await serve(sharedProcess(database), limits, bus);
    const id = (await here.open('ann'))!;
    return { bus, here, there, id };
  }

  it('E7: a session that was opened in one is served by the other, with what was set up', async () => {
    const { here, there, id } = await servePair();
    const first = await here.occupy(id, 'ann');
    await first.session.peer.becomeReady();
    const second = await there.occupy(id, 'ann');
    expect(second.session.peer.isReady).toBe(true);
    await second.session.peer.setLogLevel('debug');
    await here.use(id, 'ann');
    expect(first.session.peer.logLevel).toBe('debug');
    expect(await there.use(id, 'bob')).toBe(false);
  });

  it('S-080: its end in one ends its calls and streams in the other', async () => {
    const { here, there, id, bus } = await servePair();
    const { session, release } = await there.occupy(id, 'ann');
    const lifetime = run(session);
    const writer = new RecordingWriter();
    session.open(writer);
    expect(await here.registry.end(id)).toBe(true);
    const process = expect.any(String) as string;
    expect(bus.published).toEqual([
      { kind: 'session', session: id, signal: 'opened', process },
      { kind: 'session', session: id, signal: 'ended' },
      { kind: 'session', session: id, signal: 'closed', process },
    ]);
    expect([lifetime.endReason, writer.isEnded, there.registry.size]).toEqual(['cancelled', true, 0]);
    expect(jest.getTimerCount()).toBe(0);
    release();
    expect([await there.use(id, 'ann'), await there.registry.end(id)]).toEqual([false, false]);
  });

  it('its end is noticed by the next touch where no signal came', async () => {
    const { here, there, id } = await servePair();
    const { session } = await there.occupy(id, 'ann');
    const lifetime = run(session);
    await here.store.delete(id);
    await advance(10_000);
    expect([lifetime.endReason, there.registry.size]).toEqual(['cancelled', 0]);
  });

  it('a cancellation reaches the call wherever it runs, and only where it is not here', async () => {
    const { here, there, id, bus } = await servePair();
    const [mine, other] = [(await here.occupy(id, 'ann')).session, (await there.occupy(id, 'ann')).session];
    const calls = [run(mine), run(other, '2'), run(other, '"2"')];
    await here.registry.cancel(mine, cancellation(1));
    expect(bus.published).toEqual([]);
    const message = cancellation('2');
    await here.registry.cancel(mine, message);
    expect(bus.published).toEqual([
      { kind: 'session', session: id, signal: 'cancelled', message: message.source.text },
    ]);
    expect(calls.map(({ endReason }) => endReason)).toEqual(['cancelled', undefined, 'cancelled']);
    await here.registry.cancel(mine, cancellation(2));
    expect(calls[1]!.endReason).toBe('cancelled');
  });

  it('an answer reaches who asked, wherever that is, and only where it is not here', async () => {
    const { here, there, id, bus } = await servePair();
    const [mine, other] = [(await here.occupy(id, 'ann')).session, (await there.occupy(id, 'ann')).session];
    const [first, second] = [ask(mine), ask(other)];
    await here.registry.answer(mine, messageOf('response', { id: first.id, result: { at: 1 } }));
    expect([bus.published, await first.asked]).toEqual([[], { at: 1 }]);
    await here.registry.answer(mine, messageOf('response', { id: second.id, result: { at: 2 } }));
    expect([bus.published.length, await second.asked]).toEqual([1, { at: 2 }]);
    // Nobody asked for that.
    await here.registry.answer(mine, messageOf('response', { id: second.id, result: {} }));
    expect(bus.published.length).toBe(2);
  });

  describe('a change', () => {
    const TOOLS: McpChange = { kind: 'list', list: 'tools' };

    /** A process that has the session, ready, and its standing streams. */
    async function join({ occupy, listeners }: Awaited<ReturnType<typeof serve>>, id: string) {
      const { session, release } = await occupy(id, 'ann');
      await session.peer.becomeReady();
      return {
        release,
        open: () => {
          const writer = new RecordingWriter();
          return { writer, stream: session.open(writer) };
        },
        change: async () => {
          listeners.forEach((listener) => listener.notify(TOOLS));
          await settle();
        },
      };
    }

    it('is told by the process with the newest standing stream alone, until that has none any more', async () => {
      const { here, there, id } = await servePair();
      const [one, other] = [await join(here, id), await join(there, id)];
      const change = () => Promise.all([one.change(), other.change()]);
      const [first, second, third] = [one.open(), other.open(), other.open()];
      const told = () => [first, second, third].map(({ writer }) => writer.messages.length);
      await change();
      expect(told()).toEqual([0, 0, 1]);
      third.stream.end();
      await change();
      expect(told()).toEqual([0, 1, 1]);
      second.stream.end();
      await change();
      expect(told()).toEqual([1, 1, 1]);
      const fourth = other.open();
      await change();
      const fifth = one.open();
      await change();
      expect(told()).toEqual([1, 1, 1]);
      expect([fourth, fifth].map(({ writer }) => writer.messages.length)).toEqual([1, 1]);
    });

    it('is told by one of those that open a stream at once', async () => {
      const { here, there, id, bus } = await servePair();
      const [one, other] = [await join(here, id), await join(there, id)];
      // Both are on their way before either is heard.
      const held: McpBusMessage[] = [];
      const publish = jest.spyOn(bus, 'publish').mockImplementation((message) => void held.push(message));
      const opened = [one.open(), other.open()];
      publish.mockRestore();
      held.forEach((message) => bus.publish(message));
      await Promise.all([one.change(), other.change()]);
      expect(opened.map(({ writer }) => writer.messages.length)).toEqual([0, 1]);
    });

    it('is still told by the newest where another closes its stream', async () => {
      const { here, there, id, bus } = await servePair();
      const [one, other] = [await join(here, id), await join(there, id)];
      const [oldest, newest] = [one.open(), other.open()];
      bus.publish({ kind: 'session', session: id, signal: 'closed', process: 'of a third' });
      await Promise.all([one.change(), other.change()]);
      expect([oldest, newest].map(({ writer }) => writer.messages.length)).toEqual([0, 1]);
    });
  });

  it('one process alone tells nobody', async () => {
    const { registry, bus, open, occupy } = await serve(localProcess());
    const { session } = await occupy(await open());
    session.open(new RecordingWriter()).end();
    await registry.cancel(session, cancellation(1));
    await registry.answer(session, messageOf('response', { id: 'x', result: {} }));
    await registry.end(session.id);
    expect(bus.published).toEqual([]);
  });

  it('a signal from anywhere harms nothing, and never throws', async () => {
    const { here, id, bus } = await servePair();
    const { session } = await here.occupy(id, 'ann');
    const lifetime = run(session);
    const { asked } = ask(session);
    const feed = new ChangeFeed(bus, (fault) => void here.faults.push(fault));
    await feed.open();
    const texts = ['', 'x', '{', 'null', '1', '"a"', '[]', '{}', '[{"id":1}]', '{"id":1}', '{"id":{}}'];
    texts.push(
      '{"params":1}',
      '{"params":{"requestId":{}}}',
      '{"params":{"requestId":9}}',
      '[1]'.repeat(1000),
    );
    texts.push('['.repeat(100_000), '{"id":"\\ud800","result":{}}', '{"id":"x","error":null}');
    for (const message of texts)
      for (const signal of ['cancelled', 'answered'] as const)
        for (const target of [id, 'unknown', '__proto__'])
          bus.publish({ kind: 'session', session: target, signal, message });
    bus.publish({ kind: 'session', session: 'unknown', signal: 'ended' });
    bus.publish({ kind: 'list', list: 'tools' });
    expect([lifetime.isOpen, here.registry.size, here.faults]).toEqual([true, 1, []]);
    await feed.close();
    session.end();
    await expect(asked).rejects.toMatchObject({ fault: 'gone' });
  });

  it('a session that was used a moment ago makes no room: the other process may be at work for it', async () => {
    const { here, there, id } = await servePair({ max: 1 });
    const { release } = await there.occupy(id, 'ann');
    await advance(LEASE - 1);
    expect(await here.open('bob')).toBeUndefined();
    // It is told again and again that it is busy.
    await advance(10 * LEASE);
    expect(await here.open('bob')).toBeUndefined();
    release();
    await settle();
    await advance(LEASE - 1);
    expect(await here.open('bob')).toBeUndefined();
    await advance(1);
    expect(await here.open('bob')).toBeDefined();
    expect(await there.use(id, 'ann')).toBe(false);
  });

  it('hears nothing more once it is closed', async () => {
    const { here, there, id } = await servePair();
    await there.registry.close();
    const { session } = await there.occupy(id, 'ann');
    await here.registry.end(id);
    expect(session.isEnded).toBe(false);
  });
});

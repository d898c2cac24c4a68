import { jest } from '@jest/globals';
import { RecordingWriter } from '../../../../../test/support/recording-writer.js';
import { CallLifetime } from '../call-lifetime.js';
import type { ChangeListener, McpChange } from '../changes.js';
import { readId } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import { LocalEventStore } from './local-event-store.js';
import { LocalSessionStore } from './local-session-store.js';
import { MAX_STANDING, Session, type SessionHost } from './session.js';
import type { McpSessionData } from './session-store.js';

const TOOLS: McpChange = { kind: 'list', list: 'tools' };
const TOOLS_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const REPLAY_TIME = 300_000;

function setUp(change: Partial<McpSessionData> = {}) {
  const listeners = new Set<ChangeListener>();
  const settled: boolean[] = [];
  const faults: unknown[] = [];
  const host: SessionHost = {
    store: new LocalSessionStore(),
    events: new LocalEventStore(100_000),
    bounds: { events: 100, bytes: 10_000, time: REPLAY_TIME },
    replayTime: REPLAY_TIME,
    join: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell: () => undefined,
    settled: (told) => void settled.push(told.isSettled),
    onFault: (fault) => void faults.push(fault),
  };
  const data: McpSessionData = {
    id: 'a'.repeat(32),
    revision: '2025-11-25',
    client: { name: 'a', version: '1', capabilities: {} },
    owner: 'ann',
    lists: ['tools'],
    isReady: true,
    followed: [],
    ...change,
  };
  const session = new Session(data, host);
  const open = () => {
    const writer = new RecordingWriter();
    return { writer, stream: session.open(writer) };
  };
  const announce = () => listeners.forEach((listener) => listener.notify(TOOLS));
  return { session, data, host, listeners, settled, faults, open, announce };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a session at work', () => {
  it('is what was kept of it', () => {
    const { session, data } = setUp({ logLevel: 'error' });
    expect([session.id, session.session, session.owner]).toEqual([data.id, data.id, 'ann']);
    expect([session.revision, session.client]).toEqual(['2025-11-25', data.client]);
    expect([session.peer.isReady, session.peer.logLevel]).toEqual([true, 'error']);
    expect(session.peer.handshake).toEqual({ revision: data.revision, client: data.client });
  });

  it.each<[McpRevision, boolean, boolean]>([
    ['2024-11-05', false, false],
    ['2025-03-26', true, false],
    ['2025-06-18', true, false],
    ['2025-11-25', true, true],
  ])('S-077: of %s has ids: %p, and opens streams with one: %p', (revision, hasIds, primes) => {
    const { session, open } = setUp({ revision });
    const { writer, stream } = open();
    stream.send('1');
    expect(writer.ids.length).toBe(primes ? 2 : 1);
    expect(writer.ids.every((id) => (id !== undefined) === hasIds)).toBe(true);
    expect(writer.messages).toEqual(['1']);
    const answer = new RecordingWriter();
    session.answerStream(answer, () => '').end('2');
    expect(answer.ids.length).toBe(primes ? 2 : 1);
    expect(answer.messages).toEqual(['2']);
  });

  it('is held as often as it is asked for, and settled after the last release', () => {
    const { session, settled } = setUp();
    expect([session.isHeld, session.isSettled]).toEqual([false, true]);
    const [first, second] = [session.hold(), session.hold()];
    first();
    first();
    first();
    expect([session.isHeld, settled]).toEqual([true, []]);
    second();
    expect([session.isHeld, settled]).toEqual([false, [true]]);
    const third = session.hold();
    second();
    expect([session.isHeld, settled]).toEqual([true, [true]]);
    third();
    expect(settled).toEqual([true, true]);
  });

  it('is not settled while a client may come back to its stream, and then is', () => {
    const { session, settled, open } = setUp();
    const release = session.hold();
    const { writer, stream } = open();
    writer.cut();
    stream.detach(writer);
    release();
    expect([session.isHeld, session.isSettled, settled]).toEqual([false, false, [false]]);
    jest.advanceTimersByTime(REPLAY_TIME);
    expect([session.isSettled, settled]).toEqual([true, [false, true]]);
  });

  it('is settled at once where the stream of a GET never came about', () => {
    const { session, settled, listeners } = setUp();
    const release = session.hold();
    const writer = new RecordingWriter();
    writer.cut();
    session.open(writer).detach(writer);
    release();
    expect([session.isSettled, settled, listeners.size]).toEqual([true, [true], 0]);
  });
});

describe('its standing streams', () => {
  it('S-075, S-076: get each message once: on the newest that is connected', async () => {
    const { open, announce, listeners } = setUp();
    const [first, second, third] = [open(), open(), open()];
    expect(listeners.size).toBe(1);
    announce();
    third.writer.cut();
    announce();
    second.stream.end();
    announce();
    expect([first, second, third].map(({ writer }) => writer.messages)).toEqual([
      [TOOLS_CHANGED],
      [TOOLS_CHANGED],
      [TOOLS_CHANGED],
    ]);
  });

  it('S-075: that wait for others on their connection get what no other can send at once, and keep it', () => {
    const { open, announce } = setUp();
    const [away, first, second, third] = [open(), open(), open(), open()];
    away.writer.cut();
    away.stream.detach(away.writer);
    second.writer.isConnected = false;
    third.writer.isConnected = false;
    announce();
    expect([first, second, third].map(({ writer }) => writer.messages.length)).toEqual([1, 0, 0]);
    first.writer.cut();
    announce();
    expect(third.writer.messages).toEqual([TOOLS_CHANGED]);
    third.writer.isConnected = true;
    announce();
    expect(third.writer.messages).toEqual([TOOLS_CHANGED, TOOLS_CHANGED]);
    expect(second.writer.messages).toEqual([]);
  });

  it('S-076: keep a message for the newest whose client may come back, where none is connected', async () => {
    const { session, open, announce } = setUp();
    const [first, second] = [open(), open()];
    for (const { writer, stream } of [second, first]) {
      writer.cut();
      stream.detach(writer);
    }
    announce();
    const [one, other] = [new RecordingWriter(), new RecordingWriter()];
    await session.find(second.stream.id)!.resume(other, 1);
    await session.find(first.stream.id)!.resume(one, 1);
    expect([one.messages, other.messages]).toEqual([[], [TOOLS_CHANGED]]);
    announce();
    expect([one.messages, other.messages]).toEqual([[], [TOOLS_CHANGED, TOOLS_CHANGED]]);
  });

  it('are told of nothing that came while none was there', () => {
    const { session, open, announce, listeners } = setUp();
    announce();
    const { writer, stream } = open();
    stream.end();
    expect([listeners.size, session.peer.send]).toEqual([0, undefined]);
    session.peer.notify(TOOLS);
    const next = open();
    expect([listeners.size, writer.messages, next.writer.messages]).toEqual([1, [], []]);
  });

  it('are so many, then the oldest is ended', () => {
    const { session, open } = setUp();
    const streams = Array.from({ length: MAX_STANDING }, open);
    expect(MAX_STANDING).toBe(8);
    expect(streams.every(({ writer }) => !writer.isEnded)).toBe(true);
    const ninth = open();
    expect(streams.map(({ writer }) => writer.isEnded)).toEqual([true, ...Array(7).fill(false)]);
    expect(session.find(streams[0]!.stream.id)).toBeUndefined();
    expect(session.find(ninth.stream.id)).toBe(ninth.stream);
  });

  it('are so many with those whose client is away', () => {
    const { session, open } = setUp();
    for (let round = 0; round < 100; round++) {
      const { writer, stream } = open();
      writer.cut();
      stream.detach(writer);
    }
    expect(jest.getTimerCount()).toBe(MAX_STANDING + 1);
    session.end();
    expect([session.isSettled, jest.getTimerCount()]).toEqual([true, 1]);
  });
});

describe('the streams of its answers', () => {
  it('are found by their names from their first event to their last', async () => {
    const { session } = setUp();
    const stream = session.answerStream(new RecordingWriter(), () => '');
    expect(session.find('')).toBeUndefined();
    stream.send('1');
    const { id } = stream;
    expect(session.find(id)).toBe(stream);
    stream.end('2');
    expect(session.find(id)).toBeUndefined();
  });

  it('carry nothing that belongs to no request', () => {
    const { session, open, announce } = setUp();
    const answer = new RecordingWriter();
    session.answerStream(answer, () => '').begin();
    const { writer } = open();
    announce();
    writer.cut();
    announce();
    expect([answer.messages, writer.messages]).toEqual([[], [TOOLS_CHANGED]]);
  });

  it('leave the standing ones as they are when they end', () => {
    const { session, open, announce } = setUp();
    const { writer } = open();
    session.answerStream(new RecordingWriter(), () => '').end('1');
    announce();
    expect(writer.messages).toEqual([TOOLS_CHANGED]);
  });

  it('keep what is said in the place of an answer that is too large', async () => {
    const { session, host } = setUp();
    const writer = new RecordingWriter();
    const stream = session.answerStream(writer, () => 'too large');
    const large = 'x'.repeat(10_001);
    stream.end(large);
    expect(writer.messages).toEqual([large]);
    const kept = await host.events.after({ session: session.id, stream: stream.id }, 1);
    expect(kept?.events.map(({ message }) => message)).toEqual(['too large']);
  });
});

describe('the end of a session', () => {
  it('E8, S-080: ends its calls, its requests to the client and its streams, once', async () => {
    const { session, open, listeners, settled } = setUp();
    const release = session.hold();
    const lifetime = new CallLifetime();
    session.add(readId('1')!, lifetime);
    const asked = session.peer.requests.ask(
      { method: 'roots/list' },
      { send: () => undefined, signal: new AbortController().signal, timeLimit: 1000 },
    );
    const streams = [open(), open()];
    const { writer, stream } = streams[1]!;
    writer.cut();
    stream.detach(writer);
    const answer = new RecordingWriter();
    const answering = session.answerStream(answer, () => '');
    answering.begin();
    lifetime.onEnd = () => answering.end();
    expect(session.isEnded).toBe(false);
    session.end();
    session.end();
    expect(session.isEnded).toBe(true);
    await expect(asked).rejects.toMatchObject({ fault: 'gone' });
    expect([lifetime.endReason, streams[0]!.writer.isEnded, answer.isEnded]).toEqual([
      'cancelled',
      true,
      true,
    ]);
    expect([listeners.size, session.peer.send, settled]).toEqual([0, undefined, []]);
    expect(session.find(answering.id)).toBeUndefined();
    release();
    expect(settled).toEqual([true]);
  });

  it('S-080: ends a stream at once that is opened after it, and nobody listens for it', () => {
    const { session, open, listeners } = setUp();
    const release = session.hold();
    session.end();
    const { writer } = open();
    expect([writer.isBegun, writer.isEnded, listeners.size]).toEqual([true, true, 0]);
    release();
    expect(session.isSettled).toBe(true);
  });
});

describe('a session that other processes have as well', () => {
  class SharedStore extends LocalSessionStore {
    // The other way round than its base, which is of one process.
    override readonly isShared: false = true as unknown as false;
    isBroken = false;
    override get(id: string): McpSessionData | undefined {
      if (this.isBroken) throw new Error('down');
      return super.get(id);
    }
  }

  it('is told of changes by what is kept of it now, and of none where that cannot be known', async () => {
    const { data, host, faults } = setUp();
    const store = new SharedStore();
    const session = new Session({ ...data, lists: [], followed: [] }, { ...host, store });
    store.create(data, { max: 10, maxPerCaller: 10 }, 60_000);
    store.update(data.id, { follow: 'note://all' });
    const writer = new RecordingWriter();
    session.open(writer);
    const announce = async () => {
      session.peer.notify({ kind: 'resource', uri: 'note://all' });
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      return writer.messages.length;
    };
    expect(await announce()).toBe(1);
    store.update(data.id, { unfollow: 'note://all' });
    expect(await announce()).toBe(1);
    store.isBroken = true;
    expect([await announce(), faults]).toEqual([1, [new Error('down')]]);
    store.close();
  });
});

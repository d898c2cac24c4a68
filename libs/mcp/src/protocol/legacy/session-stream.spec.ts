import { jest } from '@jest/globals';
import { RecordingWriter, type WrittenEvent } from '../../../../../test/support/recording-writer.js';
import { McpEventStore, type McpReplay, type McpReplayBounds } from './event-store.js';
import type { McpStreamEvent, McpStreamKey } from './event-store.js';
import { LocalEventStore } from './local-event-store.js';
import { readEventId, replayTo, SessionStream, type StreamHome, type StreamKind } from './session-stream.js';

const BOUNDS: McpReplayBounds = { events: 1000, bytes: 10_000, time: 900_000 };
const REPLAY_TIME = 300_000;
const TOO_LARGE = '"too large"';

/** A number from 0 up to below `limit`, the same ones for the same seed. */
function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

async function pass(turns: number): Promise<void> {
  for (let left = turns; left > 0; left--) await Promise.resolve();
}

/** Lets whatever waits for nothing but promises come to its end. */
const settle = () => pass(1000);

/** Closed after each test. */
const stores: { close(): void }[] = [];

/** Every call takes its time, there and back. Those that write keep their order; a look may overtake them. */
class SlowEventStore extends McpEventStore {
  private readonly store = new LocalEventStore(1_000_000);
  private written: Promise<void> = Promise.resolve();

  constructor(private readonly turns: () => number) {
    super();
    stores.push(this);
  }

  append(key: McpStreamKey, event: McpStreamEvent, bounds: McpReplayBounds): Promise<void> {
    return this.write(() => this.store.append(key, event, bounds));
  }

  end(key: McpStreamKey, time: number): Promise<void> {
    return this.write(() => this.store.end(key, time));
  }

  keep(key: McpStreamKey, time: number): Promise<void> {
    return this.write(() => this.store.keep(key, time));
  }

  async after(key: McpStreamKey, sequence: number): Promise<McpReplay | undefined> {
    await pass(this.turns());
    const replay = this.store.after(key, sequence);
    await pass(this.turns());
    return replay;
  }

  drop(session: string): Promise<void> {
    return this.write(() => this.store.drop(session));
  }

  close(): void {
    this.store.close();
  }

  private async write(work: () => void): Promise<void> {
    const before = this.written;
    const done = (async () => {
      await before;
      await pass(this.turns());
      work();
    })();
    this.written = done;
    await done;
    await pass(this.turns());
  }
}

function localStore(): LocalEventStore {
  const store = new LocalEventStore(1_000_000);
  stores.push(store);
  return store;
}

interface SetUp {
  readonly events?: McpEventStore | undefined;
  readonly primes?: boolean;
  readonly bounds?: McpReplayBounds;
  readonly kind?: StreamKind;
}

function setUp({ primes = true, bounds = BOUNDS, kind = 'p', ...rest }: SetUp = {}) {
  const events = 'events' in rest ? rest.events : localStore();
  const opened: SessionStream[] = [];
  const closed: SessionStream[] = [];
  const faults: unknown[] = [];
  const home: StreamHome = {
    session: 's',
    events,
    bounds,
    replayTime: REPLAY_TIME,
    primes,
    opened: (stream) => void opened.push(stream),
    closed: (stream) => void closed.push(stream),
    onFault: (fault) => void faults.push(fault),
  };
  const writer = new RecordingWriter();
  const stream = new SessionStream(home, kind, writer, () => TOO_LARGE);
  return {
    home,
    stream,
    writer,
    opened,
    closed,
    faults,
    /** What is kept of the stream. */
    kept: () => events?.after({ session: 's', stream: stream.id }, 0) as McpReplay | undefined,
    keptMessages: async () =>
      (await events?.after({ session: 's', stream: stream.id }, 0))?.events.map(({ message }) => message),
    /** The event of that number. */
    event: (sequence: number, message?: string): WrittenEvent => ({
      id: `${stream.id}.${sequence}`,
      ...(message === undefined ? {} : { message }),
    }),
  };
}

let unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => process.on('unhandledRejection', onUnhandled));
afterAll(() => process.off('unhandledRejection', onUnhandled));
beforeEach(() => {
  unhandled = [];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
});
afterEach(async () => {
  await settle();
  for (const store of stores.splice(0)) store.close();
  const timers = jest.getTimerCount();
  jest.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  if (timers > 0 || unhandled.length > 0)
    throw new Error(`${timers} timers and ${unhandled.length} rejections are left`);
});

describe('opening a stream', () => {
  it('waits for the first message, and happens once', () => {
    const { stream, writer, opened } = setUp();
    expect([stream.isOpen, stream.id, stream.isAttached, writer.isBegun]).toEqual([false, '', false, false]);
    stream.send('1');
    stream.send('2');
    stream.begin();
    expect([stream.isOpen, stream.isAttached, writer.isBegun]).toEqual([true, true, true]);
    expect(opened).toEqual([stream]);
  });

  it.each<[StreamKind]>([['p'], ['g']])('names it by its kind %p and 12 characters', (kind) => {
    const { stream } = setUp({ kind });
    stream.begin();
    expect(stream.id).toMatch(new RegExp(`^${kind}[A-Za-z0-9_-]{12}$`));
    stream.end();
  });

  it('S-077: never gives two streams of a session one name', () => {
    const { home } = setUp();
    const ids = Array.from({ length: 10_000 }, () => {
      const stream = new SessionStream({ ...home, events: undefined }, 'p', new RecordingWriter());
      stream.begin();
      return stream.id;
    });
    expect(new Set(ids).size).toBe(10_000);
  });

  it('begins with an id and no message where its home primes, whatever comes first', async () => {
    for (const start of ['begin', 'send', 'emit'] as const) {
      const { stream, writer, event, kept } = setUp();
      await stream[start]('1');
      expect(writer.written).toEqual([event(1), ...(start === 'begin' ? [] : [event(2, '1')])]);
      expect(kept()?.events[0]).toEqual({ sequence: 1, message: '' });
    }
  });

  it('S-077: begins with the first message where its home does not prime, with an id all the same', () => {
    const { stream, writer, event } = setUp({ primes: false });
    stream.begin();
    expect([writer.isBegun, writer.written]).toEqual([true, []]);
    stream.send('1');
    stream.send('2');
    expect(writer.written).toEqual([event(1, '1'), event(2, '2')]);
  });

  it.each([[true], [false]])(
    'gives no ids without a store of events, where its home primes: %p',
    async (primes) => {
      const { stream, writer } = setUp({ events: undefined, primes });
      stream.send('1');
      await stream.emit('2');
      stream.end('3');
      expect(writer.written).toEqual([{ message: '1' }, { message: '2' }, { message: '3' }]);
    },
  );

  it('does not happen on a connection that is over', async () => {
    const { stream, writer, opened, kept } = setUp();
    writer.cut();
    stream.begin();
    stream.send('1');
    await stream.emit('2');
    stream.pause();
    expect([stream.isOpen, opened, writer.isBegun, kept()]).toEqual([false, [], false, undefined]);
  });
});

describe('what may be lost', () => {
  it('is dropped without a number while the reader has no room', async () => {
    const { stream, writer, event, kept } = setUp();
    await stream.emit('1');
    writer.hasRoom = false;
    await stream.emit('2');
    stream.send('3');
    writer.read();
    await stream.emit('4');
    expect(writer.written).toEqual([event(1), event(2, '1'), event(3, '3'), event(4, '4')]);
    expect(kept()?.events.map(({ message }) => message)).toEqual(['', '1', '3', '4']);
  });

  it('is waited for until the reader has room again', async () => {
    const { stream, writer } = setUp();
    stream.begin();
    writer.emit = (message, id) => {
      writer.hasRoom = false;
      writer.put(message, id);
      return writer.drained();
    };
    let isDone = false;
    const sent = stream.emit('1').then(() => (isDone = true));
    await settle();
    expect(isDone).toBe(false);
    writer.read();
    await sent;
    expect(writer.messages).toEqual(['1']);
  });
});

describe('while no connection is there', () => {
  it('messages are kept, numbered, for a client that has an id', async () => {
    const { stream, writer, kept } = setUp();
    stream.begin();
    writer.cut();
    expect(stream.isAttached).toBe(false);
    stream.send('1');
    await stream.emit('2');
    expect(kept()).toEqual({
      events: [
        { sequence: 1, message: '' },
        { sequence: 2, message: '1' },
        { sequence: 3, message: '2' },
      ],
      isEnded: false,
    });
  });

  it('nothing is kept where nobody can know an id', async () => {
    const { stream, writer, kept, closed } = setUp({ primes: false });
    stream.begin();
    writer.cut();
    stream.send('1');
    await stream.emit('2');
    stream.end('3');
    expect([kept(), closed]).toEqual([undefined, [stream]]);
  });

  it('a last message is kept, for a client that has an id', () => {
    const { stream, writer, kept } = setUp({ primes: false });
    stream.send('1');
    writer.cut();
    stream.end('2');
    expect(kept()).toEqual({
      events: [
        { sequence: 1, message: '1' },
        { sequence: 2, message: '2' },
      ],
      isEnded: true,
    });
  });
});

describe('the end of a stream', () => {
  it('comes with the last message, is told once, and nothing follows it', async () => {
    const { stream, writer, event, closed, kept } = setUp();
    stream.send('1');
    stream.end('2');
    stream.end('3');
    stream.send('4');
    await stream.emit('5');
    stream.pause();
    stream.detach(writer);
    expect(writer.written).toEqual([event(1), event(2, '1'), event(3, '2')]);
    expect([writer.isEnded, closed, stream.isAttached]).toEqual([true, [stream], false]);
    expect([kept()?.events.length, kept()?.isEnded]).toEqual([3, true]);
  });

  it('comes without a message as well', () => {
    const { stream, writer, event, kept } = setUp();
    stream.begin();
    stream.end();
    expect([writer.written, writer.isEnded, kept()?.isEnded]).toEqual([[event(1)], true, true]);
  });

  it('is its beginning where only an answer comes: that has no id where nothing is primed, and is not kept', () => {
    const plain = setUp({ primes: false });
    plain.stream.end('1');
    expect([plain.writer.written, plain.writer.isEnded, plain.kept()]).toEqual([
      [{ message: '1' }],
      true,
      undefined,
    ]);
    const primed = setUp();
    primed.stream.end('1');
    expect(primed.writer.written).toEqual([primed.event(1), primed.event(2, '1')]);
    expect(primed.kept()?.events).toHaveLength(2);
  });

  it('is told of a stream that never began, which begins no more', () => {
    const { stream, writer, opened, closed } = setUp();
    stream.end();
    stream.begin();
    stream.send('1');
    stream.end('2');
    expect([stream.isOpen, opened, closed, writer.isBegun]).toEqual([false, [], [stream], false]);
  });

  it('leaves what it had for so long, and for ten seconds once its connection took it', () => {
    const { stream, writer, kept } = setUp();
    stream.end('1');
    jest.advanceTimersByTime(299_999);
    expect(kept()?.isEnded).toBe(true);
    jest.advanceTimersByTime(1);
    expect(kept()).toBeUndefined();
    const taken = setUp();
    taken.stream.end('1');
    taken.writer.take();
    jest.advanceTimersByTime(9_999);
    expect(taken.kept()?.isEnded).toBe(true);
    jest.advanceTimersByTime(1);
    expect(taken.kept()).toBeUndefined();
    writer.take();
  });

  it('with a message that is too large to keep keeps what is said instead, and sends the true one', () => {
    const large = JSON.stringify('€'.repeat(3400));
    const { stream, writer, event, kept } = setUp();
    stream.end(large);
    expect(writer.written).toEqual([event(1), event(2, large)]);
    expect(kept()?.events[1]).toEqual({ sequence: 2, message: TOO_LARGE });
    const fits = setUp();
    fits.stream.end('x'.repeat(BOUNDS.bytes));
    expect(fits.kept()?.events.at(-1)?.message).toHaveLength(BOUNDS.bytes);
  });
});

describe('a stream that is left to other processes', () => {
  it('ends its connection and itself here, and is kept as one that goes on', () => {
    const { stream, writer, event, closed, kept } = setUp({ kind: 'g' });
    stream.send('2');
    jest.advanceTimersByTime(BOUNDS.time - 1);
    stream.leave();
    stream.leave();
    stream.send('3');
    stream.end();
    expect([writer.written, writer.isEnded, closed]).toEqual([[event(1), event(2, '2')], true, [stream]]);
    jest.advanceTimersByTime(BOUNDS.time - 1);
    expect(kept()).toEqual({
      events: [
        { sequence: 1, message: '' },
        { sequence: 2, message: '2' },
      ],
      isEnded: false,
    });
    jest.advanceTimersByTime(1);
    expect(kept()).toBeUndefined();
  });

  it('waits for its client no more', () => {
    const { stream, writer, closed } = setUp({ kind: 'g' });
    stream.begin();
    writer.cut();
    stream.detach(writer);
    stream.leave();
    expect(closed).toEqual([stream]);
    stream.detach(writer);
    jest.advanceTimersByTime(BOUNDS.time);
    expect(closed).toEqual([stream]);
  });
});

describe('pausing', () => {
  it('ends the connection alone, and what follows waits for the client', async () => {
    const { stream, writer, event, closed } = setUp();
    stream.send('1');
    stream.pause();
    stream.pause();
    expect([writer.isEnded, stream.isAttached, closed]).toEqual([true, false, []]);
    stream.send('2');
    const next = new RecordingWriter();
    await stream.resume(next, 2);
    stream.end('3');
    expect(writer.written).toEqual([event(1), event(2, '1')]);
    expect(next.written).toEqual([event(3, '2'), event(4, '3')]);
    expect([next.isBegun, next.isEnded, closed]).toEqual([true, true, [stream]]);
  });

  it('opens the stream where nothing was sent yet, so that the client has an id', () => {
    const { stream, writer, event } = setUp();
    stream.pause();
    expect([writer.written, writer.isEnded]).toEqual([[event(1)], true]);
  });

  it.each<[string, SetUp]>([
    ['does not prime', { primes: false }],
    ['keeps no events', { events: undefined }],
  ])('does nothing where its home %s', (_, how) => {
    const { stream, writer } = setUp(how);
    stream.pause();
    expect(writer.isBegun).toBe(false);
    stream.send('1');
    stream.pause();
    stream.send('2');
    expect([writer.isEnded, writer.messages]).toEqual([false, ['1', '2']]);
  });

  it('ends a connection that is catching up as well, and its client comes back for the rest', async () => {
    const { stream, event } = setUp({ events: new SlowEventStore(() => 5) });
    stream.begin();
    stream.pause();
    stream.send('1');
    const [early, late] = [new RecordingWriter(), new RecordingWriter()];
    const resumed = stream.resume(early, 1);
    stream.pause();
    await resumed;
    expect([early.written, early.isEnded, stream.isAttached]).toEqual([[], true, false]);
    await stream.resume(late, 1);
    stream.end();
    expect(late.written).toEqual([event(2, '1')]);
  });
});

describe('resuming', () => {
  it('gives what follows the event, in order and once, and goes on', async () => {
    const { stream, writer, event } = setUp({ primes: false });
    for (const message of ['1', '2', '3']) stream.send(message);
    writer.cut();
    stream.send('4');
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    stream.send('5');
    await stream.emit('6');
    expect(next.written).toEqual([2, 3, 4, 5, 6].map((sequence) => event(sequence, `${sequence}`)));
    expect(stream.isAttached).toBe(true);
  });

  it('writes no event that has no message', async () => {
    const { stream, writer } = setUp();
    stream.begin();
    writer.cut();
    const next = new RecordingWriter();
    await stream.resume(next, 0);
    expect([next.written, next.isBegun, next.isEnded]).toEqual([[], true, false]);
  });

  it('ends the old connection, which gets nothing more', async () => {
    const { stream, writer, event } = setUp();
    stream.begin();
    const next = new RecordingWriter();
    const resumed = stream.resume(next, 1);
    expect(writer.isEnded).toBe(true);
    stream.send('1');
    await resumed;
    stream.send('2');
    // The old connection is closed only now.
    stream.detach(writer);
    expect([writer.written, next.written]).toEqual([[event(1)], [event(2, '1'), event(3, '2')]]);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('S-076: the second takes over from the first, wherever that is', async () => {
    const { stream, writer, event } = setUp({ events: new SlowEventStore(() => 3) });
    for (const message of ['1', '2', '3']) stream.send(message);
    writer.cut();
    const [first, second, third] = [new RecordingWriter(), new RecordingWriter(), new RecordingWriter()];
    first.hasRoom = false;
    const one = stream.resume(first, 1);
    await settle();
    expect(first.messages).toEqual(['1']);
    const two = stream.resume(second, 2);
    expect(first.isEnded).toBe(true);
    const three = stream.resume(third, 3);
    expect(second.isEnded).toBe(true);
    await Promise.all([one, two, three]);
    stream.send('4');
    expect([first.messages, second.messages]).toEqual([['1'], []]);
    expect(third.written).toEqual([event(4, '3'), event(5, '4')]);
  });

  it('finds a message that came while the store was asked for nothing', async () => {
    const { stream, writer, event } = setUp({ events: new SlowEventStore(() => 3) });
    stream.begin();
    writer.cut();
    await settle();
    const next = new RecordingWriter();
    const resumed = stream.resume(next, 1);
    await pass(7);
    stream.send('1');
    await resumed;
    stream.send('2');
    expect(next.written).toEqual([event(2, '1'), event(3, '2')]);
  });

  it('waits for a slow reader, and gives it what came meanwhile', async () => {
    const { stream, writer, event } = setUp();
    for (const message of ['1', '2']) stream.send(message);
    writer.cut();
    const next = new RecordingWriter();
    next.hasRoom = false;
    const resumed = stream.resume(next, 1);
    await settle();
    stream.send('3');
    expect(next.messages).toEqual(['1']);
    next.read();
    await resumed;
    expect(next.written).toEqual([event(2, '1'), event(3, '2'), event(4, '3')]);
  });

  it('after what is not kept any more goes on with what is', async () => {
    const { stream, writer, event } = setUp({ bounds: { ...BOUNDS, events: 2 } });
    stream.begin();
    writer.cut();
    for (const message of ['1', '2', '3']) stream.send(message);
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    stream.send('4');
    expect(next.written).toEqual([event(3, '2'), event(4, '3'), event(5, '4')]);
  });

  it('goes on where nothing is kept any more', async () => {
    const events = localStore();
    const { stream, writer, event } = setUp({ events });
    stream.send('1');
    writer.cut();
    events.drop('s');
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    stream.send('2');
    expect([next.written, next.isEnded]).toEqual([[event(3, '2')], false]);
  });

  it('a stream that ends meanwhile gives the end', async () => {
    const { stream, writer, event, closed, keptMessages } = setUp({ events: new SlowEventStore(() => 2) });
    stream.begin();
    writer.cut();
    const next = new RecordingWriter();
    const resumed = stream.resume(next, 1);
    stream.end('1');
    await resumed;
    expect([next.written, next.isEnded, closed]).toEqual([[event(2, '1')], true, [stream]]);
    next.take();
    await settle();
    jest.advanceTimersByTime(10_000);
    expect(await keptMessages()).toBeUndefined();
  });

  it('after the end gives what was missed, and ends', async () => {
    const { stream, writer, event } = setUp();
    stream.begin();
    writer.cut();
    stream.end('1');
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    expect([next.written, next.isEnded]).toEqual([[event(2, '1')], true]);
  });

  it('gives a too large answer as what is said instead', async () => {
    const { stream, writer, event } = setUp();
    stream.begin();
    writer.cut();
    stream.end('x'.repeat(BOUNDS.bytes + 1));
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    expect(next.written).toEqual([event(2, TOO_LARGE)]);
  });

  it('ends the connection of a stream that never began, or has no ids', async () => {
    for (const { stream } of [setUp(), setUp({ events: undefined })]) {
      const next = new RecordingWriter();
      next.begin();
      await stream.resume(next, 0);
      expect(next.isEnded).toBe(true);
    }
  });

  it('a connection that breaks meanwhile loses nothing', async () => {
    const { stream, writer, event } = setUp({ events: new SlowEventStore(() => 4) });
    stream.send('1');
    writer.cut();
    const [broken, next] = [new RecordingWriter(), new RecordingWriter()];
    const resumed = stream.resume(broken, 1);
    await pass(3);
    broken.cut();
    stream.detach(broken);
    await resumed;
    expect([broken.written, stream.isAttached]).toEqual([[], false]);
    await stream.resume(next, 1);
    expect(next.written).toEqual([event(2, '1')]);
  });

  it('S-078: never gives a message of another stream of the session', async () => {
    const { home, stream, writer } = setUp();
    const other = new SessionStream(home, 'g', new RecordingWriter());
    stream.begin();
    other.begin();
    writer.cut();
    for (let at = 0; at < 5; at++) {
      stream.send(`mine ${at}`);
      other.send(`other ${at}`);
    }
    const next = new RecordingWriter();
    await stream.resume(next, 1);
    expect(next.messages).toEqual([0, 1, 2, 3, 4].map((at) => `mine ${at}`));
    other.end();
  });
});

/**
 * One stream whose client comes and goes, and the store takes its time: whatever happens in whatever order, the client
 * gets every message, once, in order.
 */
async function live(seed: number): Promise<{ sent: string[]; got: string[]; ids: number[] }> {
  const random = randomOf(seed);
  const events = new SlowEventStore(() => random(7));
  const { stream, writer, closed, faults } = setUp({ events, primes: random(2) === 0, kind: 'g' });
  const sent: string[] = [];
  const received: WrittenEvent[] = [];
  const work: Promise<unknown>[] = [];
  let current = writer;
  let old: RecordingWriter[] = [];
  const collect = () => received.push(...current.written.splice(0));
  const lastSeen = () => Number(received.findLast(({ id }) => id !== undefined)?.id?.split('.')[1] ?? 0);
  const say = () => {
    sent.push(`${sent.length + 1}`);
    if (random(3) === 0 && (current.hasRoom || current.isOver)) work.push(stream.emit(sent.at(-1)!));
    else stream.send(sent.at(-1)!);
  };
  const comeBack = () => {
    collect();
    old.push(current);
    current = new RecordingWriter();
    current.hasRoom = random(4) > 0;
    work.push(stream.resume(current, lastSeen()));
  };
  // Its client has an id.
  say();
  const actions: (() => void)[] = [
    say,
    say,
    say,
    comeBack,
    () => {
      collect();
      current.cut();
      stream.detach(current);
    },
    () => {
      // The close of an old connection is heard late.
      for (const gone of old) stream.detach(gone);
      old = [];
    },
    () => current.read(),
    () => collect(),
  ];
  for (let step = 0; step < 60; step++) {
    actions[random(actions.length)]!();
    await pass(random(20));
  }
  sent.push('last');
  stream.end('last');
  for (let tries = 0; tries < 3; tries++) {
    current.read();
    await settle();
    collect();
    if (current.isEnded) break;
    comeBack();
  }
  await Promise.all(work);
  expect([closed, faults]).toEqual([[stream], []]);
  await settle();
  events.close();
  return {
    sent,
    got: received.flatMap(({ message }) => message ?? []),
    ids: received.map(({ id }) => Number(id?.split('.')[1])),
  };
}

describe('a client that comes and goes, over a store that takes its time', () => {
  it.each(Array.from({ length: 20 }, (_, batch) => [batch]))(
    'S-076: gets every message once and in order, whatever happens when: %i',
    async (batch) => {
      for (let seed = batch * 25; seed < (batch + 1) * 25; seed++) {
        const { sent, got, ids } = await live(seed);
        expect({ seed, got }).toEqual({ seed, got: sent });
        expect({ seed, ids }).toEqual({ seed, ids: ids.toSorted((one, other) => one - other) });
      }
    },
  );
});

describe('a standing stream whose connection is closed', () => {
  it('is given up when its client does not come back for so long', () => {
    const { stream, writer, closed } = setUp({ kind: 'g' });
    stream.begin();
    writer.cut();
    stream.detach(writer);
    jest.advanceTimersByTime(REPLAY_TIME - 1);
    expect(closed).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(closed).toEqual([stream]);
    jest.advanceTimersByTime(REPLAY_TIME);
  });

  it('is over at once where its client has no id to come back with', () => {
    const { stream, writer, closed } = setUp({ kind: 'g', primes: false });
    stream.begin();
    writer.cut();
    stream.detach(writer);
    expect([closed, jest.getTimerCount()]).toEqual([[stream], 0]);
  });

  it('is over at once where it never began', () => {
    const { stream, writer, closed } = setUp({ kind: 'g' });
    writer.cut();
    stream.begin();
    stream.detach(writer);
    expect(closed).toEqual([stream]);
  });

  it('waits no more once its client is back, however often a close is heard', async () => {
    const { stream, writer, closed } = setUp({ kind: 'g' });
    stream.begin();
    const [next, last] = [new RecordingWriter(), new RecordingWriter()];
    await stream.resume(next, 1);
    next.cut();
    stream.detach(next);
    stream.detach(writer);
    stream.detach(next);
    await stream.resume(last, 1);
    jest.advanceTimersByTime(REPLAY_TIME * 2);
    expect([closed, stream.isAttached]).toEqual([[], true]);
  });

  it('waits no more once it is ended', () => {
    const { stream, writer, closed, kept } = setUp({ kind: 'g' });
    stream.begin();
    writer.cut();
    stream.detach(writer);
    stream.end();
    expect(closed).toEqual([stream]);
    jest.advanceTimersByTime(REPLAY_TIME);
    expect([closed, kept()]).toEqual([[stream], undefined]);
  });

  it('keeps no process running', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { stream, writer } = setUp({ kind: 'g' });
    stream.begin();
    writer.cut();
    stream.detach(writer);
    expect(timers()).toBe(before);
    stream.end();
    jest.useFakeTimers();
  });
});

describe('the stream of an answer whose connection is closed', () => {
  it('waits as long as its call runs', async () => {
    const { stream, writer, event, closed } = setUp();
    stream.begin();
    const [next, last] = [new RecordingWriter(), new RecordingWriter()];
    writer.cut();
    stream.detach(writer);
    await stream.resume(next, 1);
    next.cut();
    stream.detach(next);
    jest.advanceTimersByTime(REPLAY_TIME * 2);
    expect(closed).toEqual([]);
    stream.end('1');
    await stream.resume(last, 1);
    expect([last.written, last.isEnded]).toEqual([[event(2, '1')], true]);
  });
});

describe('a store of events that fails', () => {
  class Broken extends McpEventStore {
    how: 'throw' | 'reject' = 'throw';
    append(): Promise<void> {
      return this.fail('append');
    }
    end(): Promise<void> {
      return this.fail('end');
    }
    keep(): Promise<void> {
      return this.fail('keep');
    }
    after(): Promise<undefined> {
      return this.fail('after');
    }
    drop(): Promise<void> {
      return this.fail('drop');
    }
    private fail(what: string): Promise<never> {
      if (this.how === 'throw') throw new Error(what);
      return Promise.reject(new Error(what));
    }
  }

  it.each<['throw' | 'reject']>([['throw'], ['reject']])(
    'by a %s is told, and the stream goes on',
    async (how) => {
      const events = new Broken();
      events.how = how;
      const { stream, writer, event, faults, closed } = setUp({ events });
      stream.send('1');
      await stream.emit('2');
      stream.end('3');
      writer.take();
      await settle();
      expect(writer.written).toEqual([event(1), event(2, '1'), event(3, '2'), event(4, '3')]);
      expect(faults.map((fault) => (fault as Error).message)).toEqual([
        'append',
        'append',
        'append',
        'append',
        'end',
        'end',
      ]);
      expect(closed).toEqual([stream]);
    },
  );

  it.each<['throw' | 'reject']>([['throw'], ['reject']])(
    'by a %s when a client comes back sends it away, to come again',
    async (how) => {
      class Forgetful extends LocalEventStore {
        isBroken = true;
        override after(key: McpStreamKey, sequence: number): McpReplay | undefined {
          if (!this.isBroken) return super.after(key, sequence);
          if (how === 'throw') throw new Error('after');
          return Promise.reject(new Error('after')) as unknown as undefined;
        }
      }
      const events = new Forgetful(10_000);
      const { stream, writer, event, faults, closed } = setUp({ events, kind: 'g' });
      stream.begin();
      writer.cut();
      stream.send('1');
      const [early, late] = [new RecordingWriter(), new RecordingWriter()];
      await stream.resume(early, 1);
      expect([early.isEnded, faults.length, stream.isAttached]).toEqual([true, 1, false]);
      events.isBroken = false;
      stream.send('2');
      await stream.resume(late, 1);
      expect([late.written, closed]).toEqual([[event(2, '1'), event(3, '2')], []]);
      stream.end();
      events.close();
    },
  );
});

describe('writing what was missed', () => {
  it('stops where the connection is over, and says how far it came', async () => {
    const writer = new RecordingWriter();
    const events = [1, 2, 3].map((sequence) => ({ sequence, message: `${sequence}` }));
    writer.hasRoom = false;
    const written = replayTo(writer, 'p', events, 0);
    writer.cut();
    expect(await written).toBe(1);
    expect(writer.written).toEqual([{ id: 'p.1', message: '1' }]);
    expect(await replayTo(new RecordingWriter(), 'p', [], 7)).toBe(7);
    expect(await replayTo(new RecordingWriter(), 'p', events, 0)).toBe(3);
  });
});

describe('an event id as a client gives it back', () => {
  it('is read where it can be one of ours', () => {
    expect(readEventId('pAbc_-123XYZ0.17')).toEqual({ stream: 'pAbc_-123XYZ0', sequence: 17 });
    expect(readEventId(`g${'a'.repeat(12)}.999999999999999`)?.sequence).toBe(999_999_999_999_999);
  });

  it.each([
    '',
    '.',
    '1',
    'p.1',
    'pAbc_-123XYZ0',
    'pAbc_-123XYZ0.',
    'pAbc_-123XYZ0.-1',
    'pAbc_-123XYZ0.1e3',
    'pAbc_-123XYZ0.1 ',
    'pAbc_-123XYZ0.1\n',
    'xAbc_-123XYZ0.1',
    'pAbc_-123XYZ00.1',
    'pAbc/-123XYZ0.1',
    'pÀbc_-123XYZ0.1',
    'pAbc_-123XYZ0.1234567890123456',
  ])('is none of ours: %j', (text) => {
    expect(readEventId(text)).toBeUndefined();
  });
});

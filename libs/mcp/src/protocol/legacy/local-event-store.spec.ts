import { jest } from '@jest/globals';
import type { McpStreamKey } from './event-store.js';
import { LocalEventStore } from './local-event-store.js';

const BOUNDS = { events: 1000, bytes: 1000, time: 60_000 };
const keyOf = (stream: string, session = 's'): McpStreamKey => ({ session, stream });

let store: LocalEventStore;
let sequence = 0;

/** Appends an event of so many bytes. */
function append(stream: string, bytes: number, bounds = BOUNDS, session = 's'): void {
  store.append(keyOf(stream, session), { sequence: ++sequence, message: 'x'.repeat(bytes) }, bounds);
}

/** The bytes of each event that is kept. */
const kept = (stream: string, session = 's') =>
  store.after(keyOf(stream, session), 0)?.events.map(({ message }) => message.length);

beforeEach(() => {
  jest.useFakeTimers();
  store = new LocalEventStore(100);
});
afterEach(() => jest.useRealTimers());

describe('where all messages together are too many bytes', () => {
  it('nothing goes before', () => {
    for (const stream of ['a', 'b', 'c', 'd']) append(stream, 25);
    store.end(keyOf('a'), 1000);
    expect(['a', 'b', 'c', 'd'].map((stream) => kept(stream))).toEqual([[25], [25], [25], [25]]);
  });

  it('ended streams are forgotten first, those that ended first before others', () => {
    for (const stream of ['a', 'b', 'c', 'd']) append(stream, 25);
    for (const stream of ['c', 'b', 'd']) store.end(keyOf(stream), 1000);
    append('e', 1);
    expect(['a', 'b', 'c', 'd', 'e'].map((stream) => kept(stream))).toEqual([
      [25],
      [25],
      undefined,
      [25],
      [1],
    ]);
    append('e', 49);
    expect(['a', 'b', 'd', 'e'].map((stream) => kept(stream))).toEqual([[25], undefined, [25], [1, 49]]);
  });

  it('then those whose last event is the oldest lose their oldest events, and are still known', () => {
    append('a', 20);
    append('b', 20);
    append('b', 20);
    append('a', 20);
    append('c', 20);
    append('c', 1);
    expect([kept('a'), kept('b'), kept('c')]).toEqual([[20, 20], [20], [20, 1]]);
    append('c', 39);
    expect([kept('a'), kept('b'), kept('c')]).toEqual([[20, 20], [], [20, 1, 39]]);
    append('b', 5);
    expect([kept('a'), kept('b'), kept('c')]).toEqual([[20], [5], [20, 1, 39]]);
    expect(store.after(keyOf('b'), 0)?.isEnded).toBe(false);
  });

  it('the event that was appended last is kept, however large it is, and makes room again when it goes', () => {
    append('a', 50);
    append('b', 50);
    append('c', 500);
    expect([kept('a'), kept('b'), kept('c')]).toEqual([[], [], [500]]);
    append('d', 10);
    expect([kept('c'), kept('d')]).toEqual([[], [10]]);
    append('a', 90);
    expect([kept('a'), kept('d')]).toEqual([[90], [10]]);
  });

  it('its own older events go as well', () => {
    for (const bytes of [40, 40, 30]) append('a', bytes);
    expect(kept('a')).toEqual([40, 30]);
  });

  it('bytes are those of UTF-8', () => {
    append('a', 50);
    store.append(keyOf('b'), { sequence: 1, message: 'ä'.repeat(25) }, BOUNDS);
    expect(kept('a')).toEqual([50]);
    store.append(keyOf('b'), { sequence: 2, message: '€' }, BOUNDS);
    expect(kept('a')).toEqual([]);
  });

  it.each<[string, () => void]>([
    ['a stream was forgotten', () => store.end(keyOf('a'), 0)],
    ['a session was dropped', () => store.drop('s')],
    ['an ended stream was forgotten', () => [1000, 0].forEach((time) => store.end(keyOf('a'), time))],
    ['a stream was too old', () => jest.advanceTimersByTime(60_000)],
    ['its bounds took them', () => append('a', 0, { ...BOUNDS, events: 1 })],
    ['the store was closed', () => store.close()],
  ])('those do not count that went because %s', (_, go) => {
    append('a', 60);
    append('a', 40);
    go();
    for (const stream of ['x', 'y']) append(stream, 50, BOUNDS, 'other');
    expect([kept('x', 'other'), kept('y', 'other')]).toEqual([[50], [50]]);
    append('z', 1, BOUNDS, 'other');
    expect([kept('x', 'other'), kept('y', 'other')]).toEqual([[], [50]]);
  });
});

describe('the streams of this process', () => {
  it('are forgotten to the millisecond', () => {
    append('a', 1);
    jest.advanceTimersByTime(59_999);
    expect(kept('a')).toEqual([1]);
    jest.advanceTimersByTime(1);
    expect(kept('a')).toBeUndefined();
  });

  it('share one timer, which runs out with the last of them', () => {
    for (let index = 0; index < 100; index++) append(`p${index}`, 1, { ...BOUNDS, time: 1000 + (index % 5) });
    store.end(keyOf('p7'), 2000);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1999);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(jest.getTimerCount()).toBe(0);
    expect((Reflect.get(store, 'perSession') as Map<string, unknown>).size).toBe(0);
  });

  it('keep no process running', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    append('a', 1);
    expect(timers()).toBe(before);
    store.close();
  });

  it('are not kept at all where they may be kept for no time', () => {
    append('a', 1, { ...BOUNDS, time: 0 });
    expect(kept('a')).toBeUndefined();
  });

  it('hold no more events than they may, over any number of them', () => {
    const large = new LocalEventStore(1_000_000);
    for (let index = 1; index <= 10_000; index++) {
      large.append(keyOf('a'), { sequence: index, message: '' }, { ...BOUNDS, events: 1 + (index % 100) });
      const events = large.after(keyOf('a'), 0)!.events;
      expect(events.length).toBeLessThanOrEqual(1 + (index % 100));
      expect(events.at(-1)?.sequence).toBe(index);
    }
    large.close();
  });

  it('are all forgotten when it is closed, with their timer', () => {
    append('a', 1);
    append('b', 1);
    store.end(keyOf('b'), 1000);
    store.close();
    expect([kept('a'), kept('b'), jest.getTimerCount()]).toEqual([undefined, undefined, 0]);
    append('b', 2);
    expect(kept('b')).toEqual([2]);
  });
});

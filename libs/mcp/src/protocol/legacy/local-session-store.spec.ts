import { jest } from '@jest/globals';
import { LocalSessionStore } from './local-session-store.js';
import type { McpSessionData } from './session-store.js';

const MINUTE = 60_000;
const IDLE = 30 * MINUTE;
const CAPS = { max: 1000, maxPerCaller: 1000 };

const sessionOf = (id: string, change: Partial<McpSessionData> = {}): McpSessionData => ({
  id,
  revision: '2025-11-25',
  client: { name: 'a', version: '1', capabilities: { roots: { listChanged: true } } },
  lists: ['tools'],
  isReady: false,
  followed: [],
  ...change,
});

let store: LocalSessionStore;
const open = (id: string, idle = IDLE, owner = 'ann') => store.create(sessionOf(id, { owner }), CAPS, idle);
const ids = () => store.idlest(1000).map(({ id }) => id);

beforeEach(() => {
  jest.useFakeTimers();
  store = new LocalSessionStore();
});
afterEach(() => jest.useRealTimers());

describe('the sessions of this process', () => {
  it('are over to the millisecond', () => {
    open('a');
    jest.advanceTimersByTime(IDLE - 1);
    expect([store.count(), store.count('ann'), ids()]).toEqual([1, 1, ['a']]);
    expect(store.touch('a', IDLE)).toBe(true);
    jest.advanceTimersByTime(IDLE - 1);
    expect(store.get('a')?.id).toBe('a');
    jest.advanceTimersByTime(1);
    expect(store.get('a')).toBeUndefined();
    expect([store.count(), store.count('ann'), ids()]).toEqual([0, 0, []]);
  });

  it('are over while no timer has run yet', () => {
    open('a', 5);
    open('b', 10);
    jest.setSystemTime(Date.now() + 5);
    expect(ids()).toEqual(['b']);
    expect([store.touch('a', IDLE), store.count('ann')]).toEqual([false, 1]);
    jest.setSystemTime(Date.now() + 5);
    expect(store.create(sessionOf('c', { owner: 'ann' }), { max: 1, maxPerCaller: 1 }, IDLE)).toBe(true);
  });

  it('share one timer, which runs out with the last of them', () => {
    for (let index = 0; index < 1000; index++) {
      open(`s${index}`, IDLE + (index % 7) * MINUTE);
      expect(jest.getTimerCount()).toBe(1);
    }
    jest.advanceTimersByTime(IDLE + 6 * MINUTE - 1);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(jest.getTimerCount()).toBe(0);
    expect([store.count(), store.count('ann')]).toEqual([0, 0]);
  });

  it('leave no timer when the last was deleted', () => {
    open('a');
    open('b', MINUTE);
    store.delete('a');
    expect(jest.getTimerCount()).toBe(1);
    store.delete('b');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keep no process running', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    open('a', 60_000);
    expect(timers()).toBe(before);
    store.close();
  });

  it('are freed without anybody looking', () => {
    const released: string[] = [];
    const perOwner = Reflect.get(store, 'perOwner') as Map<string, number>;
    for (const [id, idle] of Object.entries({ long: 3 * MINUTE, short: MINUTE, middle: 2 * MINUTE }))
      open(id, idle, id);
    for (let minute = 1; minute <= 3; minute++) {
      jest.advanceTimersByTime(MINUTE);
      released.push(Array.from(perOwner.keys()).join());
    }
    expect(released).toEqual(['long,middle', 'long', '']);
  });

  it('may be kept for longer than a timer can wait, and for ever', () => {
    const DAY = 24 * 60 * MINUTE;
    open('a', 30 * DAY);
    open('b', Infinity);
    jest.advanceTimersByTime(30 * DAY - 1);
    expect(ids()).toEqual(['a', 'b']);
    jest.advanceTimersByTime(1);
    expect(ids()).toEqual(['b']);
  });

  it('are over at their time even where the clock was set back', () => {
    open('a');
    jest.setSystemTime(Date.now() - 600 * MINUTE);
    open('b', MINUTE);
    jest.advanceTimersByTime(MINUTE - 1);
    expect(store.get('b')?.id).toBe('b');
    jest.advanceTimersByTime(1);
    expect(store.get('b')).toBeUndefined();
    expect([store.count('ann'), store.get('a')?.id]).toEqual([1, 'a']);
  });

  it('are given without copying, and frozen in every part', () => {
    const given = sessionOf('a', { followed: ['x'] });
    store.create(given, CAPS, IDLE);
    const session = store.get('a')!;
    expect(store.get('a')).toBe(session);
    expect(session).not.toBe(given);
    expect(Object.isFrozen(given)).toBe(false);
    store.update('a', { follow: 'x' });
    store.touch('a', IDLE);
    expect(store.get('a')).toBe(session);
    store.update('a', { follow: 'y' });
    store.update('a', { isReady: true });
    const later = store.get('a')!;
    for (const part of [session, later, later.client, later.client.capabilities, later.followed, later.lists])
      expect(Object.isFrozen(part)).toBe(true);
    expect(Object.isFrozen(later.client.capabilities['roots'])).toBe(true);
    expect(session.followed).toEqual(['x']);
  });

  it('of the same millisecond are in the order of their use', () => {
    for (const id of ['a', 'b', 'c']) open(id);
    store.touch('a', IDLE);
    expect(ids()).toEqual(['b', 'c', 'a']);
    store.update('b', { isReady: true });
    expect(ids()).toEqual(['b', 'c', 'a']);
  });

  it('are all forgotten when it is closed, with their timer', () => {
    open('a');
    open('b');
    store.close();
    expect([store.get('a'), store.count(), store.count('ann'), ids()]).toEqual([undefined, 0, 0, []]);
    expect(jest.getTimerCount()).toBe(0);
    expect(open('a')).toBe(true);
  });
});

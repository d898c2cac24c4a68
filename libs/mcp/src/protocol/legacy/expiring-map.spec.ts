import { jest } from '@jest/globals';
import { Expiring, ExpiringMap } from './expiring-map.js';

class Kept extends Expiring {}

/** A value that counts how often it is looked at. */
function counted(looks: { count: number }): Kept {
  const kept = new Kept();
  let { usedAt } = kept;
  let end = 0;
  return Object.defineProperties(kept, {
    usedAt: {
      get: () => (looks.count++, usedAt),
      set(time: number) {
        usedAt = time;
      },
    },
    end: {
      get: () => (looks.count++, end),
      set(time: number) {
        end = time;
      },
    },
  });
}

const SPANS = [10_000, 60_000, 300_000, 1_800_000];

let over: string[];
let map: ExpiringMap<Kept>;
const keep = (key: string, span: number, value: Kept = new Kept()) => {
  map.keep(key, value, span, Date.now());
  return value;
};
const keys = () => Array.from(map.entries(Date.now()), ([key]) => key);

beforeEach(() => {
  jest.useFakeTimers();
  over = [];
  map = new ExpiringMap(({ key }) => over.push(key));
});
afterEach(() => jest.useRealTimers());

describe('values that are over after a while', () => {
  it('are not all looked at when some are over, however different their whiles', () => {
    const looks = { count: 0 };
    for (let index = 0; index < 10_000; index++) keep(`long ${index}`, 1_800_000, counted(looks));
    for (let index = 0; index < 1_000; index++) {
      keep(`short ${index}`, 10_000);
      jest.setSystemTime(Date.now() + 1);
    }
    looks.count = 0;
    jest.setSystemTime(Date.now() + 9_000);
    for (let index = 1; index <= 1_000; index++) {
      expect(map.size(Date.now())).toBe(11_000 - index);
      jest.setSystemTime(Date.now() + 1);
    }
    expect(over).toHaveLength(1_000);
    // Some of each thousand are near the head of the order.
    expect(looks.count).toBeLessThan(100_000);
  });

  it('are over to the millisecond and in the order of their use, whatever is done with them', () => {
    let seed = 1;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const ends = new Map<string, number>();
    let faults = 0;
    const values = new Map<string, Kept>();
    for (let step = 0; step < 5_000; step++) {
      const key = `k${random(200)}`;
      const span = SPANS[random(SPANS.length)]! + random(3);
      const what = random(10);
      const now = Date.now();
      const known = map.get(key, now);
      expect(known).toBe(ends.has(key) ? values.get(key) : undefined);
      if (what === 0) {
        faults += map.delete(key) === ends.delete(key) ? 0 : 1;
      } else if (what < 8) {
        // Now and then another value takes the place.
        values.set(key, keep(key, span, what === 1 ? undefined : known));
        ends.delete(key);
        ends.set(key, now + span);
      } else {
        // The clock goes on, whether a timer runs or not.
        if (what === 8) jest.setSystemTime(now + random(20_000));
        else jest.advanceTimersByTime(random(20_000));
        for (const [name, end] of ends) if (end <= Date.now()) ends.delete(name);
      }
      if (step % 10 === 0) faults += keys().join() === [...ends.keys()].join() ? 0 : 1;
      expect(map.size(Date.now())).toBe(ends.size);
      expect(jest.getTimerCount()).toBe(ends.size === 0 ? 0 : 1);
    }
    expect(faults).toBe(0);
    jest.runAllTimers();
    expect([map.size(Date.now()), jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('are over at their time where the clock was set back, and none before it', () => {
    keep('late', 10_000);
    jest.setSystemTime(Date.now() - 600_000);
    keep('soon', 10_000);
    jest.setSystemTime(Date.now() + 9_999);
    expect(keys()).toEqual(['late', 'soon']);
    jest.setSystemTime(Date.now() + 1);
    expect([keys(), over]).toEqual([['late'], ['soon']]);
  });

  it('are told once when they are over, not when they are deleted or all forgotten', () => {
    const again = keep('again', 10);
    keep('deleted', 10);
    keep('over', 10);
    map.delete('deleted');
    expect(map.delete('deleted')).toBe(false);
    jest.advanceTimersByTime(5);
    keep('again', 10, again);
    jest.advanceTimersByTime(5);
    expect(over).toEqual(['over']);
    map.clear();
    keep('again', 20, again);
    jest.advanceTimersByTime(20);
    expect(over).toEqual(['over', 'again']);
  });
});

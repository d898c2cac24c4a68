import { jest } from '@jest/globals';
import type { McpEventStore, McpSessionStore } from 'nest-mcp';
import { LocalEventStore } from '../../libs/mcp/src/protocol/legacy/local-event-store.js';
import { LocalSessionStore } from '../../libs/mcp/src/protocol/legacy/local-session-store.js';
import type { StoreClock } from './suite-tools.js';
import { describeEventStore } from './event-store.suite.js';
import { describeSessionStore } from './session-store.suite.js';
import { SharedDatabase, SharedEventStore, SharedSessionStore } from './shared.store.js';

/** The network of the shared stores goes on while time stands still. */
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const clock: StoreClock = { advance: (ms) => jest.advanceTimersByTimeAsync(ms) };

/** Each call goes to the next of the stores, as a balancer gives each request to the next process. */
function inTurns<T extends object>(first: T, second: T): T {
  let [next, other] = [first, second];
  return new Proxy(first, {
    get: (_, name): unknown => {
      [next, other] = [other, next];
      const member: unknown = Reflect.get(next, name, next);
      return typeof member === 'function' ? member.bind(next) : member;
    },
  });
}

describeSessionStore('LocalSessionStore', () => new LocalSessionStore(), clock);
describeSessionStore('SharedSessionStore', () => new SharedSessionStore(new SharedDatabase()), clock);
describeSessionStore(
  'SharedSessionStore of two processes',
  () => {
    const database = new SharedDatabase();
    return inTurns<McpSessionStore>(new SharedSessionStore(database), new SharedSessionStore(database));
  },
  clock,
);

describeEventStore('LocalEventStore', () => new LocalEventStore(64 * 1024 * 1024), clock);
describeEventStore('SharedEventStore', () => new SharedEventStore(new SharedDatabase()), clock);
describeEventStore(
  'SharedEventStore of two processes',
  () => {
    const database = new SharedDatabase();
    return inTurns<McpEventStore>(new SharedEventStore(database), new SharedEventStore(database));
  },
  clock,
);

describe('whether other processes use the same sessions', () => {
  it('is said by the store', () => {
    expect(new LocalSessionStore().isShared).toBe(false);
    expect(new SharedSessionStore(new SharedDatabase()).isShared).toBe(true);
  });
});

/** The same numbers in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

describe('the stores of this process and those on the network', () => {
  it.each([1, 2, 3])('say the same of any use of sessions (%i)', async (seed) => {
    const roll = dice(seed);
    const stores = [new LocalSessionStore(), new SharedSessionStore(new SharedDatabase())];
    const id = () => `session-${roll(12)}`;
    const owner = () => [undefined, 'ann', 'bob'][roll(3)];
    const idle = () => 5 + roll(60);
    function use(): (store: McpSessionStore) => unknown {
      const [name, other, holder, time, limit] = [id(), `address-${roll(4)}`, owner(), idle(), roll(8)];
      const session = { id: name, revision: '2025-11-25', client: { capabilities: {} }, lists: [] } as const;
      const opened = {
        ...session,
        isReady: false,
        followed: [],
        ...(holder !== undefined && { owner: holder }),
      };
      return [
        (store: McpSessionStore) => store.create(opened, { max: 8, maxPerCaller: 3 }, time),
        (store: McpSessionStore) => store.create(opened, { max: 8, maxPerCaller: 3 }, time),
        (store: McpSessionStore) => store.get(name),
        (store: McpSessionStore) => store.touch(name, time),
        (store: McpSessionStore) => store.update(name, { follow: other }),
        (store: McpSessionStore) => store.update(name, { unfollow: other }),
        (store: McpSessionStore) => store.update(name, { isReady: true }),
        (store: McpSessionStore) => store.delete(name),
        (store: McpSessionStore) => store.count(holder),
        (store: McpSessionStore) => store.idlest(limit, holder),
      ][roll(10)]!;
    }
    for (let step = 0; step < 1000; step++) {
      await clock.advance(1 + roll(4));
      const call = use();
      const [local, shared] = [await call(stores[0]!), await call(stores[1]!)];
      expect({ step, answer: local }).toEqual({ step, answer: shared });
    }
  });

  it.each([1, 2, 3])('say the same of any use of streams (%i)', async (seed) => {
    const roll = dice(seed);
    const stores = [new LocalEventStore(1_000_000), new SharedEventStore(new SharedDatabase())];
    for (let step = 1; step <= 1000; step++) {
      await clock.advance(roll(4));
      const key = { session: `session-${roll(3)}`, stream: `p${roll(4)}` };
      const event = { sequence: step, message: 'ä'.repeat(roll(10)) };
      const bounds = { events: roll(20), bytes: 40 + roll(200), time: 10 + roll(60) };
      const [kind, time, last] = [roll(20), roll(30), Math.max(0, step - roll(100))];
      const answers = [];
      for (const store of stores) {
        if (kind === 0) await store.drop(key.session);
        else if (kind < 4) await store.end(key, time);
        else if (kind < 7) await store.keep(key, time);
        else await store.append(key, event, bounds);
        answers.push(await store.after(key, last));
      }
      expect({ step, answer: answers[0] }).toEqual({ step, answer: answers[1] });
    }
  });
});

import { randomBytes } from 'node:crypto';
import type { McpEventStore, McpReplayBounds, McpStreamEvent, McpStreamKey } from 'nest-mcp';
import { frozen, together, tryTo, type StoreClock } from './suite-tools.js';

const BRIEF = 2_000;
const MOMENT = 100;
const ROOMY: McpReplayBounds = { events: 10_000, bytes: 1_000_000, time: 300_000 };

const keyOf = (session: string, stream = `p${randomBytes(9).toString('base64url')}`): McpStreamKey => ({
  session,
  stream,
});
const newSession = () => randomBytes(16).toString('hex');
const eventOf = (sequence: number, message = `{"n":${sequence}}`): McpStreamEvent => ({ sequence, message });
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/**
 * What every store of events must do, by the comments of `McpEventStore`.
 *
 * @param make a store without streams, for one test
 */
export function describeEventStore(
  name: string,
  make: () => McpEventStore | Promise<McpEventStore>,
  clock: StoreClock,
): void {
  describe(name, () => {
    let store: McpEventStore;
    let session: string;
    let key: McpStreamKey;
    beforeEach(async () => {
      store = await make();
      session = newSession();
      key = keyOf(session);
    });

    async function append(sequences: readonly number[], to = key, bounds = ROOMY): Promise<void> {
      for (const sequence of sequences) await store.append(to, eventOf(sequence), bounds);
    }

    async function kept(stream = key): Promise<number[] | undefined> {
      return (await store.after(stream, 0))?.events.map(({ sequence }) => sequence);
    }

    describe('a stream', () => {
      it('is there from its first event on', async () => {
        expect(await store.after(key, 0)).toBeUndefined();
        await append([1]);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1)], isEnded: false });
      });

      it('gives the events whose number is higher, in the order of their numbers', async () => {
        await append([1, 2, 9, 10, 11, 100]);
        const after = async (sequence: number) =>
          (await store.after(key, sequence))?.events.map((event) => event.sequence);
        expect(await after(0)).toEqual([1, 2, 9, 10, 11, 100]);
        expect(await after(1)).toEqual([2, 9, 10, 11, 100]);
        expect(await after(5)).toEqual([9, 10, 11, 100]);
        expect(await after(10)).toEqual([11, 100]);
        expect(await store.after(key, 100)).toEqual({ events: [], isEnded: false });
        expect(await store.after(key, 1_000_000)).toEqual({ events: [], isEnded: false });
      });

      it('may be read again and goes on', async () => {
        await append([1, 2]);
        await store.after(key, 0);
        await append([3]);
        expect(await kept()).toEqual([1, 2, 3]);
        expect(await kept()).toEqual([1, 2, 3]);
      });

      it('begins with any number', async () => {
        await append([41, 42]);
        expect(await kept()).toEqual([41, 42]);
      });

      it.each([
        ['nothing', ''],
        ['JSON', '{"jsonrpc":"2.0","id":9007199254740993,"result":{"a":[1.0,-0,1e400]}}'],
        ['characters of any length', '"ä€😀\u2028\u2029\ufeff"'],
        ['escapes', '"\\n\\u0000\\ud800\\\\\\""'],
        ['what looks like an event', 'data: {}\n\nid: 1\n\n'],
      ])('gives back %s as it was given', async (_, message) => {
        await store.append(key, { sequence: 1, message }, ROOMY);
        expect(await store.after(key, 0)).toStrictEqual({
          events: [{ sequence: 1, message }],
          isEnded: false,
        });
      });

      it('is not that of another session or another name', async () => {
        await append([1, 2]);
        for (const other of [
          keyOf(session),
          keyOf(newSession(), key.stream),
          keyOf('', key.stream),
          keyOf(session, ''),
          keyOf('__proto__', key.stream),
          keyOf(session, '__proto__'),
          keyOf(key.stream, session),
        ])
          expect(await store.after(other, 0)).toBeUndefined();
        const namesake = keyOf(newSession(), key.stream);
        await append([7], namesake);
        expect([await kept(), await kept(namesake)]).toEqual([[1, 2], [7]]);
      });

      it('keeps the order in which its events were appended, all at once', async () => {
        const others = [keyOf(session), keyOf(newSession())];
        const all = numbers(1, 200);
        await together(
          all.flatMap((sequence) =>
            [key, ...others].map((each) => store.append(each, eventOf(sequence), ROOMY)),
          ),
        );
        for (const each of [key, ...others]) expect(await kept(each)).toEqual(all);
      });

      it('ends after what was appended before, all at once', async () => {
        const bounds = { ...ROOMY, events: 5 };
        await together([
          ...numbers(1, 20).map((sequence) => store.append(key, eventOf(sequence), bounds)),
          store.end(key, 60_000),
          store.append(key, eventOf(21), bounds),
        ]);
        expect(await store.after(key, 0)).toEqual({
          events: numbers(16, 20).map((n) => eventOf(n)),
          isEnded: true,
        });
      });
    });

    describe('what it is given and what it gives', () => {
      it('is never changed', async () => {
        const given = frozen({ key: { ...key }, event: eventOf(1), bounds: { ...ROOMY } });
        await store.append(given.key, given.event, given.bounds);
        const before = await store.after(given.key, 0);
        await append([2]);
        await store.end(given.key, 60_000);
        expect(before).toEqual({ events: [eventOf(1)], isEnded: false });
        await store.drop(session);
        expect(before).toEqual({ events: [eventOf(1)], isEnded: false });
      });

      it('is not what is kept', async () => {
        const event = { sequence: 1, message: '"first"' };
        const appended = store.append(key, event, ROOMY);
        event.message = '"other"';
        event.sequence = 5;
        await appended;
        const got = (await store.after(key, 0))!;
        tryTo(() => Object.assign(got.events[0]!, { message: '"other"' }));
        tryTo(() => (got.events as McpStreamEvent[]).push(eventOf(2)));
        tryTo(() => Object.assign(got, { isEnded: true }));
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1, '"first"')], isEnded: false });
      });
    });

    describe('the bounds of a stream', () => {
      it('of events: the oldest go', async () => {
        const bounds = { ...ROOMY, events: 3 };
        await append([1, 2, 3], key, bounds);
        expect(await kept()).toEqual([1, 2, 3]);
        await append([4], key, bounds);
        expect(await kept()).toEqual([2, 3, 4]);
        await append([10, 20], key, bounds);
        expect(await kept()).toEqual([4, 10, 20]);
        expect(await store.after(key, 10)).toEqual({ events: [eventOf(20)], isEnded: false });
      });

      it('of bytes: the oldest go, as many as are in the way', async () => {
        const bounds = { ...ROOMY, bytes: 10 };
        const add = (sequence: number, message: string) => store.append(key, { sequence, message }, bounds);
        await add(1, '12345');
        await add(2, '12345');
        expect(await kept()).toEqual([1, 2]);
        await add(3, '1');
        expect(await kept()).toEqual([2, 3]);
        await add(4, '');
        await add(5, '1234');
        expect(await kept()).toEqual([2, 3, 4, 5]);
        await add(6, '123456789');
        expect(await kept()).toEqual([6]);
        await add(7, '1');
        expect(await kept()).toEqual([6, 7]);
      });

      it('of bytes: they are those of UTF-8', async () => {
        const bounds = { ...ROOMY, bytes: 9 };
        const add = (sequence: number, message: string) => store.append(key, { sequence, message }, bounds);
        await add(1, 'ä€😀');
        expect(await kept()).toEqual([1]);
        await add(2, '');
        expect(await kept()).toEqual([1, 2]);
        await add(3, 'a');
        expect(await kept()).toEqual([2, 3]);
      });

      it('leave the newest event, however large it is', async () => {
        const bounds = { ...ROOMY, bytes: 4 };
        await append([1], key, bounds);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1)], isEnded: false });
        await append([2], key, bounds);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(2)], isEnded: false });
        await append([3], key, { ...ROOMY, events: 0, bytes: 0 });
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(3)], isEnded: false });
      });

      it('are those of the last event', async () => {
        await append(numbers(1, 10));
        await append([11], key, { ...ROOMY, events: 2 });
        expect(await kept()).toEqual([10, 11]);
        await append(numbers(12, 15));
        expect(await kept()).toEqual(numbers(10, 15));
      });

      it('hold over thousands of events', async () => {
        const bounds = { ...ROOMY, events: 100 };
        for (let start = 1; start <= 3000; start += 250)
          await together(
            numbers(start, start + 249).map((sequence) => store.append(key, eventOf(sequence), bounds)),
          );
        expect(await kept()).toEqual(numbers(2901, 3000));
      });

      it('are none of another stream', async () => {
        const [sibling, stranger] = [keyOf(session), keyOf(newSession())];
        for (const each of [sibling, stranger]) await append(numbers(1, 5), each);
        await append(numbers(1, 5), key, { events: 1, bytes: 1, time: MOMENT });
        await clock.advance(2 * MOMENT);
        expect([await kept(), await kept(sibling), await kept(stranger)]).toEqual([
          undefined,
          numbers(1, 5),
          numbers(1, 5),
        ]);
      });
    });

    describe('the time', () => {
      const bounds = { ...ROOMY, time: BRIEF };

      it('is that from the last event', async () => {
        await append([1], key, bounds);
        await clock.advance(BRIEF - MOMENT);
        expect(await kept()).toEqual([1]);
        await append([2], key, bounds);
        await clock.advance(BRIEF - MOMENT);
        expect(await kept()).toEqual([1, 2]);
        await clock.advance(2 * MOMENT);
        expect(await store.after(key, 0)).toBeUndefined();
      });

      it('goes on while the stream is only read', async () => {
        await append([1], key, bounds);
        await clock.advance(BRIEF - MOMENT);
        await store.after(key, 0);
        await clock.advance(2 * MOMENT);
        expect(await store.after(key, 0)).toBeUndefined();
      });

      it('starts over at the end of the stream, for as long as that says', async () => {
        const sibling = keyOf(session);
        for (const each of [key, sibling]) await append([1], each, bounds);
        await store.end(key, 2 * BRIEF);
        await store.end(sibling, BRIEF / 2);
        await clock.advance(BRIEF / 2 + MOMENT);
        expect(await store.after(sibling, 0)).toBeUndefined();
        await clock.advance(BRIEF);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1)], isEnded: true });
        await clock.advance(BRIEF / 2);
        expect(await store.after(key, 0)).toBeUndefined();
      });

      it('starts over whenever the stream is said to be at work, for as long as that says', async () => {
        const sibling = keyOf(session);
        for (const each of [key, sibling]) await append([1, 2], each, bounds);
        for (let step = 0; step < 3; step++) {
          await clock.advance(BRIEF - MOMENT);
          await store.keep(key, BRIEF);
        }
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1), eventOf(2)], isEnded: false });
        expect(await store.after(sibling, 0)).toBeUndefined();
        await store.keep(key, BRIEF / 2);
        await clock.advance(BRIEF / 2 - MOMENT);
        expect(await kept()).toEqual([1, 2]);
        await clock.advance(2 * MOMENT);
        expect(await store.after(key, 0)).toBeUndefined();
      });

      it('is that of the next event once there is one, and that of the end', async () => {
        const sibling = keyOf(session);
        for (const each of [key, sibling]) {
          await append([1], each, bounds);
          await store.keep(each, 5 * BRIEF);
        }
        await append([2], key, bounds);
        await store.end(sibling, BRIEF);
        await clock.advance(BRIEF - MOMENT);
        expect([await kept(), await kept(sibling)]).toEqual([[1, 2], [1]]);
        await clock.advance(2 * MOMENT);
        expect([await kept(), await kept(sibling)]).toEqual([undefined, undefined]);
      });

      it('of what has ended, or is not known, is not changed by saying that it is at work', async () => {
        await append([1], key, bounds);
        await store.end(key, BRIEF);
        const stranger = keyOf(newSession());
        await store.keep(key, 5 * BRIEF);
        await store.keep(stranger, 5 * BRIEF);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1)], isEnded: true });
        expect(await store.after(stranger, 0)).toBeUndefined();
        await clock.advance(BRIEF + MOMENT);
        expect(await store.after(key, 0)).toBeUndefined();
        await store.keep(key, 5 * BRIEF);
        expect(await store.after(key, 0)).toBeUndefined();
      });

      it('is that of each stream, in whatever order they were used', async () => {
        const keys = [5, 1, 3, 2, 4].map((times) => ({ each: keyOf(session), times }));
        for (const { each, times } of keys) await append([1], each, { ...ROOMY, time: times * BRIEF });
        for (let passed = 1; passed <= 5; passed++) {
          await clock.advance(BRIEF + MOMENT / 5);
          for (const { each, times } of keys)
            expect(await kept(each)).toEqual(times > passed ? [1] : undefined);
        }
      });

      it('leaves nothing to what is appended afterwards', async () => {
        await append([1, 2], key, bounds);
        await clock.advance(BRIEF + MOMENT);
        await append([3], key, bounds);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(3)], isEnded: false });
      });
    });

    describe('the end of a stream', () => {
      it('is told, and leaves its events to be read', async () => {
        await append([1, 2]);
        await store.end(key, 60_000);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1), eventOf(2)], isEnded: true });
        expect(await store.after(key, 2)).toEqual({ events: [], isEnded: true });
      });

      it('is the last of it', async () => {
        await append([1]);
        await store.end(key, 60_000);
        await append([2]);
        expect(await store.after(key, 0)).toEqual({ events: [eventOf(1)], isEnded: true });
      });

      it('forgets it at once where it says so, and no other', async () => {
        const sibling = keyOf(session);
        await append([1]);
        await append([1], sibling);
        await store.end(key, 0);
        expect(await store.after(key, 0)).toBeUndefined();
        expect(await store.after(sibling, 0)).toEqual({ events: [eventOf(1)], isEnded: false });
      });

      it('may be told again, with another time', async () => {
        const sibling = keyOf(session);
        for (const each of [key, sibling]) {
          await append([1], each);
          await store.end(each, BRIEF);
        }
        await store.end(key, 0);
        expect(await store.after(key, 0)).toBeUndefined();
        await store.end(sibling, 3 * BRIEF);
        await clock.advance(2 * BRIEF);
        expect(await store.after(sibling, 0)).toEqual({ events: [eventOf(1)], isEnded: true });
      });

      it('of one that is not known makes none', async () => {
        await store.end(key, 60_000);
        await store.end(keyOf(session), 0);
        expect(await store.after(key, 0)).toBeUndefined();
      });
    });

    describe('the end of a session', () => {
      it('forgets its streams, ended or not, and no others', async () => {
        const streams = Array.from({ length: 5 }, () => keyOf(session));
        const strangers = [`${session}0`, session.slice(1), newSession()].map((other) =>
          keyOf(other, key.stream),
        );
        for (const each of [key, ...streams, ...strangers]) await append([1, 2], each);
        await store.end(streams[0]!, 60_000);
        await store.end(strangers[0]!, 60_000);
        await store.drop(session);
        for (const each of [key, ...streams]) expect(await store.after(each, 0)).toBeUndefined();
        for (const each of strangers) expect(await kept(each)).toEqual([1, 2]);
      });

      it.each(['unknown', '', '__proto__', 'constructor'])(
        'changes nothing where it is %j',
        async (other) => {
          await append([1]);
          await store.drop(other);
          expect(await kept()).toEqual([1]);
        },
      );
    });
  });
}

import { randomBytes } from 'node:crypto';
import type { McpLogLevel, McpSessionCaps, McpSessionData, McpSessionStore } from 'nest-mcp';
import { frozen, together, tryTo, type StoreClock } from './suite-tools.js';

/** Far longer than any of these tests lets pass. */
const LONG = 1_800_000;
const BRIEF = 2_000;
const MOMENT = 100;
const ROOMY: McpSessionCaps = { max: 1000, maxPerCaller: 1000 };
const STRANGE_NAMES = ['', 'x', '0'.repeat(32), '__proto__', 'constructor', 'a/b', "'; --", 'ä\u2028'];

function sessionOf(change: Partial<McpSessionData> = {}): McpSessionData {
  return {
    id: randomBytes(16).toString('hex'),
    revision: '2025-11-25',
    client: { name: 'client', version: '1.0', capabilities: {} },
    lists: ['tools'],
    isReady: false,
    followed: [],
    ...change,
  };
}

/**
 * What every store of sessions must do, by the comments of `McpSessionStore`.
 *
 * @param make a store without sessions, for one test
 */
export function describeSessionStore(
  name: string,
  make: () => McpSessionStore | Promise<McpSessionStore>,
  clock: StoreClock,
): void {
  describe(name, () => {
    let store: McpSessionStore;
    beforeEach(async () => {
      store = await make();
    });

    async function open(change: Partial<McpSessionData> = {}, idle = LONG): Promise<string> {
      const session = sessionOf(change);
      expect(await store.create(session, ROOMY, idle)).toBe(true);
      return session.id;
    }

    async function idsOfIdlest(limit = 1000, owner?: string): Promise<string[]> {
      return (await store.idlest(limit, owner)).map(({ id }) => id);
    }

    /** That no method sees it, nor counts it as one of `left`. */
    async function expectGone(id: string, left: number): Promise<void> {
      expect(await store.get(id)).toBeUndefined();
      expect(await store.touch(id, LONG)).toBe(false);
      expect(await store.update(id, { isReady: true })).toBe(false);
      expect(await store.delete(id)).toBe(false);
      expect(await store.get(id)).toBeUndefined();
      expect(await idsOfIdlest()).not.toContain(id);
      expect(await store.count()).toBe(left);
    }

    describe('a session', () => {
      it('comes back as it was given', async () => {
        const whole = sessionOf({
          revision: '2025-03-26',
          client: {
            name: 'Zoë "quoted" \u2028 😀',
            version: '1.0.0-beta+1',
            capabilities: {
              roots: { listChanged: true },
              experimental: { deep: [1, -0.5, null, { a: [] }] },
            },
          },
          owner: 'ann@example.org',
          lists: ['tools', 'resources', 'prompts'],
          isReady: true,
          logLevel: 'warning',
          followed: ['file:///a', 'file:///%20b', 'ticket://1?x=ä'],
        });
        const least = sessionOf({ client: { capabilities: {} } });
        for (const session of [whole, least]) {
          expect(await store.create(session, ROOMY, LONG)).toBe(true);
          expect(await store.get(session.id)).toStrictEqual(session);
        }
        expect(await store.get(whole.id)).toStrictEqual(whole);
      });

      it('keeps members of any name that JSON lets the client send', async () => {
        const json = '{"__proto__":{"admin":true},"constructor":{},"toString":null,"":1,"2":2}';
        const capabilities = JSON.parse(json) as McpSessionData['client']['capabilities'];
        const id = await open({ client: { capabilities } });
        await store.update(id, { isReady: true });
        expect(JSON.stringify((await store.get(id))?.client.capabilities)).toBe(JSON.stringify(capabilities));
      });

      it.each(STRANGE_NAMES)('is not known as %j', async (id) => {
        await open();
        await expectGone(id, 1);
      });

      it.each(STRANGE_NAMES)('is kept under the id %j like under any', async (id) => {
        const neighbour = await open();
        await open({ id });
        expect((await store.get(id))?.id).toBe(id);
        expect(await store.delete(id)).toBe(true);
        await expectGone(id, 1);
        expect((await store.get(neighbour))?.id).toBe(neighbour);
      });

      it('is not replaced by another of the same id', async () => {
        const id = await open({ owner: 'ann' });
        expect(await store.create(sessionOf({ id, owner: 'bob' }), ROOMY, LONG)).toBe(false);
        expect((await store.get(id))?.owner).toBe('ann');
        expect([await store.count(), await store.count('ann'), await store.count('bob')]).toEqual([1, 1, 0]);
      });
    });

    describe('what is given to it', () => {
      it('is never changed', async () => {
        const session = frozen(sessionOf({ owner: 'ann', followed: ['a'] }));
        expect(await store.create(session, frozen({ ...ROOMY }), LONG)).toBe(true);
        expect(await store.update(session.id, frozen({ follow: 'b' }))).toBe(true);
        expect(await store.update(session.id, frozen({ unfollow: 'a' }))).toBe(true);
        expect((await store.get(session.id))?.followed).toEqual(['b']);
        expect(session.followed).toEqual(['a']);
      });

      it('is kept as it was then, whatever becomes of it later', async () => {
        const capabilities = { roots: { listChanged: true } };
        const followed = ['a'];
        const session = { ...sessionOf(), client: { capabilities }, followed };
        const before = structuredClone(session);
        const created = store.create(session, ROOMY, LONG);
        capabilities.roots.listChanged = false;
        followed.push('b');
        session.isReady = true;
        expect(await created).toBe(true);
        followed.push('c');
        expect(await store.get(session.id)).toStrictEqual(before);
      });
    });

    describe('what it gives', () => {
      it('stays as it was while the session changes', async () => {
        const id = await open({ followed: ['a'] });
        const before = await store.get(id);
        await store.update(id, { isReady: true });
        await store.update(id, { follow: 'b' });
        await store.update(id, { unfollow: 'a' });
        expect(before).toMatchObject({ isReady: false, followed: ['a'] });
        await store.delete(id);
        expect(before).toMatchObject({ id, isReady: false, followed: ['a'] });
      });

      it('cannot be used to change the session', async () => {
        const session = sessionOf({
          client: { capabilities: { roots: { listChanged: true } } },
          followed: ['a'],
        });
        await store.create(session, ROOMY, LONG);
        const got = (await store.get(session.id))!;
        tryTo(() => Object.assign(got, { owner: 'eve', isReady: true }));
        tryTo(() => (got.followed as string[]).push('b'));
        tryTo(() => Object.assign(got.client.capabilities, { sampling: {} }));
        tryTo(() => Object.assign(got.client.capabilities['roots']!, { listChanged: false }));
        await store.update(session.id, { logLevel: 'info' });
        tryTo(() => ((got.followed as string[]).length = 0));
        expect(await store.get(session.id)).toStrictEqual({ ...session, logLevel: 'info' });
      });
    });

    describe('the caps', () => {
      it('let in as many as they say, and keep nothing beyond', async () => {
        const caps = { max: 3, maxPerCaller: 1 };
        for (let index = 0; index < 3; index++)
          expect(await store.create(sessionOf(), caps, LONG)).toBe(true);
        const refused = sessionOf({ owner: 'ann' });
        expect(await store.create(refused, caps, LONG)).toBe(false);
        await expectGone(refused.id, 3);
        expect(await store.count('ann')).toBe(0);
      });

      it('of one owner leave the others alone, and those without one', async () => {
        const caps = { max: 100, maxPerCaller: 2 };
        const create = (owner?: string) =>
          store.create(sessionOf(owner === undefined ? {} : { owner }), caps, LONG);
        expect([await create('ann'), await create('ann'), await create('ann')]).toEqual([true, true, false]);
        expect([await create('bob'), await create('bob'), await create('bob')]).toEqual([true, true, false]);
        for (let index = 0; index < 5; index++) expect(await create()).toBe(true);
        expect([await store.count(), await store.count('ann'), await store.count('bob')]).toEqual([9, 2, 2]);
      });

      it('are those of each call', async () => {
        expect(await store.create(sessionOf(), { max: 1, maxPerCaller: 1 }, LONG)).toBe(true);
        expect(await store.create(sessionOf(), { max: 1, maxPerCaller: 1 }, LONG)).toBe(false);
        expect(await store.create(sessionOf(), { max: 2, maxPerCaller: 1 }, LONG)).toBe(true);
        expect(await store.create(sessionOf(), { max: 0, maxPerCaller: 1 }, LONG)).toBe(false);
      });

      it('leave room again where a session was deleted or is over', async () => {
        const caps = { max: 2, maxPerCaller: 1 };
        const [first, second] = [sessionOf({ owner: 'ann' }), sessionOf({ owner: 'bob' })];
        await store.create(first, caps, LONG);
        await store.create(second, caps, BRIEF);
        await store.delete(first.id);
        expect(await store.create(sessionOf({ owner: 'ann' }), caps, LONG)).toBe(true);
        expect(await store.create(sessionOf({ owner: 'bob' }), caps, LONG)).toBe(false);
        await clock.advance(BRIEF + MOMENT);
        expect(await store.create(sessionOf({ owner: 'bob' }), caps, LONG)).toBe(true);
        expect(await store.count()).toBe(2);
      });

      it('hold where many are created at once', async () => {
        const sessions = Array.from({ length: 40 }, () => sessionOf());
        const caps = { max: 10, maxPerCaller: 1 };
        const kept = await together(sessions.map((session) => store.create(session, caps, LONG)));
        expect(kept.filter(Boolean)).toHaveLength(10);
        expect(await store.count()).toBe(10);
        const found = await together(sessions.map(({ id }) => store.get(id)));
        expect(found.map((session) => session !== undefined)).toEqual(kept);
      });

      it('of each owner hold where many are created at once', async () => {
        const sessions = Array.from({ length: 40 }, (_, index) => sessionOf({ owner: `owner-${index % 4}` }));
        const caps = { max: 1000, maxPerCaller: 3 };
        const kept = await together(sessions.map((session) => store.create(session, caps, LONG)));
        expect(kept.filter(Boolean)).toHaveLength(12);
        for (let index = 0; index < 4; index++) expect(await store.count(`owner-${index}`)).toBe(3);
      });

      it('hold where sessions are created and deleted at once', async () => {
        const caps = { max: 10, maxPerCaller: 10 };
        const sessions = Array.from({ length: 10 }, () => sessionOf({ owner: 'ann' }));
        for (const session of sessions) await store.create(session, caps, LONG);
        await together([
          ...sessions.flatMap(({ id }) => [store.delete(id), store.delete(id)]),
          ...Array.from({ length: 30 }, () => store.create(sessionOf({ owner: 'ann' }), caps, LONG)),
        ]);
        const count = await store.count();
        expect(count).toBeLessThanOrEqual(10);
        expect([await store.count('ann'), (await idsOfIdlest()).length]).toEqual([count, count]);
      });
    });

    describe('the idle time', () => {
      it('ends a session that was not used for so long', async () => {
        const id = await open({ owner: 'ann' }, BRIEF);
        const neighbour = await open({ owner: 'ann' });
        await clock.advance(BRIEF - MOMENT);
        expect((await store.get(id))?.id).toBe(id);
        expect(await store.count('ann')).toBe(2);
        await clock.advance(2 * MOMENT);
        await expectGone(id, 1);
        expect([await store.count('ann'), await idsOfIdlest(10, 'ann')]).toEqual([1, [neighbour]]);
      });

      it.each<[string, (id: string) => unknown]>([
        ['get', (id) => store.get(id)],
        ['touch', (id) => store.touch(id, LONG)],
        ['update', (id) => store.update(id, { isReady: true })],
        ['delete', (id) => store.delete(id)],
        ['count', () => store.count()],
        ['idlest', () => store.idlest(10)],
      ])('is seen by %s when it asks first', async (_, ask) => {
        const id = await open({}, BRIEF);
        await clock.advance(BRIEF + MOMENT);
        const nothing: unknown[] = [undefined, false, 0];
        const answer = await ask(id);
        if (Array.isArray(answer)) expect(answer).toEqual([]);
        else expect(nothing).toContain(answer);
        await expectGone(id, 0);
      });

      it('starts over with each touch, for as long as that says', async () => {
        const id = await open({}, BRIEF);
        for (let index = 0; index < 3; index++) {
          await clock.advance(BRIEF - MOMENT);
          expect(await store.touch(id, BRIEF)).toBe(true);
        }
        expect(await store.touch(id, 3 * BRIEF)).toBe(true);
        await clock.advance(2 * BRIEF);
        expect((await store.get(id))?.id).toBe(id);
        expect(await store.touch(id, BRIEF)).toBe(true);
        await clock.advance(BRIEF + MOMENT);
        await expectGone(id, 0);
      });

      it('goes on while the session is only looked at, counted or changed', async () => {
        const id = await open({ owner: 'ann' }, BRIEF);
        await clock.advance(BRIEF - MOMENT);
        await store.get(id);
        await store.count('ann');
        await store.idlest(1);
        await store.update(id, { isReady: true });
        await store.update(id, { follow: 'a' });
        await clock.advance(2 * MOMENT);
        await expectGone(id, 0);
      });

      it('is that of each session, in whatever order they were used', async () => {
        const idles = [LONG, 3 * BRIEF, BRIEF, LONG, 2 * BRIEF];
        const ids: string[] = [];
        for (const idle of idles) ids.push(await open({ owner: 'ann' }, idle));
        for (const lefts of [
          [0, 1, 3, 4],
          [0, 1, 3],
          [0, 3],
        ]) {
          await clock.advance(BRIEF + MOMENT / 5);
          expect(await store.count('ann')).toBe(lefts.length);
          expect(await store.count()).toBe(lefts.length);
          const left = lefts.map((index) => ids[index]!);
          expect((await idsOfIdlest()).toSorted()).toEqual(left.toSorted());
          for (const id of ids) expect((await store.get(id)) !== undefined).toBe(left.includes(id));
        }
      });

      it('frees the id', async () => {
        const id = await open({ owner: 'ann', followed: ['a'] }, BRIEF);
        await clock.advance(BRIEF + MOMENT);
        await open({ id, owner: 'bob' });
        expect(await store.get(id)).toStrictEqual(sessionOf({ id, owner: 'bob' }));
        expect([await store.count(), await store.count('ann'), await store.count('bob')]).toEqual([1, 0, 1]);
      });
    });

    describe('a change', () => {
      it('is of one thing and leaves everything else', async () => {
        const session = sessionOf({ owner: 'ann', followed: ['a'] });
        const neighbour = sessionOf({ owner: 'ann', followed: ['a'] });
        await store.create(session, ROOMY, LONG);
        await store.create(neighbour, ROOMY, LONG);
        expect(await store.update(session.id, { isReady: true })).toBe(true);
        expect(await store.get(session.id)).toStrictEqual({ ...session, isReady: true });
        expect(await store.update(session.id, { logLevel: 'error' })).toBe(true);
        expect(await store.update(session.id, { logLevel: 'debug' })).toBe(true);
        const ready: McpSessionData = { ...session, isReady: true, logLevel: 'debug' };
        expect(await store.get(session.id)).toStrictEqual(ready);
        expect(await store.update(session.id, { follow: 'b' })).toBe(true);
        expect(await store.get(session.id)).toStrictEqual({ ...ready, followed: ['a', 'b'] });
        expect(await store.update(session.id, { unfollow: 'a' })).toBe(true);
        expect(await store.get(session.id)).toStrictEqual({ ...ready, followed: ['b'] });
        expect(await store.get(neighbour.id)).toStrictEqual(neighbour);
      });

      it('to what is so already changes nothing, and was made all the same', async () => {
        const session = sessionOf({ isReady: true, logLevel: 'info', followed: ['a', 'b'] });
        await store.create(session, ROOMY, LONG);
        expect(await store.update(session.id, { isReady: true })).toBe(true);
        expect(await store.update(session.id, { logLevel: 'info' })).toBe(true);
        expect(await store.update(session.id, { follow: 'a' })).toBe(true);
        expect(await store.update(session.id, { unfollow: 'c' })).toBe(true);
        expect(await store.get(session.id)).toStrictEqual(session);
      });

      it.each(STRANGE_NAMES)('may follow the address %j', async (address) => {
        const id = await open({ followed: ['a'] });
        await store.update(id, { follow: address });
        await store.update(id, { follow: address });
        expect((await store.get(id))?.followed.toSorted()).toEqual(['a', address].toSorted());
        await store.update(id, { unfollow: address });
        expect((await store.get(id))?.followed).toEqual(['a']);
      });

      it('is not lost where many are made at once', async () => {
        const gone = Array.from({ length: 20 }, (_, index) => `gone-${index}`);
        const come = Array.from({ length: 20 }, (_, index) => `come-${index}`);
        const id = await open({ owner: 'ann', followed: ['stays', ...gone] });
        const done = await together([
          ...gone.map((unfollow) => store.update(id, { unfollow })),
          store.update(id, { isReady: true }),
          ...come.flatMap((follow) => [store.update(id, { follow }), store.update(id, { follow })]),
          store.update(id, { logLevel: 'notice' }),
          store.touch(id, LONG),
        ]);
        expect(done).toEqual(done.map(() => true));
        const session = await store.get(id);
        expect(session).toMatchObject({ isReady: true, logLevel: 'notice', owner: 'ann' });
        expect(session?.followed.toSorted()).toEqual([...come, 'stays'].toSorted());
      });

      it('of one session is none of another where both are made at once', async () => {
        const levels: McpLogLevel[] = ['debug', 'info', 'notice', 'warning', 'error'];
        const ids = await together(levels.map(() => open()));
        await together(
          ids.flatMap((id, index) => [
            store.update(id, { logLevel: levels[index]! }),
            store.update(id, { follow: `address-${index}` }),
          ]),
        );
        const sessions = await together(ids.map((id) => store.get(id)));
        expect(sessions.map((session) => session?.logLevel)).toEqual(levels);
        expect(sessions.map((session) => session?.followed)).toEqual(
          levels.map((_, index) => [`address-${index}`]),
        );
      });
    });

    describe('a deletion', () => {
      it('succeeds once and ends that session alone', async () => {
        const [id, neighbour] = [await open({ owner: 'ann' }), await open({ owner: 'ann' })];
        expect(await store.delete(id)).toBe(true);
        await expectGone(id, 1);
        expect([await store.count('ann'), await idsOfIdlest()]).toEqual([1, [neighbour]]);
        expect((await store.get(neighbour))?.id).toBe(neighbour);
      });

      it('succeeds for exactly one of many at once', async () => {
        const ids = await together(Array.from({ length: 5 }, () => open({ owner: 'ann' })));
        const neighbour = await open({ owner: 'ann' });
        const ended = await together(
          ids.map((id) => together(Array.from({ length: 10 }, () => store.delete(id)))),
        );
        for (const answers of ended) expect(answers.filter(Boolean)).toHaveLength(1);
        expect([await store.count('ann'), await idsOfIdlest()]).toEqual([1, [neighbour]]);
      });

      it('is not undone by what is changed at once', async () => {
        const id = await open({ owner: 'ann' });
        await together([
          store.update(id, { isReady: true }),
          store.touch(id, LONG),
          store.delete(id),
          store.update(id, { follow: 'a' }),
          store.touch(id, LONG),
        ]);
        await expectGone(id, 0);
        expect(await store.count('ann')).toBe(0);
      });
    });

    describe('counting', () => {
      it('is of all, or of one owner', async () => {
        expect([await store.count(), await store.count('ann')]).toEqual([0, 0]);
        await open();
        for (const owner of ['ann', 'bob', 'ann']) await open({ owner });
        expect([await store.count(), await store.count('ann'), await store.count('bob')]).toEqual([4, 2, 1]);
      });

      it.each(STRANGE_NAMES)('knows the owner %j like any', async (owner) => {
        await open({ owner: 'ann' });
        expect(await store.count(owner)).toBe(0);
        const id = await open({ owner });
        expect([await store.count(owner), await idsOfIdlest(10, owner)]).toEqual([1, [id]]);
        await store.delete(id);
        expect([await store.count(owner), await store.count()]).toEqual([0, 1]);
      });
    });

    describe('the idlest', () => {
      async function openInTurn(owners: readonly string[]): Promise<string[]> {
        const ids: string[] = [];
        for (const owner of owners) {
          ids.push(await open({ owner }));
          await clock.advance(MOMENT);
        }
        return ids;
      }

      it('come first, as many as are wanted', async () => {
        expect(await store.idlest(10)).toEqual([]);
        const ids = await openInTurn(['ann', 'bob', 'ann', 'bob']);
        expect(await idsOfIdlest()).toEqual(ids);
        expect(await idsOfIdlest(2)).toEqual(ids.slice(0, 2));
        expect(await idsOfIdlest(0)).toEqual([]);
      });

      it('may be those of one owner', async () => {
        const [first, second, third, fourth] = await openInTurn(['ann', 'bob', 'ann', 'bob']);
        expect(await idsOfIdlest(10, 'bob')).toEqual([second, fourth]);
        expect(await idsOfIdlest(1, 'ann')).toEqual([first]);
        expect(await idsOfIdlest(10, 'ann')).toEqual([first, third]);
        expect(await idsOfIdlest(10, 'eve')).toEqual([]);
      });

      it('are those whose use is longest ago, whatever else was done with them', async () => {
        const [first, second, third] = await openInTurn(['ann', 'ann', 'ann']);
        await store.touch(first!, BRIEF * 10);
        await clock.advance(MOMENT);
        await store.get(second!);
        await store.update(second!, { isReady: true });
        await store.update(second!, { follow: 'a' });
        expect(await idsOfIdlest()).toEqual([second, third, first]);
        await store.touch(second!, LONG);
        await clock.advance(MOMENT);
        await store.delete(third!);
        expect(await idsOfIdlest()).toEqual([first, second]);
      });

      it('say when they were used last', async () => {
        const before = Date.now();
        const first = await open();
        await clock.advance(BRIEF);
        const between = Date.now();
        const second = await open();
        const [one, two] = await store.idlest(2);
        expect([one?.id, two?.id]).toEqual([first, second]);
        expect(one?.lastUsed).toBeGreaterThanOrEqual(before);
        expect(one?.lastUsed).toBeLessThan(between);
        expect(two?.lastUsed).toBeGreaterThanOrEqual(between);
        expect(two?.lastUsed).toBeLessThanOrEqual(Date.now());
        await clock.advance(BRIEF);
        const later = Date.now();
        await store.touch(first, LONG);
        expect((await store.idlest(2))[1]?.lastUsed).toBeGreaterThanOrEqual(later);
      });
    });
  });
}

import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { withOptionsThird, type AnyClient } from '../clients/client-cases.js';
import { Changes } from '../features/changes.app.js';
import { eventually, listChange, resourceChange, type OpenStream } from '../features/open-stream.js';
import { HeldCalls, LogRecorder } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { modern, textOf, type Json, ready } from '../support/wire.js';
import {
  emptyAnswer,
  eventsIn,
  HOLD,
  idAt,
  LEGACY,
  letGo,
  messagesOf,
  openCall,
  progressOf,
  refusalOf,
  takeUp,
  unknownEvent,
  WITH_IDS,
} from './calls.js';
import { sessionsApp } from './sessions.app.js';

describe.each(ADAPTERS)('streams that are taken up again, on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let held: HeldCalls;
  let changes: Changes;

  beforeAll(async () => {
    running = await startApp(sessionsApp(), { adapter, logger: logs });
    held = running.app.get(HeldCalls);
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  describe.each(WITH_IDS)('in a session of %s', (revision) => {
    it('S-194: a call whose stream is cut goes on, and its client gets exactly what follows an event', async () => {
      const session = await ready(running.mcp, revision);
      const key = `cut in ${revision}`;
      const cut = await openCall(running.mcp, session, HOLD(key, 1), traffic, { id: 'cut' });
      const ctx = await held.of(key).started;
      await ctx.progress(2);
      await cut.count(2);
      await cut.close();
      await ctx.progress(3);
      await ctx.progress(4);

      const again = await takeUp(running.mcp, session, idAt(cut, 1), traffic);
      expect(again.headers['content-type']).toBe('text/event-stream');
      expect(await again.count(2)).toEqual(progressOf(key, 3, 4));
      await ctx.progress(5);
      expect(ctx.signal.aborted).toBe(false);
      held.of(key).release();
      expect(await messagesOf(again)).toEqual([...progressOf(key, 3, 4, 5), letGo(key, 'cut')]);

      // Each event has the id that it would have had.
      const [stream, sequence] = idAt(cut, 1).split('.');
      const ids = eventsIn(again).map(({ id }) => id);
      expect(ids).toEqual([1, 2, 3, 4].map((step) => `${stream}.${Number(sequence) + step}`));
      // What is over is replayed from wherever its client was, and ends again.
      const whole = await takeUp(running.mcp, session, idAt(cut, 0), traffic);
      expect(await messagesOf(whole)).toEqual([...progressOf(key, 2, 3, 4, 5), letGo(key, 'cut')]);
      const answer = await takeUp(running.mcp, session, idAt(whole, 3), traffic);
      expect(await messagesOf(answer)).toEqual([letGo(key, 'cut')]);
      // Its client has all of it, however often it asks.
      for (const last of [idAt(answer), idAt(answer)])
        expect(await emptyAnswer(await takeUp(running.mcp, session, last, traffic))).toBe(204);
    });

    it('S-194: an answer that nobody was there for waits', async () => {
      const session = await ready(running.mcp, revision);
      const key = `waits in ${revision}`;
      const cut = await openCall(running.mcp, session, HOLD(key, 1), traffic);
      await cut.count(1);
      await cut.close();
      held.of(key).release();
      await held.of(key).over;
      const again = await takeUp(running.mcp, session, idAt(cut), traffic);
      expect(await messagesOf(again)).toEqual([letGo(key, 1)]);
    });

    it('replays what a standing stream missed, and goes on with it', async () => {
      const session = await ready(running.mcp, revision);
      await session.request('resources/subscribe', { uri: 'ticket://7' });
      const cut = await takeUp(running.mcp, session, undefined, traffic);
      expect(cut.status).toBe(200);
      changes.prompts();
      await cut.count(1);
      await cut.close();
      await eventually(() => changes.streams === 0);
      await changes.tools();
      changes.update('ticket://7', 'ticket://8');
      await setImmediate();
      changes.resources();
      await setImmediate();

      const again = await takeUp(running.mcp, session, idAt(cut, 0), traffic);
      const missed = [listChange('tools'), resourceChange('ticket://7'), listChange('resources')];
      expect(await again.count(3)).toEqual(missed);
      changes.prompts();
      expect(await again.count(4)).toEqual([...missed, listChange('prompts')]);
      expect(eventsIn(again).every(({ data }) => data !== '')).toBe(true);
      await again.close();
      await eventually(() => changes.streams === 0);
    });
  });

  it('S-077: every event of a session has an id of its own, whatever its stream', async () => {
    const session = await ready(running.mcp);
    const streams: OpenStream[] = [];
    for (const id of [1, '1', 2]) {
      const key = `unique ${typeof id} ${id}`;
      const stream = await openCall(running.mcp, session, HOLD(key, 1), traffic, { id });
      await (await held.of(key).started).progress(2);
      held.of(key).release();
      expect(await messagesOf(stream)).toEqual([...progressOf(key, 1, 2), letGo(key, id)]);
      streams.push(stream);
    }
    for (const kind of ['first', 'second']) {
      const standing = await takeUp(running.mcp, session, undefined, traffic);
      if (kind === 'first') changes.prompts();
      else await changes.tools();
      await standing.count(1);
      streams.push(standing);
    }
    const ids = streams.flatMap((stream) => eventsIn(stream).map(({ id }) => id));
    expect(ids).toHaveLength(3 * 4 + 2 * 2);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[gp][\w-]{12}\.\d+$/);
    await Promise.all(streams.slice(3).map((stream) => stream.close()));
  });

  it('S-075, S-078: a stream replays nothing of another one, of its session or of any other', async () => {
    const [one, other] = [await ready(running.mcp), await ready(running.mcp)];
    const calls = [
      { session: one, id: 1, key: 'number' },
      { session: one, id: '1', key: 'text' },
      { session: other, id: 1, key: 'elsewhere' },
    ];
    const streams = await Promise.all(
      calls.map(({ session, id, key }) => {
        const params = { ...HOLD(key, 1), _meta: { progressToken: 'same' } };
        return openCall(running.mcp, session, params, traffic, { id });
      }),
    );
    for (const stream of streams) await stream.count(1);
    await Promise.all(streams.map((stream) => stream.close()));
    for (const [at, progress] of [0, 1, 2, 0, 1, 2].entries()) {
      const ctx = await held.of(calls[progress]!.key).started;
      await ctx.progress(10 * at + 10, undefined, calls[progress]!.key);
    }
    // The standing stream of the session has none of it either.
    const standing = await takeUp(running.mcp, one, undefined, traffic);
    calls.forEach(({ key }) => held.of(key).release());
    for (const [at, { session, id, key }] of calls.entries()) {
      const again = await takeUp(running.mcp, session, idAt(streams[at]!), traffic);
      const params = (progress: number) => ({ progressToken: 'same', progress, message: key });
      expect(await messagesOf(again)).toEqual([
        ...[10 * at + 10, 10 * at + 40].map((progress) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: params(progress),
        })),
        letGo(key, id),
      ]);
    }
    changes.prompts();
    expect(await standing.count(1)).toEqual([listChange('prompts')]);
    await standing.close();
  });

  it('opens a stream with an event that has an id alone in 2025-11-25, and in no other revision', async () => {
    for (const revision of LEGACY) {
      const session = await ready(running.mcp, revision);
      const standing = await takeUp(running.mcp, session, undefined, traffic);
      changes.prompts();
      await standing.count(1);
      const key = `primed in ${revision}`;
      const call = await openCall(running.mcp, session, HOLD(key, 1), traffic);
      held.of(key).release();
      await messagesOf(call);
      for (const stream of [standing, call]) {
        const primed =
          /^id: [gp][\w-]{12}\.1\nretry: 1000\ndata:\n\nevent: message\nid: [gp][\w-]{12}\.2\ndata: \{/;
        expect(primed.test(stream.text)).toBe(revision === '2025-11-25');
        expect(stream.text.match(/^retry/gm) ?? []).toHaveLength(revision === '2025-11-25' ? 1 : 0);
        expect(eventsIn(stream).every(({ id }) => (id === undefined) === (revision === '2024-11-05'))).toBe(
          true,
        );
      }
      await standing.close();
    }
  });

  it('gives a client of 2024-11-05 no ids, and knows none of it', async () => {
    const session = await ready(running.mcp, '2024-11-05');
    const cut = await openCall(running.mcp, session, HOLD('old', 1), traffic);
    await cut.count(1);
    await cut.close();
    held.of('old').release();
    await held.of('old').over;
    const again = await takeUp(running.mcp, session, 'pAAAAAAAAAAAA.1', traffic);
    expect(await refusalOf(again)).toEqual([400, unknownEvent('2024-11-05')]);
    expect((await session.request('ping')).result).toEqual({});
  });

  it.each([
    '',
    'x',
    '1',
    'p.1',
    'pAAAAAAAAAAAA',
    'pAAAAAAAAAAAA.',
    'pAAAAAAAAAAAA.-1',
    'pAAAAAAAAAAAA.1.1',
    'pAAAAAAAAAAAA.1e3',
    'qAAAAAAAAAAAA.1',
    'p../../../../.1',
    `pAAAAAAAAAAAA.${'9'.repeat(400)}`,
    '__proto__',
    'x'.repeat(4_000),
  ])('answers 400 to %p as event id', async (id) => {
    const session = await ready(running.mcp);
    const refused = await takeUp(running.mcp, session, id, traffic);
    expect(await refusalOf(refused)).toEqual([400, unknownEvent()]);
  });

  it("S-179: another session's event is as unknown as one that never was, another caller's session too", async () => {
    const ann = { 'x-user': 'ann' };
    const session = await ready(running.mcp, '2025-11-25', ann);
    const stream = await openCall(running.mcp, session, HOLD('private', 1), traffic, { headers: ann });
    await stream.count(1);
    const standing = await takeUp(running.mcp, session, undefined, traffic, ann);
    await standing.until(() => eventsIn(standing).length > 0);
    await Promise.all([stream, standing].map((open) => open.close()));
    const neighbour = await ready(running.mcp, '2025-11-25', ann);
    for (const id of [idAt(stream), idAt(standing)]) {
      const elsewhere = await takeUp(running.mcp, neighbour, id, traffic, ann);
      expect(await refusalOf(elsewhere)).toEqual([400, unknownEvent()]);
      for (const user of [{ 'x-user': 'bob' }, {}] as Record<string, string>[]) {
        const foreign = await refusalOf(await takeUp(running.mcp, session, id, traffic, user));
        const unknown = { ...session, id: 'f'.repeat(32) };
        expect(foreign).toEqual(await refusalOf(await takeUp(running.mcp, unknown, id, traffic, user)));
        expect(foreign[0]).toBe(404);
      }
    }
    held.of('private').release();
    const again = await takeUp(running.mcp, session, idAt(stream), traffic, ann);
    expect(await messagesOf(again)).toEqual([letGo('private', 1)]);
  });

  it('is taken over from a connection that is still open, by whoever comes last', async () => {
    const session = await ready(running.mcp);
    const first = await openCall(running.mcp, session, HOLD('taken over', 1), traffic);
    await first.count(1);
    const ctx = await held.of('taken over').started;
    const second = await takeUp(running.mcp, session, idAt(first), traffic);
    expect(await messagesOf(first)).toEqual(progressOf('taken over', 1));
    await ctx.progress(2);
    await second.count(1);
    const third = await takeUp(running.mcp, session, idAt(first, 0), traffic);
    expect(await messagesOf(second)).toEqual(progressOf('taken over', 2));
    held.of('taken over').release();
    expect(await messagesOf(third)).toEqual([...progressOf('taken over', 2), letGo('taken over', 1)]);

    const standing = await takeUp(running.mcp, session, undefined, traffic);
    changes.prompts();
    await standing.count(1);
    const next = await takeUp(running.mcp, session, idAt(standing), traffic);
    expect(await messagesOf(standing)).toEqual([listChange('prompts')]);
    await changes.tools();
    expect(await next.count(1)).toEqual([listChange('tools')]);
    await next.close();
  });

  it('is taken up by one of two who come at once', async () => {
    const session = await ready(running.mcp);
    const cut = await openCall(running.mcp, session, HOLD('raced', 1), traffic);
    await cut.count(1);
    await cut.close();
    const both = await Promise.all([0, 1].map(() => takeUp(running.mcp, session, idAt(cut), traffic)));
    held.of('raced').release();
    const ends = await Promise.all(both.map((stream) => messagesOf(stream)));
    expect(ends.toSorted((one, other) => one.length - other.length)).toEqual([[], [letGo('raced', 1)]]);
  });

  it('ends without an answer where its call is cancelled while its client is away', async () => {
    const session = await ready(running.mcp);
    const cut = await openCall(running.mcp, session, HOLD('given up', 1), traffic, { id: 'up' });
    const ctx = await held.of('given up').started;
    await cut.count(1);
    await cut.close();
    await ctx.progress(2);
    expect((await session.notify('notifications/cancelled', { requestId: 'up' })).status).toBe(202);
    expect(await held.of('given up').aborted).toBe('AbortError');
    await held.of('given up').over;
    const again = await takeUp(running.mcp, session, idAt(cut), traffic);
    expect(await messagesOf(again)).toEqual(progressOf('given up', 2));
    const nothing = await takeUp(running.mcp, session, idAt(again), traffic);
    expect(await emptyAnswer(nothing)).toBe(204);
  });

  it('S-078: brings the answers of a batch, one by one', async () => {
    const session = await ready(running.mcp, '2025-03-26');
    const call = (id: string, params: Json) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const batch = [
      call('first', HOLD('first of a batch', 1)),
      call('second', HOLD('second of a batch')),
      { jsonrpc: '2.0', id: 'third', method: 'ping' },
    ];
    const cut = await openCall(running.mcp, session, {}, traffic, { body: JSON.stringify(batch) });
    await cut.count(1);
    await cut.close();
    const [first] = progressOf('first of a batch', 1);
    expect(cut.messages).toContainEqual(first);
    held.of('second of a batch').release();
    await held.of('second of a batch').over;
    held.of('first of a batch').release();
    const again = await takeUp(running.mcp, session, idAt(cut, 0), traffic);
    await again.end;
    const answers = [...cut.messages, ...again.messages].filter((message) => 'id' in message);
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      expect.arrayContaining([
        letGo('first of a batch', 'first'),
        letGo('second of a batch', 'second'),
        { jsonrpc: '2.0', id: 'third', result: {} },
      ]),
    );
  });

  it.each(WITH_IDS)(
    'loses and repeats nothing while a call of %s speaks and its client comes and goes',
    async (revision) => {
      const LAST = 600;
      const session = await ready(running.mcp, revision);
      const key = `spoken in ${revision}`;
      let stream = await openCall(running.mcp, session, HOLD(key, 1), traffic);
      const ctx = await held.of(key).started;
      const speaking = (async () => {
        for (let step = 2; step <= LAST; step++) {
          await ctx.progress(step);
          if (step % 3 === 0) await setImmediate();
        }
        held.of(key).release();
      })();
      const got: Json[] = [];
      let last = '';
      let connections = 1;
      for (;;) {
        // An end comes in the place of the third message only after the answer.
        await stream.count(3).catch(() => undefined);
        await stream.close();
        got.push(...stream.messages);
        if (eventsIn(stream).length > 0) last = idAt(stream);
        if ('id' in (got.at(-1) ?? {})) break;
        stream = await takeUp(running.mcp, session, last, traffic);
        connections++;
      }
      await speaking;
      expect(got).toEqual([
        ...progressOf(key, ...Array.from({ length: LAST }, (_, at) => at + 1)),
        letGo(key, 1),
      ]);
      expect(connections).toBeGreaterThan(2);
    },
  );

  it('S-076: has several standing streams, tells each change on the newest, and ends the first for a ninth', async () => {
    const session = await ready(running.mcp);
    const streams: OpenStream[] = [];
    for (let at = 0; at < 8; at++) streams.push(await takeUp(running.mcp, session, undefined, traffic));
    const ends: number[] = [];
    streams.forEach((stream, at) => void stream.end.then(() => ends.push(at)));
    changes.prompts();
    await streams[7]!.count(1);
    expect(ends).toEqual([]);
    const ninth = await takeUp(running.mcp, session, undefined, traffic);
    expect(await messagesOf(streams[0]!)).toEqual([]);
    await changes.tools();
    expect(await ninth.count(1)).toEqual([listChange('tools')]);
    expect(streams.map(({ messages }) => messages.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    expect(ends).toEqual([0]);
    // One that was told nothing but its own id is over as well, and a number that it never had is none of its ids.
    const over = await takeUp(running.mcp, session, idAt(streams[0]!), traffic);
    expect(await emptyAnswer(over)).toBe(204);
    const beyond = await takeUp(running.mcp, session, idAt(ninth).replace(/\d+$/, '99'), traffic);
    expect(await refusalOf(beyond)).toEqual([400, unknownEvent()]);
    await Promise.all([...streams, ninth].map((stream) => stream.close()));
    await eventually(() => changes.streams === 0);
  });

  describe('ctx.closeStream()', () => {
    it('ends the connection without the answer, as often as it is called, and GET brings what follows', async () => {
      const session = await ready(running.mcp);
      const first = await openCall(running.mcp, session, HOLD('polled', 1), traffic, { id: 'poll' });
      const ctx = await held.of('polled').started;
      ctx.closeStream();
      expect(await messagesOf(first)).toEqual(progressOf('polled', 1));
      await ctx.progress(2);
      const second = await takeUp(running.mcp, session, idAt(first), traffic);
      await second.count(1);
      ctx.closeStream();
      ctx.closeStream();
      expect(await messagesOf(second)).toEqual(progressOf('polled', 2));
      held.of('polled').release();
      await held.of('polled').over;
      const third = await takeUp(running.mcp, session, idAt(second), traffic);
      expect(await messagesOf(third)).toEqual([letGo('polled', 'poll')]);
      expect(ctx.signal.aborted).toBe(false);
    });

    it('opens the stream first where nothing was sent, so that its client has an id to come back with', async () => {
      const session = await ready(running.mcp);
      const opening = openCall(running.mcp, session, HOLD('silent'), traffic);
      (await held.of('silent').started).closeStream();
      const first = await opening;
      expect(await messagesOf(first)).toEqual([]);
      expect(first.text).toMatch(/^id: p[\w-]{12}\.1\nretry: 1000\ndata:\n\n$/);
      const second = await takeUp(running.mcp, session, idAt(first), traffic);
      held.of('silent').release();
      expect(await messagesOf(second)).toEqual([letGo('silent', 1)]);
    });

    it.each(LEGACY.slice(1))('does nothing in %s, whose clients would not come back', async (revision) => {
      const session = await ready(running.mcp, revision);
      const key = `closed in ${revision}`;
      const stream = await openCall(running.mcp, session, HOLD(key, 1), traffic);
      const ctx = await held.of(key).started;
      ctx.closeStream();
      await ctx.progress(2);
      held.of(key).release();
      expect(await messagesOf(stream)).toEqual([...progressOf(key, 1, 2), letGo(key, 1)]);
    });

    it('does nothing in 2026-07-28, nor to a client that takes JSON alone', async () => {
      for (const progress of [1, undefined]) {
        const key = `closed in 2026-07-28 after ${progress}`;
        const answered = modern(running.mcp, 'tools/call', HOLD(key, progress));
        (await held.of(key).started).closeStream();
        held.of(key).release();
        expect(textOf((await answered).result)).toBe(`${key} let go`);
      }
      const session = await ready(running.mcp);
      const headers = { accept: 'application/json' };
      const plain = session.request('tools/call', HOLD('plain', 1), 1, headers);
      (await held.of('plain').started).closeStream();
      held.of('plain').release();
      const { body, headers: got } = await plain;
      expect(got.get('content-type')).toMatch(/^application\/json/);
      expect(body).toEqual(letGo('plain', 1));
    });
  });

  describe.each([
    ['v1 client', 'v1'],
    ['v2 client in legacy mode', 'v2'],
  ] as const)('the official %s', (_name, generation) => {
    it('S-194: gets the answer of a call whose connection was cut, and the changes meanwhile', async () => {
      const proxy = await CuttingProxy.open(running.url);
      const url = `${proxy.url}/mcp`;
      let client: AnyClient;
      let told = 0;
      if (generation === 'v1') {
        const v1 = await connectV1(url, traffic);
        v1.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
        client = withOptionsThird(v1);
      } else {
        const v2 = await connectV2(url, 'legacy', traffic);
        v2.setNotificationHandler('notifications/tools/list_changed', () => void told++);
        client = v2 as unknown as AnyClient;
      }
      await eventually(() => changes.streams === 1);
      const key = `cut from the ${generation} client on ${adapter}`;
      const steps: number[] = [];
      const call = client.callTool(
        { name: 'hold', arguments: { key, progress: 1 } },
        { onprogress: ({ progress }) => void steps.push(progress) },
      );
      await eventually(() => steps.length === 1);
      const ctx = await held.of(key).started;
      proxy.cut();
      await eventually(() => changes.streams === 0);
      await ctx.progress(2);
      await changes.tools();
      held.of(key).release();
      expect((await call).content).toEqual([{ type: 'text', text: `${key} let go` }]);
      expect(steps).toEqual([1, 2]);
      await eventually(() => told === 1);
      // The standing stream goes on as well.
      await eventually(() => changes.streams === 1);
      await changes.tools();
      await eventually(() => told === 2);
      expect((await client.callTool({ name: 'hello' })).content).toHaveLength(1);
      await client.close();
      await proxy.close();
      await eventually(() => changes.streams === 0);
    });
  });

  it('F4: leaves no line in the log, whoever came and went', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

describe.each(ADAPTERS)('how much of a stream is kept, on %s', (adapter) => {
  const traffic = new Traffic();
  afterAll(() => traffic.verify());

  const serve = (limits: Json) => startApp(sessionsApp({ limits }), { adapter });

  it('waits where the server has too many streams open, and is there once it has not', async () => {
    const running = await serve({ streams: 1 });
    const held = running.app.get(HeldCalls);
    const session = await ready(running.mcp);
    const cut = await openCall(running.mcp, session, HOLD('full', 1), traffic);
    await cut.count(1);
    await cut.close();
    held.of('full').release();
    await held.of('full').over;
    const standing = await takeUp(running.mcp, session, undefined, traffic);
    const refused = await takeUp(running.mcp, session, idAt(cut), traffic);
    expect((await refusalOf(refused))[0]).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    await standing.close();
    await eventually(() => new Changes(running.app).streams === 0);
    const again = await takeUp(running.mcp, session, idAt(cut), traffic);
    expect(await messagesOf(again)).toEqual([letGo('full', 1)]);
    await running.close();
  });

  it.each([
    ['at the limit', 3, [2, 3, 4]],
    ['one beyond it', 4, [3, 4, 5]],
  ])('keeps the newest `replayEvents` of a stream: %s', async (_what, spoken, kept) => {
    const running = await serve({ replayEvents: 3 });
    const held = running.app.get(HeldCalls);
    const session = await ready(running.mcp, '2025-06-18');
    const cut = await openCall(running.mcp, session, HOLD('counted', 1), traffic);
    await cut.count(1);
    await cut.close();
    const ctx = await held.of('counted').started;
    for (let step = 2; step < 2 + spoken; step++) await ctx.progress(step);
    const again = await takeUp(running.mcp, session, idAt(cut), traffic);
    expect(await again.count(3)).toEqual(progressOf('counted', ...kept));
    held.of('counted').release();
    expect((await messagesOf(again)).at(-1)).toEqual(letGo('counted', 1));
    await running.close();
  });

  it.each([
    ['at the limit', 0, [2, 3]],
    ['one beyond it', 1, [3]],
  ])('keeps the newest `replayBytes` of a stream: %s', async (_what, more, kept) => {
    const told = (step: number, length: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'token of weighed', progress: step, message: 'ä'.repeat(length) },
    });
    // Bytes of two messages, of which each character of the text takes two.
    const bytes = Buffer.byteLength(JSON.stringify(told(2, 100)) + JSON.stringify(told(3, 100)));
    const running = await serve({ replayBytes: bytes - more });
    const held = running.app.get(HeldCalls);
    const session = await ready(running.mcp, '2025-06-18');
    const cut = await openCall(running.mcp, session, HOLD('weighed', 1), traffic);
    await cut.count(1);
    await cut.close();
    const ctx = await held.of('weighed').started;
    await ctx.progress(2, undefined, 'ä'.repeat(100));
    await ctx.progress(3, undefined, 'ä'.repeat(100));
    const again = await takeUp(running.mcp, session, idAt(cut), traffic);
    expect(await again.count(kept.length)).toEqual(kept.map((step) => told(step, 100)));
    held.of('weighed').release();
    expect((await messagesOf(again)).at(-1)).toEqual(letGo('weighed', 1));
    await running.close();
  });

  it('keeps an error in the place of an answer that is larger than `replayBytes`, which arrives live all the same', async () => {
    const running = await serve({ replayBytes: 1_000 });
    const held = running.app.get(HeldCalls);
    const session = await ready(running.mcp);
    const key = 'large '.repeat(200);
    const params = { ...HOLD(key, 1), _meta: { progressToken: 'token of large' } };
    const live = await openCall(running.mcp, session, params, traffic, { id: 'large' });
    await live.count(1);
    held.of(key).release();
    expect(await messagesOf(live)).toEqual([...progressOf('large', 1), letGo(key, 'large')]);
    const again = await takeUp(running.mcp, session, idAt(live, 0), traffic);
    const message =
      'The answer is larger than the 1000 bytes that are kept for a client whose connection was cut';
    expect(await messagesOf(again)).toEqual([
      { jsonrpc: '2.0', id: 'large', error: { code: -32603, message } },
    ]);
    await running.close();
  });

  it('forgets what is over after `replayTime`, and a standing stream whose client stays away, but no running call', async () => {
    const REPLAY_TIME = 40;
    const running = await serve({ replayTime: REPLAY_TIME });
    const held = running.app.get(HeldCalls);
    const changes = new Changes(running.app);
    const session = await ready(running.mcp);
    const before = changes.listeners;

    const over = await openCall(running.mcp, session, HOLD('over', 1), traffic);
    held.of('over').release();
    await messagesOf(over);
    for (;;) {
      const again = await takeUp(running.mcp, session, idAt(over, 0), traffic);
      await again.end;
      if (again.status === 400) break;
      expect(again.messages).toEqual([letGo('over', 1)]);
    }

    const standing = await takeUp(running.mcp, session, undefined, traffic);
    await standing.until(() => eventsIn(standing).length === 1);
    expect(changes.listeners).toBe(before + 1);
    await standing.close();
    await eventually(() => changes.listeners === before);
    for (;;) {
      const gone = await takeUp(running.mcp, session, idAt(standing), traffic);
      if (gone.status === 204) continue;
      expect(await refusalOf(gone)).toEqual([400, unknownEvent()]);
      break;
    }

    const cut = await openCall(running.mcp, session, HOLD('long', 1), traffic);
    await cut.count(1);
    await cut.close();
    // Who was there and left again is waited for like who never came.
    const seen = await takeUp(running.mcp, session, idAt(cut), traffic);
    await seen.close();
    await eventually(() => changes.streams === 0);
    await delay(2 * REPLAY_TIME);
    const again = await takeUp(running.mcp, session, idAt(cut), traffic);
    held.of('long').release();
    expect(await messagesOf(again)).toEqual([letGo('long', 1)]);
    await running.close();
    // What a connection took is kept for a while as well, but for no longer.
  }, 5_000);
});

describe('ctx.closeStream() where there is nothing to come back to', () => {
  it.each(ADAPTERS)('does nothing where every answer is JSON, on %s', async (adapter) => {
    const traffic = new Traffic();
    const running = await startApp(sessionsApp({ http: { responses: 'json' } }), { adapter });
    const held = running.app.get(HeldCalls);
    const session = await ready(running.mcp);
    const answered = openCall(running.mcp, session, HOLD('json', 1), traffic);
    (await held.of('json').started).closeStream();
    held.of('json').release();
    expect(await refusalOf(await answered)).toEqual([200, letGo('json', 1)]);
    await running.close();
  });

  it('does nothing on stdio', async () => {
    @Module({ imports: [sessionsApp()] })
    class Root {}
    const traffic = new Traffic();
    let held!: HeldCalls;
    const client = new StdioClient(
      openPipe(Root, { configure: (app) => void (held = app.get(HeldCalls)) }),
      traffic,
    );
    await client.initialize('2025-11-25');
    const answered = client.legacy(1, 'tools/call', HOLD('pipe', 1));
    (await held.of('pipe').started).closeStream();
    held.of('pipe').release();
    expect(await answered).toEqual(letGo('pipe', 1));
    await client.end();
    await traffic.verify();
  });
});

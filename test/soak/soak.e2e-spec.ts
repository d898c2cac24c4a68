import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { jest } from '@jest/globals';
import { ADAPTERS } from '../support/app.js';
import { compile, type Compiled } from '../support/compiled.js';
import { callTool, openSession, textOf } from '../support/wire.js';
import type { Deed, Ledger } from './ledger.js';
import { runRound } from './round.js';
import { SoakServer, type Counts } from './server.process.js';
import { SlowSockets } from './slow-sockets.js';

/** `npm run soak` runs it whole; a part of it is enough each time. */
const isWhole = process.env['SOAK'] === 'whole';
const SIZE = isWhole ? { clients: 200, calls: 50 } : { clients: 40, calls: 15 };
/** The first makes what stays: compiled code, tables at their size. */
const ROUNDS = isWhole ? [1, 2, 3] : [1, 2];
const SLOW = isWhole ? 1_000 : 100;
/** So many clients take a second or two from a cut to their return; who never returns is waited for after each round. */
const TIMES = isWhole ? { bodyTime: 3_000, replayTime: 15_000 } : { bodyTime: 1_000, replayTime: 3_000 };
/** Another one each time. `SOAK_SEED` has clients do the same again, though not in the same order. */
const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 1_000_000);

/** By how much the heap may grow from one round to the next: what V8 keeps of code, and sessions that were left. */
const HEAP_MARGIN = 2 * 1024 * 1024;

/** So often the server is asked whether it is at rest. */
const MAX_LOOKS = 1_000;

const CALLS = SIZE.clients * SIZE.calls;
const TOO_SLOW = `The body was not there within ${TIMES.bodyTime} ms`;
/** No connection stays. */
const ONCE = { connection: 'close' };
const DEEDS: Deed[] = [
  'aborted',
  'batched',
  'cancelled',
  'cut and resumed',
  'intruded',
  'listened again',
  'notified',
  'polled',
  'renewed',
  'vanished',
];

jest.setTimeout(isWhole ? 600_000 : 60_000);

let compiled: Compiled;

beforeAll(() => {
  compiled = compile('test/soak');
});

afterAll(() => compiled.remove());

describe.each(ADAPTERS)('a server with many clients at once, on %s', (adapter) => {
  const ledgers: Ledger[] = [];
  const heaps: number[] = [];
  let server: SoakServer;
  let atStart: Counts;

  /**
   * What the server holds once all who came have left, beside sessions whose clients went without a word. What it never
   * lets go of is still there after the last look.
   */
  async function atRest(): Promise<Counts> {
    for (let looks = 0; ; looks++) {
      const counts = await server.counts();
      const { sessionsKept, streamsKept, timers } = counts;
      // Each store has one timer as long as it keeps anything.
      const ofStores = Number(sessionsKept > 0) + Number(streamsKept > 0);
      const abandoned = ledgers.reduce((sum, ledger) => sum + ledger.abandoned, 0);
      const others = {
        ...counts,
        sessionsKept: sessionsKept - abandoned,
        timers: timers - ofStores,
        // Streams that were left are forgotten in time, which only the whole run waits for.
        streamsKept: isWhole ? streamsKept : 0,
      };
      if (isDeepStrictEqual(others, atStart) || looks === MAX_LOOKS) return others;
      await sleep(50);
    }
  }

  beforeAll(async () => {
    server = await SoakServer.start(compiled.entry('test/soak/soak.server.ts'), adapter, TIMES);
    atStart = await server.counts();
    report(`${adapter}, at the start: heap ${await server.heap()}, ${JSON.stringify(atStart)}`);
  });

  afterAll(() => server.kill());

  it.each(ROUNDS)('answers every call of round %i rightly, and only to its own client', async (round) => {
    const started = performance.now();
    const ledger = await runRound(server.url, SIZE, SEED + round);
    ledgers.push(ledger);
    const { expected, right, faults, deeds } = ledger;
    const time = Math.round(performance.now() - started);
    report(`${adapter}, round ${round}: ${right} of ${expected} in ${time} ms, ${JSON.stringify(deeds)}`);
    // The short form waits for those who never return once, at the end.
    if (isWhole) await atRest();
    heaps.push(await server.heap());
    report(`${adapter}, after it: heap ${heaps.at(-1)}`);
    expect({ SEED, faults }).toEqual({ SEED, faults: [] });
    expect({ SEED, expected, right }).toEqual({ SEED, expected: CALLS, right: CALLS });
    // None of what is to be withstood was left out.
    expect(Object.keys(deeds).sort()).toEqual(DEEDS);
  });

  it('holds nothing of its clients when they have left', async () => {
    const counts = await atRest();
    report(`${adapter}, at the end: ${JSON.stringify(counts)}`);
    expect({ SEED, ...counts }).toEqual({ SEED, ...atStart });
  });

  it('has the heap after the last round that it had after the one before', () => {
    expect(heaps.at(-1)! - heaps.at(-2)!).toBeLessThan(HEAP_MARGIN);
  });

  it(`closes ${SLOW} connections on which a body comes a byte a second, and serves others meanwhile`, async () => {
    const slow = await SlowSockets.open(server.url, SLOW);
    try {
      let isOver = false;
      const answers = slow.answers.finally(() => (isOver = true));
      let served = 0;
      const url = `${server.url}/mcp`;
      const session = await openSession(url, '2025-11-25', ONCE);
      ledgers.at(-1)!.abandoned++;
      while (!isOver) {
        const args = { text: 'hello', delay: 0, steps: 0 };
        const replies = [await callTool(url, 'echo', args, ONCE), await session.callTool('echo', args)];
        expect(replies.map(({ result }) => textOf(result))).toEqual(Array(2).fill('hello for nobody'));
        served += replies.length;
      }
      report(`${adapter}: ${served} calls served beside ${SLOW} slow bodies`);
      const wanted = Array(SLOW).fill(['HTTP/1.1 408', TOO_SLOW]);
      expect((await answers).map((text) => [text.slice(0, 12), messageIn(text)])).toEqual(wanted);
      expect(served).toBeGreaterThan(0);
      expect(await atRest()).toEqual(atStart);
      const heap = await server.heap();
      report(`${adapter}, after it: heap ${heap}`);
      expect(heap - heaps.at(-1)!).toBeLessThan(HEAP_MARGIN);
    } finally {
      slow.destroy();
    }
  });

  it('ends by itself, and has written nothing to its log', async () => {
    expect([await server.stop(), server.output.join('')]).toEqual([0, '']);
  });
});

function messageIn(answer: string): string | undefined {
  return /"message":"([^"]*)"/.exec(answer)?.[1];
}

/** Figures, for who runs the whole of it. */
function report(text: string): void {
  if (isWhole) process.stderr.write(`${text}\n`);
}

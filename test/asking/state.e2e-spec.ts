import { setImmediate } from 'node:timers/promises';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { accept } from '../support/scripted-client.js';
import { Traffic } from '../support/traffic.js';
import { CAPABILITIES_KEY, modern, textOf, type Json, type Reply } from '../support/wire.js';
import { CapturedLog } from '../nest/captured-log.js';
import { vault, vaultModule } from './vault.app.js';

const traffic = new Traffic();
const KEY = 'the first secret of thirty-two bytes';
const OTHER_KEY = 'another secret of thirty-two bytes.';
const REFUSAL = {
  code: -32602,
  message: 'Invalid params: "requestState" is not a valid state of this call',
};
const YES = { 'elicitation-1': accept({ yes: true }) };
const BOX = { name: 'openBox', arguments: { box: 'one' } };

interface Round {
  readonly caller?: string;
  readonly method?: string;
  readonly params?: Json;
}

/** One request, with everything that a client may declare. */
async function send(
  { mcp }: RunningApp,
  { caller = 'ann', method = 'tools/call', params = BOX }: Round = {},
  more: Json = {},
): Promise<Reply> {
  const _meta = { [CAPABILITIES_KEY]: { elicitation: {} } };
  const reply = await modern(mcp, method, { ...params, ...more, _meta }, { 'x-caller': caller });
  traffic.observe(reply.body, '2026-07-28', method);
  return reply;
}

/** The state of a call whose user is asked. */
async function stateOf(app: RunningApp, round?: Round): Promise<string> {
  const { result } = await send(app, round);
  expect(result['resultType']).toBe('input_required');
  return result['requestState'] as string;
}

const retry = (app: RunningApp, requestState: unknown, round?: Round, inputResponses: Json = YES) =>
  send(app, round, { requestState, inputResponses });

/** The questions of a result, by their keys. */
const asked = ({ result }: Reply): Json =>
  Object.fromEntries(
    Object.entries(result['inputRequests'] as Record<string, { params: Json }>).map(([key, { params }]) => [
      key,
      params['message'],
    ]),
  );

/** As the same bytes are given again, whatever is changed of them. */
const changed = (state: string, change: (bytes: Buffer) => void): string => {
  const bytes = Buffer.from(state, 'base64url');
  change(bytes);
  return bytes.toString('base64url');
};

async function withApp(
  options: Parameters<typeof vaultModule>[0],
  adapter: AdapterName,
  use: (app: RunningApp) => Promise<void>,
): Promise<void> {
  const app = await startApp(vaultModule(options), { adapter });
  try {
    await use(app);
  } finally {
    await app.close();
  }
}

afterAll(() => traffic.verify());

beforeEach(() => {
  vault.runs.length = 0;
  vault.members = new Set(['ann']);
  vault.price = 10;
});

it.each([
  [{}, 0],
  [{ legacy: 'stateless' as const }, 1],
  [{ legacy: 'off' as const }, 1],
  [{ legacy: 'stateless' as const, stateKeys: [KEY] }, 0],
])('a server with %j hints %i times that several processes need the same keys', async (options, hints) => {
  const logger = new CapturedLog();
  const app = await startApp(vaultModule(options), { adapter: 'express', logger });
  await app.close();
  expect(logger.with('give all processes the same stateKeys')).toHaveLength(hints);
});

describe.each(ADAPTERS)('the state of a call that asks, on %s', (adapter) => {
  let app: RunningApp;

  beforeAll(async () => {
    app = await startApp(vaultModule({ stateKeys: [KEY] }), { adapter });
  });

  afterAll(() => app.close());

  /** Refused, and nothing of it ran. */
  async function expectRefused(state: unknown, round?: Round): Promise<void> {
    vault.runs.length = 0;
    const { status, error } = await retry(app, state, round);
    expect({ status, error, runs: vault.runs }).toEqual({ status: REFUSED_STATUS, error: REFUSAL, runs: [] });
  }

  it('S-131, S-132: is given with the questions, and is taken with their answers', async () => {
    const first = await send(app);
    expect(first.status).toBe(200);
    expect(first.result).toEqual({
      resultType: 'input_required',
      _meta: first.result['_meta'],
      inputRequests: {
        'elicitation-1': {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Open one?',
            requestedSchema: {
              type: 'object',
              properties: { yes: { type: 'boolean' } },
              required: ['yes'],
            },
          },
        },
      },
      requestState: expect.any(String),
    });
    const { result } = await retry(app, first.result['requestState']);
    expect([result['resultType'], textOf(result)]).toEqual(['complete', 'Open one? true']);
    expect(vault.runs).toEqual(['openBox one', 'openBox one']);
  });

  it('S-134: cannot be read: neither what was answered nor who asked is in it', async () => {
    const bytes = Buffer.from(await stateOf(app), 'base64url').toString('latin1');
    expect(['ann', 'openBox', 'one', 'elicitation'].filter((word) => bytes.includes(word))).toEqual([]);
  });

  it('S-134: is taken as often as it is presented, until its time is over', async () => {
    const state = await stateOf(app);
    const replies = [await retry(app, state), await retry(app, state)];
    expect(replies.map(({ result }) => textOf(result))).toEqual(['Open one? true', 'Open one? true']);
  });

  it('S-136: a client that never comes back leaves nothing behind', async () => {
    await stateOf(app);
    const { result } = await send(app, { params: { name: 'plain' } });
    expect(textOf(result)).toBe('plain');
  });

  it('S-134: is refused with any bit of it flipped', async () => {
    const state = await stateOf(app);
    const bits = Buffer.from(state, 'base64url').length * 8;
    // Every bit of version, key id and nonce, and of the tag; of what is between them a sample.
    for (let bit = 0; bit < bits; bit += bit < 136 || bit >= bits - 128 ? 1 : 29)
      await expectRefused(changed(state, (bytes) => void (bytes[bit >> 3]! ^= 1 << (bit & 7))));
  });

  it('S-134: is refused truncated, extended, in another spelling, and as what is no text', async () => {
    const state = await stateOf(app);
    const whole = Buffer.from(state, 'base64url');
    const others: unknown[] = [
      ...[0, 1, 4, 17, 32, 33, whole.length - 16, whole.length - 1].map((length) =>
        whole.subarray(0, length).toString('base64url'),
      ),
      state.slice(0, -1),
      state.slice(1),
      `${state}A`,
      `${state}AAAA`,
      `${state}=`,
      `${state} `,
      `${state}\n`,
      ` ${state}`,
      state + state,
      'é',
      '\0',
      'null',
      null,
      0,
      true,
      [],
      [state],
      {},
      { toString: state },
    ];
    for (const other of others) await expectRefused(other);
  });

  it('S-134: is refused where it is larger than a state may be', async () => {
    const state = await stateOf(app);
    for (const size of [32 * 1024 + 1, 1024 * 1024]) {
      await expectRefused('A'.repeat(size));
      await expectRefused(state.padEnd(size, 'A'));
    }
  });

  it('S-134, S-140: is refused from another caller, and from nobody', async () => {
    const state = await stateOf(app);
    await expectRefused(state, { caller: 'bob' });
    await expectRefused(state, { caller: '' });
    await expectRefused(await stateOf(app, { caller: '' }));
    const own = await retry(app, state);
    expect(textOf(own.result)).toBe('Open one? true');
  });

  it('S-134: is refused for another tool, other arguments, and what is no tool', async () => {
    const state = await stateOf(app);
    await expectRefused(state, { params: { name: 'shutBox', arguments: { box: 'one' } } });
    await expectRefused(state, { params: { name: 'openBox', arguments: { box: 'two' } } });
    await expectRefused(state, { method: 'prompts/get', params: BOX });
    await expectRefused(state, { method: 'resources/read', params: { uri: 'box://one' } });
    await expectRefused(state, { params: { name: 'plain' } });
  });

  it('S-134: is of its arguments, in whatever order they come', async () => {
    const state = await stateOf(app, { params: { arguments: { box: 'one' }, name: 'openBox' } });
    expect(textOf((await retry(app, state)).result)).toBe('Open one? true');
  });

  it('S-134: is refused after its time', async () => {
    await withApp({ stateKeys: [KEY], limits: { stateTime: 1 } }, adapter, async (hasty) => {
      const state = await stateOf(hasty);
      const now = Date.now();
      while (Date.now() <= now + 1) await setImmediate();
      vault.runs.length = 0;
      const { error } = await retry(hasty, state);
      expect([error, vault.runs]).toEqual([REFUSAL, []]);
    });
  });

  it('S-134: is taken by another instance with the same key, and by one that only knows it', async () => {
    const state = await stateOf(app);
    for (const stateKeys of [[KEY], [OTHER_KEY, KEY]])
      await withApp({ stateKeys }, adapter, async (other) => {
        expect(textOf((await retry(other, state)).result)).toBe('Open one? true');
      });
  });

  it('S-134: is refused by an instance with another key, and by one with none', async () => {
    const state = await stateOf(app);
    vault.runs.length = 0;
    for (const options of [{ stateKeys: [OTHER_KEY] }, {}])
      await withApp(options, adapter, async (other) => {
        expect((await retry(other, state)).error).toEqual(REFUSAL);
      });
    expect(vault.runs).toEqual([]);
  });

  it('asks no more often than it may', async () => {
    await withApp({ limits: { rounds: 2 } }, adapter, async (terse) => {
      const round = { params: { name: 'countTo' } };
      const first = await send(terse, round);
      const second = await retry(terse, first.result['requestState'], round);
      const third = await retry(terse, second.result['requestState'], round, {
        'elicitation-2': accept({ yes: true }),
      });
      expect([asked(first), asked(second)]).toEqual([{ 'elicitation-1': '1?' }, { 'elicitation-2': '2?' }]);
      expect(third.result).toMatchObject({ isError: true, resultType: 'complete' });
      expect(textOf(third.result)).toBe(
        'The client was asked 2 times for this call, which is as often as it may be',
      );
    });
  });

  it('does not ask where its state would be larger than it may be', async () => {
    const { result } = await send(app, { params: { name: 'keepMuch' } });
    expect(result).toMatchObject({ isError: true, resultType: 'complete' });
    expect(textOf(result)).toBe('What this call keeps while it asks is larger than 32768 bytes');
  });

  it('S-140: a role that is taken away between two rounds refuses the retry', async () => {
    const round = { params: { name: 'forMembers', arguments: { box: 'one' } } };
    const state = await stateOf(app, round);
    vault.members.clear();
    vault.runs.length = 0;
    const { result, body } = await retry(app, state, round);
    expect(result ?? body).toMatchObject({ isError: true, resultType: 'complete' });
    expect([textOf(result), vault.runs]).toEqual(['Forbidden resource', []]);
  });

  it('S-134: a question that changed is asked again, and the old yes says nothing to it', async () => {
    const round = { params: { name: 'buyBox' } };
    const state = await stateOf(app, round);
    vault.price = 1_000;
    const second = await retry(app, state, round);
    expect(asked(second)).toEqual({ 'elicitation-1': 'Pay 1000?' });
    const third = await retry(app, second.result['requestState'], round);
    expect(textOf(third.result)).toBe('Pay 1000? true');
  });

  it('S-134: an answer of an earlier round says nothing to a question that changed since', async () => {
    const round = { params: { name: 'burnBox' } };
    const first = await stateOf(app, round);
    const second = await retry(app, first, round);
    expect(asked(second)).toEqual({ 'elicitation-2': 'Burn it?' });
    const buyer = { params: { name: 'buyBox' } };
    const refused = await retry(app, second.result['requestState'], buyer);
    expect(refused.error).toEqual(REFUSAL);
  });

  it('S-134: a yes that comes before its question was asked does not answer it', async () => {
    const round = { params: { name: 'burnBox' } };
    const state = await stateOf(app, round);
    const early = { ...YES, 'elicitation-2': accept({ yes: true }) };
    const second = await retry(app, state, round, early);
    expect(asked(second)).toEqual({ 'elicitation-2': 'Burn it?' });
    const again = await retry(app, second.result['requestState'], round, YES);
    expect(asked(again)).toEqual({ 'elicitation-2': 'Burn it?' });
    const third = await retry(app, second.result['requestState'], round, early);
    expect(textOf(third.result)).toBe('Take the box out? true, Burn it? true');
  });
});

/** The status of an error of a call that was understood. */
const REFUSED_STATUS = 200;

describe('two thousand states that nobody sealed', () => {
  /** The same ones each time: a generator of Park and Miller. */
  const random = ((seed: number) => (below: number) => {
    seed = (seed * 48_271) % 0x7fff_ffff;
    return seed % below;
  })(20_260_728);

  const MUTATIONS: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => bytes.fill(bytes[random(bytes.length)]! ^ (1 + random(255)), random(bytes.length)),
    (bytes) => ((bytes[random(bytes.length)]! ^= 1 + random(255)), bytes),
    (bytes) => bytes.subarray(0, random(bytes.length)),
    (bytes) => bytes.subarray(1 + random(bytes.length - 1)),
    (bytes) => Buffer.concat([bytes, Buffer.alloc(1 + random(40), random(256))]),
    (bytes) => {
      const at = random(bytes.length);
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(random(256)), bytes.subarray(at)]);
    },
    (bytes) => Buffer.from(Array.from(bytes, () => random(256))),
  ];

  it('S-134: are refused with one and the same text, and nothing runs', async () => {
    await withApp({ stateKeys: [KEY] }, 'express', async (app) => {
      const state = await stateOf(app);
      const whole = Buffer.from(state, 'base64url');
      vault.runs.length = 0;
      const texts = new Set<string>();
      for (let batch = 0; batch < 40; batch++) {
        const replies = await Promise.all(
          Array.from({ length: 50 }, (_, index) => {
            const bytes = MUTATIONS[index % MUTATIONS.length]!(Buffer.from(whole));
            return retry(app, bytes.equals(whole) ? 'A' : bytes.toString('base64url'));
          }),
        );
        replies.forEach(({ error }) => texts.add(JSON.stringify(error)));
      }
      expect([...texts]).toEqual([JSON.stringify(REFUSAL)]);
      expect(vault.runs).toEqual([]);
      expect(textOf((await retry(app, state)).result)).toBe('Open one? true');
    });
  });
});

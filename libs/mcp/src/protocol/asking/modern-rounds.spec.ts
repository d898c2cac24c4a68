import { jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../json-rpc.js';
import { McpError } from '../mcp-error.js';
import type { McpRevision } from '../versions.js';
import { McpSuspension, ModernRounds, type RoundLimits, type RoundVerdict } from './modern-rounds.js';
import { actionOf, AnswerFault, type Question } from './question.js';
import { rootsQuestion, urlQuestion } from './questions.js';
import { samplingQuestion } from './sampling.js';
import { StateSealer } from './state-sealer.js';

const REVISION: McpRevision = '2026-07-28';
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const LIMITS: RoundLimits = { stateSize: 32_768, rounds: 8 };
const BINDING = { caller: 'ann', method: 'tools/call', name: 'book', args: { day: 'mon' } };
const sealer = new StateSealer(['a secret of at least thirty-two bytes'], 60_000);

/** A form of one text, as the schema layer makes them. */
function form(message: string, more: Partial<Question> = {}): Question {
  return {
    kind: 'elicitation',
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
    needs: { elicitation: { form: {} } },
    read: (answer) => {
      const action = actionOf(answer);
      if (action !== 'accept') return { action };
      if (typeof answer['content'] !== 'object') throw new AnswerFault('accepts without "content"');
      return { action, content: answer['content'] };
    },
    ...more,
  };
}

const accept = (value: unknown) => ({ action: 'accept', content: { value } });
const tell = (rounds: ModernRounds, message: string, key?: string, more?: Partial<Question>) =>
  rounds.ask('elicitation', key, form(message, more));

const giveUp = jest.fn();

interface Round {
  readonly params?: JsonObject;
  readonly capabilities?: JsonObject;
  readonly limits?: Partial<RoundLimits>;
  readonly caller?: string;
}

function open({ params, capabilities = ALL, limits, caller = 'ann' }: Round = {}): ModernRounds {
  const binding = () => ({ ...BINDING, caller });
  const rounds = new ModernRounds(params, capabilities, sealer, { ...LIMITS, ...limits }, binding, giveUp);
  rounds.open();
  return rounds;
}

type Handler<T> = (rounds: ModernRounds) => Promise<T>;

/** One request, as the pipeline runs it: what its handler gave or threw, and how the call comes out. */
async function run<T>(handler: Handler<T>, round: Round = {}) {
  const rounds = open(round);
  let value: unknown;
  let thrown: unknown;
  try {
    await rounds.enter();
    value = await handler(rounds);
  } catch (error) {
    value = thrown = error;
  }
  const verdict = rounds.isUndecided ? await rounds.verdict(thrown) : undefined;
  return { rounds, value, verdict };
}

type Asked = Extract<RoundVerdict, { requests: JsonObject }>;

function asked(verdict: RoundVerdict | undefined): Asked {
  if (verdict && 'requests' in verdict) return verdict;
  throw new Error(`Nothing was asked: ${JSON.stringify(verdict)}`);
}

const keysOf = (verdict: RoundVerdict | undefined) => Object.keys(asked(verdict).requests);

/** The retry of a call: with the state it was given, and answers. */
const retry = (verdict: RoundVerdict | undefined, inputResponses?: JsonObject): { params: JsonObject } => ({
  params: { requestState: asked(verdict).state, ...(inputResponses ? { inputResponses } : {}) },
});

function errorOf(verdict: RoundVerdict | undefined): McpError {
  if (verdict && 'error' in verdict) return verdict.error;
  throw new Error(`No error: ${JSON.stringify(verdict)}`);
}

const INVALID_STATE = 'Invalid params: "requestState" is not a valid state of this call';

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', note));
afterAll(() => process.off('unhandledRejection', note));
afterEach(async () => {
  await nextTurn();
  await nextTurn();
  if (unhandled.length > 0) throw new Error(`Unhandled: ${unhandled.splice(0).join(', ')}`);
});

describe('the first round', () => {
  it('S-131, S-132: asks what the client must answer, with a state', async () => {
    const { value, verdict, rounds } = await run((call) => tell(call, 'Which?', 'seat'));
    expect(value).toBeInstanceOf(McpSuspension);
    expect(rounds.isSuspended).toBe(true);
    expect(asked(verdict).requests).toEqual({
      seat: { method: 'elicitation/create', params: form('Which?').params },
    });
    expect(asked(verdict).state).toMatch(/^[\w-]{40,}$/);
  });

  it('S-132: asks all questions of one turn of the event loop, each by its default key', async () => {
    const { verdict } = await run((call) =>
      Promise.all([
        tell(call, 'A'),
        call.ask('elicitation', undefined, urlQuestion('B', 'https://example.com/', REVISION)),
        call.ask('roots', undefined, rootsQuestion()),
        call.ask('sampling', undefined, samplingQuestion({ messages: [], maxTokens: 1 }, REVISION)),
        tell(call, 'C', 'mine'),
        Promise.resolve().then(() => tell(call, 'D')),
      ]),
    );
    expect(keysOf(verdict)).toEqual([
      'elicitation-1',
      'elicitation-2',
      'roots-1',
      'sampling-1',
      'mine',
      'elicitation-4',
    ]);
    expect(asked(verdict).requests['roots-1']).toEqual({ method: 'roots/list' });
  });

  it('waits for questions that take turns to prepare, in whatever order they are ready', async () => {
    const later = async (turns: number, message: string) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      return form(message);
    };
    const { verdict } = await run((call) =>
      Promise.all([3, 0, 5, 1].map((turns) => call.ask('elicitation', undefined, later(turns, `${turns}`)))),
    );
    expect(asked(verdict).requests).toEqual({
      'elicitation-1': expect.objectContaining({ params: form('3').params }) as unknown,
      'elicitation-2': expect.objectContaining({ params: form('0').params }) as unknown,
      'elicitation-3': expect.objectContaining({ params: form('5').params }) as unknown,
      'elicitation-4': expect.objectContaining({ params: form('1').params }) as unknown,
    });
  });

  it('is not for what a handler asks in a later turn', async () => {
    const { verdict, value } = await run((call) =>
      Promise.allSettled([
        tell(call, 'A'),
        nextTurn()
          .then(nextTurn)
          .then(() => tell(call, 'B')),
      ]),
    );
    expect(keysOf(verdict)).toEqual(['elicitation-1']);
    expect(value).toEqual([
      { status: 'rejected', reason: expect.any(McpSuspension) as unknown },
      { status: 'rejected', reason: expect.any(McpSuspension) as unknown },
    ]);
  });

  it('fails with the fault of a question that cannot be put, and goes on for who catches it', async () => {
    const bad = () => Promise.reject(new TypeError('no form'));
    const alone = await run((call) => call.ask('elicitation', undefined, bad()));
    expect([alone.value, alone.verdict]).toEqual([new TypeError('no form'), undefined]);
    const caught = await run(async (call) => {
      await call.ask('elicitation', undefined, bad()).catch(() => undefined);
      return tell(call, 'B');
    });
    expect(keysOf(caught.verdict)).toEqual(['elicitation-2']);
  });

  it('takes answers without a state, by their keys', async () => {
    const params = { inputResponses: { 'elicitation-1': accept(1), other: accept(2), constructor: 5 } };
    const { value, verdict } = await run((call) => tell(call, 'A'), { params });
    expect([value, verdict]).toEqual([accept(1), undefined]);
  });

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'S-132: asks by the key %s as by any other',
    async (key) => {
      const handler: Handler<unknown> = (call) => tell(call, 'A', key);
      for (const params of [undefined, { inputResponses: {} }, JSON.parse('{"inputResponses":{"a":{}}}')]) {
        const { verdict } = await run(handler, { params: params as JsonObject });
        expect(keysOf(verdict)).toEqual([key]);
        const inputResponses = JSON.parse(
          `{${JSON.stringify(key)}:${JSON.stringify(accept(1))}}`,
        ) as JsonObject;
        expect((await run(handler, retry(verdict, {}))).verdict).toHaveProperty('requests');
        expect((await run(handler, retry(verdict, inputResponses))).value).toEqual(accept(1));
      }
    },
  );
});

describe('the rounds after', () => {
  const two: Handler<unknown> = async (call) => [await tell(call, 'A'), await tell(call, 'B')];

  it('give one answer after the other, and carry those of before', async () => {
    const first = await run(two);
    expect(keysOf(first.verdict)).toEqual(['elicitation-1']);
    const second = await run(two, retry(first.verdict, { 'elicitation-1': accept(1) }));
    expect(keysOf(second.verdict)).toEqual(['elicitation-2']);
    const third = await run(two, retry(second.verdict, { 'elicitation-2': accept(2) }));
    expect([third.value, third.verdict]).toEqual([[accept(1), accept(2)], undefined]);
    expect(third.rounds.isSuspended).toBe(false);
  });

  it('S-144: give declining and cancelling as answers', async () => {
    const first = await run((call) => Promise.all([tell(call, 'A'), tell(call, 'B')]));
    const answers = {
      'elicitation-1': { action: 'decline' },
      'elicitation-2': { action: 'cancel', content: 5 },
    };
    const { value } = await run(
      (call) => Promise.all([tell(call, 'A'), tell(call, 'B')]),
      retry(first.verdict, answers),
    );
    expect(value).toEqual([{ action: 'decline' }, { action: 'cancel' }]);
  });

  it('ask once more what was not answered, and keep what was', async () => {
    const both: Handler<unknown> = (call) => Promise.all([tell(call, 'A', 'a'), tell(call, 'B', 'b')]);
    const first = await run(both);
    const second = await run(both, retry(first.verdict, { b: accept(2), unknown: null, c: 'x' }));
    expect(keysOf(second.verdict)).toEqual(['a']);
    const again = await run(both, retry(second.verdict));
    expect(keysOf(again.verdict)).toEqual(['a']);
    const last = await run(both, retry(again.verdict, { a: accept(1) }));
    expect(last.value).toEqual([accept(1), accept(2)]);
  });

  it('keep an answer that takes turns to be validated, though another question is open', async () => {
    const slow: Partial<Question> = {
      read: async (answer) => {
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        return answer;
      },
    };
    const both: Handler<unknown> = (call) => Promise.all([tell(call, 'A', 'a'), tell(call, 'B', 'b', slow)]);
    const first = await run(both);
    const second = await run(both, retry(first.verdict, { b: accept(2) }));
    expect(keysOf(second.verdict)).toEqual(['a']);
    const last = await run(both, retry(second.verdict, { a: accept(1) }));
    expect(last.value).toEqual([accept(1), accept(2)]);
  });

  it('drop the answer to a question that changed, and ask it again', async () => {
    const first = await run((call) => tell(call, 'For 5 EUR?', 'pay'));
    const changed: Handler<unknown> = (call) => tell(call, 'For 500 EUR?', 'pay');
    const second = await run(changed, retry(first.verdict, { pay: accept(true) }));
    expect(asked(second.verdict).requests['pay']).toMatchObject({ params: { message: 'For 500 EUR?' } });
    const third = await run(changed, retry(second.verdict, { pay: accept(true) }));
    expect(third.value).toEqual(accept(true));
  });

  it('drop an answer of the state as well, where its question changed later', async () => {
    const first = await run(two);
    const second = await run(two, retry(first.verdict, { 'elicitation-1': accept(1) }));
    const changed: Handler<unknown> = (call) => tell(call, 'A, really?');
    const third = await run(changed, retry(second.verdict, { 'elicitation-1': accept(1) }));
    expect(keysOf(third.verdict)).toEqual(['elicitation-1']);
  });

  it('take no answer to what was not asked in the round before', async () => {
    const first = await run(two);
    const answers = { 'elicitation-1': accept(1), 'elicitation-2': accept(2) };
    const second = await run(two, retry(first.verdict, answers));
    expect(keysOf(second.verdict)).toEqual(['elicitation-2']);
  });

  it('hold an answer of the state to its question again', async () => {
    const first = await run(two);
    const second = await run(two, retry(first.verdict, { 'elicitation-1': accept(1) }));
    const strict: Partial<Question> = {
      read: () => {
        throw new AnswerFault('is too old');
      },
    };
    const third = await run((call) => tell(call, 'A', undefined, strict), retry(second.verdict));
    expect(errorOf(third.verdict).message).toBe('Invalid params: the answer "elicitation-1" is too old');
  });
});

describe('what is wrong', () => {
  const one: Handler<unknown> = (call) => tell(call, 'A', 'a');

  it.each<[unknown, string]>([
    [null, 'must be an object'],
    ['yes', 'must be an object'],
    [[], 'must be an object'],
    [{}, 'has no "action" of accept, decline or cancel'],
    [{ action: 'yes' }, 'has no "action" of accept, decline or cancel'],
    [{ action: 'accept' }, 'accepts without "content"'],
  ])('is the answer %j: it fails the call and names its key', async (answer, why) => {
    const first = await run(one);
    for (const round of [
      retry(first.verdict, { a: answer }),
      { params: { inputResponses: { a: answer } } },
    ]) {
      const { value, verdict, rounds } = await run(one, round);
      expect(errorOf(verdict)).toMatchObject({
        code: -32602,
        message: `Invalid params: the answer "a" ${why}`,
      });
      expect(value).toBe(errorOf(verdict));
      await expect(rounds.enter()).rejects.toThrow(errorOf(verdict));
    }
  });

  it.each([null, [], 'a', 5, true])('are answers of %j', async (inputResponses) => {
    const { verdict } = await run(one, { params: { inputResponses } });
    expect(errorOf(verdict)).toMatchObject({
      code: -32602,
      message: 'Invalid params: "inputResponses" must be an object of answers',
    });
  });

  it.each([null, 5, {}, [], '', 'x', 'A'.repeat(40_000)])(
    'S-134: is the state %j, whether or not anything is asked',
    async (requestState) => {
      for (const handler of [one, () => Promise.resolve('done')]) {
        const { verdict } = await run(handler, {
          params: { requestState, inputResponses: { a: accept(1) } },
        });
        expect(errorOf(verdict)).toMatchObject({ code: -32602, message: INVALID_STATE });
      }
    },
  );

  it('S-134, S-140: is the state of another caller, and a question never follows', async () => {
    const first = await run(one);
    const { verdict, rounds } = await run(one, { ...retry(first.verdict, { a: accept(1) }), caller: 'bob' });
    expect(errorOf(verdict)).toMatchObject({ code: -32602, message: INVALID_STATE });
    await expect(rounds.enter()).rejects.toThrow(INVALID_STATE);
    await expect(tell(rounds, 'A')).rejects.toThrow(INVALID_STATE);
    await expect(rounds.once('x', () => 1)).rejects.toThrow(INVALID_STATE);
  });

  it.each<[string, JsonObject, Question, JsonObject]>([
    ['no form', {}, form('A'), { elicitation: { form: {} } }],
    ['no form, but url', { elicitation: { url: {} } }, form('A'), { elicitation: { form: {} } }],
    [
      'no url',
      { elicitation: {} },
      urlQuestion('A', 'https://a.example', REVISION),
      { elicitation: { url: {} } },
    ],
    ['no roots', { sampling: {} }, rootsQuestion(), { roots: {} }],
    ['no sampling', {}, samplingQuestion({ messages: [], maxTokens: 1 }, REVISION), { sampling: {} }],
    [
      'no tools in sampling',
      { sampling: {} },
      samplingQuestion({ messages: [], maxTokens: 1, tools: [] }, REVISION),
      { sampling: { tools: {} } },
    ],
  ])(
    'S-133, S-145: is a client with %s: it is told exactly that',
    async (_, capabilities, question, missing) => {
      const { value, verdict } = await run((call) => call.ask(question.kind, undefined, question), {
        capabilities,
      });
      expect(errorOf(verdict)).toMatchObject({ code: -32021, data: { requiredCapabilities: missing } });
      expect(value).toMatchObject({ name: 'McpAskError', fault: 'unsupported' });
    },
  );

  it('S-133: is a client without what several questions need: it is told all of it at once', async () => {
    const { verdict } = await run(
      (call) =>
        Promise.all([
          call.ask('roots', undefined, rootsQuestion()),
          tell(call, 'A'),
          call.ask(
            'sampling',
            undefined,
            samplingQuestion({ messages: [], maxTokens: 1, tools: [] }, REVISION),
          ),
          call.ask('elicitation', undefined, urlQuestion('B', 'https://a.example', REVISION)),
        ]),
      { capabilities: { sampling: {} } },
    );
    expect(errorOf(verdict)).toMatchObject({
      code: -32021,
      data: {
        requiredCapabilities: { roots: {}, elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
      },
    });
  });

  it('is no client that lacks what the handler can do without', async () => {
    const roots = (call: ModernRounds) => call.ask('roots', undefined, rootsQuestion()).catch(() => 'none');
    const capabilities = { elicitation: {} };
    const without = await run(roots, { capabilities });
    expect([without.value, without.verdict]).toEqual(['none', undefined]);
    const both = await run((call) => Promise.all([roots(call), tell(call, 'A')]), { capabilities });
    expect(keysOf(both.verdict)).toEqual(['elicitation-1']);
    const other = new RangeError('other');
    const failed = await run((call) => roots(call).then(() => Promise.reject(other)), { capabilities });
    expect([failed.value, failed.verdict]).toEqual([other, undefined]);
  });

  it('is a client that is asked again and again for what it lacks', async () => {
    giveUp.mockClear();
    const rounds = open({ capabilities: {} });
    void rounds.enter();
    let count = 0;
    const insist = async () => {
      for (;;) {
        await tell(rounds, 'A', `${count}`).catch(() => count++);
        if (giveUp.mock.calls.length > 0) return;
      }
    };
    void insist();
    while (giveUp.mock.calls.length === 0) await nextTurn();
    const [why] = giveUp.mock.calls[0]!;
    expect([count, errorOf(await rounds.verdict(why)).code]).toEqual([110, -32021]);
  });

  it('wins over what is still open, whatever came first and whatever the handler makes of it', async () => {
    const answers = { params: { inputResponses: { b: { action: 'yes' } } } };
    const slow: Partial<Question> = {
      read: async () => {
        await nextTurn();
        await nextTurn();
        throw new AnswerFault('is late');
      },
    };
    const open = await run(
      (call) => Promise.allSettled([tell(call, 'A', 'a'), tell(call, 'B', 'b', slow)]),
      answers,
    );
    expect(errorOf(open.verdict).message).toBe('Invalid params: the answer "b" is late');
    const told = await run(
      (call) => Promise.all([tell(call, 'A', 'a'), tell(call, 'B', 'b', slow)]),
      answers,
    );
    expect(told.value).toBe(errorOf(told.verdict));
    const lacking = await run(
      (call) => Promise.all([tell(call, 'A'), call.ask('roots', undefined, rootsQuestion())]),
      { capabilities: { elicitation: {} } },
    );
    expect(errorOf(lacking.verdict)).toMatchObject({ code: -32021 });
    const swallowed = await run((call) => tell(call, 'B', 'b').catch(() => 'done'), answers);
    expect(swallowed.value).toBe('done');
    expect(errorOf(swallowed.verdict).code).toBe(-32602);
  });

  it('is not what else fails while an answer is read: that is thrown to the handler', async () => {
    const read = () => {
      throw new RangeError('database');
    };
    const params = { inputResponses: { a: accept(1) } };
    const { value, verdict } = await run((call) => tell(call, 'A', 'a', { read }), { params });
    expect([value, verdict]).toEqual([new RangeError('database'), undefined]);
  });
});

describe('keys', () => {
  it('are each used once by a handler', async () => {
    const { value } = await run((call) => Promise.allSettled([tell(call, 'A', 'a'), tell(call, 'B', 'a')]));
    expect((value as PromiseSettledResult<unknown>[])[1]).toEqual({
      status: 'rejected',
      reason: new TypeError('Two questions of one call have the key "a": give each its own'),
    });
  });

  it.each(['', 'x'.repeat(129), 5])('are not %p', async (key) => {
    const { value, verdict } = await run((call) => tell(call, 'A', key as string));
    expect(value).toEqual(new TypeError('The key of a question must be a text of 1 to 128 characters'));
    expect(verdict).toBeUndefined();
  });

  it('are as long as 128 characters', async () => {
    const key = 'x'.repeat(128);
    expect(keysOf((await run((call) => tell(call, 'A', key))).verdict)).toEqual([key]);
  });

  it('count from the start for a handler that is run again with its answers', async () => {
    const rounds = open({ params: { inputResponses: { 'elicitation-1': accept(1) } } });
    for (let run = 0; run < 2; run++) {
      void rounds.enter();
      expect(await tell(rounds, 'A')).toEqual(accept(1));
    }
  });
});

describe('a suspended call', () => {
  it('is not entered again, asks nothing, and does nothing once', async () => {
    const { rounds } = await run((call) => tell(call, 'A'));
    await expect(rounds.enter()).rejects.toThrow(McpSuspension);
    await expect(tell(rounds, 'B')).rejects.toThrow(McpSuspension);
    let count = 0;
    await expect(rounds.once('x', () => ++count)).rejects.toThrow(McpSuspension);
    expect(count).toBe(0);
    expect(keysOf(await rounds.verdict())).toEqual(['elicitation-1']);
  });

  it('is one from the turn on in which it asked, for a handler that is run again at once', async () => {
    const rounds = open();
    void rounds.enter();
    const asking = tell(rounds, 'A');
    await expect(asking).rejects.toThrow(McpSuspension);
    await expect(rounds.enter()).rejects.toThrow(McpSuspension);
  });

  it('is not entered again before it is known whether its question is answered', async () => {
    const rounds = open();
    void rounds.enter();
    void tell(rounds, 'A');
    await expect(rounds.enter()).rejects.toThrow(McpSuspension);
    const answered = open({ params: { inputResponses: { a: accept(1) } } });
    void answered.enter();
    void tell(answered, 'A', 'a');
    await answered.enter();
    expect(await tell(answered, 'A', 'a')).toEqual(accept(1));
  });

  it('is let go of by whoever runs it, at the latest after a second', async () => {
    giveUp.mockClear();
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const rounds = open();
      void rounds.enter();
      await expect(tell(rounds, 'A')).rejects.toThrow(McpSuspension);
      jest.advanceTimersByTime(999);
      expect(giveUp).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect(giveUp).toHaveBeenCalledWith(new McpSuspension());
      giveUp.mockClear();
      const busy = open();
      void busy.enter();
      let finish: (value: string) => void = () => undefined;
      void busy.once('work', () => new Promise((resolve) => (finish = resolve)));
      await expect(tell(busy, 'A')).rejects.toThrow(McpSuspension);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(giveUp).not.toHaveBeenCalled();
      finish('done');
      await jest.advanceTimersByTimeAsync(0);
      expect(giveUp).toHaveBeenCalledTimes(1);
      const decided = open();
      void decided.enter();
      await expect(tell(decided, 'A')).rejects.toThrow(McpSuspension);
      await decided.verdict();
      const unheeded = open();
      void unheeded.enter();
      void tell(unheeded, 'A');
      await unheeded.verdict();
      await nextTurn();
      await nextTurn();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each<[string, Handler<unknown>]>([
    ['catches', (call) => tell(call, 'A').catch(() => 'done')],
    ['throws another error', (call) => tell(call, 'A').catch(() => Promise.reject(new Error('no')))],
    [
      'does not wait',
      (call) => {
        void tell(call, 'A');
        return Promise.resolve('done');
      },
    ],
    [
      'does not wait for a form that takes turns',
      (call) => {
        void call.ask(
          'elicitation',
          undefined,
          nextTurn()
            .then(nextTurn)
            .then(() => form('A')),
        );
        return Promise.resolve('done');
      },
    ],
  ])('asks, though its handler %s', async (_, handler) => {
    const { verdict, rounds } = await run(handler);
    expect(keysOf(verdict)).toEqual(['elicitation-1']);
    expect(rounds.isSuspended).toBe(true);
  });

  it('leaves nothing unhandled where nobody waits for what fails', async () => {
    const { rounds, verdict } = await run(async (call) => {
      void tell(call, 'A', 'a');
      void tell(call, 'B', 'a');
      void call.ask('elicitation', 'a', Promise.reject(new TypeError('no form')));
      void call.once('x', () => Promise.reject(new Error('no')));
      await nextTurn();
      await nextTurn();
      void call.ask('elicitation', 'c', Promise.reject(new TypeError('no form')));
      void call.once('y', () => 1);
      return 'done';
    });
    void tell(rounds, 'D');
    expect(keysOf(verdict)).toEqual(['a']);
  });

  it('is none where the handler waits for nothing and nothing comes of it', async () => {
    const { value, verdict, rounds } = await run((call) => {
      void call.ask(
        'elicitation',
        undefined,
        nextTurn().then(() => Promise.reject(new TypeError('no form'))),
      );
      return Promise.resolve('done');
    });
    expect([value, verdict, rounds.isSuspended]).toEqual(['done', undefined, false]);
  });
});

describe('what a handler changes in what it was given', () => {
  it('is not what its client said, nor what was done once', async () => {
    const given: unknown[] = [];
    const handler: Handler<unknown> = async (call) => {
      const order = await call.once('order', () => ({ items: ['base'] }));
      order.items.push('extra');
      const answer = (await tell(call, 'A', 'a')) as { content: number[] };
      given.push(structuredClone(order), structuredClone(answer));
      answer.content.push(2);
      given.push(await call.once('order', () => 'never'));
      return tell(call, 'B', 'b');
    };
    const first = await run(handler);
    const second = await run(handler, retry(first.verdict, { a: { action: 'accept', content: [1] } }));
    await run(handler, retry(second.verdict, { b: accept(3) }));
    const once = [{ items: ['base', 'extra'] }, { action: 'accept', content: [1] }, { items: ['base'] }];
    expect(given).toEqual([...once, ...once]);
  });
});

describe('once', () => {
  it.each(['', 5, undefined, Symbol('x')])('has no key %p', async (key) => {
    await expect(open().once(key as string, () => 1)).rejects.toThrow(
      'The key of ctx.once must be a text of 1 to 128 characters',
    );
  });

  it('does its work once for all rounds, and gives JSON from the first on', async () => {
    let count = 0;
    const at = new Date(0);
    const handler: Handler<unknown> = async (call) => {
      const value = await call.once('order', () => ({ id: ++count, at, none: undefined }));
      return [value, await tell(call, 'A'), await tell(call, 'B')];
    };
    const first = await run(handler);
    const second = await run(handler, retry(first.verdict, { 'elicitation-1': accept(1) }));
    const { value } = await run(handler, retry(second.verdict, { 'elicitation-2': accept(2) }));
    expect(value).toEqual([{ id: 1, at: '1970-01-01T00:00:00.000Z' }, accept(1), accept(2)]);
    expect(count).toBe(1);
    await run(handler);
    expect(count).toBe(2);
  });

  it.each([
    ['undefined', undefined, null],
    ['null', null, null],
    ['0', 0, 0],
    ['a list', [1, [2]], [1, [2]]],
  ])('keeps %s', async (_, given, kept) => {
    let count = 0;
    const handler: Handler<unknown> = async (call) => {
      const value = await call.once('__proto__', () => {
        count++;
        return given;
      });
      await tell(call, 'A');
      return value;
    };
    const first = await run(handler);
    const { value } = await run(handler, retry(first.verdict, { 'elicitation-1': accept(1) }));
    expect([value, count]).toEqual([kept, 1]);
  });

  it('does work again that failed', async () => {
    let count = 0;
    const rounds = open();
    void rounds.enter();
    const work = () => {
      if (++count === 1) throw new Error('no');
      return count === 2 ? Promise.reject(new Error('later')) : count;
    };
    await expect(rounds.once('x', work)).rejects.toThrow('no');
    await expect(rounds.once('x', work)).rejects.toThrow('later');
    expect(await rounds.once('x', work)).toBe(3);
    expect(await rounds.once('x', work)).toBe(3);
  });

  it('does no work again whose value is no JSON, and says so each time', async () => {
    const work = jest.fn(() => 5n);
    const rounds = open();
    for (let turn = 0; turn < 2; turn++)
      await expect(rounds.once('x', work)).rejects.toThrow(
        'The value of ctx.once("x") is nothing that JSON can carry',
      );
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('does it once also for those who ask at the same time', async () => {
    let count = 0;
    const rounds = open();
    void rounds.enter();
    const work = () => nextTurn().then(() => ++count);
    expect(
      await Promise.all([rounds.once('x', work), rounds.once('x', work), rounds.once('y', work)]),
    ).toEqual([1, 1, 2]);
  });

  it('is waited for before the state is sealed, where it began in time', async () => {
    let count = 0;
    const handler: Handler<unknown> = (call) =>
      Promise.all([
        call.once('slow', async () => {
          for (let turn = 0; turn < 10; turn++) await nextTurn();
          return ++count;
        }),
        tell(call, 'A'),
      ]);
    const first = await run(handler);
    expect(count).toBe(1);
    const { value } = await run(handler, retry(first.verdict, { 'elicitation-1': accept(1) }));
    expect([value, count]).toEqual([[1, accept(1)], 1]);
  });
});

describe('limits', () => {
  const numbered =
    (count: number): Handler<unknown> =>
    async (call) => {
      for (let number = 1; number <= count; number++) await tell(call, `${number}`);
      return 'done';
    };

  it('let a call ask so often and not once more', async () => {
    const limits = { rounds: 3 };
    let round: Round = { limits };
    for (let number = 1; number <= 3; number++) {
      const { verdict } = await run(numbered(4), round);
      expect(keysOf(verdict)).toEqual([`elicitation-${number}`]);
      round = { ...retry(verdict, { [`elicitation-${number}`]: accept(number) }), limits };
    }
    expect((await run(numbered(3), round)).value).toBe('done');
    expect((await run(numbered(4), round)).verdict).toEqual({
      why: 'The client was asked 3 times for this call, which is as often as it may be',
    });
  });

  it('count a round that brought no answer', async () => {
    const limits = { rounds: 2 };
    const first = await run(numbered(1), { limits });
    const second = await run(numbered(1), { ...retry(first.verdict), limits });
    expect((await run(numbered(1), { ...retry(second.verdict), limits })).verdict).toHaveProperty('why');
  });

  it('let a state be so large and not larger', async () => {
    const kept: Handler<unknown> = async (call) => {
      await call.once('x', () => 'x'.repeat(500));
      return tell(call, 'A');
    };
    const { length } = asked((await run(kept)).verdict).state;
    const fits = await run(kept, { limits: { stateSize: length } });
    expect(asked(fits.verdict).state).toHaveLength(length);
    expect((await run(kept, { limits: { stateSize: length - 1 } })).verdict).toEqual({
      why: `What this call keeps while it asks is larger than ${length - 1} bytes`,
    });
    const answers = retry(fits.verdict, { 'elicitation-1': accept(1) });
    expect((await run(kept, { ...answers, limits: { stateSize: length } })).value).toEqual(accept(1));
    expect(errorOf((await run(kept, { ...answers, limits: { stateSize: length - 1 } })).verdict).code).toBe(
      -32602,
    );
  });
});

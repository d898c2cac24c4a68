import { jest } from '@jest/globals';
import type { CallStream } from '../call-origin.js';
import { CallLifetime } from '../call-lifetime.js';
import type { JsonObject, ResponseMessage } from '../json-rpc.js';
import type { LegacyPeer } from '../legacy/legacy-peer.js';
import { ClientRequests } from '../legacy/client-requests.js';
import { parseMessage } from '../message-parser.js';
import { McpAskError } from './ask-error.js';
import { LegacyQuestions, WaitingRoom, type AskedClient } from './legacy-questions.js';
import type { Question } from './question.js';
import { formParams, rootsQuestion, urlQuestion } from './questions.js';
import { samplingQuestion } from './sampling.js';

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

interface Sent {
  readonly id?: string;
  readonly method: string;
  readonly params?: JsonObject;
}

function answerOf(id: string | undefined, outcome: JsonObject): ResponseMessage {
  const text = JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
  const message = parseMessage(Buffer.from(text), { depth: 64, tokens: 1000 });
  if (message.kind !== 'response') throw new Error(`${text} is a ${message.kind}`);
  return message;
}

const giveUp = jest.fn();

/** A call, and the client that it asks. */
function setUp(client: Partial<AskedClient> = {}, rounds = 8, room = new WaitingRoom(1_000)) {
  const sent: Sent[] = [];
  const requests = new ClientRequests();
  const lifetime = new CallLifetime();
  const pauses: boolean[] = [];
  lifetime.onPause = (isPaused) => pauses.push(isPaused);
  const stream = {
    emit: () => undefined,
    send: (text: string) => void sent.push(JSON.parse(text) as Sent),
  } as CallStream;
  const peer = { requests } as LegacyPeer;
  const questions = new LegacyQuestions(
    { capabilities: ALL, peer, stream, ...client },
    lifetime,
    1_000,
    rounds,
    room,
    giveUp,
  );
  questions.enter();
  return {
    questions,
    sent,
    requests,
    lifetime,
    pauses,
    ask: (question: Question | Promise<Question>, key?: string) =>
      questions.ask('elicitation', key, question),
    answer: (index: number, outcome: JsonObject) => requests.answer(answerOf(sent[index]?.id, outcome)),
  };
}

const url = () => urlQuestion('Sign in', 'https://example.com/', '2025-11-25');
const yes = { result: { action: 'accept' } };

function form(message = 'Which?', revision: '2025-06-18' | '2025-11-25' = '2025-06-18'): Question {
  return {
    kind: 'elicitation',
    method: 'elicitation/create',
    params: formParams(message, { type: 'object', properties: {} }, revision),
    needs: { elicitation: { form: {} } },
    read: (answer) => answer['content'],
  };
}

async function faultOf(asked: Promise<unknown>): Promise<Pick<McpAskError, 'fault' | 'message'>> {
  try {
    throw new Error(`There is an answer: ${JSON.stringify(await asked)}`);
  } catch (error) {
    if (!McpAskError.is(error)) throw error;
    return { fault: error.fault, message: error.message };
  }
}

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', note));
afterAll(() => process.off('unhandledRejection', note));
beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(async () => {
  jest.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  if (unhandled.length > 0) throw new Error(`Unhandled: ${unhandled.splice(0).join(', ')}`);
});

/** The promises of a question come and go in a few microtasks. */
const settle = () => jest.advanceTimersByTimeAsync(0);

describe('a question to a client of an older revision', () => {
  it('S-003: is a request on the stream of its call, and its answer is what the handler gets', async () => {
    const { ask, sent, answer, requests } = setUp();
    const asked = ask(form());
    await settle();
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        id: expect.any(String) as unknown,
        method: 'elicitation/create',
        params: form().params,
      },
    ]);
    expect(answer(0, { result: { action: 'accept', content: { a: 1 } } })).toBe(true);
    expect(await asked).toEqual({ a: 1 });
    expect([requests.size, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('S-003: has an id of its own, never null and never used again', async () => {
    const { questions, sent } = setUp();
    for (const [kind, question] of [
      ['elicitation', form()],
      ['sampling', samplingQuestion({ messages: [], maxTokens: 1 }, '2025-06-18')],
      ['roots', rootsQuestion()],
    ] as const)
      void questions.ask(kind, undefined, question);
    await settle();
    expect(sent.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ]);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
    expect(sent.every(({ id }) => typeof id === 'string')).toBe(true);
    expect(sent[2]).not.toHaveProperty('params');
  });

  it('S-142: has in url mode an id of its own beside', async () => {
    const { ask, sent } = setUp();
    void ask(url());
    void ask(url());
    await settle();
    expect(sent[0]?.params).toEqual({
      mode: 'url',
      message: 'Sign in',
      url: 'https://example.com/',
      elicitationId: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
    });
    expect(sent[1]?.params?.['elicitationId']).not.toBe(sent[0]?.params?.['elicitationId']);
  });
});

describe('a client that cannot be asked', () => {
  const unreachable =
    'This client cannot be asked (elicitation/create): it has no session or takes no stream';

  it.each(['peer', 'stream'] as const)('L1: is one without a %s: nothing waits', async (part) => {
    const { ask, sent, pauses } = setUp({ [part]: undefined });
    expect(await faultOf(ask(form()))).toEqual({ fault: 'unsupported', message: unreachable });
    expect([sent, pauses, jest.getTimerCount()]).toEqual([[], [], 0]);
  });

  it.each<[JsonObject, Question, string]>([
    [{}, form(), 'elicitation.form (elicitation/create)'],
    [{ elicitation: { url: {} } }, form(), 'elicitation.form (elicitation/create)'],
    [{ elicitation: {} }, url(), 'elicitation.url (elicitation/create)'],
    [{}, samplingQuestion({ messages: [], maxTokens: 1 }, '2025-06-18'), 'sampling (sampling/createMessage)'],
    [
      { sampling: {} },
      samplingQuestion({ messages: [], maxTokens: 1, tools: [], includeContext: 'allServers' }, '2025-11-25'),
      'sampling.tools, sampling.context (sampling/createMessage)',
    ],
    [{}, rootsQuestion(), 'roots (roots/list)'],
  ])(
    'S-133, S-137, S-145: is one with %j for what it did not declare',
    async (capabilities, question, what) => {
      const { questions, sent, pauses } = setUp({ capabilities });
      expect(await faultOf(questions.ask(question.kind, undefined, question))).toEqual({
        fault: 'unsupported',
        message: `The client lacks the capability ${what}`,
      });
      expect([sent, pauses]).toEqual([[], []]);
    },
  );

  it('S-137: is one of a revision without the question', async () => {
    const { ask, sent } = setUp();
    const question = (async () => ({ ...form(), params: formParams('Which?', {}, '2025-03-26') }))();
    expect(await faultOf(ask(question))).toEqual({
      fault: 'unsupported',
      message: 'A client of 2025-03-26 has no elicitation/create: it came with 2025-06-18',
    });
    expect(sent).toEqual([]);
  });
});

describe('a handler that goes on and on', () => {
  it('stops nothing else, and gets no further', async () => {
    giveUp.mockClear();
    const { questions } = setUp({ capabilities: {} });
    let count = 0;
    const insist = async () => {
      for (;;) await questions.ask('elicitation', 'a', form()).catch(() => count++);
    };
    void insist();
    while (giveUp.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(count).toBe(110);
  });

  it('gets what its client said when it is run again, whatever it made of that before', async () => {
    const { questions, ask, answer, sent } = setUp();
    const question = { ...form(), read: ({ content }: JsonObject) => content };
    const runs: unknown[] = [];
    for (let run = 0; run < 2; run++) {
      questions.enter();
      const asked = ask(question, 'a') as Promise<number[]>;
      await settle();
      if (run === 0) answer(0, { result: { action: 'accept', content: [1] } });
      const content = await asked;
      runs.push(structuredClone(content));
      content.push(2);
    }
    expect([runs, sent.length]).toEqual([[[1], [1]], 1]);
  });
});

describe('a client that gives no answer', () => {
  it('S-144: is told after its time that nobody waits any more', async () => {
    const { ask, sent, pauses } = setUp();
    const asked = faultOf(ask(form()));
    await jest.advanceTimersByTimeAsync(999);
    expect(sent).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(await asked).toEqual({
      fault: 'timeout',
      message: 'The client did not answer elicitation/create within 1000 ms',
    });
    expect(sent[1]).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: sent[0]?.id, reason: 'No answer in time' },
    });
    expect(pauses).toEqual([true, false]);
  });

  it.each(['cancelled', 'disconnected', 'shutdown', 'finish'] as const)(
    'S-144: is told once the call is over (%s)',
    async (how) => {
      const { ask, sent, lifetime, requests } = setUp();
      const asked = faultOf(ask(form()));
      await settle();
      if (how === 'finish') lifetime.finish();
      else lifetime.end(how);
      expect((await asked).fault).toBe('ended');
      expect(sent.map(({ method }) => method)).toEqual(['elicitation/create', 'notifications/cancelled']);
      expect([requests.size, jest.getTimerCount()]).toEqual([0, 0]);
      expect((await faultOf(ask(form('More?')))).fault).toBe('ended');
      expect(sent).toHaveLength(2);
    },
  );

  it('S-144: is one that refuses, or is gone', async () => {
    const { ask, answer, requests } = setUp();
    const refused = faultOf(ask(form()));
    const gone = faultOf(ask(form()));
    await settle();
    answer(0, { error: { code: -1, message: 'No' } });
    expect(await refused).toEqual({
      fault: 'refused',
      message: expect.stringContaining('answered elicitation/create with error -1') as unknown,
    });
    requests.close();
    expect((await gone).fault).toBe('gone');
  });

  it('S-144: is one that answers something else', async () => {
    const { ask, answer, pauses } = setUp();
    const asked = faultOf(ask(url()));
    await settle();
    answer(0, { result: { action: 'maybe' } });
    expect(await asked).toEqual({
      fault: 'invalid',
      message: `The client's answer to elicitation/create has no "action" of accept, decline or cancel`,
    });
    expect(pauses).toEqual([true, false]);
  });

  it('is none whose answer breaks the code that reads it', async () => {
    const { ask, answer } = setUp();
    const read = () => {
      throw new RangeError('database');
    };
    const asked = ask({ ...form(), read });
    await settle();
    answer(0, yes);
    await expect(asked).rejects.toEqual(new RangeError('database'));
  });
});

describe('the time limit of the call', () => {
  it('stands still from the first question to the last answer', async () => {
    const { ask, answer, pauses, lifetime } = setUp();
    const asked = [ask(url()), ask(url())];
    await settle();
    answer(1, yes);
    await asked[1];
    expect([pauses, lifetime.isPaused]).toEqual([[true], true]);
    answer(0, yes);
    await asked[0];
    expect([pauses, lifetime.isPaused]).toEqual([[true, false], false]);
    const third = ask(url());
    await settle();
    answer(2, yes);
    await third;
    expect(pauses).toEqual([true, false, true, false]);
  });
});

describe('a handler that is run again', () => {
  it('gets the answers that are there, and waits for those on their way', async () => {
    const { questions, ask, answer, sent } = setUp();
    const first = [ask(url()), ask(url())];
    await settle();
    answer(0, yes);
    await first[0];
    questions.enter();
    const second = [ask(url()), ask(url())];
    await settle();
    expect(sent).toHaveLength(2);
    answer(1, { result: { action: 'decline' } });
    expect(await Promise.all(second)).toEqual([{ action: 'accept' }, { action: 'decline' }]);
    expect(await first[1]).toEqual({ action: 'decline' });
  });

  it('asks a question that changed', async () => {
    const { questions, ask, sent } = setUp();
    void ask(form('For 5 EUR?'), 'pay');
    await settle();
    questions.enter();
    void ask(form('For 500 EUR?'), 'pay');
    await settle();
    expect(sent.map(({ params }) => params?.['message'])).toEqual(['For 5 EUR?', 'For 500 EUR?']);
  });

  it('does once what it did', async () => {
    const { questions } = setUp();
    let count = 0;
    for (let run = 0; run < 3; run++) {
      questions.enter();
      expect(await questions.once('x', () => ({ at: new Date(0), count: ++count }))).toEqual({
        at: '1970-01-01T00:00:00.000Z',
        count: 1,
      });
    }
  });
});

describe('limits and keys', () => {
  it('let a call ask so often and not once more', async () => {
    const { ask, sent, answer } = setUp({}, 2);
    // What is asked together is one round.
    const asked = Array.from({ length: 3 }, () => ask(url()));
    await settle();
    expect(sent).toHaveLength(3);
    for (const index of asked.keys()) answer(index, yes);
    expect(await Promise.all(asked)).toEqual(asked.map(() => ({ action: 'accept' })));
    const second = ask(url());
    await settle();
    answer(3, yes);
    expect(await second).toEqual({ action: 'accept' });
    expect(await faultOf(ask(url()))).toEqual({
      fault: 'unsupported',
      message: 'The client was asked 2 times for this call, which is as often as it may be',
    });
    expect(sent).toHaveLength(4);
  });

  it('are each used once by a handler, and nothing fails where nobody waits', async () => {
    const { ask, sent } = setUp();
    void ask(url(), 'a');
    await expect(ask(url(), 'a')).rejects.toThrow(TypeError);
    void ask(url(), '');
    void ask(Promise.reject(new TypeError('no form')), 'a');
    void ask(Promise.reject(new TypeError('no form')), 'b');
    await settle();
    expect(sent).toHaveLength(1);
  });
});

describe('the room for calls that wait', () => {
  it('is taken by a call once, however much it asks, and given back with its last answer', async () => {
    const room = new WaitingRoom(1);
    const [first, second] = [setUp({}, 8, room), setUp({}, 8, room)];
    const asked = [first.ask(url(), 'a'), first.ask(url(), 'b')];
    await settle();
    const refused = {
      fault: 'unsupported',
      message: 'Too many calls wait for their clients: try again later',
    };
    expect(await faultOf(second.ask(url(), 'a'))).toEqual(refused);
    first.answer(0, yes);
    await settle();
    expect(await faultOf(second.ask(url(), 'b'))).toEqual(refused);
    first.answer(1, yes);
    await Promise.all(asked);
    void second.ask(url(), 'c');
    await settle();
    expect(second.sent).toHaveLength(1);
  });

  it('has so many places and no more, and gives each back', () => {
    const room = new WaitingRoom(2);
    const [first, second] = [room.take(), room.take()];
    expect([typeof first, typeof second, room.take()]).toEqual(['function', 'function', undefined]);
    first!();
    expect(typeof room.take()).toBe('function');
    expect(room.take()).toBeUndefined();
  });
});

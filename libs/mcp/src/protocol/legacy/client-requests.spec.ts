import { jest } from '@jest/globals';
import { CallLifetime } from '../call-lifetime.js';
import type { JsonObject, ResponseMessage } from '../json-rpc.js';
import { parseMessage } from '../message-parser.js';
import { McpAskError, type McpAskFault } from '../asking/ask-error.js';
import { ClientRequests, type AskOptions } from './client-requests.js';

interface Sent {
  readonly id?: string;
  readonly method: string;
  readonly params?: JsonObject;
}

/** An answer as it comes from the wire. `id` and `outcome` are JSON text. */
function answerOf(id: string | undefined, outcome = '"result":{}'): ResponseMessage {
  const text = `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}${outcome}}`;
  const message = parseMessage(Buffer.from(text), { depth: 64, tokens: 1000 });
  const answer = message.kind === 'rejected' ? message.answer : message;
  if (answer?.kind !== 'response') throw new Error(`${text} is a ${message.kind}`);
  return answer;
}

/** One call that asks: what it sent, and the ways to ask and to answer. */
function setUp(requests = new ClientRequests()) {
  const texts: string[] = [];
  const lifetime = new CallLifetime();
  const { signal } = lifetime;
  const added = jest.spyOn(signal, 'addEventListener');
  const removed = jest.spyOn(signal, 'removeEventListener');
  const ask = (method = 'roots/list', options: Partial<AskOptions> = {}, params?: string) =>
    requests.ask(
      { method, params },
      { send: (text) => void texts.push(text), signal, timeLimit: 1000, ...options },
    );
  return {
    requests,
    texts,
    lifetime,
    ask,
    sent: () => texts.map((text) => JSON.parse(text) as Sent),
    /** The JSON token of the id of a request that was sent. */
    idAt: (index = 0) => JSON.stringify((JSON.parse(texts[index]!) as Sent).id),
    /** Entries, timers and listeners that wait for something. */
    left: () => [requests.size, jest.getTimerCount(), listeners(added, removed)],
  };
}

function listeners(
  added: { mock: { calls: unknown[][] } },
  removed: { mock: { calls: unknown[][] } },
): number {
  const gone = new Set(removed.mock.calls.map(([, listener]) => listener));
  return added.mock.calls.filter(([, listener]) => !gone.has(listener)).length;
}

/** How a question came out: its result, or why there is none. */
async function outcomeOf(asked: Promise<JsonObject>): Promise<JsonObject | McpAskFault> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof McpAskError) return error.fault;
    throw error;
  }
}

async function errorOf(asked: Promise<JsonObject>): Promise<McpAskError> {
  return asked.then(
    () => {
      throw new Error('There is a result');
    },
    (error: unknown) => error as McpAskError,
  );
}

const CANCELLED = 'notifications/cancelled';
const OVER = 'The call that asked is over';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a request to a client', () => {
  it('is sent with its params, and gives the result as it came', async () => {
    const { ask, texts, idAt, requests, left } = setUp();
    const asked = ask('elicitation/create', {}, '{"message":"Sure?"}');
    expect(texts).toEqual([
      `{"jsonrpc":"2.0","id":${idAt()},"method":"elicitation/create","params":{"message":"Sure?"}}`,
    ]);
    expect(left()).toEqual([1, 1, 1]);
    expect(requests.answer(answerOf(idAt(), '"result":{"action":"accept","content":{"a":[1]}}'))).toBe(true);
    expect(left()).toEqual([0, 0, 0]);
    expect(await asked).toEqual({ action: 'accept', content: { a: [1] } });
    expect(texts).toHaveLength(1);
  });

  it('S-003: has an id of its own that is a string nobody can guess', async () => {
    const [first, second] = [setUp(), setUp()];
    const asked = [first.ask(), first.ask(), second.ask()];
    const ids = [first.idAt(0), first.idAt(1), second.idAt(0)].map((token) => JSON.parse(token) as string);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[\w-]{16}-[12]$/);
    expect(ids[0]!.slice(0, 16)).toBe(ids[1]!.slice(0, 16));
    expect(ids[0]!.slice(0, 16)).not.toBe(ids[2]!.slice(0, 16));
    first.requests.close();
    second.requests.close();
    expect(await Promise.all(asked.map(outcomeOf))).toEqual(['gone', 'gone', 'gone']);
  });

  it('S-003: never has an id again, however the last one came out', async () => {
    const { ask, sent, requests, idAt } = setUp();
    const answered = ask();
    requests.answer(answerOf(idAt()));
    await answered;
    const late = ask();
    jest.advanceTimersByTime(1000);
    const failing = ask('roots/list', {
      send: () => {
        throw new Error('no');
      },
    });
    const last = ask();
    requests.close();
    expect(await Promise.all([late, failing, last].map(outcomeOf))).toEqual(['timeout', 'unsent', 'gone']);
    const ids = sent().flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  });

  it('rejects with the error that the client answered, code, message and data kept', async () => {
    const { ask, requests, idAt, left } = setUp();
    const asked = ask('sampling/createMessage');
    const error = '"error":{"code":-1,"message":"User\\nrejected","data":{"why":[1]}}';
    expect(requests.answer(answerOf(idAt(), error))).toBe(true);
    const fault = await errorOf(asked);
    expect(fault).toBeInstanceOf(McpAskError);
    expect(fault.fault).toBe('refused');
    expect(fault.answer).toEqual({ code: -1, message: 'User\nrejected', data: { why: [1] } });
    expect(fault.message).toBe(
      String.raw`The client answered sampling/createMessage with error -1: "User\nrejected"`,
    );
    expect(left()).toEqual([0, 0, 0]);
  });

  it.each([
    '"result":5',
    '"result":null',
    '"result":[]',
    '"error":null',
    '"error":"no"',
    '"result":{},"error":{}',
  ])('S-144: is told at once that %s is no answer', async (outcome) => {
    const { ask, requests, idAt, left } = setUp();
    const asked = ask();
    expect(requests.answer(answerOf(idAt(), outcome))).toBe(true);
    const { fault, message } = await errorOf(asked);
    expect([fault, message, left()]).toEqual([
      'invalid',
      `The client's answer to roots/list must have a "result" or an "error" that is an object`,
      [0, 0, 0],
    ]);
  });

  it('S-144: takes an error without a usable code or message for an error all the same', async () => {
    const { ask, requests, idAt } = setUp();
    const asked = [ask(), ask()];
    requests.answer(answerOf(idAt(0), '"error":{}'));
    requests.answer(answerOf(idAt(1), '"error":{"code":1.5,"message":{},"data":null}'));
    expect((await errorOf(asked[0]!)).answer).toEqual({ code: -32603, message: '' });
    expect((await errorOf(asked[1]!)).answer).toEqual({ code: -32603, message: '', data: null });
  });

  it('is answered by its id whatever escapes that has, and while it is being sent', async () => {
    const { ask, requests, idAt, left } = setUp();
    const asked = ask();
    requests.answer(answerOf(idAt().replace(/-1"$/, String.raw`\u002d1"`), '"result":{"a":1}'));
    expect(await asked).toEqual({ a: 1 });
    const atOnce = ask('roots/list', {
      send: (text) => {
        const { id } = JSON.parse(text) as Sent;
        requests.answer(answerOf(JSON.stringify(id), '"result":{"b":2}'));
      },
    });
    expect(left()).toEqual([0, 0, 0]);
    expect(await atOnce).toEqual({ b: 2 });
  });
});

describe('answers', () => {
  it('reach each of a thousand requests of one call, in whatever order they come', async () => {
    const { ask, requests, idAt, left } = setUp();
    const asked = Array.from({ length: 1000 }, (_, at) => ask('roots/list', {}, `{"at":${at}}`));
    // One listener for all: Node warns where a signal has more than ten.
    expect(left()).toEqual([1000, 1000, 1]);
    // A walk by a step that shares no divisor with their number meets each once.
    for (let step = 0; step < 1000; step++) {
      const at = (step * 617 + 251) % 1000;
      const outcome = at % 10 === 0 ? `"error":{"code":${at},"message":"no"}` : `"result":{"at":${at}}`;
      expect(requests.answer(answerOf(idAt(at), outcome))).toBe(true);
    }
    const outcomes = await Promise.allSettled(asked);
    expect(
      outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value['at'] : (outcome.reason as McpAskError).answer!.code,
      ),
    ).toEqual(Array.from({ length: 1000 }, (_, at) => at));
    expect(left()).toEqual([0, 0, 0]);
  });

  it('that come twice are taken once', async () => {
    const { ask, requests, idAt } = setUp();
    const asked = ask();
    expect(requests.answer(answerOf(idAt(), '"result":{"first":1}'))).toBe(true);
    expect(requests.answer(answerOf(idAt(), '"result":{"second":1}'))).toBe(false);
    expect(requests.answer(answerOf(idAt(), '"error":{"code":1,"message":""}'))).toBe(false);
    expect(await asked).toEqual({ first: 1 });
  });

  it('to nothing that waits here reach nobody', async () => {
    const { ask, requests, idAt } = setUp();
    const asked = ask();
    const error = '"error":{"code":1,"message":""}';
    const foreign = setUp();
    const others = foreign.ask();
    for (const id of ['1', '"1"', '"-1"', '""', '"__proto__"', foreign.idAt(), idAt().replace('-1"', '-2"')])
      expect(requests.answer(answerOf(id))).toBe(false);
    expect(requests.answer(answerOf(undefined, error))).toBe(false);
    expect([requests.size, foreign.requests.size, jest.getTimerCount()]).toEqual([1, 1, 2]);
    requests.answer(answerOf(idAt(), '"result":{"mine":1}'));
    foreign.requests.answer(answerOf(foreign.idAt(), '"result":{"theirs":1}'));
    expect(await Promise.all([asked, others])).toEqual([{ mine: 1 }, { theirs: 1 }]);
  });
});

describe('a request without an answer', () => {
  it('is cancelled at its time limit, not before, and a late answer is ignored', async () => {
    const { ask, requests, texts, idAt, left } = setUp();
    const asked = outcomeOf(ask('elicitation/create'));
    jest.advanceTimersByTime(999);
    expect([texts.length, ...left()]).toEqual([1, 1, 1, 1]);
    jest.advanceTimersByTime(1);
    expect(texts.slice(1)).toEqual([
      `{"jsonrpc":"2.0","method":"${CANCELLED}","params":{"requestId":${idAt()},"reason":"No answer in time"}}`,
    ]);
    expect(left()).toEqual([0, 0, 0]);
    expect(requests.answer(answerOf(idAt()))).toBe(false);
    expect(await asked).toBe('timeout');
    expect(texts).toHaveLength(2);
  });

  it('tells how long it waited', async () => {
    const { ask } = setUp();
    const asked = errorOf(ask('elicitation/create', { timeLimit: 50 }));
    jest.advanceTimersByTime(50);
    expect((await asked).message).toBe('The client did not answer elicitation/create within 50 ms');
  });

  it.each(['cancelled', 'disconnected', 'timeout', 'shutdown'] as const)(
    'is cancelled when its call ends: %s',
    async (reason) => {
      const { ask, requests, texts, lifetime, idAt, left } = setUp();
      const asked = errorOf(ask());
      lifetime.end(reason);
      expect(texts.slice(1)).toEqual([
        `{"jsonrpc":"2.0","method":"${CANCELLED}","params":{"requestId":${idAt()},"reason":"${OVER}"}}`,
      ]);
      expect(left()).toEqual([0, 0, 0]);
      expect(requests.answer(answerOf(idAt()))).toBe(false);
      jest.advanceTimersByTime(5000);
      const error = await asked;
      expect([error.fault, error.cause]).toEqual(['ended', lifetime.signal.reason]);
      expect(texts).toHaveLength(2);
    },
  );

  it('is cancelled with all others of its call, and with none of another call', async () => {
    const requests = new ClientRequests();
    const [mine, other] = [setUp(requests), setUp(requests)];
    const asked = [mine.ask(), mine.ask()].map(outcomeOf);
    const answered = mine.ask();
    const kept = other.ask();
    requests.answer(answerOf(mine.idAt(2), '"result":{"b":2}'));
    expect(await answered).toEqual({ b: 2 });
    mine.lifetime.end('cancelled');
    expect(await Promise.all(asked)).toEqual(['ended', 'ended']);
    expect(mine.sent().slice(3)).toEqual(
      [0, 1].map((at) => ({
        jsonrpc: '2.0',
        method: CANCELLED,
        params: { requestId: JSON.parse(mine.idAt(at)) as string, reason: OVER },
      })),
    );
    expect(requests.answer(answerOf(other.idAt(), '"result":{"a":1}'))).toBe(true);
    expect(await kept).toEqual({ a: 1 });
    expect(other.texts).toHaveLength(1);
  });

  it('is not even sent when its call is over', async () => {
    const { ask, texts, lifetime, left } = setUp();
    lifetime.end('cancelled');
    expect(await outcomeOf(ask())).toBe('ended');
    expect(texts).toEqual([]);
    expect(left()).toEqual([0, 0, 0]);
  });

  it('is cancelled after it was sent when its call ends while it is being sent', async () => {
    const { ask, texts, sent, lifetime, left } = setUp();
    const send = (text: string) => {
      texts.push(text);
      lifetime.end('disconnected');
    };
    expect(await outcomeOf(ask('roots/list', { send }))).toBe('ended');
    expect(sent().map(({ method }) => method)).toEqual(['roots/list', CANCELLED]);
    expect(left()).toEqual([0, 0, 0]);
  });

  it('has the outcome that came first where answer, end and close meet in one tick', async () => {
    const first = setUp();
    const answered = first.ask();
    first.requests.answer(answerOf(first.idAt(), '"result":{"a":1}'));
    first.lifetime.end('cancelled');
    first.requests.close();
    expect(await answered).toEqual({ a: 1 });
    expect(first.texts).toHaveLength(1);

    const second = setUp();
    const ended = outcomeOf(second.ask());
    second.lifetime.end('cancelled');
    second.requests.close();
    expect(second.requests.answer(answerOf(second.idAt()))).toBe(false);
    expect(await ended).toBe('ended');
    expect(second.texts).toHaveLength(2);

    const third = setUp();
    const lost = outcomeOf(third.ask());
    third.requests.close();
    third.lifetime.end('cancelled');
    jest.advanceTimersByTime(1000);
    expect(await lost).toBe('gone');
    expect(third.texts).toHaveLength(1);

    for (const { left } of [first, second, third]) expect(left()).toEqual([0, 0, 0]);
  });
});

describe('sending that fails', () => {
  const closed = new Error('The stream is closed');

  it.each<[string, AskOptions['send']]>([
    [
      'at once',
      () => {
        throw closed;
      },
    ],
    ['later', () => Promise.reject(closed)],
  ])('%s rejects, and nothing else is sent', async (_, send) => {
    const { ask, left } = setUp();
    const spy = jest.fn(send);
    const error = await errorOf(ask('roots/list', { send: spy }));
    expect([error.fault, error.message, error.cause]).toEqual([
      'unsent',
      'roots/list could not be sent to the client',
      closed,
    ]);
    expect(spy).toHaveBeenCalledTimes(1);
    expect(left()).toEqual([0, 0, 0]);
  });

  it('changes nothing once the outcome is known', async () => {
    const { ask, requests, lifetime, left } = setUp();
    const answered = ask('roots/list', {
      send: (text) => {
        const { id } = JSON.parse(text) as Sent;
        requests.answer(answerOf(JSON.stringify(id), '"result":{"a":1}'));
        throw closed;
      },
    });
    expect(await answered).toEqual({ a: 1 });
    const failing = jest.fn<AskOptions['send']>(() => Promise.reject(closed));
    const ended = outcomeOf(ask('roots/list', { send: failing }));
    lifetime.end('cancelled');
    expect(await ended).toBe('ended');
    expect(failing).toHaveBeenCalledTimes(2);
    expect(left()).toEqual([0, 0, 0]);
  });

  it('of the cancellation hurts nobody', async () => {
    const { ask, texts, left } = setUp();
    const send = (text: string) => {
      if (texts.length > 0) throw closed;
      texts.push(text);
    };
    const asked = outcomeOf(ask('roots/list', { send }));
    expect(() => jest.advanceTimersByTime(1000)).not.toThrow();
    expect(await asked).toBe('timeout');
    expect(left()).toEqual([0, 0, 0]);
  });
});

describe('a client that is gone', () => {
  it('leaves nobody waiting, and is sent nothing any more', async () => {
    const { ask, requests, texts, idAt, left } = setUp();
    const asked = [ask(), ask(), ask()];
    requests.close();
    expect(left()).toEqual([0, 0, 0]);
    expect(await Promise.all(asked.map(outcomeOf))).toEqual(['gone', 'gone', 'gone']);
    expect(requests.answer(answerOf(idAt()))).toBe(false);
    expect((await errorOf(ask())).message).toBe('The client was gone before it answered roots/list');
    requests.close();
    expect(texts).toHaveLength(3);
  });

  it('may be noticed while a request is being sent', async () => {
    const { ask, requests, texts, left } = setUp();
    const send = (text: string) => {
      texts.push(text);
      requests.close();
    };
    expect(await outcomeOf(ask('roots/list', { send }))).toBe('gone');
    expect(texts).toHaveLength(1);
    expect(left()).toEqual([0, 0, 0]);
  });
});

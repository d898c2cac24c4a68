import { setImmediate, setTimeout } from 'node:timers/promises';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import {
  accept,
  cancel,
  ClientFault,
  decline,
  EVERYTHING,
  messagesOf,
  serve,
  SERVERS,
  waysOf,
  type AskingServer,
  type RawSession,
  type Script,
  type ScriptedClient,
} from '../support/scripted-client.js';
import { Traffic } from '../support/traffic.js';
import {
  CAPABILITIES_KEY,
  modern,
  openSession,
  post,
  textOf,
  type Json,
  type Reply,
} from '../support/wire.js';
import { questionsModule, seen } from './questions.app.js';

const traffic = new Traffic();
const never: Script = ({ method }) => {
  throw new Error(`${method} was asked`);
};
const always =
  (answer: Json | ClientFault | undefined): Script =>
  () =>
    answer;

/** What handlers saw, as soon as one saw anything. */
async function outcomes(): Promise<string[]> {
  while (seen.length === 0) await setImmediate();
  return seen;
}

afterAll(() => traffic.verify());

beforeEach(() => {
  seen.length = 0;
});

describe.each(SERVERS)('what is asked, on %s', (kind) => {
  let server: AskingServer;

  beforeAll(async () => {
    server = await serve(kind, questionsModule({ limits: { rounds: 3 } }), traffic);
  });

  afterAll(() => server.close());

  describe.each(waysOf(kind))('by the $client', ({ client: clientKind, era }) => {
    let client: ScriptedClient;

    beforeAll(async () => {
      client = await server.open(clientKind);
    });

    afterAll(() => client.close());

    /** The text of a tool's result. */
    const told = async (name: string, script: Script, args: Json = {}) => {
      const { result, error } = await client.call(name, args, script);
      return error ? error : textOf(result);
    };

    it('S-144, L4: a user who declines or dismisses says nothing else, whatever comes with it', async () => {
      const junk = { content: { bags: 99, seats: 'two' } };
      const said = [];
      for (const answer of [decline, cancel, { ...decline, ...junk }, { ...cancel, ...junk }])
        said.push(await told('bags', always(answer)));
      const [no, nothing] = ['{"action":"decline"}', '{"action":"cancel"}'];
      expect(said).toEqual([no, nothing, no, nothing]);
    });

    it('L3: choices, addresses and dates are asked for, and come back', async () => {
      const content = {
        cabin: 'business',
        email: 'ann@example.com',
        site: 'https://example.com',
        day: '2026-07-28T10:00:00Z',
        also: ['economy'],
      };
      const outcome = await client.call('allShapes', {}, always(accept(content)));
      expect(JSON.parse(textOf(outcome.result))).toEqual({ action: 'accept', content });
      const { properties, required } = outcome.asked[0]!.params['requestedSchema'] as Json;
      expect(required).toEqual(['cabin', 'email']);
      expect(properties).toMatchObject({
        cabin: { type: 'string', enum: ['economy', 'business'] },
        email: { type: 'string', format: 'email' },
        also: { type: 'array', items: { type: 'string', enum: ['economy', 'business'] } },
      });
    });

    it('L3: a form that cannot be shown is not sent', async () => {
      for (const form of ['nested', 'list']) {
        const { result, asked } = await client.call('anyForm', { form }, never);
        expect([result['isError'], asked]).toEqual([true, []]);
      }
      // It is a mistake of the author, who reads of it; the client only reads that the tool failed.
      expect(seen).toEqual([
        expect.stringMatching(/^NestedDto\.address: a form has no fields inside a field/),
        expect.stringMatching(/^ListDto\.addresses: a list in a form is a choice among given texts/),
      ]);
    });

    it('L3: a date is asked for as text, and is a date to the handler', async () => {
      const day = '2026-07-28T10:00:00.000Z';
      const outcome = await client.call('anyForm', { form: 'date' }, always(accept({ day })));
      expect(textOf(outcome.result)).toBe(JSON.stringify({ action: 'accept', content: { day } }));
      expect(outcome.asked[0]?.params['requestedSchema']).toEqual({
        type: 'object',
        properties: { day: { type: 'string', format: 'date-time' } },
        required: ['day'],
      });
    });

    it('S-137, S-139, S-142: an address to open is asked for in the words of the revision', async () => {
      const outcome = await client.call('signIn', {}, always({ action: 'accept' }));
      expect(textOf(outcome.result)).toBe('accept');
      expect(outcome.asked).toEqual([
        {
          method: 'elicitation/create',
          params: {
            mode: 'url',
            message: 'Please sign in',
            url: 'https://login.example/start',
            ...(era === 'legacy' ? { elicitationId: expect.stringMatching(/^[\da-f-]{36}$/) } : {}),
          },
        },
      ]);
    });

    it('S-139: what is no address is not sent', async () => {
      const { result, asked } = await client.call('signInNowhere', {}, never);
      expect([result['isError'], asked]).toEqual([true, []]);
    });

    it('S-145, S-146: the model is asked with tools, and each use of one gets its result', async () => {
      const use = { type: 'tool_use', id: 'u1', name: 'weather', input: {} };
      const answer = (content: unknown, stopReason: string) => ({
        role: 'assistant',
        model: 'm',
        content,
        stopReason,
      });
      const outcome = await client.call('weather', {}, ({ params }) =>
        (params['messages'] as unknown[]).length === 1
          ? answer([use], 'toolUse')
          : answer({ type: 'text', text: 'Take a coat' }, 'endTurn'),
      );
      expect(textOf(outcome.result)).toBe('Take a coat');
      const [first, second] = outcome.asked;
      expect(first!.params['tools']).toEqual([{ name: 'weather', inputSchema: { type: 'object' } }]);
      expect(second!.params['messages']).toEqual([
        { role: 'user', content: { type: 'text', text: 'How is the weather?' } },
        { role: 'assistant', content: [use] },
        {
          role: 'user',
          content: [{ type: 'tool_result', toolUseId: 'u1', content: [{ type: 'text', text: 'rain' }] }],
        },
      ]);
    });

    it('S-146: unbalanced uses of tools are not sent', async () => {
      const text = { type: 'text', text: 'hello' };
      const use = { type: 'tool_use', id: 'u1', name: 'weather', input: {} };
      const result = { type: 'tool_result', toolUseId: 'u1', content: [] };
      const conversations = [
        [{ role: 'assistant', content: use }],
        [
          { role: 'assistant', content: use },
          { role: 'user', content: text },
        ],
        [
          { role: 'assistant', content: use },
          { role: 'user', content: [result, text] },
        ],
        [{ role: 'user', content: result }],
      ];
      for (const messages of conversations) {
        const args = { messages: JSON.stringify(messages) };
        const { result: answered, asked } = await client.call('sample', args, never);
        expect([answered['isError'], asked]).toEqual([true, []]);
      }
    });

    it('S-196: the roots of the client are asked for', async () => {
      const outcome = await client.call(
        'roots',
        {},
        always({ roots: [{ uri: 'file:///a', name: 'a' }, { uri: 'file:///b' }] }),
      );
      expect([textOf(outcome.result), outcome.asked]).toEqual([
        'file:///a file:///b',
        [{ method: 'roots/list', params: {} }],
      ]);
    });

    it('S-144: a call that would ask too often is told so', async () => {
      const outcome = await client.call('count', {}, always(accept({ bags: 1 })));
      expect(messagesOf(outcome)).toEqual(['1?', '2?', '3?']);
      expect([outcome.result['isError'], textOf(outcome.result)]).toEqual([
        true,
        'The client was asked 3 times for this call, which is as often as it may be',
      ]);
    });
  });

  describe('by a client that gives junk', () => {
    const WRONG: [string, Json, string][] = [
      ['bags', accept({ bags: 4 }), 'does not fit its form: bags: must be at most 3'],
      ['bags', accept({ bags: 1, seats: 2 }), 'does not fit its form: '],
      ['bags', { action: 'accept' }, 'accepts without "content"'],
      ['bags', { action: 'maybe' }, 'has no "action" of accept, decline or cancel'],
      ['bags', { roots: [] }, 'has no "action" of accept, decline or cancel'],
      ['roots', { action: 'decline' }, 'has no "roots" with addresses'],
      ['roots', { roots: [{ name: 'a' }] }, 'has no "roots" with addresses'],
      ['sample', { action: 'decline' }, 'has no "role" or no "model"'],
      ['sample', { role: 'assistant', model: 'm' }, 'has no "content"'],
    ];
    const KEYS: Json = { bags: 'elicitation-1', roots: 'roots-1', sample: 'sampling-1' };
    const args = { messages: '[]' };

    it('S-144, L5: a session reads what is wrong as the error of the call', async () => {
      const client = await server.open('raw session');
      for (const [name, answer, why] of WRONG) {
        const { result } = await client.call(name, name === 'sample' ? args : {}, always(answer));
        expect(result['isError']).toBe(true);
        expect(textOf(result)).toContain(`The client's answer to `);
        expect(textOf(result)).toContain(why);
      }
      expect(new Set(seen)).toEqual(new Set(['invalid']));
      await client.close();
    });

    it('S-144, L5: in rounds it is -32602 with the name of the answer', async () => {
      const client = await server.open('raw rounds');
      for (const [name, answer, why] of WRONG) {
        const { error } = await client.call(name, name === 'sample' ? args : {}, always(answer));
        expect(error?.code).toBe(-32602);
        expect(error?.message).toContain(`Invalid params: the answer "${String(KEYS[name])}" ${why}`);
      }
      await client.close();
    });
  });

  describe('by a session', () => {
    const open = (capabilities?: Json) => server.session(capabilities);

    async function withSession(client: RawSession, use: () => Promise<void>): Promise<void> {
      await use();
      await client.close();
    }

    it('S-144: an error of the client is the error of the call, of whatever kind', async () => {
      const client = await open();
      await withSession(client, async () => {
        const fault = always(new ClientFault(-1, 'User rejected it'));
        const tool = await client.call('sample', { messages: '[]' }, fault);
        const prompt = await client.request('prompts/get', { name: 'bags' }, fault);
        const resource = await client.request('resources/read', { uri: 'ask://bags' }, fault);
        expect([tool.result['isError'], textOf(tool.result)]).toEqual([
          true,
          'The client answered sampling/createMessage with error -1: "User rejected it"',
        ]);
        const error = {
          code: -32603,
          message: 'The client answered elicitation/create with error -1: "User rejected it"',
          data: undefined,
        };
        expect([prompt.error, resource.error]).toEqual([error, error]);
        expect(seen).toEqual(['refused', 'refused', 'refused']);
      });
    });

    it('S-133, S-137, S-145: nothing is asked that the handshake did not declare', async () => {
      const cases: [Json, string, string][] = [
        [{}, 'bags', 'elicitation.form (elicitation/create)'],
        [{ elicitation: { url: {} } }, 'bags', 'elicitation.form (elicitation/create)'],
        [{ elicitation: {} }, 'signIn', 'elicitation.url (elicitation/create)'],
        [{ sampling: {} }, 'weather', 'sampling.tools (sampling/createMessage)'],
        [{}, 'weather', 'sampling.tools (sampling/createMessage)'],
        [{}, 'roots', 'roots (roots/list)'],
      ];
      for (const [capabilities, name, what] of cases) {
        const client = await open(capabilities);
        await withSession(client, async () => {
          const { result, asked } = await client.call(name, {}, never);
          expect([result['isError'], textOf(result), asked]).toEqual([
            true,
            `The client lacks the capability ${what}`,
            [],
          ]);
        });
      }
    });

    it('S-144: before 2025-06-18 no user can be asked, and that is said at once', async () => {
      const client = await server.session(EVERYTHING, '2025-03-26');
      await withSession(client, async () => {
        const { result, asked } = await client.call('bags', {}, never);
        expect([result['isError'], textOf(result), asked]).toEqual([
          true,
          'A client of 2025-03-26 has no elicitation/create: it came with 2025-06-18',
          [],
        ]);
        const sampled = await client.call(
          'sample',
          { messages: '[]' },
          always({ role: 'assistant', model: 'm', content: { type: 'text', text: '' } }),
        );
        expect(textOf(sampled.result)).toBe('m');
      });
    });

    it('S-137: a client of 2025-06-18 gets forms without a mode, and no addresses', async () => {
      const client = await server.session({ elicitation: {} }, '2025-06-18');
      await withSession(client, async () => {
        const { asked } = await client.call('bags', {}, always(decline));
        expect(Object.keys(asked[0]!.params)).toEqual(['message', 'requestedSchema']);
        const { result } = await client.call('signIn', {}, never);
        expect(textOf(result)).toBe(
          'A client of 2025-06-18 has no elicitation/create in url mode: it came with 2025-11-25',
        );
      });
    });

    it('S-144: a call that is cancelled takes its question back', async () => {
      const client = await open();
      await withSession(client, async () => {
        void client.call('bags', {}, () => {
          void client.notify('notifications/cancelled', (requestId) => ({ requestId }));
          return undefined;
        });
        const { params } = await client.notice('notifications/cancelled');
        expect(params).toEqual({
          requestId: client.requests[0]!['id'],
          reason: 'The call that asked is over',
        });
        expect(await outcomes()).toEqual(['ended']);
      });
    });

    it('S-144: a client that goes does not keep the handler', async () => {
      const client = await open();
      await new Promise<void>((resolve) => {
        const gone: Script = () => {
          resolve();
          return undefined;
        };
        client.call('bags', {}, gone).catch(() => undefined);
      });
      await client.close();
      expect(await outcomes()).toEqual(['gone']);
    });

    it('S-144: the time limit of a handler stands still while its client is asked', async () => {
      const client = await open();
      await withSession(client, async () => {
        const slow: Script = async () => {
          await setTimeout(400);
          return accept({ bags: 1 });
        };
        const { result } = await client.call('patient', {}, slow);
        expect(textOf(result)).toBe('{"action":"accept","content":{"bags":1}}');
        const hanging = await client.call('forgetful', {}, always(accept({ bags: 1 })));
        expect(textOf(hanging.result)).toBe('The tool did not finish within 250 ms');
      });
    });
  });
});

describe.each(SERVERS)('a client that does not answer, on %s', (kind) => {
  it('S-144: is not waited for longer than it may take, and is told', async () => {
    const server = await serve(kind, questionsModule({ limits: { askTime: 20 } }), traffic);
    const client = await server.session();
    const { result } = await client.call('bags', {}, always(undefined));
    expect([result['isError'], textOf(result), seen]).toEqual([
      true,
      'The client did not answer elicitation/create within 20 ms',
      ['timeout'],
    ]);
    const { params } = await client.notice('notifications/cancelled');
    expect(params).toEqual({ requestId: client.requests[0]!['id'], reason: 'No answer in time' });
    await client.close();
    await server.close();
  });
});

describe.each(ADAPTERS)('rounds on the wire, on %s', (adapter) => {
  let app: RunningApp;

  beforeAll(async () => {
    app = await startApp(questionsModule(), { adapter });
  });

  afterAll(() => app.close());

  async function send(
    capabilities: Json,
    method: string,
    params: Json,
    id: string | number = 1,
    meta: Json = {},
  ): Promise<Reply> {
    const _meta = { [CAPABILITIES_KEY]: capabilities, ...meta };
    const reply = await modern(app.mcp, method, { ...params, _meta }, {}, id);
    reply.messages.forEach((message) =>
      traffic.observe(message, '2026-07-28', 'method' in message ? undefined : method),
    );
    return reply;
  }

  const KINDS: [string, Json][] = [
    ['tools/call', { name: 'bags' }],
    ['prompts/get', { name: 'bags' }],
    ['resources/read', { uri: 'ask://bags' }],
  ];

  it.each(KINDS)(
    'S-013, S-133, L2: %s of a client that cannot be asked is -32021 with 400',
    async (method, params) => {
      const { status, body } = await send({}, method, params, 'x');
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          jsonrpc: '2.0',
          id: 'x',
          error: {
            code: -32021,
            message: 'The client lacks a capability that this request needs',
            data: { requiredCapabilities: { elicitation: { form: {} } } },
          },
        },
      });
    },
  );

  it('S-133, S-137, S-145: what is lacking is named, mode and option too', async () => {
    const cases: [Json, string, Json][] = [
      [{ elicitation: {} }, 'signIn', { elicitation: { url: {} } }],
      [{ elicitation: { url: {} } }, 'bags', { elicitation: { form: {} } }],
      [{ sampling: {} }, 'weather', { sampling: { tools: {} } }],
      [{}, 'weather', { sampling: { tools: {} } }],
      [{ elicitation: {} }, 'roots', { roots: {} }],
    ];
    for (const [capabilities, name, requiredCapabilities] of cases) {
      const { status, error } = await send(capabilities, 'tools/call', { name });
      expect([status, error.code, error.data]).toEqual([400, -32021, { requiredCapabilities }]);
    }
  });

  it('S-013, L2: what is lacking is told on the stream where one is open', async () => {
    const params = { name: 'afterProgress' };
    const { status, messages } = await send({}, 'tools/call', params, 1, { progressToken: 'p' });
    expect([status, ...messages.map(({ method, error }) => method ?? (error as Json)['code'])]).toEqual([
      200,
      'notifications/progress',
      -32021,
    ]);
  });

  it('S-011, S-055: nothing but the result comes of a call that asks', async () => {
    const { status, messages } = await send(EVERYTHING, 'tools/call', { name: 'bags' });
    expect([status, messages.length, messages[0]!['result']]).toEqual([
      200,
      1,
      expect.objectContaining({ resultType: 'input_required' }),
    ]);
  });

  it('S-054: after a call asked, its handler sends nothing and asks nothing', async () => {
    const meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'info' };
    const { messages, result } = await send(EVERYTHING, 'tools/call', { name: 'chatty' }, 1, meta);
    expect(messages.slice(0, -1).map(({ method, params }) => [method, (params as Json)['data']])).toEqual([
      ['notifications/progress', undefined],
      ['notifications/message', 'before'],
    ]);
    expect(Object.keys(result['inputRequests'] as Json)).toEqual(['elicitation-1']);
    expect(seen).toEqual(['true', 'McpSuspension', 'McpSuspension']);
  });

  describe('of two questions', () => {
    const params = { name: 'bagsAndCabin' };
    const bags = accept({ bags: 1 });
    const keysOf = ({ result }: Reply) => Object.keys(result['inputRequests'] as Json);

    it('L5: the one that is missing is asked again, and what else is there is ignored', async () => {
      const first = await send(EVERYTHING, 'tools/call', params, 1);
      expect(keysOf(first)).toEqual(['bags', 'shapes']);
      const second = await send(
        EVERYTHING,
        'tools/call',
        {
          ...params,
          inputResponses: { bags, other: accept({ bags: 2 }), __proto__: decline },
          requestState: first.result['requestState'],
        },
        'two',
      );
      expect(second.body['id']).toBe('two');
      expect(keysOf(second)).toEqual(['shapes']);
      const third = await send(
        EVERYTHING,
        'tools/call',
        { ...params, inputResponses: { shapes: decline }, requestState: second.result['requestState'] },
        3,
      );
      expect([third.body['id'], textOf(third.result)]).toEqual([3, '["accept","decline"]']);
      expect(seen).toEqual(['run', 'run', 'run']);
    });

    it('L5: answers without a state are taken by their keys', async () => {
      const reply = await send(EVERYTHING, 'tools/call', {
        ...params,
        inputResponses: { bags, shapes: cancel },
      });
      expect(textOf(reply.result)).toBe('["accept","cancel"]');
    });

    it('L5: answers that are no object are -32602, and so is one that is none', async () => {
      for (const [inputResponses, message] of [
        [[], 'Invalid params: "inputResponses" must be an object of answers'],
        ['yes', 'Invalid params: "inputResponses" must be an object of answers'],
        [null, 'Invalid params: "inputResponses" must be an object of answers'],
        [{ bags: 'yes' }, 'Invalid params: the answer "bags" must be an object'],
        [{ bags: null }, 'Invalid params: the answer "bags" must be an object'],
      ]) {
        const { error } = await send(EVERYTHING, 'tools/call', { ...params, inputResponses });
        expect(error).toEqual({ code: -32602, message });
      }
    });
  });

  it('S-130: a completion asks nothing, in no era', async () => {
    const params = { ref: { type: 'ref/prompt', name: 'travel' }, argument: { name: 'city', value: '' } };
    const rounds = await send(EVERYTHING, 'completion/complete', params);
    expect(rounds.error).toMatchObject({ code: -32603 });
    const session = await openSession(app.mcp);
    const legacy = await session.request('completion/complete', params);
    expect(legacy.error).toMatchObject({
      code: -32603,
      message: 'Nothing can be asked during completion/complete',
    });
    expect(legacy.messages.length).toBe(1);
    expect(seen).toEqual(['unsupported', 'unsupported']);
  });

  it('S-130: a method that asks nothing takes no notice of answers', async () => {
    for (const method of ['tools/list', 'server/discover']) {
      const { result } = await send(EVERYTHING, method, { requestState: 'junk', inputResponses: [] });
      expect(result['resultType']).toBe('complete');
    }
  });
});

describe.each(ADAPTERS)('a client of which nothing is kept, on %s', (adapter) => {
  it('L1: reads at once that it cannot be asked', async () => {
    const app = await startApp(questionsModule({ legacy: 'stateless' }), { adapter });
    const message = 'This client cannot be asked (elicitation/create): it has no session or takes no stream';
    const call = async (method: string, params: Json) => {
      const reply = await post(app.mcp, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {
        'mcp-protocol-version': '2025-11-25',
      });
      reply.messages.forEach((sent) => traffic.observe(sent, '2025-11-25', method));
      return reply;
    };
    const tool = await call('tools/call', { name: 'bags' });
    expect([tool.result['isError'], textOf(tool.result)]).toEqual([true, message]);
    const prompt = await call('prompts/get', { name: 'bags' });
    expect(prompt.error).toEqual({ code: -32603, message });
    expect(seen).toEqual(['unsupported', 'unsupported']);
    await app.close();
  });
});

import { McpRegistry } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { modern, modernMessage, openSession, post, type Json } from '../support/wire.js';
import { askHttp, askPipe, type Answer, type Asker, type PipedAskers } from './askers.js';
import { BASE64, NothingModule, PromptsModule, stopped } from './prompts.app.js';

const traffic = new Traffic();

afterAll(() => traffic.verify());

const CHANNELS = [...ADAPTERS, 'stdio'] as const;

/** The prompts on each channel, by clients of each revision. */
describe.each(CHANNELS)('prompts on %s', (channel) => {
  let running: RunningApp | undefined;
  let pipe: PipedAskers | undefined;
  let askers: Asker[];

  beforeAll(async () => {
    if (channel === 'stdio') {
      pipe = await askPipe(PromptsModule, traffic);
      ({ askers } = pipe);
    } else {
      running = await startApp(PromptsModule, { adapter: channel });
      askers = await askHttp(running.mcp, traffic);
    }
  });

  afterAll(async () => {
    await running?.close();
    await pipe?.end();
  });

  /** The same request in every revision. */
  const each = async (method: string, params?: Json): Promise<[string, Answer][]> =>
    Promise.all(
      askers.map(async ({ revision, ask }): Promise<[string, Answer]> => [
        revision,
        await ask(method, params),
      ]),
    );
  const get = (name: string, args?: Json) =>
    each('prompts/get', { name, ...(args ? { arguments: args } : {}) });
  /** The JSON that the only message of a prompt has for a text. */
  const told = async (name: string, args?: Json): Promise<unknown[]> =>
    (await get(name, args)).map(([, { result }]) => {
      const [message, ...more] = result['messages'] as {
        role: string;
        content: { type: string; text: string };
      }[];
      expect([message!.role, message!.content.type, more]).toEqual(['user', 'text', []]);
      return JSON.parse(message!.content.text) as unknown;
    });
  const all = <T>(value: T): T[] => askers.map(() => value);
  const errorsOf = (answers: [string, Answer][]) =>
    answers.map(([, { error }]) => [error?.code, error?.message.split(' (')[0]]);

  it('J9: lists them with their arguments in the words of each revision', async () => {
    for (const [revision, { result }] of await each('prompts/list')) {
      const titled = revision >= '2025-06-18';
      const prompts = result['prompts'] as Json[];
      expect(prompts.map(({ name }) => name)).toEqual([
        'review',
        'forecast',
        'report',
        'plain',
        'everyContent',
        'whole',
        'give',
        'refuse',
        'filtered',
        'piped',
        'slow',
      ]);
      expect(prompts[0]).toEqual({
        name: 'review',
        ...(titled ? { title: 'Review' } : {}),
        description: 'Looks at a topic',
        ...(revision >= '2025-11-25'
          ? { icons: [{ src: 'https://example.com/review.png', mimeType: 'image/png', sizes: ['48x48'] }] }
          : {}),
        arguments: [
          {
            name: 'topic',
            ...(titled ? { title: 'Topic' } : {}),
            description: 'What to look at',
            required: true,
          },
          { name: 'limit', required: false },
          { name: 'score', required: false },
          { name: 'strict', required: false },
          { name: 'tone', required: false },
          { name: 'priority', description: 'How urgent', required: false },
          { name: 'tags', required: false },
          { name: 'range', required: false },
        ],
        ...(titled ? { _meta: { 'example.com/team': 'support' } } : {}),
      });
      expect(prompts[1]!['arguments']).toEqual([
        { name: 'city', description: 'Where', required: true },
        { name: 'days', required: false },
      ]);
      expect(prompts[2]!['arguments']).toEqual([
        { name: 'year', ...(titled ? { title: 'Year' } : {}), description: 'Which year', required: true },
        { name: 'draft', required: false },
      ]);
      expect(prompts[3]).toEqual({ name: 'plain' });
    }
  });

  it('J9: gives the handler an instance with its defaults for what is not sent', async () => {
    expect(await told('review', { topic: 'tone' })).toEqual(
      all({
        args: { topic: 'tone', limit: 10, strict: false, tone: 'kind', tags: [] },
        classes: [true, true],
        name: 'review',
        method: 'prompts/get',
      }),
    );
  });

  it('S-111: makes of texts the values that a DTO declares, and keeps texts that look like others', async () => {
    const args = {
      topic: '42',
      limit: '50',
      score: '-1.5e1',
      strict: 'true',
      tone: 'blunt',
      priority: '3',
      tags: '["a","true"]',
      range: '{"from":1,"to":2}',
    };
    expect(await told('review', args)).toEqual(
      all({
        args: {
          topic: '42',
          limit: 50,
          score: -15,
          strict: true,
          tone: 'blunt',
          priority: 3,
          tags: ['a', 'true'],
          range: { from: 1, to: 2 },
        },
        classes: [true, true],
        name: 'review',
        method: 'prompts/get',
      }),
    );
    expect((await told('review', { topic: 'x', tags: 'one' }))[0]).toMatchObject({ args: { tags: ['one'] } });
  });

  it('S-111: does the same for a zod schema and for JSON Schema', async () => {
    expect(await told('forecast', { city: '7', days: '7' })).toEqual(all({ city: '7', days: 7 }));
    expect(await told('forecast', { city: 'Rome' })).toEqual(all({ city: 'Rome', days: 3 }));
    expect(await told('report', { year: '2026', draft: 'false' })).toEqual(all({ year: 2026, draft: false }));
  });

  it('J9: names a required argument that is missing by -32602', async () => {
    const review = all([-32602, 'Invalid arguments for "review":\n- topic: is required']);
    expect(errorsOf(await get('review'))).toEqual(review);
    expect(errorsOf(await get('review', {}))).toEqual(review);
    expect(errorsOf(await get('forecast', { days: '1' }))).toEqual(
      all([-32602, 'Invalid arguments for "forecast":\n- city: is required']),
    );
    expect(errorsOf(await get('report', { draft: 'true' }))).toEqual(
      all([-32602, 'Invalid arguments for "report":\n- year: is required']),
    );
  });

  it.each([
    ['limit', 'ten', '- limit: must be an integer'],
    ['limit', '51', '- limit: must be at most 50'],
    ['limit', '0x10', '- limit: must be an integer'],
    ['score', 'NaN', '- score: must be a number'],
    ['strict', 'yes', '- strict: must be a boolean'],
    ['tone', 'Kind', '- tone: must be one of "kind", "blunt"'],
    ['priority', '4', '- priority: must be one of 1, 2, 3'],
    ['tags', '[1]', '- tags[0]: must be a string'],
    ['range', '{"from":1}', '- range.to: is required'],
    ['range', 'far', '- range: must be an object'],
    ['colour', 'red', '- colour: is not a known member'],
  ])('S-111: refuses %s %j by -32602 and says why', async (name, text, line) => {
    expect(errorsOf(await get('review', { topic: 'x', [name]: text }))).toEqual(
      all([-32602, `Invalid arguments for "review":\n${line}`]),
    );
  });

  it.each([
    ['a number', 5],
    ['a boolean', true],
    ['null', null],
    ['a list', ['a']],
    ['an object', { a: 'b' }],
  ])('S-111: refuses an argument that is %s and no text', async (_kind, value) => {
    expect(errorsOf(await get('review', { topic: value }))).toEqual(
      all([-32602, 'Invalid params: "arguments": "topic" must be a text']),
    );
  });

  it.each([null, [], 'text', 7])('S-111: refuses arguments that are %j', async (value) => {
    expect(errorsOf(await each('prompts/get', { name: 'review', arguments: value }))).toEqual(
      all([-32602, 'Invalid params: "arguments" must be an object']),
    );
  });

  it('H6: does not know a prompt by another name, nor by one that every object has', async () => {
    for (const name of ['nope', 'Review', '', '__proto__', 'constructor', 'toString']) {
      expect(errorsOf(await get(name))).toEqual(all([-32602, `Invalid params: unknown prompt "${name}"`]));
    }
    for (const name of [undefined, 5, null, {}, ['review']]) {
      expect(errorsOf(await each('prompts/get', { name }))).toEqual(
        all([-32602, 'Invalid params: "name" must be a string']),
      );
    }
  });

  it('S-111: takes no argument named __proto__ or constructor, and changes no prototype', async () => {
    const args = JSON.parse('{"topic":"x","__proto__":"{\\"polluted\\":true}"}') as Json;
    expect(errorsOf(await get('review', args))).toEqual(
      all([-32602, 'Invalid arguments for "review":\n- __proto__: is not an allowed member name']),
    );
    expect(errorsOf(await get('review', { topic: 'x', constructor: 'y' }))).toEqual(
      all([-32602, 'Invalid arguments for "review":\n- constructor: is not an allowed member name']),
    );
    expect('polluted' in {}).toBe(false);
  });

  it('S-111: sends every kind of content as each revision has it', async () => {
    const annotations = { audience: ['user'], priority: 0.5 };
    const dated = { ...annotations, lastModified: '2026-01-01T00:00:00Z' };
    for (const [revision, { result }] of await get('everyContent')) {
      const isNew = revision >= '2025-06-18';
      const meta = { 'example.com/a': 1 };
      const ofLink = {
        type: 'resource_link',
        uri: 'ticket://7',
        name: 'Ticket 7',
        title: 'The seventh',
        size: 7,
        ...(revision >= '2025-11-25' ? { icons: [{ src: 'https://example.com/t.png' }] } : {}),
        _meta: meta,
      };
      expect(result['messages']).toEqual([
        {
          role: 'user',
          content: {
            type: 'text',
            text: 'a text',
            annotations: isNew ? dated : annotations,
            ...(isNew ? { _meta: meta } : {}),
          },
        },
        { role: 'assistant', content: { type: 'image', data: BASE64, mimeType: 'image/png' } },
        {
          role: 'user',
          content:
            revision === '2024-11-05'
              ? { type: 'text', text: '[audio, audio/wav]', annotations }
              : {
                  type: 'audio',
                  data: BASE64,
                  mimeType: 'audio/wav',
                  annotations: isNew ? dated : annotations,
                },
        },
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: 'note://1', mimeType: 'text/markdown', text: 'a note' },
          },
        },
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: 'blob://1', mimeType: 'application/octet-stream', blob: BASE64 },
          },
        },
        {
          role: 'assistant',
          content: isNew ? ofLink : { type: 'text', text: 'Ticket 7: ticket://7' },
        },
      ]);
    }
  });

  it('S-111: passes a whole result with its description, and gives an embedded text its type', async () => {
    for (const [revision, { result }] of await get('whole')) {
      expect(result).toMatchObject({
        description: 'A whole result',
        messages: [
          { role: 'assistant', content: { type: 'text', text: 'one' } },
          {
            role: 'user',
            content: {
              type: 'resource',
              resource: { uri: 'note://2', mimeType: 'text/plain', text: 'untyped' },
            },
          },
        ],
        _meta: { 'example.com/b': 2 },
      });
      expect('io.modelcontextprotocol/serverInfo' in (result['_meta'] as Json)).toBe(
        revision === '2026-07-28',
      );
    }
  });

  it('S-115: has no caching hints', async () => {
    for (const [, { result }] of await get('plain')) {
      expect(result['messages']).toEqual([{ role: 'user', content: { type: 'text', text: 'Hello' } }]);
      expect(['ttlMs' in result, 'cacheScope' in result]).toEqual([false, false]);
    }
  });

  it.each(['undefined', 'null'])('J6: answers a handler that returned %s by an error', async (how) => {
    expect(errorsOf(await get('give', { how }))).toEqual(all([-32603, 'The prompt failed']));
    expect(await told('forecast', { city: 'still here' })).toHaveLength(askers.length);
  });

  it.each([
    'empty list',
    'unknown object',
    'bytes',
    'bad Base64',
    'image without a type',
    'embedded without content',
    'link that is no uri',
    'another role',
    'a plain error',
  ])('S-111: sends nothing of a handler that gave this: %s', async (how) => {
    for (const [, answer] of await get('give', { how })) {
      expect([answer.result, answer.error.code]).toEqual([undefined, -32603]);
      expect(answer.error.message).toMatch(/^The prompt failed \(reference [0-9a-f-]{36}\)$/);
    }
  });

  it('keeps the status and the message of an HttpException below 500, and nothing of another', async () => {
    for (const status of [400, 401, 403, 404, 409, 422])
      expect(errorsOf(await get('refuse', { how: String(status) }))).toEqual(
        all([status, `Status ${status}`]),
      );
    expect(errorsOf(await get('refuse', { how: '503' }))).toEqual(all([-32603, 'The prompt failed']));
  });

  it('sends an McpError as it is', async () => {
    for (const [, { error }] of await get('refuse', { how: 'mcp' }))
      expect(error).toEqual({ code: -31001, message: 'Closed on Sundays', data: { open: 'Monday' } });
  });

  it('A4: sends what an exception filter returns as the prompt', async () => {
    for (const [, { result }] of await get('filtered'))
      expect(result['messages']).toEqual([
        { role: 'user', content: { type: 'text', text: 'It did not work: no paper' } },
      ]);
  });

  it('answers what a pipe refuses by -32602', async () => {
    expect(errorsOf(await get('piped', { how: 'x' }))).toEqual(all([-32602, '- how is not to be told']));
  });

  it('ends a prompt at its time limit, and tells its signal', async () => {
    stopped.length = 0;
    expect(errorsOf(await get('slow', {}))).toEqual(all([-32603, 'The prompt did not finish within 30 ms']));
    expect(stopped).toEqual(all('TimeoutError'));
  });
});

/** What the clients of both generations have in common here. */
interface PromptClient {
  getServerCapabilities(): Json | undefined;
  listPrompts(): Promise<{ prompts: { name: string; arguments?: Json[] }[] }>;
  getPrompt(params: {
    name: string;
    arguments?: Record<string, string>;
  }): Promise<{ description?: string; messages: Json[] }>;
  close(): Promise<void>;
}

describe.each(ADAPTERS)('prompts to the official clients, of an app on %s', (adapter) => {
  let running: RunningApp;
  const anyClient = (client: unknown) => client as PromptClient;
  const CLIENTS: [string, () => Promise<PromptClient>][] = [
    ['v2 client, auto', async () => anyClient(await connectV2(running.mcp, 'auto', traffic))],
    ['v2 client, legacy', async () => anyClient(await connectV2(running.mcp, 'legacy', traffic))],
    ['v1 client', async () => anyClient(await connectV1(running.mcp, traffic))],
    ['v2 client in memory, auto', async () => anyClient(await connectV2Memory(running.app, 'auto', traffic))],
    [
      'v2 client in memory, legacy',
      async () => anyClient(await connectV2Memory(running.app, 'legacy', traffic)),
    ],
    ['v1 client in memory', async () => anyClient(await connectV1Memory(running.app, traffic))],
  ];

  beforeAll(async () => {
    running = await startApp(PromptsModule, { adapter });
  });

  afterAll(() => {
    return running.close();
  });

  it.each(CLIENTS)('S-100, S-101, J9: are listed and got by the %s', async (_name, connect) => {
    const client = await connect();
    // The enums among the arguments complete by themselves.
    expect(client.getServerCapabilities()).toEqual({
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
    const { prompts } = await client.listPrompts();
    expect(prompts).toHaveLength(11);
    // Both generations know no title of an argument.
    expect(prompts[0]!.arguments![0]).toEqual({
      name: 'topic',
      description: 'What to look at',
      required: true,
    });
    const { messages } = await client.getPrompt({ name: 'report', arguments: { year: '2026' } });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: '{"year":2026}' } }]);
    const every = await client.getPrompt({ name: 'everyContent' });
    expect(every.messages.map(({ content }) => (content as Json)['type'])).toEqual([
      'text',
      'image',
      'audio',
      'resource',
      'resource',
      'resource_link',
    ]);
    expect((await client.getPrompt({ name: 'whole' })).description).toBe('A whole result');
    await expect(client.getPrompt({ name: 'review' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('topic: is required'),
    });
    await expect(client.getPrompt({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});

describe.each(ADAPTERS)('a server of prompts on %s', (adapter) => {
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(PromptsModule, { adapter });
  });

  afterAll(() => running.close());

  it('S-061: refuses a name that is not in Mcp-Name as well', async () => {
    const body = JSON.stringify(modernMessage('prompts/get', { name: 'plain' }));
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'prompts/get' };
    const missing = await post(running.mcp, body, headers);
    expect([missing.status, missing.error]).toEqual([
      400,
      { code: -32020, message: 'Header mismatch: Mcp-Name is missing' },
    ]);
    for (const name of ['review', 'Plain', '', '=?base64?cmV2aWV3?=']) {
      const other = await post(running.mcp, body, { ...headers, 'mcp-name': name });
      expect([other.status, other.error]).toEqual([
        400,
        { code: -32020, message: 'Header mismatch: Mcp-Name differs from params.name' },
      ]);
    }
    const encoded = await post(running.mcp, body, { ...headers, 'mcp-name': '=?base64?cGxhaW4=?=' });
    expect([encoded.status, encoded.error]).toEqual([200, undefined]);
  });

  it('S-101: lists none of them, and still declares them, when all are disabled', async () => {
    const registry = running.app.get(McpRegistry);
    for (const { name } of registry.describe()) registry.setEnabled('prompt', name, false);
    for (const { ask } of await askHttp(running.mcp, traffic)) {
      expect((await ask('prompts/list')).result['prompts']).toEqual([]);
      expect((await ask('prompts/get', { name: 'plain' })).error).toEqual({
        code: -32602,
        message: 'Invalid params: unknown prompt "plain"',
      });
    }
    const { result } = await modern(running.mcp, 'server/discover');
    expect(result['capabilities']).toMatchObject({ prompts: { listChanged: true } });
  });
});

describe('a server without prompts', () => {
  it('S-100, J8: declares none, and knows no method of them', async () => {
    const running = await startApp(NothingModule);
    const discovered = await modern(running.mcp, 'server/discover');
    traffic.observe(discovered.body, '2026-07-28', 'server/discover');
    expect(discovered.result['capabilities']).toEqual({});
    const session = await openSession(running.mcp);
    expect(session.initialized.result['capabilities']).toEqual({});
    for (const [method, params] of [
      ['prompts/list', {}],
      ['prompts/get', { name: 'review' }],
    ] as const) {
      const reply = await modern(running.mcp, method, params);
      expect([reply.status, reply.error.code]).toEqual([404, -32601]);
      const legacy = await session.request(method, params);
      expect([legacy.status, legacy.error.code]).toEqual([200, -32601]);
    }
    await running.close();
  });
});

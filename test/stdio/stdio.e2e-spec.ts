import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  type INestApplication,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { map, type Observable } from 'rxjs';
import {
  McpContext,
  McpModule,
  McpTool,
  serveMcpOverStdio,
  type McpModuleOptions,
  type McpStdioOptions,
  type McpStdioRequest,
} from 'nest-mcp';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { envelope, modernMessage, textOf, VERSION_KEY, type Json } from '../support/wire.js';
import { flooded, held, stdioApp } from './fixtures/stdio.app.js';

const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const traffic = new Traffic();
const open = new Set<StdioClient>();

function serve(
  options: Partial<McpModuleOptions> = {},
  stdio: Parameters<typeof openPipe>[1] = {},
  root: Type = stdioApp(options),
): StdioClient {
  const client = new StdioClient(openPipe(root, stdio), traffic);
  open.add(client);
  return client;
}

const call = (name: string, args: Json = {}, meta?: Json): Json => ({
  name,
  arguments: args,
  ...(meta ? { _meta: meta } : {}),
});
const request = (id: unknown, method: string, params?: Json) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
const resultText = (answer: Json) => textOf(answer['result'] as Json);
const errorOf = (answer: Json) => answer['error'] as { code: number; message: string; data?: unknown };
const codeOf = (answer: Json) => errorOf(answer)?.code;
const isRefusal = (message: Json) => 'error' in message;

/** Ends the channel and gives every message that was ever written to it. */
async function everything(client: StdioClient): Promise<Json[]> {
  open.delete(client);
  await client.end();
  return client.pipe.lines.map((line) => JSON.parse(line) as Json);
}

afterEach(async () => {
  for (const client of open) await everything(client);
});

afterAll(() => traffic.verify());

describe('lines', () => {
  it('S-040: puts one message on one line, whatever is in it', async () => {
    const client = serve();
    const text = 'a\nb\r\n\u2028\u2029 data: "q" \u0000 😀';
    const answer = await client.modern(1, 'tools/call', call('echo', { text }));
    expect(resultText(answer)).toBe(text);
    await everything(client);
    expect(client.pipe.lines).toHaveLength(1);
  });

  it('G4: takes a request with 3- and 4-byte characters byte by byte', async () => {
    const client = serve();
    const text = 'ключ – 鍵 – 🔑';
    client.sendModern('sent below', 'ping');
    for (const byte of Buffer.from(
      `${JSON.stringify(modernMessage('tools/call', call('echo', { text }), 4))}\n`,
    )) {
      client.pipe.write(Uint8Array.of(byte));
    }
    expect(resultText(await client.pipe.answer(4))).toBe(text);
  });

  it('answers a thousand messages of one write', async () => {
    const client = serve();
    const lines = Array.from({ length: 1000 }, (_, id) => `${request(id, 'ping')}\n`);
    client.pipe.write(lines.join(''));
    const answers = await everything(client);
    expect(answers).toEqual(lines.map((_, id) => ({ jsonrpc: '2.0', id, result: {} })));
  });

  it('G5: skips blank lines, answers junk and serves what follows, with CRLF too', async () => {
    const client = serve();
    client.pipe.write(`\n \t\r\n\r\nhello\n${request(1, 'ping')}\r\n{"jsonrpc":"2.0","id":2,\n`);
    client.pipe.write(`${request(3, 'ping')}\n`);
    const parseError = { code: -32700, message: 'Parse error: the message is not JSON' };
    const answers = await everything(client);
    expect(answers.filter(isRefusal)).toEqual([
      { jsonrpc: '2.0', error: parseError },
      { jsonrpc: '2.0', error: parseError },
    ]);
    expect(answers.filter((message) => !isRefusal(message))).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 3, result: {} },
    ]);
  });

  it.each([
    ['a BOM before the message', Buffer.from(`\ufeff${request(1, 'ping')}`)],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['a NUL byte', Buffer.from(`{"jsonrpc":"2.0","id":1,\0"method":"ping"}`)],
    ['two values', Buffer.from(`${request(1, 'ping')}${request(2, 'ping')}`)],
    ['single quotes', Buffer.from(`{'jsonrpc':'2.0'}`)],
  ])('answers %s by -32700 and serves on', async (_what, bytes) => {
    const client = serve();
    client.pipe.write(bytes);
    client.pipe.write(`\n${request(9, 'ping')}\n`);
    const [refusal, answer, ...more] = await everything(client);
    expect(refusal).toEqual({
      jsonrpc: '2.0',
      error: { code: -32700, message: expect.stringMatching(/^Parse error: /) },
    });
    expect(answer).toEqual({ jsonrpc: '2.0', id: 9, result: {} });
    expect(more).toEqual([]);
  });

  it('answers a last line that has no newline', async () => {
    const client = serve();
    client.pipe.write(`${request(1, 'ping')}\n${request(2, 'ping')}`);
    const answers = await everything(client);
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('ends without an answer where nothing was sent', async () => {
    expect(await everything(serve())).toEqual([]);
  });
});

describe('a line over the limit', () => {
  const limits = { line: 1000 };
  /** A ping of exactly that many bytes. */
  const pingOf = (bytes: number, id: string) => {
    const empty = request(id, 'ping', { pad: '' });
    return request(id, 'ping', { pad: 'x'.repeat(bytes - empty.length) });
  };

  it('is served at 1000 bytes and refused at 1001, with its id, and the next line is served', async () => {
    const client = serve({ limits });
    client.pipe.write(`${pingOf(1000, 'at')}\n${pingOf(1001, 'over')}\n${request('next', 'ping')}\n`);
    expect(await client.pipe.answer('over')).toEqual({
      jsonrpc: '2.0',
      id: 'over',
      error: { code: -32600, message: 'Invalid request: the line is longer than 1000 bytes' },
    });
    const answers = await everything(client);
    expect(answers).toHaveLength(3);
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 'at', result: {} });
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 'next', result: {} });
  });

  it('is refused once, while it still comes, and its rest is thrown away', async () => {
    const client = serve({ limits });
    client.pipe.write('{"jsonrpc":"2.0","id":7,"method":"');
    for (let chunk = 0; chunk < 64; chunk++) client.pipe.write('x'.repeat(64 * 1024));
    expect(codeOf(await client.pipe.answer(7))).toBe(-32600);
    client.pipe.write(`"}\n${request(8, 'ping')}\n`);
    expect((await everything(client)).map(({ id }) => id)).toEqual([7, 8]);
  });

  it('is answered once when the input ends in the midst of it', async () => {
    const client = serve({ limits });
    client.pipe.write('x'.repeat(1001));
    const [refusal, ...more] = await everything(client);
    expect(codeOf(refusal!)).toBe(-32600);
    expect(more).toEqual([]);
  });

  it.each([
    [
      'a string id',
      `{"jsonrpc":"2.0","pad":"${'x'.repeat(4056)}","id":"${'7'.repeat(200)}","method":"ping"}`,
    ],
    [
      'an integer id',
      `{"jsonrpc":"2.0","pad":"${'x'.repeat(4056)}","id":${'7'.repeat(200)},"method":"ping"}`,
    ],
  ])('is refused without id where it cannot tell all of %s', async (_what, line) => {
    const client = serve({ limits });
    client.pipe.write(`${line}\n${request(8, 'ping')}\n`);
    const [refusal, answer] = await everything(client);
    expect(refusal).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } });
    expect(answer).toEqual({ jsonrpc: '2.0', id: 8, result: {} });
  });
});

describe('ids', () => {
  it.each([
    '0',
    '1',
    '-5',
    '""',
    '"1"',
    '"\\u0041"',
    '12345678901234567890',
    `"${'i'.repeat(256)}"`,
    '9'.repeat(256),
  ])('S-002: echoes %s byte for byte, in answers and in errors', async (id) => {
    const client = serve();
    client.pipe.write(
      `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n{"jsonrpc":"2.0","id":${id},"method":"no"}\n`,
    );
    await everything(client);
    expect(client.pipe.lines).toHaveLength(2);
    expect(client.pipe.lines).toContain(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    const error = client.pipe.lines.find((line) => line.includes('"error"'));
    expect(error!.startsWith(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32602`)).toBe(true);
  });

  it.each(['null', 'true', '1.5', '1.0', '1e2', '01', '{}', '[1]', `"${'i'.repeat(257)}"`, '9'.repeat(257)])(
    'H3: refuses %s and invents none',
    async (id) => {
      const client = serve();
      client.pipe.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
      const [refusal, ...more] = await everything(client);
      expect(refusal).toEqual({ jsonrpc: '2.0', error: expect.anything() });
      expect(codeOf(refusal!)).toBe(id === '01' ? -32700 : -32600);
      expect(more).toEqual([]);
    },
  );

  it.each(['"\\q"', '"\\u12"', '"a\tb"', '"open'])(
    'takes the malformed id %s of a message that is nested too deep for none',
    async (id) => {
      const client = serve();
      const line = `{"id":${id},"jsonrpc":"2.0","method":"ping","params":${'{"a":'.repeat(80)}`;
      client.pipe.write(`${line}\n${request(2, 'ping')}\n`);
      const answers = await everything(client);
      expect(answers).toEqual([
        { jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.any(String) } },
        { jsonrpc: '2.0', id: 2, result: {} },
      ]);
    },
  );

  it('echoes the id of a message that is nested too deep', async () => {
    const client = serve();
    client.pipe.write(`{"jsonrpc":"2.0","id":"deep","method":"ping","params":${'{"a":'.repeat(10_000)}\n`);
    expect(errorOf(await client.pipe.answer('deep'))).toEqual({
      code: -32600,
      message: 'Invalid request: nested deeper than 64 levels',
    });
  });

  it.each([
    ['{"jsonrpc":"2.0","id":3,"method":""}', 'H4: an empty method'],
    ['{"jsonrpc":"1.0","id":3,"method":"ping"}', 'H1: another jsonrpc'],
    ['{"id":3,"method":"ping"}', 'H1: no jsonrpc'],
    ['{"jsonrpc":"2.0","id":3}', 'H1: no method'],
    ['{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}', 'H5: params as array'],
    ['{"jsonrpc":"2.0","id":3,"method":"ping","method":"pong"}', 'a method given twice'],
  ])('answers %s by -32600 with its id (%s)', async (line) => {
    const client = serve();
    client.pipe.write(`${line}\n`);
    expect(codeOf(await client.pipe.answer(3))).toBe(-32600);
  });

  it.each(['[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '"text"', '1', '{"hello":"world"}'])(
    'S-008, H2: answers %s by one -32600 without id',
    async (line) => {
      const client = serve();
      client.pipe.write(`${line}\n`);
      const answers = await everything(client);
      expect(answers).toEqual([{ jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } }]);
    },
  );

  it('S-005: never answers a notification or a response', async () => {
    const client = serve();
    client.notify('notifications/unknown', {});
    client.notify('tools/call', call('echo', { text: 'x' }));
    client.notify('notifications/initialized', { _meta: envelope({ [VERSION_KEY]: '1999-01-01' }) });
    client.pipe.send({ jsonrpc: '2.0', id: 1, result: {} });
    client.pipe.send({ jsonrpc: '2.0', id: 2, error: { code: -1, message: 'no' } });
    client.pipe.send({ jsonrpc: '2.0', id: 3, method: 'ping' });
    expect(await everything(client)).toEqual([{ jsonrpc: '2.0', id: 3, result: {} }]);
  });
});

describe('eras', () => {
  it('G6: answers server/discover, then a handshake, in one process', async () => {
    const client = serve();
    const discovered = await client.modern('probe', 'server/discover');
    expect(discovered['result']).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { logging: {}, tools: { listChanged: true } },
    });
    const initialized = await client.initialize('2025-11-25');
    expect(initialized['result']).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { logging: {}, tools: { listChanged: true } },
      serverInfo: { name: 'pipes', version: '1.0.0' },
    });
    const called = await client.legacy(1, 'tools/call', call('echo', { text: 'hi' }));
    expect(called['result']).toEqual({ content: [{ type: 'text', text: 'hi' }] });
  });

  it.each(['server/discover', 'tools/list', 'initialize', 'no/such'])(
    'G6, S-019: answers %s in an unknown version by -32022 with what is served',
    async (method) => {
      const client = serve();
      client.pipe.send({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: { _meta: envelope({ [VERSION_KEY]: '2027-01-01' }) },
      });
      expect(errorOf(await client.pipe.answer(1))).toEqual({
        code: -32022,
        message: 'Unsupported protocol version',
        data: { supported: ['2026-07-28'], requested: '2027-01-01' },
      });
      expect((await client.initialize('2025-11-25'))['result']).toBeDefined();
    },
  );

  it('S-012: names what the metadata lacks', async () => {
    const client = serve();
    client.pipe.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: { _meta: { [VERSION_KEY]: '2026-07-28' } },
    });
    expect(errorOf(await client.pipe.answer(1))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('io.modelcontextprotocol/clientCapabilities'),
    });
  });

  it.each(['tools/list', 'tools/call', 'server/discover', 'resources/list', 'no/such'])(
    'answers %s without metadata before initialize by -32602',
    async (method) => {
      const client = serve();
      expect(codeOf(await client.legacy(1, method))).toBe(-32602);
    },
  );

  it('S-033: answers ping without metadata before initialize and after it', async () => {
    const client = serve();
    expect(await client.legacy(1, 'ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    await client.initialize('2025-06-18');
    expect(await client.legacy(2, 'ping')).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  it('S-014: takes nothing of one modern request for the next', async () => {
    const client = serve();
    await client.modern(1, 'tools/list');
    expect(codeOf(await client.legacy(2, 'tools/list'))).toBe(-32602);
  });

  it.each(LEGACY)('S-030, S-031: echoes %s in the handshake', async (revision) => {
    const client = serve();
    const { result } = await client.initialize(revision);
    expect(result).toMatchObject({ protocolVersion: revision, serverInfo: { name: 'pipes' } });
  });

  it.each(['2026-07-28', '2023-01-01', 'soon'])('S-031: offers 2025-11-25 for %s', async (revision) => {
    const client = serve();
    expect((await client.initialize(revision))['result']).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it.each([
    {},
    { protocolVersion: 5 },
    { protocolVersion: '2025-11-25', clientInfo: { name: 'no version' } },
  ])('refuses the handshake %j by -32602 and takes a better one', async (params) => {
    const client = serve();
    expect(codeOf(await client.legacy(1, 'initialize', params))).toBe(-32602);
    expect((await client.initialize('2025-06-18'))['result']).toBeDefined();
  });

  it('refuses a second initialize by -32600, and the first one stands', async () => {
    const client = serve();
    await client.initialize('2024-11-05');
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    expect(errorOf(await client.legacy(2, 'initialize', params))).toEqual({
      code: -32600,
      message: 'This channel is initialized already',
    });
    const { tools } = (await client.legacy(3, 'tools/list'))['result'] as { tools: Json[] };
    expect(tools[0]).not.toHaveProperty('annotations');
  });

  it('serves both eras interleaved, each message by its own rules', async () => {
    const client = serve();
    await client.initialize('2025-06-18');
    for (let round = 0; round < 3; round++) {
      client.sendModern(`m${round}`, 'tools/call', call('wrap', { text: 'modern' }));
      client.sendLegacy(`l${round}`, 'tools/call', call('wrap', { text: 'legacy' }));
    }
    const modern = (await client.pipe.answer('m2'))['result'] as Json;
    const legacy = (await client.pipe.answer('l2'))['result'] as Json;
    expect(modern).toMatchObject({ resultType: 'complete', structuredContent: { text: 'modern' } });
    expect(Object.keys(modern).sort()).toEqual(['_meta', 'content', 'resultType', 'structuredContent']);
    expect(Object.keys(legacy).sort()).toEqual(['content', 'structuredContent']);
  });

  it('never takes a modern message for a legacy one, also after the handshake', async () => {
    const client = serve();
    await client.initialize('2025-11-25');
    expect(codeOf(await client.modern(1, 'ping'))).toBe(-32601);
    expect(codeOf(await client.modern(2, 'initialize'))).toBe(-32601);
    expect((await client.modern(3, 'tools/list'))['result']).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
    });
    client.pipe.send({
      jsonrpc: '2.0',
      id: 4,
      method: 'tools/list',
      params: { _meta: envelope({ [VERSION_KEY]: '2025-11-25' }) },
    });
    expect(codeOf(await client.pipe.answer(4))).toBe(-32022);
    expect(codeOf(await client.legacy(5, 'server/discover'))).toBe(-32601);
  });

  it('names its revisions to a handshake where it serves modern ones only', async () => {
    const client = serve({ revisions: ['2026-07-28'] });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    expect(errorOf(await client.legacy(1, 'initialize', params))).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    });
    expect((await client.modern(2, 'tools/list'))['result']).toBeDefined();
  });

  it('lets a probing client fall back where it serves legacy revisions only', async () => {
    const client = serve({ revisions: ['2025-06-18', '2025-03-26'] });
    const probe = await client.modern(1, 'server/discover');
    expect([-32020, -32021, -32022]).not.toContain(codeOf(probe));
    expect(codeOf(probe)).toBe(-32602);
    expect((await client.initialize('2025-11-25'))['result']).toMatchObject({
      protocolVersion: '2025-06-18',
    });
    expect((await client.legacy(2, 'tools/list'))['result']).toBeDefined();
  });
});

describe.each(LEGACY)('in %s', (revision) => {
  let client: StdioClient;

  beforeEach(async () => {
    client = serve();
    await client.initialize(revision);
  });

  it('lists tools with what the revision has', async () => {
    const { tools } = (await client.legacy(1, 'tools/list'))['result'] as { tools: Json[] };
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
    const titled = { title: 'Echo', annotations: hints };
    const extra = {
      '2025-11-25': titled,
      '2025-06-18': titled,
      '2025-03-26': { annotations: { title: 'Echo', ...hints } },
      '2024-11-05': {},
    }[revision];
    expect(tools[0]).toEqual({
      name: 'echo',
      description: 'Says the same',
      inputSchema: expect.objectContaining({ type: 'object', required: ['text'] }),
      ...extra,
    });
  });

  it('gives structured content only to those who know it', async () => {
    const { result } = await client.legacy(1, 'tools/call', call('wrap', { text: 'x' }));
    const structured = revision >= '2025-06-18' ? { structuredContent: { text: 'x' } } : {};
    expect(result).toEqual({ content: [{ type: 'text', text: '{"text":"x"}' }], ...structured });
  });

  it('answers what has no readable id as the revision has it', async () => {
    client.pipe.write(`hello\n[]\n${'{"id":null}'}\n`);
    const refusals = (await everything(client)).filter(isRefusal);
    expect(refusals.map(codeOf)).toEqual([-32700, -32600, -32600]);
    for (const refusal of refusals) {
      if (revision <= '2025-06-18') expect(refusal['id']).toBeNull();
      else expect(refusal).not.toHaveProperty('id');
    }
  });

  it('answers unknown tools, methods and cursors by errors, bad arguments by a result', async () => {
    expect(errorOf(await client.legacy(1, 'tools/call', call('nope')))).toEqual({
      code: -32602,
      message: 'Invalid params: unknown tool "nope"',
    });
    expect(codeOf(await client.legacy(2, 'no/such'))).toBe(-32601);
    expect(codeOf(await client.legacy(3, 'tools/list', { cursor: 'forged' }))).toBe(-32602);
    const { result } = await client.legacy(4, 'tools/call', call('echo', { txt: 1 }));
    expect(result).toEqual({
      content: [
        {
          type: 'text',
          text: 'Invalid arguments for echo:\n- text: is required\n- txt: is not a known member (known: text)',
        },
      ],
      isError: true,
    });
  });

  it('sends progress without a message to those who do not know it', async () => {
    await client.legacy(1, 'tools/call', call('count', { count: 1 }, { progressToken: 't' }));
    const message = revision === '2024-11-05' ? {} : { message: 'step 1' };
    const [notification] = (await everything(client)).filter(({ method }) => method);
    expect(notification!['params']).toEqual({ progressToken: 't', progress: 1, total: 1, ...message });
  });
});

/** A client that speaks one of the eras, for what holds in both. */
const ERAS: [string, (limits?: McpModuleOptions['limits']) => Promise<[StdioClient, 'modern' | 'legacy']>][] =
  [
    ['2026-07-28', async (limits = {}) => [serve({ limits }), 'modern']],
    [
      '2025-11-25',
      async (limits = {}) => {
        const client = serve({ limits });
        await client.initialize('2025-11-25');
        return [client, 'legacy'];
      },
    ],
  ];

describe.each(ERAS)('calls in %s', (_revision, connect) => {
  it('refuses the id of a call that runs by -32600, and the first call is unharmed', async () => {
    const [client, era] = await connect();
    const first = client[era]('same', 'tools/call', call('hold', { text: `${era}-same` }));
    const { signal, release } = await held.of(`${era}-same`);
    client[era === 'modern' ? 'sendModern' : 'sendLegacy'](
      'same',
      'tools/call',
      call('echo', { text: 'second' }),
    );
    await first.then((refusal) => {
      expect(errorOf(refusal)).toEqual({
        code: -32600,
        message: 'Invalid request: a call with this id is still running',
      });
    });
    expect(signal.aborted).toBe(false);
    release('first');
    const answers = (await everything(client)).filter(({ id }) => id === 'same');
    expect(answers).toHaveLength(2);
    expect(resultText(answers[1]!)).toBe('first');
  });

  it('tells "1" from 1 and takes an id again once it is answered', async () => {
    const [client, era] = await connect();
    const texts = [`${era}-text`, `${era}-number`];
    void client[era]('1', 'tools/call', call('hold', { text: texts[0]! }));
    void client[era](1, 'tools/call', call('hold', { text: texts[1]! }));
    for (const text of texts) (await held.of(text)).release(text);
    expect(resultText(await client.pipe.answer('1'))).toBe(texts[0]);
    expect(resultText(await client.pipe.answer(1))).toBe(texts[1]);
    client.pipe.lines.length = 0;
    expect(resultText(await client[era](1, 'tools/call', call('echo', { text: 'again' })))).toBe('again');
  });

  it('refuses a call over the cap of the channel by -32600 with its id, and frees its place', async () => {
    const [client, era] = await connect({ inFlightPerChannel: 2 });
    for (const id of [1, 2]) void client[era](id, 'tools/call', call('hold', { text: `${era}-cap-${id}` }));
    const { release } = await held.of(`${era}-cap-1`);
    const other = await held.of(`${era}-cap-2`);
    expect(errorOf(await client[era](3, 'tools/call', call('echo', { text: 'third' })))).toEqual({
      code: -32600,
      message: 'Too many calls in flight on this channel: at most 2',
    });
    expect((await client[era](4, 'tools/list'))['result']).toBeDefined();
    release('done');
    await client.pipe.answer(1);
    expect(resultText(await client[era](5, 'tools/call', call('echo', { text: 'fifth' })))).toBe('fifth');
    other.release('done');
  });

  it('S-042: aborts a cancelled call and sends nothing more for its id', async () => {
    const [client, era] = await connect({ inFlightPerChannel: 1 });
    const token = { progressToken: 'gone' };
    const send = client[era === 'modern' ? 'sendModern' : 'sendLegacy'].bind(client);
    send(7, 'tools/call', call('hold', { text: `${era}-cancel` }, token));
    const { signal, release } = await held.of(`${era}-cancel`);
    client.notify('notifications/cancelled', { requestId: 7, reason: 'no longer needed' });
    // The cap is one: that this is served shows that the cancelled call has left its place.
    expect(resultText(await client[era](8, 'tools/call', call('echo', { text: 'next' })))).toBe('next');
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: 'AbortError', message: 'The client cancelled the call' });
    release('too late');
    const about = (await everything(client)).filter(
      (message) => message['id'] === 7 || message['method'] === 'notifications/progress',
    );
    expect(about).toEqual([]);
  });

  it('ignores a cancellation of what is unknown, finished, malformed or of another type', async () => {
    const [client, era] = await connect();
    const running = client[era](7, 'tools/call', call('hold', { text: `${era}-ignore` }));
    const { signal, release } = await held.of(`${era}-ignore`);
    await client[era]('done', 'tools/call', call('echo', { text: 'x' }));
    const before = client.pipe.lines.length;
    for (const requestId of ['done', 'unknown', '7', 8, null, 7.5, {}, [7], true, undefined]) {
      client.notify('notifications/cancelled', { requestId });
    }
    client.pipe.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}\n');
    client.pipe.write('{"jsonrpc":"2.0","method":"notifications/cancelled"}\n');
    client.pipe.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":[7]}\n');
    const refused = await client.pipe.next(isRefusal);
    expect(codeOf(refused)).toBe(-32600);
    expect(signal.aborted).toBe(false);
    release('finished');
    expect(resultText(await running)).toBe('finished');
    expect(client.pipe.lines.length).toBe(before + 2);
  });

  it('cancels by all digits of an id', async () => {
    const [client, era] = await connect();
    const meta = era === 'modern' ? envelope() : {};
    const params = JSON.stringify({ ...call('hold', { text: `${era}-digits` }), _meta: meta });
    const big = '12345678901234567890';
    client.pipe.write(`{"jsonrpc":"2.0","id":${big},"method":"tools/call","params":${params}}\n`);
    const { signal, release } = await held.of(`${era}-digits`);
    const cancel = (id: string) =>
      client.pipe.write(
        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}\n`,
      );
    cancel('12345678901234567891');
    await client[era](1, 'tools/list');
    expect(signal.aborted).toBe(false);
    cancel(big);
    await client[era](2, 'tools/list');
    expect(signal.aborted).toBe(true);
    release('too late');
  });

  it.each(['"abc"', '0', '7', '"7"', '12345678901234567890', '""'])(
    'K1: sends progress with the token %s as it was given, before the answer',
    async (token) => {
      const [client, era] = await connect();
      const meta = era === 'modern' ? `${JSON.stringify(envelope()).slice(1, -1)},` : '';
      client.pipe.write(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"count":2},` +
          `"_meta":{${meta}"progressToken":${token}}}}\n`,
      );
      await client.pipe.answer(1);
      const line = (step: number) =>
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},` +
        `"progress":${step},"total":2,"message":"step ${step}"}}`;
      expect(client.pipe.lines.slice(-3, -1)).toEqual([line(1), line(2)]);
    },
  );

  it('K1, S-123: sends no progress without a token, and none for a token that cannot be', async () => {
    const [client, era] = await connect();
    expect(resultText(await client[era](1, 'tools/call', call('count', { count: 3 })))).toBe('counted');
    for (const [id, progressToken] of [null, 1.5, true, {}, 'x'.repeat(257)].entries()) {
      const answer = await client[era](
        `bad-${id}`,
        'tools/call',
        call('count', { count: 3 }, { progressToken }),
      );
      expect(codeOf(answer)).toBe(-32602);
    }
    expect((await everything(client)).filter(({ method }) => method)).toEqual([]);
  });

  it('answers a call that runs out of time, and ends it', async () => {
    const [client, era] = await connect({ handlerTime: 20 });
    const answer = client[era](1, 'tools/call', call('hold', { text: `${era}-timeout` }));
    const { signal } = await held.of(`${era}-timeout`);
    expect((await answer)['result']).toMatchObject({ isError: true });
    expect(resultText(await answer)).toBe('The tool did not finish within 20 ms');
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('answers a call that ends within the grace after the end of the input', async () => {
    const [client, era] = await connect();
    client[era === 'modern' ? 'sendModern' : 'sendLegacy'](
      1,
      'tools/call',
      call('hold', { text: `${era}-eof` }),
    );
    const { signal, release } = await held.of(`${era}-eof`);
    const ended = everything(client);
    await setImmediate();
    expect(signal.aborted).toBe(false);
    release('in time');
    expect(resultText((await ended).at(-1)!)).toBe('in time');
  });

  it('answers calls that outlast the grace as shutting down, and aborts them', async () => {
    const [client, era] = await connect({ shutdownGrace: 20 });
    const send = client[era === 'modern' ? 'sendModern' : 'sendLegacy'].bind(client);
    const keys = Array.from({ length: 10 }, (_, index) => `${era}-outlast-${index}`);
    for (const text of keys) send(text, 'tools/call', call('hold', { text }));
    const calls = await Promise.all(keys.map((key) => held.of(key)));
    const answers = (await everything(client)).filter(({ id }) => keys.includes(String(id)));
    expect(answers).toHaveLength(10);
    for (const { result } of answers) {
      expect(result).toMatchObject({
        content: [{ type: 'text', text: 'The server is shutting down' }],
        isError: true,
      });
    }
    expect(calls.every(({ signal }) => signal.aborted)).toBe(true);
  });
});

describe('ends', () => {
  it('by the option signal, as by the end of the input', async () => {
    const controller = new AbortController();
    const client = serve({ limits: { shutdownGrace: 20 } }, { signal: controller.signal });
    const answer = client.modern(1, 'tools/call', call('hold', { text: 'signal' }));
    const { signal } = await held.of('signal');
    controller.abort();
    expect(resultText(await answer)).toBe('The server is shutting down');
    expect(signal.aborted).toBe(true);
  });

  it('at once with a signal that has aborted before', async () => {
    expect(await everything(serve({}, { signal: AbortSignal.abort() }))).toEqual([]);
  });

  it('by a fatal error of the input', async () => {
    Logger.overrideLogger(false);
    const input = new PassThrough();
    const served = serveMcpOverStdio(stdioApp(), { input, output: new PassThrough().resume() });
    input.destroy(new Error('gone'));
    await expect(served).resolves.toBeUndefined();
  });

  it('G3: when the client closes its reading end, and the call is aborted', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp(), { input, output });
    input.write(`${JSON.stringify(modernMessage('tools/call', call('hold', { text: 'broken' })))}\n`);
    const { signal } = await held.of('broken');
    output.destroy(new Error('EPIPE'));
    await served;
    expect(signal.reason).toMatchObject({ message: 'The client closed the connection' });
  });

  it('refuses to serve an application without the module', async () => {
    @Module({})
    class Bare {}
    await expect(
      serveMcpOverStdio(Bare, { input: new PassThrough(), output: new PassThrough() }),
    ).rejects.toThrow(/serveMcpOverStdio\(\): the application does not import the module/);
  });
});

describe('a client that stops reading', () => {
  /** Gives everything that can run the chance to. */
  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) await setImmediate();
  };
  const read = (output: PassThrough) => {
    const chunks: Buffer[] = [];
    output.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () =>
      Buffer.concat(chunks)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Json);
  };

  it('makes progress wait, and gets all of it in order once it reads again', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp(), { input, output });
    const params = call('flood', { count: 1000 }, { progressToken: 1 });
    flooded.reached = 0;
    input.write(`${JSON.stringify(modernMessage('tools/call', params))}\n`);
    while (!output.writableNeedDrain) await setImmediate();
    await settle();
    expect(flooded.reached).toBeLessThan(100);
    expect(output.writableLength + output.readableLength).toBeLessThan(100_000);
    const messages = read(output);
    input.end();
    await served;
    const steps = messages()
      .filter(({ method }) => method)
      .map(({ params: told }) => (told as Json)['progress']);
    expect(steps).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(resultText(messages().at(-1)!)).toBe('done');
  });

  it('loses progress that waits for nobody, but no answer, and nothing piles up', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp(), { input, output });
    const params = call('spill', { count: 10_000 }, { progressToken: 1 });
    for (const id of [1, 2]) input.write(`${JSON.stringify(modernMessage('tools/call', params, id))}\n`);
    while (!output.writableNeedDrain) await setImmediate();
    await settle();
    expect(output.writableLength + output.readableLength).toBeLessThan(100_000);
    const messages = read(output);
    await settle();
    input.write(
      `${JSON.stringify(modernMessage('tools/call', call('flood', { count: 3 }, { progressToken: 2 }), 3))}\n`,
    );
    input.end();
    await served;
    const answers = messages().filter(({ id }) => id !== undefined);
    expect(answers.map((answer) => [answer['id'], resultText(answer)])).toEqual([
      [1, 'spilt'],
      [2, 'spilt'],
      [3, 'done'],
    ]);
    const told = messages().filter(({ method }) => method);
    const stepsOf = (token: number) =>
      told
        .map(({ params: step }) => step as Json)
        .filter(({ progressToken }) => progressToken === token)
        .map(({ progress }) => progress as number);
    const steps = stepsOf(1);
    expect(steps[0]).toBe(1);
    expect(steps.length).toBeLessThan(100);
    expect(stepsOf(2)).toEqual([1, 2, 3]);
  });

  it('is not read from while results of more bytes than one may have wait for it', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp({ limits: { resultSize: 100_000 } }), { input, output });
    flooded.reached = 0;
    const params = call('big', { count: 90_000 });
    const ids = Array.from({ length: 30 }, (_, id) => id);
    for (const id of ids) {
      input.write(`${JSON.stringify(modernMessage('tools/call', params, id))}\n`);
      while (flooded.reached === 0) await setImmediate();
      await settle();
    }
    expect(flooded.reached).toBe(2);
    expect(output.writableLength + output.readableLength).toBeLessThan(300_000);
    const messages = read(output);
    input.end();
    await served;
    expect(messages().map(({ id }) => id)).toEqual(ids);
    expect(flooded.reached).toBe(30);
  });

  it('is not read from either, however much it asks', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp(), { input, output });
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on('warning', onWarning);
    let asked = 0;
    while (asked < 5000) {
      input.write(`${JSON.stringify(modernMessage('tools/list', {}, asked++))}\n`);
      if (!input.writableNeedDrain) continue;
      await settle();
      if (input.writableNeedDrain) break;
    }
    expect(asked).toBeLessThan(5000);
    expect(output.writableLength + output.readableLength).toBeLessThan(2_000_000);
    const messages = read(output);
    input.end();
    await served;
    process.off('warning', onWarning);
    expect(messages().map(({ id }) => id)).toEqual(Array.from({ length: asked }, (_, id) => id));
    expect(warnings).toEqual([]);
  });

  it('does not keep the server after the end of the input and the grace', async () => {
    Logger.overrideLogger(false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(stdioApp({ limits: { shutdownGrace: 20 } }), { input, output });
    const params = call('flood', { count: 1000 }, { progressToken: 1 });
    input.write(`${JSON.stringify(modernMessage('tools/call', params))}\n`);
    while (!output.writableNeedDrain) await setImmediate();
    input.end();
    await expect(served).resolves.toBeUndefined();
  });
});

describe("the application's own", () => {
  const seen: string[] = [];

  @Injectable()
  class NotForBob implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const request = context.switchToHttp().getRequest<McpStdioRequest>();
      seen.push(`guard of ${context.getType()}`);
      if (request.get('X-User') === 'bob') throw new ForbiddenException('Not for Bob');
      return true;
    }
  }

  class Upper implements PipeTransform {
    transform(value: unknown): unknown {
      seen.push('pipe');
      const { text } = value as { text?: string };
      return text === undefined ? value : Object.assign(value as object, { text: text.toUpperCase() });
    }
  }

  class Exclaim implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler<string>): Observable<string> {
      seen.push('interceptor');
      return next.handle().pipe(map((text) => `${text}!`));
    }
  }

  @Catch(ForbiddenException)
  class Polite implements ExceptionFilter<ForbiddenException> {
    catch({ message }: ForbiddenException, host: ArgumentsHost): unknown {
      seen.push(`filter of ${host.getType()}`);
      return { content: [{ type: 'text', text: `Sorry: ${message}` }], isError: true };
    }
  }

  const configure: McpStdioOptions['configure'] = async (app) => {
    await setImmediate();
    app
      .useGlobalGuards(new NotForBob())
      .useGlobalInterceptors(new Exclaim())
      .useGlobalPipes(new Upper())
      .useGlobalFilters(new Polite());
  };

  beforeEach(() => seen.splice(0));

  it('global guards, interceptors and pipes run by `configure`, in the order of Nest', async () => {
    const client = serve({}, { configure });
    expect(resultText(await client.modern(1, 'tools/call', call('echo', { text: 'hi' })))).toBe('HI!');
    expect(seen).toEqual(['guard of mcp', 'interceptor', 'pipe']);
  });

  it('global filters shape what a guard throws', async () => {
    const client = serve({}, { configure, request: { headers: { 'x-user': 'bob' } } });
    const { result } = await client.modern(1, 'tools/call', call('echo', { text: 'hi' }));
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'Sorry: Not for Bob' }], isError: true });
    expect(seen).toEqual(['guard of mcp', 'filter of mcp']);
  });

  it('without `configure` there are none', async () => {
    const client = serve();
    expect(resultText(await client.modern(1, 'tools/call', call('echo', { text: 'hi' })))).toBe('hi');
    expect(seen).toEqual([]);
  });

  it('reports what `configure` throws', async () => {
    const failing = serveMcpOverStdio(stdioApp(), {
      input: new PassThrough(),
      output: new PassThrough(),
      configure: () => Promise.reject(new Error('configured badly')),
    });
    await expect(failing).rejects.toThrow('configured badly');
  });

  it.each<[string, McpStdioOptions['configure']]>([
    ['the whole application', (app: INestApplication) => void app.useGlobalInterceptors(new Exclaim())],
    [
      'a part of it',
      (app: Pick<INestApplication, 'useGlobalInterceptors'>) => void app.useGlobalInterceptors(new Exclaim()),
    ],
    [
      'an application of an adapter, which it passes on',
      async (app: NestExpressApplication) => app.useGlobalInterceptors(new Exclaim()) as never,
    ],
  ])('`configure` may be a function that takes %s', async (_, shared) => {
    const client = serve({}, { configure: shared });
    expect(resultText(await client.modern(1, 'tools/call', call('echo', { text: 'hi' })))).toBe('hi!');
    await everything(client);
  });

  it.each<[string, (app: NestExpressApplication) => unknown]>([
    ['setGlobalPrefix', (app) => app.setGlobalPrefix('api')],
    ['enableCors', (app) => app.enableCors()],
    ['use', (app) => app.use(() => undefined)],
    ['useStaticAssets', (app) => app.useStaticAssets('public')],
    ['getHttpAdapter', (app) => app.getHttpAdapter()],
  ])('`configure` is told that stdio has no %s, and what to do', async (name, set) => {
    const failing = serveMcpOverStdio(stdioApp(), {
      input: new PassThrough(),
      output: new PassThrough(),
      configure: (app: NestExpressApplication) => void set(app),
    });
    await expect(failing).rejects.toThrow(
      new TypeError(
        `serveMcpOverStdio(): configure uses app.${name}, which an application on stdio does not have: keep what ` +
          'only the HTTP application needs out of the function that both share. Here are useGlobalGuards, ' +
          'useGlobalPipes, useGlobalInterceptors, useGlobalFilters, useLogger, get',
      ),
    );
  });
});

describe('the stand-in for the request', () => {
  const requests: McpStdioRequest[] = [];

  @Injectable()
  class Stamp implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const request = context.switchToHttp().getRequest<McpStdioRequest & { stamped?: boolean }>();
      if (request.stamped || request.headers['stamp'] || request.params['stamp'] || request.query['stamp'])
        return false;
      requests.push(request);
      Object.assign(request, { stamped: true });
      for (const bag of [request.headers, request.params, request.query, request.cookies])
        bag['stamp'] = 'yes';
      request.user = { id: `${(request.user as { id: string }).id} again` };
      return true;
    }
  }

  @Injectable()
  class WhoAmI {
    @McpTool({ description: 'Tells who is calling' })
    whoAmI(ctx: McpContext): Json {
      const { headers, user } = ctx.request as McpStdioRequest;
      return {
        caller: ctx.caller?.id,
        authorization: headers['authorization'],
        user,
        transport: ctx.transport,
      };
    }
  }

  @Module({ imports: [McpModule.forRoot({ name: 'who', version: '1.0.0' })], providers: [WhoAmI] })
  class WhoApp {}

  it('A8: is what the documents say, with the headers and the user of the option', async () => {
    requests.length = 0;
    const stand = { headers: { Authorization: 'Bearer t' }, user: { id: 'u1' } };
    const client = serve(
      {},
      { request: stand, configure: (app) => void app.useGlobalGuards(new Stamp()) },
      WhoApp,
    );
    const { result } = await client.modern(1, 'tools/call', call('whoAmI'));
    expect(result).toMatchObject({
      structuredContent: {
        caller: 'u1 again',
        authorization: 'Bearer t',
        user: { id: 'u1 again' },
        transport: 'stdio',
      },
    });
    const [request] = requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/',
      originalUrl: '/',
      path: '/',
      protocol: 'stdio',
      ip: 'stdio',
      ips: [],
      hostname: 'localhost',
      socket: { remoteAddress: 'stdio' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call' },
    });
    expect(request!.get('AUTHORIZATION')).toBe('Bearer t');
    expect(request!.header('authorization')).toBe('Bearer t');
  });

  it('is a new one for each call, so that what a guard writes does not leak', async () => {
    requests.length = 0;
    const stand = { user: { id: 'u1' } };
    const client = serve(
      {},
      { request: stand, configure: (app) => void app.useGlobalGuards(new Stamp()) },
      WhoApp,
    );
    for (const id of [1, 2]) {
      const { result } = await client.modern(id, 'tools/call', call('whoAmI'));
      expect(result).toMatchObject({ structuredContent: { caller: 'u1 again' } });
    }
    expect(requests[0]).not.toBe(requests[1]);
    expect(stand).toEqual({ user: { id: 'u1' } });
  });
});

import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { eventsOf, Traffic } from '../support/traffic.js';
import {
  CAPABILITIES_KEY,
  envelope,
  modern,
  modernHeaders,
  modernMessage,
  post,
  textOf,
  VERSION_KEY,
  type Json,
  type Reply,
} from '../support/wire.js';
import { exchange, RawConnection, rawRequest } from './raw-connection.js';
import { HeldCalls, LogRecorder, wireApp, WireTools } from './wire.app.js';

const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo';
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'wire', version: '1.2.3' } };
const CALL = { name: 'echo', arguments: { text: 'hi' } };
const BOTH = 'application/json, text/event-stream';

type Pairs = readonly (readonly [string, string])[];

/** The headers of a good call, as pairs that a raw request can double or misspell. */
const headerPairs = (body: string, more: Pairs = []): Pairs => [
  ['Host', 'localhost'],
  ['Content-Type', 'application/json'],
  ['Content-Length', String(Buffer.byteLength(body))],
  ...more,
];

const MIRRORS: Pairs = [
  ['MCP-Protocol-Version', '2026-07-28'],
  ['Mcp-Method', 'tools/call'],
  ['Mcp-Name', 'echo'],
];

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** Headers that contradict a good call of `echo`, in place of its own. */
const MISMATCHES: readonly (readonly [string, Pairs])[] = [
  ['D1, S-058: no MCP-Protocol-Version', MIRRORS.slice(1)],
  ['D1, S-060: no Mcp-Method', [MIRRORS[0]!, MIRRORS[2]!]],
  ['D1, S-061: no Mcp-Name', MIRRORS.slice(0, 2)],
  ['S-057: another MCP-Protocol-Version', [['MCP-Protocol-Version', '2031-01-01'], ...MIRRORS.slice(1)]],
  ['S-057: a legacy MCP-Protocol-Version', [['MCP-Protocol-Version', '2025-11-25'], ...MIRRORS.slice(1)]],
  ['an empty MCP-Protocol-Version', [['MCP-Protocol-Version', ''], ...MIRRORS.slice(1)]],
  ['D2: Mcp-Name of another tool', [...MIRRORS.slice(0, 2), ['Mcp-Name', 'hello']]],
  ['D2: Mcp-Name in another case', [...MIRRORS.slice(0, 2), ['Mcp-Name', 'Echo']]],
  ['an empty Mcp-Name', [...MIRRORS.slice(0, 2), ['Mcp-Name', '']]],
  ['D2: Mcp-Method in another case', [MIRRORS[0]!, ['Mcp-Method', 'TOOLS/CALL'], MIRRORS[2]!]],
  ['S-060: another Mcp-Method', [MIRRORS[0]!, ['Mcp-Method', 'tools/list'], MIRRORS[2]!]],
  ['Mcp-Method in Base64', [MIRRORS[0]!, ['Mcp-Method', base64('tools/call')], MIRRORS[2]!]],
  ['two equal lines of Mcp-Name', [...MIRRORS, ['Mcp-Name', 'echo']]],
  ['two lines of Mcp-Name', [...MIRRORS, ['mcp-name', 'hello']]],
  ['two equal lines of Mcp-Method', [...MIRRORS, ['Mcp-Method', 'tools/call']]],
  ['two equal lines of MCP-Protocol-Version', [...MIRRORS, ['MCP-Protocol-Version', '2026-07-28']]],
  ['S-062: Base64 of another name', [...MIRRORS.slice(0, 2), ['Mcp-Name', base64('hello')]]],
  ['S-062: Base64 without padding', [...MIRRORS.slice(0, 2), ['Mcp-Name', '=?base64?ZWNobw?=']]],
  ['S-062: characters outside Base64', [...MIRRORS.slice(0, 2), ['Mcp-Name', '=?base64?ZW!obw==?=']]],
  ['S-062: Base64 of invalid UTF-8', [...MIRRORS.slice(0, 2), ['Mcp-Name', '=?base64?/w==?=']]],
  ['S-062: the marker in capitals', [...MIRRORS.slice(0, 2), ['Mcp-Name', '=?BASE64?ZWNobw==?=']]],
  ['S-062: Base64 within Base64', [...MIRRORS.slice(0, 2), ['Mcp-Name', base64(base64('echo'))]]],
  ['S-062: a raw byte beyond ASCII', [...MIRRORS.slice(0, 2), ['Mcp-Name', 'ech\xf6']]],
  ['a tab within Mcp-Name', [...MIRRORS.slice(0, 2), ['Mcp-Name', 'ec\tho']]],
];

/** Headers that mirror the same call in an unusual way. */
const MATCHES: readonly (readonly [string, Pairs])[] = [
  ['as they are', MIRRORS],
  ['D2, S-065: names in odd case', MIRRORS.map(([name, value]) => [oddCase(name), value])],
  ['S-065: names in capitals', MIRRORS.map(([name, value]) => [name.toUpperCase(), value])],
  ['blanks round the values', MIRRORS.map(([name, value]) => [name, `  ${value}\t `])],
  ['S-062: Mcp-Name in Base64', [...MIRRORS.slice(0, 2), ['Mcp-Name', base64('echo')]]],
  [
    'S-192: a stray session id and Last-Event-ID',
    [...MIRRORS, ['Mcp-Session-Id', 'stray'], ['Last-Event-ID', '7']],
  ],
  ['an unknown Mcp-Param', [...MIRRORS, ['Mcp-Param-Text', 'other']]],
];

function oddCase(name: string): string {
  return Array.from(name, (char, at) => (at % 2 ? char.toUpperCase() : char.toLowerCase())).join('');
}

const ACCEPTS: readonly (readonly [string | undefined, string, number])[] = [
  ['*/*', 'application/json', 200],
  ['text/event-stream, application/json', 'application/json', 200],
  ['application/json;q=0.5, text/event-stream;q=0.9', 'application/json', 200],
  [undefined, 'application/json', 200],
  ['application/json', 'application/json', 200],
  ['application/*', 'application/json', 200],
  ['APPLICATION/JSON', 'application/json', 200],
  ['text/html, */*;q=0.1', 'application/json', 200],
  ['text/event-stream', 'text/event-stream', 200],
  ['text/*', 'text/event-stream', 200],
  ['application/json;q=0, */*', 'text/event-stream', 200],
  ['text/html', 'application/json', 406],
  ['application/json;q=0, text/event-stream;q=0.0', 'application/json', 406],
  ['application/jsonx', 'application/json', 406],
];

const REMOVED = [
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/initialized',
];

const NASTY = 'a\r\nb\n\n\r\ndata: {"x":1}\nevent: message\n\u2028\u2029 \u{1f600}\u0000 : c\r';

describe.each(ADAPTERS)('2026-07-28 over HTTP on %s', (adapter) => {
  let running: RunningApp;
  let tools: WireTools;
  let held: HeldCalls;
  const logs = new LogRecorder();
  const traffic = new Traffic();

  beforeAll(async () => {
    const limits = { resultSize: 20_000 };
    running = await startApp(wireApp({ limits, instructions: 'Be kind.' }), { adapter, logger: logs });
    tools = running.app.get(WireTools);
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  /** A request whose answer is judged. */
  async function ask(
    method: string,
    params: Json = {},
    headers: Record<string, string> = {},
    id: string | number = 1,
  ): Promise<Reply> {
    const reply = await modern(running.mcp, method, params, headers, id);
    for (const message of reply.messages)
      traffic.observe(message, '2026-07-28', 'method' in message ? undefined : method);
    return reply;
  }

  function expectError(reply: Pick<Reply, 'status' | 'body'>, status: number, code: number, id: unknown = 1) {
    const error = reply.body['error'] as Json | undefined;
    expect([reply.status, error?.['code'], reply.body['id']]).toEqual([status, code, id]);
  }

  describe('the mirrored headers', () => {
    const body = JSON.stringify(modernMessage('tools/call', CALL, 'h-1'));

    it.each(MISMATCHES)('%s: 400, -32020, the id, and nothing runs', async (_what, pairs) => {
      const { entered } = tools;
      const answer = await exchange(running.url, rawRequest('POST', '/mcp', headerPairs(body, pairs), body));
      traffic.observe(answer.json, '2026-07-28', 'tools/call');
      expectError({ status: answer.status, body: answer.json }, 400, -32020, 'h-1');
      expect(tools.entered).toBe(entered);
    });

    it.each(MATCHES)('%s: served', async (_what, pairs) => {
      const answer = await exchange(running.url, rawRequest('POST', '/mcp', headerPairs(body, pairs), body));
      expect([answer.status, textOf(answer.json['result'] as Json)]).toEqual([200, 'hi']);
      expect(answer.headers).not.toHaveProperty('mcp-session-id');
      expect(answer.headers).not.toHaveProperty('last-event-id');
    });

    it('S-061: does not ask for Mcp-Name where nothing is named', async () => {
      const reply = await ask('tools/list', {}, { 'mcp-name': 'anything' });
      expect(reply.status).toBe(200);
    });
  });

  describe('versions and the envelope', () => {
    it('D8, S-019: answers -32022 with what is served and what was asked', async () => {
      const params = { _meta: { [VERSION_KEY]: '2031-01-01' } };
      const reply = await ask('tools/list', params, { 'mcp-protocol-version': '2031-01-01' }, 'v');
      expectError(reply, 400, -32022, 'v');
      expect(reply.error.data).toEqual({ supported: ['2026-07-28'], requested: '2031-01-01' });
    });

    it.each(['2025-11-25', '2024-11-05', '', 'banana'])(
      'S-191: serves no envelope of %p',
      async (version) => {
        const reply = await ask(
          'tools/list',
          { _meta: { [VERSION_KEY]: version } },
          { 'mcp-protocol-version': version },
        );
        expectError(reply, 400, -32022);
        expect(reply.error.data).toEqual({ supported: ['2026-07-28'], requested: version });
      },
    );

    it('S-057: answers -32020 when an unknown version differs from the header', async () => {
      expectError(await ask('tools/list', { _meta: { [VERSION_KEY]: '2031-01-01' } }), 400, -32020);
    });

    it.each([
      ['no params', undefined],
      ['no _meta', {}],
      ['an empty _meta', { _meta: {} }],
      ['_meta as text', { _meta: 'x' }],
      ['no version', { _meta: { [CAPABILITIES_KEY]: {} } }],
      ['a version that is no text', { _meta: envelope({ [VERSION_KEY]: 20260728 }) }],
      ['no capabilities', { _meta: { [VERSION_KEY]: '2026-07-28' } }],
      ['capabilities null', { _meta: envelope({ [CAPABILITIES_KEY]: null }) }],
      ['capabilities as an array', { _meta: envelope({ [CAPABILITIES_KEY]: [] }) }],
      ['clientInfo without version', { _meta: envelope({ [CLIENT_KEY]: { name: 'x' } }) }],
      ['clientInfo as text', { _meta: envelope({ [CLIENT_KEY]: 'x' }) }],
      ['clientInfo null', { _meta: envelope({ [CLIENT_KEY]: null }) }],
    ])('S-012: answers 400 and -32602 to %s', async (_what, params) => {
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
      const reply = await post(running.mcp, message, modernHeaders('tools/list'));
      traffic.observe(reply.body, '2026-07-28', 'tools/list');
      expectError(reply, 400, -32602);
    });

    it('serves a request without clientInfo', async () => {
      expect((await ask('tools/list')).status).toBe(200);
    });

    it('S-014: knows nothing from an earlier request of the same connection', async () => {
      const connection = await RawConnection.open(running.url);
      const seen: Json[] = [];
      for (const meta of [
        { [CLIENT_KEY]: { name: 'first', version: '9' }, [CAPABILITIES_KEY]: { elicitation: {} } },
        {},
      ]) {
        const body = JSON.stringify(modernMessage('tools/call', { name: 'whoami', _meta: meta }));
        const pairs = headerPairs(body, [...MIRRORS.slice(0, 2), ['Mcp-Name', 'whoami']]);
        const { text } = await connection.write(rawRequest('POST', '/mcp', pairs, body)).answer();
        seen.push((JSON.parse(text) as { result: { structuredContent: Json } }).result.structuredContent);
      }
      connection.destroy();
      const common = { era: 'modern', revision: '2026-07-28', requestId: 1 };
      expect(seen).toEqual([
        { ...common, client: { name: 'first', version: '9', capabilities: { elicitation: {} } } },
        { ...common, client: { capabilities: {} } },
      ]);
    });

    it('S-020: answers server/discover with no request before it', async () => {
      const reply = await ask('server/discover', {}, {}, 'd');
      expect(reply.body).toEqual({
        jsonrpc: '2.0',
        id: 'd',
        result: {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { logging: {}, tools: { listChanged: true } },
          instructions: 'Be kind.',
          ttlMs: 0,
          cacheScope: 'private',
          _meta: SERVER_INFO,
        },
      });
    });

    it('S-009, S-115: gives results what this revision demands', async () => {
      const list = await ask('tools/list');
      expect(list.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
      const call = await ask('tools/call', CALL);
      expect(call.result).toEqual({
        resultType: 'complete',
        content: [{ type: 'text', text: 'hi' }],
        _meta: SERVER_INFO,
      });
    });

    it.each(REMOVED)('S-193, S-195: answers 404 and -32601 to %s', async (method) => {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      };
      const reply = await ask(method, params, {}, 'gone');
      expectError(reply, 404, -32601, 'gone');
      expect(reply.headers.has('mcp-session-id')).toBe(false);
    });

    it('S-059, S-195: answers 404 and -32601 to methods of features that are not offered', async () => {
      for (const method of ['resources/list', 'resources/read', 'prompts/list', 'completion/complete'])
        expectError(await ask(method), 404, -32601);
    });

    it('answers -32020 to initialize without an envelope under a modern header', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
      expectError(await post(running.mcp, body, modernHeaders('initialize')), 400, -32020);
    });
  });

  describe('notifications and responses', () => {
    const notify = (params: unknown, headers: Record<string, string>) =>
      post(
        running.mcp,
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized', params }),
        headers,
      );

    it('D11, S-052: accepts a notification with 202 and nothing else', async () => {
      for (const [params, headers] of [
        [{ _meta: envelope() }, modernHeaders('notifications/initialized')],
        [{ _meta: envelope() }, {}],
        [undefined, { 'mcp-protocol-version': '2026-07-28' }],
      ] as const) {
        const reply = await notify(params, headers);
        expect([reply.status, reply.text]).toEqual([202, '']);
        expect(reply.headers.has('content-type')).toBe(false);
      }
    });

    it('S-052: refuses a notification whose headers contradict it, without id', async () => {
      const contradictions: Record<string, string>[] = [
        { 'mcp-protocol-version': '2025-11-25' },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' },
      ];
      for (const headers of contradictions) {
        const reply = await notify({ _meta: envelope() }, headers);
        expect(reply.body).toEqual({
          jsonrpc: '2.0',
          error: { code: -32020, message: expect.stringMatching(/^Header mismatch: /) as string },
        });
        expect(reply.status).toBe(400);
      }
    });

    it('S-012: refuses a notification with half an envelope', async () => {
      const reply = await notify({ _meta: { [VERSION_KEY]: '2026-07-28' } }, {});
      expect([reply.status, reply.error.code]).toEqual([400, -32602]);
    });

    it.each([{ result: {} }, { error: { code: 1, message: 'no' } }])(
      'refuses a response: this revision asks its clients nothing',
      async (outcome) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...outcome });
        const reply = await post(running.mcp, body, { 'mcp-protocol-version': '2026-07-28' });
        expect([reply.status, reply.error.code]).toEqual([400, -32600]);
      },
    );
  });

  describe('the form of an answer', () => {
    it.each(ACCEPTS)('D4, S-053: Accept: %s gets %s, %d', async (accept, type, status) => {
      const body = JSON.stringify(modernMessage('tools/call', CALL, 'a'));
      const pairs = headerPairs(body, [
        ...MIRRORS,
        ...(accept === undefined ? [] : [['Accept', accept] as const]),
      ]);
      const connection = await RawConnection.open(running.url);
      const answer = await connection.write(rawRequest('POST', '/mcp', pairs, body)).answer();
      connection.destroy();
      expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([status, type]);
      const [message] =
        type === 'text/event-stream' ? eventsOf(answer.text) : [JSON.parse(answer.text) as Json];
      traffic.observe(message, '2026-07-28', 'tools/call');
      expect(message!['id']).toBe('a');
      if (status === 406) expect((message!['error'] as Json)['code']).toBe(-32600);
    });

    it('S-053: answers JSON as long as nothing precedes the result', async () => {
      const reply = await ask('tools/call', { name: 'steps', arguments: { count: 3 } });
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      expect(textOf(reply.result)).toBe('3 steps');
    });

    it('sends no progress to a client that takes JSON alone', async () => {
      const params = { name: 'steps', arguments: { count: 3 }, _meta: { progressToken: 't' } };
      const reply = await ask('tools/call', params, { accept: 'application/json' });
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      expect(textOf(reply.result)).toBe('3 steps');
    });

    it('S-054, S-055, S-123: streams progress and then the result', async () => {
      const params = { name: 'steps', arguments: { count: 3 }, _meta: { progressToken: 't' } };
      const reply = await ask('tools/call', params, {}, 's');
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('text/event-stream');
      expect(reply.headers.get('cache-control')).toBe('no-cache, no-transform');
      expect(reply.headers.get('x-accel-buffering')).toBe('no');
      expect(reply.messages).toEqual([
        ...[1, 2, 3].map((progress) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 't', progress, total: 3, message: '' },
        })),
        {
          jsonrpc: '2.0',
          id: 's',
          result: {
            resultType: 'complete',
            content: [{ type: 'text', text: '3 steps' }],
            _meta: SERVER_INFO,
          },
        },
      ]);
    });

    it.each(['12345678901234567890', '0', '"7"', '""'])('echoes the progress token %s', async (token) => {
      const params = { name: 'steps', arguments: { count: 1 }, _meta: { progressToken: 'TOKEN' } };
      const body = JSON.stringify(modernMessage('tools/call', params)).replace('"TOKEN"', token);
      const reply = await post(running.mcp, body, modernHeaders('tools/call', params));
      expect(reply.text).toContain(`"params":{"progressToken":${token},"progress":1,`);
    });

    it.each(['1.5', 'null', '{}', 'true'])('refuses the progress token %s', async (token) => {
      const params = { name: 'steps', arguments: { count: 1 }, _meta: { progressToken: 'TOKEN' } };
      const body = JSON.stringify(modernMessage('tools/call', params)).replace('"TOKEN"', token);
      expectError(await post(running.mcp, body, modernHeaders('tools/call', params)), 200, -32602);
    });

    it('F6: ends a stream after the result and serves on over the same connection', async () => {
      const connection = await RawConnection.open(running.url);
      for (const id of [1, 2]) {
        const params = { name: 'steps', arguments: { count: 2 }, _meta: { progressToken: id } };
        const body = JSON.stringify(modernMessage('tools/call', params, id));
        const pairs = headerPairs(body, [...MIRRORS.slice(0, 2), ['Mcp-Name', 'steps'], ['Accept', BOTH]]);
        const answer = await connection.write(rawRequest('POST', '/mcp', pairs, body)).answer();
        expect(answer.headers['content-type']).toBe('text/event-stream');
        expect(eventsOf(answer.text).map((message) => message['id'])).toEqual([undefined, undefined, id]);
      }
      connection.destroy();
    });

    it('F8: carries any text through a stream unchanged', async () => {
      const params = { name: 'steps', arguments: { count: 1, text: NASTY }, _meta: { progressToken: 1 } };
      const reply = await ask('tools/call', params);
      expect(reply.messages).toHaveLength(2);
      expect((reply.messages[0]!['params'] as Json)['message']).toBe(NASTY);
      expect(textOf(reply.result)).toBe(NASTY);
      expect(reply.text.match(/^data: /gm)).toHaveLength(2);
      expect(reply.text).not.toContain('\r');
    });
  });

  describe('the end of a call', () => {
    it.each([
      ['while a stream is open', 1],
      ['before anything was sent', undefined],
    ])('S-056, F4, F5: a client that leaves %s aborts the call', async (what, progress) => {
      logs.lines.splice(0);
      const call = held.of(what);
      const params = { name: 'hold', arguments: { key: what, progress }, _meta: { progressToken: 'p' } };
      const body = JSON.stringify(modernMessage('tools/call', params));
      const pairs = headerPairs(body, [...MIRRORS.slice(0, 2), ['Mcp-Name', 'hold'], ['Accept', BOTH]]);
      const connection = await RawConnection.open(running.url);
      connection.write(rawRequest('POST', '/mcp', pairs, body));
      await call.started;
      if (progress !== undefined) await connection.until('"progress":1');
      connection.destroy();
      expect(await call.aborted).toBe('AbortError');
      await call.over;
      expect((await ask('tools/call', CALL)).status).toBe(200);
      expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
    });

    it('aborts a call at its time limit and says so to the model', async () => {
      const reply = await ask('tools/call', { name: 'stall' });
      expect([reply.status, reply.result['isError']]).toEqual([200, true]);
      expect(textOf(reply.result)).toBe('The tool did not finish within 20 ms');
    });

    it('does not send a result beyond its size limit', async () => {
      expect((await ask('tools/call', { name: 'big', arguments: { size: 19_000 } })).status).toBe(200);
      const reply = await ask('tools/call', { name: 'big', arguments: { size: 20_000 } }, {}, 'b');
      expectError(reply, 200, -32603, 'b');
      expect(reply.error.message).toBe('The result is larger than 20000 bytes: ask for less');
    });

    it('tells a failure by a reference alone, and a refusal by its message', async () => {
      logs.lines.splice(0);
      const failed = await ask('tools/call', { name: 'fail' });
      expect(failed.result['isError']).toBe(true);
      const [, reference] = /^The tool failed \(reference ([0-9a-f-]{36})\)$/.exec(textOf(failed.result))!;
      expect(logs.ofLevel('error')).toEqual([expect.stringContaining(reference!)]);
      expect(logs.ofLevel('error')[0]).toContain('canary of a stack');
      const refused = await ask('tools/call', { name: 'refuse' });
      expect([refused.result['isError'], textOf(refused.result)]).toEqual([true, 'not today']);
    });
  });
});

describe.each(ADAPTERS)('a small server of 2026-07-28 on %s', (adapter) => {
  let running: RunningApp;
  let held: HeldCalls;

  beforeAll(async () => {
    const root = wireApp({ limits: { inFlight: 2 }, http: { responses: 'json' } });
    running = await startApp(root, { adapter });
    held = running.app.get(HeldCalls);
  });

  afterAll(() => running.close());

  it('answers 503 with Retry-After and the id when too many calls run', async () => {
    const keys = ['one', 'two'];
    const calls = keys.map((key) => modern(running.mcp, 'tools/call', { name: 'hold', arguments: { key } }));
    await Promise.all(keys.map((key) => held.of(key).started));
    const refused = await modern(running.mcp, 'tools/call', { name: 'hello' }, {}, 'third');
    expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
      503,
      '1',
      {
        jsonrpc: '2.0',
        id: 'third',
        error: { code: -32600, message: 'Too many calls in flight: try again shortly' },
      },
    ]);
    expect((await modern(running.mcp, 'tools/list')).status).toBe(200);
    keys.forEach((key) => held.of(key).release());
    const texts = (await Promise.all(calls)).map(({ result }) => textOf(result));
    expect(texts).toEqual(['one let go', 'two let go']);
    expect((await modern(running.mcp, 'tools/call', { name: 'hello' })).status).toBe(200);
  });

  it('frees the place of a call that ran into its time limit', async () => {
    for (let round = 0; round < 3; round++) {
      const reply = await modern(running.mcp, 'tools/call', { name: 'stall' });
      expect([reply.status, reply.result['isError']]).toEqual([200, true]);
    }
  });

  it("D5: never streams with http.responses: 'json'", async () => {
    const params = { name: 'steps', arguments: { count: 3 }, _meta: { progressToken: 't' } };
    for (const accept of [BOTH, 'application/json']) {
      const reply = await modern(running.mcp, 'tools/call', params, { accept });
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      expect([reply.messages.length, textOf(reply.result)]).toEqual([1, '3 steps']);
    }
  });
});

describe.each(ADAPTERS)('a connection with pipelined calls of 2026-07-28 on %s', (adapter) => {
  let running: RunningApp;
  let held: HeldCalls;
  let tools: WireTools;

  /** Stands for a guard that takes its time: until the client is gone, where the header says so. */
  const lateGuard = {
    canActivate: async (context: ExecutionContext) => {
      if (context.getType() !== 'http') return true;
      const { headers, socket } = context.switchToHttp().getRequest<IncomingMessage>();
      if (headers['x-late'] && !socket.destroyed) await once(socket, 'close');
      if (headers['x-late']) arrivals.emit('late');
      return true;
    },
  };
  const arrivals = new EventEmitter();

  beforeAll(async () => {
    const root = wireApp({ limits: { inFlight: 12 }, http: { readBody: 'before-guards' } });
    running = await startApp(root, { adapter, configure: (app) => void app.useGlobalGuards(lateGuard) });
    held = running.app.get(HeldCalls);
    tools = running.app.get(WireTools);
  });

  afterAll(() => running.close());

  const message = (name: string, args: Json, more: Pairs = []) => {
    const body = JSON.stringify(modernMessage('tools/call', { name, arguments: args }));
    return rawRequest(
      'POST',
      '/mcp',
      headerPairs(body, [...MIRRORS.slice(0, 2), ['Mcp-Name', name], ...more]),
      body,
    );
  };
  const hold = (key: string) => message('hold', { key });
  const keysOf = (what: string) => Array.from({ length: 12 }, (_, index) => `${what}-${index}`);

  it('S-056, F4: aborts all of them when it is dropped, and frees their places', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on('warning', onWarning);
    for (const what of ['first', 'second']) {
      const calls = keysOf(what).map((key) => held.of(key));
      const connection = await RawConnection.open(running.url);
      connection.write(Buffer.concat(keysOf(what).map(hold)));
      await Promise.all(calls.map(({ started }) => started));
      connection.destroy();
      expect(new Set(await Promise.all(calls.map(({ aborted }) => aborted)))).toEqual(
        new Set(['AbortError']),
      );
    }
    expect((await modern(running.mcp, 'tools/call', CALL)).status).toBe(200);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('aborts those that are left when it is dropped after some were answered', async () => {
    const calls = ['a', 'b', 'c'].map((key) => held.of(key));
    const connection = await RawConnection.open(running.url);
    connection.write(Buffer.concat(['a', 'b', 'c'].map(hold)));
    await Promise.all(calls.map(({ started }) => started));
    // The second is done before its turn: its answer waits for the first one's.
    calls[1]!.release();
    await calls[1]!.over;
    calls[0]!.release();
    for (const key of ['a', 'b']) expect((await connection.answer()).text).toContain(`${key} let go`);
    connection.destroy();
    expect(await calls[2]!.aborted).toBe('AbortError');
  });

  it('leaves no listener on a connection that lives on', async () => {
    const sockets = new Set<Socket>();
    const onConnection = (socket: Socket) => void sockets.add(socket);
    const server = running.app.getHttpServer() as Server;
    server.on('connection', onConnection);
    const connection = await RawConnection.open(running.url);
    const counts: number[] = [];
    for (const keys of [['alone'], ['l1', 'l2', 'l3'], ['again1', 'again2']]) {
      connection.write(Buffer.concat(keys.map(hold)));
      for (const key of keys) {
        await held.of(key).started;
        held.of(key).release();
      }
      for (const _key of keys) expect((await connection.answer()).status).toBe(200);
      const [socket] = sockets;
      counts.push(socket!.listenerCount('close'));
    }
    connection.destroy();
    server.off('connection', onConnection);
    expect(new Set(counts).size).toBe(1);
  });

  it('starts nothing for a pipelined call that gets through the guards after its client has left', async () => {
    const { entered } = tools;
    const connection = await RawConnection.open(running.url);
    const late = once(arrivals, 'late');
    connection.write(Buffer.concat([hold('before'), message('echo', { text: 'x' }, [['X-Late', 'yes']])]));
    await held.of('before').started;
    connection.destroy();
    await late;
    expect((await modern(running.mcp, 'tools/call', { name: 'hello' })).status).toBe(200);
    expect(tools.entered).toBe(entered + 1);
  });
});

it("serves Fastify's inject, whose socket is none", async () => {
  const running = await startApp(wireApp(), { adapter: 'fastify' });
  const fastify = running.app.getHttpAdapter().getInstance() as FastifyInstance;
  const params = { ...CALL, _meta: { progressToken: 'p' } };
  const calls = ['a', 'b', 'c'].map((id) =>
    fastify.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', ...modernHeaders('tools/call', params) },
      payload: JSON.stringify(modernMessage('tools/call', params, id)),
    }),
  );
  const answers = await Promise.all(calls);
  await running.close();
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  const bodies = answers.map(({ payload }) => JSON.parse(payload) as { id: string; result: Json });
  expect(bodies.map(({ id, result }) => [id, textOf(result)])).toEqual([
    ['a', 'hi'],
    ['b', 'hi'],
    ['c', 'hi'],
  ]);
});

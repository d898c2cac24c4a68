import type { McpRevision } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  CAPABILITIES_KEY,
  envelope,
  modernHeaders,
  openSession,
  post,
  textOf,
  VERSION_KEY,
  type Json,
  type Reply,
} from '../support/wire.js';
import { LogRecorder, wireApp, WireTools } from './wire.app.js';

const BODY_LIMIT = 2 * 1024 * 1024;
const META = JSON.stringify(envelope());

/** A way to say the same thing in either era. */
interface Speaker {
  readonly revision: McpRevision;
  /** Sends bytes as they are. */
  send(body: string | Uint8Array, headers?: Record<string, string>): Promise<Reply>;
  /** Sends a request whose id and params are given as JSON text; in the modern era the envelope is added. */
  ask(method: string, params?: string, id?: string): Promise<Reply>;
}

function modernSpeaker(url: string): Speaker {
  const version = { 'mcp-protocol-version': '2026-07-28' };
  const send: Speaker['send'] = (body, headers = {}) => post(url, body, { ...version, ...headers });
  return {
    revision: '2026-07-28',
    send,
    ask: (method, params = '{}', id = '1') => {
      const withMeta = params === '{}' ? `{"_meta":${META}}` : params.replace(/\}$/, `,"_meta":${META}}`);
      const { name } = JSON.parse(params) as Json;
      return send(
        `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${withMeta}}`,
        modernHeaders(method, { name }),
      );
    },
  };
}

async function legacySpeaker(url: string, revision: McpRevision): Promise<Speaker> {
  const session = await openSession(url, revision);
  const send: Speaker['send'] = (body, headers = {}) =>
    post(url, body, { 'mcp-session-id': session.id, ...headers });
  return {
    revision,
    send,
    ask: (method, params = '{}', id = '1') =>
      send(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`),
  };
}

const ERAS: readonly [string, (url: string) => Promise<Speaker>][] = [
  ['in 2026-07-28', (url) => Promise.resolve(modernSpeaker(url))],
  ['in a session of 2025-11-25', (url) => legacySpeaker(url, '2025-11-25')],
];

const bytes = (text: string) => Buffer.from(text, 'latin1');
const call = (rest: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"${rest}`;

/** What no parser takes as JSON in UTF-8. */
const UNPARSABLE: readonly (readonly [string, string | Uint8Array])[] = [
  ['an open brace', '{'],
  ['half a word', 'nul'],
  ['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"tools/list",}'],
  ['single quotes', "{'jsonrpc':'2.0'}"],
  ['two values', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}{}'],
  ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  ['a NUL byte', '{"jsonrpc":"2.0","id":1,\0"method":"tools/list"}'],
  ['nothing', ''],
  ['blanks', ' \r\n\t'],
  ['the byte FF in a string', bytes(call(',"arguments":{"text":"\xff"}}}'))],
  ['an overlong slash', bytes(call(',"arguments":{"text":"\xc0\xaf"}}}'))],
  ['a cut sequence', bytes(call(',"arguments":{"text":"\xe2\x82"}}}'))],
  ['a surrogate in UTF-8', bytes(call(',"arguments":{"text":"\xed\xa0\x80"}}}'))],
];

/** JSON that is no message, and the id that the refusal has to carry, as a JSON token. */
const MISSHAPEN = (
  [
    ['H1: an object that is no message', '{"hello":"world"}'],
    ['H2: a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]'],
    ['H2: an empty batch', '[]'],
    ['a number', '42'],
    ['a text', '"tools/list"'],
    ['null', 'null'],
    ['true', 'true'],
    ['H1: jsonrpc 1.0', '{"jsonrpc":"1.0","id":9,"method":"tools/list"}', '9'],
    ['jsonrpc as a number', '{"jsonrpc":2.0,"id":9,"method":"tools/list"}', '9'],
    ['no jsonrpc', '{"id":"n","method":"tools/list"}', '"n"'],
    ['jsonRpc in another case', '{"jsonRpc":"2.0","id":9,"method":"tools/list"}', '9'],
    ['Method in another case', '{"jsonrpc":"2.0","id":9,"Method":"tools/list"}', '9'],
    ['method with a NUL', '{"jsonrpc":"2.0","id":9,"method\\u0000":"tools/list"}', '9'],
    ['no method', '{"jsonrpc":"2.0","id":5,"params":{}}', '5'],
    ['H4: an empty method', '{"jsonrpc":"2.0","id":3,"method":""}', '3'],
    ['method as a number', '{"jsonrpc":"2.0","id":3,"method":7}', '3'],
    ['method null', '{"jsonrpc":"2.0","id":3,"method":null}', '3'],
    ['two methods', '{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call"}', '3'],
    ['two methods, one of them escaped', '{"jsonrpc":"2.0","id":3,"method":"ping","\\u006dethod":"x"}', '3'],
    ['both result and error', '{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":"x"}}', '3'],
    ['H5: params as text', '{"jsonrpc":"2.0","id":4,"method":"tools/list","params":"x"}', '4'],
    ['H5: params as an array', '{"jsonrpc":"2.0","id":4,"method":"tools/list","params":[]}', '4'],
    ['H5: params null', '{"jsonrpc":"2.0","id":4,"method":"tools/list","params":null}', '4'],
  ] as [string, string, string?][]
).map(([what, body, id]) => ({ what, body, id }));

const DIGITS = '9'.repeat(256);
const BAD_IDS = [
  '{}',
  'true',
  '1.5',
  '[1]',
  'null',
  '1.0',
  '1e2',
  `${DIGITS}9`,
  JSON.stringify('x'.repeat(257)),
  '"\\ud800"',
];
const GOOD_IDS = [
  '12345678901234567890',
  '9007199254740993',
  '0',
  '""',
  '"7"',
  '7',
  '-5',
  DIGITS,
  JSON.stringify('x'.repeat(256)),
  '"\\u0041\\n"',
  '"\u00e9\u2028"',
];

const NO_TOOLS = ['nope', 'Echo', 'ECHO', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'echo '];

describe.each(ADAPTERS)('messages over HTTP on %s', (adapter) => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(wireApp({ limits: { body: BODY_LIMIT } }), { adapter });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  describe.each(ERAS)('%s', (_name, meet) => {
    let speaker: Speaker;
    let isModern: boolean;

    beforeAll(async () => {
      speaker = await meet(running.mcp);
      isModern = speaker.revision === '2026-07-28';
    });

    const observe = (reply: Reply, method?: string) => traffic.observe(reply.body, speaker.revision, method);

    /** A refusal with that code, and the id just where one could be read. */
    function expectRefusal(reply: Reply, status: number, code: number, id?: string): void {
      expect([reply.status, reply.error?.code]).toEqual([status, code]);
      if (id === undefined) expect(reply.body).not.toHaveProperty('id');
      else expect(reply.text.startsWith(`{"jsonrpc":"2.0","id":${id},"error":`)).toBe(true);
      expect(reply.text).not.toMatch(/\n|at [\w.]+ \(/);
      observe(reply);
    }

    it.each(UNPARSABLE)('answers 400 and -32700 without id to %s', async (_what, body) => {
      expectRefusal(await speaker.send(body), 400, -32700);
    });

    it.each(MISSHAPEN)('answers 400 and -32600 to $what', async ({ body, id }) => {
      expectRefusal(await speaker.send(body), 400, -32600, id);
    });

    it('A18: answers 413 to a body over the limit', async () => {
      expectRefusal(await speaker.send(' '.repeat(BODY_LIMIT + 1)), 413, -32600);
    });

    it.each(BAD_IDS)('H3: refuses the id %s and does not echo it', async (id) => {
      expectRefusal(await speaker.ask('tools/list', '{}', id), 400, -32600);
    });

    it.each(GOOD_IDS)('H3, S-002: echoes the id %s byte for byte', async (id) => {
      const listed = await speaker.ask('tools/list', '{}', id);
      expect(listed.text.startsWith(`{"jsonrpc":"2.0","id":${id},"result":{`)).toBe(true);
      observe(listed, 'tools/list');
      const refused = await speaker.ask('no/such', '{}', id);
      expectRefusal(refused, isModern ? 404 : 200, -32601, id);
    });

    it('S-002: tells ids 1 and "1" apart when both are in flight', async () => {
      const ids = ['1', '"1"', '0', '""'];
      const asked = ids.map((id) =>
        speaker.ask('tools/call', `{"name":"echo","arguments":{"text":"x"}}`, id),
      );
      const replies = await Promise.all(asked);
      expect(replies.map(({ text }) => /"id":([^,]*)/.exec(text)?.[1])).toEqual(ids);
    });

    it.each(NO_TOOLS)('H6: knows no tool %p', async (name) => {
      const { entered } = running.app.get(WireTools);
      // A blank at the end of a header is not part of its value, so the coded form is used.
      const header = `=?base64?${Buffer.from(name).toString('base64')}?=`;
      const params = { name, arguments: { text: 'x' }, ...(isModern ? { _meta: envelope() } : {}) };
      const reply = await speaker.send(
        JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'tools/call', params }),
        isModern ? { ...modernHeaders('tools/call', params), 'mcp-name': header } : {},
      );
      expectRefusal(reply, 200, -32602, '6');
      expect(reply.error.message).toBe(`Invalid params: unknown tool ${JSON.stringify(name)}`);
      expect(running.app.get(WireTools).entered).toBe(entered);
    });

    it('shows a long or odd name clipped and escaped', async () => {
      const name = `a\r\n\u202e${'x'.repeat(10_000)}`;
      const reply = await speaker.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 6,
          method: 'tools/call',
          params: { name, ...(isModern ? { _meta: envelope() } : {}) },
        }),
        isModern
          ? {
              ...modernHeaders('tools/call'),
              'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=`,
            }
          : {},
      );
      expectRefusal(reply, 200, -32602, '6');
      expect(reply.error.message).toBe(`Invalid params: unknown tool "a\\r\\n\\u202e${'x'.repeat(60)}…"`);
    });

    it.each(['[]', 'null', '"text"', '5', 'true'])('H5: answers -32602 to arguments %s', async (args) => {
      const reply = await speaker.ask('tools/call', `{"name":"echo","arguments":${args}}`, '8');
      expectRefusal(reply, 200, -32602, '8');
      expect(reply.error.message).toBe('Invalid params: "arguments" must be an object');
    });

    it('C8: takes absent arguments as none', async () => {
      const hello = await speaker.ask('tools/call', '{"name":"hello"}');
      expect(textOf(hello.result)).toBe('{"greeting":"hello"}');
      const echo = await speaker.ask('tools/call', '{"name":"echo"}');
      expect(echo.result['isError']).toBe(true);
      expect(textOf(echo.result)).toContain('text');
      observe(echo, 'tools/call');
    });

    it.each([
      ['without a name', '{"arguments":{}}'],
      ['with a number as name', '{"name":5,"arguments":{}}'],
    ])('H5: refuses tools/call %s', async (_what, params) => {
      const reply = await speaker.ask('tools/call', params, '8');
      expectRefusal(reply, 200, -32602, '8');
      expect(reply.error.message).toBe('Invalid params: "name" must be a string');
    });

    it('H5: refuses tools/call without params', async () => {
      const reply = await speaker.send('{"jsonrpc":"2.0","id":8,"method":"tools/call"}');
      expectRefusal(reply, isModern ? 400 : 200, -32602, '8');
    });

    it.each(['x', 5, null, {}])('refuses the cursor %p', async (cursor) => {
      const reply = await speaker.ask('tools/list', JSON.stringify({ cursor }), '8');
      expectRefusal(reply, 200, -32602, '8');
    });

    it.each(['no/such', 'TOOLS/LIST', '__proto__', 'constructor', 'toString', 'server/discove'])(
      'H1, S-059: answers -32601 to the method %s',
      async (method) => {
        const reply = await speaker.ask(method, '{}', '2');
        expectRefusal(reply, isModern ? 404 : 200, -32601, '2');
        expect(reply.error.message).toBe(`Method not found: "${method}"`);
      },
    );

    describe('of hostile size or shape', () => {
      const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

      it('takes 64 levels and refuses the 65th', async () => {
        // Message, params and arguments are three of them.
        const served = await speaker.ask('tools/call', `{"name":"echo","arguments":{"text":${nested(61)}}}`);
        expect(served.result['isError']).toBe(true);
        const refused = await speaker.ask('tools/call', `{"name":"echo","arguments":{"text":${nested(62)}}}`);
        expectRefusal(refused, 400, -32600, '1');
      });

      it('refuses 10 000 levels, with the id where it comes first', async () => {
        const deep = nested(10_000);
        expectRefusal(await speaker.send(deep), 400, -32600);
        expectRefusal(await speaker.send(call(`,"arguments":{"text":${deep}}}}`)), 400, -32600, '1');
        const late = `{"jsonrpc":"2.0","method":"tools/list","params":{"x":${deep}},"id":1}`;
        expectRefusal(await speaker.send(late), 400, -32600);
      });

      it('refuses a flood of tokens', async () => {
        const flood = '[],'.repeat(350_000);
        expectRefusal(await speaker.send(`[${flood}1]`), 400, -32600);
        expectRefusal(await speaker.send(call(`,"arguments":{"text":[${flood}1]}}}`)), 400, -32600, '1');
      });

      it('takes a lone surrogate in an argument and answers in valid UTF-8', async () => {
        const reply = await speaker.ask('tools/call', '{"name":"echo","arguments":{"text":"\\ud800"}}');
        expect([reply.status, textOf(reply.result)]).toEqual([200, '\ud800']);
      });

      it.each(['1e400', '-0', '9'.repeat(400)])('has the number %s validated', async (number) => {
        const reply = await speaker.ask('tools/call', `{"name":"echo","arguments":{"text":${number}}}`);
        expect([reply.status, reply.result['isError']]).toEqual([200, true]);
      });

      it('is not polluted by __proto__, constructor and prototype anywhere', async () => {
        const poison =
          '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
        const keys = Object.getOwnPropertyNames(Object.prototype);
        const replies = [
          await speaker.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list",${poison}}`),
          await speaker.ask('tools/list', `{${poison}}`),
          await speaker.ask('tools/call', `{"name":"hello",${poison}}`),
          await speaker.ask('tools/call', `{"name":"hello","arguments":{${poison}}}`),
          await speaker.ask('tools/call', `{"name":"echo","arguments":{"text":"x",${poison}}}`),
        ];
        replies.forEach((reply) => expect(reply.status).toBeLessThan(500));
        expect(replies[3]!.result['isError']).toBe(true);
        expect(replies[4]!.result['isError']).toBe(true);
        expect(({} as Json)['polluted']).toBeUndefined();
        expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(keys);
        expect((await callTool(running.mcp, 'hello')).status).toBe(200);
      });
    });
  });

  it.each([
    ['2025-11-25', false],
    ['2025-06-18', true],
    ['2025-03-26', true],
    ['2024-11-05', true],
  ] as const)('sends an error without id to a session of %s, with null: %p', async (revision, isNull) => {
    const speaker = await legacySpeaker(running.mcp, revision);
    for (const [body, code] of [['{', -32700] as const, ['[]', -32600] as const]) {
      const reply = await speaker.send(body);
      expect([reply.status, reply.error.code]).toEqual([400, code]);
      expect(reply.text.startsWith(isNull ? '{"jsonrpc":"2.0","id":null,' : '{"jsonrpc":"2.0","error"')).toBe(
        true,
      );
      traffic.observe(reply.body, revision, undefined);
    }
    const strange = await post(running.mcp, '{', { 'mcp-session-id': 'unknown' });
    expect(strange.body).not.toHaveProperty('id');
  });

  it('H7: logs 200 bad requests at debug level alone, a short line each, without bodies and tokens', async () => {
    const logs = new LogRecorder();
    const noisy = await startApp(wireApp({ limits: { body: BODY_LIMIT } }), { adapter, logger: logs });
    const speakers = await Promise.all(ERAS.map(([, meet]) => meet(noisy.mcp)));
    const secret = { authorization: 'Bearer canary-token' };
    const canary = '"text":"canary-body"';
    const bad: (string | Uint8Array)[] = [
      ...UNPARSABLE.map(([, body]) => body),
      ...MISSHAPEN.map(({ body }) => body),
      ...BAD_IDS.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{${canary}}}`),
      `{${canary}`,
      `{"jsonrpc":"2.0","id":1,"method":"canary-body\\r\\n\\u001b[31m","params":{${canary}}}`,
      call(`,"arguments":{${canary},"canary-body":"x"}}}`),
      call(`,"arguments":[{${canary}}]}}`).replace('echo', 'canary-body'),
      call(`,"arguments":{"text":${'['.repeat(1_000)}`),
      ' '.repeat(BODY_LIMIT + 1),
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"${VERSION_KEY}":"canary-body"}}}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"${CAPABILITIES_KEY}":"canary-body"}}}`,
    ];
    const oddHeaders: Record<string, string>[] = [
      { 'content-type': 'text/canary-body' },
      { 'content-encoding': 'canary-body' },
      { accept: 'text/canary-body' },
      { 'mcp-session-id': 'canary-body' },
      { 'mcp-protocol-version': 'canary-body' },
      { host: 'canary-body' },
      { origin: 'https://canary-body' },
    ];
    logs.lines.splice(0);
    let sent = 0;
    for (const speaker of speakers) {
      for (const body of bad) {
        expect((await speaker.send(body, secret)).status).toBeLessThan(500);
        sent++;
      }
    }
    while (sent < 200) {
      const headers = { ...secret, ...oddHeaders[sent % oddHeaders.length] };
      expect((await speakers[sent % 2]!.send(call('}}'), headers)).status).toBeLessThan(500);
      sent++;
    }
    await noisy.close();

    expect(logs.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    expect(logs.lines.length).toBeGreaterThan(0);
    expect(logs.lines.length).toBeLessThanOrEqual(200);
    for (const { text } of logs.lines) {
      expect(text.length).toBeLessThanOrEqual(512);
      // eslint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(text).not.toMatch(/[\u0000-\u001f]|canary|    at /);
    }
  });
});

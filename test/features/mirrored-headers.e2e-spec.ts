import { McpRegistry } from 'nest-mcp';
import { exchange, rawRequest } from '../http/raw-connection.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { modern, modernMessage, openSession, textOf, type Json } from '../support/wire.js';
import { askPipe } from './askers.js';
import { ADDED, addedHandler, MirroredModule, reached } from './mirrored-headers.app.js';

const traffic = new Traffic();

afterAll(() => traffic.verify());

type Pairs = readonly (readonly [string, string])[];

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** Calls whose headers say the same as their arguments, or nothing that counts. */
const TAKEN: readonly (readonly [string, Json, Pairs])[] = [
  ['S-063: a text', { region: 'eu' }, [['Mcp-Param-Region', 'eu']]],
  ['S-063: a text with blanks and commas', { region: 'eu, us' }, [['Mcp-Param-Region', 'eu, us']]],
  ['S-063: a text with a tab', { region: 'a\tb' }, [['Mcp-Param-Region', 'a\tb']]],
  ['S-063: blanks round the value', { region: 'eu' }, [['Mcp-Param-Region', '  eu \t']]],
  ['S-063: an empty text', { region: '' }, [['Mcp-Param-Region', '']]],
  ['S-065: a name in small letters', { region: 'eu' }, [['mcp-param-region', 'eu']]],
  ['S-065: a name in capitals', { region: 'eu' }, [['MCP-PARAM-REGION', 'eu']]],
  ['S-062: a text in Base64', { region: 'eu' }, [['Mcp-Param-Region', base64('eu')]]],
  ['S-062: an empty text in Base64', { region: '' }, [['Mcp-Param-Region', base64('')]]],
  ['S-062: a text beyond ASCII', { region: 'Zürich 🏔' }, [['Mcp-Param-Region', base64('Zürich 🏔')]]],
  ['S-062: a text with blanks at its ends', { region: ' eu ' }, [['Mcp-Param-Region', base64(' eu ')]]],
  ['S-062: a text of two lines', { region: 'a\r\nb' }, [['Mcp-Param-Region', base64('a\r\nb')]]],
  [
    'S-062: a text that looks encoded itself',
    { region: base64('eu') },
    [['Mcp-Param-Region', base64(base64('eu'))]],
  ],
  ['S-063: an integer', { count: 42 }, [['Mcp-Param-Count', '42']]],
  ['S-063: an integer with a point', { count: 42 }, [['Mcp-Param-Count', '42.0']]],
  ['S-063: a negative integer', { count: -7 }, [['Mcp-Param-Count', '-7']]],
  ['S-063: zero', { count: 0 }, [['Mcp-Param-Count', '0']]],
  ['S-063: the largest integer', { count: 2 ** 53 - 1 }, [['Mcp-Param-Count', '9007199254740991']]],
  ['S-062: an integer in Base64', { count: 42 }, [['Mcp-Param-Count', base64('42')]]],
  ['S-063: true', { dry: true }, [['Mcp-Param-Dry-Run', 'true']]],
  ['S-063: false', { dry: false }, [['Mcp-Param-Dry-Run', 'false']]],
  ['S-063: a nested text', { where: { tenant: 't1' } }, [['Mcp-Param-Tenant-Id', 't1']]],
  [
    'S-063: all at once',
    { region: 'eu', count: 1, dry: true, where: { tenant: 't1' } },
    [
      ['Mcp-Param-Region', 'eu'],
      ['Mcp-Param-Count', '1'],
      ['Mcp-Param-Dry-Run', 'true'],
      ['Mcp-Param-Tenant-Id', 't1'],
    ],
  ],
  ['S-064: nothing to mirror', {}, []],
  ['S-064: a header without its argument', {}, [['Mcp-Param-Region', 'eu']]],
  [
    'S-064: a header beside a nested argument that is not there',
    { where: {} },
    [['Mcp-Param-Tenant-Id', 't1']],
  ],
  [
    'S-064: a doubled header without its argument',
    {},
    Array.from({ length: 2 }, () => ['Mcp-Param-Count', '1'] as const),
  ],
  [
    'S-063: headers of no argument',
    { free: 'x' },
    [
      ['Mcp-Param-Free', 'y'],
      ['Mcp-Param-Nope', 'z'],
    ],
  ],
];

/** Calls whose headers leave out, contradict or spoil their arguments, and what is said of them. */
const REFUSED: readonly (readonly [string, Json, Pairs, string])[] = [
  [
    'S-063: no header',
    { region: 'eu' },
    [],
    'Mcp-Param-Region is missing, while the argument region is there',
  ],
  [
    'S-063: no header for false',
    { dry: false },
    [],
    'Mcp-Param-Dry-Run is missing, while the argument dry is there',
  ],
  [
    'S-063: no header for zero',
    { count: 0 },
    [],
    'Mcp-Param-Count is missing, while the argument count is there',
  ],
  [
    'S-063: no header for an empty text',
    { region: '' },
    [],
    'Mcp-Param-Region is missing, while the argument region is there',
  ],
  [
    'S-063: no header for a nested argument',
    { where: { tenant: 't1' } },
    [],
    'Mcp-Param-Tenant-Id is missing, while the argument where.tenant is there',
  ],
  [
    'S-063: one header of two',
    { region: 'eu', count: 1 },
    [['Mcp-Param-Region', 'eu']],
    'Mcp-Param-Count is missing, while the argument count is there',
  ],
  [
    'S-063: another text',
    { region: 'eu' },
    [['Mcp-Param-Region', 'us']],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-063: a text in another case',
    { region: 'eu' },
    [['Mcp-Param-Region', 'EU']],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-063: an empty header',
    { region: 'eu' },
    [['Mcp-Param-Region', '']],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-063: another integer',
    { count: 42 },
    [['Mcp-Param-Count', '43']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: a fraction',
    { count: 42 },
    [['Mcp-Param-Count', '42.5']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: an integer with an exponent',
    { count: 42 },
    [['Mcp-Param-Count', '4.2e1']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: an integer in sixteens',
    { count: 42 },
    [['Mcp-Param-Count', '0x2A']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: no integer for zero',
    { count: 0 },
    [['Mcp-Param-Count', '']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: an integer that cannot be told from its neighbour',
    { count: 2 ** 53 },
    [['Mcp-Param-Count', '9007199254740992']],
    'Mcp-Param-Count differs from the argument count',
  ],
  [
    'S-063: such an integer without a header',
    { count: 2 ** 53 },
    [],
    'Mcp-Param-Count is missing, while the argument count is there',
  ],
  [
    'S-063: true in capitals',
    { dry: true },
    [['Mcp-Param-Dry-Run', 'True']],
    'Mcp-Param-Dry-Run differs from the argument dry',
  ],
  [
    'S-063: 1 for true',
    { dry: true },
    [['Mcp-Param-Dry-Run', '1']],
    'Mcp-Param-Dry-Run differs from the argument dry',
  ],
  [
    'S-063: another nested text',
    { where: { tenant: 't1' } },
    [['Mcp-Param-Tenant-Id', 't2']],
    'Mcp-Param-Tenant-Id differs from the argument where.tenant',
  ],
  [
    'S-062: Base64 of another text',
    { region: 'eu' },
    [['Mcp-Param-Region', base64('us')]],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-062: Base64 without its padding',
    { region: 'eu' },
    [['Mcp-Param-Region', '=?base64?ZXU?=']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-062: Base64 with too much padding',
    { region: 'eu' },
    [['Mcp-Param-Region', '=?base64?ZXU==?=']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-062: the alphabet for addresses',
    { region: '>>>' },
    [['Mcp-Param-Region', '=?base64?Pj4-?=']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-062: a blank within Base64',
    { region: 'eu' },
    [['Mcp-Param-Region', '=?base64?ZX U=?=']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-062: Base64 of no UTF-8',
    { region: 'eu' },
    [['Mcp-Param-Region', '=?base64?/w==?=']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-062: Base64 without its markers',
    { region: 'eu' },
    [['Mcp-Param-Region', 'ZXU=']],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-062: the marker in capitals',
    { region: 'eu' },
    [['Mcp-Param-Region', '=?BASE64?ZXU=?=']],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-062: Base64 within Base64',
    { region: 'eu' },
    [['Mcp-Param-Region', base64(base64('eu'))]],
    'Mcp-Param-Region differs from the argument region',
  ],
  [
    'S-062: a raw byte beyond ASCII',
    { region: 'Z\xfcrich' },
    [['Mcp-Param-Region', 'Z\xfcrich']],
    'Mcp-Param-Region is not well encoded',
  ],
  [
    'S-063: two equal lines',
    { region: 'eu' },
    [
      ['Mcp-Param-Region', 'eu'],
      ['Mcp-Param-Region', 'eu'],
    ],
    'Mcp-Param-Region is sent more than once',
  ],
  [
    'S-063: two lines that together are the text',
    { region: 'eu, us' },
    [
      ['Mcp-Param-Region', 'eu'],
      ['mcp-param-region', 'us'],
    ],
    'Mcp-Param-Region is sent more than once',
  ],
];

/** A call of a tool, byte for byte. */
function callOf(name: string, args: Json, more: Pairs): Buffer {
  const body = JSON.stringify(modernMessage('tools/call', { name, arguments: args }, 7));
  return rawRequest(
    'POST',
    '/mcp',
    [
      ['Host', 'localhost'],
      ['Content-Type', 'application/json'],
      ['Content-Length', String(Buffer.byteLength(body))],
      ['MCP-Protocol-Version', '2026-07-28'],
      ['Mcp-Method', 'tools/call'],
      ['Mcp-Name', name],
      ...more,
    ],
    body,
  );
}

describe.each(ADAPTERS)('arguments in headers on %s', (adapter) => {
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(MirroredModule, { adapter });
    await running.app.get(McpRegistry).addTool(ADDED, addedHandler);
  });

  beforeEach(() => {
    reached.length = 0;
  });

  afterAll(() => {
    return running.close();
  });

  const send = async (name: string, args: Json, headers: Pairs) => {
    const answer = await exchange(running.url, callOf(name, args, headers));
    traffic.observe(answer.json, '2026-07-28', 'tools/call');
    return answer;
  };

  it.each(TAKEN)('%s is taken', async (_what, args, headers) => {
    const { status, json } = await send('mirrored', args, headers);
    expect([status, json['error'], reached]).toEqual([200, undefined, [args]]);
  });

  it.each(REFUSED)('%s is refused, and nothing runs', async (_what, args, headers, why) => {
    const { status, json } = await send('mirrored', args, headers);
    expect([status, json, reached]).toEqual([
      400,
      { jsonrpc: '2.0', id: 7, error: { code: -32020, message: `Header mismatch: ${why}` } },
      [],
    ]);
  });

  it('S-064: expects no header for null, and looks at none', async () => {
    for (const headers of [[], [['Mcp-Param-Region', 'eu']] as const]) {
      const { status, json } = await send('mirrored', { region: null }, headers);
      expect([status, 'error' in json]).toEqual([200, false]);
    }
  });

  it.each([
    [
      'a text where an integer is due',
      { count: '42' },
      [['Mcp-Param-Count', '42']],
      'count: must be an integer',
    ],
    ['an object where a text is due', { region: { a: 1 } }, [], 'region: must be a string'],
    ['a list where an object is due', { where: ['t1'] }, [], 'where: must be an object'],
  ] as const)('S-063: leaves %s to the schema', async (_what, args, headers, line) => {
    const { status, json } = await send('mirrored', args, headers);
    const result = json['result'] as Json;
    expect([status, result['isError'], reached]).toEqual([200, true, []]);
    expect(textOf(result)).toContain(line);
  });

  it.each(['raw', 'zod', 'added'])('S-063: holds for the schema of the tool "%s" as well', async (name) => {
    const good = await send(name, { region: 'eu' }, [['Mcp-Param-Region', 'eu']]);
    expect([good.status, reached]).toEqual([200, [{ region: 'eu' }]]);
    const missing = await send(name, { region: 'eu' }, []);
    const other = await send(name, { region: 'eu' }, [['Mcp-Param-Region', 'us']]);
    for (const { status, json } of [missing, other])
      expect([status, (json['error'] as Json)['code']]).toEqual([400, -32020]);
    expect(reached).toHaveLength(1);
  });

  it('S-063: is told from the tool that is not there, and from arguments that are none', async () => {
    const headers = [['Mcp-Param-Region', 'eu']] as const;
    const unknown = await send('nope', { region: 'us' }, headers);
    expect([unknown.status, unknown.json['error']]).toEqual([
      200,
      { code: -32602, message: 'Invalid params: unknown tool "nope"' },
    ]);
    const none = await send('mirrored', ['eu'] as unknown as Json, headers);
    expect([none.status, none.json['error']]).toEqual([
      200,
      { code: -32602, message: 'Invalid params: "arguments" must be an object' },
    ]);
  });

  it('S-066, B17: publishes them to clients of 2026-07-28 alone', async () => {
    const reply = await modern(running.mcp, 'tools/list');
    traffic.observe(reply.body, '2026-07-28', 'tools/list');
    const [mirrored, raw, zod, added] = (reply.result['tools'] as Json[]).map(
      ({ inputSchema }) => (inputSchema as { properties: Record<string, Json> }).properties,
    );
    expect(mirrored).toMatchObject({
      region: { 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
      where: { properties: { tenant: { 'x-mcp-header': 'Tenant-Id' } } },
    });
    for (const properties of [raw, added])
      expect(properties).toMatchObject({
        region: { type: 'string', description: 'Where', 'x-mcp-header': 'Region' },
        where: { properties: { tenant: { type: 'string', 'x-mcp-header': 'Tenant-Id' } } },
      });
    expect(zod).toMatchObject({
      region: { 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    });
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const) {
      const session = await openSession(running.mcp, revision);
      const listed = await session.request('tools/list');
      traffic.observe(listed.body, revision, 'tools/list');
      expect(listed.result['tools']).toHaveLength(4);
      expect(listed.text).not.toContain('x-mcp-header');
      expect(listed.text).toContain('"description":"Where"');
    }
  });

  it('S-063: is nothing to a session', async () => {
    const session = await openSession(running.mcp);
    for (const headers of [{}, { 'mcp-param-region': 'us' }]) {
      const reply = await session.request(
        'tools/call',
        { name: 'mirrored', arguments: { region: 'eu', count: 1 } },
        1,
        headers as Record<string, string>,
      );
      traffic.observe(reply.body, '2025-11-25', 'tools/call');
      expect([reply.status, textOf(reply.result)]).toEqual([200, '{"region":"eu","count":1}']);
    }
  });

  it('S-062, S-063: is done by the official client by itself', async () => {
    const sent: Headers[] = [];
    const judged = traffic.fetch;
    const spying = Object.assign(Object.create(traffic) as Traffic, {
      fetch: (input: string | URL | Request, init?: RequestInit) => {
        sent.push(new Headers(init?.headers));
        return judged(input, init);
      },
    });
    const client = await connectV2(running.mcp, 'auto', spying);
    await client.listTools();
    const args = { region: 'Zürich', count: 42, dry: false, where: { tenant: ' t1 ' } };
    for (const name of ['mirrored', 'raw', 'zod', 'added']) {
      const wanted = name === 'mirrored' ? args : { region: '=?base64?ZXU=?=' };
      const result = await client.callTool({ name, arguments: wanted });
      expect([name, result.isError, reached.pop()]).toEqual([name, undefined, wanted]);
      const headers = sent.at(-1)!;
      expect(headers.get('mcp-param-region')).toBe(
        name === 'mirrored' ? base64('Zürich') : base64('=?base64?ZXU=?='),
      );
      if (name !== 'mirrored') continue;
      expect(['count', 'dry-run', 'tenant-id'].map((header) => headers.get(`mcp-param-${header}`))).toEqual([
        '42',
        'false',
        base64(' t1 '),
      ]);
    }
    await client.close();
  });

  it('S-063: makes an official client that has not listed look at the list and call again', async () => {
    const client = await connectV2(running.mcp, 'auto', traffic);
    const result = await client.callTool({ name: 'mirrored', arguments: { region: 'eu' } });
    expect([result.isError, reached]).toEqual([undefined, [{ region: 'eu' }]]);
    await client.close();
  });

  it('S-063: does not touch the official clients of sessions', async () => {
    for (const client of [
      await connectV2(running.mcp, 'legacy', traffic),
      await connectV1(running.mcp, traffic),
    ]) {
      await client.listTools();
      await client.callTool({ name: 'mirrored', arguments: { region: 'eu' } });
      expect(reached.pop()).toEqual({ region: 'eu' });
      await client.close();
    }
  });

  it('S-063: goes with a tool that goes, and comes with one that takes its place', async () => {
    const registry = running.app.get(McpRegistry);
    const { input: _, ...plain } = ADDED;
    await registry.addTool({ ...plain, replace: true }, () => addedHandler('replaced'));
    const free = await send('added', {}, []);
    expect([free.status, reached]).toEqual([200, ['replaced']]);
    await registry.addTool({ ...ADDED, replace: true }, addedHandler);
    expect((await send('added', { region: 'eu' }, [])).status).toBe(400);
  });

  it('S-066: refuses a tool at run time that breaks a rule', async () => {
    const input = { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } };
    await expect(
      (async () => running.app.get(McpRegistry).addTool({ name: 'bad', input }, addedHandler))(),
    ).rejects.toThrow('a header is for one text, integer or boolean');
    expect((await send('bad', {}, [])).json['error']).toMatchObject({ code: -32602 });
  });
});

describe('arguments in headers on stdio', () => {
  it('S-063: are nothing to either era', async () => {
    const { askers, end } = await askPipe(MirroredModule, traffic);
    for (const { ask, revision } of askers) {
      const args = { region: 'eu', where: { tenant: 't1' } };
      const { result } = await ask('tools/call', { name: 'mirrored', arguments: args });
      expect(JSON.parse(textOf(result))).toEqual(args);
      const listed = JSON.stringify((await ask('tools/list')).result);
      expect(listed.includes('x-mcp-header')).toBe(revision === '2026-07-28');
    }
    await end();
  });
});

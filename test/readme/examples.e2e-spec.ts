import { connect, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Module } from '@nestjs/common';
import { McpModule, McpRegistry, type McpRevision } from 'nest-mcp';
import { startApp, type AppOptions, type RunningApp } from '../support/app.js';
import { connectV1, connectV1Sse, connectV2 } from '../support/official-clients.js';
import { startProxy } from '../support/proxy.js';
import { Traffic } from '../support/traffic.js';
import { modern, modernMessage, openSession, post, replyOf, textOf, type Json } from '../support/wire.js';
import { AskingModule, Orders, Tickets } from './examples/asking.js';
import { BasicsModule } from './examples/basics.js';
import { allowPages, BrowsersModule } from './examples/browsers.js';
import { ChangesModule, LocalSet, RunTime, TicketDesk } from './examples/changes.js';
import { ContentModule } from './examples/content.js';
import { OldClientsModule } from './examples/old-clients.js';
import { PromptsModule } from './examples/prompts.js';
import { ResourcesModule } from './examples/resources.js';
import { pageOf } from './pages.js';
import { ExportsModule, SharedModule, StatelessModule } from './examples/sessions.js';
import { testASession, testATool } from './examples/testing.js';
import { testAQuestion } from './examples/testing-questions.js';
import { DOT } from './examples/tickets.js';
import { TcpTransport, TransportsModule } from './examples/transports.js';

const STAFF = { 'x-staff': 'yes' };
const traffic = new Traffic();
const open: RunningApp[] = [];

async function start(root: Parameters<typeof startApp>[0], options?: AppOptions): Promise<RunningApp> {
  const running = await startApp(root, options);
  open.push(running);
  return running;
}

afterAll(async () => {
  for (const running of open) await running.close();
  await traffic.verify();
});

describe('the README', () => {
  it('tests a tool like a route', () => expect(testATool()).resolves.toBeUndefined());

  it('tests a session', () => expect(testASession()).resolves.toBeUndefined());

  it('shows tools, schemas of each kind, a guard and progress', async () => {
    const { mcp: url } = await start(BasicsModule);
    const call = async (name: string, args: Json = {}, headers = {}, meta = {}) =>
      modern(url, 'tools/call', { name, arguments: args, _meta: meta }, headers);
    const text = async (name: string, args?: Json) => textOf((await call(name, args)).result);

    const { result } = await modern(url, 'server/discover');
    expect((result['_meta'] as Json)['io.modelcontextprotocol/serverInfo']).toMatchObject({
      version: '1.2.3',
    });
    expect(await text('deleteTicket', { id: 'T-1' })).toBe('Jonas deleted T-1 over http');
    expect(await text('search', { query: 'login' })).toBe('20 of login');
    expect(await text('read', { id: 'T-1' })).toBe('Ticket T-1');
    expect(await text('secret')).toBe('Forbidden resource');
    const tickets = [{ id: 'T-1', subject: 'Cannot log in' }];
    expect((await call('openTickets')).result['structuredContent']).toEqual(tickets);

    const found = { status: 'open', region: 'eu' };
    const mirrored = await call('searchTickets', found, { 'mcp-param-region': 'eu' });
    expect(mirrored.result['structuredContent']).toEqual({ ...found, limit: 20 });
    const differing = await call('searchTickets', found, { 'mcp-param-region': 'us' });
    expect([differing.status, differing.error.code]).toEqual([400, -32020]);

    const { messages } = await call('export', {}, {}, { progressToken: 'p' });
    expect(messages.map(({ params }) => (params as Json | undefined)?.['progress'])).toEqual([
      0,
      1,
      2,
      undefined,
    ]);
    expect(textOf(messages.at(-1)!['result'] as Json)).toBe('A,B,C');
  });
});

describe('docs/resources.md', () => {
  let url: string;
  const read = async (uri: string, headers = {}) => modern(url, 'resources/read', { uri }, headers);
  const contents = async (uri: string, headers = {}) => (await read(uri, headers)).result['contents'];

  beforeAll(async () => {
    url = (await start(ResourcesModule)).mcp;
  });

  it('reads a ticket, completes its id, and knows what is not there', async () => {
    const client = await connectV2(url, 'auto', traffic);
    const ticket = { id: 'T-1', subject: 'Cannot log in', comments: ['Which browser?', 'Firefox'] };
    expect((await client.readResource({ uri: 'ticket://T-1' })).contents).toEqual([
      { uri: 'ticket://T-1', mimeType: 'application/json', text: JSON.stringify(ticket) },
    ]);
    const ref = { type: 'ref/resource', uri: 'ticket://{id}' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'id', value: 'T-' } });
    expect(completion).toEqual({ values: ['T-1', 'T-2'], total: 2, hasMore: false });
    await client.close();
    expect((await read('ticket://T-9')).error).toMatchObject({ code: -32602, data: { uri: 'ticket://T-9' } });
    expect((await read('ticket://9')).error.message).toBe(
      'Invalid arguments for "ticket://9":\n- id: must match the pattern ^T-\\d{1,6}$',
    );
  });

  it('has the code of each revision for what is not there', async () => {
    const session = await openSession(url);
    const { error } = await session.request('resources/read', { uri: 'ticket://T-9' });
    expect(error).toMatchObject({ code: -32002, data: { uri: 'ticket://T-9' } });
  });

  it('gives a file to staff alone, and several contents at once', async () => {
    const uri = 'ticket://T-1/files/dot.png';
    expect((await read(uri)).error).toMatchObject({ code: 403, message: 'Forbidden resource' });
    expect(await contents(uri, STAFF)).toEqual([
      { uri, mimeType: 'image/png', blob: DOT.toString('base64') },
    ]);
    expect(await contents('ticket://T-1/thread')).toEqual([
      { uri: 'ticket://T-1/comments/0', mimeType: 'text/plain', text: 'Which browser?' },
      { uri: 'ticket://T-1/comments/1', mimeType: 'text/plain', text: 'Firefox' },
    ]);
  });

  it('gives what is of one caller to that one, by the variables of the address', async () => {
    const uri = 'ticket://T-1/invoice';
    expect(await contents(uri, { 'x-user': 'ada' })).toMatchObject([{ text: 'The invoice of T-1' }]);
    for (const headers of [{}, { 'x-user': 'eve' }])
      expect((await read(uri, headers)).error).toMatchObject({ code: 403, message: 'Forbidden resource' });
  });

  it('reads what stands at a fixed address, with its cache hints', async () => {
    const { result } = await read('docs://handbook');
    expect(result).toMatchObject({
      contents: [{ mimeType: 'text/markdown', text: '# Handbook\n\nBe kind first.\n' }],
      ttlMs: 60_000,
      cacheScope: 'public',
    });
  });

  it('converts and checks the variables of a template', async () => {
    const text = async (uri: string) => ((await contents(uri)) as [{ text: string }])[0].text;
    expect(await text('logs://api')).toBe('the last 100 lines of api, level any');
    expect(await text('logs://api?limit=5&level=error')).toBe('the last 5 lines of api, level error');
    expect((await read('logs://api?limit=900')).error.message).toContain('- limit: must be at most 500');
    expect(await text('logs://api?verbose=1')).toBe('the last 100 lines of api, level any');
    expect((await read('logs://api?limit=5&limit=6')).error.code).toBe(-32602);
    expect(await text('docs://pages/a/b%20c.md')).toBe('the page at a/b c.md');
    for (const hostile of ['docs://pages/../b', 'docs://pages/a%2Fb'])
      expect((await read(hostile)).error).toMatchObject({ code: -32602, data: { uri: hostile } });
  });
});

describe('the templates of docs/resources.md', () => {
  const rows = Array.from(
    pageOf('docs/resources.md').matchAll(/^\| `(\w+:[^`]+)` +\| `([^`]+)` +\|/gm),
    ([, template, uri]) => [template!, uri!] as const,
  );

  it('are six', () => {
    expect(rows).toHaveLength(6);
  });

  it.each(rows)('%s matches %s', async (template, uri) => {
    @Module({ imports: [McpModule.forRoot({ name: 'templates', version: '1.0.0' })] })
    class Empty {}
    const running = await startApp(Empty);
    await running.app.get(McpRegistry).addResource({ uri: template, name: 'shown' }, () => 'found');
    const { result } = await modern(running.mcp, 'resources/read', { uri });
    expect(result['contents']).toEqual([{ uri, mimeType: 'text/plain', text: 'found' }]);
    await running.close();
  });
});

describe('docs/prompts.md', () => {
  it('gives messages, converts texts, completes', async () => {
    const client = await connectV1((await start(PromptsModule)).mcp, traffic);
    const get = async (name: string, args: Record<string, string> = {}) =>
      client.getPrompt({ name, arguments: args });
    const user = (text: string) => ({ role: 'user', content: { type: 'text', text } });
    expect((await get('triage', { id: 'T-2', words: '50' })).messages).toEqual([
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: {
            uri: 'ticket://T-2',
            mimeType: 'application/json',
            text: '{"id":"T-2","subject":"Invoice is missing","comments":[]}',
          },
        },
      },
      user('Say how urgent this ticket is. Then draft a friendly reply of at most 50 words.'),
    ]);
    await expect(get('triage', { words: 'many' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('- words: must be an integer'),
    });
    expect((await get('hello')).messages).toEqual([user('Which tickets wait for me?')]);
    const example = await get('example');
    expect(example.description).toBe('A reply as we like it');
    expect(example.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect((await get('assign', { agent: 'Maya' })).messages).toEqual([
      user('Hand the ticket over to Maya.'),
    ]);

    const complete = async (name: string, argument: string, value: string, filled = {}) =>
      (
        await client.complete({
          ref: { type: 'ref/prompt', name },
          argument: { name: argument, value },
          context: { arguments: filled },
        })
      ).completion.values;
    expect(await complete('assign', 'agent', 'Ma')).toEqual(['Maya', 'Mats']);
    expect(await complete('assign', 'agent', '', { team: 'billing' })).toEqual(['Jonas']);
    expect(await complete('triage', 'tone', 'fo')).toEqual(['formal']);
    await client.close();
  });
});

describe('content and docs/logging.md', () => {
  let url: string;

  beforeAll(async () => {
    url = (await start(ContentModule)).mcp;
  });

  it('builds blocks, and gives older clients what they know', async () => {
    const chart = { name: 'chart', arguments: { week: 3 } };
    const { result } = await modern(url, 'tools/call', chart);
    expect(result['content']).toEqual([
      { type: 'text', text: 'Week 3' },
      {
        type: 'image',
        data: DOT.toString('base64'),
        mimeType: 'image/png',
        annotations: { audience: ['user'] },
      },
      {
        type: 'resource_link',
        uri: 'ticket://T-1',
        name: 'The oldest open ticket',
        mimeType: 'application/json',
      },
    ]);
    const older = await (await openSession(url, '2025-03-26')).request('tools/call', chart);
    expect((older.result['content'] as Json[]).map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });

  const count = (week: number, meta = {}) => ({ name: 'count', arguments: { week }, _meta: meta });
  const logged = (messages: Json[]) =>
    messages
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params }) => [(params as Json)['level'], (params as Json)['data']]);

  it('sends a log message where the request asks for its level', async () => {
    const level = (wanted: string) => ({ 'io.modelcontextprotocol/logLevel': wanted });
    expect(logged((await modern(url, 'tools/call', count(60))).messages)).toEqual([]);
    expect(logged((await modern(url, 'tools/call', count(60, level('warning')))).messages)).toEqual([
      ['warning', 'Week 60 had 120 tickets'],
    ]);
    expect(logged((await modern(url, 'tools/call', count(3, level('debug')))).messages)).toEqual([
      ['debug', { week: 3 }],
    ]);
    const { error } = await modern(url, 'tools/call', count(3, level('loud')));
    expect(error.code).toBe(-32602);
  });

  it.each<McpRevision>(['2024-11-05', '2025-11-25'])(
    'sends it in a session of %s that asked',
    async (revision) => {
      const session = await openSession(url, revision);
      await session.notify('notifications/initialized');
      expect(logged((await session.request('tools/call', count(60))).messages)).toEqual([]);
      expect((await session.request('logging/setLevel', { level: 'warning' })).result).toEqual({});
      expect(logged((await session.request('tools/call', count(60))).messages)).toEqual([
        ['warning', 'Week 60 had 120 tickets'],
      ]);
    },
  );
});

describe('docs/changes.md', () => {
  let running: RunningApp;
  const call = (name: string, args = {}, headers = {}) =>
    modern(running.mcp, 'tools/call', { name, arguments: args }, headers);

  beforeAll(async () => {
    running = await start(ChangesModule);
  });

  it('adds a tool behind its guard, pauses it and brings it back', async () => {
    const add = (headers = {}) => call('add', { a: 1, b: 2 }, headers);
    expect((await add(STAFF)).result['content']).toEqual([{ type: 'text', text: '3' }]);
    expect((await add()).result).toMatchObject({ isError: true, content: [{ text: 'Forbidden resource' }] });
    const runTime = running.app.get(RunTime);
    runTime.pause(true);
    expect((await add(STAFF)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"add"'),
    });
    runTime.pause(false);
    expect((await add(STAFF)).result['isError']).toBeUndefined();
  });

  it('exposes a whole set, each item behind the guard', async () => {
    expect(running.app.get(LocalSet)).toBeDefined();
    expect((await call('ping', {}, STAFF)).result['content']).toEqual([{ type: 'text', text: 'pong' }]);
    for (const name of ['ping', 'now']) expect((await call(name)).result).toMatchObject({ isError: true });
    expect(
      running.app
        .get(McpRegistry)
        .describe()
        .map(({ kind, name }) => `${kind} ${name}`),
    ).toEqual(['tool add', 'tool ping', 'tool now', 'resource ticket']);
  });

  it('tells a client that listens, also of what happens in another process', async () => {
    const client = await connectV2(running.mcp, 'auto', traffic);
    const seen: string[] = [];
    let look = () => {};
    client.fallbackNotificationHandler = async ({ method, params }) => {
      seen.push([method, (params as Json)['uri']].filter(Boolean).join(' '));
      look();
    };
    const until = async (text: string) => {
      while (!seen.includes(text)) await new Promise<void>((resolve) => (look = resolve));
    };
    const subscription = await client.listen({
      resourcesListChanged: true,
      resourceSubscriptions: ['ticket://T-1', 'ticket://T-2'],
    });
    await running.app.get(TicketDesk).close('T-1');
    await until('notifications/resources/updated ticket://T-1');
    const runTime = running.app.get(RunTime);
    await runTime.publish('reset', '# Reset');
    await until('notifications/resources/list_changed');
    expect((await client.readResource({ uri: 'kb://articles/reset' })).contents[0]).toMatchObject({
      text: '# Reset',
    });
    await runTime.publish('reset', '# Again');
    expect((await client.readResource({ uri: 'kb://articles/reset' })).contents[0]).toMatchObject({
      text: '# Again',
    });
    expect(runTime.withdraw('reset')).toBe(true);
    expect((await client.listResources()).resources).toEqual([]);

    const other = await start(ChangesModule);
    await other.app.get(TicketDesk).close('T-2');
    await until('notifications/resources/updated ticket://T-2');
    await subscription.close();
    await client.close();
  });

  it('answers a request to listen by a stream that begins with what is honoured', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['no://1'],
    };
    const response = await traffic.fetch(running.mcp, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(modernMessage('subscriptions/listen', { notifications }, 7)),
    });
    await running.close();
    open.splice(open.indexOf(running), 1);
    const { messages } = await replyOf(response);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 7 };
    expect(messages[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta },
    });
    expect(messages.at(-1)).toMatchObject({ id: 7, result: { _meta } });
  });
});

describe('docs/asking.md', () => {
  it('asks in rounds, does once what must not be done twice, and refuses a state of another call', async () => {
    const { mcp: url, app } = await start(AskingModule);
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const call = (name: string, more: Json = {}) =>
      modern(url, 'tools/call', { name, arguments: { id: 'T-1' }, _meta, ...more });
    const asked = (await call('deleteTicket')).result;
    expect(asked['resultType']).toBe('input_required');
    const state = { requestState: asked['requestState'] };
    const why = { why: { action: 'accept', content: { reason: 'It was a test' } } };
    expect(textOf((await call('deleteTicket', { ...state, inputResponses: why })).result)).toBe(
      'Deleted T-1',
    );
    expect(app.get(Tickets).deleted).toEqual(['T-1: It was a test']);
    expect((await call('replaceDevice', state)).error.code).toBe(-32602);

    const reserved = (await call('replaceDevice')).result;
    const order = { order: { action: 'accept', content: { confirmed: true } } };
    const ordered = await call('replaceDevice', {
      requestState: reserved['requestState'],
      inputResponses: order,
    });
    expect([textOf(ordered.result), app.get(Orders).reserved]).toEqual(['Ordered 1', 1]);
    const declined = await call('deleteTicket', { ...state, inputResponses: { why: { action: 'decline' } } });
    expect(textOf(declined.result)).toBe('Nothing was deleted');

    const { inputRequests } = (await call('book', { arguments: {} })).result;
    expect(inputRequests).toMatchObject({
      'elicitation-1': {
        params: {
          requestedSchema: {
            properties: {
              email: { type: 'string', format: 'email' },
              bags: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
              seat: {
                oneOf: [
                  { const: 'a', title: 'Aisle' },
                  { const: 'w', title: 'Window' },
                ],
              },
              meals: { type: 'array', items: { enum: ['vegan', 'halal', 'kosher'] } },
            },
            required: ['email', 'seat'],
          },
        },
      },
    });
    const workspace = await call('workspace', { arguments: {} });
    expect(textOf(workspace.result)).toContain('file:///default');
  });

  it('tests a tool that asks', () => expect(testAQuestion()).resolves.toBeUndefined());
});

describe('docs/sessions.md', () => {
  it('has a client come back for the answer of a call that closed its stream', async () => {
    const { mcp: url } = await start(ExportsModule);
    const session = await openSession(url);
    const closed = await session.callTool('exportTickets');
    expect(closed.messages).toEqual([]);
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session.id };
    const last = /^id: (.+)$/m.exec(closed.text)![1]!;
    const back = await replyOf(await fetch(url, { headers: { ...headers, 'last-event-id': last } }));
    expect(textOf(back.result)).toBe('All tickets');
    const again = await fetch(url, { headers: { ...headers, 'last-event-id': 'p' } });
    expect(again.status).toBe(400);
  });

  it('serves a client without a session', async () => {
    const { mcp: url } = await start(StatelessModule);
    const session = await openSession(url, '2025-06-18');
    expect(session.id).toBe('');
    expect(session.initialized.result['capabilities']).toEqual({ tools: {} });
    expect((await session.callTool('who')).status).toBe(200);
    const get = await fetch(url, { headers: { accept: 'text/event-stream' } });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('serves a session in the process where it did not begin', async () => {
    const [here, there] = [await start(SharedModule), await start(SharedModule)];
    const session = await openSession(here.mcp);
    const inSession = { 'mcp-session-id': session.id };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect((await post(there.mcp, ping, inSession)).result).toEqual({});
    expect((await fetch(there.mcp, { method: 'DELETE', headers: inSession })).status).toBe(204);
    expect((await session.request('ping')).status).toBe(404);
  });
});

describe('docs/transports.md', () => {
  it('serves both eras over TCP, and cancels what a client leaves behind', async () => {
    process.env['MCP_TCP_PORT'] = '0';
    const { app } = await start(TransportsModule);
    delete process.env['MCP_TCP_PORT'];
    const { server } = app.get(TcpTransport);
    const ask = async (messages: Json[]): Promise<Json[]> => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const answers: Json[] = [];
      const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
      for (const message of messages) {
        socket.write(`${JSON.stringify(message)}\n`);
        if ('id' in message) answers.push(JSON.parse((await lines.next()).value as string) as Json);
      }
      socket.destroy();
      return answers;
    };
    const whoAmI = { name: 'whoAmI', arguments: {} };
    const [answer] = await ask([modernMessage('tools/call', whoAmI)]);
    traffic.observe(answer, '2026-07-28', 'tools/call');
    expect(answer!['result']).toMatchObject({
      content: [{ text: 'the local user in 2026-07-28, over memory' }],
    });

    const clientInfo = { name: 'test', version: '1' };
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const [welcome, called] = await ask([
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: whoAmI },
    ]);
    traffic.observe(welcome, '2025-06-18', 'initialize');
    traffic.observe(called, '2025-06-18', 'tools/call');
    expect(called!['result']).toMatchObject({
      content: [{ text: 'the local user in 2025-06-18, over memory' }],
    });
  });

  it('serves clients of HTTP+SSE behind a proxy', async () => {
    const { url } = await start(OldClientsModule);
    const proxy = await startProxy(url, '/helpdesk');
    const client = await connectV1Sse(`${proxy.url}/sse`, traffic);
    expect((await client.callTool({ name: 'whoAmI' })).content).toEqual([
      { type: 'text', text: 'undefined in 2025-11-25, over sse' },
    ]);
    await client.close();
    await proxy.close();
  });

  it('lets a page call, and no other', async () => {
    const { mcp: url } = await start(BrowsersModule, { configure: allowPages });
    const whoAmI = { name: 'whoAmI', arguments: {} };
    const origin = 'https://app.example.com';
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    const called = await modern(url, 'tools/call', whoAmI, { origin });
    expect([called.status, called.headers.get('access-control-expose-headers')]).toEqual([
      200,
      'Mcp-Session-Id,WWW-Authenticate',
    ]);
    const other = await modern(url, 'tools/call', whoAmI, { origin: 'https://evil.example.com' });
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

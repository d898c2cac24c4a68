import type { McpRevision } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { withOptionsThird, type AnyClient } from '../clients/client-cases.js';
import { Changes } from '../features/changes.app.js';
import { HeldCalls, LogRecorder } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { eventsOf, Traffic } from '../support/traffic.js';
import { modern, openSession, post, replyOf, textOf, type Json, type Reply } from '../support/wire.js';
import { eventsIn, HOLD, LEGACY, letGo, messagesOf, openCall, progressOf } from './calls.js';
import { sessionsApp } from './sessions.app.js';

/** What a client may bring along from a server that had sessions. */
const STRAY = { 'mcp-session-id': 'f'.repeat(32), 'last-event-id': 'pAAAAAAAAAAAA.1' };
const message = (method: string, params?: Json, id: string | number = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });

const send = async (url: string, method: string, headers: Record<string, string> = {}): Promise<Reply> =>
  replyOf(await fetch(url, { method, headers: { accept: 'text/event-stream', ...headers } }));

/** Nothing that a server says of sessions and streams to come back to. */
function expectNoTrace({ headers, text }: Reply): void {
  expect(headers.has('mcp-session-id')).toBe(false);
  expect(text).not.toMatch(/^(?:id|retry):/m);
}

describe.each(ADAPTERS)("legacy: 'stateless', on %s", (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let held: HeldCalls;

  beforeAll(async () => {
    running = await startApp(sessionsApp({ legacy: 'stateless' }), { adapter, logger: logs });
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  /** A request of a revision, judged by it; by no name, where the client gives none. */
  async function ask(revision: McpRevision | undefined, method: string, params: Json = {}, more: Json = {}) {
    const named: Record<string, string> = revision === undefined ? {} : { 'mcp-protocol-version': revision };
    const reply = await post(running.mcp, message(method, params), { ...named, ...(more as object) });
    for (const told of reply.messages)
      traffic.observe(told, revision ?? '2025-03-26', 'method' in told ? undefined : method);
    expectNoTrace(reply);
    return reply;
  }

  it.each([...LEGACY, '1999-01-01'])(
    'D6, K2: initialize of %s opens nothing and promises nothing',
    async (asked) => {
      for (const headers of [{}, STRAY] as Record<string, string>[]) {
        const { initialized } = await openSession(running.mcp, asked as McpRevision, headers);
        const settled = asked === '1999-01-01' ? '2025-11-25' : (asked as McpRevision);
        traffic.observe(initialized.body, settled, 'initialize');
        expectNoTrace(initialized);
        expect([initialized.status, initialized.body]).toEqual([
          200,
          {
            jsonrpc: '2.0',
            id: 0,
            result: {
              protocolVersion: settled,
              capabilities: { tools: {}, resources: {}, prompts: {} },
              serverInfo: { name: 'wire', version: '1.2.3' },
            },
          },
        ]);
      }
    },
  );

  it.each([...LEGACY, undefined])(
    'S-032, S-190: serves requests of %p with no initialize before',
    async (revision) => {
      const effective = revision ?? '2025-03-26';
      const { tools } = (await ask(revision, 'tools/list')).result as { tools: Json[] };
      expect(tools.some((tool) => 'title' in tool)).toBe(effective >= '2025-06-18');
      const hello = await ask(revision, 'tools/call', { name: 'hello' }, STRAY);
      expect([hello.status, hello.result]).toEqual([
        200,
        {
          content: [{ type: 'text', text: '{"greeting":"hello"}' }],
          ...(effective >= '2025-06-18' ? { structuredContent: { greeting: 'hello' } } : {}),
        },
      ]);
      const who = await ask(revision, 'tools/call', { name: 'whoami' }, { 'x-user': 'ann' });
      expect(JSON.parse(textOf(who.result))).toEqual({
        client: { capabilities: {} },
        era: 'legacy',
        revision: effective,
        requestId: 1,
        caller: { id: 'ann' },
      });
      expect((await ask(revision, 'ping', {}, STRAY)).result).toEqual({});
      expect((await ask(revision, 'resources/read', { uri: 'ticket://7' })).status).toBe(200);
      expect((await ask(revision, 'prompts/get', { name: 'greet' })).status).toBe(200);
    },
  );

  it.each(['banana', '', '1999-01-01', '2025-11-25, 2025-11-25'])(
    'S-081, D7: the version %p is 400',
    async (version) => {
      const headers = { 'mcp-protocol-version': version };
      const served = 'MCP-Protocol-Version is not one that is served: use';
      for (const [body, id] of [
        [message('tools/list', {}, 'v'), 'v'],
        ['{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined],
        ['{"jsonrpc":"2.0","id":1,"result":{}}', undefined],
      ] as const) {
        const reply = await post(running.mcp, body, headers);
        expect([reply.status, reply.error.code, reply.body['id']]).toEqual([400, -32600, id]);
        expect(reply.error.message).toBe(`${served} 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05`);
      }
    },
  );

  it.each(['GET', 'DELETE', 'PUT'])('D9: %s is 405, and POST what is allowed', async (method) => {
    for (const headers of [{}, STRAY, { 'mcp-protocol-version': '2025-06-18' }] as Record<string, string>[]) {
      const reply = await send(running.mcp, method, headers);
      expect([reply.status, reply.headers.get('allow'), reply.error]).toEqual([
        405,
        'POST',
        { code: -32600, message: 'Method not allowed: use POST' },
      ]);
      expectNoTrace(reply);
    }
  });

  it.each(LEGACY)(
    'K2: nothing is set up for a client of %s: there is nobody to keep it for',
    async (revision) => {
      for (const [method, params] of [
        ['logging/setLevel', { level: 'debug' }],
        ['resources/subscribe', { uri: 'ticket://1' }],
        ['resources/unsubscribe', { uri: 'ticket://1' }],
      ] as const) {
        const reply = await ask(revision, method, params);
        expect([reply.status, reply.error.code, reply.body['id']]).toEqual([200, -32601, 1]);
      }
    },
  );

  it('S-072, D11: notifications and responses are 202 and nothing else', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]) {
      const reply = await post(running.mcp, body, STRAY);
      expect([reply.status, reply.text]).toEqual([202, '']);
      expectNoTrace(reply);
    }
  });

  it.each(LEGACY)('S-073: streams progress to a client of %s, by events without ids', async (revision) => {
    const session = await openSession(running.mcp, revision);
    const key = `streamed to ${revision}`;
    const stream = await openCall(running.mcp, session, HOLD(key, 1), traffic, {
      headers: { ...STRAY, 'mcp-protocol-version': revision },
    });
    const ctx = await held.of(key).started;
    expect([ctx.sessionId, ctx.revision]).toEqual([undefined, revision]);
    // Neither is there anything to come back to, nor was a level of logs asked for.
    ctx.closeStream();
    ctx.log.error('not wanted');
    await ctx.progress(2);
    // A cancellation without a session names nothing.
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(running.mcp, JSON.stringify(cancel))).status).toBe(202);
    expect(ctx.signal.aborted).toBe(false);
    held.of(key).release();
    expect(await messagesOf(stream)).toEqual([...progressOf(key, 1, 2), letGo(key, 1)]);
    expect(eventsIn(stream).every(({ id, retry }) => id === undefined && retry === undefined)).toBe(true);
    expect(stream.headers['mcp-session-id']).toBeUndefined();
  });

  it('S-194: a broken connection does not cancel the call', async () => {
    const session = await openSession(running.mcp);
    const stream = await openCall(running.mcp, session, HOLD('broken', 1), traffic);
    const ctx = await held.of('broken').started;
    await stream.close();
    await ctx.progress(2);
    expect(ctx.signal.aborted).toBe(false);
    held.of('broken').release();
    await held.of('broken').over;
    expect((await ask('2025-11-25', 'ping')).status).toBe(200);
  });

  it('H2: serves a batch to a client of 2025-03-26, named or not, and to no other', async () => {
    const batch = `[${message('ping', undefined, 'a')},{"jsonrpc":"2.0","method":"notifications/initialized"},${message('tools/call', { name: 'hello' }, 'b')}]`;
    for (const headers of [{}, { 'mcp-protocol-version': '2025-03-26' }, STRAY] as Record<string, string>[]) {
      const reply = await post(running.mcp, batch, headers);
      expectNoTrace(reply);
      const answers = JSON.parse(reply.text) as Json[];
      const byId = Object.fromEntries(answers.map(({ id, result }) => [id, result]));
      expect([reply.status, byId]).toEqual([
        200,
        { a: {}, b: { content: [{ type: 'text', text: '{"greeting":"hello"}' }] } },
      ]);
    }
    for (const revision of LEGACY.filter((other) => other !== '2025-03-26')) {
      const reply = await post(running.mcp, batch, { 'mcp-protocol-version': revision });
      const text = 'Invalid request: a batch is of 2025-03-26 alone: send one message at a time';
      expect([reply.status, reply.error]).toEqual([400, { code: -32600, message: text }]);
    }
    const notified = '[{"jsonrpc":"2.0","method":"notifications/initialized"}]';
    expect((await post(running.mcp, notified)).status).toBe(202);
    const steps = { name: 'steps', arguments: { count: 1 }, _meta: { progressToken: 1 } };
    const streamed = await post(running.mcp, `[${message('tools/call', steps, 's')}]`);
    expectNoTrace(streamed);
    expect(eventsOf(streamed.text).map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      's',
    ]);
  });

  it('S-192: 2026-07-28 is served beside it', async () => {
    const reply = await modern(running.mcp, 'tools/call', { name: 'hello' }, STRAY);
    traffic.observe(reply.body, '2026-07-28', 'tools/call');
    expect([reply.status, reply.result['resultType']]).toEqual([200, 'complete']);
    expectNoTrace(reply);
  });

  it.each(['v1 client', 'v2 client in legacy mode', 'v2 client'])('the official %s works', async (name) => {
    const client = await connect(name, running.mcp, traffic);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('hello');
    const steps: number[] = [];
    const answer = await client.callTool(
      { name: 'steps', arguments: { count: 3 } },
      { onprogress: ({ progress }) => void steps.push(progress) },
    );
    expect([steps, answer.content]).toEqual([[1, 2, 3], [{ type: 'text', text: '3 steps' }]]);
    expect((await client.callTool({ name: 'hello' })).structuredContent).toEqual({ greeting: 'hello' });
    expect(new Changes(running.app).streams).toBe(0);
    await client.close();
  });

  it('E7: two instances that share nothing serve one client in turns', async () => {
    const second = await startApp(sessionsApp({ legacy: 'stateless' }), { adapter });
    const instances = [running, second];
    const { initialized } = await openSession(second.mcp);
    expect(initialized.status).toBe(200);
    for (let at = 0; at < 6; at++) {
      const reply = await post(instances[at % 2]!.mcp, message('tools/call', { name: 'hello' }, at), {
        'mcp-protocol-version': '2025-11-25',
      });
      expect([reply.status, reply.body['id'], reply.result['structuredContent']]).toEqual([
        200,
        at,
        { greeting: 'hello' },
      ]);
    }
    await second.close();
  });

  it('keeps nothing of its clients, and writes nothing of them into the log', () => {
    const { sessions } = running.app.get(McpServer);
    expect([sessions.store.count(), sessions.size]).toEqual([0, 0]);
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

async function connect(name: string, url: string, traffic: Traffic): Promise<AnyClient> {
  if (name === 'v1 client') return withOptionsThird(await connectV1(url, traffic));
  return (await connectV2(url, name === 'v2 client' ? 'auto' : 'legacy', traffic)) as unknown as AnyClient;
}

describe.each(ADAPTERS)("legacy: 'off', on %s", (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(sessionsApp({ legacy: 'off' }), { adapter });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it.each(LEGACY)('D6, S-191: answers -32022 to a client of %s, whatever it asks', async (revision) => {
    const { initialized } = await openSession(running.mcp, revision);
    const others = ['tools/list', 'ping', 'tools/call', 'logging/setLevel', 'no/such'].map((method) =>
      post(running.mcp, message(method, {}, 0), { 'mcp-protocol-version': revision, ...STRAY }),
    );
    for (const reply of [initialized, ...(await Promise.all(others))]) {
      traffic.observe(reply.body, '2026-07-28', undefined);
      expectNoTrace(reply);
      expect([reply.status, reply.body['id'], reply.error.code, reply.error.data]).toEqual([
        400,
        0,
        -32022,
        { supported: ['2026-07-28'], requested: revision },
      ]);
    }
  });

  it('takes a client that names nothing for one of 2025-03-26', async () => {
    const reply = await post(running.mcp, message('tools/list'));
    expect([reply.status, reply.error.code, reply.error.data]).toEqual([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '2025-03-26' },
    ]);
  });

  it('S-072: takes legacy notifications and responses with 202, and refuses batches', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]) {
      const reply = await post(running.mcp, body, STRAY);
      expect([reply.status, reply.text]).toEqual([202, '']);
    }
    const batch = await post(running.mcp, `[${message('ping')}]`);
    expect([batch.status, batch.error.code]).toEqual([400, -32600]);
  });

  it.each(['GET', 'DELETE'])('D9: %s is 405, and POST what is allowed', async (method) => {
    for (const headers of [{}, STRAY] as Record<string, string>[]) {
      const reply = await send(running.mcp, method, headers);
      expect([reply.status, reply.headers.get('allow'), reply.error.code]).toEqual([405, 'POST', -32600]);
    }
  });

  it('serves 2026-07-28, raw and by the official client, and refuses the others', async () => {
    const reply = await modern(running.mcp, 'tools/call', { name: 'hello' }, STRAY);
    traffic.observe(reply.body, '2026-07-28', 'tools/call');
    expect(reply.result).toMatchObject({ resultType: 'complete', structuredContent: { greeting: 'hello' } });
    expectNoTrace(reply);
    const client = await connectV2(running.mcp, 'auto', traffic);
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect((await client.callTool({ name: 'hello' })).structuredContent).toEqual({ greeting: 'hello' });
    await client.close();
    for (const name of ['v1 client', 'v2 client in legacy mode'])
      await expect(connect(name, running.mcp, new Traffic())).rejects.toThrow();
  });
});

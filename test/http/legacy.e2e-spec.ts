import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { McpRevision } from 'nest-mcp';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { eventsOf, Traffic } from '../support/traffic.js';
import {
  callTool,
  envelope,
  modern,
  modernHeaders,
  openSession,
  post,
  replyOf,
  textOf,
  type Json,
  type LegacySession,
  type Reply,
} from '../support/wire.js';
import { HeldCalls, LogRecorder, wireApp } from './wire.app.js';

const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const HOLD = (key: string, progress?: number): Json => ({
  name: 'hold',
  arguments: { key, progress },
  _meta: { progressToken: `token of ${key}` },
});

/** Takes the caller's name from a header, as a token guard of an application would from a token. */
@Injectable()
class NameGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Json; user?: unknown }>();
    const name = request.headers['x-user'];
    if (typeof name === 'string') request.user = { id: name };
    return true;
  }
}

const OTHER_VERSION = { 'mcp-protocol-version': 'banana' };

const messageOf = (id: unknown, method: string, params: Json = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

const send = async (
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Reply> => replyOf(await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) }));

/** What an error says in the place of an id that nobody can know. */
const missingId = (revision: McpRevision): null | undefined => (revision <= '2025-06-18' ? null : undefined);

function expectError(reply: Reply, status: number, code: unknown, id?: unknown): void {
  expect([reply.status, reply.error?.code, reply.body['id']]).toEqual([status, code, id]);
}

describe.each(ADAPTERS)('the revisions with sessions over HTTP on %s', (adapter) => {
  let running: RunningApp;
  let held: HeldCalls;
  const logs = new LogRecorder();
  const traffic = new Traffic();

  beforeAll(async () => {
    const root = wireApp(
      { instructions: 'Be kind.', sessions: { maxPerCaller: 2 } },
      { providers: [{ provide: APP_GUARD, useClass: NameGuard }] },
    );
    running = await startApp(root, { adapter, logger: logs });
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  /** A request in a session whose answer is judged. */
  async function ask(session: LegacySession, method: string, params: Json = {}, id: string | number = 1) {
    const reply = await session.request(method, params, id);
    const { protocolVersion } = session.initialized.result as { protocolVersion: McpRevision };
    for (const message of reply.messages)
      traffic.observe(message, protocolVersion, 'method' in message ? undefined : method);
    return reply;
  }

  describe('initialize', () => {
    it.each([
      ...LEGACY.map((revision): [string, string] => [revision, revision]),
      ['1999-01-01', '2025-11-25'],
      ['', '2025-11-25'],
      ['2026-07-28', '2025-11-25'],
      ['2031-01-01', '2025-11-25'],
    ])('D6, S-030, S-031, S-191: asked for %p settles on %s', async (asked, settled) => {
      const session = await openSession(running.mcp, asked as McpRevision);
      const { initialized } = session;
      expect(initialized.status).toBe(200);
      expect(initialized.body).toEqual({
        jsonrpc: '2.0',
        id: 0,
        result: {
          protocolVersion: settled,
          capabilities: { logging: {}, tools: { listChanged: true } },
          serverInfo: { name: 'wire', version: '1.2.3' },
          instructions: 'Be kind.',
        },
      });
      traffic.observe(initialized.body, settled as McpRevision, 'initialize');
    });

    it('S-079, S-180: gives a session id of visible ASCII, another one each time', async () => {
      const ids = await Promise.all(
        Array.from({ length: 20 }, async () => (await openSession(running.mcp)).id),
      );
      ids.forEach((id) => expect(id).toMatch(/^[\x21-\x7e]{32,}$/));
      expect(new Set(ids).size).toBe(20);
    });

    it.each([
      ['no params', undefined],
      ['no version', { capabilities: {} }],
      ['a number as version', { ...INITIALIZE, protocolVersion: 1 }],
      ['capabilities as text', { ...INITIALIZE, capabilities: 'x' }],
      ['clientInfo without version', { ...INITIALIZE, clientInfo: { name: 'x' } }],
    ])('answers -32602 to %s and opens nothing', async (_what, params) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'i', method: 'initialize', params });
      const reply = await post(running.mcp, body);
      expectError(reply, 200, -32602, 'i');
      expect(reply.headers.has('mcp-session-id')).toBe(false);
    });

    it('ignores a legacy version header of its own', async () => {
      const reply = await post(running.mcp, messageOf(1, 'initialize', INITIALIZE), {
        'mcp-protocol-version': 'banana',
      });
      expect([reply.status, reply.result['protocolVersion']]).toEqual([200, '2025-11-25']);
    });

    it('E3: is refused within a session, whose first data stay', async () => {
      const session = await openSession(running.mcp);
      const other = {
        ...INITIALIZE,
        capabilities: { roots: {} },
        clientInfo: { name: 'other', version: '2' },
      };
      expectError(await session.request('initialize', other, 'again'), 400, -32600, 'again');
      const { result } = await ask(session, 'tools/call', { name: 'whoami' });
      expect(result['structuredContent']).toMatchObject({
        client: { name: 'test', version: '1', capabilities: {} },
        era: 'legacy',
        revision: '2025-11-25',
        sessionId: session.id,
      });
    });
  });

  describe('the session header', () => {
    it('E1: answers 400 to a message without it', async () => {
      expectError(await post(running.mcp, messageOf(1, 'tools/list')), 400, -32600, 1);
      expectError(
        await post(running.mcp, '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
        400,
        -32600,
      );
      expectError(await send(running.mcp, 'DELETE', {}), 400, -32600);
    });

    it('E1, S-080: answers 404 to an id that was never given out', async () => {
      const headers = { 'mcp-session-id': 'f'.repeat(32) };
      for (const method of ['tools/list', 'ping', 'no/such'])
        expectError(await post(running.mcp, messageOf(7, method, INITIALIZE), headers), 404, -32600, 7);
      const notified = await post(running.mcp, '{"jsonrpc":"2.0","method":"x/y"}', headers);
      expectError(notified, 404, -32600);
      expectError(await send(running.mcp, 'DELETE', headers), 404, -32600);
    });

    it('E1, S-074: refuses a GET without a session, of an unknown one, and one that takes no stream', async () => {
      const session = await openSession(running.mcp);
      const get = (headers: Record<string, string>) => send(running.mcp, 'GET', headers);
      const stream = { accept: 'text/event-stream' };
      expectError(await get(stream), 400, -32600);
      expectError(await get({ ...stream, 'mcp-session-id': 'unknown' }), 404, -32600);
      const named = { 'mcp-session-id': session.id };
      expectError(await get({ accept: 'application/json', ...named }), 406, -32600);
      const put = await send(running.mcp, 'PUT', named);
      expectError(put, 405, -32600);
      expect(put.headers.get('allow')).toBe('GET, POST, DELETE');
    });

    it('E2: serves two sessions side by side', async () => {
      const sessions = await Promise.all([openSession(running.mcp), openSession(running.mcp)]);
      for (const session of [...sessions, ...sessions.toReversed()]) {
        const { result } = await ask(session, 'tools/call', { name: 'whoami' });
        expect((result['structuredContent'] as Json)['sessionId']).toBe(session.id);
      }
    });

    it('E4: gives each session its own answer when both use id 1', async () => {
      const slow = await openSession(running.mcp);
      const quick = await openSession(running.mcp);
      const key = `E4 on ${adapter}`;
      const pending = ask(slow, 'tools/call', HOLD(key, 1), 1);
      await held.of(key).started;
      const echoed = await ask(quick, 'tools/call', { name: 'echo', arguments: { text: 'quick' } }, 1);
      expect([echoed.messages.length, textOf(echoed.result)]).toEqual([1, 'quick']);
      held.of(key).release();
      const reply = await pending;
      expect(reply.messages[0]!['params']).toEqual({ progressToken: `token of ${key}`, progress: 1 });
      expect([reply.messages.length, textOf(reply.result)]).toEqual([2, `${key} let go`]);
    });

    it('refuses a second call with an id that is still running, and not the first', async () => {
      const session = await openSession(running.mcp);
      const pending = ask(session, 'tools/call', HOLD('twice'), 'same');
      await held.of('twice').started;
      const second = await ask(session, 'tools/call', { name: 'hello' }, 'same');
      expectError(second, 200, -32600, 'same');
      held.of('twice').release();
      expect(textOf((await pending).result)).toBe('twice let go');
    });
  });

  it.each(LEGACY)('H2: a refusal of what has no id says so in the form of %s', async (revision) => {
    const { id } = await openSession(running.mcp, revision);
    const session = { 'mcp-session-id': id };
    const stream = { ...session, accept: 'text/event-stream' };
    const refused: [Promise<Reply>, number][] = [
      [post(running.mcp, '[]', session), 400],
      [post(running.mcp, '{', session), 400],
      [post(running.mcp, messageOf(1, 'ping').replace('1', '{}'), session), 400],
      [post(running.mcp, '{"jsonrpc":"2.0","id":1,"result":{}}', { ...session, ...OTHER_VERSION }), 400],
      [post(running.mcp, `[${messageOf(1, 'ping')}]`, { ...session, ...OTHER_VERSION }), 400],
      [send(running.mcp, 'GET', { ...stream, ...OTHER_VERSION }), 400],
      [send(running.mcp, 'GET', { ...session, accept: 'text/plain' }), 406],
      [send(running.mcp, 'GET', { ...stream, 'last-event-id': 'none' }), 400],
    ];
    for (const [reply, status] of refused)
      expectError(await reply, status, expect.any(Number), missingId(revision));
    const batch = await post(running.mcp, `[${messageOf(1, 'ping')}]`, { ...session, accept: 'text/plain' });
    const isServed = revision === '2025-03-26';
    expectError(batch, isServed ? 406 : 400, -32600, missingId(revision));
  });

  describe('MCP-Protocol-Version', () => {
    it.each(LEGACY)('D7, S-081: an unsupported one is 400 in a session of %s', async (revision) => {
      const session = await openSession(running.mcp, revision);
      const headers = { 'mcp-session-id': session.id, 'mcp-protocol-version': 'banana' };
      expectError(await post(running.mcp, messageOf(1, 'tools/list'), headers), 400, -32600, 1);
      const notified = await post(
        running.mcp,
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        headers,
      );
      expectError(notified, 400, -32600, missingId(revision));
      expectError(await send(running.mcp, 'DELETE', headers), 400, -32600, missingId(revision));
      // It did not end the session.
      expect((await ask(session, 'ping')).status).toBe(200);
    });

    it('D7: one that the session did not settle on is 400', async () => {
      const session = await openSession(running.mcp, '2025-06-18');
      const reply = await session.request('tools/list', {}, 1, { 'mcp-protocol-version': '2025-11-25' });
      expectError(reply, 400, -32600, 1);
    });

    it.each(LEGACY)('D7: a missing one means that of the session, %s', async (revision) => {
      const { id } = await openSession(running.mcp, revision);
      const headers = { 'mcp-session-id': id };
      const reply = await post(running.mcp, messageOf(1, 'tools/call', { name: 'whoami' }), headers);
      expect(JSON.parse(textOf(reply.result))).toMatchObject({ revision });
      expect((await send(running.mcp, 'DELETE', headers)).status).toBe(204);
    });
  });

  describe.each(LEGACY)('a session of %s', (revision) => {
    let session: LegacySession;

    beforeAll(async () => {
      session = await openSession(running.mcp, revision);
    });

    it('D11, S-072: takes notifications and responses with 202 and nothing else', async () => {
      const headers = { 'mcp-session-id': session.id };
      for (const body of [
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never"}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
        '{"jsonrpc":"2.0","method":"no/such"}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}',
      ]) {
        const reply = await post(running.mcp, body, headers);
        expect([reply.status, reply.text, reply.headers.has('content-type')]).toEqual([202, '', false]);
      }
    });

    it('S-033: answers ping with an empty result', async () => {
      expect((await ask(session, 'ping', {}, 'p')).text).toBe('{"jsonrpc":"2.0","id":"p","result":{}}');
    });

    it('S-032, S-190: lists tools in the form of that revision', async () => {
      const reply = await ask(session, 'tools/list');
      const { tools, ...rest } = reply.result as { tools: Json[] };
      expect(rest).toEqual({});
      const annotations = {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      };
      expect(tools[0]).toEqual({
        name: 'echo',
        description: 'Gives the text back',
        inputSchema: expect.objectContaining({ type: 'object', required: ['text'] }) as Json,
        ...(revision >= '2025-06-18' ? { title: 'Echo', annotations } : {}),
        ...(revision === '2025-03-26' ? { annotations: { title: 'Echo', ...annotations } } : {}),
      });
    });

    it('S-032, S-190: gives results in the form of that revision', async () => {
      const { result } = await ask(session, 'tools/call', { name: 'hello' });
      expect(result).toEqual({
        content: [{ type: 'text', text: '{"greeting":"hello"}' }],
        ...(revision >= '2025-06-18' ? { structuredContent: { greeting: 'hello' } } : {}),
      });
    });

    it('S-073, S-123, S-190: streams progress and then the result, with no member of 2026-07-28', async () => {
      const params = { name: 'steps', arguments: { count: 2, text: 'x' }, _meta: { progressToken: 5 } };
      const reply = await ask(session, 'tools/call', params, 'st');
      expect(reply.headers.get('content-type')).toBe('text/event-stream');
      expect(reply.messages.slice(0, 2).map((message) => message['params'])).toEqual(
        [1, 2].map((progress) => ({
          progressToken: 5,
          progress,
          total: 2,
          ...(revision === '2024-11-05' ? {} : { message: 'x' }),
        })),
      );
      expect(reply.body).toEqual({
        jsonrpc: '2.0',
        id: 'st',
        result: { content: [{ type: 'text', text: 'x' }] },
      });
      expect(reply.text).not.toMatch(/resultType|ttlMs|cacheScope|serverInfo|subscriptionId/m);
      // Events have ids since 2025-03-26; one that has nothing else comes first since 2025-11-25.
      const ids = reply.text.match(/^id: .+$/gm) ?? [];
      expect(ids).toHaveLength(revision === '2024-11-05' ? 0 : revision === '2025-11-25' ? 4 : 3);
      expect(new Set(ids).size).toBe(ids.length);
      expect(/^id: \S+\nretry: 1000\ndata:\n\n/.test(reply.text)).toBe(revision === '2025-11-25');
    });

    it('D4: answers 406 with the id to a client that takes neither form', async () => {
      expectError(await session.request('ping', {}, 'n', { accept: 'text/html' }), 406, -32600, 'n');
      const streamed = await session.request('ping', {}, 'n', { accept: 'text/event-stream' });
      expect(streamed.headers.get('content-type')).toBe('text/event-stream');
      expect(streamed.messages).toEqual([{ jsonrpc: '2.0', id: 'n', result: {} }]);
    });

    it('answers bad arguments with isError', async () => {
      const { status, result } = await ask(session, 'tools/call', { name: 'echo', arguments: { text: 1 } });
      expect([status, result['isError']]).toEqual([200, true]);
    });

    it('knows no method of 2026-07-28', async () => {
      for (const method of ['server/discover', 'subscriptions/listen'])
        expectError(await ask(session, method), 200, -32601, 1);
    });

    it('S-191: does not serve an envelope of that revision', async () => {
      const _meta = envelope({ 'io.modelcontextprotocol/protocolVersion': revision });
      const reply = await session.request('tools/list', { _meta }, 1, { 'mcp-protocol-version': revision });
      expectError(reply, 400, -32022, 1);
    });
  });

  it('E8: ends at DELETE; a second DELETE and every request get 404', async () => {
    const session = await openSession(running.mcp);
    const headers = { 'mcp-session-id': session.id };
    const ended = await send(running.mcp, 'DELETE', headers);
    expect([ended.status, ended.text]).toEqual([204, '']);
    expectError(await send(running.mcp, 'DELETE', headers), 404, -32600);
    expectError(await session.request('tools/list', {}, 3), 404, -32600, 3);
  });

  it.each([
    ['with a stream open', 1],
    ['with nothing sent', undefined],
  ])('E8, F5: DELETE aborts a running call %s, which gets no answer', async (what, progress) => {
    const session = await openSession(running.mcp);
    const key = `DELETE ${what}`;
    const pending = ask(session, 'tools/call', HOLD(key, progress), 1);
    await held.of(key).started;
    expect((await send(running.mcp, 'DELETE', { 'mcp-session-id': session.id })).status).toBe(204);
    expect(await held.of(key).aborted).toBe('AbortError');
    const reply = await pending;
    expect(reply.status).toBe(progress === undefined ? 204 : 200);
    expect(reply.messages.map((message) => message['method'])).toEqual(
      progress === undefined ? [] : ['notifications/progress'],
    );
    await held.of(key).over;
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });

  describe('notifications/cancelled', () => {
    it.each([
      ['with a stream open', 1, '7'],
      ['with nothing sent', undefined, '"seven"'],
      ['by an id beyond 2^53', undefined, '9007199254740993'],
    ])('ends a call %s without an answer', async (what, progress, id) => {
      const session = await openSession(running.mcp);
      const key = `cancelled ${what}`;
      const headers = { 'mcp-session-id': session.id };
      const body = messageOf('ID', 'tools/call', HOLD(key, progress)).replace('"ID"', id);
      const pending = post(running.mcp, body, headers);
      await held.of(key).started;
      // Neither another type of the id, nor another session, nor an unknown id ends it.
      await session.notify('notifications/cancelled', { requestId: id.startsWith('"') ? 7 : String(7) });
      await (
        await openSession(running.mcp)
      ).notify('notifications/cancelled', { requestId: JSON.parse(id) as Json });
      await session.notify('notifications/cancelled', { requestId: 9007199254740992 });
      expect((await held.of(key).started).signal.aborted).toBe(false);
      const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
      expect((await post(running.mcp, cancel, headers)).status).toBe(202);
      expect(await held.of(key).aborted).toBe('AbortError');
      const reply = await pending;
      expect(reply.status).toBe(progress === undefined ? 204 : 200);
      expect(reply.messages.some((message) => 'id' in message)).toBe(false);
      // Its id is free again, and a late cancellation finds nothing.
      expect((await post(running.mcp, cancel, headers)).status).toBe(202);
      expect((await ask(session, 'tools/call', { name: 'hello' })).status).toBe(200);
    });
  });

  it('S-194: a connection that breaks does not cancel the call', async () => {
    const session = await openSession(running.mcp);
    const leaving = new AbortController();
    const pending = fetch(running.mcp, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session.id,
      },
      body: messageOf(1, 'tools/call', HOLD('broken')),
      signal: leaving.signal,
    });
    const context = await held.of('broken').started;
    const request = context.request as IncomingMessage & { raw?: IncomingMessage };
    const closed = once((request.raw ?? request).socket, 'close');
    leaving.abort();
    await expect(pending).rejects.toThrow();
    await closed;
    expect(context.signal.aborted).toBe(false);
    held.of('broken').release();
    await held.of('broken').over;
    expect(context.signal.aborted).toBe(false);
    expect((await ask(session, 'tools/call', { name: 'hello' })).status).toBe(200);
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });

  describe('the owner of a session', () => {
    const alice = { 'x-user': 'alice' };

    it('S-179: is the only one who can use it; to others it is as if it never was', async () => {
      const session = await openSession(running.mcp, '2025-11-25', alice);
      const intruders: Record<string, string>[] = [{ 'x-user': 'bob' }, {}];
      for (const user of intruders) {
        for (const [method, body] of [
          ['POST', messageOf(1, 'tools/list')],
          ['POST', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'],
          ['POST', '{'],
          ['DELETE', undefined],
        ] as const) {
          const [foreign, unknown] = await Promise.all(
            [session.id, 'f'.repeat(32)].map((id) =>
              send(
                running.mcp,
                method,
                { ...user, 'mcp-session-id': id, 'content-type': 'application/json' },
                body,
              ),
            ),
          );
          expect(foreign!.status).toBe(body === '{' ? 400 : 404);
          expect([foreign!.status, foreign!.text]).toEqual([unknown!.status, unknown!.text]);
          const names = (reply: Reply) => [...reply.headers.keys()];
          expect(names(foreign!)).toEqual(names(unknown!));
        }
      }
      const { result } = await ask(session, 'tools/call', { name: 'whoami' });
      expect(result['structuredContent']).toMatchObject({ caller: { id: 'alice' } });
    });

    it("S-179: gets a new session by initialize with an id that is another's, or that never was", async () => {
      const session = await openSession(running.mcp, '2025-11-25', alice);
      for (const id of [session.id, 'f'.repeat(32), 'no id at all']) {
        const headers = { 'x-user': 'bob', 'mcp-session-id': id };
        const opened = await post(running.mcp, messageOf(1, 'initialize', INITIALIZE), headers);
        expect(opened.status).toBe(200);
        expect(opened.headers.get('mcp-session-id')).toMatch(/^[0-9a-f]{32}$/);
        expect(opened.headers.get('mcp-session-id')).not.toBe(id);
      }
      expect((await ask(session, 'ping')).result).toEqual({});
    });

    it('loses the longest-idle session at the cap for one caller, and nobody else does', async () => {
      const carol = { 'x-user': 'carol' };
      const bystander = await openSession(running.mcp, '2025-11-25', { 'x-user': 'dave' });
      const first = await openSession(running.mcp, '2025-11-25', carol);
      const second = await openSession(running.mcp, '2025-11-25', carol);
      expect((await ask(first, 'ping')).status).toBe(200);
      const third = await openSession(running.mcp, '2025-11-25', carol);
      expectError(await second.request('ping'), 404, -32600, 1);
      for (const session of [first, third, bystander]) expect((await ask(session, 'ping')).status).toBe(200);
    });
  });
});

describe.each(ADAPTERS)('a server for two sessions on %s', (adapter) => {
  let running: RunningApp;
  let held: HeldCalls;

  beforeAll(async () => {
    running = await startApp(wireApp({ sessions: { max: 2 } }), { adapter });
    held = running.app.get(HeldCalls);
  });

  afterAll(() => running.close());

  it('ends the longest-idle one that is not busy; with all busy it answers 503', async () => {
    const first = await openSession(running.mcp);
    const busy = first.request('tools/call', HOLD('first'));
    await held.of('first').started;
    const idle = await openSession(running.mcp);
    const third = await openSession(running.mcp);
    expectError(await idle.request('ping'), 404, -32600, 1);
    const alsoBusy = third.request('tools/call', HOLD('third'));
    await held.of('third').started;

    const refused = await post(running.mcp, messageOf('late', 'initialize', INITIALIZE));
    expectError(refused, 503, -32600, 'late');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.has('mcp-session-id')).toBe(false);

    held.of('first').release();
    held.of('third').release();
    expect(textOf((await busy).result)).toBe('first let go');
    expect(textOf((await alsoBusy).result)).toBe('third let go');
    const fourth = await openSession(running.mcp);
    expect((await fourth.request('ping')).status).toBe(200);
    expectError(await first.request('ping'), 404, -32600, 1);
  });
});

describe.each(ADAPTERS)('the option `revisions` on %s', (adapter) => {
  describe('with 2026-07-28 alone', () => {
    let running: RunningApp;

    beforeAll(async () => {
      running = await startApp(wireApp({ revisions: ['2026-07-28'] }), { adapter });
    });

    afterAll(() => running.close());

    it('answers a handshake with what is served', async () => {
      const reply = await post(running.mcp, messageOf('i', 'initialize', INITIALIZE));
      expectError(reply, 400, -32022, 'i');
      expect(reply.error.data).toEqual({ supported: ['2026-07-28'], requested: '2025-11-25' });
      expect(reply.headers.has('mcp-session-id')).toBe(false);
    });

    it('answers every other legacy request so', async () => {
      const reply = await post(running.mcp, messageOf(2, 'tools/list'), {
        'mcp-session-id': 'x',
        'mcp-protocol-version': '2025-06-18',
      });
      expectError(reply, 400, -32022, 2);
      expect(reply.error.data).toEqual({ supported: ['2026-07-28'], requested: '2025-06-18' });
    });

    it('drops legacy notifications', async () => {
      const reply = await post(running.mcp, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
      expect([reply.status, reply.text]).toEqual([202, '']);
    });

    it.each(['GET', 'DELETE'])('D9: answers 405 to %s', async (method) => {
      const reply = await send(running.mcp, method, { 'mcp-session-id': 'x', 'last-event-id': '1' });
      expectError(reply, 405, -32600);
      expect(reply.headers.get('allow')).toBe('POST');
    });

    it('D9: serves a stray session id and gives none out', async () => {
      const reply = await callTool(running.mcp, 'hello', {}, { 'mcp-session-id': 'x', 'last-event-id': '1' });
      expect([reply.status, reply.headers.has('mcp-session-id')]).toEqual([200, false]);
    });
  });

  describe('with 2025-06-18 and 2025-03-26 alone', () => {
    let running: RunningApp;

    beforeAll(async () => {
      running = await startApp(wireApp({ revisions: ['2025-03-26', '2025-06-18'] }), { adapter });
    });

    afterAll(() => running.close());

    it('offers the newest of them for what it does not have', async () => {
      for (const [asked, settled] of [
        ['2025-11-25', '2025-06-18'],
        ['2024-11-05', '2025-06-18'],
        ['2025-03-26', '2025-03-26'],
      ] as const) {
        const { initialized } = await openSession(running.mcp, asked);
        expect(initialized.result['protocolVersion']).toBe(settled);
      }
    });

    it('takes a modern request for a legacy one, so that a client of both eras falls back', async () => {
      const reply = await modern(running.mcp, 'tools/list');
      expectError(reply, 400, -32600, 1);
      const { id } = await openSession(running.mcp, '2025-06-18');
      const served = await post(running.mcp, messageOf(1, 'tools/list', { _meta: envelope() }), {
        'mcp-session-id': id,
      });
      expect(served.status).toBe(200);
      expect(served.result).not.toHaveProperty('resultType');
      const discover = await post(running.mcp, messageOf(1, 'server/discover', { _meta: envelope() }), {
        'mcp-session-id': id,
      });
      expectError(discover, 200, -32601, 1);
    });

    it('refuses a modern version header within a session', async () => {
      const session = await openSession(running.mcp, '2025-06-18');
      const reply = await session.request('tools/list', {}, 1, modernHeaders('tools/list'));
      expectError(reply, 400, -32600, 1);
    });
  });
});

describe.each(ADAPTERS)('the end of the application on %s', (adapter) => {
  it('F5: aborts what still runs after the grace time and answers it, in both eras', async () => {
    const running = await startApp(wireApp({ limits: { shutdownGrace: 20 } }), { adapter });
    const held = running.app.get(HeldCalls);
    const session = await openSession(running.mcp);
    const calls = [
      session.request('tools/call', HOLD('legacy stream', 1)),
      session.request('tools/call', HOLD('legacy plain'), 2),
      modern(running.mcp, 'tools/call', HOLD('modern stream', 1)),
      modern(running.mcp, 'tools/call', HOLD('modern plain')),
    ];
    const keys = ['legacy stream', 'legacy plain', 'modern stream', 'modern plain'];
    await Promise.all(keys.map((key) => held.of(key).started));
    const closed = running.close();
    for (const key of keys) expect(await held.of(key).aborted).toBe('AbortError');
    for (const reply of await Promise.all(calls)) {
      expect([reply.status, reply.result['isError']]).toEqual([200, true]);
      expect(textOf(reply.result)).toBe('The server is shutting down');
    }
    expect(eventsOf((await calls[0]!).text)).toHaveLength(2);
    await closed;
  });
});

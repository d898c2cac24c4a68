import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { McpModule, type McpModuleOptions } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { eventually, OpenStream } from '../features/open-stream.js';
import { SlowReader } from '../features/slow-reader.js';
import { exchange, rawRequest } from '../http/raw-connection.js';
import { HeldCalls } from '../http/wire.app.js';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import { post, textOf, type Json, type Reply } from '../support/wire.js';
import { callOf } from '../streams/post-stream.js';
import { OPTIONS, rootOf, sseApp, UserGuard } from './sse.app.js';
import { SsePeer } from './sse-peer.js';

const ADA = { 'x-user': 'ada' };
const NOBODY = { 'x-user': 'nobody' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const NOTIFICATION = { jsonrpc: '2.0', method: 'notifications/x' };

const traffic = new Traffic();
const open: RunningApp[] = [];

async function start(adapter: AdapterName, options: Partial<McpModuleOptions> = {}): Promise<RunningApp> {
  const running = await startApp(sseApp(options), { adapter });
  open.push(running);
  return running;
}

afterEach(async () => {
  for (const running of open.splice(0)) await running.close();
});

afterAll(() => traffic.verify());

const whatOf = (answer: Json) => JSON.parse(textOf(answer['result'] as Json)) as Json;
/** All of an answer that a client can see, but the time. */
const seenOf = ({ status, headers, text }: Reply) => [
  status,
  [...headers].filter(([name]) => name !== 'date'),
  text,
];
/** Calls for more than a client that does not read has room for; gives the status of the last POST. */
async function callBig(url: string, { head }: SlowReader, size: number): Promise<number> {
  const address = url + /data: (\S+)/.exec(head)![1]!;
  const clientInfo = { name: 'test', version: '1' };
  const initialize = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
  const params = { name: 'big', arguments: { size } };
  await post(address, JSON.stringify({ ...PING, method: 'initialize', params: initialize }));
  return (await post(address, JSON.stringify({ ...PING, method: 'tools/call', params }))).status;
}

const unknownAt = (url: string) => `${url}/messages?sessionId=${'0'.repeat(32)}`;

describe.each(ADAPTERS)('HTTP+SSE on %s', (adapter) => {
  it('S-085, S-086, S-087: opens a stream, says where to post, and answers there', async () => {
    const { url } = await start(adapter);
    const peer = await SsePeer.open(`${url}/sse`, traffic);
    expect([peer.stream.status, peer.stream.headers]).toMatchObject([
      200,
      {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      },
    ]);
    expect(peer.stream.text).toBe(`event: endpoint\ndata: /messages?sessionId=${peer.id}\n\n`);
    const accepted = await peer.post(PING);
    expect([accepted.status, accepted.text, accepted.headers.get('content-type')]).toEqual([202, '', null]);
    await peer.answerTo(1);
    expect(peer.stream.text.split('\n\n')[1]).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}',
    );
    expect(await peer.callTool('hello', {}, 2)).toMatchObject({
      error: { code: -32602, message: 'Invalid params: send initialize first' },
    });
    await peer.initialize();
    const { result } = await peer.callTool('echo', { text: 'a\nb\u2028c' }, 3);
    expect(textOf(result as Json)).toBe('a\nb\u2028c');
    await peer.stream.close();
  });

  it('S-180: gives each stream a random id, which the handler sees with the POST as its request', async () => {
    const { url } = await start(adapter, {
      caller: (request) => (request as { user?: { id: string } }).user,
    });
    const peers = await Promise.all([1, 2, 3].map(() => SsePeer.open(`${url}/sse`, traffic, ADA)));
    expect(new Set(peers.map(({ id }) => id)).size).toBe(3);
    const [peer] = peers as [SsePeer];
    expect(peer.id).toMatch(/^[0-9a-f]{32}$/);
    await peer.initialize();
    const message = { jsonrpc: '2.0', id: 'w', method: 'tools/call', params: { name: 'who', arguments: {} } };
    await peer.post(message);
    expect(whatOf(await peer.answerTo('w'))).toEqual({
      transport: 'sse',
      era: 'legacy',
      revision: '2024-11-05',
      sessionId: peer.id,
      caller: 'ada',
      method: 'POST',
      url: `/messages?sessionId=${peer.id}`,
      body: message,
      requestId: 'w',
    });
    for (const { stream } of peers) await stream.close();
  });

  it('A3: has guards on both routes before anything is opened or read', async () => {
    const { url, app } = await start(adapter);
    const peer = await SsePeer.open(`${url}/sse`, traffic, ADA);
    const refused = [
      await fetch(`${url}/sse`, { headers: { accept: 'text/event-stream', ...NOBODY } }),
      await fetch(peer.address, { method: 'POST', headers: NOBODY, body: 'no JSON' }),
    ];
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32600, message: 'Who are you?' },
      });
    }
    expect(app.get(McpServer).streams.size).toBe(1);
    await peer.initialize();
    const { seen } = app.get(UserGuard);
    seen.length = 0;
    await peer.callTool('hello');
    expect(seen).toEqual(['http POST /messages', 'mcp POST /messages']);
    await peer.stream.close();
  });

  it('S-179: knows the stream of another caller as little as one that never was', async () => {
    const { url } = await start(adapter);
    const peer = await (await SsePeer.open(`${url}/sse`, traffic, ADA)).initialize();
    for (const body of [PING, { jsonrpc: '2.0', method: 'x' }, '{', { ...PING, method: 5 }, [PING]]) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      for (const headers of [{ 'x-user': 'eve' }, {}] as Record<string, string>[]) {
        const foreign = await post(peer.address, text, headers);
        const unknown = await post(unknownAt(url), text, headers);
        expect(foreign.status).toBe(404);
        expect(seenOf(foreign)).toEqual(seenOf(unknown));
      }
    }
    const { text } = await post(peer.address, JSON.stringify(PING));
    expect(text).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Session not found: open the stream again"}}',
    );
    expect(await peer.request('ping', {}, 'still there')).toMatchObject({ result: {} });
    await peer.stream.close();
  });

  it('says that the session is missing', async () => {
    const { url } = await start(adapter);
    const { status, body } = await post(`${url}/messages?other=1`, JSON.stringify(PING));
    const message = 'sessionId is missing: post to the address that the event "endpoint" gave';
    expect([status, body]).toEqual([400, { jsonrpc: '2.0', id: 1, error: { code: -32600, message } }]);
  });

  it('D1: keeps clients apart that use the same ids at the same time', async () => {
    const { url, app } = await start(adapter);
    const held = app.get(HeldCalls);
    const peers = await Promise.all(
      ['ada', 'bob'].map(async (user) => {
        const peer = await SsePeer.open(`${url}/sse`, traffic, { 'x-user': user });
        return { user, peer: await peer.initialize() };
      }),
    );
    const answers = peers.map(({ user, peer }) => peer.callTool('hold', { key: user }, 7));
    for (const { user } of peers) await held.of(user).started;
    for (const { user } of peers.toReversed()) held.of(user).release();
    for (const [index, { user }] of peers.entries())
      expect(textOf((await answers[index]!)['result'] as Json)).toBe(`${user} let go`);
    for (const { peer } of peers) {
      expect(peer.stream.messages.filter(({ id }) => id === 7)).toHaveLength(1);
      await peer.stream.close();
    }
  });

  it('aborts what runs when the stream is cut, and keeps nothing of its client', async () => {
    const { url, app } = await start(adapter);
    const held = app.get(HeldCalls).of('cut');
    const { streams, inFlight } = app.get(McpServer);
    const feed = (app.get(McpServer) as unknown as { feed: { size: number } }).feed;
    const before = feed.size;
    const peer = await (await SsePeer.open(`${url}/sse`, traffic)).initialize();
    expect([streams.size, feed.size]).toEqual([1, before + 1]);
    const message = { ...PING, method: 'tools/call', params: { name: 'hold', arguments: { key: 'cut' } } };
    await peer.post(message);
    const { signal } = await held.started;
    await peer.stream.close();
    expect(await held.aborted).toBe('AbortError');
    expect((signal.reason as DOMException).message).toBe('The client closed the connection');
    await held.over;
    await eventually(() => streams.size === 0);
    expect([inFlight.size, feed.size]).toEqual([0, before]);
    const late = await peer.post(PING);
    expect(seenOf(late)).toEqual(seenOf(await post(unknownAt(url), JSON.stringify(PING))));
  });

  it('S-124: a cancellation ends its call without an answer', async () => {
    const { url, app } = await start(adapter);
    const held = app.get(HeldCalls).of('cancelled');
    const peer = await (await SsePeer.open(`${url}/sse`, traffic)).initialize();
    await peer.post({
      ...PING,
      method: 'tools/call',
      params: { name: 'hold', arguments: { key: 'cancelled' } },
    });
    await held.started;
    await peer.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await held.aborted).toBe('AbortError');
    await peer.request('ping', {}, 'after');
    expect(peer.stream.messages.filter(({ id }) => id === 1)).toEqual([]);
    await peer.stream.close();
  });

  it('answers what is no message in the POST itself, and goes on', async () => {
    const { url } = await start(adapter, { limits: { body: 1_000 } });
    const peer = await (await SsePeer.open(`${url}/sse`, traffic)).initialize();
    const refusals: [unknown, number, number, unknown][] = [
      ['{', 400, -32700, null],
      ['', 400, -32700, null],
      ['[]', 400, -32600, null],
      [[PING], 400, -32600, null],
      [{ ...PING, id: 5, method: 5 }, 400, -32600, 5],
      [{ ...PING, id: 'x'.repeat(1_000) }, 413, -32600, undefined],
    ];
    for (const [body, status, code, id] of refusals) {
      const answer = await peer.post(body);
      expect([answer.status, answer.error.code, answer.body['id']]).toEqual([status, code, id]);
    }
    const text = await peer.post(PING, { 'content-type': 'text/plain' });
    expect([text.status, text.error.code]).toEqual([415, -32600]);
    expect(await peer.request('ping', {}, 'after')).toMatchObject({ result: {} });
    expect(peer.stream.messages.map(({ id }) => id)).toEqual(['initialize', 'after']);
    await peer.stream.close();
  });

  it('serves a batch of 2025-03-26, each message with its own body and its own answer', async () => {
    const { url } = await start(adapter);
    const peer = await SsePeer.open(`${url}/sse`, traffic, {}, '2025-03-26');
    await peer.initialize('2025-03-26');
    const who = (id: number) => ({
      ...PING,
      id,
      method: 'tools/call',
      params: { name: 'who', arguments: {} },
    });
    const batch = [
      who(11),
      { jsonrpc: '2.0', method: 'notifications/x' },
      { ...PING, id: 12, method: 5 },
      who(13),
    ];
    expect((await peer.post(batch)).status).toBe(202);
    await peer.stream.count(2);
    // In whatever order the calls came to their ends.
    const answers = (peer.stream.messages[1] as unknown as Json[]).toSorted(
      (one, other) => Number(one['id']) - Number(other['id']),
    );
    expect(answers.map(({ id }) => id)).toEqual([11, 12, 13]);
    expect([whatOf(answers[0]!)['body'], whatOf(answers[2]!)['body']]).toEqual([who(11), who(13)]);
    expect(answers[1]).toMatchObject({ error: { code: -32600 } });
    expect((await peer.post([{ jsonrpc: '2.0', method: 'notifications/x' }])).status).toBe(202);
    await peer.request('ping', {}, 'after');
    expect(peer.stream.messages).toHaveLength(3);
    await peer.stream.close();
  });

  it('refuses other methods by the one that is there, as the endpoint does', async () => {
    const { url, mcp } = await start(adapter, { legacy: 'stateless' });
    for (const [path, allow] of [
      ['/sse', 'GET'],
      ['/messages', 'POST'],
    ] as const) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        if (method === allow) continue;
        const answer = await fetch(url + path, { method });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow]);
        const error = { code: -32600, message: `Method not allowed: use ${allow}` };
        expect(await answer.json()).toEqual({ jsonrpc: '2.0', error });
      }
      const head = await fetch(url + path, { method: 'HEAD' });
      const usual = await fetch(mcp, { method: 'HEAD' });
      expect(head.status).toBe(usual.status);
    }
    const unread = await fetch(`${url}/sse`, { headers: { accept: 'application/json' } });
    expect([unread.status, await unread.json()]).toEqual([
      406,
      { jsonrpc: '2.0', error: { code: -32600, message: 'Not acceptable: accept text/event-stream' } },
    ]);
  });

  it('M7, M8, S-088: refuses foreign origins and hosts on both routes before any guard', async () => {
    const { url, app } = await start(adapter, { http: { allowedOrigins: ['https://app.example'] } });
    const { seen } = app.get(UserGuard);
    const peer = await SsePeer.open(`${url}/sse`, traffic);
    const body = JSON.stringify(PING);
    const ask = (path: string, headers: Record<string, string>) => {
      const isPost = path !== '/sse';
      const all = {
        host: 'localhost',
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...headers,
      };
      const length: [string, string][] = isPost ? [['content-length', String(body.length)]] : [];
      return exchange(
        url,
        rawRequest(isPost ? 'POST' : 'GET', path, [...Object.entries(all), ...length], isPost ? body : ''),
      );
    };
    for (const path of ['/sse', peer.endpoint]) {
      seen.length = 0;
      for (const origin of ['http://evil.example', 'null', 'not a url', 'https://app.example.evil.example']) {
        const { status, json } = await ask(path, { origin });
        expect([origin, status, (json['error'] as { code: number }).code]).toEqual([origin, 403, -32600]);
      }
      expect((await ask(path, { host: 'evil.example' })).status).toBe(403);
      expect(seen).toEqual([]);
    }
    for (const headers of [{ origin: 'https://app.example' }, { origin: 'http://localhost:5173' }, {}]) {
      expect((await ask(peer.endpoint, headers as Record<string, string>)).status).toBe(202);
      const other = await SsePeer.open(`${url}/sse`, traffic, headers as Record<string, string>);
      await other.stream.close();
    }
    await peer.stream.close();
  });

  it('counts its streams among those that may be open, and makes room when one is cut', async () => {
    const { url, app } = await start(adapter, { limits: { streams: 2, streamsPerCaller: 1 } });
    const accept = { accept: 'text/event-stream' };
    const ada = await SsePeer.open(`${url}/sse`, traffic, ADA);
    const second = await fetch(`${url}/sse`, { headers: { ...accept, ...ADA } });
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(((await second.json()) as { error: Json }).error).toEqual({
      code: -32600,
      message: 'Too many open streams: at most 1 for one caller',
    });
    const other = await SsePeer.open(`${url}/sse`, traffic);
    expect((await fetch(`${url}/sse`, { headers: accept })).status).toBe(503);
    await ada.stream.close();
    await eventually(() => app.get(McpServer).streams.size === 1);
    const again = await SsePeer.open(`${url}/sse`, traffic, ADA);
    for (const { stream } of [other, again]) await stream.close();
  });

  it('bounds the calls of one stream', async () => {
    const { url, app } = await start(adapter, { limits: { inFlightPerChannel: 1 } });
    const held = app.get(HeldCalls).of('only');
    const peer = await (await SsePeer.open(`${url}/sse`, traffic)).initialize();
    const first = peer.callTool('hold', { key: 'only' });
    await held.started;
    expect(await peer.callTool('hello')).toMatchObject({
      error: { code: -32600, message: 'Too many calls in flight on this channel: at most 1' },
    });
    held.release();
    expect(await first).toMatchObject({ result: {} });
    await peer.stream.close();
  });

  it('cuts off a client that lets too much wait', async () => {
    const { url, app } = await start(adapter, { limits: { streamBuffer: 1_000 } });
    const reader = await SlowReader.open(`${url}/sse`, 'GET', { accept: 'text/event-stream' });
    let status = 202;
    while (status === 202) status = await callBig(url, reader, 1_000_000);
    expect([status, app.get(McpServer).streams.size]).toEqual([404, 0]);
    reader.destroy();
  });

  it('keeps a silent stream alive by comments', async () => {
    const { url } = await start(adapter, { http: { keepAlive: 1 } });
    const { stream } = await SsePeer.open(`${url}/sse`, traffic);
    await stream.until(() => stream.text.endsWith('\n\n:\n\n'));
    await stream.close();
  });

  it('answers what runs before an application that closes ends the stream', async () => {
    const running = await startApp(sseApp(), { adapter });
    const held = running.app.get(HeldCalls).of('last');
    const busy = await (await SsePeer.open(`${running.url}/sse`, traffic)).initialize();
    const answer = busy.callTool('hold', { key: 'last' });
    await held.started;
    const closed = running.close();
    const accept = { accept: 'text/event-stream' };
    let refused: Response;
    do refused = await fetch(`${running.url}/sse`, { headers: accept });
    while (refused.status !== 503);
    expect(await refused.json()).toMatchObject({ error: { message: 'The server is shutting down' } });
    held.release();
    expect(textOf((await answer)['result'] as Json)).toBe('last let go');
    expect(await busy.stream.end).toBe('ended');
    await closed;
  });

  it('A16: an application that closes refuses requests, and takes what concerns those that run', async () => {
    const running = await startApp(sseApp(), { adapter });
    const held = running.app.get(HeldCalls).of('cancelled');
    const peer = await SsePeer.open(`${running.url}/sse`, traffic, {}, '2025-03-26');
    await peer.initialize('2025-03-26');
    await peer.post({ ...PING, id: 'h', method: 'tools/call', params: callOf('hold', { key: 'cancelled' }) });
    await held.started;
    const server = running.app.get(McpServer);
    const closed = running.close();
    await eventually(() => server.isClosing);
    const error = { code: -32600, message: 'The server is shutting down' };
    for (const [message, id] of [
      [PING, 1],
      [[NOTIFICATION, PING], null],
    ] as const) {
      const refused = await peer.post(message);
      expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
        503,
        '1',
        { jsonrpc: '2.0', id, error },
      ]);
    }
    expect((await peer.post({ ...PING, method: 5 })).status).toBe(400);
    for (const message of [NOTIFICATION, [NOTIFICATION], { jsonrpc: '2.0', id: 'mine', result: {} }])
      expect((await peer.post(message)).status).toBe(202);
    const params = { requestId: 'h' };
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    expect((await peer.post(cancelled)).status).toBe(202);
    expect(await held.aborted).toBe('AbortError');
    expect(await peer.stream.end).toBe('ended');
    expect(peer.stream.messages.map(({ id }) => id)).toEqual(['initialize']);
    await closed;
  });

  it('lets a client take what it was answered before the application closes', async () => {
    const running = await startApp(sseApp(), { adapter });
    const reader = await SlowReader.open(`${running.url}/sse`, 'GET', { accept: 'text/event-stream' });
    expect(await callBig(running.url, reader, 7_000_000)).toBe(202);
    const { inFlight, streams } = running.app.get(McpServer);
    await eventually(() => inFlight.size === 0);
    const closed = running.close();
    await eventually(() => streams.refusal(undefined) !== undefined);
    const rest = await reader.rest();
    expect(/"text":"(x*)"/.exec(rest)?.[1]?.length).toBe(7_000_000);
    expect(rest.endsWith('"}]}}\n\n\r\n0\r\n\r\n')).toBe(true);
    await closed;
  });

  it('A16: an application closes with streams open, and ends what does not finish in its grace', async () => {
    const limits = { shutdownGrace: 20 };
    const running = await startApp(sseApp({ limits }), { adapter });
    const idle = await SsePeer.open(`${running.url}/sse`, traffic);
    const busy = await (await SsePeer.open(`${running.url}/sse`, traffic)).initialize();
    const answer = busy.callTool('hold', { key: 'lost' });
    await running.app.get(HeldCalls).of('lost').started;
    const slow = await SlowReader.open(`${running.url}/sse`, 'GET', { accept: 'text/event-stream' });
    await callBig(running.url, slow, 7_000_000);
    await running.close();
    expect(await answer).toMatchObject({
      result: { isError: true, content: [{ text: 'The server is shutting down' }] },
    });
    expect([await idle.stream.end, await busy.stream.end]).toEqual(['ended', 'ended']);
    slow.destroy();
  });
});

describe.each(ADAPTERS)('HTTP+SSE by forRootAsync on %s', (adapter) => {
  it('stands beside the factory, whose decorators are on both routes', async () => {
    const tags: unknown[] = [];
    @Injectable()
    class TagGuard implements CanActivate {
      constructor(private readonly reflector: Reflector) {}

      canActivate(context: ExecutionContext): boolean {
        if (context.getType() === 'http') tags.push(this.reflector.get('tag', context.getClass()));
        return true;
      }
    }
    const mcp = McpModule.forRootAsync({
      sse: { path: 'old', messagesPath: '/old/messages/' },
      useFactory: () => ({ name: 'late', version: '1', http: { decorators: [SetMetadata('tag', 'ours')] } }),
    });
    const root = rootOf({
      ...mcp,
      providers: [...mcp.providers!, { provide: APP_GUARD, useClass: TagGuard }],
    });
    const running = await startApp(root, { adapter });
    open.push(running);
    const peer = await (await SsePeer.open(`${running.url}/old`, traffic)).initialize();
    expect(peer.endpoint).toBe(`/old/messages?sessionId=${peer.id}`);
    expect(tags).toEqual(['ours', 'ours', 'ours']);
    await peer.stream.close();
  });

  it('is not there unless it is wanted', async () => {
    for (const sse of [undefined, false]) {
      const { url } = await start(adapter, { sse });
      expect((await fetch(`${url}/sse`)).status).toBe(404);
    }
  });

  it('is there beside an endpoint that is modern alone', async () => {
    const { url, mcp } = await start(adapter, { legacy: 'off' });
    const peer = await (await SsePeer.open(`${url}/sse`, traffic)).initialize();
    expect((await OpenStream.open(mcp, { method: 'GET', headers: {} }, () => undefined)).status).toBe(405);
    await peer.stream.close();
  });
});

describe('the option sse', () => {
  it.each<[unknown, string, string]>([
    ['yes', 'sse', "must be true, false or { path: 'sse', messagesPath: 'messages' }"],
    [null, 'sse', "must be true, false or { path: 'sse', messagesPath: 'messages' }"],
    [{ messages: 'm' }, 'sse.messages', 'is unknown; known are path, messagesPath'],
    [{ path: 5 }, 'sse.path', 'must be a text'],
    [{ messagesPath: null }, 'sse.messagesPath', 'must be a text'],
    [{ path: '/MCP/' }, 'sse.path', 'is the same path as `path`: each has its own'],
    [{ messagesPath: 'mcp' }, 'sse.messagesPath', 'is the same path as `path`: each has its own'],
    [{ path: 'messages' }, 'sse.messagesPath', 'is the same path as `sse.path`: each has its own'],
  ])('refuses %j where it is declared', (sse, option, problem) => {
    const message = `McpModule: option \`${option}\` ${problem}`;
    const useFactory = () => ({ name: 'x', version: '1' });
    expect(() => McpModule.forRoot({ ...OPTIONS, sse: sse as boolean })).toThrow(message);
    expect(() => McpModule.forRootAsync({ sse: sse as boolean, useFactory })).toThrow(message);
  });

  it('refuses it from a factory, and without a revision for it', async () => {
    const named = { name: 'x', version: '1' };
    const late = McpModule.forRootAsync({ useFactory: () => ({ ...named, sse: true }) as typeof named });
    await expect(startApp(rootOf(late))).rejects.toThrow(
      'McpModule: option `sse` stands beside the factory, which runs too late for it: ' +
        'McpModule.forRootAsync({ sse: true, useFactory })',
    );
    const modern = McpModule.forRootAsync({
      sse: true,
      useFactory: () => ({ ...named, revisions: ['2026-07-28' as const] }),
    });
    await expect(startApp(rootOf(modern))).rejects.toThrow(
      'McpModule: option `sse` needs a revision before 2026-07-28 in `revisions`',
    );
  });
});

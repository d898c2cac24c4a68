import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { McpRegistry } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { eventually, listChange, openGet } from '../features/open-stream.js';
import { RawConnection, rawRequest } from '../http/raw-connection.js';
import { HeldCalls, wireApp } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, openSession, type Json } from '../support/wire.js';
import { callOf, strictMessages } from './post-stream.js';

const ACCEPT = ['accept', 'application/json, text/event-stream'] as const;

function postOf(message: Json, headers: Record<string, string>): Buffer {
  const body = JSON.stringify(message);
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  return rawRequest('POST', '/mcp', [...Object.entries({ ...all, ...headers }), ACCEPT], body);
}

function modernPost(params: Json, id: string | number): Buffer {
  return postOf(modernMessage('tools/call', params, id), modernHeaders('tools/call', params));
}

describe.each(ADAPTERS)('requests in a row on one connection, on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let held: HeldCalls;
  let server: McpServer;

  beforeAll(async () => {
    running = await startApp(wireApp(), { adapter });
    held = running.app.get(HeldCalls);
    server = running.app.get(McpServer);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('F4: many streams that wait for their turn and for room add no listener each', async () => {
    const COUNT = 15;
    const accepted = once(running.app.getHttpServer() as Server, 'connection') as Promise<[Socket]>;
    const connection = await RawConnection.open(running.url);
    const [socket] = await accepted;
    let most = 0;
    socket.on('newListener', (name) => {
      if (name === 'close') most = Math.max(most, socket.listenerCount('close') + 1);
    });
    const first = held.of('pipelined');
    const steps = callOf('steps', { count: 100, text: 'x'.repeat(1_000) }, 'p');
    // In one piece: once much waits to be sent, Node reads no further.
    const requests = Array.from({ length: COUNT }, (_, id) => modernPost(steps, id));
    connection.write(Buffer.concat([modernPost(callOf('hold', { key: 'pipelined' }), 'h'), ...requests]));
    await first.started;
    await eventually(() => server.inFlight.size === COUNT + 1);
    first.release();
    expect((await connection.answer()).text).toContain('pipelined let go');
    for (let id = 0; id < COUNT; id++) {
      const messages = strictMessages((await connection.answer()).text);
      expect([messages.length, messages[100]!['id']]).toEqual([101, id]);
    }
    expect(most).toBeLessThanOrEqual(socket.getMaxListeners());
    connection.destroy();
  });

  it('S-075: a GET behind a running call leaves messages to a stream that can send them, and loses none', async () => {
    const registry = running.app.get(McpRegistry);
    const session = await openSession(running.mcp);
    await session.notify('notifications/initialized');
    const stream = await openGet(running.mcp, session, traffic);
    const connection = await RawConnection.open(running.url);
    const inSession = { 'mcp-session-id': session.id };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: callOf('hold', { key: 'before' }) };
    const get = rawRequest('GET', '/mcp', [
      ['host', 'localhost'],
      ['mcp-session-id', session.id],
      ['accept', 'text/event-stream'],
    ]);
    connection.write(postOf(call, inSession)).write(get);
    await held.of('before').started;
    await eventually(() => server.streams.size === 2);
    await registry.addTool({ name: `one-${adapter}` }, () => 'one');
    expect(await stream.count(1)).toEqual([listChange('tools')]);
    await stream.close();
    await eventually(() => server.streams.size === 1);
    await registry.addTool({ name: `other-${adapter}` }, () => 'other');
    held.of('before').release();
    expect((await connection.answer()).text).toContain('before let go');
    await connection.until(JSON.stringify(listChange('tools')));
    connection.destroy();
    await eventually(() => server.streams.size === 0);
  });
});

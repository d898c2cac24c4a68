import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { McpRevision } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  modernHeaders,
  modernMessage,
  openSession,
  replyOf,
  type Json,
  ready,
} from '../support/wire.js';
import { Changes, changingApp, waiting } from './changes.app.js';
import { eventually, listChange, openGet, resourceChange } from './open-stream.js';
import { SlowReader } from './slow-reader.js';

const LEGACY: McpRevision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

const getStatus = async (url: string, headers: Record<string, string>) => {
  const reply = await replyOf(await fetch(url, { headers }));
  return [reply.status, reply.error.code, reply.error.message];
};

describe.each(ADAPTERS)('the standing stream of a legacy session on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let changes: Changes;

  beforeAll(async () => {
    running = await startApp(changingApp(), { adapter });
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it.each(LEGACY)('S-074, S-075: tells a client of %s of changes, in its own form', async (revision) => {
    const session = await ready(running.mcp, revision);
    const stream = await openGet(running.mcp, session, traffic, revision);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const subscribed = await session.request('resources/subscribe', { uri: 'ticket://1' });
    traffic.observe(subscribed.body, revision, 'resources/subscribe');
    expect(subscribed.result).toEqual({});
    await changes.tools();
    changes.prompts();
    changes.resources();
    changes.update('note://all', 'ticket://1');
    expect(await stream.count(4)).toEqual([
      listChange('tools'),
      listChange('prompts'),
      listChange('resources'),
      resourceChange('ticket://1'),
    ]);
    const left = await session.request('resources/unsubscribe', { uri: 'ticket://1' });
    traffic.observe(left.body, revision, 'resources/unsubscribe');
    expect(left.result).toEqual({});
    changes.update('ticket://1');
    changes.prompts();
    expect((await stream.count(5))[4]).toEqual(listChange('prompts'));
    await stream.close();
  });

  it('S-076: sends what belongs to one session to no other', async () => {
    const [first, second] = [await ready(running.mcp), await ready(running.mcp)];
    const streams = [await openGet(running.mcp, first, traffic), await openGet(running.mcp, second, traffic)];
    await first.request('resources/subscribe', { uri: 'ticket://1' });
    await second.request('resources/subscribe', { uri: 'ticket://2' });
    changes.update('ticket://1', 'ticket://2');
    await Promise.all(streams.map((stream) => stream.count(1)));
    changes.prompts();
    const told = await Promise.all(streams.map((stream) => stream.count(2)));
    expect(told).toEqual([
      [resourceChange('ticket://1'), listChange('prompts')],
      [resourceChange('ticket://2'), listChange('prompts')],
    ]);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('tells nothing before notifications/initialized, and what was lost stays lost', async () => {
    const session = await openSession(running.mcp);
    const stream = await openGet(running.mcp, session, traffic);
    changes.prompts();
    await setImmediate();
    await setImmediate();
    await session.notify('notifications/initialized');
    await changes.tools();
    expect(await stream.count(1)).toEqual([listChange('tools')]);
    await stream.close();
  });

  it('S-076: takes several streams of a session, and tells each change on the newest alone', async () => {
    const session = await ready(running.mcp);
    const first = await openGet(running.mcp, session, traffic);
    const second = await openGet(running.mcp, session, traffic);
    changes.prompts();
    expect(await second.count(1)).toEqual([listChange('prompts')]);
    await second.close();
    await eventually(() => changes.streams === 1);
    await changes.tools();
    expect(await first.count(1)).toEqual([listChange('tools')]);
    await first.close();
    await eventually(() => changes.streams === 0);
  });

  it('S-080: refuses a stream without a session, of an unknown one, and to whom takes no stream', async () => {
    const { id } = await ready(running.mcp);
    const accept = 'text/event-stream';
    expect(await getStatus(running.mcp, { accept })).toEqual([
      400,
      -32600,
      'Mcp-Session-Id is missing: send initialize first',
    ]);
    const unknown = await getStatus(running.mcp, { accept, 'mcp-session-id': 'f'.repeat(32) });
    expect(unknown.slice(0, 2)).toEqual([404, -32600]);
    expect(await getStatus(running.mcp, { accept: 'application/json', 'mcp-session-id': id })).toEqual([
      406,
      -32600,
      'Not acceptable: accept text/event-stream',
    ]);
    const wrong = { accept, 'mcp-session-id': id, 'mcp-protocol-version': '2025-03-26' };
    expect((await getStatus(running.mcp, wrong))[0]).toBe(400);
  });

  it("knows nothing of another caller's session, for its stream, its messages and its end", async () => {
    const session = await ready(running.mcp, '2025-11-25', { 'x-user': 'ann' });
    const own = await openGet(running.mcp, session, traffic, '2025-11-25', { 'x-user': 'ann' });
    const foreign = { accept: 'text/event-stream', 'mcp-session-id': session.id, 'x-user': 'bob' };
    const unknown = { ...foreign, 'mcp-session-id': 'e'.repeat(32) };
    expect(await getStatus(running.mcp, foreign)).toEqual(await getStatus(running.mcp, unknown));
    const asked = await session.request('resources/subscribe', { uri: 'ticket://1' }, 1, {
      'x-user': 'bob',
    });
    expect(asked.status).toBe(404);
    const ended = await fetch(running.mcp, { method: 'DELETE', headers: foreign });
    expect(ended.status).toBe(404);
    changes.update('ticket://1');
    changes.prompts();
    expect(await own.count(1)).toEqual([listChange('prompts')]);
    await own.close();
  });

  it('ends with the session, by DELETE', async () => {
    const session = await ready(running.mcp);
    const before = changes.listeners;
    const stream = await openGet(running.mcp, session, traffic);
    const ended = await fetch(running.mcp, { method: 'DELETE', headers: { 'mcp-session-id': session.id } });
    expect(ended.status).toBe(204);
    expect(await stream.end).toBe('ended');
    await eventually(() => changes.streams === 0);
    expect(changes.listeners).toBe(before);
  });

  it('follows only what guards let the client read, and what is there', async () => {
    const session = await ready(running.mcp);
    const answers: Json[] = [];
    for (const uri of ['ticket://secret', 'nothing://here', 'no address', undefined]) {
      const { body, error } = await session.request('resources/subscribe', { uri });
      traffic.observe(body, '2025-11-25', 'resources/subscribe');
      answers.push({ code: error.code, data: error.data });
    }
    expect(answers).toEqual([
      { code: 403, data: undefined },
      { code: -32002, data: { uri: 'nothing://here' } },
      { code: -32602, data: { uri: 'no address' } },
      { code: -32602, data: { uri: null } },
    ]);
    const stream = await openGet(running.mcp, session, traffic);
    changes.update('ticket://secret', 'nothing://here');
    changes.prompts();
    expect(await stream.count(1)).toEqual([listChange('prompts')]);
    await stream.close();
  });

  it('unsubscribes from what is not followed as well, and refuses what is no text', async () => {
    const session = await ready(running.mcp);
    expect((await session.request('resources/unsubscribe', { uri: 'never://followed' })).result).toEqual({});
    expect((await session.request('resources/unsubscribe', {})).error).toEqual({
      code: -32602,
      message: 'Invalid params: "uri" must be a string',
    });
  });
});

describe.each(ADAPTERS)('the end of standing streams on %s', (adapter) => {
  const traffic = new Traffic();
  afterAll(() => traffic.verify());

  it('ends all of them at app.close()', async () => {
    const running = await startApp(changingApp(), { adapter });
    const changes = new Changes(running.app);
    const sessions = [await ready(running.mcp), await ready(running.mcp)];
    const streams = await Promise.all(sessions.map((session) => openGet(running.mcp, session, traffic)));
    await changes.tools();
    await Promise.all(streams.map((stream) => stream.count(1)));
    await running.close();
    for (const stream of streams) expect(await stream.end).toBe('ended');
    expect([changes.streams, changes.sessions, changes.listeners]).toEqual([0, 0, 0]);
  });

  it('survives changes that happen while calls get their grace, after the streams have ended', async () => {
    const running = await startApp(changingApp(), { adapter });
    const changes = new Changes(running.app);
    const session = await ready(running.mcp);
    const stream = await openGet(running.mcp, session, traffic);
    const call = callTool(running.mcp, 'wait');
    await eventually(() => waiting.length === 1);
    const closing = running.close();
    changes.prompts();
    await setImmediate();
    changes.prompts();
    expect(await stream.end).toBe('ended');
    waiting.pop()!();
    expect((await call).status).toBe(200);
    await closing;
  });

  it('never ends a session whose stream is open to make room, and refuses streams beyond the caps', async () => {
    const options = {
      sessions: { max: 2 },
      limits: { streams: 1 },
    };
    const running = await startApp(changingApp(options), { adapter });
    const changes = new Changes(running.app);
    const followed = await ready(running.mcp);
    const stream = await openGet(running.mcp, followed, traffic);
    const idle = await ready(running.mcp);
    const inSession = { accept: 'text/event-stream', 'mcp-session-id': idle.id };
    expect(await getStatus(running.mcp, inSession)).toEqual([
      503,
      -32600,
      'Too many open streams: try again later',
    ]);
    // `followed` was idle for longer, but its stream is open.
    const third = await ready(running.mcp);
    expect((await followed.request('ping')).status).toBe(200);
    expect((await idle.request('ping')).status).toBe(404);
    expect((await third.request('ping')).status).toBe(200);
    changes.prompts();
    expect(await stream.count(1)).toEqual([listChange('prompts')]);
    await stream.close();
    await running.close();
  });

  it('refuses a session where every one in the way has its stream open', async () => {
    const running = await startApp(changingApp({ sessions: { max: 1 } }), { adapter });
    const stream = await openGet(running.mcp, await ready(running.mcp), traffic);
    expect((await openSession(running.mcp)).initialized.status).toBe(503);
    await stream.close();
    await running.close();
  });
});

describe.each(ADAPTERS)('a client that does not read, on %s', (adapter) => {
  const STREAM_BUFFER = 64 * 1024;
  /** More than the kernel holds for a connection that nobody reads from. */
  const TURNS = 350;
  const long = (at: number) => `ticket://${at}-${'x'.repeat(8_000)}`;
  /** As many as one client may follow, by their characters. */
  const many = Array.from({ length: 15 }, (_, at) => long(at));
  let running: RunningApp;
  let changes: Changes;
  const sockets: Socket[] = [];

  const flood = async (turns: number) => {
    for (let turn = 0; turn < turns && changes.streams > 0; turn++) {
      changes.update(...many);
      await setImmediate();
      await setImmediate();
    }
  };
  const listenSlowly = () => {
    const message = modernMessage('subscriptions/listen', {
      notifications: { resourceSubscriptions: many },
    });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders('subscriptions/listen'),
    };
    return SlowReader.open(running.mcp, 'POST', headers, JSON.stringify(message));
  };

  beforeAll(async () => {
    const options = { limits: { streamBuffer: STREAM_BUFFER }, http: { keepAlive: 1 } };
    running = await startApp(changingApp(options), { adapter });
    changes = new Changes(running.app);
    const server = running.app.getHttpServer() as Server;
    server.on('connection', (socket: Socket) => sockets.push(socket));
  });

  afterAll(async () => {
    await running.close();
  });

  it('loses its subscription once too much waits for it, and nobody else notices', async () => {
    const traffic = new Traffic();
    const session = await ready(running.mcp);
    const good = await openGet(running.mcp, session, traffic);
    const slow = await listenSlowly();
    expect(slow.head).toContain('200 OK');
    expect(changes.streams).toBe(2);
    for (let turn = 0; turn < TURNS && changes.streams > 1; turn++) {
      changes.update(...many);
      await setImmediate();
      await setImmediate();
    }
    await eventually(() => changes.streams === 1);
    changes.prompts();
    expect(await good.count(1)).toEqual([listChange('prompts')]);
    // What is left of the stream ends without the result: its client knows that it was cut.
    expect(await slow.rest()).not.toContain('"result"');
    await good.close();
    await eventually(() => changes.streams === 0);
    await traffic.verify();
  });

  it('loses the stream of its session, but not the session', async () => {
    const session = await ready(running.mcp);
    for (const uri of many) await session.request('resources/subscribe', { uri });
    const slow = await SlowReader.open(running.mcp, 'GET', {
      accept: 'text/event-stream',
      'mcp-session-id': session.id,
    });
    await flood(TURNS);
    await eventually(() => changes.streams === 0);
    slow.destroy();
    expect((await session.request('ping')).status).toBe(200);
    const traffic = new Traffic();
    const again = await openGet(running.mcp, session, traffic);
    changes.update(many[0]!);
    expect(await again.count(1)).toEqual([resourceChange(many[0]!)]);
    await again.close();
    await eventually(() => changes.streams === 0);
    await traffic.verify();
  });

  it('is ended with the session while messages wait for it, and nothing is written to it after that', async () => {
    const session = await ready(running.mcp);
    for (const uri of many) await session.request('resources/subscribe', { uri });
    const slow = await SlowReader.open(running.mcp, 'GET', {
      accept: 'text/event-stream',
      'mcp-session-id': session.id,
    });
    while (sockets.every((socket) => socket.writableLength < 20_000)) {
      changes.update(many[0]!);
      await setImmediate();
      await setImmediate();
    }
    expect(changes.streams).toBe(1);
    await fetch(running.mcp, { method: 'DELETE', headers: { 'mcp-session-id': session.id } });
    changes.update(many[0]!);
    // A comment would be due now, on a stream that has ended but is not written out.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await slow.rest()).length).toBeGreaterThan(0);
    await eventually(() => changes.streams === 0);
  });
});

describe('changes on stdio in the legacy revisions', () => {
  const traffic = new Traffic();
  afterAll(() => traffic.verify());

  it.each(LEGACY)('S-032: tells a client of %s after it said that it is ready', async (revision) => {
    let changes!: Changes;
    const pipe = openPipe(changingApp(), {
      configure: (app) => void (changes = new Changes(app as never)),
    });
    const client = new StdioClient(pipe, traffic);
    await client.legacy('early', 'ping');
    changes.prompts();
    await setImmediate();
    await setImmediate();
    await client.initialize(revision);
    expect((await client.legacy(1, 'resources/subscribe', { uri: 'ticket://1' }))['result']).toEqual({});
    expect(
      (await client.legacy(2, 'resources/subscribe', { uri: 'ticket://secret' }))['error'],
    ).toMatchObject({
      code: 403,
    });
    await changes.tools();
    changes.update('ticket://secret', 'note://all', 'ticket://1');
    await eventually(() => pipe.lines.length >= 6);
    await client.legacy(3, 'resources/unsubscribe', { uri: 'ticket://1' });
    changes.update('ticket://1');
    changes.prompts();
    await eventually(() => pipe.lines.length >= 8);
    const told = pipe.lines.map((line) => JSON.parse(line) as Json).filter((message) => 'method' in message);
    expect(told).toEqual([listChange('tools'), resourceChange('ticket://1'), listChange('prompts')]);
    await client.end();
    expect(changes.listeners).toBe(0);
  });
});

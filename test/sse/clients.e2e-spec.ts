import { VersioningType, type INestApplication } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Sse } from '../support/official-clients.js';
import { startProxy } from '../support/proxy.js';
import { Traffic } from '../support/traffic.js';
import { HeldCalls } from '../http/wire.app.js';
import { sseApp } from './sse.app.js';
import { SsePeer } from './sse-peer.js';

const traffic = new Traffic();

afterAll(() => traffic.verify());

/** What clients are told beside answers and progress. */
function notificationsOf(client: Client) {
  const seen: unknown[] = [];
  let wake: (() => void) | undefined;
  client.fallbackNotificationHandler = ({ method, params }) => {
    seen.push({ method, params });
    wake?.();
    return Promise.resolve();
  };
  return async (wanted: unknown) => {
    const isThere = () => seen.some((one) => JSON.stringify(one) === JSON.stringify(wanted));
    while (!isThere()) await new Promise<void>((resolve) => (wake = resolve));
  };
}

/** Everything that a client of those days can do. */
async function doEverything(client: Client, held: HeldCalls): Promise<void> {
  const told = notificationsOf(client);
  expect(client.getServerVersion()).toMatchObject({ name: 'desk', version: '1.0.0' });
  await client.ping();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['count', 'who', 'touch', 'add', 'echo']),
  );
  await client.setLoggingLevel('info');
  const steps: unknown[] = [];
  const counted = await client.callTool({ name: 'count', arguments: { to: 3 } }, undefined, {
    onprogress: ({ progress, total }) => {
      steps.push([progress, total]);
      if (progress === total) held.of('count').release();
    },
  });
  expect(counted.content).toEqual([{ type: 'text', text: 'counted to 3' }]);
  expect(steps).toEqual([1, 2, 3].map((step) => [step, 3]));
  const params = { level: 'info', logger: 'desk', data: 'counted to 3' };
  await told({ method: 'notifications/message', params });

  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['note://{id}']);
  expect((await client.readResource({ uri: 'note://7' })).contents).toEqual([
    { uri: 'note://7', mimeType: 'text/plain', text: 'note 7' },
  ]);
  await client.subscribeResource({ uri: 'note://7' });
  await client.callTool({ name: 'touch', arguments: { id: '7' } });
  await told({ method: 'notifications/resources/updated', params: { uri: 'note://7' } });
  await client.unsubscribeResource({ uri: 'note://7' });

  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet']);
  expect((await client.getPrompt({ name: 'greet', arguments: { name: 'Maya' } })).messages).toEqual([
    { role: 'user', content: { type: 'text', text: 'Say hello to Maya' } },
  ]);
  const ref = { type: 'ref/prompt', name: 'greet' } as const;
  const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'Ma' } });
  expect(completion.values).toEqual(['Maya', 'Mats']);

  await client.callTool({ name: 'add', arguments: { id: 'late' } });
  await told({ method: 'notifications/tools/list_changed' });
  expect((await client.callTool({ name: 'late' })).content).toEqual([{ type: 'text', text: 'added' }]);
  await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
}

describe.each(ADAPTERS)('clients of HTTP+SSE on %s', (adapter) => {
  const open: { close(): Promise<void> }[] = [];

  const start = async (...given: Parameters<typeof startApp>): Promise<RunningApp> => {
    const running = await startApp(given[0], { adapter, ...given[1] });
    open.push(running);
    return running;
  };

  afterEach(async () => {
    for (const running of open.splice(0).toReversed()) await running.close();
  });

  const underApi = (app: INestApplication) => void app.setGlobalPrefix('api');

  it('A11, S-085, S-086, S-087: the official client does everything under a global prefix', async () => {
    const { app, url } = await start(sseApp(), { configure: underApi });
    const client = await connectV1Sse(`${url}/api/sse`, traffic);
    await expect(doEverything(client, app.get(HeldCalls))).resolves.toBeUndefined();
    await client.close();
    const peer = await SsePeer.open(`${url}/api/sse?token=secret`, traffic);
    expect(peer.endpoint).toMatch(/^\/api\/messages\?sessionId=[0-9a-f]{32}$/);
    await peer.stream.close();
  });

  it('A13: it does everything behind a proxy that rewrites paths, at the address of http.publicUrl', async () => {
    const http = { publicUrl: 'https://example.com/svc/' };
    const running = await start(sseApp({ http }), { configure: underApi });
    const proxy = await startProxy(running.url, '/svc');
    open.push(proxy);
    const client = await connectV1Sse(`${proxy.url}/api/sse`, traffic);
    await expect(doEverything(client, running.app.get(HeldCalls))).resolves.toBeUndefined();
    await client.close();
    expect([...new Set(proxy.asked)]).toEqual(['/svc/api/sse', '/svc/api/messages']);
    const direct = await fetch(`${running.url}/svc/api/sse`);
    expect(direct.status).toBe(404);
  });

  it('A11: the address is the one that really is there, whatever Nest puts before it or leaves out', async () => {
    const versioned = (app: INestApplication) => {
      app.setGlobalPrefix('/api/', { exclude: ['old/stream', 'old/post'] });
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
    };
    const sse = { path: '/old//stream/', messagesPath: 'old/post' };
    const { url } = await start(sseApp({ sse }), { configure: versioned });
    const peer = await SsePeer.open(`${url}/old/stream`, traffic);
    expect(peer.endpoint).toBe(`/old/post?sessionId=${peer.id}`);
    await peer.initialize();
    await peer.stream.close();
  });

  it('S-191: gives each client the revision it asks for, and never one that has no handshake', async () => {
    const { url } = await start(sseApp());
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const) {
      const peer = await SsePeer.open(`${url}/sse`, traffic, {}, revision);
      await peer.initialize(revision);
      expect(await peer.answerTo('initialize')).toMatchObject({ result: { protocolVersion: revision } });
      const { content } = (await peer.callTool('who'))['result'] as { content: { text: string }[] };
      expect(JSON.parse(content[0]!.text)).toMatchObject({ revision, era: 'legacy', transport: 'sse' });
      await peer.stream.close();
    }
    const peer = await SsePeer.open(`${url}/sse`, traffic, {}, '2025-11-25');
    const newest = {
      protocolVersion: '2026-07-28',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    expect(await peer.request('initialize', newest)).toMatchObject({
      result: { protocolVersion: '2025-11-25' },
    });
    await peer.stream.close();
  });
});

it('A11: the address holds what Express was mounted under', async () => {
  const running = await startApp(sseApp());
  const nest = running.app.getHttpAdapter().getInstance() as RequestListener;
  const outer = createServer((request: IncomingMessage & { originalUrl?: string }, response) => {
    request.originalUrl = request.url!;
    request.url = request.url!.slice('/outer'.length);
    nest(request, response);
  });
  outer.listen(0, '127.0.0.1');
  await once(outer, 'listening');
  const { port } = outer.address() as AddressInfo;
  const peer = await SsePeer.open(`http://127.0.0.1:${port}/outer/sse`, traffic);
  expect(peer.endpoint).toBe(`/outer/messages?sessionId=${peer.id}`);
  await peer.initialize();
  await peer.stream.close();
  await running.close();
  outer.close();
  outer.closeAllConnections();
});

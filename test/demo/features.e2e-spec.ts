import { jest } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';
import { withOptionsThird } from '../clients/client-cases.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { compile, type Compiled } from '../support/compiled.js';
import { connectV1, connectV1Stdio, connectV2, connectV2Stdio } from '../support/official-clients.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import type { Json } from '../support/wire.js';
import {
  completeEverything,
  follow,
  followInVain,
  listEverything,
  Notices,
  openPicture,
  readEverything,
  readLog,
  triage,
  watching,
  type FeatureClient,
} from './feature-cases.js';

// Each client over stdio starts a process, the v2 client even two to find out what it talks to.
jest.setTimeout(30_000);

const NAMES = ['v2 client, auto', 'v2 client, legacy', 'v1 client'] as const;
type Name = (typeof NAMES)[number];
const isModern = (name: Name) => name === 'v2 client, auto';
/** -32002 of the revisions before 2026-07-28, which the v2 client shows as what it is there. */
const notFoundOf = (name: Name) => (name === 'v1 client' ? -32002 : -32602);

const PICTURE = 'ticket://T-1156/attachments/screenshot.png';
const NEEDS_AGENT = 'This needs the role agent or admin';
const as = (role: string) => ({ authorization: `Bearer demo-${role}` });
const traffic = new Traffic();

afterAll(() => traffic.verify());

describe.each(ADAPTERS)('the helpdesk over HTTP on %s', (adapter) => {
  let running: RunningApp;
  const opened: FeatureClient[] = [];

  beforeAll(async () => {
    running = await startApp(AppModule, { adapter, configure: configureApp });
  });

  // The server first: it ends what is open, so that all of it is judged.
  afterAll(async () => {
    await running.close();
    for (const client of opened) await client.close();
  });

  const connect = async (name: Name, role: string): Promise<FeatureClient> => {
    const watched = watching(traffic);
    const client = (name === 'v1 client'
      ? withOptionsThird(await connectV1(running.mcp, watched.traffic, as(role)))
      : await connectV2(
          running.mcp,
          isModern(name) ? 'auto' : 'legacy',
          watched.traffic,
          as(role),
        )) as unknown as FeatureClient;
    opened.push(client);
    if (!isModern(name)) await watched.opened;
    return client;
  };

  const rest = async (path: string, body?: object, role = 'agent') =>
    fetch(`${running.url}${path}`, {
      headers: { ...as(role), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  describe.each(NAMES)('to the %s', (name) => {
    let client: FeatureClient;

    beforeAll(async () => {
      client = await connect(name, 'agent');
    });

    it('lists resources, templates and prompts', () =>
      expect(listEverything(client)).resolves.toBeUndefined());

    it('reads tickets, customers, articles and files, with the right code for what is not there', () =>
      expect(readEverything(client, notFoundOf(name))).resolves.toBeUndefined());

    it('gives a file byte for byte, as the REST route does', async () => {
      const response = await rest('/tickets/T-1156/attachments/screenshot.png');
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(await openPicture(client)).toEqual(Buffer.from(await response.arrayBuffer()));
    });

    it('completes ids, names and enums', () => expect(completeEverything(client)).resolves.toBeUndefined());

    it('gives the prompt with the ticket in it', () => expect(triage(client)).resolves.toBeUndefined());

    it('logs where it is asked to', async () => {
      const other = await connect(name, 'agent');
      await expect(readLog(other, isModern(name), new Notices(other))).resolves.toBeUndefined();
    });

    it('tells of a change that a REST call makes, and of no other ticket', async () => {
      const notices = new Notices(client);
      await follow(client, isModern(name), 'ticket://T-1010');
      const comment = { body: `Seen by ${name}` };
      expect((await rest('/tickets/T-1011/comments', comment)).status).toBe(201);
      expect((await rest('/tickets/T-1010/comments', comment)).status).toBe(201);
      const { params } = await notices.take('notifications/resources/updated');
      expect(params).toMatchObject({ uri: 'ticket://T-1010' });
      const [ticket] = (await client.readResource({ uri: 'ticket://T-1010' })).contents;
      expect((JSON.parse(ticket!.text!) as { comments: Json[] }).comments.at(-1)).toMatchObject(comment);
    });

    it('shows an article once it is published, and says so', async () => {
      const notices = new Notices(client);
      const title = `Read me, ${name}`;
      const response = await rest('/articles', { title, body: '# Read me' });
      const { slug } = (await response.json()) as { slug: string };
      await notices.take('notifications/resources/list_changed');
      const { resources } = await client.listResources();
      expect(resources.at(-1)).toMatchObject({ uri: `kb://articles/${slug}`, title });
      const { contents } = await client.readResource({ uri: `kb://articles/${slug}` });
      expect(contents).toEqual([
        { uri: `kb://articles/${slug}`, mimeType: 'text/markdown', text: '# Read me' },
      ]);
    });

    it('A2, A6: keeps files from viewers, whichever way they ask', async () => {
      expect((await rest('/tickets/T-1156/attachments/screenshot.png', undefined, 'viewer')).status).toBe(
        403,
      );
      const viewer = await connect(name, 'viewer');
      const refused = { code: 403, message: expect.stringContaining(NEEDS_AGENT) };
      await expect(viewer.readResource({ uri: PICTURE })).rejects.toMatchObject(refused);
      const ref = { type: 'ref/resource', uri: 'ticket://{id}/attachments/{name}' } as const;
      const argument = { name: 'name', value: '' };
      await expect(viewer.complete({ ref, argument })).rejects.toMatchObject(refused);
      const listed = await viewer.callTool({ name: 'listAttachments', arguments: { id: 'T-1156' } });
      expect(listed).toMatchObject({ isError: true, content: [{ text: NEEDS_AGENT }] });
      await followInVain(viewer, isModern(name), PICTURE);
      const { contents } = await viewer.readResource({ uri: 'ticket://T-1156' });
      expect(contents).toHaveLength(1);
    });
  });

  it('keeps articles that cannot be: a viewer, a title twice, a title without letters', async () => {
    const article = { title: 'Fix a CSV import', body: 'x' };
    expect((await rest('/articles', article, 'viewer')).status).toBe(403);
    expect((await rest('/articles', article)).status).toBe(409);
    expect((await rest('/articles', { title: '???', body: 'x' })).status).toBe(400);
    const listed = (await (await rest('/articles')).json()) as Json[];
    expect(listed[0]).toEqual({ slug: 'reset-a-password', title: 'Reset a password' });
  });

  it('lists files on the REST side too', async () => {
    expect(await (await rest('/tickets/T-1289/attachments')).json()).toEqual([
      { name: 'orders.csv', mimeType: 'text/csv', size: 93 },
    ]);
    expect((await rest('/tickets/T-1289/attachments/none.csv')).status).toBe(404);
  });
});

describe('the helpdesk over stdio', () => {
  let compiled: Compiled;

  beforeAll(() => {
    compiled = compile();
  });

  afterAll(() => compiled.remove());

  describe.each(NAMES)('to the %s', (name) => {
    let client: FeatureClient;

    beforeAll(async () => {
      const server = {
        entry: compiled.entry('src/main.stdio.ts'),
        env: { HELPDESK_TOKEN: 'demo-agent' },
      };
      client = (name === 'v1 client'
        ? withOptionsThird(await connectV1Stdio(server, traffic))
        : await connectV2Stdio(
            server,
            isModern(name) ? 'auto' : 'legacy',
            traffic,
          )) as unknown as FeatureClient;
    });

    afterAll(() => client.close());

    it('lists, reads, completes, prompts and logs as over HTTP', async () => {
      await listEverything(client);
      await readEverything(client, notFoundOf(name));
      expect(await openPicture(client)).toHaveLength(204);
      await completeEverything(client);
      await triage(client);
      await expect(readLog(client, isModern(name), new Notices(client))).resolves.toBeUndefined();
    });

    it('tells of a change that a tool makes, and of an article that one publishes', async () => {
      const notices = new Notices(client);
      await follow(client, isModern(name), 'ticket://T-1010');
      for (const id of ['T-1011', 'T-1010'])
        await client.callTool({ name: 'commentTicket', arguments: { id, body: 'On it' } });
      const { params } = await notices.take('notifications/resources/updated');
      expect(params).toMatchObject({ uri: 'ticket://T-1010' });
      const article = { title: 'New article', body: '# New' };
      const { content } = await client.callTool({ name: 'publishArticle', arguments: article });
      await notices.take('notifications/resources/list_changed');
      expect((await client.listResources()).resources.at(-1)!.uri).toBe('kb://articles/new-article');
      expect(content).toMatchObject([{ type: 'resource_link', uri: 'kb://articles/new-article' }]);
    });
  });

  it('A3, A8: reads, completes and prompts nothing for a stranger, files nothing for a viewer', async () => {
    const ask = async (token: string, method: string, params: Json): Promise<Json> => {
      const headers = { authorization: `Bearer ${token}` };
      const stdio = new StdioClient(
        openPipe(AppModule, { configure: configureApp, request: { headers } }),
        traffic,
      );
      const answer = await stdio.modern(1, method, params);
      await stdio.end();
      return answer['error'] as Json;
    };
    const ref = { type: 'ref/prompt', name: 'triageTicket' };
    const requests: [string, Json][] = [
      ['resources/read', { uri: 'ticket://T-1001' }],
      ['resources/read', { uri: 'kb://articles/reset-a-password' }],
      ['prompts/get', { name: 'triageTicket', arguments: { id: 'T-1001' } }],
      ['completion/complete', { ref, argument: { name: 'id', value: '' } }],
    ];
    for (const [method, params] of requests)
      expect(await ask('nobody', method, params)).toEqual({ code: 401, message: 'Unknown token' });
    expect(await ask('demo-viewer', 'resources/read', { uri: PICTURE })).toEqual({
      code: 403,
      message: NEEDS_AGENT,
    });
  });
});

import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import {
  cancelWait,
  followProgress,
  makeMistakes,
  TOOLS,
  useEveryTool,
  withOptionsThird,
  withWaitTool,
  type AnyClient,
} from './client-cases.js';

const ADMIN = { authorization: 'Bearer demo-admin' };

type Connect = (url: string, traffic: Traffic) => Promise<AnyClient>;

const v2 =
  (mode: 'auto' | 'legacy'): Connect =>
  async (url, traffic) =>
    (await connectV2(url, mode, traffic, ADMIN)) as unknown as AnyClient;

const v1: Connect = async (url, traffic) => withOptionsThird(await connectV1(url, traffic, ADMIN));

/** In 2026-07-28 a call is cancelled by closing its stream, before that by a notification. */
const CLIENTS: [string, Connect, string][] = [
  ['v2 client, auto', v2('auto'), 'The client closed the connection'],
  ['v2 client, legacy', v2('legacy'), 'The client cancelled the call'],
  ['v1 client', v1, 'The client cancelled the call'],
];

describe.each(ADAPTERS)('the helpdesk over HTTP on %s', (adapter) => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(withWaitTool(AppModule), { adapter, configure: configureApp });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('is met by the v2 client in 2026-07-28 when it may choose, in 2025-11-25 when it may not', async () => {
    for (const [mode, revision] of [
      ['auto', '2026-07-28'],
      ['legacy', '2025-11-25'],
    ] as const) {
      const client = await connectV2(running.mcp, mode, traffic, ADMIN);
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      await client.close();
    }
  });

  describe.each(CLIENTS)('%s', (name, connect, reason) => {
    let client: AnyClient;

    beforeAll(async () => {
      client = await connect(running.mcp, traffic);
    });

    afterAll(() => client.close());

    it('learns who the server is', () => {
      expect(client.getServerVersion()).toMatchObject({ name: 'helpdesk', version: '1.0.0' });
    });

    it('lists every tool', async () => {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name).sort()).toEqual([...TOOLS, 'wait'].sort());
    });

    it('calls every tool', async () => {
      await expect(useEveryTool(client)).resolves.toBeUndefined();
    });

    it('gets progress before the result', async () => {
      await expect(followProgress(client)).resolves.toBeUndefined();
    });

    it("S-056: its cancellation reaches the tool, in its era's way", async () => {
      expect(await cancelWait(client, `${adapter}, ${name}`)).toMatchObject({
        name: 'AbortError',
        message: reason,
      });
      expect((await client.listTools()).tools).toHaveLength(TOOLS.length + 1);
    });

    it('C1, H6: is told what is wrong with its arguments, and of unknown tools by an error', async () => {
      await expect(makeMistakes(client)).resolves.toBeUndefined();
    });
  });
});

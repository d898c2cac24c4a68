import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';

const ADMIN = { authorization: 'Bearer demo-admin' };
const TOOLS = [
  'searchCustomers',
  'getCustomer',
  'searchTickets',
  'getTicket',
  'commentTicket',
  'closeTicket',
  'deleteTicket',
  'exportTickets',
];

/** What the clients of both generations have in common, as far as these tests use it. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const CLIENTS = [
  ['v2 client, auto', (url: string, traffic: Traffic) => connectV2(url, 'auto', traffic, ADMIN)],
  ['v2 client, legacy', (url: string, traffic: Traffic) => connectV2(url, 'legacy', traffic, ADMIN)],
  ['v1 client', (url: string, traffic: Traffic) => connectV1(url, traffic, ADMIN)],
] as const;

describe.each(ADAPTERS)('the helpdesk over HTTP on %s', (adapter) => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(AppModule, { adapter, configure: configureApp });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('is met by the v2 client in 2026-07-28 when it may choose', async () => {
    const client = await connectV2(running.mcp, 'auto', traffic, ADMIN);
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    await client.close();
  });

  describe.each(CLIENTS)('%s', (_name, connect) => {
    let client: AnyClient;

    beforeAll(async () => {
      client = (await connect(running.mcp, traffic)) as unknown as AnyClient;
    });

    afterAll(() => client.close());

    it('lists every tool', async () => {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual(TOOLS);
    });

    it('calls a tool', async () => {
      const result = await client.callTool({ name: 'getTicket', arguments: { id: 'T-1001' } });
      expect(result).toMatchObject({ structuredContent: { id: 'T-1001' } });
    });
  });
});

import { Injectable, Module } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { McpModule, McpTool } from 'nest-mcp';
import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, openSession, type Json } from '../support/wire.js';

const AGENT = { authorization: 'Bearer demo-agent' };
const toolsOf = (result: Json) => result['tools'] as Json[];

describe('the list of tools', () => {
  let running: RunningApp;
  const list = async () => (await modern(running.mcp, 'tools/list', {}, AGENT)).text;

  beforeAll(async () => {
    running = await startApp(AppModule, { configure: configureApp });
  });

  afterAll(() => running.close());

  it('S-026, S-103: has object schemas alone, each valid in JSON Schema 2020-12', async () => {
    const { result } = await modern(running.mcp, 'tools/list', {}, AGENT);
    const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false });
    expect(toolsOf(result)).toHaveLength(11);
    for (const { inputSchema } of toolsOf(result)) {
      expect(inputSchema).toMatchObject({ type: 'object' });
      expect(ajv.validateSchema(inputSchema as object)).toBe(true);
      ajv.compile(inputSchema as object);
    }
  });

  it('sends all four hints of every tool, true or false', async () => {
    const { result } = await modern(running.mcp, 'tools/list', {}, AGENT);
    const hints = Object.fromEntries(toolsOf(result).map(({ name, annotations }) => [name, annotations]));
    const readOnly = {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    };
    expect(hints).toEqual({
      searchCustomers: readOnly,
      getCustomer: readOnly,
      searchTickets: readOnly,
      getTicket: readOnly,
      commentTicket: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
      closeTicket: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
      closeTickets: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
      deleteTicket: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      exportTickets: readOnly,
      listAttachments: readOnly,
      publishArticle: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    });
  });

  it('S-102: is the same bytes on every connection, after calls, and after a restart', async () => {
    const first = await list();
    await callTool(running.mcp, 'exportTickets', {}, AGENT);
    await openSession(running.mcp, '2025-11-25', AGENT);
    expect(await list()).toBe(first);
    await running.close();
    running = await startApp(AppModule, { configure: configureApp });
    expect(await list()).toBe(first);
  });
});

@Injectable()
class FiveTools {
  @McpTool()
  one() {}

  @McpTool()
  two() {}

  @McpTool()
  three() {}

  @McpTool()
  four() {}

  @McpTool()
  five() {}
}

@Module({
  imports: [McpModule.forRoot({ name: 'paged', version: '1.0.0', pageSize: 2 })],
  providers: [FiveTools],
})
class PagedModule {}

const NAMES = ['one', 'two', 'three', 'four', 'five'];

describe.each(ADAPTERS)('a list in pages on %s', (adapter) => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(PagedModule, { adapter });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('J10: loses and repeats nothing on the way through, in both eras', async () => {
    const session = await openSession(running.mcp);
    const asks: ((params: Json) => Promise<{ result: Json }>)[] = [
      (params) => modern(running.mcp, 'tools/list', params),
      (params) => session.request('tools/list', params),
    ];
    for (const ask of asks) {
      const pages: Json[][] = [];
      let cursor: unknown;
      do {
        const { result } = await ask(cursor === undefined ? {} : { cursor });
        pages.push(toolsOf(result));
        cursor = result['nextCursor'];
      } while (cursor !== undefined);
      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(pages.flat().map(({ name }) => name)).toEqual(NAMES);
    }
  });

  it.each(['garbage', '', 'two', 'dHdv'])('J10: refuses the cursor %j that it never gave', async (cursor) => {
    const { status, error } = await modern(running.mcp, 'tools/list', { cursor });
    expect([status, error.code]).toEqual([200, -32602]);
    expect(error.message).toBe('Invalid params: "cursor" is not one that tools/list gave');
  });

  it('S-100, S-101: is declared, and read to its end by the official clients', async () => {
    const v2 = await connectV2(running.mcp, 'auto', traffic);
    expect(v2.getServerCapabilities()).toEqual({ logging: {}, tools: { listChanged: true } });
    const { tools, nextCursor } = await v2.listTools();
    expect([tools.map(({ name }) => name), nextCursor]).toEqual([NAMES, undefined]);
    await v2.close();

    const v1 = await connectV1(running.mcp, traffic);
    expect(v1.getServerCapabilities()).toEqual({ logging: {}, tools: { listChanged: true } });
    const first = await v1.listTools();
    const second = await v1.listTools({ cursor: first.nextCursor });
    expect([...first.tools, ...second.tools].map(({ name }) => name)).toEqual(NAMES.slice(0, 4));
    await v1.close();
  });
});

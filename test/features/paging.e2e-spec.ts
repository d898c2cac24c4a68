import { McpRegistry } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { modern, openSession, type Json } from '../support/wire.js';
import { askHttp, askPipe, type Asker, type PipedAskers } from './askers.js';
import {
  cachedModule,
  pagedModule,
  PROMPT_NAMES,
  RESOURCE_URIS,
  TEMPLATE_URIS,
  TOOL_NAMES,
} from './paging.app.js';

const traffic = new Traffic();

afterAll(() => traffic.verify());

/** Method, member of the result, member that names an item, and the names in their order. */
const LISTS: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['tools/list', 'tools', 'name', TOOL_NAMES],
  ['resources/list', 'resources', 'uri', RESOURCE_URIS],
  ['resources/templates/list', 'resourceTemplates', 'uriTemplate', TEMPLATE_URIS],
  ['prompts/list', 'prompts', 'name', PROMPT_NAMES],
];

type Ask = Asker['ask'];

/** The pages of a list, from a cursor on. */
async function pagesOf(ask: Ask, method: string, cursor?: unknown): Promise<Json[]> {
  const pages: Json[] = [];
  for (let next = cursor; pages.length === 0 || next !== undefined; next = pages.at(-1)!['nextCursor'])
    pages.push((await ask(method, next === undefined ? {} : { cursor: next })).result);
  return pages;
}

const itemsOf = (pages: readonly Json[], member: string) => pages.flatMap((page) => page[member] as Json[]);

describe.each([...ADAPTERS, 'stdio'] as const)('250 of everything on %s', (channel) => {
  let running: RunningApp | undefined;
  let pipe: PipedAskers | undefined;
  let askers: Asker[];

  beforeAll(async () => {
    // Pages of 100 are the default.
    if (channel === 'stdio') {
      pipe = await askPipe(pagedModule(), traffic);
      ({ askers } = pipe);
    } else {
      running = await startApp(pagedModule(), { adapter: channel });
      askers = await askHttp(running.mcp, traffic);
    }
  });

  afterAll(async () => {
    await running?.close();
    await pipe?.end();
  });

  it.each(LISTS)(
    'J10: %s loses and repeats nothing, in order, in every revision',
    async (method, member, key, names) => {
      for (const { ask, revision } of askers) {
        const pages = await pagesOf(ask, method);
        expect([revision, pages.map((page) => (page[member] as Json[]).length)]).toEqual([
          revision,
          [100, 100, 50],
        ]);
        expect(itemsOf(pages, member).map((item) => item[key])).toEqual(names);
        expect('nextCursor' in pages.at(-1)!).toBe(false);
      }
    },
  );

  it.each(LISTS)('J10: %s refuses a cursor that it never gave', async (method) => {
    const foreign = await Promise.all(
      LISTS.filter(([other]) => other !== method).map(
        async ([other]) => (await askers[0]!.ask(other)).result['nextCursor'],
      ),
    );
    expect(foreign.map((cursor) => typeof cursor)).toEqual(['string', 'string', 'string']);
    const { nextCursor } = (await askers[0]!.ask(method)).result as { nextCursor: string };
    const others = [
      ...foreign,
      '',
      'garbage',
      '100',
      'MTAw',
      TOOL_NAMES[99],
      '__proto__',
      `${nextCursor}=`,
      ` ${nextCursor}`,
      nextCursor.slice(1),
      '\0',
    ];
    for (const { ask } of askers) {
      for (const cursor of others)
        expect((await ask(method, { cursor })).error).toEqual({
          code: -32602,
          message: `Invalid params: "cursor" is not one that ${method} gave`,
        });
    }
  });

  it('J10: refuses a cursor of a megabyte', async () => {
    for (const { ask } of askers)
      expect((await ask('prompts/list', { cursor: 'x'.repeat(1024 * 1024) })).error.code).toBe(-32602);
  });

  it.each(LISTS)('J10: %s refuses a cursor that is no text', async (method) => {
    for (const { ask } of askers) {
      for (const cursor of [0, 100, true, null, {}, ['a']])
        expect((await ask(method, { cursor })).error).toEqual({
          code: -32602,
          message: 'Invalid params: "cursor" must be a string',
        });
    }
  });

  it('S-115, S-116: says on every page, and of the server, private and stale where nothing is said', async () => {
    for (const { ask, revision } of askers) {
      const results = (await Promise.all(LISTS.map(([method]) => pagesOf(ask, method)))).flat();
      if (revision === '2026-07-28') results.push((await ask('server/discover')).result);
      for (const { ttlMs, cacheScope } of results)
        expect([revision, ttlMs, cacheScope]).toEqual(
          revision === '2026-07-28' ? [revision, 0, 'private'] : [revision, undefined, undefined],
        );
    }
  });
});

/** What the clients of both generations have in common here. */
type PagingClient = Record<
  'listTools' | 'listResources' | 'listResourceTemplates' | 'listPrompts',
  (params?: { cursor?: string }) => Promise<Json>
> & { close(): Promise<void> };

const LISTERS = ['listTools', 'listResources', 'listResourceTemplates', 'listPrompts'] as const;

describe('the official clients', () => {
  let running: RunningApp;
  const anyClient = (client: unknown) => client as PagingClient;
  const CLIENTS: [string, () => Promise<PagingClient>][] = [
    ['v2 client, auto', async () => anyClient(await connectV2(running.mcp, 'auto', traffic))],
    ['v2 client, legacy', async () => anyClient(await connectV2(running.mcp, 'legacy', traffic))],
    ['v1 client', async () => anyClient(await connectV1(running.mcp, traffic))],
    ['v2 client in memory, auto', async () => anyClient(await connectV2Memory(running.app, 'auto', traffic))],
    ['v1 client in memory', async () => anyClient(await connectV1Memory(running.app, traffic))],
  ];

  beforeAll(async () => {
    running = await startApp(pagedModule({ pageSize: 100 }));
  });

  afterAll(() => {
    return running.close();
  });

  it.each(CLIENTS)('J10, S-101: the %s reads every list to its end', async (_name, connect) => {
    const client = await connect();
    for (const [at, [, member, key, names]] of LISTS.entries()) {
      const lister = LISTERS[at]!;
      const pages = [await client[lister]()];
      // The v2 client follows the cursors itself, the v1 client leaves it to its user.
      for (let cursor = pages[0]!['nextCursor']; cursor !== undefined; cursor = pages.at(-1)!['nextCursor'])
        pages.push(await client[lister]({ cursor: cursor as string }));
      expect(itemsOf(pages, member).map((item) => item[key])).toEqual(names);
    }
    await expect(client.listTools({ cursor: 'garbage' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});

describe('a list that changes between its pages', () => {
  let running: RunningApp;
  let registry: McpRegistry;
  let askers: Asker[];

  beforeAll(async () => {
    running = await startApp(pagedModule());
    registry = running.app.get(McpRegistry);
    askers = await askHttp(running.mcp, traffic);
  });

  afterAll(() => running.close());

  const KINDS = ['tool', 'resource', 'resource', 'prompt'] as const;
  const added = [
    () => registry.addTool({ name: 'new-tool' }, () => 'x'),
    () => registry.addResource({ name: 'new', uri: 'item://new' }, () => 'x'),
    () => registry.addResource({ name: 'new', uri: 'new://{id}' }, () => 'x'),
    () => registry.addPrompt({ name: 'new-prompt' }, () => 'x'),
  ];
  const NEW = ['new-tool', 'item://new', 'new://{id}', 'new-prompt'];

  it.each(LISTS.map((list, at) => [list[0], at] as const))(
    'J10: %s loses and repeats nothing of what stays, and shows what came',
    async (method, at) => {
      const [, member, key, names] = LISTS[at]!;
      const firsts = await Promise.all(askers.map(async ({ ask }) => (await ask(method)).result));
      await added[at]!();
      registry.remove(KINDS[at]!, names[7]!);
      registry.setEnabled(KINDS[at]!, names[50]!, false);
      registry.remove(KINDS[at]!, names[120]!);
      registry.setEnabled(KINDS[at]!, names[201]!, false);
      const stayed = names.slice(100).filter((_, index) => index !== 20 && index !== 101);
      for (const [index, { ask }] of askers.entries()) {
        const rest = await pagesOf(ask, method, firsts[index]!['nextCursor']);
        expect(itemsOf(rest, member).map((item) => item[key])).toEqual([...stayed, NEW[at]]);
      }
      const again = itemsOf(await pagesOf(askers[0]!.ask, method), member).map((item) => item[key]);
      expect(again).toEqual([...names.filter((_, index) => ![7, 50, 120, 201].includes(index)), NEW[at]]);
      registry.setEnabled(KINDS[at]!, names[50]!, true);
      const shown = itemsOf(await pagesOf(askers[0]!.ask, method), member).map((item) => item[key]);
      expect(shown).toEqual([...names.filter((_, place) => ![7, 120, 201].includes(place)), NEW[at]]);
    },
  );

  it('J10: refuses the cursor whose own item went, and is read anew', async () => {
    const { ask } = askers.at(-1)!;
    const before = itemsOf(await pagesOf(ask, 'tools/list'), 'tools').length;
    const { tools, nextCursor: cursor } = (await ask('tools/list')).result as {
      tools: { name: string }[];
      nextCursor: string;
    };
    expect(registry.remove('tool', tools.at(-1)!.name)).toBe(true);
    expect((await ask('tools/list', { cursor })).error.code).toBe(-32602);
    expect(itemsOf(await pagesOf(ask, 'tools/list'), 'tools')).toHaveLength(before - 1);
  });
});

describe('the bytes of a list', () => {
  const bytesOf = async (running: RunningApp) => {
    const texts: string[] = [];
    for (const [method] of LISTS) {
      let cursor: unknown;
      do {
        const reply = await modern(running.mcp, method, cursor === undefined ? {} : { cursor });
        traffic.observe(reply.body, '2026-07-28', method);
        texts.push(reply.text);
        cursor = reply.result['nextCursor'];
      } while (cursor !== undefined);
    }
    return texts;
  };

  it('S-102, J10: are the same on every listing, after calls and sessions, and after a restart on the other adapter', async () => {
    const first = await startApp(pagedModule());
    const bytes = await bytesOf(first);
    expect(bytes).toHaveLength(12);
    expect(await bytesOf(first)).toEqual(bytes);
    await modern(first.mcp, 'tools/call', { name: TOOL_NAMES[0] });
    await (await openSession(first.mcp)).request('tools/list');
    expect(await bytesOf(first)).toEqual(bytes);
    await first.close();
    const next = await startApp(pagedModule(), { adapter: 'fastify' });
    expect(await bytesOf(next)).toEqual(bytes);
    await next.close();
  });
});

const READS = ['hints://default', 'hints://public', 'hints://time/7', 'hints://private'];

describe.each([
  [
    'nothing is said',
    {},
    [0, 'private'],
    [
      [0, 'private'],
      [5_000, 'public'],
      [1, 'private'],
      [0, 'private'],
    ],
  ],
  [
    'the server is for all',
    { cache: { ttlMs: 60_000, scope: 'public' as const }, pageSize: 1 },
    [60_000, 'public'],
    [
      [60_000, 'public'],
      [5_000, 'public'],
      [1, 'public'],
      [0, 'private'],
    ],
  ],
  [
    'only a time is said',
    { cache: { ttlMs: 250 }, pageSize: 1 },
    [250, 'private'],
    [
      [250, 'private'],
      [5_000, 'public'],
      [1, 'private'],
      [0, 'private'],
    ],
  ],
] as const)('caching hints where %s', (_what, options, ofLists, ofReads) => {
  let running: RunningApp;
  let askers: Asker[];
  const hintsOf = ({ ttlMs, cacheScope }: Json) => [ttlMs, cacheScope];

  beforeAll(async () => {
    running = await startApp(cachedModule(options));
    askers = await askHttp(running.mcp, traffic);
  });

  afterAll(() => running.close());

  it('S-115, S-116: are the same on every page of every list and in server/discover', async () => {
    const { ask } = askers.at(-1)!;
    for (const [method, member] of LISTS) {
      const pages = await pagesOf(ask, method);
      const size = 'pageSize' in options ? options.pageSize : 100;
      expect(pages).toHaveLength(Math.ceil(itemsOf(pages, member).length / size));
      expect(pages.map(hintsOf)).toEqual(pages.map(() => ofLists));
    }
    expect(hintsOf((await ask('server/discover')).result)).toEqual(ofLists);
  });

  it('S-115: are those of a resource where it has its own', async () => {
    const { ask } = askers.at(-1)!;
    for (const [at, uri] of READS.entries())
      expect([uri, ...hintsOf((await ask('resources/read', { uri })).result)]).toEqual([
        uri,
        ...ofReads[at]!,
      ]);
  });

  it('S-115: are on nothing else, and in no session', async () => {
    const { ask } = askers.at(-1)!;
    for (const [method, name] of [
      ['tools/call', 'tool'],
      ['prompts/get', 'prompt'],
    ] as const)
      expect(hintsOf((await ask(method, { name })).result)).toEqual([undefined, undefined]);
    for (const { ask: askLegacy } of askers.slice(0, -1)) {
      for (const [method] of LISTS)
        expect(hintsOf((await askLegacy(method)).result)).toEqual([undefined, undefined]);
      for (const uri of READS)
        expect(hintsOf((await askLegacy('resources/read', { uri })).result)).toEqual([undefined, undefined]);
    }
  });
});

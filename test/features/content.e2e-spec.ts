import { Ajv2020 } from 'ajv/dist/2020.js';
import { content } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import type { Json } from '../support/wire.js';
import { askHttp, askPipe, type Asker, type PipedAskers } from './askers.js';
import { ANNOTATIONS, BASE64, ContentModule, ICONS, META, SCALARS } from './content.app.js';

const traffic = new Traffic();

afterAll(() => traffic.verify());

const CHANNELS = [...ADAPTERS, 'stdio'] as const;

/** Annotations as the revisions before 2025-06-18 have them. */
const { lastModified: _, ...OLD_ANNOTATIONS } = ANNOTATIONS;

const textBlock = (text: string) => ({ type: 'text', text });

/** What `blocks` gives, in the words of a revision. */
function blocksIn(revision: string): Json[] {
  const isNew = revision >= '2025-06-18';
  const annotations = isNew ? ANNOTATIONS : OLD_ANNOTATIONS;
  const meta = isNew ? { _meta: META } : {};
  return [
    { ...textBlock('a text'), annotations, ...meta },
    { type: 'image', data: BASE64, mimeType: 'image/png', annotations: { audience: ['assistant'] } },
    { type: 'image', data: BASE64, mimeType: 'image/png' },
    revision === '2024-11-05'
      ? { ...textBlock('[audio, audio/wav]'), annotations }
      : { type: 'audio', data: BASE64, mimeType: 'audio/wav', annotations, ...meta },
    isNew
      ? {
          type: 'resource_link',
          uri: 'ticket://7',
          name: 'Ticket 7',
          title: 'The seventh',
          description: 'About a printer',
          mimeType: 'application/json',
          size: 7,
          ...(revision >= '2025-11-25' ? { icons: ICONS } : {}),
          annotations,
        }
      : { ...textBlock('Ticket 7: ticket://7'), annotations },
    {
      type: 'resource',
      resource: { uri: 'note://1', mimeType: 'text/markdown', text: 'a note' },
      ...meta,
    },
    {
      type: 'resource',
      resource: { uri: 'blob://1', mimeType: 'application/octet-stream', blob: BASE64 },
    },
  ];
}

/** How a value that is no object, or whose schema has another root, is sent by the revisions of sessions. */
const wrapped = (value: unknown) => ({ result: value });

describe.each(CHANNELS)('what tools give, on %s', (channel) => {
  let running: RunningApp | undefined;
  let pipe: PipedAskers | undefined;
  let askers: Asker[];

  beforeAll(async () => {
    if (channel === 'stdio') {
      pipe = await askPipe(ContentModule, traffic);
      ({ askers } = pipe);
    } else {
      running = await startApp(ContentModule, { adapter: channel });
      askers = await askHttp(running.mcp, traffic);
    }
  });

  afterAll(async () => {
    await running?.close();
    await pipe?.end();
  });

  const call = (name: string, args: Json = {}) =>
    Promise.all(
      askers.map(async ({ revision, ask }): Promise<[string, Json]> => {
        const { result } = await ask('tools/call', { name, arguments: args });
        return [revision, result];
      }),
    );
  const listed = () =>
    Promise.all(
      askers.map(async ({ revision, ask }): Promise<[string, Map<unknown, Json>]> => {
        const tools = (await ask('tools/list')).result['tools'] as Json[];
        return [revision, new Map(tools.map((tool) => [tool['name'], tool]))];
      }),
    );
  /** Holds the answers in each revision to one value: bare in 2026-07-28, and so in sessions where it may be. */
  const expectStructured = async (name: string, value: unknown, isBare: boolean, args: Json = {}) => {
    const text = JSON.stringify(value);
    for (const [revision, result] of await call(name, args)) {
      expect(result['content']).toEqual([textBlock(text)]);
      expect('isError' in result).toBe(false);
      if (revision < '2025-06-18') expect('structuredContent' in result).toBe(false);
      else
        expect([revision, result['structuredContent']]).toEqual([
          revision,
          isBare || revision === '2026-07-28' ? value : wrapped(value),
        ]);
    }
  };

  it('I6, I7, S-108: sends every kind of block as each revision has it, with the Base64 of just its bytes', async () => {
    for (const [revision, result] of await call('blocks')) {
      expect(result['content']).toEqual(blocksIn(revision));
      expect('structuredContent' in result).toBe(false);
    }
  });

  it('I6: sends one block as the only one', async () => {
    for (const [, result] of await call('oneBlock')) expect(result['content']).toEqual([textBlock('alone')]);
  });

  it('I7, S-108: sends a view into a larger buffer as the Base64 of what it shows', async () => {
    for (const [, result] of await call('bytes')) expect(result['content']).toEqual([textBlock(BASE64)]);
  });

  it('I5: makes content of structured data that come alone', async () => {
    await expectStructured('structuredAlone', { a: 1 }, true);
  });

  it('I5: sends content that comes alone without structured data', async () => {
    for (const [, result] of await call('contentAlone')) {
      expect(result['content']).toEqual([textBlock('only')]);
      expect('structuredContent' in result).toBe(false);
    }
  });

  it('I5: sends a whole result as it is, as far as a revision has its members', async () => {
    for (const [revision, result] of await call('whole')) {
      expect(result['content']).toEqual([textBlock('said')]);
      expect(result['structuredContent']).toEqual(revision < '2025-06-18' ? undefined : { a: 1 });
      expect(result['_meta']).toMatchObject(META);
    }
  });

  it('I5, S-104: wraps structured content that is no object for the sessions that demand one', async () => {
    await expectStructured('looseList', [1, 2], false);
  });

  it('I6: sends rows that have a type of their own as JSON', async () => {
    const rows = [
      { type: 'text', subject: 'no block' },
      { type: 'image', subject: 'nor this' },
    ];
    for (const [, result] of await call('rows')) {
      expect(result['content']).toEqual([textBlock(JSON.stringify(rows))]);
      expect('structuredContent' in result).toBe(false);
    }
  });

  it('I6, S-104: sends them as structured data as well where a schema says so', async () => {
    await expectStructured('typedRows', [{ type: 'text' }, { type: 'resource' }], false);
  });

  it('S-104: sends an object of a DTO bare, without what the DTO does not have', async () => {
    await expectStructured('area', { unit: 'm2', size: 4 }, true);
  });

  it('S-104: wraps a list, for which zod gives the schema', async () => {
    await expectStructured('list', [{ id: 1, tag: 'a' }], false);
  });

  it.each(Object.entries(SCALARS))(
    'S-104: sends the scalar "%s" as one that is there',
    async (kind, value) => {
      await expectStructured('scalar', value, false, { kind });
    },
  );

  it('S-104: wraps an object where the root of its schema is a choice', async () => {
    await expectStructured('alternatives', { found: true, id: 7 }, false, { kind: 'found' });
    await expectStructured('alternatives', { found: false }, false, { kind: 'lost' });
  });

  it('S-104: sends no output that breaks its schema', async () => {
    for (const [, result] of await call('alternatives', { kind: 'wrong' })) {
      const [block, ...more] = result['content'] as { text: string }[];
      expect([result['isError'], 'structuredContent' in result, more]).toEqual([true, false, []]);
      expect(block!.text).toMatch(/^The output does not match the tool's output schema \(reference /);
    }
  });

  it('S-104: wraps an object where its schema refers to itself at the root', async () => {
    const tree = {
      name: 'root',
      children: [{ name: 'leaf' }, { name: 'branch', children: [{ name: 'twig' }] }],
    };
    await expectStructured('tree', tree, false);
  });

  it('S-104: publishes the schemas in each revision so that they fit what is sent, and refuse what is not', async () => {
    const samples: [string, Json][] = [
      ['typedRows', {}],
      ['area', {}],
      ['list', {}],
      ['scalar', { kind: 'nothing' }],
      ['alternatives', { kind: 'found' }],
      ['tree', {}],
    ];
    const results = new Map<string, Map<string, Json>>();
    for (const [name, args] of samples) results.set(name, new Map(await call(name, args)));
    for (const [revision, tools] of await listed()) {
      for (const [name] of samples) {
        const schema = tools.get(name)!['outputSchema'] as Json | undefined;
        const sent = results.get(name)!.get(revision)!['structuredContent'];
        if (revision < '2025-06-18') {
          expect([schema, sent]).toEqual([undefined, undefined]);
          continue;
        }
        if (revision < '2026-07-28') expect(schema!['type']).toBe('object');
        const fits = new Ajv2020({ strict: false }).compile(schema!);
        expect([revision, name, fits(sent)]).toEqual([revision, name, true]);
        const isWrapped = revision < '2026-07-28' && name !== 'area';
        expect(fits(isWrapped ? wrapped(1.5) : 1.5)).toBe(false);
        if (isWrapped) {
          expect(schema).toMatchObject({ required: ['result'] });
          expect(fits({})).toBe(false);
        }
      }
    }
  });

  it('S-104: keeps recursion within the wrapped schema', async () => {
    for (const [revision, tools] of await listed()) {
      if (revision < '2025-06-18') continue;
      const schema = tools.get('tree')!['outputSchema'] as Json;
      const fits = new Ajv2020({ strict: false }).compile(schema);
      const deep = (leaf: unknown) => ({ name: 'a', children: [{ name: 'b', children: [leaf] }] });
      const asSent = (value: unknown) => (revision === '2026-07-28' ? value : wrapped(value));
      expect([fits(asSent(deep({ name: 'c' }))), fits(asSent(deep({ name: 7 })))]).toEqual([true, false]);
    }
  });

  it('shows title, icons and _meta where a revision has them', async () => {
    for (const [revision, tools] of await listed()) {
      const { title, icons, _meta, description, annotations } = tools.get('blocks')!;
      expect({ revision, title, icons, _meta, description }).toEqual({
        revision,
        title: revision >= '2025-06-18' ? 'Blocks' : undefined,
        icons: revision >= '2025-11-25' ? ICONS : undefined,
        _meta: revision >= '2025-06-18' ? META : undefined,
        description: 'Every kind of block',
      });
      expect((annotations as Json | undefined)?.['title']).toBe(
        revision === '2025-03-26' ? 'Blocks' : undefined,
      );
      const bare = tools.get('oneBlock')!;
      expect(['title', 'icons', '_meta', 'description'].filter((member) => member in bare)).toEqual([]);
    }
  });
});

/** What the clients of both generations have in common here. */
interface ContentClient {
  listTools(): Promise<{ tools: Json[] }>;
  callTool(call: {
    name: string;
    arguments?: Json;
  }): Promise<{ content: Json[]; structuredContent?: unknown }>;
  close(): Promise<void>;
}

describe.each(ADAPTERS)('what tools give to the official clients, of an app on %s', (adapter) => {
  let running: RunningApp;
  const anyClient = (client: unknown) => client as ContentClient;
  const CLIENTS: [string, boolean, () => Promise<ContentClient>][] = [
    ['v2 client, auto', false, async () => anyClient(await connectV2(running.mcp, 'auto', traffic))],
    ['v2 client, legacy', true, async () => anyClient(await connectV2(running.mcp, 'legacy', traffic))],
    ['v1 client', true, async () => anyClient(await connectV1(running.mcp, traffic))],
    [
      'v2 client in memory, auto',
      false,
      async () => anyClient(await connectV2Memory(running.app, 'auto', traffic)),
    ],
    [
      'v2 client in memory, legacy',
      true,
      async () => anyClient(await connectV2Memory(running.app, 'legacy', traffic)),
    ],
    ['v1 client in memory', true, async () => anyClient(await connectV1Memory(running.app, traffic))],
  ];

  beforeAll(async () => {
    running = await startApp(ContentModule, { adapter });
  });

  afterAll(() => {
    return running.close();
  });

  it.each(CLIENTS)(
    'S-104, I6, I7: passes the checks of the %s, which knows the output schemas',
    async (_name, isLegacy, connect) => {
      const client = await connect();
      const { tools } = await client.listTools();
      expect(tools[0]).toMatchObject({ name: 'blocks', title: 'Blocks', icons: ICONS, _meta: META });
      expect((await client.callTool({ name: 'blocks' })).content).toEqual(blocksIn('2026-07-28'));
      const expected: [string, Json, unknown][] = [
        ['typedRows', {}, [{ type: 'text' }, { type: 'resource' }]],
        ['list', {}, [{ id: 1, tag: 'a' }]],
        ...Object.entries(SCALARS).map(([kind, value]): [string, Json, unknown] => [
          'scalar',
          { kind },
          value,
        ]),
        ['alternatives', { kind: 'found' }, { found: true, id: 7 }],
        ['alternatives', { kind: 'lost' }, { found: false }],
        [
          'tree',
          {},
          { name: 'root', children: [{ name: 'leaf' }, { name: 'branch', children: [{ name: 'twig' }] }] },
        ],
      ];
      for (const [name, args, value] of expected) {
        const result = await client.callTool({ name, arguments: args });
        expect(result.structuredContent).toEqual(isLegacy ? wrapped(value) : value);
        expect(result.content).toEqual([textBlock(JSON.stringify(value))]);
      }
      expect((await client.callTool({ name: 'area' })).structuredContent).toEqual({ unit: 'm2', size: 4 });
      await client.close();
    },
  );
});

describe('the builders of content', () => {
  it.each([
    [
      'S-108: a data address instead of Base64',
      () => content.image('data:image/png;base64,AAAA', 'image/png'),
      'content.image(): the data is a data: address: give what follows its comma',
    ],
    [
      'S-108: Base64 without padding',
      () => content.audio('AP8', 'audio/wav'),
      'content.audio(): the data is not Base64',
    ],
    [
      'S-108: Base64 of the alphabet for addresses',
      () => content.image('AP8-P_4=', 'image/png'),
      'content.image(): the data is not Base64',
    ],
    [
      'no media type',
      () => content.image(new Uint8Array(1), 'png'),
      'content.image(): "png" is no MIME type',
    ],
    [
      'S-108: an address without a scheme',
      () => content.link('ticket/7', 'x'),
      'content.link(): the uri "ticket/7" has no scheme',
    ],
    [
      'an icon that no client loads',
      () => content.link('ticket://7', 'x', { icons: [{ src: 'file:///etc/passwd' }] }),
      'content.link(): the icon "file:///etc/passwd" is not shown',
    ],
    [
      'a priority above 1',
      () => content.text('x', { annotations: { priority: 2 } }),
      'content.text(): annotations are',
    ],
  ])('refuse %s where it is written', (_what, build, message) => {
    expect(build).toThrow(new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
  });
});

import { blockFor, errorResult, isContentBlock, textResult, type ContentBlock } from './content.js';
import { META_SERVER } from './request-meta.js';
import { ResultEncoder, type ToolDescriptor } from './result-encoder.js';
import { REVISIONS, type McpRevision } from './versions.js';

const LEGACY = REVISIONS.filter((revision) => revision !== '2026-07-28');
const icons = [{ src: 'https://example.com/a.png' }];
const server = {
  name: 'helpdesk',
  version: '1.2.3',
  title: 'Helpdesk',
  websiteUrl: 'https://example.com',
  icons,
  instructions: 'Be kind.',
};
const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
const tool: ToolDescriptor = {
  name: 'search',
  title: 'Search',
  description: 'Finds',
  icons,
  inputSchema: { type: 'object' },
  annotations,
  meta: { 'example.com/x': 1 },
};
const encoder = new ResultEncoder(server, { tools: true });
const read = (json: string) => JSON.parse(json) as Record<string, unknown>;
const MODERN_META = {
  [META_SERVER]: {
    name: 'helpdesk',
    title: 'Helpdesk',
    version: '1.2.3',
    websiteUrl: 'https://example.com',
    icons,
  },
};

describe('initialize', () => {
  it.each([
    ['2024-11-05', { name: 'helpdesk', version: '1.2.3' }],
    ['2025-03-26', { name: 'helpdesk', version: '1.2.3' }],
    ['2025-06-18', { name: 'helpdesk', version: '1.2.3', title: 'Helpdesk' }],
    ['2025-11-25', MODERN_META[META_SERVER]],
  ] as [McpRevision, unknown][])(
    'S-030: of %s names the server with the members of that revision',
    (revision, serverInfo) => {
      expect(read(encoder.initialize(revision))).toEqual({
        protocolVersion: revision,
        capabilities: { tools: {} },
        serverInfo,
        instructions: 'Be kind.',
      });
    },
  );

  it('S-100: declares no feature that is not there, and no instructions that nobody wrote', () => {
    const bare = new ResultEncoder({ name: 'a', version: '1' }, { tools: false });
    expect(read(bare.initialize('2025-11-25'))).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'a', version: '1' },
    });
  });
});

describe('server/discover', () => {
  it('S-009, S-020, S-115: has all that 2026-07-28 demands', () => {
    expect(read(encoder.discover(['2026-07-28']))).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      instructions: 'Be kind.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: MODERN_META,
    });
  });
});

describe('a listed tool', () => {
  it.each([
    ['2024-11-05', { name: 'search', description: 'Finds', inputSchema: { type: 'object' } }],
    [
      '2025-03-26',
      {
        name: 'search',
        description: 'Finds',
        inputSchema: { type: 'object' },
        annotations: { title: 'Search', ...annotations },
      },
    ],
    [
      '2025-06-18',
      {
        name: 'search',
        title: 'Search',
        description: 'Finds',
        inputSchema: { type: 'object' },
        annotations,
        _meta: { 'example.com/x': 1 },
      },
    ],
    [
      '2025-11-25',
      {
        name: 'search',
        title: 'Search',
        description: 'Finds',
        icons,
        inputSchema: { type: 'object' },
        annotations,
        _meta: { 'example.com/x': 1 },
      },
    ],
    [
      '2026-07-28',
      {
        name: 'search',
        title: 'Search',
        description: 'Finds',
        icons,
        inputSchema: { type: 'object' },
        annotations,
        _meta: { 'example.com/x': 1 },
      },
    ],
  ] as [McpRevision, unknown][])('S-032: has in %s only what that revision knows', (revision, item) => {
    expect(read(encoder.tool(tool, revision))).toEqual(item);
  });

  const schemasOf = (more: Partial<ToolDescriptor>, revision: McpRevision) => {
    const { inputSchema, outputSchema } = read(encoder.tool({ ...tool, ...more }, revision));
    return { inputSchema, outputSchema };
  };

  it.each(REVISIONS)('S-190: has in %s its output schema only if that revision knows it', (revision) => {
    const isModern = revision === '2026-07-28';
    const object = { type: 'object', properties: { a: { type: 'string' } } };
    expect(schemasOf({ outputSchema: object }, revision).outputSchema).toEqual(
      revision >= '2025-06-18' ? object : undefined,
    );
    for (const outputSchema of [{ type: 'array', items: {} }, { anyOf: [object] }, {}, { type: ['object'] }])
      expect(schemasOf({ outputSchema }, revision).outputSchema).toEqual(isModern ? outputSchema : undefined);
  });

  it('has no boolean as the schema of a property before 2026-07-28, whose clients would refuse the list', () => {
    const schema = { type: 'object', properties: { a: true, b: false, c: {} }, additionalProperties: false };
    const more = { inputSchema: schema, outputSchema: schema };
    const legacy = { ...schema, properties: { a: {}, b: { not: {} }, c: {} } };
    expect(schemasOf(more, '2026-07-28')).toEqual(more);
    expect(schemasOf(more, '2025-11-25')).toEqual({ inputSchema: legacy, outputSchema: legacy });
  });

  it('has no member without a value', () => {
    const plain = { name: 'a', inputSchema: { type: 'object' }, annotations };
    expect(Object.keys(read(encoder.tool(plain, '2026-07-28')))).toEqual([
      'name',
      'inputSchema',
      'annotations',
    ]);
    expect(read(encoder.tool(plain, '2025-03-26'))['annotations']).toEqual(annotations);
  });
});

describe('a page of tools', () => {
  it.each(LEGACY)('S-190: has in %s neither hints nor result type', (revision) => {
    expect(read(encoder.toolPage({ items: '{"name":"a"}', next: 'c"' }, revision))).toEqual({
      tools: [{ name: 'a' }],
      nextCursor: 'c"',
    });
    expect(read(encoder.toolPage({ items: '', next: undefined }, revision))).toEqual({ tools: [] });
  });

  it('S-009, S-115: has both in 2026-07-28', () => {
    expect(read(encoder.toolPage({ items: '', next: 'c' }, '2026-07-28'))).toEqual({
      resultType: 'complete',
      tools: [],
      nextCursor: 'c',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: MODERN_META,
    });
  });
});

describe('a tool result', () => {
  const structured = {
    content: [{ type: 'text', text: '{"a":1}' } as const],
    structured: '{"a":1}',
    structuredIsObject: true,
  };
  const list = { content: [], structured: '[1]', structuredIsObject: false };

  it.each(REVISIONS)('S-190: has in %s only the members of that revision', (revision) => {
    const result = read(encoder.toolResult({ ...structured, meta: { 'example.com/x': 1 } }, revision));
    const hasStructured = revision >= '2025-06-18';
    expect(result).toEqual({
      content: structured.content,
      ...(hasStructured ? { structuredContent: { a: 1 } } : {}),
      ...(revision === '2026-07-28'
        ? { resultType: 'complete', _meta: { 'example.com/x': 1, ...MODERN_META } }
        : { _meta: { 'example.com/x': 1 } }),
    });
  });

  it.each(LEGACY)('S-190: has in %s no _meta of its own', (revision) => {
    expect(read(encoder.toolResult(textResult('a'), revision))).toEqual({
      content: [{ type: 'text', text: 'a' }],
    });
  });

  it('has structured content that is no object in 2026-07-28 alone', () => {
    expect(read(encoder.toolResult(list, '2026-07-28'))['structuredContent']).toEqual([1]);
    for (const revision of LEGACY) expect(read(encoder.toolResult(list, revision))).toEqual({ content: [] });
  });

  it('says isError only where it is one', () => {
    expect(read(encoder.toolResult(errorResult('no'), '2025-11-25'))).toEqual({
      content: [{ type: 'text', text: 'no' }],
      isError: true,
    });
    expect(read(encoder.toolResult(textResult('a'), '2026-07-28'))).not.toHaveProperty('isError');
  });

  it('lets no handler speak for the server', () => {
    const result = encoder.toolResult(
      { content: [], meta: { [META_SERVER]: { name: 'evil' } } },
      '2026-07-28',
    );
    expect(read(result)['_meta']).toEqual(MODERN_META);
  });
});

describe('content blocks', () => {
  const audio: ContentBlock = { type: 'audio', data: 'AA==', mimeType: 'audio/wav' };
  const link: ContentBlock = { type: 'resource_link', uri: 'ticket://1', name: 'Ticket 1' };

  it.each(REVISIONS)('are down-converted for %s where it does not know them', (revision) => {
    expect(blockFor(audio, revision)).toEqual(
      revision === '2024-11-05' ? { type: 'text', text: '[audio, audio/wav]' } : audio,
    );
    expect(blockFor(link, revision)).toEqual(
      revision <= '2025-03-26' ? { type: 'text', text: 'Ticket 1: ticket://1' } : link,
    );
    for (const block of [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a:b', text: '' } },
    ] as ContentBlock[])
      expect(blockFor(block, revision)).toBe(block);
  });

  it.each([
    [{ type: 'text', text: '' }, true],
    [{ type: 'text', text: 'a', annotations: {} }, true],
    [audio, true],
    [link, true],
    [{ type: 'resource', resource: { uri: 'a:b', text: 'x' } }, true],
    [{ type: 'resource', resource: { uri: 'a:b', blob: 'AA==' } }, true],
    [{ type: 'resource', resource: { uri: 'a:b' } }, false],
    [{ type: 'resource', resource: { uri: 'a:b', text: '', blob: '' } }, false],
    [{ type: 'resource', resource: { text: 'x' } }, false],
    [{ type: 'resource', resource: null }, false],
    [{ type: 'resource_link', uri: 'a:b' }, false],
    [{ type: 'image', data: 'AA==' }, false],
    [{ type: 'text' }, false],
    [{ type: 'bug', text: 'a' }, false],
    [[{ type: 'text', text: 'a' }], false],
    [null, false],
    ['text', false],
  ])('I6: %j is one: %p', (value, expected) => {
    expect(isContentBlock(value)).toBe(expected);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorResult, textResult, type ContentBlock } from './content.js';
import type { PromptDescriptor, ResourceDescriptor, ToolDescriptor } from './descriptors.js';
import { readId } from './json-rpc.js';
import { META_SERVER, META_SUBSCRIPTION } from './request-meta.js';
import { hasObjectRoot, ResultEncoder } from './result-encoder.js';
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
  legacyInputSchema: { type: 'object' },
  annotations,
  meta: { 'example.com/x': 1 },
};
const encoder = new ResultEncoder(server, { ttlMs: 0, scope: 'private' });
const ALL = { tools: true, resources: true, prompts: true, completions: true };
const NONE = { tools: false, resources: false, prompts: false, completions: false };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};
const { completions: _, ...OLDEST_CAPABILITIES } = CAPABILITIES;
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
      expect(read(encoder.initialize(revision, ALL))).toEqual({
        protocolVersion: revision,
        capabilities: revision === '2024-11-05' ? OLDEST_CAPABILITIES : CAPABILITIES,
        serverInfo,
        instructions: 'Be kind.',
      });
    },
  );

  it('S-100: declares no feature that is not there, and no instructions that nobody wrote', () => {
    const bare = new ResultEncoder({ name: 'a', version: '1' }, { ttlMs: 0, scope: 'private' });
    expect(read(bare.initialize('2025-11-25', NONE))).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'a', version: '1' },
    });
  });

  it.each([
    ['tools', { tools: CAPABILITIES.tools, logging: {} }],
    ['resources', { resources: CAPABILITIES.resources, logging: {} }],
    ['prompts', { prompts: CAPABILITIES.prompts, logging: {} }],
  ])('S-100: declares %s where there are some, and that they may log', (feature, capabilities) => {
    const features = { ...NONE, [feature]: true };
    for (const revision of LEGACY)
      expect(read(encoder.initialize(revision, features))['capabilities']).toEqual(capabilities);
    expect(read(encoder.discover(['2026-07-28'], features))['capabilities']).toEqual(capabilities);
  });
});

describe('server/discover', () => {
  it('S-009, S-020, S-115: has all that 2026-07-28 demands', () => {
    expect(read(encoder.discover(['2026-07-28'], ALL))).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: CAPABILITIES,
      instructions: 'Be kind.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: MODERN_META,
    });
  });

  it("S-115: has the server's cache hints", () => {
    const cached = new ResultEncoder({ name: 'a', version: '1' }, { ttlMs: 60_000, scope: 'public' });
    expect(read(cached.discover([], NONE))).toEqual({
      resultType: 'complete',
      supportedVersions: [],
      capabilities: {},
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { [META_SERVER]: { name: 'a', version: '1' } },
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

  it.each(REVISIONS)('S-190: has in %s the schemas that are made for it', (revision) => {
    const isModern = revision === '2026-07-28';
    const inputSchema = { type: 'object', properties: { a: { 'x-mcp-header': 'A' } } };
    const legacyInputSchema = { type: 'object', properties: { a: {} } };
    const outputSchema = { type: 'array' };
    const legacyOutputSchema = { type: 'object', properties: { result: outputSchema }, required: ['result'] };
    expect(schemasOf({ inputSchema, legacyInputSchema, outputSchema, legacyOutputSchema }, revision)).toEqual(
      {
        inputSchema: isModern ? inputSchema : legacyInputSchema,
        outputSchema: isModern ? outputSchema : revision >= '2025-06-18' ? legacyOutputSchema : undefined,
      },
    );
  });

  it('has no boolean as the schema of a property before 2026-07-28, whose clients would refuse the list', () => {
    const schema = { type: 'object', properties: { a: true, b: false, c: {} }, additionalProperties: false };
    const more = {
      inputSchema: schema,
      legacyInputSchema: schema,
      outputSchema: schema,
      legacyOutputSchema: schema,
    };
    const legacy = { ...schema, properties: { a: {}, b: { not: {} }, c: {} } };
    expect(schemasOf(more, '2026-07-28')).toEqual({ inputSchema: schema, outputSchema: schema });
    expect(schemasOf(more, '2025-11-25')).toEqual({ inputSchema: legacy, outputSchema: legacy });
  });

  it('has no member without a value', () => {
    const schema = { type: 'object' };
    const plain = { name: 'a', inputSchema: schema, legacyInputSchema: schema, annotations };
    expect(Object.keys(read(encoder.tool(plain, '2026-07-28')))).toEqual([
      'name',
      'inputSchema',
      'annotations',
    ]);
    expect(read(encoder.tool(plain, '2025-03-26'))['annotations']).toEqual(annotations);
  });
});

describe('a listed resource', () => {
  const lastModified = '2026-01-02T03:04:05Z';
  const resource: ResourceDescriptor = {
    uri: 'ticket://1',
    isTemplate: false,
    name: 'ticket',
    title: 'Ticket',
    description: 'The first',
    icons,
    mimeType: 'application/json',
    size: 12,
    annotations: { audience: ['user'], priority: 0.5, lastModified },
    meta: { 'example.com/x': 1 },
  };
  const old = {
    name: 'ticket',
    description: 'The first',
    mimeType: 'application/json',
    annotations: { audience: ['user'], priority: 0.5 },
  };
  const titled = {
    ...old,
    title: 'Ticket',
    annotations: { ...old.annotations, lastModified },
    _meta: { 'example.com/x': 1 },
  };

  it.each([
    ['2024-11-05', old],
    ['2025-03-26', old],
    ['2025-06-18', titled],
    ['2025-11-25', { ...titled, icons }],
    ['2026-07-28', { ...titled, icons }],
  ] as [McpRevision, object][])('S-190: has in %s only what that revision knows', (revision, item) => {
    expect(read(encoder.resource(resource, revision))).toEqual({ uri: 'ticket://1', size: 12, ...item });
    const template = { ...resource, uri: 'ticket://{id}', isTemplate: true };
    expect(read(encoder.resource(template, revision))).toEqual({ uriTemplate: 'ticket://{id}', ...item });
  });

  it.each(REVISIONS)('has in %s no member without a value', (revision) => {
    const plain = { uri: 'a:b', isTemplate: false, name: 'a', annotations: {}, size: 0 };
    expect(read(encoder.resource(plain, revision))).toEqual({
      uri: 'a:b',
      name: 'a',
      annotations: {},
      size: 0,
    });
    expect(
      Object.keys(read(encoder.resource({ uri: 'a:b', isTemplate: false, name: 'a' }, revision))),
    ).toEqual(['uri', 'name']);
  });
});

describe('a listed prompt', () => {
  const prompt: PromptDescriptor = {
    name: 'triage',
    title: 'Triage',
    description: 'Sorts',
    icons,
    arguments: [
      { name: 'ticket', title: 'Ticket', description: 'Which', required: true },
      { name: 'tone', required: false },
    ],
    meta: { 'example.com/x': 1 },
  };
  const old = {
    name: 'triage',
    description: 'Sorts',
    arguments: [
      { name: 'ticket', description: 'Which', required: true },
      { name: 'tone', required: false },
    ],
  };
  const titled = {
    ...old,
    title: 'Triage',
    arguments: [{ ...old.arguments[0], title: 'Ticket' }, old.arguments[1]],
    _meta: { 'example.com/x': 1 },
  };

  it.each([
    ['2024-11-05', old],
    ['2025-03-26', old],
    ['2025-06-18', titled],
    ['2025-11-25', { ...titled, icons }],
    ['2026-07-28', { ...titled, icons }],
  ] as [McpRevision, object][])('S-190: has in %s only what that revision knows', (revision, item) => {
    expect(read(encoder.prompt(prompt, revision))).toEqual(item);
  });

  it.each(REVISIONS)('has in %s no list of arguments where there are none', (revision) => {
    expect(Object.keys(read(encoder.prompt({ name: 'a', arguments: [] }, revision)))).toEqual(['name']);
  });
});

const MEMBERS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;

describe.each(MEMBERS)('a page of %s', (member) => {
  it.each(LEGACY)('S-190: has in %s neither hints nor result type', (revision) => {
    expect(read(encoder.page(member, { items: '{"name":"a"}', next: 'c"' }, revision))).toEqual({
      [member]: [{ name: 'a' }],
      nextCursor: 'c"',
    });
    expect(read(encoder.page(member, { items: '', next: undefined }, revision))).toEqual({ [member]: [] });
  });

  it('S-009, S-115: has both in 2026-07-28', () => {
    expect(read(encoder.page(member, { items: '', next: 'c' }, '2026-07-28'))).toEqual({
      resultType: 'complete',
      [member]: [],
      nextCursor: 'c',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: MODERN_META,
    });
  });

  it('S-116: has the same scope as every other page', () => {
    const cached = new ResultEncoder(server, { ttlMs: 5, scope: 'public' });
    for (const next of ['c', undefined])
      expect(read(cached.page(member, { items: '', next }, '2026-07-28'))).toMatchObject({
        ttlMs: 5,
        cacheScope: 'public',
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

  it.each(REVISIONS)(
    'S-190: has in %s structured content that is no object as that revision can',
    (revision) => {
      const structuredContent = revision === '2026-07-28' ? [1] : { result: [1] };
      const { content, structuredContent: found } = read(encoder.toolResult(list, revision));
      expect(content).toEqual([]);
      expect(found).toEqual(revision >= '2025-06-18' ? structuredContent : undefined);
    },
  );

  it.each(['null', '0', 'false', '""'])('has the structured content %s, for it is some', (structured) => {
    const result = { content: [], structured, structuredIsObject: false };
    expect(encoder.toolResult(result, '2026-07-28')).toContain(`"structuredContent":${structured},`);
    expect(encoder.toolResult(result, '2025-11-25')).toContain(
      `"structuredContent":{"result":${structured}}`,
    );
  });

  it.each(REVISIONS)('S-190: has in %s blocks of that revision', (revision) => {
    const link: ContentBlock = { type: 'resource_link', uri: 'a:b', name: 'A', icons };
    const { icons: _none, ...bare } = link;
    const titled = revision >= '2025-11-25' ? link : bare;
    const expected = revision <= '2025-03-26' ? { type: 'text', text: 'A: a:b' } : titled;
    expect(read(encoder.toolResult({ content: [link] }, revision))['content']).toEqual([expected]);
    expect(
      read(encoder.promptResult({ messages: [{ role: 'user', content: link }] }, revision))['messages'],
    ).toEqual([{ role: 'user', content: expected }]);
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

describe('what was read of a resource', () => {
  const contents = [
    { uri: 'a:b', mimeType: 'text/plain', text: 'x', _meta: { 'example.com/y': 2 } },
    { uri: 'a:c', blob: 'AA==' },
  ];
  const bare = [{ uri: 'a:b', mimeType: 'text/plain', text: 'x' }, contents[1]];
  const meta = { 'example.com/x': 1 };
  const cache = { ttlMs: 60_000, scope: 'public' } as const;

  it.each(LEGACY)('S-190: has in %s only the members of that revision', (revision) => {
    expect(read(encoder.readResult({ contents, meta }, revision, cache))).toEqual({
      contents: revision >= '2025-06-18' ? contents : bare,
      _meta: meta,
    });
    expect(read(encoder.readResult({ contents: [] }, revision, cache))).toEqual({ contents: [] });
  });

  it("S-009, S-115: has the resource's own cache hints in 2026-07-28", () => {
    expect(read(encoder.readResult({ contents, meta }, '2026-07-28', cache))).toEqual({
      resultType: 'complete',
      contents,
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { ...meta, ...MODERN_META },
    });
  });
});

describe('a prompt with its arguments filled in', () => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
  const meta = { 'example.com/x': 1 };

  it.each(LEGACY)('S-190: has in %s only the members of that revision', (revision) => {
    expect(read(encoder.promptResult({ description: 'A "greeting"', messages, meta }, revision))).toEqual({
      description: 'A "greeting"',
      messages,
      _meta: meta,
    });
    expect(read(encoder.promptResult({ messages: [] }, revision))).toEqual({ messages: [] });
  });

  it('S-009, S-115: has a result type and no cache hints in 2026-07-28', () => {
    expect(read(encoder.promptResult({ messages }, '2026-07-28'))).toEqual({
      resultType: 'complete',
      messages,
      _meta: MODERN_META,
    });
  });
});

describe('values that complete an argument', () => {
  it.each(REVISIONS)('S-112, S-115: are in %s what was found and no more', (revision) => {
    const modern = revision === '2026-07-28' ? { resultType: 'complete', _meta: MODERN_META } : {};
    expect(
      read(encoder.completionResult({ values: ['a', 'b'], total: 150, hasMore: true }, revision)),
    ).toEqual({
      completion: { values: ['a', 'b'], total: 150, hasMore: true },
      ...modern,
    });
    expect(read(encoder.completionResult({ values: [], hasMore: false }, revision))).toEqual({
      completion: { values: [], hasMore: false },
      ...modern,
    });
  });
});

describe('the result of a call whose client is asked', () => {
  const form = {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which "seat"?',
      requestedSchema: { type: 'object', properties: { seat: { type: 'string', enum: ['A', 'B'] } } },
    },
  };
  const requests = {
    seat: form,
    'elicitation-2': {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Pay', url: 'https://example.com/' },
    },
    'sampling-1': {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 },
    },
    'roots-1': { method: 'roots/list' },
  };
  const json = encoder.inputRequired(requests, 'a-sealed_state');

  it('S-009, S-131: has a result type, what is asked, the state, and the name of the server', () => {
    expect(read(json)).toEqual({
      resultType: 'input_required',
      inputRequests: requests,
      requestState: 'a-sealed_state',
      _meta: MODERN_META,
    });
  });

  const directory = process.env['MCP_SCHEMA_DIR'];
  if (!directory) {
    process.stderr.write(
      'MCP_SCHEMA_DIR is not set: input_required is not checked against the official schema\n',
    );
  }

  it('S-130, S-132: is what the official schema takes, as the answer of the three methods that may ask', () => {
    if (!directory) return;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(JSON.parse(readFileSync(join(directory, '2026-07-28.json'), 'utf8')) as object, 'official');
    const faults = (name: string, value: unknown) => {
      const validate = ajv.compile({ $ref: `official#/$defs/${name}` });
      return validate(value) ? [] : validate.errors;
    };
    expect(faults('InputRequiredResult', read(json))).toEqual([]);
    const response = { jsonrpc: '2.0', id: 1, result: read(json) };
    for (const method of ['CallTool', 'GetPrompt', 'ReadResource'])
      expect(faults(`${method}ResultResponse`, response)).toEqual([]);
    const odd = read(encoder.inputRequired({ a: { method: 'ping' } }, 's'));
    expect(faults('InputRequiredResult', odd)).not.toEqual([]);
  });
});

describe('an empty result', () => {
  it.each(REVISIONS)('S-009, S-190: of %s is as empty as that revision lets it be', (revision) => {
    expect(read(encoder.emptyResult(revision))).toEqual(
      revision === '2026-07-28' ? { resultType: 'complete', _meta: MODERN_META } : {},
    );
  });
});

describe('the end of a subscription', () => {
  it.each(['7', '"7"', '9007199254740993', '"a\\u0062"'])(
    'S-009, S-120: names it by the id %s as it was sent',
    (token) => {
      const json = encoder.subscriptionResult(readId(token)!);
      expect(json).toContain(`"${META_SUBSCRIPTION}":${token},`);
      expect(read(json)).toEqual({
        resultType: 'complete',
        _meta: { [META_SUBSCRIPTION]: JSON.parse(token) as unknown, ...MODERN_META },
      });
    },
  );
});

describe('_meta of a result', () => {
  const meta = { [META_SERVER]: { name: 'evil' }, 'example.com/x': 1 };

  it.each(LEGACY)('S-190: has in %s no name of a server, though a handler gave one', (revision) => {
    const cache = { ttlMs: 0, scope: 'private' } as const;
    for (const given of [meta, { [META_SERVER]: {} }]) {
      const left = given === meta ? { 'example.com/x': 1 } : undefined;
      expect(read(encoder.toolResult({ content: [], meta: given }, revision))['_meta']).toEqual(left);
      expect(read(encoder.promptResult({ messages: [], meta: given }, revision))['_meta']).toEqual(left);
      expect(read(encoder.readResult({ contents: [], meta: given }, revision, cache))['_meta']).toEqual(left);
    }
  });
});

describe('the root of a schema', () => {
  it.each([
    [{ type: 'object' }, true],
    [{ type: ['object'] }, false],
    [{ anyOf: [{ type: 'object' }] }, false],
    [{}, false],
  ])('of %j is of objects: %p', (schema, expected) => {
    expect(hasObjectRoot(schema)).toBe(expected);
  });
});

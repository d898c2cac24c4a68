import 'reflect-metadata';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSchemaOf } from 'nest-mcp';
import { dtoSchemaPlan } from '../../libs/mcp/src/schema/dto/dto-schema.factory.js';
import { startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { corpusModule, toolName } from './corpus-app.js';
import { CORPUS, ENTRIES } from './corpus/index.js';
import type { Json } from './corpus/entry.js';
import { strictAjv } from './judges.js';

/** ms; many calls on a busy machine. */
const TIMEOUT = 60_000;

const SNAPSHOTS = join(process.cwd(), 'test/schema/snapshots');
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'not', 'propertyNames', 'contains', 'if', 'then', 'else'];
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'dependentSchemas'];

/** Every schema published for the corpus, by what it is. */
const published = ENTRIES.flatMap(({ name, dto }): [string, Json][] => {
  const output = outputOf(dto);
  return [
    [`${name} (input)`, jsonSchemaOf(dto)],
    ...(output ? [[`${name} (output)`, output] as [string, Json]] : []),
  ];
});

// A DTO without one known member would take everything out of a result, and is refused as an output.
function outputOf(dto: Parameters<typeof jsonSchemaOf>[0]): Json | undefined {
  try {
    return dtoSchemaPlan(dto, { direction: 'output' }).schema;
  } catch {
    return undefined;
  }
}

function* subschemas(schema: unknown, path = '#'): Generator<[string, unknown]> {
  yield [path, schema];
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Json;
  for (const keyword of ONE) if (keyword in node) yield* subschemas(node[keyword], `${path}/${keyword}`);
  for (const keyword of MANY)
    for (const [index, branch] of ((node[keyword] ?? []) as unknown[]).entries())
      yield* subschemas(branch, `${path}/${keyword}/${index}`);
  for (const keyword of NAMED)
    for (const [name, member] of Object.entries((node[keyword] ?? {}) as Json))
      yield* subschemas(member, `${path}/${keyword}/${name}`);
}

/** What clients that forward schemas to a model are known to refuse, and what no schema may have. */
function faultsOf(root: Json): string[] {
  const faults: string[] = [];
  if (root['type'] !== 'object') faults.push('the root is no object');
  for (const union of ['anyOf', 'oneOf', 'allOf', '$ref'])
    if (union in root) faults.push(`${union} at the root`);
  for (const [path, schema] of subschemas(root)) {
    if (typeof schema === 'boolean') {
      if (!path.endsWith('/additionalProperties')) faults.push(`${path} is a boolean`);
      continue;
    }
    const node = schema as Json;
    if (Array.isArray(node['type'])) faults.push(`${path} has a list of types`);
    if ('const' in node) faults.push(`${path} has a const`);
    if ('nullable' in node) faults.push(`${path} is nullable, which is no JSON Schema`);
    if (node['type'] === 'array' && !('items' in node) && !('prefixItems' in node))
      faults.push(`${path} has no items`);
    if (node['type'] === 'object' && 'properties' in node && !('additionalProperties' in node))
      faults.push(`${path} is open`);
    const reference = node['$ref'] as string | undefined;
    if (reference === undefined) continue;
    const [, name] = /^#\/\$defs\/([\w.-]+)$/.exec(reference) ?? [];
    if (name === undefined || !((root['$defs'] ?? {}) as Json)[name])
      faults.push(`${path} refers to nothing: ${reference}`);
    const beside = Object.keys(node).filter(
      (keyword) => !['$ref', 'description', 'title', 'default', 'deprecated', 'examples'].includes(keyword),
    );
    if (beside.length > 0) faults.push(`${path} has ${beside.join()} beside a reference`);
  }
  return faults;
}

describe('a published schema', () => {
  const ajv = strictAjv();

  it('is one of enough', () => {
    expect(published.length).toBeGreaterThan(ENTRIES.length * 1.5);
  });

  it.each(published)(
    '%s: is sound, closed, frozen, and has nothing that clients stumble over',
    (_, schema) => {
      expect({ isValid: ajv.validateSchema(schema), errors: ajv.errors ?? [] }).toEqual({
        isValid: true,
        errors: [],
      });
      expect(() => ajv.compile(schema)).not.toThrow();
      expect(faultsOf(schema)).toEqual([]);
      expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
      expect([...subschemas(schema)].filter(([, part]) => !Object.isFrozen(part))).toEqual([]);
    },
  );
});

describe('the schemas of the corpus', () => {
  it.each(Object.entries(CORPUS))('%s: are as they were', async (file, entries) => {
    const views = entries.map(({ name, dto }) => {
      const [input, output] = [jsonSchemaOf(dto) as Json, outputOf(dto)];
      const isSame = JSON.stringify(input) === JSON.stringify(output);
      return [name, { input, ...(isSame ? {} : { output: output ?? 'refused: no member' }) }];
    });
    const now = Object.fromEntries(views);
    const path = join(SNAPSHOTS, `${file}.json`);
    if (process.env['UPDATE_SCHEMAS']) {
      const { format } = await import('prettier');
      mkdirSync(SNAPSHOTS, { recursive: true });
      writeFileSync(path, await format(JSON.stringify(now), { parser: 'json', printWidth: 110 }));
    }
    // Written anew with UPDATE_SCHEMAS=1.
    expect(existsSync(path)).toBe(true);
    const before: unknown = JSON.parse(readFileSync(path, 'utf8'));
    expect(now).toEqual(before);
    // In the same order as well.
    expect(JSON.stringify(now)).toBe(JSON.stringify(before));
  });
});

describe('official clients', () => {
  const traffic = new Traffic();
  /** Every client lists all of them; each calls a part, as it compiles every schema anew. */
  const called = ENTRIES.filter(({ dto, accepts }) => accepts.length > 0 && outputOf(dto));
  const part = (remainder: number) => called.filter((_, index) => index % 3 === remainder);
  let running: RunningApp;

  beforeAll(async () => {
    const module = corpusModule(
      ENTRIES,
      ({ dto }) => ({ input: dto, ...(outputOf(dto) ? { output: dto } : {}) }),
      (args) => args,
    );
    running = await startApp(module);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  const expected = () => ENTRIES.map(({ dto, ...entry }) => [toolName({ dto, ...entry }), jsonSchemaOf(dto)]);

  /** Follows the pages of the list. */
  async function allTools<T>(
    list: (cursor?: string) => Promise<{ tools: T[]; nextCursor?: string | undefined }>,
  ) {
    const tools: T[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(cursor);
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  }

  it.each([
    ['auto', 0],
    ['legacy', 1],
  ] as const)(
    'v2, %s: lists every tool of the corpus, and calls them',
    async (mode, remainder) => {
      const client = await connectV2(running.mcp, mode, traffic);
      const tools = await allTools((cursor) => client.listTools(cursor === undefined ? {} : { cursor }));
      expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual(expected());
      for (const entry of part(remainder)) {
        const result = await client.callTool({ name: toolName(entry), arguments: entry.accepts[0]! });
        expect([entry.name, result.isError ?? false, result.content]).toEqual([
          entry.name,
          false,
          expect.any(Array),
        ]);
      }
      await client.close();
    },
    TIMEOUT,
  );

  it(
    'v1: lists every tool of the corpus, and calls them',
    async () => {
      const client = await connectV1(running.mcp, traffic);
      const tools = await allTools((cursor) => client.listTools(cursor === undefined ? {} : { cursor }));
      expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual(expected());
      for (const entry of part(2)) {
        const result = await client.callTool({ name: toolName(entry), arguments: entry.accepts[0]! });
        expect([entry.name, result.isError ?? false]).toEqual([entry.name, false]);
      }
      await client.close();
    },
    TIMEOUT,
  );
});

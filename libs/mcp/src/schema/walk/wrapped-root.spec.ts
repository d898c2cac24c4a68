import { compileSchema } from '../check/schema-compiler.js';
import { withPlainReferences } from '../foreign/dynamic-references.js';
import { freezeSchema, type JsonSchema } from '../json-schema.js';
import { wrapRoot } from './wrapped-root.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const NEWEST = 'https://json-schema.org/draft/2020-12/schema';

const tree = {
  type: 'object',
  properties: { n: { type: 'integer' }, child: { $ref: '#' } },
  required: ['n'],
};

const SCHEMAS: JsonSchema[] = [
  {},
  { type: 'integer', minimum: 1 },
  { type: 'array', items: { type: 'string' } },
  { $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } },
  { $ref: '#/%24defs/n', $defs: { n: { type: 'integer' } } },
  { $schema: NEWEST, type: ['string', 'null'] },
  { $schema: DRAFT_7, $ref: '#/definitions/n', minimum: 9, definitions: { n: { type: 'integer' } } },
  { $schema: DRAFT_7, type: 'array', items: [{ type: 'integer' }, { $ref: '#/items/0' }] },
  { $schema: DRAFT_7, definitions: { a: { $id: '#a', type: 'integer' } }, anyOf: [{ $ref: '#a' }] },
  { type: 'array', prefixItems: [{ type: 'integer' }], items: { $ref: '#/prefixItems/0' } },
  { type: 'array', items: { anyOf: [{ type: 'integer' }, { $ref: '#' }] } },
  { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }] },
  {
    anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }],
    $defs: { tree: { ...tree, properties: { n: {}, child: { $ref: '#' } } } },
  },
  { anyOf: [tree, { type: 'array' }] },
  {
    oneOf: [
      { $anchor: 'n', type: 'integer' },
      { type: 'array', items: { $ref: '#n' } },
    ],
  },
  { anyOf: [{ $ref: '#n' }, { type: 'null' }], $defs: { x: { $anchor: 'n', type: 'integer' } } },
  {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        $dynamicAnchor: 'node',
        anyOf: [{ type: 'integer' }, { type: 'array', items: { $dynamicRef: '#node' } }],
      },
    },
  },
  { anyOf: [{ type: 'integer' }, { type: 'array', items: { $dynamicRef: '#/anyOf/0' } }] },
  {
    $id: 'https://example.com/list',
    $schema: NEWEST,
    anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#' } }],
  },
  { $id: 'https://example.com/n', allOf: [{ $ref: '#/$defs/n' }], $defs: { n: { type: 'integer' } } },
  { $id: 'https://example.com/n', anyOf: [{ type: 'string' }, { $ref: 'n#/anyOf/0' }] },
  {
    $schema: DRAFT_7,
    $id: 'https://example.com/d7',
    type: 'array',
    items: [{ type: 'integer' }, { $ref: '#/items/0' }],
  },
  {
    anyOf: [{ $ref: 'https://example.com/inner' }, { $ref: '#/$defs/inner/$defs/t' }],
    $defs: {
      inner: {
        $id: 'https://example.com/inner',
        anyOf: [{ $ref: '#/$defs/n' }, { type: 'array', items: { $ref: '#' } }],
        $defs: { n: { type: 'integer' }, t: { type: 'string' } },
      },
    },
  },
  {
    $ref: '#/components/n',
    components: { n: { anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#/components/n' } }] } },
  },
  { enum: [{ $ref: '#' }, 5, 'a'] },
  { const: { $ref: '#' } },
  {
    anyOf: [
      { type: 'object', properties: { $ref: { type: 'string' }, default: { $ref: '#/$defs/n' } } },
      { type: 'null' },
    ],
    $defs: { n: { type: 'integer' } },
  },
  {
    type: 'array',
    items: { properties: { 'a/b': { type: 'integer' }, c: { $ref: '#/items/properties/a~1b' } } },
  },
  {
    if: { type: 'array', minItems: 1, $defs: { n: { minimum: 2 } } },
    else: { $ref: '#/if/$defs/n', type: 'integer' },
  },
  { not: { $ref: '#/$defs/n' }, $defs: { n: { type: 'integer' } }, definitions: { s: { type: 'string' } } },
];

const VALUES: unknown[] = [
  null,
  true,
  5,
  1.5,
  'a',
  [],
  [1],
  [1, 2],
  [1, 'a'],
  ['a', 'b'],
  [[1], [[2], 'x']],
  {},
  { n: 1 },
  { n: 'x' },
  { n: 1, child: { n: 2, child: null } },
  { n: 1, child: { n: 2 } },
  { n: 1, child: 5 },
  { $ref: '#' },
  { $ref: 5 },
  { default: 1 },
  { default: 'x' },
  [{ 'a/b': 1, c: 2 }],
  [{ 'a/b': 1, c: 'x' }],
];

const verdicts = async (schema: JsonSchema, values: readonly unknown[]) => {
  const check = await compileSchema(withPlainReferences(schema));
  return values.map((value) => check(value) === null);
};

describe('wrapRoot', () => {
  it.each(SCHEMAS.map((schema) => [schema]))('asks of the result what %j asks', async (schema) => {
    freezeSchema(schema);
    const wrapped = wrapRoot(schema);
    const wanted = await verdicts(schema, VALUES);
    expect(
      await verdicts(
        wrapped,
        VALUES.map((result) => ({ result })),
      ),
    ).toEqual(wanted);
    expect(wrapped).toMatchObject({ type: 'object', required: ['result'] });
    expect(await verdicts(wrapped, [{}, { other: 1 }, 5])).toEqual([false, false, false]);
  });

  it('has schemas among these that take and refuse', async () => {
    const all = await Promise.all(SCHEMAS.slice(1).map((schema) => verdicts(schema, VALUES)));
    const oneSided = SCHEMAS.slice(1).filter((_, index) => new Set(all[index]).size === 1);
    expect(oneSided).toEqual([]);
  });

  it('leaves definitions and the dialect at the root', () => {
    const schema = {
      $schema: DRAFT_7,
      anyOf: [{ $ref: '#/definitions/n' }, { $ref: '#/anyOf/0' }],
      definitions: { n: { items: { $ref: '#' } } },
    };
    expect(wrapRoot(schema)).toEqual({
      $schema: DRAFT_7,
      type: 'object',
      properties: {
        result: { anyOf: [{ $ref: '#/definitions/n' }, { $ref: '#/properties/result/anyOf/0' }] },
      },
      required: ['result'],
      definitions: { n: { items: { $ref: '#/properties/result' } } },
    });
    expect(wrapRoot({ $anchor: 'a', items: { $ref: '#a' } }).properties).toEqual({
      result: { $anchor: 'a', items: { $ref: '#a' } },
    });
  });

  it('leaves a schema with an identifier as it is', () => {
    const schema = { $schema: NEWEST, $id: 'https://example.com/a', items: { $ref: '#' } };
    expect(wrapRoot(schema)).toEqual({
      $schema: NEWEST,
      type: 'object',
      properties: { result: schema },
      required: ['result'],
    });
  });

  it('keeps members whatever their names are', () => {
    const schema = JSON.parse('{"anyOf":[{"properties":{"__proto__":{"$ref":"#"}}}]}') as JsonSchema;
    expect(JSON.stringify(wrapRoot(schema))).toContain('{"__proto__":{"$ref":"#/properties/result"}}');
  });
});

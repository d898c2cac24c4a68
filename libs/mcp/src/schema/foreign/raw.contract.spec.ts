import 'reflect-metadata';
import type { ContractOptions } from '../arguments.contract.js';
import { argumentsContract } from '../contract.factory.js';
import type { JsonSchema } from '../json-schema.js';

type Raw = Record<string, unknown>;

async function call(schema: JsonSchema, raw: Raw, options?: ContractOptions): Promise<unknown> {
  const contract = await argumentsContract(schema, options);
  await contract.prepare();
  const taken = contract.withoutUnknown?.(raw) ?? raw;
  const issues = await contract.checkRaw(taken);
  return issues.length > 0 ? issues : await contract.instantiate(taken);
}

const boot = async (schema: unknown) => (await argumentsContract(schema as JsonSchema)).prepare();
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

describe('a JSON Schema as it stands', () => {
  it('is published unchanged, apart from the object that was given', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: ['string', 'null'], 'x-own': 1 } },
      anyOf: [{}],
    };
    const contract = await argumentsContract(schema);
    expect(contract.schema).toEqual(schema);
    expect(contract.schema).not.toBe(schema);
    expect(Object.isFrozen(contract.schema.properties)).toBe(true);
    expect(Object.isFrozen(schema)).toBe(false);
    schema.properties.a.type = [];
    expect(await call(contract.schema, { a: 'x' })).toEqual({ value: { a: 'x' } });
  });

  it('takes unknown members unless it says otherwise, and drops them where that is wished', async () => {
    const open = { type: 'object', properties: { a: {} } };
    const closed = { ...open, additionalProperties: false };
    expect(await call(open, { b: 1 })).toEqual({ value: { b: 1 } });
    expect(await call(closed, { b: 1 })).toEqual(['b: is not a known member (known: a)']);
    expect(await call(closed, { a: 1, b: 1 }, { unknownMembers: 'drop' })).toEqual({ value: { a: 1 } });
    expect((await argumentsContract(closed, { unknownMembers: 'drop' })).schema).toEqual(open);
  });

  it('drops unknown members only where the schema refuses them, and judges what is left as it stands', async () => {
    const drop = { unknownMembers: 'drop' } as const;
    const shape = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'integer' } },
      additionalProperties: false,
    });
    const either = { type: 'object', properties: { shape: { oneOf: [shape('r'), shape('w')] } } };
    expect(await call(either, { shape: { r: 1 } }, drop)).toEqual({ value: { shape: { r: 1 } } });
    expect(await call(either, { shape: { w: 1, x: 2 } }, drop)).toEqual({ value: { shape: { w: 1 } } });
    const { anyOf } = (
      (await argumentsContract(either, drop)).schema.properties as { shape: { anyOf: unknown } }
    ).shape;
    expect(anyOf).toEqual(
      ['r', 'w'].map((name) => ({ type: 'object', properties: { [name]: { type: 'integer' } } })),
    );
    const open = { type: 'object', oneOf: [{ additionalProperties: false }, {}] };
    expect(await call(open, { a: 1 }, drop)).toEqual({ value: { a: 1 } });
    const unevaluated = {
      type: 'object',
      anyOf: [{ additionalProperties: false }, { properties: { a: {} }, unevaluatedProperties: false }],
    };
    expect(await call(unevaluated, { a: 1 }, drop)).toEqual({ value: { a: 1 } });
  });

  it('refuses unknown members where they are not dropped: under conditions and dependencies', async () => {
    const known = { properties: { kind: {} }, additionalProperties: false };
    for (const rule of [
      { if: { properties: { kind: { const: 'b' } } }, else: known },
      { dependentSchemas: { kind: known } },
    ]) {
      const schema = { type: 'object', ...rule };
      const issues = ['junk: is not a known member (known: kind)'];
      expect(await call(schema, { kind: 'a', junk: 1 }, { unknownMembers: 'drop' })).toEqual(issues);
      expect((await argumentsContract(schema, { unknownMembers: 'drop' })).schema).toEqual(schema);
    }
  });

  it('B18: is judged by the dialect it declares', async () => {
    const tuple = { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] };
    const old = { $schema: DRAFT_07, type: 'object', properties: { pair: tuple } };
    for (const $schema of [
      DRAFT_07,
      'http://json-schema.org/draft-07/schema',
      'https://json-schema.org/draft-07/schema#',
    ])
      expect(await call({ ...old, $schema }, { pair: ['a', 'b'] })).toEqual(['pair[1]: must be an integer']);
    const { $schema: _, ...new2020 } = old;
    await expect(boot(new2020)).rejects.toMatchObject({
      name: 'InvalidSchemaException',
      message: expect.stringContaining('/properties/pair/items') as string,
    });
    const newer = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { pair: { prefixItems: [{ type: 'string' }] } },
    };
    expect(await call(newer, { pair: [1] })).toEqual(['pair[0]: must be a string']);
    expect((await argumentsContract(newer)).schema.$schema).toBe(newer.$schema);
  });

  it('ignores in draft-07 what stands beside a reference', async () => {
    const schema = {
      $schema: DRAFT_07,
      type: 'object',
      definitions: { a: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/a', maxLength: 1 } },
    };
    expect(await call(schema, { a: 'long' })).toEqual({ value: { a: 'long' } });
  });

  it('keeps schemas of the same $id apart', async () => {
    const one = (inner: JsonSchema) => ({
      $id: 'https://example.com/s',
      type: 'object',
      properties: { a: { $ref: 'inner' } },
      $defs: { inner: { $id: 'inner', ...inner } },
    });
    const text = await argumentsContract(one({ type: 'string' }));
    const number = await argumentsContract(one({ type: 'number' }));
    await Promise.all([text.prepare(), number.prepare()]);
    expect(await text.checkRaw({ a: 1 })).toEqual(['a: must be a string']);
    expect(await number.checkRaw({ a: 'x' })).toEqual(['a: must be a number']);
  });

  it.each<[string, JsonSchema]>([
    ['#', { type: 'object', properties: { n: { type: 'integer' }, next: { $ref: '#' } } }],
    [
      'an anchor',
      {
        type: 'object',
        properties: { next: { $ref: '#node' } },
        $defs: {
          n: {
            $anchor: 'node',
            type: 'object',
            properties: { n: { type: 'integer' }, next: { $ref: '#node' } },
          },
        },
      },
    ],
    [
      'a dynamic anchor',
      {
        type: 'object',
        properties: { next: { $dynamicRef: '#node' } },
        $defs: {
          n: {
            $dynamicAnchor: 'node',
            type: 'object',
            properties: { n: { type: 'integer' }, next: { $dynamicRef: '#node' } },
          },
        },
      },
    ],
  ])('B9: follows a recursion through %s', async (_, schema) => {
    expect(await call(schema, { next: { next: { n: 'x' } } })).toEqual(['next.next.n: must be an integer']);
    expect(await call(schema, { next: { next: { n: 1 } } })).toHaveProperty('value');
  });

  it('has the field x-mcp-header and enumNames as words of its own, and formats as advice', async () => {
    const schema = {
      type: 'object',
      properties: {
        region: {
          type: 'string',
          enum: ['eu', 'us'],
          enumNames: ['Europe', 'America'],
          'x-mcp-header': 'Region',
        },
        mail: { type: 'string', format: 'email' },
      },
    };
    expect(await call(schema, { region: 'eu', mail: 'no address' })).toHaveProperty('value');
    expect(await call(schema, { region: 'xx' })).toEqual(['region: must be one of "eu", "us"']);
  });

  it('C8: names a required field when there are no arguments', async () => {
    expect(await call({ type: 'object', properties: { a: {} }, required: ['a'] }, {})).toEqual([
      'a: is required',
    ]);
    const none = await argumentsContract(undefined);
    await none.prepare();
    expect(none.schema).toEqual({ type: 'object', additionalProperties: false });
    expect(await none.checkRaw({})).toEqual([]);
    expect(await none.checkRaw({ a: 1 })).toEqual(['a: is not a known member (none is known here)']);
    const dropping = await argumentsContract(undefined, { unknownMembers: 'drop' });
    expect([dropping.schema, dropping.withoutUnknown?.({ a: 1 }), await dropping.checkRaw({})]).toEqual([
      { type: 'object' },
      {},
      [],
    ]);
  });
});

describe('a JSON Schema that is refused at boot', () => {
  const circular: Raw = { type: 'object' };
  circular.properties = circular;

  it.each<[string, unknown, string, RegExp]>([
    [
      'an unknown dialect',
      { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
      'UnknownDialectException',
      /draft-04.*2020-12.*draft-07/,
    ],
    ['a dialect that is no text', { $schema: 7, type: 'object' }, 'UnknownDialectException', /"\$schema": 7/],
    ['no type', {}, 'SchemaRootException', /has no "type"; write "type": "object"/],
    ['another root', { type: 'array' }, 'SchemaRootException', /"type": "array"/],
    [
      'a misspelt type',
      { type: 'object', properties: { a: { type: 'strnig' } } },
      'InvalidSchemaException',
      /\/properties\/a\/type must be one of "array", .*"string"/,
    ],
    [
      'a bad bound',
      { type: 'object', properties: { a: { minLength: -1 } } },
      'InvalidSchemaException',
      /\/properties\/a\/minLength must be >= 0/,
    ],
    [
      'a bad pattern',
      { type: 'object', properties: { a: { pattern: '(' } } },
      'InvalidSchemaException',
      /Unterminated group/,
    ],
    [
      'a dangling reference',
      { type: 'object', properties: { a: { $ref: '#/$defs/x' } } },
      'InvalidSchemaException',
      /"#\/\$defs\/x" leads nowhere.*\$defs/,
    ],
    [
      'a remote reference',
      { type: 'object', properties: { a: { $ref: 'https://example.com/s.json' } } },
      'InvalidSchemaException',
      /example\.com.*nothing is ever fetched/,
    ],
    [
      'a reference to a meta-schema',
      { type: 'object', properties: { a: { $ref: 'https://json-schema.org/draft/2020-12/schema' } } },
      'InvalidSchemaException',
      /leads nowhere/,
    ],
    [
      'OpenAPI',
      { type: 'object', properties: { a: { type: 'string', nullable: true } } },
      'InvalidSchemaException',
      /#\/properties\/a\/nullable is OpenAPI/,
    ],
    ['$async', { $async: true, type: 'object' }, 'InvalidSchemaException', /#\/\$async/],
    [
      'a header that is no text',
      { type: 'object', properties: { a: { 'x-mcp-header': 1 } } },
      'InvalidSchemaException',
      /x-mcp-header.*properties\/a.*string/,
    ],
    [
      'names that are no texts',
      { type: 'object', properties: { a: { enum: [1], enumNames: [1] } } },
      'InvalidSchemaException',
      /enumNames.*string/,
    ],
    [
      'a reserved name',
      { type: 'object', properties: { toString: {} } },
      'InvalidSchemaException',
      /toString.*rename/,
    ],
    [
      'a reserved name from JSON',
      JSON.parse('{"type":"object","properties":{"__proto__":{}}}'),
      'InvalidSchemaException',
      /__proto__/,
    ],
    ['itself', circular, 'InvalidSchemaException', /is no JSON/],
    ['a bigint', { type: 'object', default: 1n }, 'InvalidSchemaException', /is no JSON/],
    [
      'a reference to itself',
      { type: 'object', allOf: [{ $ref: '#' }] },
      'InvalidSchemaException',
      /^[^#]*# leads back to itself/,
    ],
    [
      'a circle of references',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } },
      },
      'InvalidSchemaException',
      /#\/\$defs\/a leads back to itself/,
    ],
    [
      'dynamic references over several resources',
      { type: 'object', properties: { a: { $id: 'https://a.b/c', $dynamicRef: '#x' } } },
      'InvalidSchemaException',
      /\$dynamicRef/,
    ],
  ])('%s', async (_, schema, name, message) => {
    await expect(boot(schema)).rejects.toMatchObject({
      name,
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('hostile arguments', () => {
  const open = {
    type: 'object',
    properties: { list: { type: 'array', uniqueItems: true }, n: { type: 'number', maximum: 5 } },
  };
  const nested = (depth: number) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = { a: value };
    return { a: value };
  };

  it.each<[string, Raw, unknown]>([
    ['nesting of 64', nested(63), { value: nested(63) }],
    ['nesting beyond', nested(100_000), [expect.stringMatching(/is nested deeper than 64 levels$/)]],
    ['huge numbers', { n: 1e308 }, ['n: must be at most 5']],
    ['infinite numbers', JSON.parse('{"n":1e400}') as Raw, [expect.stringMatching(/^n: must be/)]],
    [
      'lone surrogates',
      { '\ud800': 1, list: ['\ud800', '\ud800'] },
      ['list: must not contain the same item twice'],
    ],
    [
      'equal objects',
      {
        list: [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      },
      ['list: must not contain the same item twice'],
    ],
    [
      'values that only look equal',
      { list: [1, '1', true, 'true', null, 'null', [1], '[1]', {}, '{}', -0] },
      expect.objectContaining({ value: expect.anything() }),
    ],
    [
      'inherited names',
      JSON.parse('{"a":{"constructor":1}}') as Raw,
      ['a.constructor: is not an allowed member name'],
    ],
  ])('with %s', async (_, raw, outcome) => {
    expect(await call(open, raw)).toEqual(outcome);
    expect(({} as Raw).polluted).toBeUndefined();
  });

  it('stay quick on many items that have to differ', async () => {
    const contract = await argumentsContract(open);
    await contract.prepare();
    const list = Array.from({ length: 30_000 }, (_, index) => ({ index }));
    const started = performance.now();
    expect(await contract.checkRaw({ list })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('do not make alternatives that lead back to themselves run for ever', async () => {
    const variant = (kind: string) => ({
      type: 'object',
      properties: { child: { $ref: '#/$defs/node' }, kind: { enum: [kind] } },
      required: ['kind'],
    });
    const schema = {
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      $defs: { node: { anyOf: [variant('a'), variant('b')] } },
    };
    let node: Raw = { kind: 'b' };
    for (let depth = 0; depth < 10; depth += 1) node = { kind: 'b', child: node };
    expect(await call(schema, { root: node })).toHaveProperty('value');
    for (let depth = 0; depth < 50; depth += 1) node = { kind: 'b', child: node };
    expect(await call(schema, { root: node })).toEqual([
      'arguments: has too many combinations of alternatives to be checked; nest it less deeply',
    ]);
    expect(await call(schema, { root: { kind: 'c' } })).toEqual(['root.kind: must be one of "a", "b"']);
    expect(
      await call({ ...schema, additionalProperties: false }, { root: node }, { unknownMembers: 'drop' }),
    ).toHaveLength(1);
  });
});

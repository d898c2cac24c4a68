import 'reflect-metadata';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { IsNumber } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { ContractOptions } from '../arguments.contract.js';
import { McpProperty } from '../../decorators/property.decorator.js';
import { argumentsContract } from '../contract.factory.js';
import type { JsonSchema } from '../json-schema.js';
import { outputContract } from '../output.contract.js';
import type { McpSchema } from '../schema-kind.js';
import { portable, standardJsonSchema } from './standard-json-schema.js';
import { withoutPatterns } from './unsaid-patterns.js';

type Raw = Record<string, unknown>;

/** What a call with these arguments comes to: the handler's value, or the issues. */
async function call(schema: McpSchema, raw: Raw, options?: ContractOptions): Promise<unknown> {
  const contract = await argumentsContract(schema, options);
  await contract.prepare();
  const taken = contract.withoutUnknown?.(raw) ?? raw;
  const issues = await contract.checkRaw(taken);
  return issues.length > 0 ? issues : await contract.instantiate(taken);
}

const parsed = (text: string) => JSON.parse(text) as Raw;

/** One contract in each library: a text of at least two characters, an optional page with a default, a union with null. */
const LIBRARIES: [string, StandardSchemaV1][] = [
  [
    'zod 4',
    z.object({
      name: z.string().min(2),
      page: z.int().min(1).max(50).default(1),
      level: z.enum(['low', 'high']).nullable(),
    }),
  ],
  [
    'valibot',
    v.object({
      name: v.pipe(v.string(), v.minLength(2)),
      page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)), 1),
      level: v.nullable(v.picklist(['low', 'high'])),
    }),
  ],
  ['arktype', type({ name: 'string>1', page: '1<=number.integer<=50=1', level: "'low'|'high'|null" })],
];

describe.each(LIBRARIES)('a schema of %s', (_, schema) => {
  it('is published as JSON Schema 2020-12, closed, without what some models refuse, and frozen', async () => {
    const { schema: published, dto } = await argumentsContract(schema);
    expect(dto).toBeUndefined();
    expect(published).toMatchObject({
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 2 },
        page: { type: 'integer', minimum: 1, maximum: 50 },
      },
      additionalProperties: false,
    });
    expect((published.required as string[]).toSorted()).toEqual(['level', 'name']);
    const text = JSON.stringify(published);
    expect(text).not.toMatch(/"\$schema"|"const"|"type":\[/);
    expect(Object.isFrozen((published.properties as Raw).name)).toBe(true);
  });

  it('gives the handler what the library makes of the arguments', async () => {
    expect(await call(schema, { name: 'Ada', level: null })).toEqual({
      value: { name: 'Ada', page: 1, level: null },
    });
  });

  it('C9: names each field and rule', async () => {
    expect((await call(schema, { name: 'a', page: 99, level: 'mid' })) as string[]).toEqual(
      expect.arrayContaining([
        'name: must have at least 2 characters',
        'page: must be at most 50',
        expect.stringMatching(/^level: must be one of ("low", "high"|"high", "low"), null$/),
      ]),
    );
    expect(await call(schema, { level: 'low' })).toEqual(['name: is required']);
  });

  it('refuses unknown members by name, or drops them', async () => {
    const raw = { name: 'Ada', level: 'low', nmae: 'x' };
    expect(await call(schema, raw)).toEqual([
      expect.stringMatching(/^nmae: is not a known member \(known: /) as string,
    ]);
    expect(await call(schema, raw, { unknownMembers: 'drop' })).toEqual({
      value: { name: 'Ada', page: 1, level: 'low' },
    });
    const { schema: published } = await argumentsContract(schema, { unknownMembers: 'drop' });
    expect(JSON.stringify(published)).not.toContain('additionalProperties');
    expect(raw.nmae).toBe('x');
  });

  it('refuses what no schema may let through', async () => {
    expect(await call(schema, parsed('{"__proto__":{"polluted":1}}'))).toEqual([
      '__proto__: is not an allowed member name',
    ]);
    expect(({} as Raw).polluted).toBeUndefined();
  });
});

describe('the rules that only the library knows', () => {
  it.each<[string, StandardSchemaV1]>([
    ['zod', z.object({ a: z.string().refine((text) => text === text.toUpperCase(), 'must be in capitals') })],
    [
      'zod, asynchronously',
      z.object({ a: z.string().refine(async (text) => text === text.toUpperCase(), 'must be in capitals') }),
    ],
    [
      'valibot',
      v.object({
        a: v.pipe(
          v.string(),
          v.check((text) => text === text.toUpperCase(), 'must be in capitals'),
        ),
      }),
    ],
    [
      'arktype',
      type({
        a: type('string').narrow((text, ctx) => text === text.toUpperCase() || ctx.mustBe('in capitals')),
      }),
    ],
  ])('are checked by %s after the schema', async (_, schema) => {
    expect(await call(schema, { a: 'abc' })).toEqual({
      issues: [expect.stringMatching(/^a: .*must be in capitals/)],
    });
    expect(await call(schema, { a: 'ABC' })).toEqual({ value: { a: 'ABC' } });
    expect(await call(schema, { a: 1 })).toEqual(['a: must be a string']);
  });

  it('are named in whole words where the refused value is no number of JSON', async () => {
    expect(await call(z.object({ n: z.any().pipe(z.number()) }), parsed('{"n":1e400}'))).toEqual({
      issues: ['n: Invalid input: expected number'],
    });
  });

  it('are named without the refused value, which some libraries show', async () => {
    const valibot = v.object({
      a: v.pipe(
        v.string(),
        v.check(() => true),
        v.emoji(),
      ),
    });
    const arktype = type({ 'a?': 'string.email|string.uuid', 'b?': type('string').narrow(() => false) });
    for (const [schema, raw] of [
      [valibot, { a: 'canary' }],
      [arktype, { a: 'canary' }],
      [arktype, { b: 'canary' }],
    ] as [StandardSchemaV1, Raw][])
      expect(JSON.stringify(await call(schema, raw))).not.toContain('canary');
  });

  it('convert: the published schema is that of the input', async () => {
    const date = z.iso.datetime().transform((text) => new Date(text));
    expect(await call(z.object({ when: date }), { when: '2024-01-01T00:00:00Z' })).toEqual({
      value: { when: new Date('2024-01-01T00:00:00Z') },
    });
    const valibot = v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()) });
    expect(await call(valibot, { n: '5' })).toEqual({ value: { n: 5 } });
    expect(await call(type({ n: 'string.numeric.parse' }), { n: '5' })).toEqual({ value: { n: 5 } });
  });

  it('may throw, which is no issue of the caller', async () => {
    const schema = z.object({
      a: z.string().transform(() => {
        throw new TypeError('bug');
      }),
    });
    await expect(call(schema, { a: 'x' })).rejects.toThrow(new TypeError('bug'));
  });
});

describe('the shapes of a Standard Schema', () => {
  it('keeps open what says that it takes more', async () => {
    const raw = { more: 1 };
    expect(await call(z.looseObject({}), raw)).toEqual({ value: raw });
    expect(await call(v.looseObject({}), raw)).toEqual({ value: raw });
    expect(await call(z.object({ map: z.record(z.string(), z.int()) }), { map: { a: 1 } })).toEqual({
      value: { map: { a: 1 } },
    });
  });

  it('closes nested objects, and leaves alone what several parts describe together', async () => {
    const both = v.intersect([v.object({ a: v.number() }), v.object({ b: v.number() })]);
    const schema = v.object({ both, list: v.array(v.object({ c: v.number() })) });
    expect(await call(schema, { both: { a: 1, b: 2 }, list: [{ c: 1, d: 2 }] })).toEqual([
      'list[0].d: is not a known member (known: c)',
    ]);
    expect(await call(schema, { both: { a: 1, b: 2 }, list: [] })).toEqual({
      value: { both: { a: 1, b: 2 }, list: [] },
    });
  });

  it('tells the variants of a union by their discriminator', async () => {
    const shape = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('square'), a: z.number() }),
    ]);
    const schema = z.object({ shape });
    expect(await call(schema, { shape: { kind: 'circle' } })).toEqual(['shape.r: is required']);
    expect(await call(schema, { shape: { kind: 'secret' } })).toEqual([
      'shape.kind: must be one of "circle", "square"',
    ]);
    const extra = { shape: { kind: 'square', a: 1, r: 2 } };
    expect(await call(schema, extra)).toEqual(['shape.r: is not a known member (known: kind, a)']);
    expect(await call(schema, extra, { unknownMembers: 'drop' })).toEqual({
      value: { shape: { kind: 'square', a: 1 } },
    });
  });

  it('B9: takes recursive schemas and names the path of a bad leaf', async () => {
    interface Node {
      name: string;
      children: Node[];
    }
    const zod: z.ZodType<Node> = z.object({
      name: z.string(),
      get children() {
        return z.array(zod);
      },
    });
    const valibot: v.GenericSchema<Node> = v.object({
      name: v.string(),
      children: v.array(v.lazy(() => valibot)),
    });
    const arktype = type.module({ node: { name: 'string', children: 'node[]' } }).node;
    const bad = { name: 'a', children: [{ name: 'b', children: [{ name: 5, children: [] }] }] };
    for (const schema of [zod, valibot, arktype] as StandardSchemaV1[]) {
      const { schema: published } = await argumentsContract(schema);
      expect(published).toMatchObject({ type: 'object', properties: { name: { type: 'string' } } });
      expect(await call(schema, bad)).toEqual(['children[0].children[0].name: must be a string']);
    }
  });

  it('takes a schema wrapped for the Standard JSON Schema interface, and zod with ids', async () => {
    expect(await call(toStandardJsonSchema(v.object({ a: v.string() })), { a: 'x' })).toEqual({
      value: { a: 'x' },
    });
    const point = z.object({ x: z.int() }).meta({ id: 'Point' });
    expect(await call(z.object({ from: point, to: point }), { from: { x: 1 }, to: { x: 'y' } })).toEqual([
      'to.x: must be an integer',
    ]);
  });

  it('takes zod 4 of before the interface by its own converter', async () => {
    const schema = z.object({ a: z.string().default('x') });
    const { validate, vendor, version } = schema['~standard'];
    const old = Object.assign(Object.create(schema) as StandardSchemaV1, {
      '~standard': { validate, vendor, version },
    });
    expect(await standardJsonSchema(old, 'input')).toEqual({
      type: 'object',
      properties: { a: { type: 'string', default: 'x' } },
    });
    expect(await standardJsonSchema(old, 'output')).toMatchObject({ required: ['a'] });
  });
});

describe('a pattern with flags', () => {
  const key = type(/^k$/i);
  const cyclic = type.module({ node: { name: /^a$/i, 'next?': 'node' } }).node;

  it.each<[string, StandardSchemaV1, Raw]>([
    ['zod, in all places', z.object({ a: z.string().regex(/^a$/i).optional() }), { a: 'A' }],
    ['zod, of lines', z.object({ a: z.string().regex(/^b$/m) }), { a: 'a\nb' }],
    ['zod, over lines', z.object({ a: z.array(z.string().regex(/^a.b$/s)) }), { a: ['a\nb'] }],
    ['zod, sticky', z.object({ a: z.string().regex(/a$/y).nullable() }), { a: 'a' }],
    ['zod, of a format', z.object({ a: z.email({ pattern: /^[a-z]+@[a-z]+$/i }) }), { a: 'A@B' }],
    ['zod, of an address', z.object({ a: z.email({ pattern: z.regexes.rfc5322Email }) }), { a: 'a@b.cc' }],
    ['zod, of names', z.object({ a: z.record(z.string().regex(/^a$/i), z.int()) }), { a: { A: 1 } }],
    [
      'zod, of some names',
      z.object({ a: z.looseRecord(z.string().regex(/^a$/i), z.int()) }),
      { a: { A: 1, b: 'x' } },
    ],
    [
      'zod, in a template',
      z.object({ a: z.templateLiteral(['x-', z.string().regex(new RegExp(String.raw`^\-$`))]) }),
      { a: 'x--' },
    ],
    [
      'zod, in exclusive alternatives',
      z.object({ a: z.xor([z.string().regex(/^a/i), z.string().regex(/^b/i)]) }),
      { a: 'B' },
    ],
    ['zod, several', z.object({ a: z.string().regex(/^a/i).regex(/b$/i) }), { a: 'AB' }],
    ['zod, in an intersection', z.object({ a: z.string().regex(/^a/i).and(z.string()) }), { a: 'A' }],
    ['zod, in what is described', z.object({ a: z.string().regex(/^a/i).describe('d') }), { a: 'A' }],
    ['valibot', v.object({ a: v.optional(v.pipe(v.string(), v.regex(/^a$/i))) }), { a: 'A' }],
    ['valibot, over lines', v.object({ a: v.array(v.pipe(v.string(), v.regex(/^a.b$/s))) }), { a: ['a\nb'] }],
    [
      'valibot, of names',
      v.object({ a: v.record(v.pipe(v.string(), v.regex(/^a$/i)), v.number()) }),
      { a: { A: 1 } },
    ],
    ['arktype', type({ a: /^a$/i }), { a: 'A' }],
    ['arktype, over lines', type({ a: type(/^a.b$/s).array() }), { a: ['a\nb'] }],
    ['arktype, in a union', type({ 'a?': type(/^a$/i).or('number') }), { a: 'A' }],
    [
      'arktype, of names',
      type({ a: type({ '+': 'reject' }).and(type.Record(key, 'number')) }),
      { a: { K: 1 } },
    ],
    ['arktype, in a circle', cyclic, { name: 'A', next: { name: 'a' } }],
  ])('of %s is left to the library', async (_, schema, raw) => {
    expect(await call(schema, raw)).toEqual({ value: raw });
    const { schema: published } = await argumentsContract(schema);
    expect(JSON.stringify(published)).not.toMatch(/"pattern":|"patternProperties":/);
    const output = await outputContract(schema);
    await output.prepare();
    expect(await output.check(raw)).toEqual({ json: raw });
  });

  it('is still judged, by the library', async () => {
    for (const schema of [
      z.object({ a: z.string().regex(/^a$/i) }),
      v.object({ a: v.pipe(v.string(), v.regex(/^a$/i)) }),
      type({ a: /^a$/i }),
    ] as StandardSchemaV1[]) {
      expect(await call(schema, { a: 'b' })).toEqual({ issues: [expect.stringMatching(/^a: /)] });
    }
  });

  it('is published where the flags change nothing, and so is every other pattern', async () => {
    const schema = z.object({
      a: z.string().regex(/^\d+$/i),
      b: z.string().regex(/^\p{L}$/u),
      c: z.string().regex(/[ab]/gms),
      d: z.string().regex(/^x/i).regex(/y$/),
    });
    expect((await argumentsContract(schema)).schema.properties).toEqual({
      a: { type: 'string', pattern: '^\\d+$' },
      b: { type: 'string', pattern: '^\\p{L}$' },
      c: { type: 'string', pattern: '[ab]' },
      d: { type: 'string', allOf: [{ pattern: 'y$' }] },
    });
    expect(await call(schema, { a: '1', b: 'ä', c: 'xa', d: 'XY'.replace('Y', 'y') })).toMatchObject({
      value: { b: 'ä' },
    });
  });

  it.each<[string, RegExp, string]>([
    ['is not valid as a Unicode one', new RegExp(String.raw`^[\w-.]+\-$`), 'a.-'],
    ['means another thing as a Unicode one', new RegExp('^\\p{L}$'), 'p{L}'],
    ['has a class of the flag v', new RegExp('^[[a-z]--[b]]$', 'v'), 'a'],
  ])('also stays with the library when it %s', async (_, pattern, text) => {
    for (const schema of [
      z.object({ a: z.string().regex(pattern) }),
      v.object({ a: v.pipe(v.string(), v.regex(pattern)) }),
      type({ a: pattern }),
    ] as StandardSchemaV1[]) {
      expect(await call(schema, { a: text })).toEqual({ value: { a: text } });
    }
  });

  it('takes with it what would refuse more without it', () => {
    const loosened = (schema: JsonSchema) => withoutPatterns(schema, new Set(['a']));
    expect(loosened({ not: { pattern: 'a' }, if: { pattern: 'a' }, else: { minLength: 1 } })).toEqual({
      else: { minLength: 1 },
    });
    expect(loosened({ pattern: 'a', not: { $ref: '#/$defs/x' } })).toEqual({});
    expect(loosened({ pattern: 'a', not: { enum: ['x'] } })).toEqual({ not: { enum: ['x'] } });
    expect(loosened({ oneOf: [{ pattern: 'a' }, { pattern: 'b' }] })).toEqual({
      anyOf: [{}, { pattern: 'b' }],
    });
    expect(loosened({ allOf: [{ pattern: 'a' }] })).toEqual({});
    expect(
      loosened({ patternProperties: { a: { type: 'string' }, b: {} }, additionalProperties: false }),
    ).toEqual({ patternProperties: { b: {} }, additionalProperties: {} });
    const plain = { properties: { pattern: { pattern: 'b' } }, oneOf: [{ type: 'object' }] };
    expect(loosened(plain)).toBe(plain);
  });
});

describe('a multiple of a decimal fraction', () => {
  const dto = class PriceDto {};
  McpProperty({ schema: { multipleOf: 0.01 } })(dto.prototype, 'n');
  IsNumber()(dto.prototype, 'n');

  it.each<[string, McpSchema]>([
    ['zod', z.object({ n: z.number().multipleOf(0.01) })],
    ['zod, as a step', z.object({ n: z.number().step(0.01) })],
    ['a raw schema', { type: 'object', properties: { n: { type: 'number', multipleOf: 0.01 } } }],
    [
      'a raw schema of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { n: { type: 'number', multipleOf: 0.01 } },
      },
    ],
    ['a DTO', dto],
  ])('is one under %s', async (_, schema) => {
    for (const n of [0.07, 19.99, -1.1, 0, 123456789.01]) {
      expect(await call(schema, { n })).toMatchObject({ value: { n } });
    }
    expect(await call(schema, { n: 0.075 })).toEqual(['n: must be a multiple of 0.01']);
    const output = await outputContract(schema);
    await output.prepare();
    expect(await output.check({ n: 19.99 })).toEqual({ json: { n: 19.99 } });
    expect(await output.check({ n: 19.995 })).toEqual({ issues: ['n: must be a multiple of 0.01'] });
  });
});

describe('what is refused at boot', () => {
  const standard = (vendor: string) =>
    ({ '~standard': { version: 1, vendor, validate: (value: unknown) => ({ value }) } }) as StandardSchemaV1;

  it.each<[string, StandardSchemaV1, string, RegExp]>([
    ['zod 3', z3.object({ a: z3.string() }), 'NoJsonSchemaException', /version 3.*zod 4/],
    [
      'an unknown library',
      standard('other'),
      'NoJsonSchemaException',
      /"other".*Standard JSON Schema interface/,
    ],
    [
      'a date in zod',
      z.object({ a: z.date() }),
      'UnrepresentableSchemaException',
      /Date cannot.* \(at #\/properties\/a\); .*a date as text/,
    ],
    ['a date in valibot', v.object({ a: v.date() }), 'UnrepresentableSchemaException', /"date" schema/],
    ['a date in arktype', type({ a: 'Date' }), 'UnrepresentableSchemaException', /date/],
    ['a bigint in arktype', type({ a: 'bigint' }), 'UnrepresentableSchemaException', /domain/],
    ['a text', z.string(), 'SchemaRootException', /"type": "string".*z\.object/],
    [
      'a union',
      z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]),
      'SchemaRootException',
      /"anyOf".*wrap it/,
    ],
    [
      'an intersection',
      v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]),
      'SchemaRootException',
      /"allOf"/,
    ],
    [
      'a reserved name',
      z.object({ in: z.object({ constructor: z.string() }) }),
      'InvalidSchemaException',
      /constructor.*rename/,
    ],
  ])('%s', async (_, schema, name, message) => {
    await expect(argumentsContract(schema)).rejects.toMatchObject({
      name,
      message: expect.stringMatching(message) as string,
    });
  });

  it.each<[string, unknown, string]>([
    ['zod', { a: z.string() }, 'z.object({ … })'],
    ['valibot', { a: v.string() }, 'v.object({ … })'],
    ['arktype', { a: type('string') }, 'type({ … })'],
    ['another library', { a: standard('other') }, 'as one object schema of its library'],
    ['zod, under a raw schema', { type: 'object', properties: { a: z.string() } }, 'z.object({ … })'],
  ])('an object of schemas of %s', async (_, schema, mend) => {
    for (const contract of [argumentsContract, outputContract]) {
      await expect(contract(schema as McpSchema)).rejects.toMatchObject({
        name: 'UnwrappedSchemasException',
        message: `an object whose members are schemas is no schema itself; wrap it: ${mend}`,
      });
    }
  });

  it('a converter that is not installed', async () => {
    const missing = () => Promise.reject(Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' }));
    await expect(
      standardJsonSchema(v.object({}), 'input', { zod: missing, valibot: missing }),
    ).rejects.toMatchObject({
      name: 'MissingConverterException',
      message: expect.stringContaining('npm install @valibot/to-json-schema') as string,
    });
  });

  it.each([
    [[], 'an array'],
    [true, 'a value of type boolean'],
    [() => ({}), 'a function'],
    [String, 'the function String'],
    [Object, 'the function Object'],
    [new Date(), 'an instance of Date'],
  ])('what is no schema: %p', async (value, shown) => {
    await expect(argumentsContract(value as never)).rejects.toMatchObject({
      name: 'UnknownSchemaKindException',
      message: expect.stringContaining(`${shown} is no schema; give a DTO class`) as string,
    });
  });
});

describe('the portable form', () => {
  it.each([
    [{ const: 'x' }, { type: 'string', enum: ['x'] }],
    [{ const: null }, { const: null }],
    [
      { type: ['string', 'null'], minLength: 2, description: 'd', default: null },
      { description: 'd', default: null, anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
    ],
    [
      { type: ['string', 'null'], enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ type: 'array' }, { type: 'array', items: {} }],
    [{ properties: { a: { const: 1 } } }, { properties: { a: { type: 'number', enum: [1] } } }],
  ])('of %j is %j', (schema, expected) => {
    expect(portable(schema)).toEqual(expected);
  });
});

it('a union of plain types is published as alternatives, not as a list of types', async () => {
  const { schema } = await argumentsContract(z.object({ id: z.union([z.string(), z.number()]) }));
  expect(schema['properties']).toEqual({ id: { anyOf: [{ type: 'string' }, { type: 'number' }] } });
  expect(await call(z.object({ id: z.union([z.string(), z.number()]) }), { id: true })).toEqual([
    'id: must be a string or a number',
  ]);
});

import 'reflect-metadata';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { ContractOptions } from '../arguments.contract.js';
import { argumentsContract } from '../contract.factory.js';
import type { McpSchema } from '../schema-kind.js';
import { portable, standardJsonSchema } from './standard-json-schema.js';

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
      /Date cannot.*a date as text/,
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

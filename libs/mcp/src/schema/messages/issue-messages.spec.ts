import 'reflect-metadata';
import type { ErrorObject } from 'ajv';
import { ValidationError } from 'class-validator';
import { groupsOf } from './error-groups.js';
import { schemaIssues, standardIssues, unknownMemberIssues, validationIssues } from './issue-messages.js';
import type { JsonSchema } from '../json-schema.js';
import { compileSchema } from '../check/schema-compiler.js';

async function issuesOf(property: JsonSchema, value: unknown, $defs: JsonSchema = {}): Promise<string[]> {
  const root = { type: 'object', properties: { value: property }, $defs };
  const check = await compileSchema(root);
  return schemaIssues(check({ value }) ?? [], root);
}

function failure(property: string, constraints: Record<string, string>, children: ValidationError[] = []) {
  return Object.assign(new ValidationError(), { property, constraints, children, target: {} });
}

describe('the issues of a schema', () => {
  it.each<[JsonSchema, unknown, string]>([
    [{ type: 'integer' }, 1.5, 'value: must be an integer'],
    [{ type: ['string', 'null'] }, 1, 'value: must be a string or null'],
    [{ type: 'object' }, [], 'value: must be an object'],
    [{ enum: ['low', 1, null] }, 'x', 'value: must be one of "low", 1, null'],
    [{ type: 'string', enum: ['low'] }, 5, 'value: must be one of "low"'],
    [{ const: 'circle' }, 'x', 'value: must be "circle"'],
    [{ maximum: 100 }, 101, 'value: must be at most 100'],
    [{ minimum: 1 }, 0, 'value: must be at least 1'],
    [{ exclusiveMinimum: 0 }, 0, 'value: must be greater than 0'],
    [{ exclusiveMaximum: 0 }, 0, 'value: must be less than 0'],
    [{ multipleOf: 5 }, 4, 'value: must be a multiple of 5'],
    [{ minLength: 1 }, '', 'value: must have at least 1 character'],
    [{ maxLength: 2 }, 'abc', 'value: must have at most 2 characters'],
    [{ pattern: '^a$' }, 'b', 'value: must match the pattern ^a$'],
    [{ minItems: 1 }, [], 'value: must have at least 1 item'],
    [{ maxItems: 1 }, [1, 2], 'value: must have at most 1 item'],
    [{ uniqueItems: true }, [1, 1], 'value: must not contain the same item twice'],
    [{ minProperties: 1 }, {}, 'value: must have at least 1 member'],
    [{ not: { const: 'x' } }, 'x', 'value: must not be "x"'],
    [{ not: { enum: ['x', 1] } }, 'x', 'value: must not be one of "x", 1'],
    [{ not: {} }, 'x', 'value: is not allowed here'],
    [{ properties: { 'a/b~c': { type: 'string' } } }, { 'a/b~c': 1 }, 'value["a/b~c"]: must be a string'],
    [{ items: { required: ['name'] } }, [{}], 'value[0].name: is required'],
    [{ additionalProperties: false }, { x: 1 }, 'value.x: is not a known member (none is known here)'],
    [
      { propertyNames: { maxLength: 1 } },
      { long: 1 },
      'value.long: is not an allowed name (it must have at most 1 character)',
    ],
  ])('says what %j asks for', async (schema, value, issue) => {
    expect((await issuesOf(schema, value))[0]).toBe(issue);
  });

  it('shows long lists of allowed values in part', async () => {
    const [issue] = await issuesOf({ enum: Array.from({ length: 40 }, (_, index) => index) }, 'x');
    expect(issue).toMatch(/^value: must be one of 0, 1, .*, 29, … \(10 more\)$/);
  });

  it('never repeats a refused value', async () => {
    const closed = { properties: { a: { enum: ['b'] } }, additionalProperties: false };
    expect((await issuesOf(closed, { a: 'canary', b: 'canary' })).join()).not.toContain('canary');
  });
});

// A member named like a promise's method is only written in text.
const fromJson = (text: string) => JSON.parse(text) as JsonSchema;
const VARIANTS = {
  anyOf: [
    {
      type: 'object',
      properties: { kind: { const: 'circle' }, r: { type: 'number' } },
      required: ['kind', 'r'],
    },
    {
      type: 'object',
      properties: { kind: { enum: ['square'] }, a: { type: 'number' } },
      required: ['kind', 'a'],
    },
  ],
};
const NODE = {
  $ref: '#/$defs/Node',
};
const DEFS = {
  Node: {
    type: 'object',
    properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
    required: ['name'],
    additionalProperties: false,
  },
};

describe('the issues of a schema with several branches', () => {
  it.each<[JsonSchema, unknown, string[]]>([
    [
      { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
      'a',
      ['value: must have at least 2 characters'],
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['value: must be a string or null']],
    [
      { anyOf: [{ const: 'x' }, { const: 'y' }, { type: 'null' }] },
      1,
      ['value: must be one of "x", "y", null'],
    ],
    [
      { oneOf: [{ type: 'string', enum: ['a'] }, { type: 'integer' }] },
      true,
      ['value: must be "a" or an integer'],
    ],
    [VARIANTS, { kind: 'circle' }, ['value.r: is required']],
    [VARIANTS, { kind: 'square', a: 'x' }, ['value.a: must be a number']],
    [VARIANTS, { kind: 'secret' }, ['value.kind: must be one of "circle", "square"']],
    [VARIANTS, {}, ['value.kind: is required (one of "circle", "square")']],
    [VARIANTS, null, ['value: must be an object']],
    [
      { anyOf: [{ required: ['id'] }, { required: ['name', 'city'] }] },
      {},
      ['value: must match one of: an object with id; an object with name, city'],
    ],
    [
      { anyOf: [{ pattern: '^a' }, { type: 'string', minLength: 3 }] },
      'b',
      ['value: must match the pattern ^a, or must have at least 3 characters'],
    ],
    [
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      5,
      ['value: must match only one of: a number; an integer'],
    ],
    [
      { ...NODE, $defs: DEFS },
      { name: 'a', next: { name: 'b', next: { name: 5 } } },
      ['value.next.next.name: must be a string'],
    ],
    [
      { allOf: [{ minimum: 3 }, { multipleOf: 2 }] },
      1,
      ['value: must be at least 3', 'value: must be a multiple of 2'],
    ],
    [fromJson('{"if":{"type":"object"},"then":{"required":["x"]}}'), {}, ['value.x: is required']],
    [fromJson('{"if":{"type":"string"},"then":false}'), 'a', ['value: is not allowed here']],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, ['value.b: is required']],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['value.b: is required when a is given']],
    [{ contains: { type: 'string' } }, [1, 2], ['value: must contain at least 1 item that is a string']],
    [
      { contains: { const: 1 }, minContains: 2, maxContains: 3 },
      [1],
      ['value: must contain 2 to 3 items that is 1'],
    ],
    [
      { contains: { const: 1 }, minContains: 0, maxContains: 1 },
      [1, 1],
      ['value: must contain at most 1 item that is 1'],
    ],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 2], ['value: must have at most 1 item']],
    [{ prefixItems: [{ type: 'string' }] }, [2], ['value[0]: must be a string']],
    [{ prefixItems: [true], unevaluatedItems: false }, [1, 2], ['value: must have at most 1 item']],
    [
      { properties: { a: true }, unevaluatedProperties: false },
      { b: 1 },
      ['value.b: is not a known member (known: a)'],
    ],
    [{ patternProperties: { '^n': { type: 'number' } } }, { no: 'x' }, ['value.no: must be a number']],
    [{ additionalProperties: { type: 'number' } }, { a: 'x' }, ['value.a: must be a number']],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, ['value: must have at most 1 member']],
    [{ properties: { a: false } }, { a: 1 }, ['value.a: is not allowed here']],
    [{ const: { a: [1] } }, 1, ['value: must be {"a":[1]}']],
    [
      { enum: ['a', null, { b: 1 }], enumNames: ['A', 'none', 'B'] },
      1,
      ['value: must be one of "a", null, {"b":1}'],
    ],
    [{ not: { type: 'object' } }, {}, ['value: must not be an object']],
    [{ not: { pattern: '^x' } }, 'x', ['value: must not match the pattern ^x']],
    [{ format: 'email', type: 'string' }, 'no address', []],
  ])('%j', async (schema, value, issues) => {
    const { $defs, ...property } = schema;
    const root = {
      type: 'object',
      properties: { value: property },
      ...($defs ? { $defs } : {}),
    } as JsonSchema;
    const check = await compileSchema(root);
    expect(schemaIssues(check({ value }) ?? [], root)).toEqual(issues);
  });

  it('knows the dependencies and tuples of draft-07', async () => {
    const root = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { list: { type: 'array', items: [{ type: 'string' }], additionalItems: false } },
      dependencies: { a: ['b'] },
    };
    const check = await compileSchema(root);
    expect(schemaIssues(check({ a: 1, list: [1, 2] }) ?? [], root)).toEqual([
      'b: is required when a is given',
      'list: must have at most 1 item',
      'list[0]: must be a string',
    ]);
  });

  it('calls a whole value what it is told', async () => {
    const check = await compileSchema({ type: 'array' });
    expect(schemaIssues(check(1)!)).toEqual(['arguments: must be an array']);
    expect(schemaIssues(check(1)!, {}, 'result')).toEqual(['result: must be an array']);
  });
});

describe('the issues of alternatives that lead back to themselves', () => {
  const node = { $ref: '#/$defs/node' };
  const text = { type: 'string' };
  const variant = (op: string, members: JsonSchema): JsonSchema => ({
    type: 'object',
    properties: { op: { type: 'string', enum: [op] }, ...members },
    required: ['op', ...Object.keys(members)],
    additionalProperties: false,
  });
  const list = { of: { type: 'array', items: node } };
  const filters = (keyword: string): JsonSchema => ({
    type: 'object',
    properties: { filter: node },
    $defs: {
      node: {
        [keyword]: [variant('and', list), variant('or', list), variant('eq', { field: text, value: text })],
      },
    },
  });
  const chain = (depth: number, width: number): JsonSchema =>
    depth === 0
      ? { op: 'eq', field: 'a', value: 1 }
      : {
          op: depth % 2 === 0 ? 'or' : 'and',
          of: Array.from({ length: width }, () => chain(depth - 1, width)),
        };

  it.each(['anyOf', 'oneOf'])(
    'names what the chosen alternative wants, and nothing else: %s',
    async (keyword) => {
      const root = filters(keyword);
      const check = await compileSchema(root);
      const issues = (filter: unknown) => schemaIssues(check({ filter }) ?? [], root);
      expect(issues({ op: 'and', of: [{ op: 'eq', value: 1 }] })).toEqual([
        'filter.of[0].field: is required',
        'filter.of[0].value: must be a string',
      ]);
      expect(issues({ op: 'and', of: [{ op: 'or', of: [{ op: 'no' }] }] })).toEqual([
        'filter.of[0].of[0].op: must be one of "and", "or", "eq"',
      ]);
    },
  );

  it.each(['anyOf', 'oneOf'])('hands over no more errors than the value has faults: %s', async (keyword) => {
    const root = filters(keyword);
    const check = await compileSchema(root);
    const errors = check({ filter: chain(30, 1) })!;
    expect(sizeOf(errors)).toBeLessThan(1_000);
    expect(schemaIssues(errors, root)).toEqual([`filter${'.of[0]'.repeat(30)}.value: must be a string`]);
    const wide = check({ filter: chain(6, 2) })!;
    expect(sizeOf(wide)).toBeLessThan(2_000);
    const lines = schemaIssues(wide, root);
    expect(lines).toHaveLength(21);
    expect(lines[20]).toBe('… and 44 more');
  });

  it('says that no alternative is met where each could be meant', async () => {
    const member = (name: string) => ({ properties: { n: node, [name]: text }, required: [name] });
    const root = {
      properties: { n: node },
      $defs: { node: { type: 'object', oneOf: [member('l'), member('r')] } },
    };
    const check = await compileSchema(root);
    let value: JsonSchema = {};
    for (let depth = 0; depth < 30; depth += 1) value = { l: 'x', n: value };
    const errors = check({ n: value })!;
    expect(sizeOf(errors)).toBeLessThan(500);
    expect(schemaIssues(errors, root)).toEqual(['n: must match one of: an object with l; an object with r']);
  });

  it('judges names by alternatives, each for itself', async () => {
    const names = { anyOf: [{ pattern: '^a' }, { pattern: '^b' }] };
    expect(
      await issuesOf({ propertyNames: { $ref: '#/$defs/name' } }, { a: 1, c: 1, d: 1 }, { name: names }),
    ).toEqual(
      ['c', 'd'].map(
        (name) =>
          `value.${name}: is not an allowed name (it must match the pattern ^a, or must match the pattern ^b)`,
      ),
    );
  });

  /** All errors, each counted once, however often it is referred to. */
  function sizeOf(errors: readonly ErrorObject[], seen = new Set<ErrorObject>()): number {
    for (const error of errors) {
      if (seen.has(error)) continue;
      seen.add(error);
      for (const group of groupsOf(error)) sizeOf(group, seen);
    }
    return seen.size;
  }
});

describe('the issues of members whose names begin alike', () => {
  it.each<[JsonSchema, JsonSchema, string[]]>([
    [
      { ab: { type: 'string' }, a: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] } },
      { ab: 1, a: 'x' },
      ['ab: must be a string', 'a: must have at least 2 characters'],
    ],
    [
      { l: { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
      { l: [null, 1, null, null, null, null, null, null, null, null, 1] },
      ['l[1]: must be a string or null', 'l[10]: must be a string or null'],
    ],
    [
      // One and the same schema for both members, so that only the place tells its errors apart.
      (() => {
        const shared = { type: 'string', minLength: 2 };
        return { ab: shared, a: { anyOf: [shared, { type: 'null' }] } };
      })(),
      { ab: 1, a: 1 },
      ['ab: must be a string', 'a: must be a string or null'],
    ],
  ])('%j', async (properties, value, issues) => {
    const root = { type: 'object', properties };
    const check = await compileSchema(root);
    expect(schemaIssues(check(value) ?? [], root)).toEqual(issues);
  });
});

describe('the issues of a Standard Schema', () => {
  it('takes keys and segments as paths and keeps every text on one line', () => {
    expect(
      standardIssues([
        { message: 'Too\nlong', path: ['a', { key: 'b c' }, 0] },
        { message: 'x'.repeat(400) },
        { message: 'odd', path: [Symbol('s')] },
      ]),
    ).toEqual(['a["b c"][0]: Too\\u000along', `arguments: ${'x'.repeat(300)}…`, '"Symbol(s)": odd']);
  });
});

describe('the names in issues', () => {
  it.each([
    ['x'.repeat(200), `"${'x'.repeat(60)}…"`],
    ['a b', '"a b"'],
    ['', '""'],
    ['line\nbreak\u001b[31m', '"line\\nbreak\\u001b[31m"'],
    ['\u202Egnp.exe', '"\\u202egnp.exe"'],
    ['zero\u200Bwidth\u2028', '"zero\\u200bwidth\\u2028"'],
    ['größe', 'größe'],
    ['\ud800', '"\\ud800"'],
    ['tag\u{E0041}', '"tag\\u{e0041}"'],
  ])('shows %j safely', (name, shown) => {
    expect(unknownMemberIssues([name])).toEqual([`${shown}: is not a known member (none is known here)`]);
  });

  it('lists twenty issues and counts the rest', () => {
    const issues = unknownMemberIssues(Array.from({ length: 25 }, (_, index) => `m${index}`));
    expect(issues).toHaveLength(21);
    expect(issues[20]).toBe('… and 5 more');
  });
});

describe('the issues of class-validator', () => {
  it('prefixes the path and does not repeat the property', () => {
    const list = Object.assign(failure('0', {}, [failure('name', { isString: 'name must be a string' })]), {
      target: [],
    });
    expect(
      validationIssues([
        failure('title', { minLength: 'title must be longer', custom: 'Titles are short' }),
        failure('address', {}, [failure('street', { isString: 'street must be a string' })]),
        failure('items', {}, [list]),
        failure('when', { isDate: 'when must be a Date instance' }),
        failure('tags', { isString: 'each value in tags must be a string' }),
        failure('bl', { isByteLength: "bl's byte length must fall into (1, 4) range" }),
      ]),
    ).toEqual([
      'title: must be longer',
      'title: Titles are short',
      'address.street: must be a string',
      'items[0].name: must be a string',
      'when: must be an ISO 8601 date and time',
      'tags: each value in tags must be a string',
      'bl: byte length must fall into (1, 4) range',
    ]);
  });

  it('keeps a message on one line and within bounds', () => {
    const [issue] = validationIssues([failure('a', { x: `a\nb\u202E${'c'.repeat(500)}` })]);
    expect(issue).toMatch(/^a: a\\u000ab\\u202ec+…$/);
    expect(issue!.length).toBeLessThan(330);
  });
});

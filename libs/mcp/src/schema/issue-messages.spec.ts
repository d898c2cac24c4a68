import 'reflect-metadata';
import { ValidationError } from 'class-validator';
import { schemaIssues, unknownMemberIssues, validationIssues } from './issue-messages.js';
import type { JsonSchema } from './json-schema.js';
import { compileSchema } from './schema-compiler.js';

async function issuesOf(property: JsonSchema, value: unknown): Promise<string[]> {
  const check = await compileSchema({ type: 'object', properties: { value: property } });
  return schemaIssues(check({ value }) ?? []);
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
    [{ propertyNames: { maxLength: 1 } }, { long: 1 }, 'value: must have at most 1 character'],
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
      ]),
    ).toEqual([
      'title: must be longer',
      'title: Titles are short',
      'address.street: must be a string',
      'items[0].name: must be a string',
      'when: must be an ISO 8601 date and time',
      'tags: each value in tags must be a string',
    ]);
  });

  it('keeps a message on one line and within bounds', () => {
    const [issue] = validationIssues([failure('a', { x: `a\nb\u202E${'c'.repeat(500)}` })]);
    expect(issue).toMatch(/^a: a\\u000ab\\u202ec+…$/);
    expect(issue!.length).toBeLessThan(330);
  });
});

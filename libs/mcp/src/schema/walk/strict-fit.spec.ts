import type { JsonSchema } from '../json-schema.js';
import { compileSchema } from '../check/schema-compiler.js';
import { withPlainReferences } from '../foreign/dynamic-references.js';
import { StrictFit } from './strict-fit.js';

// As text, since an object with such a member looks like a promise.
const CONDITION = JSON.parse(
  '{"if":{"type":"object"},"then":{"required":["a"]},"else":{"type":"array"}}',
) as JsonSchema;
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

describe('StrictFit', () => {
  const plain = [null, true, 0, 3, 1.5, -2, '', 'ab', 'abc', '😀'];
  const lists = [[], [1], [1, 'a'], [1, 1], [{ a: 1 }, { a: 1 }]];
  const objects = [
    {},
    { a: 1 },
    { a: 'x' },
    { a: 1, b: 2 },
    { b: { a: 1 } },
    { 'x-a': 1 },
    { a: { c: [1] } },
  ];
  const values: unknown[] = [plain, lists, objects].flat();

  it.each<JsonSchema>([
    { type: ['object', 'null'] },
    { type: 'integer', minimum: 0, maximum: 2 },
    { exclusiveMinimum: 0, exclusiveMaximum: 3 },
    { multipleOf: 0.5 },
    { minLength: 1, maxLength: 2, pattern: '^.b?$' },
    { minItems: 1, maxItems: 1 },
    { uniqueItems: true },
    { minProperties: 1, maxProperties: 1 },
    { enum: [{ a: 1 }, [1], 'ab'] },
    { const: { b: { a: 1 } } },
    { required: ['a'], properties: { a: { type: 'integer' } } },
    { properties: { a: {} }, patternProperties: { '^x-': { minimum: 1 } }, additionalProperties: false },
    { additionalProperties: { type: 'integer' } },
    { propertyNames: { maxLength: 1 } },
    { prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
    { contains: { const: 1 }, maxContains: 1 },
    { contains: { const: 'a' }, minContains: 0 },
    { allOf: [{ required: ['a'] }, { type: 'object' }] },
    {
      anyOf: [
        { type: 'string', minLength: 3 },
        { type: 'object', required: ['b'] },
      ],
    },
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { not: { type: 'object', required: ['a'] } },
    CONDITION,
    { dependentRequired: { a: ['b'] } },
    { dependentSchemas: { a: { required: ['b'] } } },
    { $ref: '#/$defs/o', maxProperties: 1, $defs: { o: { type: 'object' } } },
    { $dynamicRef: '#o', $defs: { o: { $dynamicAnchor: 'o', type: 'object' } } },
    { $schema: DRAFT_07, $ref: '#/definitions/o', maxProperties: 1, definitions: { o: { type: 'object' } } },
    { $schema: DRAFT_07, items: [{ type: 'integer' }], additionalItems: false },
    { $schema: DRAFT_07, dependencies: { a: ['b'], b: { required: ['a'] } } },
  ])('says of %j what the validator says', async (schema) => {
    const check = await compileSchema(withPlainReferences(schema));
    const fit = new StrictFit(schema, '$schema' in schema);
    for (const value of values)
      expect([value, fit.fits(schema, value)]).toEqual([value, check(value) === null]);
  });

  it('can look away from unknown members', () => {
    const known = { properties: { a: { maximum: 5 } }, additionalProperties: false };
    const schema = { oneOf: [known, { ...known, required: ['a'] }] };
    const fit = new StrictFit(schema, false);
    expect(fit.fitsPruned(schema, { a: 1, b: 2 })).toBe(true);
    expect(fit.fits(schema, { a: 1, b: 2 })).toBe(false);
    expect(fit.fitsPruned(schema, { a: 6, b: 2 })).toBe(false);
  });

  it('says no where the answer would take too long, and ends for references that lead to themselves', () => {
    const fit = new StrictFit({}, false);
    expect(fit.fits({ items: {} }, Array(1_000).fill(1))).toBe(true);
    expect(fit.fits({ items: {} }, Array(3_000).fill(1))).toBe(false);
    expect(fit.fits({ not: { items: {} } }, Array(3_000).fill(1))).toBe(false);
    expect(fit.fits({ $ref: '#' }, 1)).toBe(true);
    const circle = { $ref: '#' };
    expect(new StrictFit(circle, false).fits(circle, 1)).toBe(false);
  });
});

import 'reflect-metadata';
import * as v from 'class-validator';
import { dtoSchema } from './dto-schema.factory.js';
import type { JsonSchema } from './json-schema.js';

/** The schema of one property under the given decorators, with no declared type. */
function published(...decorators: PropertyDecorator[]): JsonSchema {
  class RuleDto {}
  decorators.forEach((decorate) => decorate(RuleDto.prototype, 'value'));
  return (dtoSchema(RuleDto).properties as Record<string, JsonSchema>).value!;
}

const custom = v.ValidateBy({ name: 'isPrime', validator: { validate: () => true } });

describe('the keywords of a rule', () => {
  it.each<[string, PropertyDecorator[], JsonSchema]>([
    [
      'several limits become the narrowest',
      [v.Min(1), v.Min(5), v.Max(9), v.Max(7)],
      { type: 'number', minimum: 5, maximum: 7 },
    ],
    ['an integer is a number', [v.Min(1), v.IsInt()], { type: 'integer', minimum: 1 }],
    ['a sign is an exclusive limit', [v.IsPositive(), v.IsInt()], { type: 'integer', exclusiveMinimum: 0 }],
    ['a negative sign too', [v.IsNegative()], { type: 'number', exclusiveMaximum: 0 }],
    ['no decimal places means an integer', [v.IsNumber({ maxDecimalPlaces: 0 })], { type: 'integer' }],
    [
      'decimal places are not exact enough to publish',
      [v.IsNumber({ maxDecimalPlaces: 2 })],
      { type: 'number' },
    ],
    ['a divisor is a multiple', [v.IsDivisibleBy(-5)], { type: 'number', multipleOf: 5 }],
    ['a divisor of zero says nothing more', [v.IsDivisibleBy(0)], { type: 'number' }],
    ['a length', [v.Length(2, 5)], { type: 'string', minLength: 2, maxLength: 5 }],
    ['a length without end', [v.Length(2)], { type: 'string', minLength: 2 }],
    ['two lengths', [v.MinLength(2), v.MaxLength(9)], { type: 'string', minLength: 2, maxLength: 9 }],
    ['a pattern', [v.Matches(/^a\/b$/)], { type: 'string', pattern: '^a\\/b$' }],
    ['a pattern as text', [v.Matches('^a')], { type: 'string', pattern: '^a' }],
    [
      'several patterns',
      [v.Matches(/a/), v.Matches(/b/), v.Matches(/c/)],
      { type: 'string', pattern: 'a', allOf: [{ pattern: 'b' }, { pattern: 'c' }] },
    ],
    ['a pattern that needs flags is left out', [v.Matches(/a/i)], { type: 'string' }],
    [
      'a pattern that is not valid as Unicode is left out',
      [v.Matches(new RegExp(String.raw`\-`))],
      { type: 'string' },
    ],
    ['contained text is escaped', [v.Contains('a.b/c-d')], { type: 'string', pattern: 'a\\.b\\/c-d' }],
    ['mixed values have no type', [v.IsIn(['a', 1, null])], { enum: ['a', 1, null] }],
    [
      'values that JSON cannot equal are dropped',
      [v.IsIn(['a', {}, undefined, NaN])],
      { type: 'string', enum: ['a'] },
    ],
    ['no possible value is said so', [v.IsIn([{}])], { not: {} }],
    [
      'two lists have their values in common',
      [v.IsIn(['a', 'b']), v.IsIn(['b', 'c'])],
      { type: 'string', enum: ['b'] },
    ],
    ['refused values', [v.IsNotIn(['a', 1])], { not: { enum: ['a', 1] } }],
    ['a refused value', [v.NotEquals(0)], { not: { const: 0 } }],
    [
      'array sizes',
      [v.ArrayMinSize(1), v.ArrayMaxSize(3)],
      { type: 'array', items: {}, minItems: 1, maxItems: 3 },
    ],
    ['a filled array', [v.ArrayNotEmpty()], { type: 'array', items: {}, minItems: 1 }],
    [
      'unique entries that compare as JSON',
      [v.ArrayUnique(), v.IsString({ each: true })],
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
    ],
    ['unique entries of unknown type', [v.ArrayUnique()], { type: 'array', items: {} }],
    ['a filled object', [v.IsNotEmptyObject()], { type: 'object', minProperties: 1 }],
    ['an e-mail address', [v.IsEmail()], { type: 'string', format: 'email' }],
    [
      'an e-mail address with a name has no format',
      [v.IsEmail({ allow_display_name: true })],
      { type: 'string' },
    ],
    ['a UUID', [v.IsUUID('4')], { type: 'string', format: 'uuid' }],
    ['a URL may lack its protocol', [v.IsUrl()], { type: 'string' }],
    ['a URL with protocol', [v.IsUrl({ require_protocol: true })], { type: 'string', format: 'uri' }],
    ['a date as text', [v.IsDateString()], { type: 'string', format: 'date-time' }],
    ['any ISO 8601 form', [v.IsISO8601()], { type: 'string', format: 'date-time' }],
    ['an IPv6 address', [v.IsIP(6)], { type: 'string', format: 'ipv6' }],
    ['an address of either version', [v.IsIP()], { type: 'string' }],
    ['text of a kind JSON Schema cannot name', [v.IsSemVer()], { type: 'string' }],
    ['a rule of the application', [custom], {}],
    [
      'a rule of the application for entries',
      [v.ValidateBy({ name: 'x', validator: { validate: () => true } }, { each: true })],
      { type: 'array', items: {} },
    ],
    [
      'rules that exclude each other',
      [v.IsString(), v.IsNumber()],
      { type: 'string', allOf: [{ type: 'number' }] },
    ],
    [
      'values and rules for entries',
      [v.IsInt({ each: true }), v.Max(5, { each: true }), v.ArrayMaxSize(2)],
      { type: 'array', items: { type: 'integer', maximum: 5 }, maxItems: 2 },
    ],
  ])('%s', (_, decorators, schema) => {
    expect(published(...decorators)).toEqual(schema);
  });

  it('does not depend on the order of the decorators', () => {
    const rules = [v.Min(1), v.IsInt(), v.IsNotEmpty(), v.Max(9), v.NotEquals(4), v.IsDivisibleBy(2)];
    expect(published(...[...rules].reverse())).toEqual(published(...rules));
  });
});

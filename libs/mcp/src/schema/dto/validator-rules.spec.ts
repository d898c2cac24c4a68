import 'reflect-metadata';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { jsonSchemaOf } from './dto-schema.factory.js';
import { looserReason } from './differences.js';
import type { JsonSchema } from '../json-schema.js';
import { VALIDATOR_RULES } from './validator-rules.js';

/** The schema of one property under the given decorators, with no declared type. */
function published(...decorators: PropertyDecorator[]): JsonSchema {
  class RuleDto {}
  decorators.forEach((decorate) => decorate(RuleDto.prototype, 'value'));
  return (jsonSchemaOf(RuleDto).properties as Record<string, JsonSchema>).value!;
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
    ['a pattern whose flags change nothing', [v.Matches(/\d/dgims)], { type: 'string', pattern: '\\d' }],
    ['a pattern that the flag u reads otherwise', [v.Matches(new RegExp('\\p{L}'))], { type: 'string' }],
    [
      'a pattern that is not valid as Unicode is left out',
      [v.Matches(new RegExp(String.raw`\-`))],
      { type: 'string' },
    ],
    ['contained text is escaped', [v.Contains('a.b/c-d')], { type: 'string', pattern: 'a\\.b\\/c-d' }],
    ['mixed values have no type', [v.IsIn(['a', 1])], { enum: ['a', 1] }],
    [
      'a listed null stands beside the values',
      [v.IsIn(['a', null])],
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    ['nothing but null', [v.Equals(null)], { type: 'null' }],
    [
      'a listed null that another rule refuses',
      [v.IsIn(['a', null]), v.IsDefined()],
      { type: 'string', enum: ['a'] },
    ],
    ['emptiness', [v.IsEmpty()], { anyOf: [{ type: 'string', maxLength: 0 }, { type: 'null' }] }],
    ['presence without a type', [v.IsDefined()], { not: { enum: [null] } }],
    ['text that is not empty without a type', [v.IsNotEmpty()], { not: { enum: ['', null] } }],
    ['presence with a type', [v.IsDefined(), v.IsInt()], { type: 'integer' }],
    [
      'entries that are present',
      [v.IsDefined({ each: true })],
      { type: 'array', items: { not: { enum: [null] } } },
    ],
    [
      'degrees as a number or as text',
      [v.IsLatitude()],
      { anyOf: [{ type: 'number', minimum: -90, maximum: 90 }, { type: 'string' }] },
    ],
    [
      'degrees as what another rule says',
      [v.IsLongitude(), v.IsNumber()],
      { type: 'number', minimum: -180, maximum: 180 },
    ],
    [
      'contained entries',
      [v.ArrayContains(['a', 1])],
      {
        type: 'array',
        items: {},
        allOf: [{ contains: { enum: ['a'] } }, { contains: { enum: [1] } }],
      },
    ],
    [
      'refused entries',
      [v.ArrayNotContains(['a']), v.IsString({ each: true })],
      { type: 'array', items: { type: 'string', not: { enum: ['a'] } } },
    ],
    ['text that must not be in it', [v.NotContains('a.b')], { type: 'string', not: { pattern: 'a\\.b' } }],
    [
      'a member that is not null',
      [v.IsNotEmptyObject({ nullable: false })],
      { type: 'object', minProperties: 1, not: { additionalProperties: { type: 'null' } } },
    ],
    ['a moment', [v.MinDate(new Date(0)), Type(() => Date)], { type: 'string', format: 'date-time' }],
    ['letters of a locale', [v.IsAlpha('de-DE')], { type: 'string' }],
    ['a hash', [v.IsHash('md5')], { type: 'string', pattern: '^[a-fA-F0-9]{32}$' }],
    ['a flag as text', [v.IsBooleanString()], { type: 'string', enum: ['true', 'false', '1', '0'] }],
    ['a divisor is cut down to an integer', [v.IsDivisibleBy(2.5)], { type: 'number', multipleOf: 2 }],
    ['a promise', [v.ValidatePromise()], {}],
    ['an instance', [v.IsInstance(Map)], { not: { enum: [null] } }],
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
    ['a refused value', [v.NotEquals(0)], { not: { enum: [0] } }],
    [
      'array sizes',
      [v.ArrayMinSize(1), v.ArrayMaxSize(3)],
      { type: 'array', items: {}, minItems: 1, maxItems: 3 },
    ],
    ['a filled array', [v.ArrayNotEmpty()], { type: 'array', items: {}, minItems: 1 }],
    [
      'unique entries that compare as JSON',
      [v.ArrayUnique(), v.IsString({ each: true })],
      { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 10_000 },
    ],
    ['unique entries of unknown type', [v.ArrayUnique()], { type: 'array', items: {}, maxItems: 10_000 }],
    [
      'unique entries in a list with a size of its own',
      [v.ArrayUnique(), v.ArrayMaxSize(20_000)],
      { type: 'array', items: {}, maxItems: 20_000 },
    ],
    [
      'unique dates, which class-validator never finds equal',
      [v.ArrayUnique(), v.IsDate({ each: true }), Type(() => Date)],
      { type: 'array', items: { type: 'string', format: 'date-time' }, maxItems: 10_000 },
    ],
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

/** How a decorator is made where it does not do without arguments. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  ArrayContains: [['a']],
  ArrayNotContains: [['a']],
  IsEnum: [{ A: 'a' }],
  IsIn: [['a']],
  IsNotIn: [['a']],
  MaxDate: [new Date(0)],
  MinDate: [new Date(0)],
  Matches: [/a/],
  ValidateIf: [() => true],
};
/** Names that look like decorators of properties and are none. */

/** Make rules of the application. */
const MAKERS = new Set(['Validate', 'ValidateBy', 'ValidatorConstraint']);

describe('the table of rules', () => {
  const decorators = Object.entries(v).filter(
    ([name, value]) =>
      typeof value === 'function' &&
      /^[A-Z]/.test(name) &&
      !MAKERS.has(name) &&
      !String(value).startsWith('class'),
  );

  it('knows every decorator that class-validator has', () => {
    expect(decorators.length).toBeGreaterThan(100);
    const unknown = decorators.filter(([name, decorator]) => {
      class SubjectDto {}
      const made = (decorator as (...given: unknown[]) => unknown)(...(ARGUMENTS[name] ?? []));
      if (typeof made !== 'function') return false;
      (made as PropertyDecorator)(SubjectDto.prototype, 'value');
      const rules = v.getMetadataStorage().getTargetValidationMetadatas(SubjectDto, '', false, false);
      return rules.some((rule) => !VALIDATOR_RULES.has(rule.name ?? '') && !VALIDATOR_RULES.has(rule.type));
    });
    expect(unknown.map(([name]) => name)).toEqual([]);
  });

  it('has no name that class-validator does not have', () => {
    const known = new Set<unknown>(Object.values(v).filter((value) => typeof value === 'string'));
    const kinds = ['nestedValidation', 'conditionalValidation', 'whitelistValidation', 'promiseValidation'];
    expect([...VALIDATOR_RULES.keys()].filter((name) => !known.has(name) && !kinds.includes(name))).toEqual(
      [],
    );
  });

  it('gives a reason wherever its keywords do not say all', () => {
    const doubtful = [...VALIDATOR_RULES].filter(([name, { looser }]) => looser && !looserReason(name));
    expect(doubtful.map(([name]) => name)).toEqual([]);
  });

  // The patterns are written again here, so each is held against the function it stands for.
  it.each<[PropertyDecorator, string[]]>([
    [v.IsAlpha(), ['', 'abcXYZ', 'a1', 'ä', 'ſ', 'a b']],
    [v.IsAlphanumeric(), ['', 'aZ09', 'a-', 'é']],
    [v.IsAscii(), ['', 'a\n\u0000~', 'é', '\u007f', '\u0080']],
    [v.IsBase58(), ['', 'abc1', '0', 'O', 'I', 'l']],
    [v.IsBooleanString(), ['', 'true', 'TRUE', '0', '2', 'yes']],
    [v.IsEthereumAddress(), ['', `0x${'a'.repeat(40)}`, `0X${'F'.repeat(40)}`, 'a'.repeat(42)]],
    [v.IsFirebasePushId(), ['', 'a'.repeat(20), `-_${'Z9'.repeat(9)}`, 'a'.repeat(19), `${'a'.repeat(19)}ä`]],
    [v.IsHash('sha1'), ['', 'A'.repeat(40), 'g'.repeat(40), 'a'.repeat(41)]],
    [v.IsHexColor(), ['', '#fff', 'ffff', '#FFFFFF', '#12345678', '#12345', 'fff\n']],
    [v.IsHexadecimal(), ['', 'ff', '0xff', '0hFF', '0x', 'fg']],
    [v.IsISRC(), ['', 'USAT29900609', 'usat29900609', 'US-AT2-99-00609']],
    [v.IsMilitaryTime(), ['', '23:59', '2359', '24:00', '1:00', '00:60']],
    [v.IsMongoId(), ['', 'a'.repeat(24), `0x${'a'.repeat(22)}`, 'a'.repeat(23), `0x${'a'.repeat(24)}`]],
    [v.IsOctal(), ['', '017', '0o17', '0O17', '8']],
    [v.IsPort(), ['', '0', '-0', '+80', '80', '080', '65535', '65536', '-1', '99999', '6553', '60000']],
    [v.Contains('a.b'), ['', 'a.b', 'xa.bx', 'axb']],
    [v.NotContains('a.b'), ['', 'a.b', 'xa.bx', 'axb']],
    [v.IsNotEmpty(), ['', ' ']],
  ])('says with a pattern what the rule means (%#)', (decorate, texts) => {
    class TextDto {
      value: string;
    }
    decorate(TextDto.prototype, 'value');
    const {
      type,
      pattern,
      enum: values,
      not,
    } = published(decorate) as {
      type?: string;
      pattern?: string;
      enum?: string[];
      not?: { pattern?: string; enum?: unknown[] };
    };
    for (const text of texts) {
      const isAllowed =
        (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
        (values === undefined || values.includes(text)) &&
        !(not?.pattern !== undefined && new RegExp(not.pattern, 'u').test(text)) &&
        !not?.enum?.includes(text);
      const isTaken = v.validateSync(Object.assign(new TextDto(), { value: text })).length === 0;
      expect([type ?? 'string', text, isAllowed]).toEqual(['string', text, isTaken]);
    }
  });
});

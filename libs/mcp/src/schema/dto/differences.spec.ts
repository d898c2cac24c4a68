import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import * as v from 'class-validator';
import { McpProperty } from '../../decorators/property.decorator.js';
import { differencesOf, looserReason, STRICTER } from './differences.js';
import type { Class } from '../json-schema.js';
import { VALIDATOR_RULES } from './validator-rules.js';

enum Level {
  Low = 1,
}
class InnerDto {
  @v.MaxLength(3) name: string;
}

const ALWAYS = ['unknown-members', 'reserved-members'];
const custom = v.ValidateBy({ name: 'isPrime', validator: { validate: () => true } });

/** A DTO of one property, with no declared type. */
function dtoOf(...decorators: PropertyDecorator[]): Class {
  class SubjectDto {}
  decorators.forEach((decorate) => decorate(SubjectDto.prototype, 'value'));
  return SubjectDto;
}

describe('the differences between a schema and class-validator', () => {
  it.each<[string, PropertyDecorator[], string[], string[]]>([
    ['none but what is always so', [v.IsString()], [], []],
    ['null under @IsOptional', [v.IsOptional(), v.IsBoolean()], ['optional-null'], []],
    ['entries', [v.IsBoolean({ each: true })], ['each-of-one'], []],
    ['the names of a numeric enum', [v.IsEnum(Level)], ['enum-names'], []],
    ['dates', [v.IsDate(), Type(() => Date)], ['date-text'], ['isDate']],
    [
      'a date by its type alone',
      [v.IsOptional(), Type(() => Date)],
      ['optional-null', 'date-text', 'declared-type'],
      ['isDate'],
    ],
    ['lengths', [v.MaxLength(3)], ['variation-selectors'], []],
    ['lengths from below', [v.MinLength(3)], [], ['minLength']],
    [
      'nested DTOs, with what is in them',
      [v.ValidateNested(), Type(() => InnerDto)],
      ['nested-object', 'variation-selectors'],
      [],
    ],
    [
      'nested DTOs that are only typed',
      [v.IsDefined(), Type(() => InnerDto)],
      ['declared-type', 'variation-selectors'],
      [],
    ],
    [
      'conditions',
      [v.ValidateIf(({ kind }: { kind?: unknown }) => kind === 1), v.IsInt()],
      ['conditional-type'],
      ['conditional', 'isInt'],
    ],
    ['rules with a condition of their own', [v.IsString({ validateIf: () => false })], [], ['conditional']],
    [
      'a schema of its own',
      [v.IsString(), McpProperty({ schema: { maxLength: 3 } })],
      ['described-keywords'],
      [],
    ],
    ['conversions', [v.IsBoolean(), Type(() => Boolean)], ['converted-type'], []],
    ['transformations', [v.IsString(), Transform(({ value }) => value as string)], ['transform'], []],
    ['constraints of the application', [custom], ['custom-presence'], ['custom']],
    ['constraints of the application beside others', [custom, v.IsString()], [], ['custom']],
    ['patterns', [v.Matches(/a/i)], ['pattern-code-points'], ['matches']],
    ['multiples', [v.IsDivisibleBy(2)], ['huge-multiples'], ['isDivisibleBy']],
    ['unique lists', [v.ArrayUnique()], ['unique-size'], ['arrayUnique']],
    ['members of an object', [v.IsNotEmptyObject()], ['empty-object'], []],
    [
      'formats',
      [v.IsEmail({}, { each: true }), v.IsUUID('4', { each: true })],
      ['each-of-one'],
      ['isEmail', 'isUuid'],
    ],
  ])('are %s', (_, decorators, stricter, looser) => {
    const found = differencesOf(dtoOf(...decorators));
    expect([...found.stricter].toSorted()).toEqual([...ALWAYS, ...stricter].toSorted());
    expect([...found.looser].toSorted()).toEqual(looser.toSorted());
  });

  it('are those of the whole graph, discriminators included', () => {
    class OuterDto {
      @v.ValidateNested({ each: true })
      @Type(() => Object, {
        discriminator: { property: 'kind', subTypes: [{ name: 'inner', value: InnerDto }] },
      })
      values: object[];
    }
    expect([...differencesOf(OuterDto).stricter]).toEqual(
      expect.arrayContaining(['discriminator', 'each-of-one', 'nested-object', 'variation-selectors']),
    );
  });

  it('are explained, every one', () => {
    const keys = [...VALIDATOR_RULES.values()].flatMap(({ stricter }) =>
      typeof stricter === 'string' ? [stricter] : [],
    );
    expect([...keys, 'enum-names', ...ALWAYS].filter((key) => STRICTER[key] === undefined)).toEqual([]);
    expect(Object.values(STRICTER).every((sentence) => sentence.endsWith('.'))).toBe(true);
    expect(['custom', 'conditional', 'isEmail', 'matches', 'isHash'].map(looserReason)).not.toContain(
      undefined,
    );
    expect(['isString', 'isBoolean', 'min', 'nothing'].map(looserReason)).toEqual(Array(4).fill(undefined));
  });
});

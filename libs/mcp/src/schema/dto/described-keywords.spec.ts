import 'reflect-metadata';
import { ApiProperty } from '@nestjs/swagger';
import * as v from 'class-validator';
import { jsonSchemaOf, type DtoView, dtoSchemaPlan } from './dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';

const propertiesOf = (dto: Class) => jsonSchemaOf(dto).properties as Record<string, JsonSchema>;

/** A DTO with one property of these decorators. */
function dtoOf(type: Class, ...decorators: PropertyDecorator[]): Class {
  const dto = class OneDto {};
  Reflect.defineMetadata('design:type', type, dto.prototype, 'value');
  for (const decorate of decorators) decorate(dto.prototype, 'value');
  return dto;
}

const shown = (type: Class, ...decorators: PropertyDecorator[]) =>
  propertiesOf(dtoOf(type, ...decorators)).value;

const never = { validateIf: () => false };
const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };

describe('what Swagger says of a value', () => {
  it.each<[string, Class, PropertyDecorator[], JsonSchema]>([
    ['a pattern with flags', String, [v.Matches(/^abc$/i), ApiProperty({ pattern: '^abc$' })], TEXT],
    ['a search', String, [v.Contains(''), ApiProperty({ pattern: 'x' })], TEXT],
    ['letters of a locale', String, [v.IsAlpha('de-DE'), ApiProperty({ pattern: '^[a-z]+$' })], TEXT],
    ['a hash of unknown length', String, [v.IsHash('x'), ApiProperty({ pattern: '^.$' })], TEXT],
    ['an address of a web page', String, [v.IsUrl(), ApiProperty({ format: 'uri' })], TEXT],
    ['a length on a condition', String, [v.MinLength(3, never), ApiProperty({ minLength: 3 })], TEXT],
    ['a pattern on a condition', String, [v.Matches(/^a$/, never), ApiProperty({ pattern: '^a$' })], TEXT],
    ['a limit on a condition', Number, [v.IsPositive(never), ApiProperty({ minimum: 1 })], NUMBER],
    ['a limit that is none', Number, [v.Max(Infinity), ApiProperty({ maximum: 5 })], NUMBER],
    ['degrees on a condition', Number, [v.IsLatitude(never), ApiProperty({ maximum: 5 })], NUMBER],
    ['values on a condition', String, [v.IsIn(['a'], never), ApiProperty({ enum: ['a'] })], TEXT],
    [
      'a divisor that is cut down',
      Number,
      [v.IsInt(), v.IsDivisibleBy(0.5), ApiProperty({ multipleOf: 5 })],
      { type: 'integer' },
    ],
    [
      'a size on a condition',
      Array,
      [v.IsArray(), v.ArrayMinSize(2, never), ApiProperty({ type: [String], minItems: 2 })],
      { type: 'array', items: TEXT },
    ],
    [
      'a pattern of each entry',
      Array,
      [v.Matches(/^a$/i, { each: true }), ApiProperty({ isArray: true, type: String, pattern: '^a$' })],
      { type: 'array', items: TEXT },
    ],
  ])('gives way to a rule about the same: %s', (_, type, decorators, expected) => {
    expect(shown(type, ...decorators)).toEqual(expected);
  });

  it('gives way to a rule of other groups', () => {
    const dto = dtoOf(
      String,
      v.IsString(),
      v.MinLength(3, { groups: ['create'] }),
      ApiProperty({ minLength: 3, maxLength: 9 }),
    );
    const seen = (view: DtoView) => dtoSchemaPlan(dto, view).schema.properties;
    expect(seen({ groups: ['update'] })).toEqual({ value: { type: 'string', maxLength: 9 } });
    expect(seen({ groups: ['create'] })).toEqual({ value: { type: 'string', minLength: 3, maxLength: 9 } });
  });

  it.each<[string, Class, PropertyDecorator[], JsonSchema]>([
    [
      'rules about another thing',
      String,
      [v.Matches(/^abc$/i), v.Length(1), ApiProperty({ maxLength: 9, format: 'x' })],
      { ...TEXT, minLength: 1, maxLength: 9, format: 'x' },
    ],
    [
      'a constraint of the application',
      String,
      [v.ValidateBy({ name: 'own', validator: () => true }), ApiProperty({ pattern: '^a$' })],
      { ...TEXT, pattern: '^a$' },
    ],
    [
      'a rule of each entry, for the list',
      Array,
      [v.MinLength(3, { each: true }), ApiProperty({ type: [String], minItems: 1 })],
      { type: 'array', items: { ...TEXT, minLength: 3 }, minItems: 1 },
    ],
  ])('stands beside %s', (_, type, decorators, expected) => {
    expect(shown(type, ...decorators)).toEqual(expected);
  });

  it('makes an integer of a declared number, where no rule says a type', () => {
    const integer = ApiProperty({ type: 'integer', multipleOf: 5 });
    expect(shown(Number, integer)).toEqual({ type: 'integer', multipleOf: 5 });
    expect(shown(Number, v.IsOptional(), integer)).toEqual({ type: 'integer', multipleOf: 5 });
    expect(shown(Number, v.IsNumber(), integer)).toEqual({ type: 'number' });
    expect(shown(Array, ApiProperty({ type: 'integer', isArray: true }))).toEqual({
      type: 'array',
      items: { type: 'integer' },
    });
  });
});

import 'reflect-metadata';
import { PartialType } from '@nestjs/mapped-types';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { differencesOf } from '../dto/differences.js';
import { dtoContract } from '../dto/dto.contract.js';
import { jsonSchemaOf } from '../dto/dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';

type Condition = (object: Record<string, unknown>, value: unknown) => boolean;

/** A DTO with one property under conditions and rules of any kind. */
function dtoOf(...decorators: PropertyDecorator[]): Class {
  class SubjectDto {}
  decorators.forEach((decorate) => decorate(SubjectDto.prototype, 'value'));
  return SubjectDto;
}

const under = (condition: Condition, ...rules: PropertyDecorator[]) =>
  dtoOf(v.ValidateIf(condition), ...rules);
const propertyOf = (dto: Class) => (jsonSchemaOf(dto).properties as Record<string, JsonSchema>).value;
const isRequired = (dto: Class) =>
  (jsonSchemaOf(dto).required as string[] | undefined)?.includes('value') ?? false;

const NULLABLE_INT = { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] };
const INT = { type: 'integer', minimum: 1 };
const rules = [v.IsInt(), v.Min(1)];

describe('a property under @ValidateIf', () => {
  it.each<[string, Condition, JsonSchema, boolean]>([
    ['spares null alone: it takes null', (_, value) => value !== null, NULLABLE_INT, true],
    [
      'spares null and absence: it takes both',
      (_, value) => value !== null && value !== undefined,
      NULLABLE_INT,
      false,
    ],
    ['spares absence alone: it is optional', (_, value) => value !== undefined, INT, false],
    ['spares nothing: it is as without', () => true, INT, true],
    [
      'asks the rest of the object: only its type is said',
      ({ kind }) => kind === 'a',
      { type: 'integer' },
      false,
    ],
    [
      'counts the object: only its type is said',
      (object) => Object.keys(object).length > 1,
      { type: 'integer' },
      false,
    ],
    [
      'asks whether a member is there: only its type is said',
      (object) => 'kind' in object,
      { type: 'integer' },
      false,
    ],
    [
      'spares more values than these: only its type is said',
      (_, value) => Boolean(value),
      { type: 'integer' },
      false,
    ],
    ['never holds: only its type is said', () => false, { type: 'integer' }, false],
    [
      'throws: only its type is said',
      () => {
        throw new Error('no context yet');
      },
      { type: 'integer' },
      false,
    ],
  ])('whose condition %s', (_, condition, schema, required) => {
    const dto = under(condition, ...rules);
    expect(propertyOf(dto)).toEqual(schema);
    expect(isRequired(dto)).toBe(required);
  });

  it('reads several conditions as one that needs all', () => {
    const dto = dtoOf(
      v.ValidateIf((_, value) => value !== null),
      v.IsOptional(),
      ...rules,
    );
    expect([propertyOf(dto), isRequired(dto)]).toEqual([NULLABLE_INT, false]);
    const other = dtoOf(
      v.ValidateIf((_, value) => value !== null),
      v.ValidateIf(({ kind }) => kind === 1),
      ...rules,
    );
    expect([propertyOf(other), isRequired(other)]).toEqual([{ type: 'integer' }, false]);
    expect([...differencesOf(other).stricter]).toContain('conditional-type');
    expect([...differencesOf(other).looser]).toContain('conditional');
  });

  it('says only what holds a nested DTO or a list, and its structure', () => {
    class ItemDto {
      @v.MaxLength(3) name: string;
    }
    const depends: Condition = ({ kind }) => kind === 'a';
    const nested = propertyOf(
      under(
        depends,
        v.ValidateNested(),
        Type(() => ItemDto),
      ),
    );
    expect(nested).toEqual(jsonSchemaOf(ItemDto));
    const list = propertyOf(under(depends, v.IsArray(), v.ArrayMaxSize(2), v.MaxLength(3, { each: true })));
    expect(list).toEqual({ type: 'array', items: { type: 'string' } });
    expect(propertyOf(under(depends, v.IsIn(['a', 'b'])))).toEqual({ type: 'string' });
  });

  it('takes null, and sends it on, by the idiom', async () => {
    const contract = dtoContract(under((_, value) => value !== null, ...rules));
    expect(await contract.checkRaw({ value: null })).toEqual([]);
    expect(await contract.instantiate({ value: null })).toEqual({ value: { value: null } });
    expect(await contract.checkRaw({})).toEqual(['value: is required']);
  });

  it('is what PartialType without null makes of a property', () => {
    class WholeDto {
      @v.IsInt() @v.Min(1) value: number;
    }
    const dto = PartialType(WholeDto, { skipNullProperties: false }) as Class;
    expect([propertyOf(dto), isRequired(dto)]).toEqual([INT, false]);
  });
});

describe('null', () => {
  it('B3: stays refused under @IsOptional alone, whatever the order', () => {
    const dto = dtoOf(v.IsOptional(), ...rules);
    expect([propertyOf(dto), isRequired(dto)]).toEqual([INT, false]);
    expect([...differencesOf(dto).stricter]).toContain('optional-null');
  });

  it('is taken where it is listed and every rule takes it', () => {
    const values = { type: 'string', enum: ['a'] };
    expect(propertyOf(dtoOf(v.IsIn(['a', null])))).toEqual({ anyOf: [values, { type: 'null' }] });
    expect(propertyOf(dtoOf(v.IsOptional(), v.IsIn(['a', null]), v.IsString()))).toEqual({
      anyOf: [values, { type: 'null' }],
    });
    expect(propertyOf(dtoOf(v.IsIn(['a', null]), v.IsString()))).toEqual(values);
  });

  it('is taken among entries where it is listed', () => {
    expect(propertyOf(dtoOf(v.IsIn(['a', null], { each: true })))).toEqual({
      type: 'array',
      items: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    });
  });

  it('makes a property optional that lists undefined', () => {
    expect(isRequired(dtoOf(v.IsIn(['a', undefined])))).toBe(false);
    expect(isRequired(dtoOf(v.IsNotIn(['a', undefined])))).toBe(true);
  });
});

import 'reflect-metadata';
import { Exclude, Expose, Type } from 'class-transformer';
import * as v from 'class-validator';
import { McpProperty } from '../decorators/property.decorator.js';
import { dtoSchemaPlan, type DtoView } from './dto/dto-schema.factory.js';
import type { Class } from './json-schema.js';
import {
  ArrayRuleOnSetException,
  CollectionWithoutTypeException,
  ConstructorException,
  ContradictoryRulesException,
  DateWithoutTypeException,
  EmptyOutputException,
  EnumTitlesException,
  ExcludedPropertyException,
  RemovedDiscriminatorException,
  ReservedPropertyException,
  SchemaException,
  SharedNameException,
  StatedDefaultException,
  UnknownNestedTypeException,
  UnresolvedTypeException,
} from './schema.exception.js';

class ItemDto {
  @v.IsString() name: string;
}
class CatDto {
  @v.IsIn(['cat']) kind: string;
}
class UnnamedDto {
  @v.ValidateNested({ each: true }) items: ItemDto[];
}
class InlineDto {
  @v.ValidateNested() place: { street: string };
}
class UndefinedDto {
  @v.ValidateNested() @Type(() => undefined as unknown as Class) item: unknown;
}
class NoVariantDto {
  @v.ValidateNested()
  @Type(() => ItemDto, {
    discriminator: { property: 'kind', subTypes: [{ name: 'x', value: undefined as unknown as Class }] },
  })
  item: ItemDto;
}
class TextDateDto {
  @v.IsDate() when: string;
}
class MapDto {
  @v.IsObject() counts: Map<string, number>;
}
class SetDto {
  @v.IsString({ each: true }) tags: Set<string>;
}
class ArraySetDto {
  @v.IsArray() @Type(() => String) tags: Set<string>;
}
class ReservedDto {
  @v.IsString() @Expose({ name: 'toString' }) text: string;
}
class SharedDto {
  @v.IsString() @Expose({ name: 'title' }) name: string;
  @v.IsString() title: string;
}
class ExcludedDto {
  @v.IsString() @Exclude() secret: string;
}
class NeedyDto {
  @v.IsString() text: string;
  constructor(source: { text: string }) {
    this.text = source.text;
  }
}
class RemovedDto {
  @v.ValidateNested()
  @Type(() => CatDto, { discriminator: { property: 'kind', subTypes: [{ name: 'cat', value: CatDto }] } })
  pet: CatDto;
}
class BareDto {
  name: string;
}
class HolderDto {
  @v.ValidateNested() @Type(() => BareDto) bare: BareDto;
}
class StatedDto {
  @v.IsInt() @McpProperty({ default: 20 }) limit: number;
}
class OtherDefaultDto {
  @v.IsInt() @McpProperty({ default: 20 }) limit = 10;
}
class NoEnumDto {
  @v.IsString() @McpProperty({ enumTitles: { a: 'A' } }) letter: string;
}
class StrayTitleDto {
  @v.IsIn(['a']) @McpProperty({ enumTitles: { A: 'first' } }) letter: string;
}

class FlagDto {
  @v.IsDate() when: Date;
}
/** A DTO of one property with these decorators. */
function dtoOf(...decorators: PropertyDecorator[]): Class {
  class RulesDto {}
  for (const decorate of decorators) decorate(RulesDto.prototype, 'value');
  return RulesDto;
}

const OUTPUT: DtoView = { direction: 'output' };

describe('a DTO that cannot be published', () => {
  it.each<[Class, new (...args: never[]) => SchemaException, RegExp, DtoView?]>([
    [
      UnnamedDto,
      UnknownNestedTypeException,
      /^UnnamedDto\.items: the class of the array elements .*@Type\(\(\) => ItemDto\)/,
    ],
    [InlineDto, UnknownNestedTypeException, /^InlineDto\.place: the nested class .*@Type/],
    [UndefinedDto, UnresolvedTypeException, /^UndefinedDto\.item: @Type\(\) gave no class; .*import/],
    [NoVariantDto, UnresolvedTypeException, /^NoVariantDto\.item: @Type\(\) gave no class/],
    [TextDateDto, DateWithoutTypeException, /^TextDateDto\.when: .*@Type\(\(\) => Date\)/],
    [FlagDto, DateWithoutTypeException, /^FlagDto\.when: .*@Type\(\(\) => Date\)/, { typedOnly: true }],
    [MapDto, CollectionWithoutTypeException, /^MapDto\.counts: .*a plain object and no Map; add @Type/],
    [SetDto, CollectionWithoutTypeException, /^SetDto\.tags: .*an array and no Set; add @Type/],
    [
      ArraySetDto,
      ArrayRuleOnSetException,
      /^ArraySetDto\.tags: the rule isArray refuses every Set; take an array/,
    ],
    [ReservedDto, ReservedPropertyException, /^ReservedDto\.toString: .*rename/],
    [SharedDto, SharedNameException, /^SharedDto\.title: it is published as "title", and so is name; /],
    [ExcludedDto, ExcludedPropertyException, /^ExcludedDto\.secret: @Exclude\(\), .*toPlainOnly: true/],
    [NeedyDto, ConstructorException, /^NeedyDto: its constructor throws .*let it take none$/],
    [RemovedDto, RemovedDiscriminatorException, /^CatDto\.kind: .*keepDiscriminatorProperty: true/],
    [BareDto, EmptyOutputException, /^BareDto: it has no known property.*@Expose\(\)/, OUTPUT],
    [HolderDto, EmptyOutputException, /^BareDto: it has no known property/, OUTPUT],
    [StatedDto, StatedDefaultException, /^StatedDto\.limit: .*states the default 20.*write `limit = 20`$/],
    [OtherDefaultDto, StatedDefaultException, /^OtherDefaultDto\.limit: /],
    [NoEnumDto, EnumTitlesException, /^NoEnumDto\.letter: .*add @IsEnum\(\) or @IsIn\(\)$/],
    [
      StrayTitleDto,
      EnumTitlesException,
      /^StrayTitleDto\.letter: enumTitles name "A".*use the values themselves/,
    ],
  ])('is refused with class, property and mend: %o', (dto, exception, message, view: DtoView = {}) => {
    const build = () => dtoSchemaPlan(dto, view);
    expect(build).toThrow(exception);
    expect(build).toThrow(SchemaException);
    expect(build).toThrow(message);
  });

  const each = { each: true };
  it.each<[string, PropertyDecorator[], string]>([
    [
      'types',
      [v.IsInt(), v.IsString()],
      'the rule isInt and the rule isString exclude each other: no value is both an integer and a string; correct one of them, or leave it out',
    ],
    [
      'types of an optional property',
      [v.IsOptional(), v.IsBoolean(), v.IsIn(['a'])],
      'the rule isBoolean and the rule isIn exclude each other: no value is both a boolean and a string; ',
    ],
    [
      'a schema of its own and a rule',
      [McpProperty({ schema: { type: 'string' } }), v.IsInt()],
      'the rule isInt and the schema of @McpProperty() exclude each other: no value is both an integer and a string; ',
    ],
    [
      'a schema of entries and a rule for them',
      [McpProperty({ schema: { items: { type: ['string', 'null'] } } }), v.IsInt(each)],
      'the rule isInt and the schema of @McpProperty() exclude each other: no entry is both an integer and a string; ',
    ],
    [
      'types of entries',
      [v.IsArray(), v.IsUUID('4', each), v.IsInt(each)],
      'the rule isUuid and the rule isInt exclude each other: no entry is both a string and an integer; ',
    ],
    [
      'a value and a list of values',
      [v.IsString(), v.IsString(each)],
      'the rule isString and the rule isString for each entry exclude each other: no value is both a string and an array; ',
    ],
    [
      'a date and its text',
      [v.IsDate(), Type(() => Date), v.IsDateString()],
      'the rule isDate and the rule isDateString exclude each other: no value is both a Date and a string; ',
    ],
    [
      'a DTO and text',
      [v.ValidateNested(), Type(() => ItemDto), v.IsString()],
      '@ValidateNested() and the rule isString exclude each other: no value is both an object or an array and a string; ',
    ],
    [
      'limits of a number',
      [v.Min(10), v.Max(5)],
      'the rule min and the rule max exclude each other: no value is at least 10 and at most 5; ',
    ],
    [
      'open limits of a number',
      [v.IsPositive(), v.Max(0)],
      'the rule isPositive and the rule max exclude each other: no value is greater than 0 and at most 0; ',
    ],
    [
      'lengths',
      [v.MaxLength(2), v.MinLength(3)],
      'the rule maxLength and the rule minLength exclude each other: no value is a text of at least 3 and one of at most 2; ',
    ],
    [
      'lengths of one rule',
      [v.Length(5, 2)],
      'the rule isLength contradicts itself: no value is a text of at least 5 and one of at most 2; correct it',
    ],
    [
      'sizes of a list',
      [v.ArrayNotEmpty(), v.ArrayMaxSize(0)],
      'the rule arrayNotEmpty and the rule arrayMaxSize exclude each other: no value is a list of at least 1 and one of at most 0; ',
    ],
    [
      'lists of values',
      [v.IsIn(['a', 'b']), v.IsEnum({ C: 'c' })],
      'the rule isIn and the rule isEnum exclude each other: their lists of values have none in common; ',
    ],
    [
      'two lists of values of entries',
      [v.IsIn(['a'], each), v.IsIn(['b'], each)],
      'the rule isIn and another one exclude each other: their lists of values have none in common; ',
    ],
  ])('is refused where rules exclude each other: %s', (_, decorators, message) => {
    const dto = dtoOf(...decorators);
    expect(() => dtoSchemaPlan(dto)).toThrow(ContradictoryRulesException);
    expect(() => dtoSchemaPlan(dto)).toThrow(`RulesDto.value: ${message}`);
    expect(() => dtoSchemaPlan(dto, OUTPUT)).not.toThrow();
  });

  it.each<[string, PropertyDecorator[]]>([
    ['overlap', [v.IsInt(), v.IsNumber(), v.Min(5), v.Max(5), v.IsIn([5, 6]), v.IsIn([5, 7])]],
    ['leave open what the others say', [v.IsLatitude(), v.IsString(), v.IsNotEmpty(), v.NotEquals('a')]],
    ['run on a condition of their own', [v.IsInt(), v.IsString({ validateIf: () => false })]],
    [
      'run on a condition of the property',
      [v.ValidateIf(({ kind }: { kind?: unknown }) => kind === 1), v.IsInt(), v.IsString()],
    ],
    ['have null in common', [v.IsIn([null, 'a']), v.IsIn([null, 'b'])]],
    ['are for the list and its entries', [v.IsArray(), v.IsInt(each), v.ArrayMaxSize(2), v.Min(5, each)]],
    ['are for rows', [v.IsArray(each), v.ValidateNested(each), Type(() => ItemDto)]],
    [
      'are for a date and its text in JSON',
      [v.IsDate(), Type(() => Date), McpProperty({ schema: { type: 'string', pattern: 'Z$' } })],
    ],
  ])('is none where rules %s', (_, decorators) => {
    expect(() => dtoSchemaPlan(dtoOf(...decorators))).not.toThrow();
  });

  it('is refused in one direction only where the other works', () => {
    for (const dto of [TextDateDto, MapDto, SetDto, NeedyDto, RemovedDto])
      expect(() => dtoSchemaPlan(dto, OUTPUT)).not.toThrow();
    expect(() => dtoSchemaPlan(BareDto)).not.toThrow();
  });

  it('has a name even without one', () => {
    const anonymous = (() => class {})();
    v.ValidateNested()(anonymous.prototype, 'x');
    expect(() => dtoSchemaPlan(anonymous)).toThrow(/^\(anonymous class\)\.x: /);
  });
});

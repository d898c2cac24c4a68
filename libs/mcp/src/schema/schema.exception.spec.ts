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
    [MapDto, CollectionWithoutTypeException, /^MapDto\.counts: .*a plain object and no Map; add @Type/],
    [SetDto, CollectionWithoutTypeException, /^SetDto\.tags: .*an array and no Set; add @Type/],
    [
      ArraySetDto,
      ArrayRuleOnSetException,
      /^ArraySetDto\.tags: the rule isArray refuses every Set; take an array/,
    ],
    [ReservedDto, ReservedPropertyException, /^ReservedDto\.toString: .*rename/],
    [SharedDto, SharedNameException, /^SharedDto\.title: it is published as "title", and so is name; /],
    [ExcludedDto, ExcludedPropertyException, /^ExcludedDto\.secret: @Exclude\(\) .*toPlainOnly: true/],
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

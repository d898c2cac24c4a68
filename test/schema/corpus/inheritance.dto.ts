import { Expose, Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { whole, type CorpusEntry } from './entry.js';

class BaseDto {
  @IsUUID()
  id: string;

  @IsString()
  @MaxLength(5)
  name: string;
}

export class ChildDto extends BaseDto {
  @IsInt()
  age: number;
}

export class ChildWithoutOwnDto extends BaseDto {}

export class OverrideTypeDto extends BaseDto {
  @IsInt()
  declare id: never;
}

export class OverrideNarrowerDto extends BaseDto {
  @IsIn(['a', 'abc'])
  declare name: string;
}

export class OverrideOptionalDto extends BaseDto {
  @IsOptional()
  declare name: string;
}

export class GrandChildDto extends ChildDto {
  @Min(18)
  declare age: number;

  @IsOptional()
  @IsString()
  title?: string;
}

export class OverrideLimitDto extends GrandChildDto {
  @Min(21)
  @Max(99)
  declare age: number;
}

abstract class PageDto {
  @IsOptional()
  @IsInt()
  @Min(1)
  page?: number = 1;

  @IsOptional()
  @IsInt()
  @Max(100)
  size?: number = 20;
}

export class SearchPageDto extends PageDto {
  @IsString()
  @MinLength(1)
  query: string;

  override size?: number = 50;
}

class ItemDto {
  @IsString()
  label: string;
}

class PricedItemDto extends ItemDto {
  @IsNumber()
  price: number;
}

class ListDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ItemDto)
  items: ItemDto[];
}

export class PricedListDto extends ListDto {
  @Type(() => PricedItemDto)
  declare items: PricedItemDto[];
}

class ShownDto {
  @Expose({ name: 'full_name' })
  @IsString()
  fullName: string;
}

export class InheritedNameDto extends ShownDto {
  @IsOptional()
  @IsInt()
  count?: number;
}

/** A mixin: the class is made at run time and has no name of its own. */
function withTenant<T extends new (...args: never[]) => object>(base: T) {
  class Tenant extends (base as new () => object) {
    @IsString()
    tenant: string;
  }
  return Tenant;
}

export class MixinDto extends withTenant(BaseDto) {
  @IsOptional()
  @IsInt()
  count?: number;
}

const id = '6f1c0b1e-8a57-4c5e-9f6b-0d2f4a3b1c2d';

export const entries: readonly CorpusEntry[] = [
  whole(ChildDto, { accepts: [{ id, name: 'ann', age: 1 }], refuses: [{ id, name: 'ann' }, { age: 1 }] }),
  whole(ChildWithoutOwnDto, { accepts: [{ id, name: 'ann' }], refuses: [{ id }, { id, name: 'too long' }] }),
  whole(OverrideTypeDto, { accepts: [{ id: 5, name: 'ann' }], refuses: [{ id, name: 'ann' }] }),
  whole(OverrideNarrowerDto, { accepts: [{ id, name: 'abc' }], refuses: [{ id, name: 'ab' }] }),
  whole(OverrideOptionalDto, { accepts: [{ id, name: 'ann' }, { id }], refuses: [{ id, name: 'too long' }] }),
  whole(GrandChildDto, {
    accepts: [
      { id, name: 'ann', age: 18, title: 'Dr' },
      { id, name: 'ann', age: 30 },
    ],
    refuses: [
      { id, name: 'ann', age: 17 },
      { id, name: 'ann', age: 'old' },
    ],
  }),
  whole(OverrideLimitDto, {
    accepts: [{ id, name: 'ann', age: 21 }],
    refuses: [
      { id, name: 'ann', age: 20 },
      { id, name: 'ann', age: 100 },
    ],
  }),
  whole(SearchPageDto, {
    accepts: [{ query: 'a', page: 2, size: 10 }, { query: 'a' }],
    refuses: [{ query: 'a', page: 0 }, { query: 'a', size: 101 }, {}],
  }),
  whole(PricedListDto, {
    accepts: [{ items: [{ label: 'a', price: 1 }] }, { items: [] }],
    refuses: [{ items: [{ label: 'a' }] }, { items: [{ price: 1 }] }],
  }),
  whole(InheritedNameDto, { accepts: [{ full_name: 'Ann', count: 1 }], refuses: [{ fullName: 'Ann' }, {}] }),
  whole(MixinDto, {
    accepts: [{ id, name: 'ann', tenant: 'a', count: 1 }],
    refuses: [{ id, name: 'ann' }, { tenant: 'a' }],
  }),
];

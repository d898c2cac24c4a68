import { Type } from 'class-transformer';
import {
  IsArray,
  IsDefined,
  IsInt,
  IsNotEmpty,
  IsNotEmptyObject,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

class PlaceDto {
  @IsString()
  street: string;

  @IsOptional()
  @IsInt()
  number?: number;
}

class PersonDto {
  @IsString()
  @MaxLength(20)
  name: string;

  @ValidateNested()
  @Type(() => PlaceDto)
  home: PlaceDto;
}

class BareDto {
  text: string;
}

export class NestedDto {
  @ValidateNested()
  @Type(() => PlaceDto)
  place: PlaceDto;
}

export class NestedByTypeOnlyDto {
  @Type(() => PlaceDto)
  @ValidateNested()
  @IsDefined()
  place: PlaceDto;
}

export class NestedOptionalDto {
  @IsOptional()
  @ValidateNested()
  @Type(() => PlaceDto)
  place?: PlaceDto;
}

export class NestedObjectRuleDto {
  @IsObject()
  @ValidateNested()
  @Type(() => PlaceDto)
  place: PlaceDto;
}

/** No @Type(): the compiler's own note of the class has to do. */
export class NestedImpliedDto {
  @ValidateNested()
  place: PlaceDto;
}

export class NestedNotEmptyDto {
  @IsNotEmpty()
  @ValidateNested()
  @Type(() => PlaceDto)
  place: PlaceDto;
}

export class NestedNonEmptyObjectDto {
  @IsNotEmptyObject()
  @ValidateNested()
  @Type(() => PlaceDto)
  place: PlaceDto;
}

export class DeepDto {
  @ValidateNested()
  @Type(() => PersonDto)
  person: PersonDto;
}

export class NestedTwiceDto {
  @ValidateNested()
  @Type(() => PlaceDto)
  from: PlaceDto;

  @ValidateNested()
  @Type(() => PlaceDto)
  to: PlaceDto;
}

export class NestedListDto {
  @ValidateNested({ each: true })
  @Type(() => PlaceDto)
  places: PlaceDto[];
}

export class NestedArrayDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PersonDto)
  people: PersonDto[];
}

export class NestedOptionalArrayDto {
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PlaceDto)
  places?: PlaceDto[];
}

export class NestedArrayWithoutEachDto {
  @IsArray()
  @ValidateNested()
  @Type(() => PlaceDto)
  places: PlaceDto[];
}

export class NestedSetDto {
  @ValidateNested({ each: true })
  @Type(() => PlaceDto)
  places: Set<PlaceDto>;
}

export class NestedMapDto {
  @ValidateNested({ each: true })
  @Type(() => PlaceDto)
  places: Map<string, PlaceDto>;
}

export class NumberMapDto {
  @Type(() => Number)
  @IsInt({ each: true })
  @Min(0, { each: true })
  counts: Map<string, number>;
}

export class RecordDto {
  @IsObject()
  labels: Record<string, string>;
}

export class OptionalRecordDto {
  @IsOptional()
  @IsObject()
  labels?: Record<string, number>;
}

export class NonEmptyRecordDto {
  @IsNotEmptyObject()
  labels: Record<string, string>;
}

export class NonNullableRecordDto {
  @IsNotEmptyObject({ nullable: false })
  labels: Record<string, string | null>;
}

export class InlineTypesDto {
  @IsArray()
  meta: { a: string }[];

  @IsObject()
  place: { street: string };
}

export class UndecoratedNestedDto {
  @ValidateNested()
  @Type(() => BareDto)
  bare: BareDto;
}

export class TypedOnlyDto {
  @Type(() => PlaceDto)
  place: PlaceDto;
}

export class NodeDto {
  @IsString()
  name: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => NodeDto)
  children?: NodeDto[];
}

export class LinkDto {
  @IsInt()
  @Max(9)
  value: number;

  @IsOptional()
  @ValidateNested()
  @Type(() => LinkDto)
  next?: LinkDto;
}

class LeafDto {
  @IsString()
  label: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => BranchDto)
  branches?: BranchDto[];
}

class BranchDto {
  @ValidateNested()
  @Type(() => LeafDto)
  leaf: LeafDto;
}

export class ForestDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => BranchDto)
  branches: BranchDto[];
}

export class TreeMapDto {
  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => TreeMapDto)
  children?: Map<string, TreeMapDto>;
}

export class NestedDefaultsDto {
  @ValidateNested()
  @Type(() => PlaceDto)
  place: PlaceDto = Object.assign(new PlaceDto(), { street: 'Main' });
}

const place = { street: 'Main', number: 1 };
const known = { targetMaps: [{ target: NestedImpliedDto, properties: { place: PlaceDto } }] };

export const entries: readonly CorpusEntry[] = [
  property(NestedDto, 'place', [place, { street: 'a' }], [{}, { street: 1 }, undefined, [place], 'Main']),
  property(NestedByTypeOnlyDto, 'place', [place], [undefined, null, { number: 1 }]),
  property(NestedOptionalDto, 'place', [place, undefined], [{}, { street: null }]),
  property(NestedObjectRuleDto, 'place', [place], [[], undefined, {}]),
  property(NestedImpliedDto, 'place', [place], [{}, undefined], { assuming: known }),
  property(NestedNotEmptyDto, 'place', [place], [undefined, null, {}]),
  property(NestedNonEmptyObjectDto, 'place', [place], [{}, undefined]),
  property(
    DeepDto,
    'person',
    [{ name: 'Ann', home: place }],
    [{ name: 'Ann' }, { name: 'Ann', home: {} }, { name: 'Ann', home: { street: 1 } }],
  ),
  whole(NestedTwiceDto, {
    accepts: [{ from: place, to: { street: 'b' } }],
    refuses: [{ from: place }, { from: place, to: {} }],
  }),
  property(NestedListDto, 'places', [[place], []], [[{}], undefined, [null], [place, null]]),
  property(
    NestedArrayDto,
    'people',
    [[{ name: 'Ann', home: place }], []],
    [[{ name: 'Ann' }], 'a', undefined],
  ),
  property(NestedOptionalArrayDto, 'places', [[place], undefined], [[{}], [1]]),
  property(NestedArrayWithoutEachDto, 'places', [[place]], [[{}], place]),
  property(NestedSetDto, 'places', [[place], []], [[{}], undefined]),
  property(NestedMapDto, 'places', [{ home: place }, {}], [{ home: {} }, { home: null }, 'a']),
  property(NumberMapDto, 'counts', [{ a: 1 }, {}], [{ a: -1 }, { a: 1.5 }, 'a'], {
    pool: [{ a: 1, b: 'x' }],
  }),
  property(RecordDto, 'labels', [{ a: 'b' }, {}], ['a', [], undefined]),
  property(OptionalRecordDto, 'labels', [{ a: 1 }, undefined], ['a', []]),
  property(NonEmptyRecordDto, 'labels', [{ a: 'b' }], [{}, [], 'a']),
  property(NonNullableRecordDto, 'labels', [{ a: 'b' }], [{}, { a: null }]),
  whole(InlineTypesDto, {
    accepts: [{ meta: [{ a: 'b' }], place: { street: 'Main' } }],
    refuses: [
      { meta: { a: 'b' }, place: {} },
      { meta: [], place: [] },
    ],
  }),
  property(UndecoratedNestedDto, 'bare', [{}], [{ text: 'a' }, 'a']),
  property(TypedOnlyDto, 'place', [place, undefined], []),
  whole(NodeDto, {
    accepts: [
      { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [{ name: 'd' }] }] }] },
      { name: 'a' },
    ],
    refuses: [
      { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [{ name: 1 }] }] }] },
      { name: 'a', children: [null] },
    ],
  }),
  whole(LinkDto, {
    accepts: [{ value: 1, next: { value: 2, next: { value: 3 } } }],
    refuses: [
      { value: 1, next: { value: 10 } },
      { value: 1, next: {} },
    ],
  }),
  whole(ForestDto, {
    accepts: [
      { branches: [{ leaf: { label: 'a', branches: [{ leaf: { label: 'b' } }] } }] },
      { branches: [] },
    ],
    refuses: [{ branches: [{ leaf: { label: 'a', branches: [{ leaf: {} }] } }] }, {}],
  }),
  whole(TreeMapDto, {
    accepts: [{ children: { a: { children: {} }, b: {} } }, {}],
    refuses: [{ children: { a: 1 } }],
  }),
  whole(NestedDefaultsDto, { accepts: [{ place }, {}], refuses: [{ place: {} }, { place: 'a' }] }),
];

import { Type } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsBoolean,
  IsDateString,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

class InnerDto {
  @IsString()
  @MinLength(2)
  name: string;
}

export class OptionalDto {
  @IsOptional()
  @IsString()
  nick?: string;
}

export class OptionalOnlyDto {
  @IsOptional()
  anything?: unknown;
}

export class OptionalTypedDto {
  @IsOptional()
  count?: number;
}

export class NullableChoiceDto {
  @IsOptional()
  @IsIn(['a', null])
  letter?: 'a' | null;
}

export class NullableDto {
  @ValidateIf((_, value) => value !== null)
  @IsString()
  @MaxLength(5)
  note: string | null;
}

export class NullableNumberDto {
  @IsInt()
  @Min(1)
  @ValidateIf((_object: unknown, value: unknown) => value !== null)
  count: number | null;
}

export class NullableListDto {
  @ValidateIf((_, value) => value !== null)
  @IsArray()
  @IsInt({ each: true })
  numbers: number[] | null;
}

export class NullableNestedDto {
  @ValidateIf((_, value) => value !== null)
  @ValidateNested()
  @Type(() => InnerDto)
  inner: InnerDto | null;
}

export class NullableNestedListDto {
  @ValidateIf((_, value) => value !== null)
  @ValidateNested({ each: true })
  @Type(() => InnerDto)
  inners: InnerDto[] | null;
}

export class OptionalByConditionDto {
  @ValidateIf((_, value) => value !== undefined)
  @IsInt()
  count?: number;
}

export class OptionalAndNullableDto {
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsString()
  @MinLength(2)
  note?: string | null;
}

export class OptionalAndNullableLooselyDto {
  // oxlint-disable-next-line eqeqeq -- it is what users write
  @ValidateIf((_, value) => value != null)
  @IsNumber()
  ratio?: number | null;
}

export class OptionalNullableDto {
  @IsOptional()
  @ValidateIf((_, value) => value !== null)
  @IsString()
  note?: string | null;
}

export class ConditionalDto {
  @IsIn(['card', 'cash'])
  method: string;

  @ValidateIf((payment: ConditionalDto) => payment.method === 'card')
  @IsString()
  @MinLength(4)
  card?: string;
}

export class ConditionalNestedDto {
  @IsBoolean()
  deliver: boolean;

  @ValidateIf((order: ConditionalNestedDto) => order.deliver)
  @ValidateNested()
  @Type(() => InnerDto)
  to?: InnerDto;
}

export class ConditionalListDto {
  @IsBoolean()
  tagged: boolean;

  @ValidateIf((dto: ConditionalListDto) => dto.tagged)
  @IsString({ each: true })
  @MaxLength(3, { each: true })
  tags?: string[];
}

export class ConditionalChoiceDto {
  @IsBoolean()
  sorted: boolean;

  @ValidateIf((dto: ConditionalChoiceDto) => dto.sorted)
  @IsIn(['asc', 'desc'])
  order?: string;
}

export class ConditionalAlwaysDto {
  @ValidateIf(() => true)
  @IsInt()
  count: number;
}

export class ConditionalNeverDto {
  @ValidateIf(() => false)
  @IsInt()
  count: number;
}

export class ConditionalOnValueDto {
  @ValidateIf((_, value) => value !== '')
  @IsString()
  @MinLength(3)
  search: string;
}

export class ConditionalThrowingDto {
  @ValidateIf((dto: { nested?: { flag: boolean } }) => Boolean(dto.nested?.flag))
  @IsInt()
  count: number;

  @Allow()
  nested?: { flag: boolean };
}

/** Two conditions on one property: the first one found decides in class-validator only if all agree. */
export class ConditionsTwiceDto {
  @ValidateIf((_, value) => value !== null)
  @ValidateIf((_, value) => value !== undefined)
  @IsInt()
  count?: number | null;
}

/** Conditions on single rules, not on the property. */
export class RuleConditionDto {
  @IsString()
  @MaxLength(3, { validateIf: (dto: RuleConditionDto) => dto.limited })
  text: string;

  @IsBoolean()
  limited: boolean;
}

export class RuleConditionOnlyDto {
  @IsInt({ validateIf: (_, value) => value !== 'all' })
  limit: number | 'all';
}

export class DefaultsDto {
  @IsInt()
  @Max(100)
  limit: number = 20;

  @IsIn(['asc', 'desc'])
  order: 'asc' | 'desc' = 'asc';

  @IsString({ each: true })
  tags: string[] = ['a'];

  @IsBoolean()
  deep = false;
}

export class ObjectDefaultDto {
  @IsOptional()
  @IsInt()
  count?: number = 3;

  @Allow()
  options: Record<string, unknown> = { a: 1 };
}

export class DynamicDefaultDto {
  @IsString()
  id: string = `${process.hrtime.bigint()}`;

  @IsDateString()
  at: string = new Date().toISOString();
}

export class NullDefaultDto {
  @IsOptional()
  @IsString()
  note: string | null = null;

  @ValidateIf((_, value) => value !== null)
  @IsInt()
  count: number | null = null;
}

export class AllOptionalDto {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  a?: string;

  @IsOptional()
  @IsInt()
  b?: number;

  @IsOptional()
  @ValidateNested()
  @Type(() => InnerDto)
  c?: InnerDto;
}

export const entries: readonly CorpusEntry[] = [
  property(OptionalDto, 'nick', ['ann', '', undefined], [null, 1]),
  property(OptionalOnlyDto, 'anything', [1, 'a', undefined], []),
  property(OptionalTypedDto, 'count', [1, undefined], []),
  property(NullableChoiceDto, 'letter', ['a', null, undefined], ['b']),
  property(NullableDto, 'note', ['text', null], [undefined, 'longer', 1]),
  property(NullableNumberDto, 'count', [1, null], [0, undefined, '1']),
  property(NullableListDto, 'numbers', [[1], null, []], [['1'], undefined, 'a']),
  property(NullableNestedDto, 'inner', [{ name: 'ab' }, null], [{ name: 'a' }, undefined, []]),
  property(NullableNestedListDto, 'inners', [[{ name: 'ab' }], null], [[{ name: 'a' }], undefined, [null]]),
  property(OptionalByConditionDto, 'count', [1, undefined], ['1', null]),
  property(OptionalAndNullableDto, 'note', ['ab', null, undefined], ['a', 1]),
  property(OptionalAndNullableLooselyDto, 'ratio', [0.5, null, undefined], ['1']),
  property(OptionalNullableDto, 'note', ['a', null, undefined], [1]),
  whole(ConditionalDto, {
    accepts: [{ method: 'card', card: '1234' }, { method: 'cash' }, { method: 'cash', card: 'x' }],
    refuses: [{ method: 'card' }, { method: 'card', card: '1' }, { method: 'cheque' }],
    edges: [{ method: 'cash', card: 1 }],
  }),
  whole(ConditionalNestedDto, {
    accepts: [{ deliver: true, to: { name: 'ab' } }, { deliver: false }],
    refuses: [{ deliver: true, to: { name: 'a' } }],
    edges: [
      { deliver: false, to: {} },
      { deliver: false, to: { name: 1 } },
      { deliver: false, to: { name: 'a' } },
      { deliver: true },
    ],
  }),
  whole(ConditionalListDto, {
    accepts: [{ tagged: true, tags: ['a'] }, { tagged: false }, { tagged: false, tags: ['long enough'] }],
    refuses: [{ tagged: true }, { tagged: true, tags: ['long enough'] }],
    edges: [
      { tagged: false, tags: 'a' },
      { tagged: false, tags: [1] },
    ],
  }),
  whole(ConditionalChoiceDto, {
    accepts: [{ sorted: true, order: 'asc' }, { sorted: false }, { sorted: false, order: 'up' }],
    refuses: [{ sorted: true, order: 'up' }, { sorted: true }],
    edges: [{ sorted: false, order: 1 }],
  }),
  property(ConditionalAlwaysDto, 'count', [1], ['1'], { edges: [{}] }),
  property(ConditionalNeverDto, 'count', [1, undefined], [], { edges: [{ count: 'x' }] }),
  property(ConditionalOnValueDto, 'search', ['abc', ''], ['ab', undefined, 1]),
  whole(ConditionalThrowingDto, {
    accepts: [{ count: 1, nested: { flag: true } }, {}],
    refuses: [{ count: 1.5, nested: { flag: true } }],
    edges: [{ count: 'x' }, { nested: { flag: true } }],
  }),
  property(ConditionsTwiceDto, 'count', [1], ['1'], { pool: [null] }),
  whole(RuleConditionDto, {
    accepts: [
      { text: 'abcdef', limited: false },
      { text: 'abc', limited: true },
    ],
    refuses: [
      { text: 'abcdef', limited: true },
      { text: 1, limited: false },
    ],
  }),
  property(RuleConditionOnlyDto, 'limit', [1, 'all'], [1.5, 'some']),
  whole(DefaultsDto, {
    accepts: [{ limit: 1, order: 'desc', tags: [], deep: true }, {}],
    refuses: [{ limit: 101 }, { order: 'up' }, { tags: [1] }, { limit: null }],
  }),
  whole(ObjectDefaultDto, { accepts: [{ count: 1, options: {} }, {}], refuses: [{ count: 'a' }] }),
  whole(DynamicDefaultDto, { accepts: [{ id: 'a', at: '2024-01-01' }, {}], refuses: [{ id: 1 }] }),
  whole(NullDefaultDto, {
    accepts: [{ note: 'a', count: 1 }, {}, { count: null }],
    refuses: [{ note: 1 }, { count: 'a' }],
  }),
  whole(AllOptionalDto, {
    accepts: [{ a: 'a', b: 1, c: { name: 'ab' } }, {}],
    refuses: [{ a: '' }, { b: '1' }, { c: { name: 'a' } }],
  }),
];

import { Type } from 'class-transformer';
import { IsArray, IsEnum, IsIn, IsOptional } from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

enum Status {
  Open = 'open',
  Closed = 'closed',
}

enum Level {
  Low = 1,
  High = 2,
}

enum Zero {
  None,
  Some,
}

enum Negative {
  Below = -1,
  Half = 0.5,
}

enum Mixed {
  No = 0,
  Yes = 'YES',
}

/** Two names of one value. */
enum Alias {
  // oxlint-disable-next-line typescript/no-duplicate-enum-values -- a second name of one value is meant
  First = 1,
  Default = 1,
  Second = 2,
}

/** Values that look like the names of others. */
enum Crossed {
  A = 'B',
  B = 'A',
}

const Shape = { Circle: 'circle', Square: 'square' } as const;
type Shape = (typeof Shape)[keyof typeof Shape];

const Size = { Small: 1, Large: 2 } as const;
type Size = (typeof Size)[keyof typeof Size];

const COLORS = ['red', 'green'] as const;
type Color = (typeof COLORS)[number];

export class TextEnumDto {
  @IsEnum(Status)
  status: Status;
}

export class NumericEnumDto {
  @IsEnum(Level)
  level: Level;
}

export class ZeroEnumDto {
  @IsEnum(Zero)
  zero: Zero;
}

export class NegativeEnumDto {
  @IsEnum(Negative)
  value: Negative;
}

export class MixedEnumDto {
  @IsEnum(Mixed)
  answer: Mixed;
}

export class AliasEnumDto {
  @IsEnum(Alias)
  value: Alias;
}

export class CrossedEnumDto {
  @IsEnum(Crossed)
  value: Crossed;
}

export class ConstEnumDto {
  @IsEnum(Shape)
  shape: Shape;
}

export class ConstNumbersDto {
  @IsEnum(Size)
  size: Size;
}

export class OptionalConstEnumDto {
  @IsOptional()
  @IsEnum(Shape)
  shape?: Shape | null;
}

export class LiteralListDto {
  @IsIn(COLORS)
  color: Color;
}

export class EnumValuesDto {
  @IsIn(Object.values(Status))
  status: Status;
}

export class EnumArrayDto {
  @IsEnum(Status, { each: true })
  statuses: Status[];
}

export class NumericEnumArrayDto {
  @IsArray()
  @IsEnum(Level, { each: true })
  levels: Level[];
}

export class EnumListOfValuesDto {
  @IsEnum(['a', 'b'])
  letter: string;
}

export class EnumSetDto {
  @Type(() => String)
  @IsEnum(Status, { each: true })
  statuses: Set<Status>;
}

export class EmptyEnumDto {
  @IsEnum({})
  never: string;
}

export class EveryEnumDto {
  @IsEnum(Status)
  status: Status;

  @IsEnum(Level)
  @IsOptional()
  level?: Level;

  @IsEnum(Mixed)
  @IsOptional()
  mixed?: Mixed;
}

export const entries: readonly CorpusEntry[] = [
  property(TextEnumDto, 'status', ['open'], ['Open', 1, undefined, null]),
  property(NumericEnumDto, 'level', [1, 2], [3, '1', 'Low']),
  property(ZeroEnumDto, 'zero', [0, 1], ['0', 2]),
  property(NegativeEnumDto, 'value', [-1, 0.5], [1, '-1']),
  property(MixedEnumDto, 'answer', [0, 'YES'], ['Yes', '0', 1]),
  property(AliasEnumDto, 'value', [1, 2], [3], { pool: ['First', 'Default'] }),
  property(CrossedEnumDto, 'value', ['A', 'B'], ['C']),
  property(ConstEnumDto, 'shape', ['circle'], ['Circle']),
  property(ConstNumbersDto, 'size', [1], ['Small', 3]),
  property(OptionalConstEnumDto, 'shape', ['circle', undefined], ['Circle', 1]),
  property(LiteralListDto, 'color', ['red'], ['blue']),
  property(EnumValuesDto, 'status', ['closed'], ['Closed']),
  property(EnumArrayDto, 'statuses', [['open', 'open'], []], [['Open'], [1]], { pool: [['open', 'x']] }),
  property(NumericEnumArrayDto, 'levels', [[1, 2]], [[3], ['1']], { pool: [['Low'], [1, 'High']] }),
  property(EnumListOfValuesDto, 'letter', ['a'], ['c'], { pool: ['0', 0] }),
  property(EnumSetDto, 'statuses', [['open']], [['Open']]),
  property(EmptyEnumDto, 'never', [], ['a']),
  whole(EveryEnumDto, {
    accepts: [{ status: 'open', level: 2, mixed: 'YES' }, { status: 'closed' }],
    refuses: [{ status: 'open', level: 3 }, { level: 1 }],
    edges: [{ status: 'open', level: 'High', mixed: 'No' }],
  }),
];

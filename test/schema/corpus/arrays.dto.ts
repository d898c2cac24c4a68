import { Type } from 'class-transformer';
import {
  ArrayContains,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayNotContains,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { property, type CorpusEntry } from './entry.js';

export class ArrayDto {
  @IsArray()
  values: unknown[];
}

export class ArraySizesDto {
  @ArrayMinSize(1)
  @ArrayMaxSize(3)
  values: unknown[];
}

export class ArrayMinSizeDto {
  @ArrayMinSize(2)
  tags: string[];
}

export class ArrayMaxSizeDto {
  @ArrayMaxSize(2)
  tags: string[];
}

export class ArrayNotEmptyDto {
  @ArrayNotEmpty()
  values: unknown[];
}

export class ArrayUniqueDto {
  @IsArray()
  @ArrayUnique()
  @IsString({ each: true })
  tags: string[];
}

export class ArrayUniqueNumbersDto {
  @ArrayUnique()
  @IsNumber({}, { each: true })
  numbers: number[];
}

export class ArrayUniqueAnythingDto {
  @ArrayUnique()
  values: unknown[];
}

export class ArrayUniqueByDto {
  @IsArray()
  @ArrayUnique((user: { id: number }) => user?.id)
  users: { id: number }[];
}

export class ArrayContainsDto {
  @ArrayContains(['admin'])
  roles: string[];
}

export class ArrayNotContainsDto {
  @ArrayNotContains(['root'])
  roles: string[];
}

export class StringsDto {
  @IsString({ each: true })
  tags: string[];
}

export class StringsInArrayDto {
  @IsArray()
  @IsString({ each: true })
  @MaxLength(5, { each: true })
  tags: string[];
}

export class OptionalStringsDto {
  @IsOptional()
  @IsString({ each: true })
  tags?: string[];
}

export class NumbersDto {
  @IsArray()
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(9, { each: true })
  digits: number[];
}

export class FlagsDto {
  @IsArray()
  @IsBoolean({ each: true })
  flags: boolean[];
}

export class ObjectsDto {
  @IsArray()
  @IsObject({ each: true })
  meta: { a: string }[];
}

export class EmailsDto {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(3)
  @IsEmail({}, { each: true })
  to: string[];
}

export class CodesDto {
  @Length(2, 3, { each: true })
  @Matches(/^[a-z]+$/, { each: true })
  codes: string[];
}

export class ChoicesDto {
  @IsArray()
  @IsIn(['red', 'green', 1], { each: true })
  choices: (string | number)[];
}

export class NonEmptyEntriesDto {
  @IsArray()
  @IsNotEmpty({ each: true })
  entries: unknown[];
}

export class NonEmptyListDto {
  @IsNotEmpty()
  @IsArray()
  values: unknown[];
}

export class MatrixDto {
  @IsArray()
  @IsArray({ each: true })
  matrix: number[][];
}

export class MatrixOfRowsDto {
  @IsArray()
  @ArrayMinSize(1)
  @IsArray({ each: true })
  @ArrayMinSize(2, { each: true })
  @ArrayMaxSize(2, { each: true })
  points: number[][];
}

class CellDto {
  @IsInt()
  value: number;
}

export class CellMatrixDto {
  @IsArray()
  @IsArray({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CellDto)
  rows: CellDto[][];
}

export class TupleDto {
  @IsArray()
  @ArrayMinSize(2)
  @ArrayMaxSize(2)
  @IsNumber({}, { each: true })
  point: [number, number];
}

/** The declared type alone makes it a list. */
export class UnnamedListDto {
  @IsOptional()
  list?: string[];
}

export class StringSetDto {
  @Type(() => String)
  @IsString({ each: true })
  names: Set<string>;
}

export const entries: readonly CorpusEntry[] = [
  property(ArrayDto, 'values', [[], [1, 'a', null]], ['a', {}, null, undefined]),
  property(ArraySizesDto, 'values', [[1], [1, 2, 3]], [[], [1, 2, 3, 4], 'abc', { length: 2 }]),
  property(ArrayMinSizeDto, 'tags', [['a', 'b']], [['a'], 'ab']),
  property(ArrayMaxSizeDto, 'tags', [[], ['a', 'b']], [['a', 'b', 'c'], 'a']),
  property(ArrayNotEmptyDto, 'values', [[1], [null]], [[], '']),
  property(ArrayUniqueDto, 'tags', [['a', 'b'], []], [['a', 'a'], 'a'], {
    pool: [
      ['__proto__', 'toString'],
      ['a', 'A'],
      ['__proto__', '__proto__'],
    ],
  }),
  property(ArrayUniqueNumbersDto, 'numbers', [[1, 2]], [[1, 1]], {
    pool: [
      [0, -0],
      [1, 1.5],
    ],
  }),
  property(
    ArrayUniqueAnythingDto,
    'values',
    [
      [1, 2],
      [{}, {}],
    ],
    [[1, 1]],
    {
      // Longer than a list may be whose entries are all compared.
      edges: [{ values: Array.from({ length: 10_001 }, (_, index) => index) }],
      pool: [
        [[], []],
        [1, '1', true],
      ],
    },
  ),
  property(ArrayUniqueByDto, 'users', [[{ id: 1 }, { id: 2 }]], [[{ id: 1 }, { id: 1, name: 'b' }]]),
  property(ArrayContainsDto, 'roles', [['admin', 'user']], [['user'], 'admin']),
  property(ArrayNotContainsDto, 'roles', [['user'], []], [['root'], 'user']),
  property(StringsDto, 'tags', [['a'], []], [[1], 1, undefined, ['a', null]]),
  property(StringsInArrayDto, 'tags', [['a', 'abcde']], [['abcdef'], 'a', { a: 'b' }]),
  property(OptionalStringsDto, 'tags', [['a'], undefined], [[1]]),
  property(NumbersDto, 'digits', [[0, 9], []], [[10], [1.5], ['1']]),
  property(FlagsDto, 'flags', [[true, false]], [['true']]),
  property(ObjectsDto, 'meta', [[{ a: 'b' }, {}]], [['a'], [[]], [null]]),
  property(EmailsDto, 'to', [['a@example.com']], [[], ['a'], ['a@b.co', 'a@b.co', 'a@b.co', 'a@b.co']]),
  property(CodesDto, 'codes', [['ab', 'abc']], [['a'], ['AB'], ['abcd']]),
  property(ChoicesDto, 'choices', [['red', 1], []], [['blue'], ['1']]),
  property(NonEmptyEntriesDto, 'entries', [[0, 'a']], [[''], [null]]),
  property(NonEmptyListDto, 'values', [[], [1]], ['', null, undefined]),
  property(MatrixDto, 'matrix', [[[1, 2], []], []], [[1], 'a'], { pool: [[[1, 'a']], [[[1]]], [[1], 2]] }),
  property(MatrixOfRowsDto, 'points', [[[1, 2]]], [[[1]], [[1, 2, 3]], []]),
  property(CellMatrixDto, 'rows', [[[{ value: 1 }], []]], [[[{ value: 'a' }]], [{ value: 1 }], [[1]]]),
  property(TupleDto, 'point', [[1, 2]], [[1], [1, 2, 3], ['1', '2']]),
  property(UnnamedListDto, 'list', [['a'], [], undefined], ['a']),
  property(StringSetDto, 'names', [['a', 'b'], []], [[1]], { pool: [['a', 'a']] }),
];

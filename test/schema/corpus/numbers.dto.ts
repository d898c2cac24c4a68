import { Type } from 'class-transformer';
import {
  IsDivisibleBy,
  IsInt,
  IsNegative,
  IsNotEmpty,
  IsNumber,
  IsOptional,
  IsPositive,
  Max,
  Min,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

export class NumberDto {
  @IsNumber()
  ratio: number;
}

export class NumberPlacesDto {
  @IsNumber({ maxDecimalPlaces: 2 })
  price: number;
}

export class NumberWithoutPlacesDto {
  @IsNumber({ maxDecimalPlaces: 0 })
  count: number;
}

export class NumberAllowingMoreDto {
  @IsNumber({ allowNaN: true, allowInfinity: true })
  value: number;
}

export class IntDto {
  @IsInt()
  count: number;
}

export class MinDto {
  @Min(1)
  limit: number;
}

export class MaxDto {
  @Max(100)
  limit: number;
}

export class RangeDto {
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number;
}

export class RangeTwiceDto {
  @Min(1)
  @Min(5)
  @Max(10)
  @Max(7)
  value: number;
}

export class FractionRangeDto {
  @IsNumber()
  @Min(0.1)
  @Max(0.3)
  share: number;
}

export class PositiveDto {
  @IsPositive()
  amount: number;
}

export class NegativeDto {
  @IsNegative()
  loss: number;
}

export class PositiveIntDto {
  @IsInt()
  @IsPositive()
  id: number;
}

export class DivisibleDto {
  @IsDivisibleBy(5)
  step: number;
}

export class DivisibleByFractionDto {
  @IsDivisibleBy(2.5)
  even: number;
}

export class DivisibleTwiceDto {
  @IsDivisibleBy(2)
  @IsDivisibleBy(3)
  six: number;
}

export class NonEmptyNumberDto {
  @IsNotEmpty()
  @IsInt()
  count: number;
}

/** A property that only its @Type() and its declared type describe. */
export class ConvertedNumberDto {
  @Type(() => Number)
  @IsInt()
  page: number;

  @Type(() => Number)
  @IsOptional()
  @IsNumber()
  size?: number;
}

export const entries: readonly CorpusEntry[] = [
  property(NumberDto, 'ratio', [0, 1.5, -0, 1e308], ['1', null, undefined]),
  property(NumberPlacesDto, 'price', [1.25, 1], [1.255, '1'], { pool: [0.1, 1e-7] }),
  property(NumberWithoutPlacesDto, 'count', [3], [1.5]),
  property(NumberAllowingMoreDto, 'value', [1.5], ['NaN']),
  property(IntDto, 'count', [0, -3, 2 ** 60], [1.5, '1', true]),
  property(MinDto, 'limit', [1, 1.5], [0, '1']),
  property(MaxDto, 'limit', [100, -1], [100.5, '1']),
  property(RangeDto, 'limit', [1, 100], [0, 101, 1.5]),
  property(RangeTwiceDto, 'value', [5, 7], [4, 8]),
  property(FractionRangeDto, 'share', [0.1, 0.3], [0.09, 0.1 + 0.2]),
  property(PositiveDto, 'amount', [1, Number.MIN_VALUE], [0, -0, -1, '1']),
  property(NegativeDto, 'loss', [-1], [0, 1]),
  property(PositiveIntDto, 'id', [1], [0, 1.5]),
  property(DivisibleDto, 'step', [5, 0, -10], [4, '5'], { pool: [1e21, 2.5] }),
  property(DivisibleByFractionDto, 'even', [2, 4], [3, 2.5, 5], { pool: [1e308, 7.5] }),
  property(DivisibleTwiceDto, 'six', [6, 0], [2, 3, 4]),
  property(NonEmptyNumberDto, 'count', [0, 1], ['', null, undefined]),
  whole(ConvertedNumberDto, {
    accepts: [{ page: 1, size: 1.5 }, { page: 1 }],
    refuses: [{ page: 1.5 }, { page: 'one' }],
  }),
];

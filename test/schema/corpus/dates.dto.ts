import { Type } from 'class-transformer';
import {
  IsArray,
  IsDate,
  IsDateString,
  IsISO8601,
  IsOptional,
  MaxDate,
  MinDate,
  ValidateIf,
} from 'class-validator';
import { property, type CorpusEntry } from './entry.js';

export class DateDto {
  @IsDate()
  @Type(() => Date)
  when: Date;
}

/** The declared type alone says that it is a date. */
export class ImpliedDateDto {
  @IsDate()
  when: Date;
}

export class OptionalDateDto {
  @IsOptional()
  @IsDate()
  @Type(() => Date)
  when?: Date;
}

export class NullableDateDto {
  @ValidateIf((_, value) => value !== null)
  @IsDate()
  @Type(() => Date)
  when: Date | null;
}

export class MinDateDto {
  @Type(() => Date)
  @MinDate(new Date('2024-01-01T00:00:00Z'))
  from: Date;
}

export class MaxDateDto {
  @Type(() => Date)
  @MaxDate(() => new Date('2024-12-31T00:00:00Z'))
  until: Date;
}

export class DateRangeDto {
  @IsDate()
  @Type(() => Date)
  @MinDate(new Date('2024-01-01T00:00:00Z'))
  @MaxDate(new Date('2024-12-31T00:00:00Z'))
  day: Date;
}

export class DatesDto {
  @IsArray()
  @IsDate({ each: true })
  @Type(() => Date)
  days: Date[];
}

export class IsoDatesDto {
  @IsArray()
  @IsDateString({}, { each: true })
  days: string[];
}

export class TextDateDto {
  @IsISO8601({ strict: true, strictSeparator: true })
  at: string;
}

export class TypedDateDto {
  @Type(() => Date)
  @IsOptional()
  when?: Date;
}

const POOL = ['2024-02-30', '2024-06-01', '2024-06-01T10:00:00+02:00', 'Jan 1 2024', '1', 1704067200000];
const dated = { targetMaps: [{ target: ImpliedDateDto, properties: { when: Date } }] };

export const entries: readonly CorpusEntry[] = [
  property(DateDto, 'when', ['2024-01-01T00:00:00Z', '2024-01-01'], ['banana', '', undefined, 1], {
    pool: POOL,
  }),
  property(ImpliedDateDto, 'when', ['2024-01-01T00:00:00Z'], ['banana', 5], { pool: POOL, assuming: dated }),
  property(OptionalDateDto, 'when', ['2024-01-01T00:00:00Z', undefined], ['banana'], { pool: POOL }),
  property(NullableDateDto, 'when', ['2024-01-01T00:00:00Z', null], ['banana', undefined], { pool: POOL }),
  property(MinDateDto, 'from', ['2024-01-02T00:00:00Z'], ['2023-12-31T00:00:00Z', 'banana'], { pool: POOL }),
  property(MaxDateDto, 'until', ['2024-01-02T00:00:00Z'], ['2025-12-31T00:00:00Z', 'banana'], { pool: POOL }),
  property(DateRangeDto, 'day', ['2024-06-01'], ['2023-06-01', '2025-06-01'], { pool: POOL }),
  property(DatesDto, 'days', [['2024-06-01'], []], [['banana'], '2024-06-01'], { pool: [POOL, [null]] }),
  property(IsoDatesDto, 'days', [['2024-06-01']], [['banana'], [1]]),
  property(TextDateDto, 'at', ['2024-06-01T10:00:00Z'], ['2024-06-31'], { pool: POOL }),
  property(TypedDateDto, 'when', ['2024-06-01', undefined], ['banana'], { pool: POOL }),
];

import {
  ApiHideProperty,
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsEnum,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

enum Status {
  Open = 'open',
  Closed = 'closed',
}

enum Level {
  Low = 1,
  High = 2,
}

export class DescribedBySwaggerDto {
  @ApiProperty({ title: 'Title', description: 'What it is about', example: 'Printer', deprecated: true })
  @IsString()
  title: string;

  @ApiProperty({ description: 'How many', examples: [1, 2], type: String, minimum: 5 })
  @IsInt()
  @Min(0)
  count: number;
}

export class SwaggerOnlyDto {
  @ApiProperty({ description: 'A text', minLength: 2 })
  text: string;

  @ApiProperty({ required: false, type: 'integer', minimum: 1 })
  count?: number;

  @ApiPropertyOptional({ enum: Status })
  status?: Status;

  @ApiProperty({ type: [String], maxItems: 2 })
  tags: string[];
}

export class SwaggerEnumDto {
  @ApiProperty({ enum: Level, enumName: 'Level' })
  level: Level;

  @ApiProperty({ enum: ['a', 'b'], isArray: true })
  letters: string[];

  @ApiProperty({ enum: Level })
  @IsEnum(Status)
  status: Status;
}

export class SwaggerNullableDto {
  @ApiProperty({ nullable: true, type: String })
  @IsOptional()
  @IsString()
  note?: string | null;
}

export class SwaggerItemsDto {
  @ApiProperty({ type: 'array', items: { type: 'integer' } })
  @IsArray()
  numbers: number[];

  @ApiProperty({ type: 'array', items: { type: 'array', items: { type: 'string' } } })
  @IsArray()
  rows: string[][];
}

export class SwaggerRecordDto {
  @ApiProperty({ type: 'object', additionalProperties: { type: 'number' } })
  rates: Record<string, number>;
}

export class SwaggerKeywordsDto {
  @ApiProperty({ maxLength: 3, pattern: '^a' })
  @IsString()
  code: string;

  @ApiProperty({ maxLength: 3 })
  @MaxLength(5)
  limited: string;

  @ApiProperty({ format: 'email' })
  @IsString()
  mail: string;
}

export class HiddenDto {
  @ApiHideProperty()
  @IsString()
  text: string;
}

class SwaggerPartDto {
  @ApiProperty({ description: 'A name' })
  @IsString()
  name: string;

  @ApiProperty({ description: 'A number' })
  count: number;
}

class SwaggerOtherDto {
  @ApiProperty({ description: 'Why' })
  @IsString()
  reason: string;
}

export class SwaggerPartialDto extends PartialType(SwaggerPartDto) {}

export class SwaggerPickedDto extends PickType(SwaggerPartDto, ['name'] as const) {}

export class SwaggerOmittedDto extends OmitType(SwaggerPartDto, ['name'] as const) {}

export class SwaggerJoinedDto extends IntersectionType(SwaggerPartDto, SwaggerOtherDto) {}

export class SwaggerNestedDto {
  @ApiProperty({ description: 'The part', type: () => SwaggerPartDto })
  @ValidateNested()
  @Type(() => SwaggerPartDto)
  part: SwaggerPartDto;

  @ApiProperty({ description: 'All the parts', type: [SwaggerPartDto] })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => SwaggerPartDto)
  parts: SwaggerPartDto[];
}

const part = { name: 'a', count: 1 };

export const entries: readonly CorpusEntry[] = [
  whole(DescribedBySwaggerDto, {
    accepts: [{ title: 'a', count: 0 }],
    refuses: [{ title: 'a', count: '0' }, { count: 1 }],
  }),
  whole(SwaggerOnlyDto, {
    accepts: [
      { text: 'ab', count: 1, status: 'open', tags: ['a'] },
      { text: 'ab', tags: [] },
    ],
    refuses: [{ tags: [] }, { text: 'ab', tags: [], status: 'Open' }],
  }),
  whole(SwaggerEnumDto, {
    accepts: [{ level: 1, letters: ['a'], status: 'open' }],
    refuses: [
      { level: 1, letters: [], status: 1 },
      { level: 3, letters: [], status: 'open' },
    ],
  }),
  property(SwaggerNullableDto, 'note', ['a', null, undefined], [1]),
  whole(SwaggerItemsDto, {
    accepts: [{ numbers: [1], rows: [['a']] }],
    refuses: [
      { numbers: 'a', rows: [] },
      { numbers: ['a'], rows: [] },
      { numbers: [], rows: ['a'] },
    ],
  }),
  whole(SwaggerRecordDto, { accepts: [{ rates: { a: 1.5 } }], refuses: [{ rates: { a: 'x' } }] }),
  whole(SwaggerKeywordsDto, {
    accepts: [{ code: 'abc', limited: 'abcde', mail: 'a@b.co' }],
    refuses: [{ code: 'abc', limited: 'abcdef', mail: 'a@b.co' }],
    edges: [
      { code: 'abcd', limited: 'a', mail: 'a@b.co' },
      { code: 'b', limited: 'a', mail: 'a@b.co' },
    ],
  }),
  property(HiddenDto, 'text', ['a'], [1, undefined]),
  whole(SwaggerPartialDto, { accepts: [part, {}], refuses: [{ name: 1 }] }),
  whole(SwaggerPickedDto, { accepts: [{ name: 'a' }], refuses: [{}, part] }),
  whole(SwaggerOmittedDto, { accepts: [{ count: 1 }], refuses: [part] }),
  whole(SwaggerJoinedDto, { accepts: [{ ...part, reason: 'a' }], refuses: [part] }),
  whole(SwaggerNestedDto, { accepts: [{ part, parts: [part] }], refuses: [{ part: {}, parts: [] }] }),
];

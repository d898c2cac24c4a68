import { Type } from 'class-transformer';
import { IsArray, IsEnum, IsIn, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { McpProperty } from 'nest-mcp';
import { property, whole, type CorpusEntry } from './entry.js';

enum Status {
  Open = 'open',
  Closed = 'closed',
}

class PartDto {
  @McpProperty({ description: 'What it is called' })
  @IsString()
  name: string;
}

export class DescribedDto {
  @McpProperty({ title: 'Title', description: 'What it is about', examples: ['Printer on fire'] })
  @IsString()
  title: string;

  @McpProperty({ description: 'How many', deprecated: true })
  @IsOptional()
  @IsInt()
  count?: number;

  @McpProperty({ description: 'Where it stands', enumTitles: { open: 'Open', closed: 'Closed' } })
  @IsEnum(Status)
  status: Status;

  @McpProperty({ description: 'All the parts' })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PartDto)
  parts: PartDto[];

  @McpProperty({ description: 'The first part' })
  @ValidateNested()
  @Type(() => PartDto)
  first: PartDto;
}

export class DescribedDefaultDto {
  @McpProperty({ description: 'How many', default: 20 })
  @IsInt()
  limit: number = 20;
}

export class DescribedOnlyDto {
  @McpProperty({ description: 'Any text' })
  note: string;

  @McpProperty({ description: 'Any number' })
  count: number;
}

export class OwnKeywordsDto {
  @McpProperty({ schema: { maxLength: 3 } })
  @IsString()
  code: string;
}

export class OwnNullDto {
  @McpProperty({ schema: { anyOf: [{ type: 'string' }, { type: 'null' }] } })
  @IsOptional()
  note?: string | null;
}

export class OwnRangeDto {
  @McpProperty({ schema: { minimum: 5 } })
  @IsInt()
  count: number;
}

export class OwnItemsDto {
  @McpProperty({ schema: { items: { type: 'integer' } } })
  @IsArray()
  numbers: number[];
}

export class OwnTupleDto {
  @McpProperty({
    schema: {
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      maxItems: 2,
      minItems: 2,
    },
  })
  @IsArray()
  pair: [string, number];
}

export class OwnChoiceDto {
  @McpProperty({ enumTitles: { 1: 'Low', 2: 'High' } })
  @IsIn([1, 2])
  level: number;
}

export class DescribedChildDto extends DescribedDefaultDto {
  @McpProperty({ description: 'An own text' })
  @IsString()
  text: string;
}

const part = { name: 'a' };

export const entries: readonly CorpusEntry[] = [
  whole(DescribedDto, {
    accepts: [{ title: 'a', count: 1, status: 'open', parts: [part], first: part }],
    refuses: [
      { title: 'a', status: 'open', parts: [{}], first: part },
      { title: 'a', status: 'x', parts: [], first: part },
    ],
  }),
  property(DescribedDefaultDto, 'limit', [1, undefined], ['a']),
  whole(DescribedOnlyDto, { accepts: [{ note: 'a', count: 1 }], refuses: [], edges: [{}, { note: 1 }] }),
  property(OwnKeywordsDto, 'code', ['abc'], [1], { pool: ['abcd'] }),
  property(OwnNullDto, 'note', ['a', null, undefined], [1]),
  property(OwnRangeDto, 'count', [5], ['5'], { pool: [4] }),
  property(OwnItemsDto, 'numbers', [[1], []], ['a'], { pool: [['a']] }),
  property(OwnTupleDto, 'pair', [['a', 1]], ['a'], { pool: [[1, 'a'], ['a'], ['a', 1, 'b']] }),
  property(OwnChoiceDto, 'level', [1], [3, '1']),
  whole(DescribedChildDto, { accepts: [{ limit: 1, text: 'a' }, { text: 'a' }], refuses: [{ limit: 1 }] }),
];

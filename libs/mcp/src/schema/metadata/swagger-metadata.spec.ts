import 'reflect-metadata';
import {
  ApiHideProperty,
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import * as v from 'class-validator';
import { dtoContract } from '../dto/dto.contract.js';
import { jsonSchemaOf } from '../dto/dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';

enum Status {
  Open = 'open',
  Closed = 'closed',
}
enum Level {
  Low = 1,
  High = 2,
}

class ItemDto {
  @v.IsString() @ApiProperty({ description: 'What it is called' }) name: string;
}

const propertiesOf = (dto: Class) => jsonSchemaOf(dto).properties as Record<string, JsonSchema>;

describe("a property that only Swagger's decorators describe", () => {
  class TicketDto {
    @ApiProperty({ description: 'Short', example: 'Printer', minLength: 3, maxLength: 80, pattern: '^P' })
    title: string;
    @ApiPropertyOptional({ minimum: 1, maximum: 5, exclusiveMaximum: true, default: 3 }) weight?: number;
    @ApiProperty({ type: 'integer', multipleOf: 5 }) steps: number;
    @ApiProperty({ enum: Status, enumName: 'Status' }) status: Status;
    @ApiProperty({ enum: Level, isArray: true, maxItems: 2 }) levels: Level[];
    @ApiProperty({ type: [String], uniqueItems: true }) tags: string[];
    @ApiProperty({ type: () => ItemDto }) item: unknown;
    @ApiProperty({ type: () => [ItemDto] }) items: ItemDto[];
    @ApiProperty({ type: 'object', additionalProperties: { type: 'number' } }) rates: Record<string, number>;
    @ApiProperty({ type: String, nullable: true, deprecated: true, title: 'Note' }) note: string | null;
    @ApiProperty({ type: 'array', items: { type: 'array', items: { type: 'number' } } }) matrix: number[][];
    @ApiProperty() when: Date;
    @ApiHideProperty() hidden: string;
  }

  it('is published with what they say', () => {
    expect(propertiesOf(TicketDto)).toEqual({
      title: {
        type: 'string',
        minLength: 3,
        maxLength: 80,
        pattern: '^P',
        description: 'Short',
        examples: ['Printer'],
      },
      weight: { type: 'number', minimum: 1, exclusiveMaximum: 5 },
      steps: { type: 'integer', multipleOf: 5 },
      status: { type: 'string', enum: ['open', 'closed'] },
      levels: { type: 'array', items: { type: 'number', enum: [1, 2] }, maxItems: 2 },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
      item: jsonSchemaOf(ItemDto),
      items: { type: 'array', items: jsonSchemaOf(ItemDto) },
      rates: { type: 'object', additionalProperties: { type: 'number' } },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'Note', deprecated: true },
      matrix: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      when: { type: 'string', format: 'date-time' },
    });
  });

  it('is required unless they say otherwise', () => {
    const names = Object.keys(propertiesOf(TicketDto)).filter((name) => name !== 'weight');
    expect(jsonSchemaOf(TicketDto).required).toEqual(names);
  });

  it('is made of the classes they name', async () => {
    class OuterDto {
      @ApiProperty({ type: [ItemDto] }) @v.ValidateNested({ each: true }) items: ItemDto[];
      @ApiProperty() @v.IsDate() since: Date;
    }
    const raw = { items: [{ name: 'a' }], since: '2024-01-01' };
    expect(await dtoContract(OuterDto).checkRaw(raw)).toEqual([]);
    const made = (await dtoContract(OuterDto).instantiate(raw)) as { value: OuterDto };
    expect(made.value.items[0]).toBeInstanceOf(ItemDto);
    expect(made.value.since).toEqual(new Date('2024-01-01'));
  });
});

describe("what Swagger's decorators add to rules", () => {
  it('is only what the rules leave open', () => {
    class BothDto {
      @ApiProperty({ type: 'integer', minimum: 3, maximum: 9, enum: [1, 2] })
      @v.IsNumber()
      @v.Min(1)
      amount: number;
      @ApiProperty({ enum: ['x'] }) @v.IsIn(['a', 'b']) letter: string;
      @ApiProperty({ minLength: 5, minimum: 3 }) @v.IsString() text: string;
      @ApiProperty({ type: 'string' }) @v.IsInt() count: number;
      @ApiProperty({ minimum: 4 }) @v.IsPositive() positive: number;
      @ApiProperty({ type: [String], minItems: 1, description: 'All of them' })
      @v.IsArray()
      @v.ArrayMinSize(2)
      tags: string[];
      @ApiProperty({ additionalProperties: { type: 'string' } }) @v.IsObject() labels: Record<string, string>;
      @ApiProperty({ required: true }) @v.IsOptional() @v.IsInt() optional?: number;
      @ApiProperty({ required: false }) @v.IsInt() needed: number;
    }
    expect(propertiesOf(BothDto)).toEqual({
      amount: { type: 'number', minimum: 1, enum: [1, 2] },
      letter: { type: 'string', enum: ['a', 'b'] },
      text: { type: 'string', minLength: 5 },
      count: { type: 'integer' },
      positive: { type: 'number', exclusiveMinimum: 0 },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2, description: 'All of them' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      optional: { type: 'integer' },
      needed: { type: 'integer' },
    });
    expect(jsonSchemaOf(BothDto).required).not.toContain('optional');
    expect(jsonSchemaOf(BothDto).required).toContain('needed');
  });

  it('makes null count where class-validator takes it, and nowhere else', () => {
    class NullsDto {
      @ApiProperty({ type: String, nullable: true }) @v.IsOptional() @v.IsString() note?: string | null;
      @ApiProperty({ type: String, nullable: true }) @v.IsString() name: string | null;
    }
    expect(propertiesOf(NullsDto)).toEqual({
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      name: { type: 'string' },
    });
  });

  it('is no narrower than a type under a condition', () => {
    class DependsDto {
      @ApiProperty({ maxLength: 3 })
      @v.ValidateIf((dto: DependsDto) => dto.other === 1)
      @v.IsString()
      text?: string;
      @v.IsInt() other: number;
    }
    expect(propertiesOf(DependsDto).text).toEqual({ type: 'string' });
  });

  it('ignores a default that no initialiser gives, and publishes one that does', () => {
    class PageDto {
      @ApiProperty({ default: 7 }) @v.IsInt() stated: number;
      @ApiProperty({ default: 7 }) @v.IsInt() given = 20;
    }
    expect(propertiesOf(PageDto)).toEqual({
      stated: { type: 'integer' },
      given: { type: 'integer', default: 20 },
    });
    expect(jsonSchemaOf(PageDto).required).toEqual(['stated']);
  });
});

describe('B6: mapped types of @nestjs/swagger', () => {
  class BaseDto {
    @ApiProperty({ description: 'The title' }) @v.IsString() title: string;
    @ApiProperty({ description: 'How many' }) @v.IsInt() count: number;
    @ApiProperty({ description: 'Only described' }) remark: string;
  }
  class ExtraDto {
    @ApiProperty({ description: 'More' }) @v.IsBoolean() more: boolean;
  }
  const described = {
    title: { type: 'string', description: 'The title' },
    count: { type: 'integer', description: 'How many' },
    remark: { type: 'string', description: 'Only described' },
    more: { type: 'boolean', description: 'More' },
  };

  it.each<[string, Class, (keyof typeof described)[], string[] | undefined]>([
    ['PartialType', PartialType(BaseDto) as Class, ['title', 'count', 'remark'], undefined],
    ['PickType', PickType(BaseDto, ['title', 'remark']) as Class, ['title', 'remark'], ['title', 'remark']],
    ['OmitType', OmitType(BaseDto, ['title']) as Class, ['count', 'remark'], ['count', 'remark']],
    [
      'IntersectionType',
      IntersectionType(BaseDto, ExtraDto) as Class,
      ['title', 'count', 'remark', 'more'],
      ['title', 'count', 'remark', 'more'],
    ],
  ])('%s keeps properties, descriptions and the required list', (_, dto, names, required) => {
    expect(propertiesOf(dto)).toEqual(Object.fromEntries(names.map((name) => [name, described[name]])));
    expect((jsonSchemaOf(dto).required as string[] | undefined)?.toSorted()).toEqual(required?.toSorted());
  });
});

describe("the compiler plugin's metadata", () => {
  class PluginDto {
    @v.IsString() title: string;
    level: 'low' | 'high';
    labels: Record<string, number>;
    parts: ItemDto[];
    note?: string | null;
    limit: number = 5;

    static _OPENAPI_METADATA_FACTORY() {
      return {
        title: { required: true, type: () => String, description: 'From the comment', example: 'Printer' },
        level: { required: true, enum: ['low', 'high'] },
        labels: { required: true, type: () => Object, additionalProperties: { type: 'number' } },
        parts: { required: true, type: () => [ItemDto] },
        note: { required: false, type: () => String, nullable: true, maxLength: 9 },
        limit: { required: true, type: () => Number, default: 5, minimum: 1 },
      };
    }
  }

  const published = {
    title: { type: 'string', description: 'From the comment', examples: ['Printer'] },
    level: { type: 'string', enum: ['low', 'high'] },
    labels: { additionalProperties: { type: 'number' } },
    parts: { type: 'array', items: jsonSchemaOf(ItemDto) },
    note: { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
    limit: { type: 'number', minimum: 1, default: 5 },
  };

  it('is read like the decorators', () => {
    expect(propertiesOf(PluginDto)).toEqual({
      ...published,
      labels: { type: 'object', ...published.labels },
    });
    expect(jsonSchemaOf(PluginDto).required).toEqual(['title', 'level', 'labels', 'parts']);
  });

  it('is inherited, and outranked by the decorators', () => {
    class ChildDto extends PluginDto {
      @ApiProperty({ description: 'Written by hand' }) declare title: string;
    }
    expect(propertiesOf(ChildDto).title).toEqual({
      type: 'string',
      description: 'Written by hand',
      examples: ['Printer'],
    });
    expect(propertiesOf(ChildDto).level).toEqual(published.level);
  });
});

describe('B14: a description', () => {
  @ApiSchema({ description: 'A place on a map' })
  class PlaceDto {
    @v.IsString() @ApiProperty({ description: 'Its name' }) name: string;
    @v.IsOptional()
    @v.ValidateNested()
    @ApiProperty({ type: () => PlaceDto, description: 'What it is in' })
    within?: object;
  }
  @ApiSchema({ description: 'An entry' })
  class EntryDto {
    @v.IsInt() id: number;
  }
  class MapDto {
    @v.ValidateNested({ each: true })
    @ApiProperty({ type: [EntryDto], description: 'All entries' })
    entries: EntryDto[];
    @v.ValidateNested() entry: EntryDto;
    @v.ValidateNested() @ApiProperty({ description: 'The first' }) first: EntryDto;
    @v.ValidateNested() @ApiProperty({ description: 'Where', title: 'Place', example: {} }) place: PlaceDto;
    @v.IsOptional() @v.IsInt() @ApiProperty({ description: 'At most' }) limit?: number;
  }
  class ChildDto extends MapDto {
    @v.IsEnum(Status) @ApiProperty({ enum: Status, description: 'Its state' }) status: Status;
  }

  it('stands on the property itself, once, and inherited as well', () => {
    const { entries, entry, first, limit, status } = propertiesOf(ChildDto);
    expect(entries).toMatchObject({
      type: 'array',
      description: 'All entries',
      items: { description: 'An entry' },
    });
    expect(entry).toMatchObject({ type: 'object', description: 'An entry' });
    expect(first).toMatchObject({ type: 'object', description: 'The first' });
    expect(limit).toEqual({ type: 'integer', description: 'At most' });
    expect(status).toEqual({ type: 'string', enum: ['open', 'closed'], description: 'Its state' });
  });

  it('B10: is all that stands next to a reference', () => {
    expect(propertiesOf(MapDto).place).toEqual({ $ref: '#/$defs/PlaceDto', description: 'Where' });
    const { PlaceDto: definition } = jsonSchemaOf(MapDto).$defs as Record<string, JsonSchema>;
    expect(definition).toMatchObject({
      description: 'A place on a map',
      properties: { within: { $ref: '#/$defs/PlaceDto', description: 'What it is in' } },
    });
  });
});

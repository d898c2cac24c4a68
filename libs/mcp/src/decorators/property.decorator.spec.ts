import 'reflect-metadata';
import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/mapped-types';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { differencesOf } from '../schema/dto/differences.js';
import { dtoContract } from '../schema/dto/dto.contract.js';
import { jsonSchemaOf } from '../schema/dto/dto-schema.factory.js';
import type { Class, JsonSchema } from '../schema/json-schema.js';
import { McpProperty, type McpPropertyOptions } from './property.decorator.js';

enum Level {
  Low = 1,
  High = 2,
}

const propertiesOf = (dto: Class) => jsonSchemaOf(dto).properties as Record<string, JsonSchema>;

describe('@McpProperty', () => {
  it('describes a property', () => {
    class TicketDto {
      @v.IsString()
      @McpProperty({ description: 'What is wrong', title: 'Title', examples: ['Printer'], deprecated: true })
      title: string;
    }
    expect(propertiesOf(TicketDto)).toEqual({
      title: {
        type: 'string',
        description: 'What is wrong',
        title: 'Title',
        examples: ['Printer'],
        deprecated: true,
      },
    });
  });

  it('publishes a property that has no other decorator, without asking for it', () => {
    class NoteDto {
      @McpProperty({ description: 'Anything' }) note: string;
      @McpProperty({ deprecated: false }) open: unknown;
    }
    expect(jsonSchemaOf(NoteDto)).toEqual({
      type: 'object',
      properties: { note: { type: 'string', description: 'Anything' }, open: {} },
      additionalProperties: false,
    });
  });

  it("outranks Swagger's decorators, and itself where it is nearer to the top or in a subclass", () => {
    class BaseDto {
      @McpProperty({ description: 'top' })
      @McpProperty({ description: 'bottom', title: 'Name' })
      @ApiProperty({ description: 'swagger', example: 'x' })
      @v.IsString()
      name: string;
    }
    class ChildDto extends BaseDto {
      @McpProperty({ description: 'child' }) declare name: string;
    }
    expect(propertiesOf(BaseDto).name).toEqual({
      type: 'string',
      description: 'top',
      title: 'Name',
      examples: ['x'],
    });
    expect(propertiesOf(ChildDto).name).toMatchObject({ type: 'string', description: 'child' });
  });

  it('B6: is carried over by mapped types', () => {
    class WholeDto {
      @v.IsString() @McpProperty({ description: 'The title' }) title: string;
      @v.IsInt() @McpProperty({ description: 'How many' }) count: number;
    }
    class OtherDto {
      @McpProperty({ description: 'More' }) more: boolean;
    }
    const description = (dto: unknown, name: string) => propertiesOf(dto as Class)[name]?.description;
    expect(description(PartialType(WholeDto), 'title')).toBe('The title');
    expect(description(PickType(WholeDto, ['count']), 'count')).toBe('How many');
    expect(description(OmitType(WholeDto, ['count']), 'title')).toBe('The title');
    expect(description(IntersectionType(WholeDto, OtherDto), 'more')).toBe('More');
  });

  it('B17: publishes a header, also by mapped types, and beside a reference for it to be refused', () => {
    class RegionDto {
      @v.IsString() @McpProperty({ header: 'Region', description: 'Where' }) region: string;
      @v.IsInt() @McpProperty({ header: 'Limit' }) limit: number;
    }
    class OtherDto {
      @v.IsBoolean() @McpProperty({ header: 'More' }) more: boolean;
    }
    class NodeDto {
      @v.ValidateNested() @Type(() => NodeDto) @McpProperty({ header: 'Next', title: 'Next' }) next: unknown;
    }
    const header = (dto: unknown, name: string) => propertiesOf(dto as Class)[name]?.['x-mcp-header'];
    expect(propertiesOf(RegionDto)).toEqual({
      region: { type: 'string', description: 'Where', 'x-mcp-header': 'Region' },
      limit: { type: 'integer', 'x-mcp-header': 'Limit' },
    });
    expect(propertiesOf(PartialType(RegionDto) as Class).region).toEqual(propertiesOf(RegionDto).region);
    expect(header(PickType(RegionDto, ['limit']), 'limit')).toBe('Limit');
    expect(header(OmitType(RegionDto, ['limit']), 'region')).toBe('Region');
    expect(header(IntersectionType(RegionDto, OtherDto), 'more')).toBe('More');
    expect(propertiesOf(NodeDto).next).toEqual({ $ref: '#/$defs/NodeDto', 'x-mcp-header': 'Next' });
  });

  it('narrows by a schema of its own, and declares null with it', () => {
    class OwnDto {
      @v.IsString()
      @v.MinLength(2)
      @McpProperty({ schema: { minLength: 4, contentMediaType: 'text/html' } })
      text: string;
      @v.IsArray()
      @McpProperty({ schema: { items: { type: 'array', items: { type: 'number' } } } })
      matrix: number[][];
      @v.IsOptional() @v.IsInt() @McpProperty({ schema: { type: ['integer', 'null'], maximum: 9 } }) count?:
        number | null;
      @v.IsInt() @McpProperty({ schema: { type: ['integer', 'null'] } }) strict: number | null;
      @McpProperty({ schema: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] } }) open: unknown;
    }
    expect(propertiesOf(OwnDto)).toEqual({
      text: { type: 'string', minLength: 4, contentMediaType: 'text/html' },
      matrix: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      count: { anyOf: [{ type: 'integer', maximum: 9 }, { type: 'null' }] },
      // class-validator refuses null here, so saying otherwise would be a lie.
      strict: { type: 'integer' },
      open: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
    });
    expect([...differencesOf(OwnDto).stricter]).toContain('described-keywords');
  });

  it('titles the values of an enum, in their order', () => {
    class LevelsDto {
      @v.IsEnum(Level) @McpProperty({ enumTitles: { 2: 'urgent', 1: 'can wait' } }) level: Level;
      @v.IsIn(['a', 'b'], { each: true }) @McpProperty({ enumTitles: { a: 'first' } }) letters: string[];
      @v.IsOptional() @v.IsIn(['x', null]) @McpProperty({ enumTitles: { x: 'the one' } }) one?: string | null;
    }
    expect(propertiesOf(LevelsDto)).toEqual({
      level: { type: 'number', enum: [1, 2], enumNames: ['can wait', 'urgent'] },
      letters: { type: 'array', items: { type: 'string', enum: ['a', 'b'], enumNames: ['first', 'b'] } },
      one: { anyOf: [{ type: 'string', enum: ['x'], enumNames: ['the one'] }, { type: 'null' }] },
    });
  });

  it('publishes a stated default that the initialiser gives', () => {
    class PageDto {
      @v.IsInt() @McpProperty({ default: 20 }) limit = 20;
    }
    expect(propertiesOf(PageDto).limit).toEqual({ type: 'integer', default: 20 });
  });

  it('holds in every group', () => {
    class GroupedDto {
      @v.IsString({ groups: ['create'] })
      @McpProperty({ description: 'Who', schema: { maxLength: 3 } })
      name: string;
      @McpProperty({ description: 'Why' }) reason: string;
    }
    const view = { groups: ['create'], whitelist: true };
    expect(dtoContract(GroupedDto, { view }).schema['properties']).toEqual({
      name: { type: 'string', maxLength: 3, description: 'Who' },
      reason: { type: 'string', description: 'Why' },
    });
  });

  it('refuses at boot a schema that is none, saying where', async () => {
    const refused = async (schema: JsonSchema) => {
      class BrokenDto {
        @v.IsString() @McpProperty({ schema }) text: string;
      }
      await dtoContract(BrokenDto).prepare();
    };
    await expect(refused({ minLength: -1 })).rejects.toThrow(/^BrokenDto\.text: .*minLength.*correct it$/);
    await expect(refused({ $ref: '#/$defs/nothing' })).rejects.toThrow(/^BrokenDto\.text: .*nothing/);
    await expect(refused({ pattern: '(' })).rejects.toThrow(/^BrokenDto\.text: /);
    await expect(refused({ maxLength: 5 })).resolves.toBeUndefined();
  });

  it('leaves nothing to be done at boot where nothing was written by hand', () => {
    class PlainDto {
      @v.IsString() @McpProperty({ description: 'x' }) text: string;
    }
    expect(dtoContract(PlainDto).prepare()).toBeUndefined();
  });

  it.each<[string, unknown, string | symbol, RegExp]>([
    [
      'an option it does not have',
      { describtion: 'x' },
      'a',
      /^@McpProperty\(\) on OddDto\.a: describtion is no option \(known: description, /,
    ],
    ['a description that is no text', { description: 5 }, 'a', /description has to be text$/],
    ['examples that are no list', { examples: 'x' }, 'a', /examples has to be a list$/],
    ['titles that are no texts', { enumTitles: { a: 1 } }, 'a', /enumTitles has to be an object of texts$/],
    ['a header that is no text', { header: 5 }, 'a', /header has to be text$/],
    ['a schema that is no object', { schema: true }, 'a', /schema has to be a JSON Schema object$/],
    ['a symbol as name', {}, Symbol('s'), /OddDto\.Symbol\(s\): JSON has no member/],
  ])('refuses %s where it is written', (_, options, name, message) => {
    class OddDto {}
    expect(() => McpProperty(options as McpPropertyOptions)(OddDto.prototype, name)).toThrow(message);
    expect(() => McpProperty(options as McpPropertyOptions)(OddDto.prototype, name)).toThrow(TypeError);
  });
});

import 'reflect-metadata';
import { Exclude, Expose, Type } from 'class-transformer';
import * as v from 'class-validator';
import { McpProperty } from '../../decorators/property.decorator.js';
import { dtoSchemaPlan, jsonSchemaOf } from './dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';

enum Priority {
  Low = 'low',
  High = 'high',
}
enum Level {
  Low = 1,
  High = 2,
}
enum Mixed {
  None = 0,
  Some = 'some',
}
const Colour = { red: 'r', green: 'g' } as const;

class ErrorDto {
  @v.IsInt() code: number;
  @v.IsString() @v.IsOptional() text?: string;
}
class NodeDto {
  @v.IsString() name: string;
  @v.ValidateNested({ each: true }) @Type(() => NodeDto) children: NodeDto[];
}

const propertiesOf = (dto: Class) => jsonSchemaOf(dto).properties as Record<string, JsonSchema>;

/** Every subschema of a schema, itself included. */
function subschemas(schema: unknown): JsonSchema[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return [schema as JsonSchema, ...Object.values(schema).flatMap(subschemas)];
}

/** Copies a class the way mapped types do: its rules, @Type and declared types, for chosen properties. */
function mapped(source: Class, keep: (name: string) => boolean, target: Class = class Mapped {}): Class {
  for (const rule of v.getMetadataStorage().getTargetValidationMetadatas(source, '', false, false)) {
    if (!keep(rule.propertyName)) continue;
    const type: unknown = Reflect.getMetadata('design:type', source.prototype as object, rule.propertyName);
    Reflect.defineMetadata('design:type', type, target.prototype as object, rule.propertyName);
    v.getMetadataStorage().addValidationMetadata(
      Object.assign(Object.create(rule) as typeof rule, { target }),
    );
  }
  return target;
}

describe('the schema of a DTO', () => {
  it('B1: describes the elements of a nested array in full', () => {
    class BatchDto {
      @v.IsArray() @v.ValidateNested({ each: true }) @Type(() => ErrorDto) errors: ErrorDto[];
    }
    expect(jsonSchemaOf(BatchDto)).toEqual({
      type: 'object',
      properties: {
        errors: {
          type: 'array',
          items: {
            type: 'object',
            properties: { code: { type: 'integer' }, text: { type: 'string' } },
            required: ['code'],
            additionalProperties: false,
          },
        },
      },
      required: ['errors'],
      additionalProperties: false,
    });
  });

  it('B2: gives every array items, at every depth', () => {
    class ListsDto {
      @v.IsArray() values: unknown[];
      @v.IsArray({ each: true }) matrix: number[][];
      @v.ArrayMinSize(1) tags: string[];
      @v.Allow() plain: string[];
      @Type(() => Number) numbers: number[];
    }
    const arrays = subschemas(jsonSchemaOf(ListsDto)).filter(({ type }) => type === 'array');
    expect(arrays).toHaveLength(6);
    expect(arrays.every(({ items }) => items !== undefined)).toBe(true);
    expect(propertiesOf(ListsDto)).toMatchObject({
      matrix: { items: { type: 'array', items: {} } },
      tags: { minItems: 1, items: {} },
      numbers: { items: { type: 'number' } },
    });
  });

  it('B3: leaves null out of an optional property and does not require it', () => {
    class NickDto {
      @v.IsOptional() @v.IsString() nick?: string | null;
    }
    expect(jsonSchemaOf(NickDto)).toEqual({
      type: 'object',
      properties: { nick: { type: 'string' } },
      additionalProperties: false,
    });
  });

  it('B4: lists the values of an enum, never its names or reverse names', () => {
    class EnumsDto {
      @v.IsEnum(Priority) priority: Priority;
      @v.IsEnum(Level) level: Level;
      @v.IsEnum(Mixed) mixed: Mixed;
      @v.IsEnum(Level, { each: true }) levels: Level[];
    }
    expect(propertiesOf(EnumsDto)).toEqual({
      priority: { type: 'string', enum: ['low', 'high'] },
      level: { type: 'number', enum: [1, 2] },
      mixed: { enum: [0, 'some'] },
      levels: { type: 'array', items: { type: 'number', enum: [1, 2] } },
    });
  });

  it('B5: lists the values of a const object, whatever declared type the compiler wrote', () => {
    class PaletteDto {
      @v.IsEnum(Colour) @v.IsOptional() colour?: 'r' | 'g' | null;
      @v.IsIn(Object.values(Colour)) other: 'r' | 'g';
    }
    const values = { type: 'string', enum: ['r', 'g'] };
    expect(propertiesOf(PaletteDto)).toEqual({ colour: values, other: values });
    Reflect.defineMetadata('design:type', Object, PaletteDto.prototype, 'other');
    class SameDto extends PaletteDto {}
    expect(propertiesOf(SameDto)).toEqual({ colour: values, other: values });
  });

  it('B6: keeps the right properties and required list of derived and mapped classes', () => {
    class ChildDto extends ErrorDto {
      @v.IsBoolean() fatal: boolean;
    }
    const Partial = mapped(ErrorDto, () => true);
    v.IsOptional()(Partial.prototype as object, 'code');
    const Picked = mapped(ErrorDto, (name) => name === 'code');
    const Both = mapped(
      ChildDto,
      () => true,
      mapped(NodeDto, (name) => name === 'name'),
    );
    const required = (dto: Class) => jsonSchemaOf(dto).required;
    expect(Object.keys(propertiesOf(ChildDto)).sort()).toEqual(['code', 'fatal', 'text']);
    expect(required(ChildDto)).toEqual(['fatal', 'code']);
    expect(Object.keys(propertiesOf(Partial))).toEqual(['code', 'text']);
    expect(required(Partial)).toBeUndefined();
    expect(Object.keys(propertiesOf(Picked))).toEqual(['code']);
    expect(Object.keys(propertiesOf(Both)).sort()).toEqual(['code', 'fatal', 'name', 'text']);
  });

  it('lets an overridden property replace the rules it inherits', () => {
    class BaseDto {
      @v.IsUUID() id: string;
    }
    class NumberedDto {}
    Object.setPrototypeOf(NumberedDto, BaseDto);
    Object.setPrototypeOf(NumberedDto.prototype, BaseDto.prototype);
    v.IsInt()(NumberedDto.prototype, 'id');
    expect(propertiesOf(NumberedDto).id).toEqual({ type: 'integer' });
  });

  it('B8: takes the type from the rules, and leaves an undecidable property open', () => {
    class NoteDto {
      @v.IsOptional() @v.IsString() note: string | null;
      @v.Allow() anything: string | number;
    }
    expect(propertiesOf(NoteDto)).toEqual({ note: { type: 'string' }, anything: {} });
  });

  it('B12: lets @IsNotEmpty stand on any type, in any order', () => {
    class FilledDto {
      @v.IsNotEmpty() @v.IsInt() count: number;
      @v.IsArray() @v.IsNotEmpty() items: unknown[];
      @v.IsNotEmpty() @v.IsBoolean() flag: boolean;
      @v.IsNotEmpty() title: string;
      @v.IsNotEmpty() open: unknown;
      @v.IsString({ each: true }) @v.IsNotEmpty({ each: true }) tags: string[];
    }
    expect(propertiesOf(FilledDto)).toEqual({
      count: { type: 'integer' },
      items: { type: 'array', items: {} },
      flag: { type: 'boolean' },
      title: { type: 'string', minLength: 1 },
      open: { not: { enum: ['', null] } },
      tags: { type: 'array', items: { type: 'string', minLength: 1 } },
    });
  });

  it('B13: publishes dates as date-time text', () => {
    class WhenDto {
      @v.IsDate() @Type(() => Date) when: Date;
      @v.IsDate() implied: Date;
      @v.IsDate({ each: true }) @Type(() => Date) all: Date[];
    }
    const date = { type: 'string', format: 'date-time' };
    expect(propertiesOf(WhenDto)).toEqual({ when: date, implied: date, all: { type: 'array', items: date } });
  });

  it('B15: has an object at its root, and a required list only when something is required', () => {
    class EmptyDto {}
    class LooseDto {
      @v.IsOptional() @v.IsInt() limit?: number;
    }
    expect(jsonSchemaOf(EmptyDto)).toEqual({ type: 'object', additionalProperties: false });
    expect(jsonSchemaOf(LooseDto)).toMatchObject({ type: 'object', additionalProperties: false });
    expect('required' in jsonSchemaOf(LooseDto)).toBe(false);
  });

  it('B16: publishes a single allowed value with its type, zero included', () => {
    class ShapeDto {
      @v.Equals('circle') kind: string;
      @v.Equals(0) radius: number;
      // Compared by identity, so nothing that comes as JSON ever equals it.
      @v.Equals({ a: 1 }) never: unknown;
    }
    expect(propertiesOf(ShapeDto)).toEqual({
      kind: { type: 'string', enum: ['circle'] },
      radius: { type: 'number', enum: [0] },
      never: { not: {} },
    });
  });

  it('publishes the name @Expose gives a property, and nothing @Exclude keeps from being read', () => {
    class NamedDto {
      @v.IsString() @Expose({ name: 'first_name' }) firstName: string;
      @v.IsOptional() @v.IsString() @Exclude() hidden?: string;
      @v.IsOptional() @v.IsString() @Exclude({ toPlainOnly: true }) secret?: string;
    }
    expect(jsonSchemaOf(NamedDto)).toEqual({
      type: 'object',
      properties: { first_name: { type: 'string' }, secret: { type: 'string' } },
      required: ['first_name'],
      additionalProperties: false,
    });
  });

  it.each([undefined, null, {}, 'text', () => NodeDto, String])(
    'is that of a class, and not of %p',
    (given) => {
      expect(() => jsonSchemaOf(given as never)).toThrow(
        new TypeError('jsonSchemaOf() takes a DTO class, as in jsonSchemaOf(SearchTicketsDto)'),
      );
    },
  );

  it('has no default where the handler is given the plain arguments', () => {
    class PageDto {
      @v.IsInt() limit = 20;
      @v.IsOptional() @v.IsInt() @McpProperty({ default: 1 }) page?: number;
      @v.IsInt() @v.Min(1) size = 0;
    }
    expect(dtoSchemaPlan(PageDto, { keepsPlain: true }).schema).toEqual({
      type: 'object',
      properties: {
        limit: { type: 'integer' },
        page: { type: 'integer' },
        size: { type: 'integer', minimum: 1 },
      },
      required: ['size'],
      additionalProperties: false,
    });
    expect(() => dtoSchemaPlan(PageDto)).toThrow('PageDto.page: @McpProperty() states the default 1');
  });

  it('is built once for a class and frozen at every depth', () => {
    expect(jsonSchemaOf(NodeDto)).toBe(jsonSchemaOf(NodeDto));
    expect(subschemas(jsonSchemaOf(NodeDto)).every((schema) => Object.isFrozen(schema))).toBe(true);
  });
});

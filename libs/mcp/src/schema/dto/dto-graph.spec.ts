import 'reflect-metadata';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { jsonSchemaOf } from './dto-schema.factory.js';
import { McpProperty } from '../../decorators/property.decorator.js';
import type { Class, JsonSchema } from '../json-schema.js';

class ErrorDto {
  @v.IsInt() code: number;
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

describe('the definitions of a schema', () => {
  it('B9: ends a recursive DTO in local definitions', () => {
    const schema = jsonSchemaOf(NodeDto);
    const children = { type: 'array', items: { $ref: '#/$defs/NodeDto' } };
    expect(schema.properties).toEqual({ name: { type: 'string' }, children });
    expect(schema.$defs).toMatchObject({ NodeDto: { properties: { name: { type: 'string' }, children } } });
    expect(subschemas(schema).filter(({ $ref }) => $ref !== undefined)).toEqual([
      { $ref: '#/$defs/NodeDto' },
      { $ref: '#/$defs/NodeDto' },
    ]);
  });

  it('keeps recursive classes of one name apart', () => {
    const make = (rule: () => PropertyDecorator) => {
      class Same {
        @v.ValidateNested() @v.IsOptional() @Type(() => Same) next?: object;
      }
      rule()(Same.prototype, 'value');
      return Same;
    };
    const [Left, Right] = [make(v.IsInt), make(v.IsString)];
    class PairDto {
      @v.ValidateNested() @Type(() => Left) left: object;
      @v.ValidateNested() @Type(() => Right) right: object;
    }
    const { properties, $defs } = jsonSchemaOf(PairDto);
    expect(properties).toEqual({ left: { $ref: '#/$defs/Same' }, right: { $ref: '#/$defs/Same_2' } });
    expect($defs).toMatchObject({
      Same: { properties: { value: { type: 'integer' } } },
      Same_2: { properties: { value: { type: 'string' }, next: { $ref: '#/$defs/Same_2' } } },
    });
  });

  it('B10: writes a DTO used twice inline, without any reference', () => {
    class UsesDto {
      @v.ValidateNested() first: ErrorDto;
      @v.ValidateNested() @v.IsObject() @Type(() => ErrorDto) second: ErrorDto;
    }
    const { first, second } = propertiesOf(UsesDto);
    expect(first).toEqual(jsonSchemaOf(ErrorDto));
    expect(second).toEqual(first);
    expect(JSON.stringify(jsonSchemaOf(UsesDto))).not.toContain('$ref');
  });
});

describe('a discriminated property', () => {
  class CatDto {
    @v.IsInt() lives: number;
  }
  class DogDto {
    @v.IsString() name: string;
  }
  class AnimalDto {}
  const discriminator = {
    property: 'kind',
    subTypes: [
      { name: 'cat', value: CatDto },
      { name: 'dog', value: DogDto },
    ],
  };
  const variant = (kind: string, name: string, type: string) => ({
    type: 'object',
    properties: { kind: { type: 'string', enum: [kind] }, [name]: { type } },
    required: ['kind', name],
    additionalProperties: false,
  });
  const variants = { anyOf: [variant('cat', 'lives', 'integer'), variant('dog', 'name', 'string')] };

  it('B11: is one of the closed variants, each with its own value, and the root stays an object', () => {
    class ZooDto {
      @v.ValidateNested() @Type(() => AnimalDto, { discriminator }) first: AnimalDto;
      @v.ValidateNested({ each: true }) @Type(() => AnimalDto, { discriminator }) animals: AnimalDto[];
      @v.ValidateIf((_, value) => value !== null)
      @v.ValidateNested()
      @Type(() => AnimalDto, { discriminator })
      last: AnimalDto | null;
    }
    expect(jsonSchemaOf(ZooDto)).toEqual({
      type: 'object',
      properties: {
        first: variants,
        animals: { type: 'array', items: variants },
        last: { anyOf: [...variants.anyOf, { type: 'null' }] },
      },
      required: ['first', 'animals', 'last'],
      additionalProperties: false,
    });
  });

  it('keeps what a variant itself says of the discriminator, and a single one needs no union', () => {
    class KeptDto {
      @v.IsIn(['cat', 'lion']) @McpProperty({ description: 'Which' }) kind: string;
      @v.IsInt() lives: number;
    }
    class HouseDto {
      @v.ValidateNested()
      @Type(() => KeptDto, {
        discriminator: { property: 'kind', subTypes: [{ name: 'cat', value: KeptDto }] },
        keepDiscriminatorProperty: true,
      })
      pet: KeptDto;
    }
    expect(propertiesOf(HouseDto).pet).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['cat'], description: 'Which' },
        lives: { type: 'integer' },
      },
      required: ['kind', 'lives'],
      additionalProperties: false,
    });
  });

  it('defines a class once for each value where variants contain themselves', () => {
    class NotDto {
      @v.ValidateNested() inner: object;
    }
    class WordDto {
      @v.IsString() word: string;
    }
    const subTypes = [
      { name: 'not', value: NotDto },
      { name: 'never', value: NotDto },
      { name: 'word', value: WordDto },
    ];
    Type(() => Object, { discriminator: { property: 'op', subTypes } })(NotDto.prototype, 'inner');
    class QueryDto {
      @v.ValidateNested() @Type(() => Object, { discriminator: { property: 'op', subTypes } }) where: object;
    }
    const { $defs, properties } = jsonSchemaOf(QueryDto);
    expect(Object.keys($defs as object)).toEqual(['NotDto_not', 'NotDto_never']);
    expect((properties as Record<string, JsonSchema>).where).toEqual({
      anyOf: [
        { $ref: '#/$defs/NotDto_not' },
        { $ref: '#/$defs/NotDto_never' },
        {
          type: 'object',
          properties: { op: { type: 'string', enum: ['word'] }, word: { type: 'string' } },
          required: ['op', 'word'],
          additionalProperties: false,
        },
      ],
    });
  });
});

describe('what holds the values of a property', () => {
  it('B2: may be rows of entries, a map, a set, a tuple or a record', () => {
    class HoldersDto {
      @v.IsArray()
      @v.IsArray({ each: true })
      @v.ValidateNested({ each: true })
      @Type(() => ErrorDto)
      rows: ErrorDto[][];
      @v.IsArray() @v.IsArray({ each: true }) matrix: number[][];
      @v.ValidateNested({ each: true }) @Type(() => ErrorDto) byName: Map<string, ErrorDto>;
      @v.IsInt({ each: true }) @Type(() => Number) unique: Set<number>;
      @v.IsArray() @v.ArrayMinSize(2) @v.ArrayMaxSize(2) @v.IsNumber({}, { each: true }) pair: [
        number,
        number,
      ];
      @v.IsObject() labels: Record<string, string>;
    }
    const error = jsonSchemaOf(ErrorDto);
    expect(propertiesOf(HoldersDto)).toEqual({
      rows: { type: 'array', items: { type: 'array', items: error } },
      matrix: { type: 'array', items: { type: 'array', items: {} } },
      byName: { type: 'object', additionalProperties: error },
      unique: { type: 'array', items: { type: 'integer' } },
      pair: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'number' } },
      labels: { type: 'object' },
    });
  });

  it('B7: takes lists and objects whose type is written in place as they are', () => {
    class InlineDto {
      @v.IsArray() meta: { a: string }[];
      @v.IsObject({ each: true }) parts: { a: string }[];
      @v.IsObject() place: { street: string };
    }
    expect(propertiesOf(InlineDto)).toEqual({
      meta: { type: 'array', items: {} },
      parts: { type: 'array', items: { type: 'object' } },
      place: { type: 'object' },
    });
  });

  it('writes nothing that makes a client refuse the whole list: no type lists, const, boolean schemas or bare arrays', () => {
    class EverythingDto {
      @v.Equals('a') one: string;
      @v.IsIn(['a', null]) listed: string | null;
      @v.ValidateIf((_, value) => value !== null) @v.IsArray() list: unknown[] | null;
      @v.IsOptional() @v.NotEquals(1) other?: number;
      @v.IsNotIn([1, null]) some: unknown;
      @v.ArrayContains(['a']) has: string[];
    }
    for (const schema of subschemas(jsonSchemaOf(EverythingDto))) {
      expect(Array.isArray(schema.type)).toBe(false);
      expect('const' in schema).toBe(false);
      expect(schema.type === 'array' && schema.items === undefined).toBe(false);
      expect([schema.items, schema.not].some((inner) => typeof inner === 'boolean')).toBe(false);
    }
  });
});

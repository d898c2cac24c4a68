import 'reflect-metadata';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { dtoSchema } from './dto-schema.factory.js';
import type { Class, JsonSchema } from './json-schema.js';

class ErrorDto {
  @v.IsInt() code: number;
}
class NodeDto {
  @v.IsString() name: string;
  @v.ValidateNested({ each: true }) @Type(() => NodeDto) children: NodeDto[];
}

const propertiesOf = (dto: Class) => dtoSchema(dto).properties as Record<string, JsonSchema>;

/** Every subschema of a schema, itself included. */
function subschemas(schema: unknown): JsonSchema[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return [schema as JsonSchema, ...Object.values(schema).flatMap(subschemas)];
}

describe('the definitions of a schema', () => {
  it('B9: ends a recursive DTO in local definitions', () => {
    const schema = dtoSchema(NodeDto);
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
    const { properties, $defs } = dtoSchema(PairDto);
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
    expect(first).toEqual(dtoSchema(ErrorDto));
    expect(second).toEqual(first);
    expect(JSON.stringify(dtoSchema(UsesDto))).not.toContain('$ref');
  });
});

import 'reflect-metadata';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { z } from 'zod';
import { McpProperty } from '../decorators/property.decorator.js';
import { argumentsContract } from './contract.factory.js';
import { freezeSchema, type JsonSchema } from './json-schema.js';
import { mirroredArguments, withoutMirrors } from './mirrored-arguments.js';
import { outputContract } from './output.contract.js';

const text = (header: unknown, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  'x-mcp-header': header,
  ...more,
});
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});

enum Zone {
  North = 'north',
  South = 'south',
}

class PlaceDto {
  @v.IsBoolean() @McpProperty({ header: 'Is-Remote' }) remote: boolean;
}

class QueryDto {
  @v.IsString() @McpProperty({ header: 'Region', description: 'Where' }) region: string;
  @v.IsEnum(Zone) @McpProperty({ header: 'Zone' }) zone: Zone;
  @v.IsOptional() @v.IsInt() @McpProperty({ header: 'Limit' }) limit = 20;
  @v.ValidateNested() @Type(() => PlaceDto) place: PlaceDto;
}

const MIRRORED = [
  { header: 'Region', path: ['region'], type: 'string' },
  { header: 'Zone', path: ['zone'], type: 'string' },
  { header: 'Limit', path: ['limit'], type: 'integer' },
  { header: 'Is-Remote', path: ['place', 'remote'], type: 'boolean' },
];

describe('mirroredArguments', () => {
  it('B17, S-066: finds texts, integers and booleans, at the root and in nested objects', async () => {
    const zod = z.object({
      region: z.string().meta({ 'x-mcp-header': 'Region' }),
      zone: z.enum(Zone).meta({ 'x-mcp-header': 'Zone' }),
      limit: z.int().default(20).meta({ 'x-mcp-header': 'Limit' }),
      place: z.object({ remote: z.boolean().meta({ 'x-mcp-header': 'Is-Remote' }) }),
    });
    const raw = object({
      region: text('Region'),
      zone: text('Zone', { enum: ['north', 'south'] }),
      limit: { type: 'integer', 'x-mcp-header': 'Limit' },
      place: object({ remote: { type: 'boolean', 'x-mcp-header': 'Is-Remote' } }),
    });
    for (const source of [QueryDto, zod, raw]) {
      const contract = await argumentsContract(source);
      await contract.prepare();
      expect(mirroredArguments(contract.schema)).toEqual(MIRRORED);
      expect(
        await contract.checkRaw({ region: 'a', zone: 'north', limit: 1, place: { remote: true } }),
      ).toEqual([]);
    }
    expect((await argumentsContract(raw)).schema).toEqual(raw);
    expect(mirroredArguments(object({ a: { type: 'string' } }))).toEqual([]);
    expect(mirroredArguments(object({ 'x-mcp-header': { type: 'string' } }))).toEqual([]);
  });

  const ALONE = 'a header is for an argument that "properties" alone lead to, and this one stands under';
  it.each<[string, JsonSchema, string]>([
    ['an empty name', object({ a: text('') }), 'a: a header needs a name; write a text such as "Region"'],
    ['a name that is no text', object({ a: text(5) }), 'a: a header needs a name; '],
    [
      'a name with a space',
      object({ a: object({ b: text('My Region') }) }),
      'a.b: "My Region" is no name of a header; write letters, digits and hyphens, such as "Region"',
    ],
    [
      'a name with a line break',
      object({ a: text('A\r\nB: c') }),
      'a: "A\\r\\nB: c" is no name of a header; ',
    ],
    [
      'a name with a letter beyond ASCII',
      object({ a: text('Größe') }),
      'a: "Größe" is no name of a header; ',
    ],
    ['a name with a colon', object({ a: text('A:') }), 'a: "A:" is no name of a header; '],
    [
      'names that differ by case alone',
      object({ a: text('Region'), b: object({ c: text('REGION') }) }),
      'b.c: the header "REGION" is that of a too, as case does not count; give one of them another name',
    ],
    [
      'a number',
      object({ a: { type: 'number', 'x-mcp-header': 'A' } }),
      'a: a header is for one text, integer or boolean, and this argument has "type": "number"; declare one of these alone, as by @IsString(), @IsInt() or @IsBoolean(), or take the header off',
    ],
    ['no type', object({ a: { enum: ['a'], 'x-mcp-header': 'A' } }), 'this argument has no "type"; '],
    ['several types', object({ a: text('A', { type: ['string', 'null'] }) }), '"type": ["string","null"]; '],
    ['an object', object({ a: text('A', { type: 'object' }) }), 'a: a header is for one text, '],
    [
      'text or null',
      object({ a: { anyOf: [{ type: 'string' }, { type: 'null' }], 'x-mcp-header': 'A' } }),
      'a: a header is for one text, integer or boolean, and this argument has no "type"; ',
    ],
    ['the root', { ...object({}), 'x-mcp-header': 'A' }, 'arguments: a header is for one argument; put it '],
    [
      'an item of a list',
      object({ tags: { type: 'array', items: text('A') } }),
      `tags: ${ALONE} "items"; take the header off, or move the argument`,
    ],
    [
      'a member of an item',
      object({ tags: { type: 'array', items: object({ name: text('A') }) } }),
      `tags.name: ${ALONE} "items"; `,
    ],
    ['a branch', object({ a: { anyOf: [text('A'), { type: 'null' }] } }), `a: ${ALONE} "anyOf"; `],
    ['a part of the root', object({}, { allOf: [object({ a: text('A') })] }), `a: ${ALONE} "allOf"; `],
    ['a condition', object({}, { if: object({ a: text('A') }) }), `a: ${ALONE} "if"; `],
    ['a further member', object({}, { additionalProperties: text('A') }), `"additionalProperties"; `],
    [
      'a pattern',
      object({}, { patternProperties: { '^a': text('A') } }),
      `"^a": ${ALONE} "patternProperties"; `,
    ],
    [
      'a dependency',
      object({}, { dependentSchemas: { b: object({ a: text('A') }) } }),
      '"dependentSchemas"; ',
    ],
    [
      'a definition',
      object({ b: { $ref: '#/$defs/B' } }, { $defs: { B: object({ a: text('A') }) } }),
      `B.a: ${ALONE} "$defs"; `,
    ],
    ['a definition that nothing uses', object({}, { definitions: { B: text('A') } }), '"definitions"; '],
    [
      'what only a reference finds',
      object({ b: { $ref: '#/components/B' } }, { components: { B: object({ a: text('A') }) } }),
      `b.a: ${ALONE} "$ref"; `,
    ],
  ])('B17, S-066: refuses a header on %s', (_, schema, message) => {
    expect(() => mirroredArguments(schema)).toThrow(
      expect.objectContaining({ name: 'MirroredArgumentException' }) as Error,
    );
    expect(() => mirroredArguments(schema)).toThrow(message);
  });

  it('B17: refuses in DTOs what a client would drop the tool for', async () => {
    class TreeDto {
      @v.IsString() @McpProperty({ header: 'Name' }) name: string;
      @v.IsOptional() @v.ValidateNested() @Type(() => TreeDto) child?: TreeDto;
    }
    class ForestDto {
      @v.ValidateNested() @Type(() => TreeDto) tree: TreeDto;
    }
    class RecursiveFieldDto {
      @v.ValidateNested() @Type(() => RecursiveFieldDto) @McpProperty({ header: 'Self' }) self: unknown;
    }
    class PriceDto {
      @v.IsNumber() @McpProperty({ header: 'Price' }) price: number;
    }
    class TagsDto {
      @v.IsString({ each: true }) @McpProperty({ header: 'Tags' }) tags: string[];
    }
    class TwinsDto {
      @v.IsString() @McpProperty({ header: 'Same' }) a: string;
      @v.IsString() @McpProperty({ header: 'same' }) b: string;
    }
    const refusal = async (dto: new () => object) => {
      const { schema } = await argumentsContract(dto);
      return () => mirroredArguments(schema);
    };
    expect(await refusal(ForestDto)).toThrow(
      'TreeDto.name: a header is for an argument that "properties" alone',
    );
    expect(await refusal(RecursiveFieldDto)).toThrow('self: a header is for one text');
    expect(await refusal(PriceDto)).toThrow('price: a header is for one text');
    expect(await refusal(TagsDto)).toThrow('"type": "array"');
    expect(await refusal(TwinsDto)).toThrow('b: the header "same" is that of a too');
  });

  it('takes what references lead to once, where it stands', () => {
    expect(
      mirroredArguments(object({ a: text('A'), b: { $ref: '#/properties/a' }, c: { $ref: '#' } })),
    ).toEqual([{ header: 'A', path: ['a'], type: 'string' }]);
  });

  it('is about arguments alone: the schema of a result has no headers', async () => {
    const { schema } = await outputContract(QueryDto);
    expect(JSON.stringify(schema)).not.toContain('x-mcp-header');
  });
});

describe('withoutMirrors', () => {
  it('takes the keyword off everywhere, and changes nothing else', async () => {
    const schema = freezeSchema(
      object(
        {
          'x-mcp-header': text('A'),
          b: { type: 'array', items: text('B', { const: { 'x-mcp-header': 1 } }) },
        },
        { $defs: { c: text('C') } },
      ),
    );
    const before = JSON.stringify(schema);
    expect(withoutMirrors(schema)).toEqual(
      object(
        {
          'x-mcp-header': { type: 'string' },
          b: { type: 'array', items: { type: 'string', const: { 'x-mcp-header': 1 } } },
        },
        { $defs: { c: { type: 'string' } } },
      ),
    );
    expect(JSON.stringify(schema)).toBe(before);
    const dto = (await argumentsContract(QueryDto)).schema;
    expect(JSON.stringify(withoutMirrors(dto))).not.toContain('x-mcp-header');
  });

  it('gives the same object where there is none', () => {
    const schema = object({ a: { type: 'string' } });
    expect(withoutMirrors(schema)).toBe(schema);
  });
});

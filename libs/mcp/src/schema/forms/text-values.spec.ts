import 'reflect-metadata';
import * as v from 'class-validator';
import { z } from 'zod';
import { McpProperty } from '../../decorators/property.decorator.js';
import { argumentsContract } from '../contract.factory.js';
import type { JsonSchema } from '../json-schema.js';
import { argumentsOf, fromText } from './text-values.js';

const valueOf = (property: JsonSchema, text: string, root: JsonSchema = {}) =>
  fromText({ type: 'object', properties: { a: property }, ...root }, { a: text }).a;

describe('fromText', () => {
  it.each<[JsonSchema, string, unknown]>([
    [{ type: 'integer' }, '5', 5],
    [{ type: 'integer' }, '-0', -0],
    [{ type: 'integer' }, '5.0', 5],
    [{ type: 'integer' }, '1e3', 1000],
    [{ type: 'integer' }, '5.5', '5.5'],
    [{ type: 'integer' }, '', ''],
    [{ type: 'integer' }, ' 5', ' 5'],
    [{ type: 'integer' }, '0x10', '0x10'],
    [{ type: 'integer' }, '007', '007'],
    [{ type: 'integer' }, '+5', '+5'],
    [{ type: 'integer' }, '9007199254740993', '9007199254740993'],
    [{ type: 'number' }, '1.5', 1.5],
    [{ type: 'number' }, '.5', '.5'],
    [{ type: 'number' }, 'Infinity', 'Infinity'],
    [{ type: 'number' }, 'NaN', 'NaN'],
    [{ type: 'number' }, '1e400', '1e400'],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'boolean' }, '1', '1'],
    [{ type: 'boolean' }, 'True', 'True'],
    [{ type: 'boolean' }, '', ''],
    [{ type: 'null' }, 'null', null],
    [{ type: 'string' }, '5', '5'],
    [{ type: 'string' }, 'null', 'null'],
    [{}, '5', '5'],
    [{ type: 'array' }, '[1,"a"]', [1, 'a']],
    [{ type: 'array' }, '{}', ['{}']],
    [{ type: 'array' }, 'a,b', ['a,b']],
    [{ type: 'array' }, '', ['']],
    [{ type: 'array', items: { type: 'integer' } }, '5', [5]],
    [{ type: 'array', items: { type: 'integer' } }, 'x', ['x']],
    [{ type: 'array', items: { type: 'integer' } }, '["a"]', ['a']],
    [{ type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }, 'null', [null]],
    [{ type: 'array', items: { $ref: '#/$defs/list' } }, 'x', ['x']],
    [{ type: 'array', items: { type: 'array', items: { type: 'integer' } } }, '[1]', [1]],
    [{ type: ['array', 'object'] }, '{}', {}],
    [{ type: ['array', 'integer'], items: { type: 'boolean' } }, '5', 5],
    [{ type: ['array', 'integer'], items: { type: 'boolean' } }, 'true', [true]],
    [{ anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'null' }] }, '5', [5]],
    [{ anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'null' }] }, 'null', null],
    [{ type: 'array', enum: [['a']] }, 'a', 'a'],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
    [{ type: 'object' }, '[1]', '[1]'],
    [{ type: 'object' }, 'null', 'null'],
    [{ enum: [1, 2] }, '2', 2],
    [{ enum: [1, 2] }, '3', '3'],
    [{ enum: [true, 'x', null] }, 'true', true],
    [{ enum: [true, 'x', null] }, 'null', null],
    [{ enum: [1, '1'] }, '1', '1'],
    [{ type: 'integer', enum: [1] }, '7', '7'],
    [{ const: 0 }, '0', 0],
    [{ type: ['integer', 'null'] }, 'null', null],
    [{ type: ['integer', 'null'] }, '5', 5],
    [{ type: ['boolean', 'number'] }, '0', 0],
    [{ type: ['number', 'string'] }, '5', '5'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'null', null],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, '1.5', 1.5],
    [{ oneOf: [{ type: 'boolean' }, { type: 'array' }] }, '[]', []],
    [{ allOf: [{ type: 'integer' }, { minimum: 1 }] }, '5', 5],
    [{ anyOf: [{ type: 'integer' }, { enum: [0, 'auto'] }] }, '5', 5],
    [{ anyOf: [{ type: 'integer' }, { enum: [0, 'auto'] }] }, 'auto', 'auto'],
    [{ anyOf: [{ type: 'integer' }, { enum: [0, 'auto'] }] }, 'x', 'x'],
    [{ oneOf: [{ $ref: '#/$defs/n' }, { const: 0 }] }, '5', 5],
    [{ type: 'integer', anyOf: [{ enum: [0] }, { enum: [1] }] }, '1', 1],
    [{ type: 'integer', anyOf: [{ enum: [0] }, { enum: [1] }] }, '5', '5'],
    [{ type: 'integer', anyOf: [{ enum: [0] }, { minimum: 5 }] }, '5', 5],
    [{ enum: [1, 2, '2'], allOf: [{ type: 'integer' }] }, '2', 2],
    [{ type: 'number', allOf: [{ type: 'integer' }] }, '5.5', '5.5'],
    [{ type: 'number', if: { minimum: 1 }, else: { type: 'integer' } }, '5.5', 5.5],
    [{ anyOf: [{ type: 'integer' }, {}] }, '5', '5'],
    [{ $ref: '#/$defs/n' }, '5', 5],
    [{ $ref: '#/$defs/none' }, '5', '5'],
  ])('by %j makes of %j: %p', (property, text, expected) => {
    expect(
      valueOf(property, text, {
        $defs: { n: { type: 'integer' }, list: { type: 'array', items: { $ref: '#/$defs/list' } } },
      }),
    ).toStrictEqual(expected);
  });

  it.each<[JsonSchema, string[], unknown]>([
    [{ type: 'array', items: { type: 'integer' } }, ['1', 'x', '2'], [1, 'x', 2]],
    [{ type: 'array', items: { type: 'boolean' } }, [], []],
    [{ type: 'array' }, ['1', '[2]'], ['1', '[2]']],
    [{ items: { type: 'integer' } }, ['1'], [1]],
    [{ allOf: [{ type: 'array' }, { items: { $ref: '#/$defs/n' } }] }, ['1'], [1]],
    [{ anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'integer' } }] }, ['1'], [1]],
    [
      {
        oneOf: [
          { type: 'array', items: { type: 'integer' } },
          { type: 'array', items: { type: 'string' } },
        ],
      },
      ['1', 'a'],
      ['1', 'a'],
    ],
    [{ type: 'string' }, ['1'], ['1']],
    [{ type: 'integer' }, ['1'], ['1']],
    [{}, ['1'], ['1']],
  ])('by %j makes of the texts %j: %j', (property, texts, expected) => {
    const schema = { properties: { a: property }, $defs: { n: { type: 'integer' } } };
    const sent = Object.freeze({ a: Object.freeze(texts) });
    expect(fromText(schema, sent).a).toStrictEqual(expected);
  });

  it('leaves what is no text as it is', () => {
    const sent = { a: 5, b: null, c: [1, '2'] } as unknown as Record<string, string>;
    const list = { type: 'array', items: { type: 'integer' } };
    const schema = { properties: { a: list, b: { type: 'boolean' }, c: list } };
    expect(fromText(schema, sent)).toEqual({ a: 5, b: null, c: [1, 2] });
  });

  it('leaves texts that nothing declares, for the check to name, and pollutes nothing', () => {
    const texts = JSON.parse('{"__proto__":"x","toString":"y","a":"1"}') as Record<string, string>;
    const values = fromText({ type: 'object', properties: { a: { type: 'integer' } } }, texts);
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'x'],
      ['toString', 'y'],
      ['a', 1],
    ]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });
});

describe('argumentsOf', () => {
  it('lists the properties with what describes them', () => {
    expect(
      argumentsOf({
        type: 'object',
        properties: {
          code: { type: 'string', title: 'Code', description: 'What to review' },
          style: { $ref: '#/$defs/style', description: 'How' },
          depth: { type: 'integer' },
        },
        required: ['code'],
        $defs: { style: { type: 'string', title: 'Style', description: 'Any style' } },
      }),
    ).toEqual([
      { name: 'code', title: 'Code', description: 'What to review', required: true },
      { name: 'style', title: 'Style', description: 'How', required: false },
      { name: 'depth', required: false },
    ]);
    expect(argumentsOf({ type: 'object' })).toEqual([]);
  });

  it('reads DTOs and Standard Schemas alike', async () => {
    class ReviewDto {
      @v.IsString() @McpProperty({ title: 'Code', description: 'What to review' }) code: string;
      @v.IsOptional() @v.IsIn(['short', 'long']) @McpProperty({ description: 'How' }) style?: string;
      @v.IsInt() depth = 1;
    }
    const zod = z.object({
      code: z.string().meta({ title: 'Code', description: 'What to review' }),
      style: z.enum(['short', 'long']).optional().describe('How'),
      depth: z.int().default(1),
    });
    for (const schema of [ReviewDto, zod]) {
      expect(argumentsOf((await argumentsContract(schema)).schema)).toEqual([
        { name: 'code', title: 'Code', description: 'What to review', required: true },
        { name: 'style', description: 'How', required: false },
        { name: 'depth', required: false },
      ]);
    }
  });

  it('lists a property once that several places describe', () => {
    const schema = {
      type: 'object',
      properties: { a: { title: 'A' } },
      required: ['b'],
      allOf: [
        { properties: { a: { title: 'Other', description: 'From a part' }, b: {} }, required: ['a'] },
        { $ref: '#/$defs/more' },
      ],
      $defs: { more: { properties: { a: { type: 'integer' } } } },
    };
    expect(argumentsOf(schema)).toEqual([
      { name: 'a', title: 'A', description: 'From a part', required: true },
      { name: 'b', required: true },
    ]);
    expect(fromText(schema, { a: '5', b: '5' })).toEqual({ a: 5, b: '5' });
  });
});

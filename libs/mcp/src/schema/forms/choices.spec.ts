import 'reflect-metadata';
import * as v from 'class-validator';
import { z } from 'zod';
import { argumentsContract } from '../contract.factory.js';
import type { JsonSchema } from '../json-schema.js';
import { choicesOf } from './choices.js';

enum Level {
  Low = 1,
  High = 2,
}

class FilterDto {
  @v.IsIn(['open', 'closed']) status: string;
  @v.IsOptional() @v.IsEnum(Level) level?: Level | null;
  @v.IsBoolean() strict: boolean;
  @v.IsString() text: string;
  @v.IsIn(['a'], { each: true }) tags: string[];
}

describe('choicesOf', () => {
  it('lists the allowed values of DTOs and Standard Schemas', async () => {
    const zod = z.object({
      status: z.enum(['open', 'closed']),
      level: z.union([z.literal(1), z.literal(2), z.null()]).optional(),
      strict: z.boolean().nullable(),
      text: z.string(),
      tags: z.array(z.enum(['a'])),
    });
    for (const source of [FilterDto, zod]) {
      const { schema } = await argumentsContract(source);
      expect(choicesOf(schema, 'status')).toEqual(['open', 'closed']);
      expect(choicesOf(schema, 'level')).toEqual(['1', '2']);
      expect(choicesOf(schema, 'strict')).toEqual(['true', 'false']);
      for (const name of ['text', 'tags', 'nothing', 'toString'])
        expect(choicesOf(schema, name)).toBeUndefined();
    }
  });

  it.each<[JsonSchema, string[] | undefined]>([
    [{ const: 'a' }, ['a']],
    [{ enum: ['a', null, 1.5, true, 'a'] }, ['a', '1.5', 'true']],
    [{ type: ['string', 'null'], enum: ['a', null] }, ['a']],
    [{ type: 'string', enum: ['a', 1] }, ['a']],
    [{ $ref: '#/$defs/letters' }, ['a', 'b']],
    [{ anyOf: [{ $ref: '#/$defs/letters' }, { const: 'c' }, { type: 'null' }] }, ['a', 'b', 'c']],
    [{ oneOf: [{ const: 'a', title: 'A' }, { type: 'boolean' }] }, ['a', 'true', 'false']],
    [{ allOf: [{ $ref: '#/$defs/letters' }, { enum: ['b', 'c'] }] }, ['b']],
    [{ type: 'null' }, []],
    [{ enum: [] }, []],
    [{ anyOf: [{ enum: ['a'] }, { type: 'string' }] }, undefined],
    [{ enum: ['a', { b: 1 }] }, undefined],
    [{ type: ['boolean', 'string'] }, undefined],
    [{ $ref: '#/$defs/none' }, undefined],
    [{}, undefined],
  ])('of %j gives %j', (property, expected) => {
    const root = { properties: { a: property }, $defs: { letters: { enum: ['a', 'b'] } } };
    expect(choicesOf(root, 'a')).toEqual(expected);
  });
});

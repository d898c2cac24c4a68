import 'reflect-metadata';
import * as v from 'class-validator';
import { z } from 'zod';
import { argumentsContract } from '../contract.factory.js';
import type { JsonSchema } from '../json-schema.js';
import { type TemplateVariable, templateFault, templateSchema } from './template-params.js';

/** Variables as they are written, with an asterisk for lists and a question mark for what may be left out. */
const variables = (...written: string[]): TemplateVariable[] =>
  written.map((text) => ({
    name: text.replace(/[*?]/g, ''),
    isList: text.includes('*'),
    isOptional: text.includes('?'),
  }));

class FileDto {
  @v.IsString() repo: string;
  @v.IsString({ each: true }) path: string[];
  @v.IsOptional() @v.IsInt() line?: number;
}

describe('templateFault', () => {
  it('finds none where each side has what the other needs', async () => {
    const zod = z.object({ repo: z.string(), path: z.array(z.string()), line: z.int().optional() });
    for (const source of [FileDto, zod]) {
      const { schema } = await argumentsContract(source);
      expect(templateFault(schema, variables('repo', 'path*', 'line?'))).toBeUndefined();
      expect(templateFault(schema, variables('repo', 'path'))).toBeUndefined();
      // Whether it is there shows with each read.
      expect(templateFault(schema, variables('repo?', 'path*?'))).toBeUndefined();
    }
  });

  it('names a required member that no uri can give', async () => {
    const { schema } = await argumentsContract(FileDto);
    expect(templateFault(schema, variables('repo'))).toBe(
      '"path" is required, and the template has no such variable; add {path} to the template, or make the member optional',
    );
    const composed = { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { required: ['b'] } } };
    expect(templateFault(composed, [])).toMatch(/^"b" is required/);
  });

  it.each<[JsonSchema]>([
    [{ properties: { a: {} }, additionalProperties: false }],
    [{ properties: { a: {}, b: false } }],
    [{ properties: { a: {} }, unevaluatedProperties: false }],
    [{ allOf: [{}, { properties: { a: {} }, additionalProperties: false }] }],
    [{ patternProperties: { '^a': {} }, additionalProperties: false }],
  ])('names a variable that %j does not know', (schema) => {
    expect(templateFault(schema, variables('a', 'b'))).toBe(
      'the schema takes no member for the variable {b}; declare "b", or rename the variable',
    );
  });

  it.each<[JsonSchema]>([
    [{}],
    [{ properties: { a: {} } }],
    [{ properties: { a: {} }, additionalProperties: { type: 'string' } }],
    [{ properties: { a: {} }, anyOf: [{ properties: { b: {} } }], unevaluatedProperties: false }],
    [{ patternProperties: { '^[ab]$': {} }, additionalProperties: false }],
  ])('takes a variable that %j takes', (schema) => {
    expect(templateFault(schema, variables('a', 'b'))).toBeUndefined();
  });

  it('names a variable that gives a list where none is wanted', async () => {
    const { schema } = await argumentsContract(FileDto);
    expect(templateFault(schema, variables('repo*', 'path*'))).toBe(
      'the variable {repo*} gives a list, and "repo" is none; declare a list of texts, or leave the asterisk out',
    );
    expect(templateFault({ properties: { a: {} } }, variables('a*', 'b*'))).toBeUndefined();
  });
});

describe('templateSchema', () => {
  it('takes texts, and lists of them', async () => {
    const schema = templateSchema(variables('repo', 'path*', 'line?'));
    expect(schema).toEqual({
      type: 'object',
      properties: {
        repo: { type: 'string' },
        path: { type: 'array', items: { type: 'string' } },
        line: { type: 'string' },
      },
      required: ['repo', 'path'],
      additionalProperties: false,
    });
    expect(templateFault(schema, variables('repo', 'path*', 'line?'))).toBeUndefined();
    const contract = await argumentsContract(schema);
    expect(await contract.checkRaw({ repo: 'a', path: ['b'] })).toEqual([]);
    expect(templateSchema([])).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });
});

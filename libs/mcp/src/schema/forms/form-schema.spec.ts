import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { IsBoolean, IsEmail, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { McpProperty } from '../../decorators/property.decorator.js';
import { argumentsContract } from '../contract.factory.js';
import { encodeForm } from './form-encoder.js';
import { type FormField, formSchema } from './form-schema.js';
import type { JsonSchema } from '../json-schema.js';

class SignUpDto {
  @IsString() @MaxLength(40) name: string;
  @IsEmail() mail: string;
  @IsInt() @Min(18) @Max(120) age: number;
  @IsOptional() @IsIn(['light', 'dark']) theme: string = 'light';
  @IsOptional() @IsBoolean() news: boolean = false;
  @IsOptional() @IsIn(['a', 'b'], { each: true }) topics?: string[];
}

const form = (properties: JsonSchema, required: string[] = []) =>
  formSchema({ type: 'object', properties, required });
const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];

const EVERY_KIND = form(
  {
    text: {
      type: 'string',
      title: 'T',
      description: 'D',
      minLength: 1,
      maxLength: 9,
      format: 'email',
      default: 'x',
    },
    number: { type: 'number', minimum: 0.5, maximum: 1.5, default: 1 },
    integer: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
    yes: { type: 'boolean', default: true },
    plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
    named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    titled: { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
  },
  ['text'],
);
const LISTS = form({
  plain: { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, maxItems: 2, default: ['a'] },
  titled: { type: 'array', uniqueItems: true, items: { anyOf: [{ const: 'a', title: 'A' }] } },
});

describe('formSchema', () => {
  it('reads a DTO', async () => {
    const { fields } = formSchema(await argumentsContract(SignUpDto));
    expect(fields).toEqual([
      { name: 'name', required: true, kind: 'text', maxLength: 40 },
      { name: 'mail', required: true, kind: 'text', format: 'email' },
      { name: 'age', required: true, kind: 'integer', minimum: 18, maximum: 120 },
      {
        name: 'theme',
        required: false,
        kind: 'choice',
        choices: [{ value: 'light' }, { value: 'dark' }],
        default: 'light',
      },
      { name: 'news', required: false, kind: 'boolean', default: false },
      { name: 'topics', required: false, kind: 'choices', choices: [{ value: 'a' }, { value: 'b' }] },
    ]);
  });

  it.each<[JsonSchema, RegExp]>([
    [{ type: 'object' }, /^the field "a" of the form: a form has no fields inside a field; move/],
    [{ $ref: '#/$defs/x' }, /its reference leads nowhere in this form/],
    [{ type: 'array', items: { type: 'object' } }, /choice among given texts; list them with @IsIn/],
    [{ type: 'array', items: { type: 'string' } }, /choice among given texts/],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, /never null; make the property optional/],
    [{ type: ['string', 'null'] }, /never null/],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, /has one type/],
    [{}, /has one type/],
    [{ enum: [1, 2] }, /the choices of a form are text/],
  ])('refuses %j', (property, message) => {
    expect(() => form({ a: property })).toThrow(message);
    expect(() => form({ a: property })).toThrow(
      expect.objectContaining({ name: 'UnusableFormException' }) as Error,
    );
  });

  it.each<[JsonSchema, JsonSchema]>([
    [{ type: 'integer', minimum: -3, exclusiveMinimum: 1.5 }, { minimum: 2 }],
    [{ type: 'integer', minimum: 5, exclusiveMinimum: 1 }, { minimum: 5 }],
    [{ type: 'integer', maximum: 9, exclusiveMaximum: 5 }, { maximum: 4 }],
    [
      { type: 'integer', minimum: 0.5, maximum: 2.5 },
      { minimum: 1, maximum: 2 },
    ],
    [{ type: 'number', minimum: -3, exclusiveMinimum: 1.5 }, { minimum: 1.5 }],
    [
      { type: 'string', minLength: 1.5, maxLength: 2.5 },
      { minLength: 2, maxLength: 2 },
    ],
    [{ type: 'string', minLength: -1 }, { minLength: 0 }],
    [
      { type: 'array', items: { enum: ['a'] }, minItems: 0.5, maxItems: 1.5 },
      { choices: [{ value: 'a' }], minItems: 1, maxItems: 1 },
    ],
  ])('takes the tightest bounds of %j that a form can show', (property, expected) => {
    const [{ name: _, kind: __, required: ___, ...rest }] = form({ a: property }).fields as [FormField];
    expect(rest).toEqual(expected);
  });

  it.each<[JsonSchema]>([
    [{ enum: ['a', 'b'], default: 'c' }],
    [{ oneOf: [{ const: 'a', title: 'c' }], default: 'c' }],
    [{ type: 'array', items: { enum: ['a'] }, default: ['a', 'c'] }],
  ])('refuses the default of %j by its name', (property) => {
    expect(() => form({ a: property })).toThrow(
      /^the field "a" of the form: the default "c" is none of the choices; list it, or leave it out/,
    );
  });

  it.each<[string, JsonSchema]>([
    ['password', {}],
    ['newPassword', {}],
    ['API_KEY', {}],
    ['api-key', {}],
    ['github.accessToken', {}],
    ['secret', {}],
    ['cvv', {}],
    ['credit_card_number', {}],
    ['pin', { format: 'password' }],
    ['pin', { writeOnly: true }],
  ])('S-138: refuses a text of the name %s and %j, as secrets go to an address', (name, more) => {
    expect(() => form({ [name]: { type: 'string', ...more } })).toThrow(
      `the field "${name}" of the form: a secret must not pass through the client; ask for it at an address of yours by ctx.elicitUrl()`,
    );
  });

  it.each<[string, JsonSchema]>([
    ['resetPassword', { type: 'boolean' }],
    ['secretSantaBudget', { type: 'number' }],
    ['passwordHint', { type: 'string' }],
    ['secretary', { type: 'string' }],
    ['tokens', { type: 'string' }],
    ['secret', { type: 'string', enum: ['keep', 'drop'] }],
  ])('takes the field %s of %j, which is none', (name, property) => {
    expect(form({ [name]: property }).fields).toHaveLength(1);
  });

  it('follows the references of a field, and refuses one without end', () => {
    const $defs = {
      name: { $ref: '#/$defs/text', title: 'Name' },
      text: { type: 'string', maxLength: 5 },
      odd: { $ref: '#/$defs/odd' },
    };
    const of = (name: string) =>
      formSchema({ type: 'object', $defs, properties: { a: { $ref: `#/$defs/${name}` } } }).fields;
    expect(of('name')).toEqual([{ name: 'a', required: false, kind: 'text', title: 'Name', maxLength: 5 }]);
    expect(() => of('odd')).toThrow('its reference leads nowhere in this form');
  });

  it.each<[string, JsonSchema, string]>([
    [
      'a required field that is none',
      { required: ['a', 'b'] },
      'the field "b" of the form: it is required, but',
    ],
    ...['allOf', 'anyOf', 'oneOf', 'if', 'not', 'dependentSchemas', '$ref'].map(
      (keyword): [string, JsonSchema, string] => [
        keyword,
        { [keyword]: [] },
        `the form: a form is a list of fields and nothing beside it; leave out "${keyword}"`,
      ],
    ),
  ])('L3: refuses %s, as nobody could answer what is not shown', (_, more, why) => {
    expect(() => formSchema({ type: 'object', properties: { a: { type: 'string' } }, ...more })).toThrow(why);
  });

  it('refuses a boolean schema, no fields and no object', async () => {
    expect(() => form({ a: true })).toThrow(/^the field "a" of the form: a field needs a type/);
    expect(() => form({})).toThrow(/^the form: a form needs at least one field/);
    expect(() => formSchema({ type: 'string' })).toThrow(/^the form: a form is an object/);
    class EmptyDto {}
    const contract = await argumentsContract(EmptyDto);
    expect(() => formSchema(contract)).toThrow(/^EmptyDto: a form needs at least one field/);
  });
});

describe('encodeForm', () => {
  it('writes titles that a DTO gives its choices as each revision has them', async () => {
    class SizeDto {
      @IsIn(['s', 'm'])
      @McpProperty({ enumTitles: { s: 'Small', m: 'Medium' } })
      size: string;
    }
    const read = formSchema(await argumentsContract(SizeDto));
    const sizeIn = (revision: string) =>
      (encodeForm(read, revision).properties as Record<string, unknown>)['size'];
    for (const revision of ['2025-11-25', '2026-07-28'])
      expect(sizeIn(revision)).toEqual({
        type: 'string',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'm', title: 'Medium' },
        ],
      });
    expect(sizeIn('2025-06-18')).toEqual({
      type: 'string',
      enum: ['s', 'm'],
      enumNames: ['Small', 'Medium'],
    });
  });

  it('writes the forms of today', () => {
    expect(encodeForm(EVERY_KIND, '2025-11-25')).toEqual({
      type: 'object',
      properties: {
        text: {
          type: 'string',
          title: 'T',
          description: 'D',
          minLength: 1,
          maxLength: 9,
          format: 'email',
          default: 'x',
        },
        number: { type: 'number', minimum: 0.5, maximum: 1.5, default: 1 },
        integer: { type: 'integer', minimum: 1, maximum: 9 },
        yes: { type: 'boolean', default: true },
        plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
        named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
        titled: {
          type: 'string',
          oneOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'b' },
          ],
        },
      },
      required: ['text'],
    });
    expect(encodeForm(LISTS, '2026-07-28').properties).toEqual({
      plain: {
        type: 'array',
        minItems: 1,
        maxItems: 2,
        default: ['a'],
        items: { type: 'string', enum: ['a'] },
      },
      titled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    });
  });

  it('writes the first forms: titles beside the values, defaults for booleans only', () => {
    expect(encodeForm(EVERY_KIND, '2025-06-18').properties).toEqual({
      text: { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9, format: 'email' },
      number: { type: 'number', minimum: 0.5, maximum: 1.5 },
      integer: { type: 'integer', minimum: 1, maximum: 9 },
      yes: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'] },
      named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      titled: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'b'] },
    });
    expect(() => encodeForm(LISTS, '2025-06-18')).toThrow(
      /^the field "plain" of the form: a client of 2025-06-18 has no field for several choices/,
    );
  });

  it.each(REVISIONS)('leaves in %s the choices that have enumNames as they were written', (revision) => {
    const named = { type: 'string', enum: ['a', 'b', 'c'], enumNames: ['A', 'B'] };
    const unnamed = { type: 'string', enum: ['a', 'b'], enumNames: [] };
    expect(encodeForm(form({ named, unnamed }), revision).properties).toEqual({
      named: { ...named, enumNames: ['A', 'B', 'c'] },
      unnamed: { type: 'string', enum: ['a', 'b'] },
    });
  });

  const directory = process.env['MCP_SCHEMA_DIR'];
  if (!directory) {
    process.stderr.write('MCP_SCHEMA_DIR is not set: forms are not checked against the official schemas\n');
  }

  it('writes what the official schemas take, member by member', () => {
    const faults = (directory ? REVISIONS : []).flatMap((revision) =>
      (revision === '2025-06-18' ? [EVERY_KIND] : [EVERY_KIND, LISTS]).flatMap((each) =>
        officialFaults(directory!, revision, encodeForm(each, revision)),
      ),
    );
    expect(faults).toEqual([]);
  });
});

/** What the official schema of a revision has against a form. */
function officialFaults(directory: string, revision: string, form: JsonSchema): string[] {
  const official = JSON.parse(readFileSync(join(directory, `${revision}.json`), 'utf8')) as JsonSchema;
  const group = '$defs' in official ? '$defs' : 'definitions';
  const ajv = new (group === '$defs' ? Ajv2020 : Ajv)({ strict: false, validateFormats: false });
  ajv.addSchema(official, revision);
  const isValid = (name: string, value: unknown) =>
    ajv.compile({ $ref: `${revision}#/${group}/${name}` })(value) === true;
  const params = { mode: 'form', message: 'm', requestedSchema: form };
  const request = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params };
  const kinds = Object.entries(official[group] as Record<string, { properties?: object }>).filter(([name]) =>
    /^(?:String|Number|Boolean|.*Enum)Schema$/.test(name),
  );
  // The definitions allow further members, so a field has to be of a kind that declares all of its members.
  const odd = Object.entries(form.properties as Record<string, JsonSchema>).filter(
    ([, field]) =>
      !kinds.some(
        ([name, { properties = {} }]) =>
          Object.keys(field).every((member) => member in properties) && isValid(name, field),
      ),
  );
  return [
    ...(isValid('ElicitRequest', request) ? [] : [`${revision}: the request`]),
    ...odd.map(([name]) => `${revision}: ${name}`),
  ];
}

import 'reflect-metadata';
import { plainToInstance, Type } from 'class-transformer';
import * as v from 'class-validator';
import { dtoContract } from './dto.contract.js';
import type { Class } from './json-schema.js';

enum Level {
  Low = 1,
  High = 2,
}

class InnerDto {
  @v.IsString() name: string;
}

/** Leaves the member out of the arguments. */
const ABSENT = Symbol('absent');

/** One value of each JSON type, and the edges between them. */
const COMMON = [
  ABSENT,
  '',
  'text',
  0,
  1,
  -1,
  1.5,
  true,
  false,
  [],
  {},
  ['text'],
  [1],
  [[1]],
  { name: 'text' },
];

interface Agreement {
  readonly rules: readonly PropertyDecorator[];
  /** Values besides the common ones. */
  readonly values?: readonly unknown[];
  /** Values the schema refuses though class-validator does not: why is in the title. */
  readonly stricter?: readonly unknown[];
  /** Values only class-validator refuses. */
  readonly looser?: readonly unknown[];
}

const each = { each: true };
const nested = [v.ValidateNested(), Type(() => InnerDto)];

const AGREEMENTS: readonly [string, Agreement][] = [
  ['IsString', { rules: [v.IsString()] }],
  ['IsNumber', { rules: [v.IsNumber()], values: [1e308, 0.1] }],
  ['IsNumber without decimals', { rules: [v.IsNumber({ maxDecimalPlaces: 0 })], values: [1e21] }],
  ['IsInt', { rules: [v.IsInt()], values: [2 ** 60, 1e21] }],
  ['IsBoolean', { rules: [v.IsBoolean()], values: ['true', 'false'] }],
  ['IsEnum of text', { rules: [v.IsEnum({ A: 'text', B: 'b' })], values: ['A', 'b'] }],
  [
    'IsEnum of numbers: its names are no values',
    { rules: [v.IsEnum(Level)], values: [2, 3], stricter: ['Low', 'High'] },
  ],
  ['IsIn', { rules: [v.IsIn(['text', 1])], values: ['1'] }],
  ['IsIn with null', { rules: [v.IsIn(['text', null])], values: [null] }],
  ['IsNotIn', { rules: [v.IsNotIn(['text', 1])], values: [null] }],
  ['Equals', { rules: [v.Equals('text')] }],
  ['Equals zero', { rules: [v.Equals(0)], values: ['0', null] }],
  ['NotEquals', { rules: [v.NotEquals(1)], values: [null] }],
  ['IsArray', { rules: [v.IsArray()], values: [[null]] }],
  [
    'array sizes',
    {
      rules: [v.ArrayMinSize(1), v.ArrayMaxSize(2)],
      values: [
        [1, 2],
        [1, 2, 3],
      ],
    },
  ],
  ['ArrayNotEmpty', { rules: [v.ArrayNotEmpty()], values: [[null]] }],
  [
    'ArrayUnique of text',
    {
      rules: [v.IsArray(), v.ArrayUnique(), v.IsString(each)],
      values: [
        ['a', 'b'],
        ['a', 'a'],
        ['__proto__', 'toString'],
      ],
    },
  ],
  [
    'ArrayUnique of anything: not published',
    {
      rules: [v.ArrayUnique()],
      values: [
        [1, 2],
        [{}, {}],
      ],
      looser: [[1, 1]],
    },
  ],
  ['IsObject', { rules: [v.IsObject()], values: [null] }],
  ['IsNotEmptyObject', { rules: [v.IsNotEmptyObject()], values: [{ a: null }] }],
  [
    'IsNotEmptyObject of null members: not published',
    { rules: [v.IsNotEmptyObject({ nullable: false })], looser: [{ a: null }] },
  ],
  ['Min and Max', { rules: [v.Min(0), v.Max(1)], values: ['0', 2] }],
  ['IsPositive', { rules: [v.IsPositive()], values: [Number.MIN_VALUE] }],
  ['IsNegative', { rules: [v.IsNegative()], values: [-0.5] }],
  ['IsDivisibleBy', { rules: [v.IsDivisibleBy(3)], values: [3, -9, 4, 4.5, '3'] }],
  ['Length', { rules: [v.Length(1, 4)], values: ['12345', '😀😀😀😀', '😀😀😀😀😀'] }],
  [
    'Length of a variation selector: not a character to class-validator',
    { rules: [v.MaxLength(1)], values: ['a', 'ab'], stricter: ['☺️'] },
  ],
  ['MinLength', { rules: [v.MinLength(5)], values: ['12345'] }],
  ['Matches', { rules: [v.Matches(/^t.xt$/)], values: ['taxt', 'xtext', 'text\n'] }],
  ['Matches twice', { rules: [v.Matches(/^t/), v.Matches(/t$/)], values: ['to', 'at'] }],
  ['Matches with a flag: not published', { rules: [v.Matches(/^TEXT$/i)], looser: ['', 'other'] }],
  ['Contains', { rules: [v.Contains('e.t')], values: ['e.t', 'eat', 'the e.t.'] }],
  ['IsNotEmpty of text', { rules: [v.IsNotEmpty(), v.IsString()], values: [' ', null] }],
  ['IsNotEmpty of anything: not published', { rules: [v.IsNotEmpty()], looser: ['', null] }],
  ['IsDefined with a type', { rules: [v.IsDefined(), v.IsInt()], values: [null] }],
  ['IsOptional: null has to be left out', { rules: [v.IsOptional(), v.IsInt()], stricter: [null] }],
  ['Allow', { rules: [v.Allow()], values: [null] }],
  [
    'an e-mail address: a format is advice',
    { rules: [v.IsEmail()], values: ['a@b.co'], looser: ['', 'text'] },
  ],
  [
    'a UUID: a format is advice',
    { rules: [v.IsUUID()], values: ['6f1c0b1e-8a57-4c5e-9f6b-0d2f4a3b1c2d'], looser: ['', 'text'] },
  ],
  [
    'an ISO 8601 text: a format is advice',
    { rules: [v.IsDateString()], values: ['2024-01-01', '2024-01-01T00:00:00Z'], looser: ['', 'text'] },
  ],
  [
    'a Date: a format is advice, and numbers are not dates',
    {
      rules: [v.IsDate(), Type(() => Date)],
      values: ['2024-01-01T00:00:00Z', '2024-01-01', ABSENT],
      looser: ['', 'text'],
      stricter: [0, 1, -1, 1.5, true, false],
    },
  ],
  [
    'ValidateNested: a DTO has to be an object, and present',
    { rules: nested, values: [{ name: 1 }, { name: 'a' }], stricter: [ABSENT, [], [{ name: 'a' }]] },
  ],
  [
    'ValidateNested of entries: always a list, and present',
    {
      rules: [v.ValidateNested(each), Type(() => InnerDto)],
      values: [[{ name: 'a' }], [{ name: 'a' }, { name: 1 }], [null], [{ name: 'a' }, null]],
      stricter: [ABSENT, { name: 'text' }],
    },
  ],
  [
    'a list of DTOs that may be missing',
    { rules: [v.IsOptional(), v.IsArray(), ...nested], values: [[{ name: 'a' }], [{}]] },
  ],
  [
    'IsString of entries: always a list',
    { rules: [v.IsString(each)], values: [['a', 1]], stricter: ['', 'text'] },
  ],
  [
    'IsInt of entries in a list',
    { rules: [v.IsArray(), v.IsInt(each), v.Max(5, each)], values: [[1, 5], [6], [1.5]] },
  ],
  [
    'IsEnum of entries: always a list',
    { rules: [v.IsArray(), v.IsEnum(Level, each)], values: [[1, 2], [3], ['x']], stricter: [['Low']] },
  ],
  ['types that exclude each other', { rules: [v.IsString(), v.IsInt()] }],
];

function dtoOf(rules: readonly PropertyDecorator[]): Class {
  class SubjectDto {}
  rules.forEach((decorate) => decorate(SubjectDto.prototype, 'value'));
  return SubjectDto;
}

const argumentsOf = (value: unknown) => (value === ABSENT ? {} : { value });

async function schemaAccepts(dto: Class, value: unknown): Promise<boolean> {
  return (await dtoContract(dto).checkRaw(argumentsOf(value))).length === 0;
}

async function validatorAccepts(dto: Class, value: unknown): Promise<boolean> {
  const instance = plainToInstance(dto as new () => object, argumentsOf(value));
  return (await v.validate(instance, { forbidUnknownValues: false })).length === 0;
}

const keyOf = (value: unknown) => (value === ABSENT ? 'absent' : JSON.stringify(value));

describe('the published schema and class-validator', () => {
  it.each(AGREEMENTS)('agree on %s', async (_, { rules, values = [], stricter = [], looser = [] }) => {
    const dto = dtoOf(rules);
    const found = { stricter: new Set<string>(), looser: new Set<string>() };
    for (const value of [...COMMON, ...values, ...stricter, ...looser]) {
      const [schema, validator] = [await schemaAccepts(dto, value), await validatorAccepts(dto, value)];
      if (schema && !validator) found.looser.add(keyOf(value));
      if (!schema && validator) found.stricter.add(keyOf(value));
    }
    expect(found).toEqual({
      stricter: new Set(stricter.map(keyOf)),
      looser: new Set(looser.map(keyOf)),
    });
  });
});

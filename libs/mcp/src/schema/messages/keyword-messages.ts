import type { ErrorObject } from 'ajv';
import { safeText, shownName } from '../issue-path.js';
import { isJsonObject } from '../json-schema.js';
import { MAX_MESSAGE_LENGTH } from '../schema-bounds.js';
import { knownMembers, listed, shownValue, typeWords } from './schema-words.js';

type Params = Readonly<Record<string, unknown>>;
type Describe = (params: Params, error: ErrorObject) => string;

const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'greater than',
  '<': 'less than',
};

const comparison: Describe = ({ comparison: sign, limit }) =>
  `must be ${COMPARISONS[String(sign)] ?? String(sign)} ${String(limit)}`;

const size =
  (bound: string, unit: string): Describe =>
  ({ limit }) =>
    `must have ${bound} ${counted(limit, unit)}`;

const unknown: Describe = (_, { parentSchema }) => `is not a known member (${knownMembers(parentSchema)})`;

const neededBeside: Describe = ({ property }) => `is required when ${shownName(String(property))} is given`;

const atMostItems: Describe = ({ limit, len }) => `must have at most ${counted(limit ?? len, 'item')}`;

/** What each keyword asks for, in words that name the rule and never the refused value. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  type: ({ type }) => `must be ${typeWords(type)}`,
  required: () => 'is required',
  additionalProperties: unknown,
  unevaluatedProperties: unknown,
  dependentRequired: neededBeside,
  dependencies: neededBeside,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${shownValue(allowedValue)}`,
  minimum: comparison,
  maximum: comparison,
  exclusiveMinimum: comparison,
  exclusiveMaximum: comparison,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minLength: size('at least', 'character'),
  maxLength: size('at most', 'character'),
  minItems: size('at least', 'item'),
  maxItems: size('at most', 'item'),
  minProperties: size('at least', 'member'),
  maxProperties: size('at most', 'member'),
  pattern: ({ pattern }) => `must match the pattern ${safeText(String(pattern), MAX_MESSAGE_LENGTH)}`,
  uniqueItems: () => 'must not contain the same item twice',
  items: atMostItems,
  additionalItems: atMostItems,
  unevaluatedItems: atMostItems,
  contains: ({ minContains, maxContains }, { schema }) =>
    `must contain ${between(asNumber(minContains), asNumber(maxContains))} that ${wanted(schema)}`,
  budget: () => 'has too many combinations of alternatives to be checked; nest it less deeply',
  not: (_, { schema }) => refusedValues(schema),
};

/** What is wrong, without the place. */
export function describeError(error: ErrorObject): string {
  return DESCRIPTIONS[error.keyword]?.(error.params as Params, error) ?? 'is not allowed here';
}

/** The member an error is about, where that is not the value at the error's path itself. */
export function memberOf({ params }: ErrorObject): string | undefined {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Params;
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof member === 'string' ? member : undefined;
}

/** A schema as what fits it does or is, for lists of alternatives and of items looked for. */
export function phrase(schema: unknown): string {
  if (!isJsonObject(schema)) return 'anything';
  if ('const' in schema) return shownValue(schema.const);
  if (Array.isArray(schema.enum)) {
    return schema.enum.length === 1 ? shownValue(schema.enum[0]) : `one of ${listed(schema.enum)}`;
  }
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  if (required.length > 0) return `an object with ${listedNames(required)}`;
  if (schema.type !== undefined) return typeWords(schema.type);
  return typeof schema.pattern === 'string'
    ? `text that matches the pattern ${safeText(schema.pattern, MAX_MESSAGE_LENGTH)}`
    : 'a value with other rules';
}

function listedNames(names: readonly unknown[]): string {
  return names.map((name) => shownName(String(name))).join(', ');
}

function wanted(schema: unknown): string {
  const text = phrase(schema);
  return text === 'a value with other rules' ? 'fits its rules' : `is ${text}`;
}

function between(least: number | undefined, most: number | undefined): string {
  if (most === undefined) return `at least ${counted(least, 'item')}`;
  return least === 0 || least === undefined
    ? `at most ${counted(most, 'item')}`
    : `${least} to ${counted(most, 'item')}`;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function counted(count: unknown, unit: string): string {
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

function refusedValues(schema: unknown): string {
  if (!isJsonObject(schema)) return 'is not allowed here';
  if ('const' in schema) return `must not be ${shownValue(schema.const)}`;
  if (Array.isArray(schema.enum)) return `must not be one of ${listed(schema.enum)}`;
  if (typeof schema.pattern === 'string') {
    return `must not match the pattern ${safeText(schema.pattern, MAX_MESSAGE_LENGTH)}`;
  }
  return schema.type === undefined ? 'is not allowed here' : `must not be ${typeWords(schema.type)}`;
}

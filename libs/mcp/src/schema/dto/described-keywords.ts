import { isJsonObject, type JsonSchema } from '../json-schema.js';
import type { PropertyFacts } from '../metadata/property-facts.js';
import { rulesByProperty } from '../metadata/class-metadata.js';
import { isOpen } from './schema-keywords.js';
import { judgedBy } from './rule-reading.js';
import { EnumTitlesException } from '../schema.exception.js';

/** What is said of a value, and of its entries if it holds any. */
interface Pair {
  readonly value: JsonSchema;
  readonly element: JsonSchema;
}

/** The JSON types of the values a keyword is about; the others are about any. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  ...about(['string'], ['minLength', 'maxLength', 'pattern']),
  ...about(['number', 'integer'], ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']),
  // Not everyone tells a multiple of a decimal fraction exactly.
  ...about(['integer'], ['multipleOf']),
  ...about(['string', 'number', 'integer'], ['format']),
  ...about(['array'], ['minItems', 'maxItems', 'uniqueItems', 'items']),
  ...about(['object'], ['minProperties', 'maxProperties', 'additionalProperties']),
};

/** Limits of which one makes the other superfluous. */
const TWINS: Readonly<Record<string, string>> = {
  minimum: 'exclusiveMinimum',
  exclusiveMinimum: 'minimum',
  maximum: 'exclusiveMaximum',
  exclusiveMaximum: 'maximum',
};

/**
 * Adds what Swagger says of a property, and only what the rules and @Type() leave open: class-validator is the one
 * that will judge the value. Nothing narrower than a type is added to what is checked on a condition.
 */
export function addDescribed(
  facts: PropertyFacts,
  pair: Pair,
  { isList, isNested, isConditional }: { isList: boolean; isNested: boolean; isConditional: boolean },
): Pair & { readonly isChanged: boolean } {
  const { swagger } = facts;
  if (!swagger) return { ...pair, isChanged: false };
  const fits = isList === swagger.isList;
  const add = (schema: JsonSchema, said: JsonSchema, each: boolean) => {
    const judged = judgedKeywords(facts, each);
    const left = unjudged(isConditional ? typeOf(said) : said, judged);
    return filled(judged.has('type') ? schema : narrowed(schema, left), left);
  };
  const value = fits && (isList || !isNested) ? add(pair.value, swagger.value, false) : pair.value;
  const element = fits && isList && !isNested ? add(pair.element, swagger.element, true) : pair.element;
  const isChanged = JSON.stringify([value, element]) !== JSON.stringify([pair.value, pair.element]);
  return { value, element, isChanged };
}

/** Writes the titles of an enum next to its values, in the same order. */
export function addTitles(
  { dto, name, own }: PropertyFacts,
  { value, element }: Pair,
  isHeld: boolean,
): Pair {
  const titles = own.enumTitles;
  if (!titles) return { value, element };
  const listed = isHeld ? element : value;
  const fragment = isHeld ? own.schema?.items : own.schema;
  const values = [listed.enum, isJsonObject(fragment) ? fragment.enum : undefined].find(Array.isArray) as
    unknown[] | undefined;
  if (!values) throw new EnumTitlesException(dto, name, undefined);
  const known = values.filter((one) => one !== null).map(String);
  const stray = Object.keys(titles).find((title) => !known.includes(title));
  if (stray !== undefined) throw new EnumTitlesException(dto, name, stray);
  const titled = { ...listed, enumNames: known.map((one) => titles[one] ?? one) };
  return isHeld ? { value, element: titled } : { value: titled, element };
}

function about(types: readonly string[], keywords: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, types]));
}

/**
 * The keywords for all that rules judge, of the value itself or of each entry: also where a rule publishes none of
 * it, as it can't be said exactly, or as the rule holds on a condition or in other groups only.
 */
function judgedKeywords({ dto, name, view, rules }: PropertyFacts, each: boolean): ReadonlySet<string> {
  const { groups: _, ...everyGroup } = view;
  const all = [...rules, ...(rulesByProperty(dto, everyGroup).get(name) ?? [])];
  const judged = all.filter((rule) => Boolean(rule.each) === each).flatMap(judgedBy);
  return new Set(judged.flatMap((keyword) => [keyword, TWINS[keyword] ?? keyword]));
}

// A type is what the whole is made of, and items are described apart.
function unjudged(said: JsonSchema, judged: ReadonlySet<string>): JsonSchema {
  const entries = Object.entries(said);
  return Object.fromEntries(
    entries.filter(([keyword]) => ['type', 'items'].includes(keyword) || !judged.has(keyword)),
  );
}

/** An integer is a number, of which the compiler knows no more. */
function narrowed(schema: JsonSchema, said: JsonSchema): JsonSchema {
  return schema.type === 'number' && said.type === 'integer' ? { ...schema, type: 'integer' } : schema;
}

function filled(schema: JsonSchema, said: JsonSchema): JsonSchema {
  // A list of values leaves nothing open.
  if (Array.isArray(schema.enum)) return schema;
  const { type, enum: values, ...others } = said;
  const typed: JsonSchema = isOpen(schema) && type !== undefined ? { type, ...schema } : schema;
  const listed = fittingValues(typed, values);
  if (listed)
    return { ...typed, ...(typed.type === undefined && type !== undefined ? { type } : {}), enum: listed };
  const added = Object.entries(others).filter(
    ([keyword, value]) =>
      isVacant(typed, keyword, value) && (ABOUT[keyword]?.includes(String(typed.type)) ?? true),
  );
  return { ...typed, ...Object.fromEntries(added) };
}

function isVacant(schema: JsonSchema, keyword: string, value: unknown): boolean {
  const twin = TWINS[keyword];
  if (twin !== undefined && twin in schema) return false;
  const present = schema[keyword];
  return (
    value !== undefined &&
    (present === undefined || (isJsonObject(present) && Object.keys(present).length === 0))
  );
}

function fittingValues(schema: JsonSchema, values: unknown): unknown[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const type = schema.type === 'integer' ? 'number' : schema.type;
  const fitting = (values as unknown[]).filter((value) => type === undefined || typeof value === type);
  return fitting.length > 0 && !('anyOf' in schema) ? fitting : undefined;
}

function typeOf({ type }: JsonSchema): JsonSchema {
  return type === undefined ? {} : { type };
}

import { isJsonObject, type JsonSchema } from '../json-schema.js';

type Combine = (left: unknown, right: unknown) => unknown;

const largest: Combine = (left, right) => Math.max(Number(left), Number(right));
const smallest: Combine = (left, right) => Math.min(Number(left), Number(right));

/** How two rules on one keyword become one. A keyword that isn't here, or gives undefined, goes to `allOf`. */
const COMBINERS: Readonly<Record<string, Combine>> = {
  type: narrowerType,
  enum: commonValues,
  items: mergedItems,
  not: eitherRefusal,
  minimum: largest,
  exclusiveMinimum: largest,
  minLength: largest,
  minItems: largest,
  minProperties: largest,
  maximum: smallest,
  exclusiveMaximum: smallest,
  maxLength: smallest,
  maxItems: smallest,
};

/** Merges keywords so that a value is valid when it is valid under both; neither argument is changed. */
export function mergeKeywords(base: JsonSchema, added: JsonSchema): JsonSchema {
  if (typeof base.$ref === 'string') return withReference(base, added);
  const merged: JsonSchema = { ...base };
  const apart: JsonSchema = {};
  for (const [keyword, value] of Object.entries(added)) {
    const present = merged[keyword];
    if (present === undefined) merged[keyword] = value;
    else if (!isSame(present, value)) {
      const combined = COMBINERS[keyword]?.(present, value);
      if (combined === undefined) apart[keyword] = value;
      else merged[keyword] = combined;
    }
  }
  return Object.keys(apart).length === 0 ? merged : withAllOf(merged, apart);
}

/** Merges any number of keyword sets, in order. */
export function mergeAll(parts: readonly JsonSchema[]): JsonSchema {
  return parts.reduce((merged, part) => mergeKeywords(merged, part), {});
}

// Many readers ignore whatever stands next to a $ref, so nothing is put there; every referenced DTO is an object.
function withReference(base: JsonSchema, added: JsonSchema): JsonSchema {
  const rest = Object.fromEntries(
    Object.entries(added).filter(([keyword, value]) => keyword !== 'type' || value !== 'object'),
  );
  return Object.keys(rest).length === 0 ? base : { allOf: [base, rest] };
}

function withAllOf(schema: JsonSchema, added: JsonSchema): JsonSchema {
  const present = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [];
  const extra = Array.isArray(added.allOf) ? (added.allOf as unknown[]) : [added];
  return { ...schema, allOf: [...present, ...extra] };
}

function mergedItems(left: unknown, right: unknown): unknown {
  return isJsonObject(left) && isJsonObject(right) ? mergeKeywords(left, right) : undefined;
}

// What refuses everything refuses more than anything; two lists of refused values are one.
function eitherRefusal(left: unknown, right: unknown): unknown {
  if (!isJsonObject(left) || !isJsonObject(right)) return undefined;
  if (Object.keys(left).length === 0 || Object.keys(right).length === 0) return {};
  const isList = ({ enum: values, ...others }: JsonSchema) =>
    Array.isArray(values) && Object.keys(others).length === 0;
  if (!isList(left) || !isList(right)) return undefined;
  return { enum: [...new Set([...(left.enum as unknown[]), ...(right.enum as unknown[])])] };
}

function narrowerType(left: unknown, right: unknown): unknown {
  const pair = [left, right];
  return pair.includes('integer') && pair.includes('number') ? 'integer' : undefined;
}

function commonValues(left: unknown, right: unknown): unknown {
  if (!Array.isArray(left) || !Array.isArray(right)) return undefined;
  const common = (left as unknown[]).filter((value) => (right as unknown[]).includes(value));
  return common.length === 0 ? undefined : common;
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const comparable = (value: unknown) => Array.isArray(value) || isJsonObject(value);
  return comparable(left) && comparable(right) && JSON.stringify(left) === JSON.stringify(right);
}

/** Of alternatives, those of the type that is already known; a single one takes their place. */
export function settleAlternatives(schema: JsonSchema, type: unknown = schema.type): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || type === undefined) return schema;
  const fitting = (anyOf as JsonSchema[]).filter(
    (branch) => branch.type === type || narrowerType(branch.type, type),
  );
  const [only] = fitting;
  return fitting.length === 1 && only ? mergeKeywords(rest, only) : schema;
}

/** The type that keywords ask for, and nothing narrower. */
export function typeOnly({ type, format, anyOf }: JsonSchema): JsonSchema {
  if (type !== undefined) return { type, ...(format === undefined ? {} : { format }) };
  if (!Array.isArray(anyOf)) return {};
  const branches = (anyOf as JsonSchema[]).map(typeOnly);
  return branches.some((branch) => branch.type === undefined) ? {} : { anyOf: branches };
}

/** Says whether keywords leave the type open, so that null passes them. */
export function isOpen(schema: JsonSchema): boolean {
  return !['type', 'enum', 'anyOf', '$ref'].some((keyword) => keyword in schema) && !refusesAll(schema);
}

/** Says whether keywords refuse every value. */
export function refusesAll({ not }: JsonSchema): boolean {
  return isJsonObject(not) && Object.keys(not).length === 0;
}

/** A schema that takes null as well. */
export function orNull(schema: JsonSchema): JsonSchema {
  const nothing: JsonSchema = { type: 'null' };
  if (isOpen(schema)) return schema;
  if (refusesAll(schema)) return nothing;
  const { anyOf, ...rest } = schema;
  return Array.isArray(anyOf) && Object.keys(rest).length === 0
    ? { anyOf: [...(anyOf as unknown[]), nothing] }
    : { anyOf: [schema, nothing] };
}

/** Takes null out of what a schema allows, and says whether it was there. */
export function withoutNull(schema: JsonSchema): { schema: JsonSchema; namesNull: boolean } {
  const { type, enum: values, anyOf, oneOf } = schema;
  if (Array.isArray(values) && values.includes(null)) {
    const rest = withoutNull({ ...schema, enum: (values as unknown[]).filter((value) => value !== null) });
    return { schema: rest.schema, namesNull: true };
  }
  if (Array.isArray(type) && type.includes('null')) {
    const types = (type as unknown[]).filter((name) => name !== 'null');
    return { schema: { ...schema, type: types.length === 1 ? types[0] : types }, namesNull: true };
  }
  for (const [keyword, branches] of Object.entries({ anyOf, oneOf })) {
    if (!Array.isArray(branches)) continue;
    const kept = (branches as unknown[]).filter((branch) => !isJsonObject(branch) || branch.type !== 'null');
    if (kept.length === branches.length) continue;
    const { [keyword]: _, ...rest } = schema;
    const only = kept.length === 1 ? kept[0] : undefined;
    return {
      schema: isJsonObject(only) ? mergeKeywords(rest, only) : { ...rest, [keyword]: kept },
      namesNull: true,
    };
  }
  return { schema, namesNull: false };
}

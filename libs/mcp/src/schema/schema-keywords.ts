import { isJsonObject, type JsonSchema } from './json-schema.js';

type Combine = (left: unknown, right: unknown) => unknown;

const largest: Combine = (left, right) => Math.max(Number(left), Number(right));
const smallest: Combine = (left, right) => Math.min(Number(left), Number(right));

/** How two rules on one keyword become one. A keyword that isn't here, or gives undefined, goes to `allOf`. */
const COMBINERS: Readonly<Record<string, Combine>> = {
  type: narrowerType,
  enum: commonValues,
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

import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { fitsLoosely } from './loose-fit.js';
import { define, mapSubschemas, resolveReference, subschemasOf } from './schema-positions.js';

/**
 * Removes every member that a closed schema does not know, at any depth. Copies only what it changes, so a value
 * without unknown members comes back as it is. Of alternatives, the first that fits the value apart from unknown
 * members decides; where none fits nothing is removed, and the check says why.
 */
export function dropUnknown(schema: JsonSchema, value: unknown): unknown {
  return pruned(schema, value, schema, 0);
}

/** The same schema without `additionalProperties: false`, so that it takes unknown members. */
export function openObjects(schema: JsonSchema): JsonSchema {
  const { additionalProperties, ...rest } = schema;
  return mapSubschemas(additionalProperties === false ? rest : schema, (subschema, { keyword }) =>
    // What is negated or only asked about would mean something else.
    keyword === 'not' || keyword === 'if' ? subschema : openObjects(subschema),
  );
}

/**
 * Closes every object that lists its properties and says nothing about others. An object described in several
 * places at once (by `allOf`, or by alternatives or a reference beside its properties) stays as it is, since each
 * place would refuse the members of the others.
 */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const composed = new Set<JsonSchema>();
  markComposed(schema, false, schema, composed, new Map());
  return closed(schema, composed);
}

function pruned(schema: JsonSchema, value: unknown, root: JsonSchema, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_NESTING * 4) return value;
  const kept = Array.isArray(value)
    ? prunedList(schema, value, root, depth)
    : prunedObject(schema, value as Record<string, unknown>, root, depth);
  return inPlace(schema, kept, root).reduce<unknown>(
    (current, other) => pruned(other, current, root, depth + 1),
    kept,
  );
}

/** The other schemas that judge the same value: a reference's target, all of `allOf`, one of each alternative. */
function inPlace(schema: JsonSchema, value: unknown, root: JsonSchema): JsonSchema[] {
  const target = resolveReference(root, schema.$ref);
  const all = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [];
  const chosen = [schema.anyOf, schema.oneOf].map((branches) =>
    Array.isArray(branches)
      ? (branches as unknown[]).find((branch) => fitsLoosely(branch, value, root))
      : undefined,
  );
  return [target, ...all, ...chosen].filter(isJsonObject);
}

function prunedList(
  schema: JsonSchema,
  list: readonly unknown[],
  root: JsonSchema,
  depth: number,
): readonly unknown[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
  const tuple: readonly unknown[] = Array.isArray(first) ? (first as unknown[]) : [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  if (tuple.length === 0 && !isJsonObject(rest)) return list;
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const entrySchema = index < tuple.length ? tuple[index] : rest;
    if (!isJsonObject(entrySchema)) continue;
    const entry = pruned(entrySchema, list[index], root, depth + 1);
    if (entry === list[index]) continue;
    copy ??= [...list];
    copy[index] = entry;
  }
  return copy ?? list;
}

function prunedObject(
  schema: JsonSchema,
  members: Record<string, unknown>,
  root: JsonSchema,
  depth: number,
): Record<string, unknown> {
  if (!['properties', 'patternProperties', 'additionalProperties'].some((keyword) => keyword in schema))
    return members;
  const kept: [string, unknown][] = [];
  let isSame = true;
  for (const [name, member] of Object.entries(members)) {
    const schemas = memberSchemas(schema, name);
    if (schemas === undefined) {
      isSame = false;
      continue;
    }
    const value = schemas.reduce<unknown>(
      (current, memberSchema) => pruned(memberSchema, current, root, depth + 1),
      member,
    );
    isSame &&= value === member;
    kept.push([name, value]);
  }
  if (isSame) return members;
  const copy: Record<string, unknown> = {};
  for (const [name, value] of kept) define(copy, name, value);
  return copy;
}

/** What judges a member; undefined for one that a closed schema does not know. */
function memberSchemas(schema: JsonSchema, name: string): JsonSchema[] | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  const found: unknown[] = [];
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) found.push(properties[name]);
  if (isJsonObject(patternProperties)) {
    for (const [pattern, entry] of Object.entries(patternProperties))
      if (new RegExp(pattern, 'u').test(name)) found.push(entry);
  }
  if (found.length > 0) return found.filter(isJsonObject);
  if (additionalProperties === false) return undefined;
  return isJsonObject(additionalProperties) ? [additionalProperties] : [];
}

/** Keywords beside `properties` by which another schema judges the same object. */
const COMPOSING = [
  '$dynamicRef',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'not',
  'dependentSchemas',
  'dependencies',
];

function closed(schema: JsonSchema, composed: ReadonlySet<JsonSchema>): JsonSchema {
  const inner = mapSubschemas(schema, (subschema) => closed(subschema, composed));
  const isOpen =
    isJsonObject(schema.properties) &&
    !('additionalProperties' in schema) &&
    !('unevaluatedProperties' in schema) &&
    !composed.has(schema) &&
    !COMPOSING.some((keyword) => keyword in schema);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** Collects the schemas that judge an object together with others, also through references. */
function markComposed(
  schema: JsonSchema,
  isComposed: boolean,
  root: JsonSchema,
  composed: Set<JsonSchema>,
  seen: Map<JsonSchema, boolean>,
): void {
  const known = seen.get(schema);
  if (known !== undefined && (known || !isComposed)) return;
  seen.set(schema, isComposed);
  if (isComposed) composed.add(schema);
  const isShared =
    isComposed || 'properties' in schema || COMPOSING.filter((keyword) => keyword in schema).length > 1;
  const target = resolveReference(root, schema.$ref);
  if (target) markComposed(target, isShared, root, composed, seen);
  for (const [{ keyword, isInPlace }, subschema] of subschemasOf(schema)) {
    const isAlternative = keyword === 'anyOf' || keyword === 'oneOf';
    markComposed(subschema, isInPlace && (isShared || !isAlternative), root, composed, seen);
  }
}

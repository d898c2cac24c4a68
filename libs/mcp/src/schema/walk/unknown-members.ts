import { dialectOf } from '../schema-dialect.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { fitsLoosely } from './loose-fit.js';
import {
  define,
  judgesOf,
  mapSubschemas,
  matches,
  referencesOf,
  resolveReference,
  subschemasOf,
} from './schema-positions.js';
import { inPlaceSchemas } from './schema-view.js';
import { StrictFit } from './strict-fit.js';

/**
 * Removes every member that a closed schema does not know, at any depth. Copies only what it changes, so a value
 * without unknown members comes back as it is. Of alternatives one decides: the first that takes the value as it is,
 * else of those that take what is left of it the one that leaves most, else the first of its shape. Where none is,
 * nothing is removed, and the check says why.
 */
export function dropUnknown(schema: JsonSchema, value: unknown): unknown {
  return new Pruning(schema).pruned(schema, value, 0);
}

/** Keywords whose subschemas `dropUnknown` looks into. */
const PRUNED = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'items',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'properties',
]);

/**
 * The same schema without `additionalProperties: false` wherever unknown members are removed, so that it takes them.
 * What only asks, negates or depends stays as it is, since it would mean something else. Alternatives of which one
 * has to fit alone may overlap when they are open, so one that fits is enough.
 */
export function openObjects(schema: JsonSchema): JsonSchema {
  const looked = new Set<JsonSchema>();
  const kept = new Set<JsonSchema>();
  markPruned(schema, schema, looked, kept);
  const openable = [...looked].filter((part) => part.additionalProperties === false && !kept.has(part));
  return openable.length === 0 ? schema : opened(schema, schema, new Set(openable));
}

/**
 * Closes every object that lists its properties, all that it requires among them, and says nothing about others.
 * Members that a pattern names are known as well. An object described in several
 * places at once (by `allOf`, or by alternatives or a reference beside its properties) stays as it is, since each
 * place would refuse the members of the others.
 */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const composed = new Set<JsonSchema>();
  markComposed(schema, false, schema, composed, new Map());
  return closed(schema, composed);
}

class Pruning {
  private readonly isDraft7: boolean;
  private readonly strict: StrictFit;

  constructor(private readonly root: JsonSchema) {
    this.isDraft7 = dialectOf(root) === 'draft-07';
    this.strict = new StrictFit(root, this.isDraft7);
  }

  pruned(schema: JsonSchema, value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null || depth > MAX_NESTING * 4) return value;
    const kept = this.isAlone(schema) ? value : this.prunedInside(schema, value, depth);
    return this.inPlace(schema, kept).reduce<unknown>(
      (current, other) => this.pruned(other, current, depth + 1),
      kept,
    );
  }

  /** Whether it is nothing but a reference, as in draft-07 nothing beside one counts. */
  private isAlone(schema: JsonSchema): boolean {
    return this.isDraft7 && '$ref' in schema;
  }

  private prunedInside(schema: JsonSchema, value: object, depth: number): object {
    return Array.isArray(value)
      ? this.prunedList(schema, value, depth)
      : this.prunedObject(schema, value as Record<string, unknown>, depth);
  }

  /** The other schemas that judge the same value: what is referred to, all of `allOf`, one of each alternative. */
  private inPlace(schema: JsonSchema, value: unknown): JsonSchema[] {
    const targets = referencesOf(schema, this.root);
    if (this.isAlone(schema)) return targets;
    const all = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [];
    const chosen = [schema.anyOf, schema.oneOf].map((branches) =>
      Array.isArray(branches) ? this.chosen(branches, value) : undefined,
    );
    return [...targets, ...all, ...chosen].filter(isJsonObject);
  }

  private chosen(branches: readonly unknown[], value: unknown): unknown {
    const exact = branches.find((branch) => this.strict.fits(branch, value));
    if (exact !== undefined) return exact;
    const [first, ...others] = branches.filter((branch) => this.strict.fitsPruned(branch, value));
    if (first === undefined) return branches.find((branch) => fitsLoosely(branch, value, this.root));
    if (others.length === 0) return first;
    return [first, ...others].toSorted((one, other) => this.lost(one, value) - this.lost(other, value))[0];
  }

  /** How many of its own members a value would lose. */
  private lost(branch: unknown, value: unknown): number {
    const parts = inPlaceSchemas(branch, this.root);
    const names = isJsonObject(value) ? Object.keys(value) : [];
    return names.filter((name) => parts.some((part) => judgesOf(part, name) === undefined)).length;
  }

  private prunedList(schema: JsonSchema, list: readonly unknown[], depth: number): readonly unknown[] {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
    const tuple: readonly unknown[] = Array.isArray(first) ? (first as unknown[]) : [];
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    if (tuple.length === 0 && !isJsonObject(rest)) return list;
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const entrySchema = index < tuple.length ? tuple[index] : rest;
      if (!isJsonObject(entrySchema)) continue;
      const entry = this.pruned(entrySchema, list[index], depth + 1);
      if (entry === list[index]) continue;
      copy ??= [...list];
      copy[index] = entry;
    }
    return copy ?? list;
  }

  private prunedObject(
    schema: JsonSchema,
    members: Record<string, unknown>,
    depth: number,
  ): Record<string, unknown> {
    if (!['properties', 'patternProperties', 'additionalProperties'].some((keyword) => keyword in schema))
      return members;
    const kept: [string, unknown][] = [];
    let isSame = true;
    for (const [name, member] of Object.entries(members)) {
      const judges = judgesOf(schema, name)?.filter(isJsonObject);
      if (judges === undefined) {
        isSame = false;
        continue;
      }
      const value = judges.reduce<unknown>(
        (current, judge) => this.pruned(judge, current, depth + 1),
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
}

/** Collects the schemas that `dropUnknown` reads, and those that are read for another reason, maybe too. */
function markPruned(
  schema: JsonSchema,
  root: JsonSchema,
  looked: Set<JsonSchema>,
  kept: Set<JsonSchema>,
): void {
  if (looked.has(schema)) return;
  looked.add(schema);
  for (const target of referencesOf(schema, root)) markPruned(target, root, looked, kept);
  for (const [{ keyword }, subschema] of subschemasOf(schema)) {
    if (PRUNED.has(keyword)) markPruned(subschema, root, looked, kept);
    else if (!DEFINING.has(keyword)) for (const part of reachable(subschema, root)) kept.add(part);
  }
}

/** A schema with all that it holds or refers to; definitions in it only where something refers to them. */
function reachable(schema: JsonSchema, root: JsonSchema): ReadonlySet<JsonSchema> {
  const found = new Set([schema]);
  for (const part of found) {
    for (const target of referencesOf(part, root)) found.add(target);
    for (const [{ keyword }, subschema] of subschemasOf(part))
      if (!DEFINING.has(keyword)) found.add(subschema);
  }
  return found;
}

const DEFINING = new Set(['$defs', 'definitions']);

function opened(schema: JsonSchema, root: JsonSchema, openable: ReadonlySet<JsonSchema>): JsonSchema {
  const inner = mapSubschemas(schema, (subschema) => opened(subschema, root, openable));
  const { additionalProperties, oneOf, ...rest } = inner;
  const isOverlapping =
    Array.isArray(schema.oneOf) &&
    schema.oneOf
      .filter(isJsonObject)
      .some((branch) => [...reachable(branch, root)].some((part) => openable.has(part)));
  if (!openable.has(schema) && !isOverlapping) return inner;
  return {
    ...rest,
    ...('additionalProperties' in inner && !openable.has(schema) ? { additionalProperties } : {}),
    ...(isOverlapping ? anyOfOneOf(rest, oneOf) : 'oneOf' in inner ? { oneOf } : {}),
  };
}

function anyOfOneOf({ anyOf, allOf }: JsonSchema, oneOf: unknown): JsonSchema {
  if (anyOf === undefined) return { anyOf: oneOf };
  return { allOf: [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), { anyOf: oneOf }] };
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
    !COMPOSING.some((keyword) => keyword in schema) &&
    listsWhatItWants(schema);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** Whether an object knows every member that it requires; closed, it could else never be met. */
function listsWhatItWants({ required, dependentRequired, ...schema }: JsonSchema): boolean {
  const lists = [required, ...(isJsonObject(dependentRequired) ? Object.values(dependentRequired) : [])];
  const patterns = isJsonObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  return lists
    .flatMap((names) => (Array.isArray(names) ? (names as unknown[]).map(String) : []))
    .every(
      (name) =>
        Object.hasOwn(schema.properties as JsonSchema, name) ||
        patterns.some((pattern) => matches(pattern, name)),
    );
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

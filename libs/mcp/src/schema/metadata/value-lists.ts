import type { JsonSchema } from '../json-schema.js';

/** What can equal a value read from JSON: class-validator compares by identity, so no object and no list ever does. */
export type JsonPrimitive = string | number | boolean | null;

/** Says whether a value is one that JSON holds and that can be compared by identity. */
export function isJsonPrimitive(value: unknown): value is JsonPrimitive {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * The schema of "one of these", null left aside: whether a property takes null is told apart from what its other
 * values are. A single value is written as a list of one, as some clients refuse a whole list of tools over `const`.
 */
export function oneOf(values: readonly unknown[]): JsonSchema {
  const allowed = [...new Set(values.filter(isJsonPrimitive))].filter((value) => value !== null);
  return allowed.length === 0 ? { not: {} } : { ...typeOfAll(allowed), enum: allowed };
}

/** The schema of "none of these", null left aside. */
export function noneOf(values: readonly unknown[]): JsonSchema {
  const refused = [...new Set(values.filter(isJsonPrimitive))].filter((value) => value !== null);
  return refused.length === 0 ? {} : { not: { enum: refused } };
}

/** The values of an enum object, without the names a numeric enum maps its values back to. */
export function enumValues(entity: unknown): unknown[] {
  if (Array.isArray(entity)) return entity;
  const members = membersOf(entity);
  return Object.keys(members)
    .filter((key) => !isReverseName(members, key))
    .map((key) => members[key]);
}

/** Says whether an enum maps values back to names, which class-validator takes for values too. */
export function hasReverseNames(entity: unknown): boolean {
  const members = membersOf(entity);
  return !Array.isArray(entity) && Object.keys(members).some((key) => isReverseName(members, key));
}

function membersOf(entity: unknown): Record<string, unknown> {
  return typeof entity === 'object' && entity !== null ? (entity as Record<string, unknown>) : {};
}

function isReverseName(members: Record<string, unknown>, key: string): boolean {
  const name = members[key];
  return String(Number(key)) === key && typeof name === 'string' && members[name] === Number(key);
}

function typeOfAll(values: readonly JsonPrimitive[]): JsonSchema {
  const types = new Set(values.map((value) => typeof value));
  return types.size === 1 ? { type: [...types][0] } : {};
}

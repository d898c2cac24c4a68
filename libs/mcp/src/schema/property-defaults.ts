import { isJsonObject, type Class } from './json-schema.js';
import { MAX_NESTING } from './schema-bounds.js';

/** What the initialisers of a class say: which properties have a value, and which of these values JSON can hold. */
export interface PropertyDefaults {
  readonly filled: ReadonlySet<string>;
  readonly published: ReadonlyMap<string, unknown>;
}

/**
 * Reads the values a class gives its own properties by constructing it. It is constructed twice, so that a value
 * that differs each time (an id, the time) counts as a default but is not published as one.
 */
export function defaultsOf(dto: Class): PropertyDefaults {
  const [first, second] = [construct(dto), construct(dto)];
  const filled = new Set<string>();
  const published = new Map<string, unknown>();
  for (const [name, value] of Object.entries(first)) {
    if (value === undefined || value === null) continue;
    filled.add(name);
    const copy = jsonCopy(value, 0);
    const isStable = JSON.stringify(copy) === JSON.stringify(jsonCopy(second[name], 0));
    if (copy !== undefined && isStable) published.set(name, copy);
  }
  return { filled, published };
}

// A constructor that needs arguments has no defaults to read; class-transformer would fail on it by itself.
function construct(dto: Class): Record<string, unknown> {
  try {
    return { ...(new dto() as Record<string, unknown>) };
  } catch {
    return {};
  }
}

/** A copy of a value that JSON holds without loss, or undefined when any part of it is not such a value. */
function jsonCopy(value: unknown, depth: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (depth > MAX_NESTING) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => jsonCopy(item, depth + 1));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const members = Object.entries(value).map(([name, member]) => [name, jsonCopy(member, depth + 1)] as const);
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members);
}

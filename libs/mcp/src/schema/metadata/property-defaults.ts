import { type Class, isJsonObject } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';

/** The value an initialiser gives a property. */
export interface InitialValue {
  readonly value: unknown;
  /** The same as JSON, where JSON holds it and it is the same every time. */
  readonly json?: unknown;
}

/** What the initialisers of a class say. */
export interface InitialValues {
  /** An instance as the constructor leaves it, or undefined for a constructor that throws without arguments. */
  readonly instance: object | undefined;
  readonly values: ReadonlyMap<string, InitialValue>;
}

/**
 * Reads the values a class gives its own properties by constructing it. It is constructed twice, so that a value
 * that differs each time (an id, the time) counts as a default but is not published as one.
 */
export function initialValuesOf(dto: Class): InitialValues {
  const [instance, other] = [construct(dto), construct(dto)];
  const values = new Map<string, InitialValue>();
  for (const [name, value] of Object.entries(instance ?? {}) as [string, unknown][]) {
    if (value === undefined) continue;
    const json = jsonCopy(value, 0);
    const again = jsonCopy((other as Record<string, unknown> | undefined)?.[name], 0);
    const isStable = JSON.stringify(json) === JSON.stringify(again) && !isOfToday(json);
    values.set(name, json !== undefined && isStable ? { value, json } : { value });
  }
  return { instance, values };
}

const DAY = 86_400_000;

// Two instances are made within one tick of the clock, so what they read off it looks like a constant.
function isOfToday(json: unknown): boolean {
  if (typeof json === 'object' && json !== null) return Object.values(json).some(isOfToday);
  const time = typeof json === 'string' ? Date.parse(json) : typeof json === 'number' ? json : NaN;
  return [time, time * 1000].some((moment) => Math.abs(moment - Date.now()) < 2 * DAY);
}

function construct(dto: Class): object | undefined {
  try {
    return new dto();
  } catch {
    return undefined;
  }
}

/** A copy of a value as JSON has it, or undefined when any part of it has no form there that says the same. */
function jsonCopy(value: unknown, depth: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (depth > MAX_NESTING) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (value instanceof Map)
    return [...value.keys()].every(isText) ? jsonCopy(Object.fromEntries(value), depth) : undefined;
  if (Array.isArray(value) || value instanceof Set) {
    const items = [...(value as Iterable<unknown>)].map((item) => jsonCopy(item, depth + 1));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const members = Object.entries(value).map(([name, member]) => [name, jsonCopy(member, depth + 1)] as const);
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

import { isJsonObject } from '../json-schema.js';

/**
 * Whether a list holds the same JSON value twice. Unlike a comparison of all pairs its time grows with the size of
 * the list and not with its square, whatever the items are.
 */
export function hasRepeatedItem(list: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const item of list) {
    const key = identityOf(item);
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
}

/** A primitive as it is; text is marked, as what stands for objects and lists is text too. */
function identityOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? canonical(value) : value;
}

/** JSON with the members in one order, so that equal values have equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : textOf(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(',')}}`;
}

/** JSON.stringify would take an infinite number, which a too large literal becomes, for null. */
function textOf(value: unknown): string {
  return Object.is(value, -0) ? '0' : String(value);
}

import type { PathStep } from '../issue-path.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { resolveReference, subschemasOf } from './schema-positions.js';

/**
 * A schema with every other one that judges the same value: the targets of references and the parts of `allOf`;
 * with `all`, alternatives and conditions too.
 */
export function inPlaceSchemas(
  schema: unknown,
  root: JsonSchema,
  which: 'certain' | 'all' = 'certain',
): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const pending: unknown[] = [schema];
  while (pending.length > 0) {
    const current = pending.pop();
    if (!isJsonObject(current) || found.has(current)) continue;
    found.add(current);
    for (const reference of [current.$ref, current.$dynamicRef])
      pending.push(resolveReference(root, reference));
    for (const [{ keyword, isInPlace }, subschema] of subschemasOf(current))
      if (isInPlace && (which === 'all' || keyword === 'allOf')) pending.push(subschema);
  }
  return [...found];
}

/** The schemas, boolean ones included, that may judge the member or item that one step leads to. */
export function childSchemas(schema: unknown, step: PathStep, root: JsonSchema): unknown[] {
  return inPlaceSchemas(schema, root, 'all').flatMap((current) => {
    const { properties, patternProperties, items, prefixItems } = current;
    const named = [properties, prefixItems, items].map((holder) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, step)
        ? (holder as Record<PathStep, unknown>)[step]
        : undefined,
    );
    const patterned = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
    const others = [
      Array.isArray(items) ? undefined : items,
      current.additionalItems,
      current.additionalProperties,
      current.contains,
      current.unevaluatedItems,
      current.unevaluatedProperties,
    ];
    return [...named, ...patterned, ...others].filter((child) => child !== undefined);
  });
}

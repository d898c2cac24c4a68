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

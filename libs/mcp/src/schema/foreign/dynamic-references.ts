import type { JsonSchema } from '../json-schema.js';
import { mentions } from '../schema-dialect.js';
import { mapSubschemas, subschemasOf } from '../walk/schema-positions.js';
import { InvalidSchemaException } from '../unusable-schema.exception.js';

/**
 * The same schema for the compiler, which looks for dynamic anchors in the wrong place: in a schema that is one
 * resource a dynamic reference can only mean the anchor in it, just as a plain one. Throws where there are more.
 */
export function withPlainReferences(schema: JsonSchema): JsonSchema {
  if (!hasDynamicReference(schema)) return schema;
  const { $id: _, ...body } = schema;
  if (mentions(body, ['$id'])) {
    throw new InvalidSchemaException(
      '$dynamicRef beside an "$id" inside the schema is not supported; write "$ref", or leave the "$id" out',
    );
  }
  return plain(schema);
}

function hasDynamicReference(schema: JsonSchema): boolean {
  if ('$dynamicRef' in schema) return true;
  return [...subschemasOf(schema)].some(([, subschema]) => hasDynamicReference(subschema));
}

function plain(schema: JsonSchema): JsonSchema {
  const { $dynamicRef, $dynamicAnchor, ...rest } = mapSubschemas(schema, plain);
  const anchor = $dynamicAnchor === undefined ? {} : { $anchor: $dynamicAnchor };
  if ($dynamicRef === undefined) return { ...rest, ...anchor };
  if (!('$ref' in rest)) return { ...rest, ...anchor, $ref: $dynamicRef };
  const others = Array.isArray(rest.allOf) ? (rest.allOf as unknown[]) : [];
  return { ...rest, ...anchor, allOf: [...others, { $ref: $dynamicRef }] };
}

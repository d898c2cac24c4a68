import { isJsonObject, type JsonSchema } from '../json-schema.js';

/** Keywords whose value is one subschema, read for a member or an item of the value. */
const CHILD = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'items',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is one subschema, read for the value itself. */
const SELF = new Set(['else', 'if', 'not', 'then']);
/** Keywords whose value is a list of subschemas for the value itself. */
const SELF_LIST = new Set(['allOf', 'anyOf', 'oneOf']);
/** Keywords whose value is a list of subschemas for items; `items` is a list in draft-07 only. */
const CHILD_LIST = new Set(['items', 'prefixItems']);
/** Keywords whose value has a subschema under each name, for the value itself. */
const SELF_MAP = new Set(['dependencies', 'dependentSchemas']);
/** Keywords whose value has a subschema under each name, for members of the value or for nothing yet. */
const CHILD_MAP = new Set(['$defs', 'definitions', 'patternProperties', 'properties']);

/** Where a subschema stands: its keyword, the name or index under it, and what it is read for. */
export interface SchemaPosition {
  readonly keyword: string;
  readonly key?: string | number;
  /** Whether it judges the same value as the schema that holds it, and not a member of the value. */
  readonly isInPlace: boolean;
}

/** Every direct subschema with its position; boolean schemas are left out, as nothing is inside them. */
export function* subschemasOf(schema: JsonSchema): Generator<[SchemaPosition, JsonSchema]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (Array.isArray(value)) {
      const isInPlace = SELF_LIST.has(keyword);
      if (!isInPlace && !CHILD_LIST.has(keyword)) continue;
      for (const [key, entry] of (value as unknown[]).entries())
        if (isJsonObject(entry)) yield [{ keyword, key, isInPlace }, entry];
    } else if (isJsonObject(value)) {
      const isInPlace = SELF.has(keyword);
      if (isInPlace || CHILD.has(keyword)) yield [{ keyword, isInPlace }, value];
      else if (SELF_MAP.has(keyword) || CHILD_MAP.has(keyword)) {
        for (const [key, entry] of Object.entries(value))
          if (isJsonObject(entry)) yield [{ keyword, key, isInPlace: SELF_MAP.has(keyword) }, entry];
      }
    }
  }
}

/** Rebuilds a schema with each direct subschema replaced; what stays the same is not copied. */
export function mapSubschemas(
  schema: JsonSchema,
  replace: (subschema: JsonSchema, position: SchemaPosition) => JsonSchema,
): JsonSchema {
  let copy: JsonSchema | undefined;
  const copied = new Set<string>();
  for (const [position, subschema] of subschemasOf(schema)) {
    const replaced = replace(subschema, position);
    if (replaced === subschema) continue;
    copy ??= { ...schema };
    const { keyword, key } = position;
    if (key === undefined) {
      define(copy, keyword, replaced);
      continue;
    }
    const holder = copied.has(keyword) ? (copy[keyword] as JsonSchema) : shallowCopy(copy[keyword]);
    copied.add(keyword);
    copy[keyword] = holder;
    define(holder, String(key), replaced);
  }
  return copy ?? schema;
}

/** Sets an own member whatever its name, also one called `__proto__`. */
export function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
}

function shallowCopy(holder: unknown): JsonSchema {
  return (Array.isArray(holder) ? [...(holder as unknown[])] : { ...(holder as JsonSchema) }) as JsonSchema;
}

/**
 * The subschema a local reference names: a JSON pointer, `#`, or an anchor. Undefined for anything else, as
 * nothing is ever fetched.
 */
export function resolveReference(root: JsonSchema, reference: unknown): JsonSchema | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const fragment = decodeFragment(reference.slice(1));
  if (fragment === '') return root;
  if (fragment === undefined) return undefined;
  return fragment.startsWith('/') ? byPointer(root, fragment) : byAnchor(root, fragment, 0);
}

/** What the references of a schema lead to, as far as they lead to something here. */
export function referencesOf(schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  return [schema.$ref, schema.$dynamicRef]
    .map((reference) => resolveReference(root, reference))
    .filter((target) => target !== undefined);
}

/** The schemas that judge a member of an object; undefined for one that a closed object does not know. */
export function judgesOf(schema: JsonSchema, name: string): unknown[] | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  const found: unknown[] = [];
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) found.push(properties[name]);
  if (isJsonObject(patternProperties)) {
    for (const [pattern, entry] of Object.entries(patternProperties))
      if (matches(pattern, name)) found.push(entry);
  }
  if (found.length > 0) return found;
  if (additionalProperties === false) return undefined;
  return additionalProperties === undefined ? [] : [additionalProperties];
}

/** Whether a text matches a pattern, as JSON Schema reads patterns. */
export function matches(pattern: string, text: string): boolean {
  return new RegExp(pattern, 'u').test(text);
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function byPointer(root: JsonSchema, pointer: string): JsonSchema | undefined {
  let current: unknown = root;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as JsonSchema)[name];
  }
  return isJsonObject(current) ? current : undefined;
}

function byAnchor(schema: JsonSchema, anchor: string, depth: number): JsonSchema | undefined {
  if (schema.$anchor === anchor || schema.$dynamicAnchor === anchor || schema.$id === `#${anchor}`)
    return schema;
  if (depth > 100) return undefined;
  for (const [, subschema] of subschemasOf(schema)) {
    const found = byAnchor(subschema, anchor, depth + 1);
    if (found) return found;
  }
  return undefined;
}

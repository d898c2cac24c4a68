import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Class, JsonSchema } from './json-schema.js';
import { UnknownSchemaKindException, UnwrappedSchemasException } from './unusable-schema.exception.js';

/** A DTO class, a Standard Schema, or a JSON Schema as it stands. */
export type McpSchema = Class | StandardSchemaV1 | JsonSchema;

/** A schema with its kind. */
export type KnownSchema =
  | { readonly kind: 'dto'; readonly schema: Class }
  | { readonly kind: 'standard'; readonly schema: StandardSchemaV1 }
  | { readonly kind: 'raw'; readonly schema: JsonSchema };

/** Tells the kinds of schema apart; throws for anything else. */
export function schemaKind(schema: unknown): KnownSchema {
  // First, as some libraries' schemas are functions.
  if (isStandardSchema(schema)) return { kind: 'standard', schema };
  if (isOwnClass(schema)) return { kind: 'dto', schema };
  if (isPlainObject(schema)) {
    const { properties } = schema;
    const members = [schema, properties].filter(isPlainObject).flatMap((held) => Object.values(held));
    const member = members.find(isStandardSchema);
    if (member) throw new UnwrappedSchemasException(member['~standard'].vendor);
    return { kind: 'raw', schema };
  }
  throw new UnknownSchemaKindException(describe(schema));
}

function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as Partial<StandardSchemaV1>)['~standard'];
  return typeof standard === 'object' && typeof standard?.validate === 'function';
}

function isOwnClass(value: unknown): value is Class {
  return typeof value === 'function' && typeof value.prototype === 'object' && !isNative(value);
}

/** String, Object, Promise and their like: what reflection gives for a type that is no class of the application. */
function isNative(value: object): boolean {
  return Function.prototype.toString.call(value).endsWith('{ [native code] }');
}

/** An object literal of any realm, and no instance of a class. */
function isPlainObject(value: unknown): value is JsonSchema {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return value.name ? `the function ${value.name}` : 'a function';
  if (typeof value !== 'object') return `a value of type ${typeof value}`;
  const name: unknown = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } }).constructor
    ?.name;
  return `an instance of ${typeof name === 'string' && name !== '' ? name : 'a class'}`;
}

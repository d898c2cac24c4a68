import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { resolveReference } from './schema-positions.js';

/** How many schemas one question may visit; beyond that the answer is yes, and the real check decides. */
const MAX_VISITS = 2_000;

/** How deep it goes: references may lead to themselves. */
const MAX_DEPTH = MAX_NESTING * 4;

/**
 * Says whether a value has the shape of a schema: types, allowed values and required members, at every depth.
 * Bounds, patterns and unknown members don't count. It tells alternatives apart; it is no validator.
 */
export function fitsLoosely(schema: unknown, value: unknown, root: JsonSchema): boolean {
  return new ShapeCheck(root).fits(schema, value);
}

class ShapeCheck {
  private visits = 0;
  private depth = 0;

  constructor(private readonly root: JsonSchema) {}

  fits(schema: unknown, value: unknown): boolean {
    if (!isJsonObject(schema)) return schema !== false;
    this.visits += 1;
    if (this.visits > MAX_VISITS || this.depth > MAX_DEPTH) return true;
    this.depth += 1;
    // What is quick to say comes first: a wrong variant is mostly told by its type or its discriminator.
    const fits =
      this.fitsItself(schema, value) && this.fitsInside(schema, value) && this.fitsOthers(schema, value);
    this.depth -= 1;
    return fits;
  }

  private fitsItself(schema: JsonSchema, value: unknown): boolean {
    const { type, required, properties } = schema;
    if (type !== undefined && !isOfType(type, value)) return false;
    if (!isAllowed(schema, value)) return false;
    if (!isJsonObject(value)) return true;
    const names: unknown[] = Array.isArray(required) ? required : [];
    if (!names.every((name) => Object.hasOwn(value, String(name)))) return false;
    return Object.entries(isJsonObject(properties) ? properties : {}).every(
      ([name, member]) =>
        !Object.hasOwn(value, name) || !isJsonObject(member) || isAllowed(member, value[name]),
    );
  }

  private fitsInside({ properties, items, prefixItems }: JsonSchema, value: unknown): boolean {
    if (Array.isArray(value)) {
      const tuple: unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
      const rest = Array.isArray(items) ? true : (items ?? true);
      return value.every((entry, index) => this.fits(index < tuple.length ? tuple[index] : rest, entry));
    }
    if (!isJsonObject(value) || !isJsonObject(properties)) return true;
    return Object.entries(properties).every(
      ([name, member]) => !Object.hasOwn(value, name) || this.fits(member, value[name]),
    );
  }

  private fitsOthers({ $ref, allOf, anyOf, oneOf }: JsonSchema, value: unknown): boolean {
    if ($ref !== undefined && !this.fits(resolveReference(this.root, $ref) ?? true, value)) return false;
    if (Array.isArray(allOf) && !allOf.every((branch) => this.fits(branch, value))) return false;
    return [anyOf, oneOf].every(
      (branches) => !Array.isArray(branches) || branches.some((branch) => this.fits(branch, value)),
    );
  }
}

function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const allowed = 'const' in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(allowed)) return true;
  // Allowed objects and arrays are too rare to compare in depth here.
  return allowed.some((entry) => entry === value || (typeof entry === 'object' && entry !== null));
}

/** Whether a value is of a JSON Schema type, or of one of several. */
export function isOfType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((name) => isOfType(name, value));
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** A JSON Schema 2020-12 document or subschema, as plain JSON. */
export type JsonSchema = Record<string, unknown>;

/** Any class whose instances are objects: a DTO, whatever its constructor takes. */
export type Class = new (...args: never[]) => object;

/** The keyword of an argument that a client repeats in a header, and gives the end of the header's name. */
export const MIRROR_KEYWORD = 'x-mcp-header';

/** Says whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Freezes a schema at every depth, so that what was published can't be changed by whoever reads it. */
export function freezeSchema<T>(schema: T): T {
  if (typeof schema === 'object' && schema !== null && !Object.isFrozen(schema)) {
    Object.freeze(schema);
    Object.values(schema).forEach((member) => freezeSchema(member));
  }
  return schema;
}

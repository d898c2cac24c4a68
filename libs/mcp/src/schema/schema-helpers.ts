import { isJsonObject, type JsonSchema } from './json-schema.js';

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Short ways to write JSON Schema by hand, for handlers that have no class for their arguments. */
export const schema = {
  /**
   * A closed object with these properties.
   * @param required the names that have to be there; none by default
   * @example
   * ```ts
   * schema.object({ city: schema.property('string', 'Where'), days: schema.property('integer') }, ['city'])
   * // { type: 'object', properties: { … }, required: ['city'], additionalProperties: false }
   * ```
   */
  object(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
    if (!isJsonObject(properties)) throw new TypeError('schema.object() takes an object of properties');
    for (const [name, property] of Object.entries(properties)) {
      if (!isJsonObject(property)) {
        throw new TypeError(`schema.object(): "${name}" is no schema; write schema.property('string')`);
      }
    }
    if (!Array.isArray(required)) throw new TypeError('schema.object(): the required names are a list');
    const unknown = required.find((name) => !Object.hasOwn(properties, name));
    if (unknown !== undefined) {
      throw new TypeError(`schema.object(): "${unknown}" is required, but it is none of the properties`);
    }
    return {
      type: 'object',
      properties: { ...properties },
      ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
      additionalProperties: false,
    };
  },

  /**
   * One property.
   * @param type a JSON Schema type, or several
   * @param more further keywords
   * @example
   * ```ts
   * schema.property('string', 'A colour', { enum: ['red', 'green'] })
   * // { type: 'string', description: 'A colour', enum: ['red', 'green'] }
   * ```
   */
  property(type: string | string[], description?: string, more: JsonSchema = {}): JsonSchema {
    const types = [type].flat();
    const unknown = types.find((name) => !TYPES.includes(name));
    if (unknown !== undefined || types.length === 0) {
      throw new TypeError(`schema.property(): the type is one of ${TYPES.join(', ')}, or several of them`);
    }
    if (description !== undefined && typeof description !== 'string') {
      throw new TypeError('schema.property(): the description is text; further keywords come third');
    }
    if (!isJsonObject(more)) throw new TypeError('schema.property(): further keywords are an object');
    const given = ['type', ...(description === undefined ? [] : ['description'])].find(
      (name) => name in more,
    );
    if (given !== undefined) throw new TypeError(`schema.property(): "${given}" is given twice`);
    return {
      type: Array.isArray(type) ? [...type] : type,
      ...(description === undefined ? {} : { description }),
      ...more,
    };
  },
};

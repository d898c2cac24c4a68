import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { matches } from './schema-positions.js';

/** Whether a value meets what a schema says of its size: of a number, a text, a list or an object. */
export function meetsBounds(schema: JsonSchema, value: unknown): boolean {
  if (typeof value === 'number') return meetsNumberBounds(schema, value);
  if (typeof value === 'string') {
    const { pattern } = schema;
    // JSON Schema counts characters, not the halves that JavaScript's length counts.
    return (
      isBetween(Array.from(value).length, schema.minLength, schema.maxLength) &&
      (typeof pattern !== 'string' || matches(pattern, value))
    );
  }
  if (Array.isArray(value)) return isBetween(value.length, schema.minItems, schema.maxItems);
  if (!isJsonObject(value)) return true;
  return isBetween(Object.keys(value).length, schema.minProperties, schema.maxProperties);
}

function meetsNumberBounds(schema: JsonSchema, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return (
    isBetween(value, minimum, maximum) &&
    (typeof exclusiveMinimum !== 'number' || value > exclusiveMinimum) &&
    (typeof exclusiveMaximum !== 'number' || value < exclusiveMaximum) &&
    (typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf))
  );
}

function isBetween(size: number, least: unknown, most: unknown): boolean {
  return (typeof least !== 'number' || size >= least) && (typeof most !== 'number' || size <= most);
}

import { quoted, safeText, shownName } from '../issue-path.js';
import { isJsonObject } from '../json-schema.js';
import { MAX_MESSAGE_LENGTH } from '../schema-bounds.js';

const MAX_LISTED = 30;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'a boolean',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/** A type, or a list of types, as a noun. */
export function typeWords(type: unknown): string {
  return [type]
    .flat()
    .map((name) => TYPE_NAMES[String(name)] ?? String(name))
    .join(' or ');
}

/** The members a schema knows, for a message about one that it does not know. */
export function knownMembers(schema: unknown): string {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  return names.length === 0 ? 'none is known here' : `known: ${clippedList(names.map(shownName))}`;
}

/** Allowed values, in part where there are many. */
export function listed(values: unknown): string {
  return clippedList((Array.isArray(values) ? (values as unknown[]) : []).map(shownValue));
}

/** Entries behind each other, in part where there are many. */
export function clippedList(entries: readonly string[], separator = ', '): string {
  const rest = entries.length - MAX_LISTED;
  const shown = entries.slice(0, MAX_LISTED).join(separator);
  return rest > 0 ? `${shown}${separator}… (${rest} more)` : shown;
}

/** A value that a schema names, as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return safeText(JSON.stringify(value), MAX_MESSAGE_LENGTH);
}

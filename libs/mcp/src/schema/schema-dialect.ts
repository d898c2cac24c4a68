import { isJsonObject, type JsonSchema } from './json-schema.js';

/** The versions of JSON Schema that are understood. */
export type Dialect = '2020-12' | 'draft-07';

const KNOWN: readonly [RegExp, Dialect][] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, 'draft-07'],
];

/** How the known dialects are written, for messages. */
export const DIALECT_URIS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
] as const;

/** The dialect a schema declares; 2020-12 where it declares none, undefined where it is not known. */
export function dialectOf(schema: JsonSchema): Dialect | undefined {
  const { $schema } = schema;
  if ($schema === undefined) return '2020-12';
  return KNOWN.find(([uri]) => typeof $schema === 'string' && uri.test($schema))?.[1];
}

/** The same schema without a `$schema` that only names the default dialect. */
export function withoutDefaultDialect(schema: JsonSchema): JsonSchema {
  if (!('$schema' in schema) || dialectOf(schema) !== '2020-12') return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

/** Whether a schema has one of these keywords anywhere; also says so of a member that has such a name. */
export function mentions(schema: unknown, keywords: readonly string[]): boolean {
  if (Array.isArray(schema)) return schema.some((entry) => mentions(entry, keywords));
  if (!isJsonObject(schema)) return false;
  return (
    keywords.some((keyword) => keyword in schema) ||
    Object.values(schema).some((entry) => mentions(entry, keywords))
  );
}

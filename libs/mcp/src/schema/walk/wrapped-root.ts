import { isJsonObject, type JsonSchema } from '../json-schema.js';

/** Where the schema of the value stands in the wrapped one. */
const PLACE = '#/properties/result';

/** What stays at the root, where references look for it. */
const HOLDERS: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** Keywords whose value has a schema under each name, whatever the name is. */
const MAPS: ReadonlySet<string> = new Set([
  ...HOLDERS,
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Keywords whose value is data, also where it looks like a schema. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/**
 * The schema of an object whose member `result` has to suit the given schema, for revisions where the root is an
 * object. Definitions stay at the root, and references lead to where things have moved. A schema that has an
 * identifier is a root of its own and stays as it is.
 */
export function wrapRoot(schema: JsonSchema): JsonSchema {
  const { $schema, ...body } = schema;
  const dialect = $schema === undefined ? {} : { $schema };
  if (isResource(schema)) return { ...dialect, ...objectOf(schema) };
  const entries = Object.entries(moved(body) as JsonSchema);
  return {
    ...dialect,
    ...objectOf(Object.fromEntries(entries.filter(([keyword]) => !HOLDERS.has(keyword)))),
    ...Object.fromEntries(entries.filter(([keyword]) => HOLDERS.has(keyword))),
  };
}

function objectOf(result: JsonSchema): JsonSchema {
  return { type: 'object', properties: { result }, required: ['result'] };
}

/** Whether references inside it are looked up in it alone; one that is only a fragment is an anchor in draft-07. */
function isResource({ $id }: JsonSchema): boolean {
  return typeof $id === 'string' && $id !== '' && !$id.startsWith('#');
}

/** References lead also to where no keyword holds a schema, so all is looked through that is not data. */
function moved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(moved);
  if (!isJsonObject(part) || isResource(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => [keyword, movedValue(keyword, value)]),
  );
}

function movedValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (keyword === '$ref' || keyword === '$dynamicRef') return movedReference(value);
  if (!MAPS.has(keyword) || !isJsonObject(value)) return moved(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, moved(part)]));
}

function movedReference(reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return reference;
  const [, holder = ''] = reference.split('/');
  return HOLDERS.has(decoded(holder)) ? reference : `${PLACE}${reference.slice(1)}`;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

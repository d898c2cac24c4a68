import { type JsonSchema } from '../json-schema.js';
import { RESERVED_MEMBERS } from '../schema-bounds.js';
import { compileForeignSchema, type SchemaCheck } from '../check/schema-compiler.js';
import { DIALECT_URIS, dialectOf } from '../schema-dialect.js';
import { resolveReference, subschemasOf } from '../walk/schema-positions.js';
import { inPlaceSchemas } from '../walk/schema-view.js';
import {
  InvalidSchemaException,
  SchemaRootException,
  UnknownDialectException,
} from '../unusable-schema.exception.js';

/** Keywords that ajv obeys although no version of JSON Schema has them, so that our verdict would not be everyone's. */
const NOT_JSON_SCHEMA: Readonly<Record<string, string>> = {
  nullable: 'is OpenAPI; write "anyOf": [{ … }, { "type": "null" }]',
  $async: 'is no keyword of JSON Schema; leave it out',
};
const COMBINING = ['anyOf', 'oneOf', 'allOf'] as const;

/** Refuses what can be seen of a schema, of any kind but our own, without compiling it. */
export function assertReadable(schema: JsonSchema): void {
  if (dialectOf(schema) === undefined) throw new UnknownDialectException(schema.$schema, DIALECT_URIS);
  for (const [path, subschema] of everySubschema(schema)) {
    const odd = Object.keys(NOT_JSON_SCHEMA).find((keyword) => keyword in subschema);
    if (odd !== undefined) throw new InvalidSchemaException(`${path}/${odd} ${NOT_JSON_SCHEMA[odd]}`);
    if (judgesItself(subschema, schema)) {
      throw new InvalidSchemaException(
        `${path} leads back to itself for one and the same value, without end`,
      );
    }
  }
}

/** Refuses a schema of arguments that could never be met, or whose root is no object. */
export function assertTakesArguments(schema: JsonSchema, mend: string): void {
  if (schema.type !== 'object') {
    const found = schema.type === undefined ? 'has no "type"' : `has "type": ${JSON.stringify(schema.type)}`;
    throw new SchemaRootException(found, mend);
  }
  for (const [path, { properties }] of everySubschema(schema)) {
    const name = Object.keys(properties ?? {}).find((property) => RESERVED_MEMBERS.has(property));
    if (name !== undefined) {
      throw new InvalidSchemaException(
        `${path}/properties/${name} is a name that is never read from arguments; rename the property`,
      );
    }
  }
}

/** Refuses alternatives at the root, which the models behind several clients don't take. */
export function assertSimpleRoot(schema: JsonSchema, mend: string): void {
  const combining = COMBINING.find((keyword) => keyword in schema);
  if (combining !== undefined) throw new SchemaRootException(`has "${combining}"`, mend);
}

/** Compiles such a schema; what is wrong with it is an `InvalidSchemaException`. */
export function compileForeign(schema: JsonSchema): Promise<SchemaCheck> {
  return compileForeignSchema(schema, (problem, cause) => new InvalidSchemaException(problem, cause));
}

/** Whether a schema is among those that judge the same value as itself. */
function judgesItself(schema: JsonSchema, root: JsonSchema): boolean {
  const next = [...subschemasOf(schema)]
    .filter(([{ isInPlace }]) => isInPlace)
    .map(([, subschema]) => subschema);
  const targets = [schema.$ref, schema.$dynamicRef].map((reference) => resolveReference(root, reference));
  return [...next, ...targets].some((start) => inPlaceSchemas(start, root, 'all').includes(schema));
}

function* everySubschema(schema: JsonSchema, path = '#'): Generator<[string, JsonSchema]> {
  yield [path, schema];
  for (const [{ keyword, key }, subschema] of subschemasOf(schema)) {
    const name = key === undefined ? '' : `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    yield* everySubschema(subschema, `${path}/${keyword}${name}`);
  }
}

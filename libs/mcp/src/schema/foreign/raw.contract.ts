import type { ArgumentsContract, ContractOptions } from '../arguments.contract.js';
import { withPlainReferences } from './dynamic-references.js';
import { assertReadable, assertTakesArguments, compileForeign } from './foreign-schema.js';
import { freezeSchema, type JsonSchema } from '../json-schema.js';
import { LazyCheck } from '../check/schema-check.js';
import { droppingRefused } from './refused-members.js';
import { openObjects } from '../walk/unknown-members.js';
import { InvalidSchemaException } from '../unusable-schema.exception.js';

/**
 * The contract of a JSON Schema as it stands, of the dialect that its `$schema` names. The handler gets the JSON
 * that passed. Throws for a schema that can't be used, some of it only from `prepare`.
 */
export function rawContract(schema: JsonSchema, options: ContractOptions = {}): ArgumentsContract {
  const own = ownCopy(schema);
  assertReadable(own);
  assertTakesArguments(own, 'write "type": "object" and the arguments under "properties"');
  const isDropping = options.unknownMembers === 'drop';
  const published = freezeSchema(isDropping ? openObjects(own) : own);
  // Also what is left of arguments is judged by the schema as it stands, which may mean to tell alternatives apart.
  const check = new LazyCheck(withPlainReferences(own), compileForeign);
  return {
    schema: published,
    prepare: () => check.prepare(),
    checkRaw: (raw) => check.ofArguments(raw),
    instantiate: (raw) => Promise.resolve({ value: raw }),
    ...(isDropping ? { withoutUnknown: droppingRefused(own, check) } : {}),
  };
}

/** What would be sent of a schema, apart from the object that the application keeps and may change. */
export function ownCopy(schema: JsonSchema): JsonSchema {
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonSchema;
  } catch (error) {
    throw new InvalidSchemaException(
      'it is no JSON (it holds itself, or a value that JSON has no form for)',
      error,
    );
  }
}

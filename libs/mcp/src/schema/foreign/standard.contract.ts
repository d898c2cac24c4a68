import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ArgumentsContract, ContractOptions } from '../arguments.contract.js';
import { withPlainReferences } from './dynamic-references.js';
import { assertReadable, assertSimpleRoot, assertTakesArguments, compileForeign } from './foreign-schema.js';
import { standardIssues } from '../messages/issue-messages.js';
import { freezeSchema } from '../json-schema.js';
import { LazyCheck } from '../check/schema-check.js';
import { portable, standardJsonSchema } from './standard-json-schema.js';
import { closeObjects, openObjects } from '../walk/unknown-members.js';
import { droppingRefused } from './refused-members.js';

const MEND = 'wrap it in an object, as in z.object({ … }), v.object({ … }) or type({ … })';

/**
 * The contract of a Standard Schema: its JSON Schema judges first, as published, and then the library itself,
 * whose value the handler gets.
 */
export async function standardContract(
  schema: StandardSchemaV1,
  options: ContractOptions = {},
): Promise<ArgumentsContract> {
  const converted = portable(await standardJsonSchema(schema, 'input'));
  assertReadable(converted);
  assertSimpleRoot(converted, MEND);
  assertTakesArguments(converted, MEND);
  const closed = closeObjects(converted);
  const isDropping = options.unknownMembers === 'drop';
  const published = freezeSchema(isDropping ? openObjects(converted) : closed);
  const check = new LazyCheck(withPlainReferences(closed), compileForeign);
  return {
    schema: published,
    prepare: () => check.prepare(),
    checkRaw: (raw) => check.ofArguments(raw),
    instantiate: (raw) => standardValue(schema, raw),
    ...(isDropping ? { withoutUnknown: droppingRefused(closed, check) } : {}),
  };
}

/** A Standard Schema's own verdict, and the value it makes. What it throws is an error of the schema. */
export async function standardValue(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown } | { issues: string[] }> {
  const result = await schema['~standard'].validate(value);
  return result.issues ? { issues: standardIssues(result.issues) } : { value: result.value };
}

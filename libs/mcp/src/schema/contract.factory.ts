import type { ArgumentsContract, ContractOptions } from './arguments.contract.js';
import { dtoContract } from './dto/dto.contract.js';
import { rawContract } from './foreign/raw.contract.js';
import { standardContract } from './foreign/standard.contract.js';
import { freezeSchema } from './json-schema.js';
import { unknownMemberIssues } from './messages/issue-messages.js';
import { type McpSchema, schemaKind } from './schema-kind.js';

/** The contract of a handler that takes no arguments: any member is refused by its name. */
export const emptyContract: ArgumentsContract = {
  schema: freezeSchema({ type: 'object', additionalProperties: false }),
  prepare: () => undefined,
  checkRaw: (raw) => unknownMemberIssues(Object.keys(raw)),
  instantiate: () => Promise.resolve({ value: {} }),
};

/** The contract of a handler that takes no arguments and does not mind what it is sent. */
const indifferentContract: ArgumentsContract = {
  ...emptyContract,
  schema: freezeSchema({ type: 'object' }),
  withoutUnknown: () => ({}),
  checkRaw: () => [],
};

/** The contract of any kind of schema; without one, the contract of a handler that takes no arguments. */
export async function argumentsContract(
  schema: McpSchema | undefined,
  options: ContractOptions = {},
): Promise<ArgumentsContract> {
  if (schema === undefined) return options.unknownMembers === 'drop' ? indifferentContract : emptyContract;
  const known = schemaKind(schema);
  if (known.kind === 'dto') return dtoContract(known.schema, options);
  return known.kind === 'standard'
    ? standardContract(known.schema, options)
    : rawContract(known.schema, options);
}

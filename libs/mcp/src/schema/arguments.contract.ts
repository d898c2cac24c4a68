import { dtoContract } from './dto/dto.contract.js';
import type { DtoView } from './dto/dto-schema.factory.js';
import { unknownMemberIssues } from './messages/issue-messages.js';
import { type Class, freezeSchema, type JsonSchema } from './json-schema.js';
import { rawContract } from './foreign/raw.contract.js';
import { type McpSchema, schemaKind } from './schema-kind.js';
import { standardContract } from './foreign/standard.contract.js';

export type { McpSchema } from './schema-kind.js';

/**
 * What a tool, prompt or completion takes, in both of its forms: the schema it publishes, and the value its
 * handler is given. Arguments pass `withoutUnknown`, `checkRaw` and `instantiate`, in this order.
 */
export interface ArgumentsContract {
  /** The published schema, frozen. */
  readonly schema: JsonSchema;
  /** The class that pipes see; only the contract of a DTO has one. */
  readonly dto?: Class;
  /** Compiles at boot what has to be sound before the first call. Throws what is wrong with the schema. */
  prepare(): void | Promise<void>;
  /** Takes off members that the schema does not know, where they are dropped and not refused. Never changes `raw`. */
  withoutUnknown?(raw: Record<string, unknown>): Record<string, unknown>;
  /**
   * Checks raw JSON against the published schema. One line for each issue, none when it is valid. The first call
   * may give a promise, as it loads the validator; later ones answer at once.
   */
  checkRaw(raw: Record<string, unknown>): readonly string[] | Promise<readonly string[]>;
  /** Makes the handler's value, by the schema's own rules, once. What has passed `checkRaw` is expected here. */
  instantiate(raw: Record<string, unknown>): Promise<{ value: unknown } | { issues: string[] }>;
}

/** How a contract is to be made from a schema. */
export interface ContractOptions {
  /** Members the schema does not know: refused by name (the default), or dropped. */
  readonly unknownMembers?: 'refuse' | 'drop';
  /** How a DTO class is looked at. */
  readonly view?: DtoView;
}

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

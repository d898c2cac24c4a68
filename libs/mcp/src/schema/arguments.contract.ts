import type { DtoView } from './metadata/dto-view.js';
import type { Class, JsonSchema } from './json-schema.js';

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
   * Checks raw JSON against the schema; where unknown members are dropped, against its closed form, which what is
   * left has to suit. One line for each issue, none when it is valid. The first call
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

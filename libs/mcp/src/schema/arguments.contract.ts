import { unknownMemberIssues } from './issue-messages.js';
import { freezeSchema, type JsonSchema } from './json-schema.js';

/**
 * What a tool, prompt or completion takes, in both of its forms: the schema it publishes, and the object its
 * handler is given. Arguments pass `checkRaw` first and `instantiate` after it.
 */
export interface ArgumentsContract {
  /** The published schema. */
  readonly schema: JsonSchema;
  /**
   * Checks raw JSON against the published schema. One line for each issue, none when it is valid. The first call
   * gives a promise, as it loads the validator; later ones answer at once.
   */
  checkRaw(raw: Record<string, unknown>): string[] | Promise<string[]>;
  /** Builds the DTO and runs class-validator over it, once. What has passed `checkRaw` is expected here. */
  instantiate(raw: Record<string, unknown>): Promise<{ value: object } | { issues: string[] }>;
}

/** The contract of a handler that takes no arguments: any member is refused by its name. */
export const emptyContract: ArgumentsContract = {
  schema: freezeSchema({ type: 'object', additionalProperties: false }),
  checkRaw: (raw) => unknownMemberIssues(Object.keys(raw)),
  instantiate: () => Promise.resolve({ value: {} }),
};

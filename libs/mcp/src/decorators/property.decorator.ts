import { Allow } from 'class-validator';
import { PROPERTY_CONTEXT } from './metadata-keys.js';

/** What the schema of a property says besides what its rules and its type say. */
export interface McpPropertyOptions {
  /** What the value means, for the model. */
  readonly description?: string;
  /** A short name for people. */
  readonly title?: string;
  /** Values that show what is meant. */
  readonly examples?: readonly unknown[];
  /** The value that counts where none is sent. It has to be the property's initialiser as well. */
  readonly default?: unknown;
  /** Still taken, but no longer to be used. */
  readonly deprecated?: boolean;
  /** Names for people, by the values of an enum. */
  readonly enumTitles?: Readonly<Record<string, string>>;
  /**
   * Lets clients repeat the argument in the header `Mcp-Param-<name>`, for what stands before the server. For a
   * text, an integer or a boolean that is no secret.
   */
  readonly header?: string;
  /** JSON Schema that a value has to suit besides: it narrows what is published, and never widens it. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const OPTIONS: Readonly<Record<keyof McpPropertyOptions, readonly [Check, string]>> = {
  description: [isText, 'text'],
  title: [isText, 'text'],
  examples: [Array.isArray, 'a list'],
  default: [() => true, 'any value'],
  deprecated: [(value) => typeof value === 'boolean', 'true or false'],
  enumTitles: [
    (value) => isObject(value) && Object.values(value as object).every(isText),
    'an object of texts',
  ],
  header: [isText, 'text'],
  schema: [isObject, 'a JSON Schema object'],
};

/**
 * Describes a property of a DTO. Counts as a decorator of the property: one that has no other is published too, and
 * a whitelisting ValidationPipe keeps it. Mapped types (`PartialType` and its like) carry it over.
 *
 * @example
 * @IsInt() @Min(1)
 * @McpProperty({ description: 'How many tickets to return' })
 * limit = 20;
 * @publicApi
 */
export function McpProperty(options: McpPropertyOptions): PropertyDecorator {
  return (target, property) => {
    const place = `@McpProperty() on ${target.constructor.name}.${String(property)}`;
    if (typeof property === 'symbol')
      throw new TypeError(`${place}: JSON has no member that is named by a symbol`);
    for (const [name, value] of Object.entries(options)) {
      const known = OPTIONS[name as keyof McpPropertyOptions];
      if (!known)
        throw new TypeError(`${place}: ${name} is no option (known: ${Object.keys(OPTIONS).join(', ')})`);
      const [isRight, expected] = known;
      if (value !== undefined && !isRight(value))
        throw new TypeError(`${place}: ${name} has to be ${expected}`);
    }
    // In every group, as it says nothing that a group could take back.
    Allow({ always: true, context: { [PROPERTY_CONTEXT]: options } })(target, property);
  };
}

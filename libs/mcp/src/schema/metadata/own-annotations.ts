import { PROPERTY_CONTEXT } from '../../decorators/metadata-keys.js';
import type { RuleMetadata } from './class-metadata.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';

/** What `@McpProperty()` says about a property, several of them merged. */
export interface OwnAnnotations {
  readonly annotations: JsonSchema;
  readonly enumTitles?: Readonly<Record<string, string>>;
  /** The header in which a client repeats the argument. */
  readonly header?: string;
  readonly schema?: JsonSchema;
  /** The default it states, which has to be that of the initialiser. */
  readonly stated?: { readonly value: unknown };
}

const ANNOTATIONS = ['title', 'description', 'examples', 'deprecated'];

/** Reads `@McpProperty()` off the rules of a property. The decorator nearest to the top, or in the subclass, wins. */
export function ownAnnotations(rules: readonly RuleMetadata[]): OwnAnnotations {
  const options = Object.assign({}, ...rules.map(optionsOf)) as JsonSchema;
  const { enumTitles, header, schema } = options;
  return {
    annotations: Object.fromEntries(
      ANNOTATIONS.filter((name) => options[name] !== undefined && options[name] !== false).map((name) => [
        name,
        options[name],
      ]),
    ),
    ...(isJsonObject(enumTitles) ? { enumTitles: enumTitles as Record<string, string> } : {}),
    ...(typeof header === 'string' ? { header } : {}),
    ...(isJsonObject(schema) ? { schema } : {}),
    ...(options.default === undefined ? {} : { stated: { value: options.default } }),
  };
}

function optionsOf({ type, context }: RuleMetadata): JsonSchema {
  const options: unknown =
    type === 'whitelistValidation' && isJsonObject(context) ? context[PROPERTY_CONTEXT] : undefined;
  return isJsonObject(options) ? options : {};
}

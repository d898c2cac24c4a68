import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { publishedPattern } from '../text-patterns.js';
import { mentions } from '../schema-dialect.js';
import { mapSubschemas, subschemasOf } from '../walk/schema-positions.js';

/** Notes the source of a regular expression that JSON Schema has no words for; the libraries write it down all the same. */
export function notePattern(unsaid: Set<string>, expression: unknown): void {
  if (expression instanceof RegExp && publishedPattern(expression) === undefined)
    unsaid.add(expression.source);
}

/**
 * The same schema without the patterns that don't mean there what they mean in the library, which then judges them
 * alone, and without those that are not valid there. What would refuse more without a pattern goes as well.
 */
export function withoutPatterns(schema: JsonSchema, unsaid: ReadonlySet<string>): JsonSchema {
  const isSaid = (source: string) => !unsaid.has(source) && publishedPattern(source, 'u') !== undefined;
  return hasUnsaid(schema, isSaid) ? rewritten(schema, isSaid) : schema;
}

type IsSaid = (source: string) => boolean;

function hasUnsaid(schema: JsonSchema, isSaid: IsSaid): boolean {
  return (
    !sourcesOf(schema).every(isSaid) ||
    [...subschemasOf(schema)].some(([, subschema]) => hasUnsaid(subschema, isSaid))
  );
}

function sourcesOf({ pattern, patternProperties }: JsonSchema): string[] {
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isJsonObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
}

function rewritten(schema: JsonSchema, isSaid: IsSaid): JsonSchema {
  const copy: Record<string, unknown> = {
    ...mapSubschemas(schema, (subschema) => rewritten(subschema, isSaid)),
  };
  for (const keyword of ['not', 'if']) {
    const asked = schema[keyword];
    if (!isJsonObject(asked)) continue;
    // A reference may lead to a schema that loses a pattern.
    if (hasUnsaid(asked, isSaid) || mentions(asked, ['$ref', 'oneOf'])) delete copy[keyword];
    else copy[keyword] = asked;
  }
  if (typeof copy.pattern === 'string' && !isSaid(copy.pattern)) delete copy.pattern;
  if (isJsonObject(copy.patternProperties)) openNames(copy, copy.patternProperties, isSaid);
  if (Array.isArray(copy.allOf)) {
    const parts = copy.allOf as unknown[];
    const kept = parts.filter((part) => !isJsonObject(part) || Object.keys(part).length > 0);
    if (kept.length > 0) copy.allOf = kept;
    else delete copy.allOf;
  }
  // Alternatives that nothing but their patterns told apart now fit together.
  if (Array.isArray(copy.oneOf)) {
    copy.anyOf ??= copy.oneOf;
    delete copy.oneOf;
  }
  return copy;
}

/** Members whose names a pattern that goes has allowed may have any name. */
function openNames(copy: Record<string, unknown>, patterns: JsonSchema, isSaid: IsSaid): void {
  const kept = Object.entries(patterns).filter(([source]) => isSaid(source));
  if (kept.length === Object.keys(patterns).length) return;
  if (kept.length > 0) copy.patternProperties = Object.fromEntries(kept);
  else delete copy.patternProperties;
  delete copy.unevaluatedProperties;
  copy.additionalProperties = {};
}

import { quoted, shownName } from '../issue-path.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { judgesOf } from '../walk/schema-positions.js';
import { inPlaceSchemas } from '../walk/schema-view.js';
import { formsOf, propertiesOf, takesList } from './value-forms.js';

/** A variable of a resource template. */
export interface TemplateVariable {
  readonly name: string;
  /** Whether it is exploded, and so gives several texts. */
  readonly isList: boolean;
  /** Whether a uri may leave it out. */
  readonly isOptional: boolean;
}

/**
 * What keeps a resource template and the schema of its parameters from meeting, or undefined: one sentence naming the
 * variable or member and the mend. Only of a schema that has been compiled, as its patterns are run.
 */
export function templateFault(
  schema: JsonSchema,
  variables: readonly TemplateVariable[],
): string | undefined {
  const missing = requiredOf(schema).find((name) => !variables.some((variable) => variable.name === name));
  if (missing !== undefined) {
    return `${quoted(missing)} is required, and the template has no such variable; add {${shownName(missing)}} to the template, or make the member optional`;
  }
  const unknown = variables.find(({ name }) => refuses(schema, name));
  if (unknown) {
    return `the schema takes no member for the variable {${unknown.name}}; declare ${quoted(unknown.name)}, or rename the variable`;
  }
  const list = variables.find(({ name, isList }) => isList && !takesLists(schema, name));
  if (list) {
    return `the variable {${list.name}*} gives a list, and ${quoted(list.name)} is none; declare a list of texts, or leave the asterisk out`;
  }
  return undefined;
}

/** The schema of a template's variables where the handler declares none: texts, or lists of texts. */
export function templateSchema(variables: readonly TemplateVariable[]): JsonSchema {
  const required = variables.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      variables.map(({ name, isList }) => [
        name,
        isList ? { type: 'array', items: { type: 'string' } } : { type: 'string' },
      ]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function requiredOf(schema: JsonSchema): string[] {
  return inPlaceSchemas(schema, schema)
    .flatMap(({ required }) => (Array.isArray(required) ? (required as unknown[]) : []))
    .filter((name) => typeof name === 'string');
}

/** Whether a schema refuses every value of a member. */
function refuses(schema: JsonSchema, name: string): boolean {
  const parts = inPlaceSchemas(schema, schema);
  if (parts.some((part) => judgesOf(part, name)?.every((judge) => judge !== false) !== true)) return true;
  const isClosed = parts.some((part) => part.unevaluatedProperties === false);
  return isClosed && !inPlaceSchemas(schema, schema, 'all').some((part) => names(part, name));
}

/** Whether a schema says something of a member by its name, or of all. */
function names(schema: JsonSchema, name: string): boolean {
  return 'additionalProperties' in schema || (judgesOf(schema, name) ?? []).length > 0;
}

function takesLists(schema: JsonSchema, name: string): boolean {
  const parts = propertiesOf(schema).get(name)?.filter(isJsonObject);
  return !parts || formsOf({ allOf: parts }, schema).some(takesList);
}

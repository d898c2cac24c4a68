import type { FormChoice } from './form-choices.js';
import { type FormField, type FormSchema, UnusableFormException } from './form-schema.js';
import type { JsonSchema } from '../json-schema.js';

/** The last revision whose forms know neither choices of several texts nor defaults of other fields than booleans. */
const FIRST_FORMS = '2025-06-18';

/**
 * Writes a form as the `requestedSchema` of a revision. Throws where the revision has no field of that kind.
 * @param revision the protocol revision of the client that is asked
 */
export function encodeForm({ fields }: FormSchema, revision: string): JsonSchema {
  const isFirst = revision <= FIRST_FORMS;
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field.name, isFirst ? encodeFirst(field, revision) : encode(field)] as const),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

function encode(field: FormField): JsonSchema {
  const { name: _, required: __, kind, ...rest } = field;
  if (!('choices' in rest)) return { type: kind === 'text' ? 'string' : kind, ...rest };
  const { choices, ...members } = rest;
  // What is written in the deprecated way stays so: there is no other place for it than where the author put it.
  if (kind === 'choice' && choices.some(({ isNamed }) => isNamed))
    return { type: 'string', ...members, ...named(choices) };
  if (kind === 'choice') return { type: 'string', ...members, ...titled(choices, 'oneOf') };
  const items = hasTitles(choices)
    ? titled(choices, 'anyOf')
    : { type: 'string', ...titled(choices, 'anyOf') };
  return { type: 'array', ...members, items };
}

function encodeFirst(field: FormField, revision: string): JsonSchema {
  if (field.kind === 'choices') {
    throw new UnusableFormException(
      'the form',
      field.name,
      `a client of ${revision} has no field for several choices; ask with one boolean for each, or with a single choice`,
    );
  }
  const { default: value, ...rest } = encode({ ...field, ...('choices' in field ? { choices: [] } : {}) });
  if (field.kind === 'boolean') return { ...rest, ...(value === undefined ? {} : { default: value }) };
  if (field.kind !== 'choice') return rest;
  const { choices } = field;
  return { ...rest, ...named(choices) };
}

/** Source: Elicitation, LegacyTitledEnumSchema. */
function named(choices: readonly FormChoice[]): JsonSchema {
  return {
    enum: choices.map((choice) => choice.value),
    ...(hasTitles(choices) ? { enumNames: choices.map(shownTitle) } : {}),
  };
}

function titled(choices: readonly FormChoice[], keyword: 'oneOf' | 'anyOf'): JsonSchema {
  if (!hasTitles(choices)) return { enum: choices.map(({ value }) => value) };
  return { [keyword]: choices.map((choice) => ({ const: choice.value, title: shownTitle(choice) })) };
}

function hasTitles(choices: readonly FormChoice[]): boolean {
  return choices.some(({ title }) => title !== undefined);
}

/** Where some choices have a title, the others show their own text. */
function shownTitle({ value, title }: FormChoice): string {
  return title ?? value;
}

import type { JsonSchema } from '../json-schema.js';
import { type Form, formsOf, propertiesOf } from './value-forms.js';

/**
 * The texts that stand for the allowed values of an argument: those that are listed, and both of a boolean. Null is
 * left out, as leaving the argument out says as much. Undefined where the argument is no closed list.
 */
export function choicesOf(schema: JsonSchema, argument: string): string[] | undefined {
  const parts = propertiesOf(schema).get(argument);
  if (!parts) return undefined;
  const choices = formsOf({ allOf: parts }, schema).map(choicesOfForm);
  return choices.every((texts) => texts !== undefined) ? [...new Set(choices.flat())] : undefined;
}

function choicesOfForm({ types, values }: Form): string[] | undefined {
  if (values) return values.every(isPlain) ? values.filter((value) => value !== null).map(String) : undefined;
  if (!types?.every((type) => type === 'boolean' || type === 'null')) return undefined;
  return types.includes('boolean') ? ['true', 'false'] : [];
}

/** Whether a value has one form as text; nobody types an object or a list. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

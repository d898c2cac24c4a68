import { isJsonObject } from '../json-schema.js';

/** One text that can be chosen. */
export interface FormChoice {
  readonly value: string;
  /** What the user sees instead of the text. */
  readonly title?: string;
  /** Its title was given by `enumNames`, the way that is deprecated since 2025-11-25. */
  readonly isNamed?: boolean;
}

/**
 * The texts a schema offers, in any way it may be written: a list of values (with their names), one value, or
 * alternatives of one value each (with their titles). Undefined for a schema that is no choice of texts.
 */
export function choicesOf(schema: unknown): FormChoice[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const branches = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(branches)) return choicesOfBranches(branches as unknown[]);
  const values: unknown = 'const' in schema ? [schema.const] : schema.enum;
  if (!isTexts(values)) return undefined;
  const names: readonly unknown[] = Array.isArray(schema.enumNames) ? (schema.enumNames as unknown[]) : [];
  const isNamed = names.length > 0;
  return values.map((value, index) => ({ ...choice(value, names[index]), ...(isNamed ? { isNamed } : {}) }));
}

function choicesOfBranches(branches: readonly unknown[]): FormChoice[] | undefined {
  const choices = branches.map((branch) => {
    const found = choicesOf(branch);
    if (found?.length !== 1 || !isJsonObject(branch)) return undefined;
    return choice(found[0]!.value, branch.title);
  });
  return choices.every((found) => found !== undefined) && choices.length > 0 ? choices : undefined;
}

function choice(value: string, title: unknown): FormChoice {
  return typeof title === 'string' ? { value, title } : { value };
}

function isTexts(values: unknown): values is string[] {
  return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}

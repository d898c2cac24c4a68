import type { ErrorObject, ValidateFunction } from 'ajv';
import { compilersFor, metaSchemaErrors } from './ajv-instances.js';
import { countValues, withinBudget, withinFixedBudget } from './evaluation-budget.js';
import { safeText } from '../issue-path.js';
import type { JsonSchema } from '../json-schema.js';
import { MAX_DETAILED_VALUES } from '../schema-bounds.js';
import { type Dialect, dialectOf } from '../schema-dialect.js';

/** A compiled schema: null for a valid value, else what is wrong with it. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[] | null;

/** Stands for a value whose check was given up. */
const TOO_COMPLEX: ErrorObject = { keyword: 'budget', instancePath: '', schemaPath: '#', params: {} };

const MAX_PROBLEM_LENGTH = 300;

/**
 * Compiles a schema. The verdict stops at the first error; all of them are looked for only once a value is
 * refused, and only when it is small, as a long list of wrong entries would otherwise cost an error object each.
 * Throws for a schema that ajv can't compile.
 */
export async function compileSchema(
  schema: JsonSchema,
  dialect: Dialect = dialectOf(schema) ?? '2020-12',
): Promise<SchemaCheck> {
  const compilers = await compilersFor(schema, dialect);
  const verdict = compilers.first.compile(schema);
  let detailed: ValidateFunction | undefined;
  return (value) => {
    const isValid = withinBudget(value, () => verdict(value));
    if (isValid === true) return null;
    if (isValid === undefined) return [TOO_COMPLEX];
    const errors = verdict.errors ?? [];
    if (!isWithin(value, MAX_DETAILED_VALUES)) return errors;
    detailed ??= compilers.all.compile(schema);
    const all = detailed;
    return withinFixedBudget(value, () => all(value)) === undefined ? errors : (all.errors ?? errors);
  };
}

/**
 * Throws unless a schema is valid under the meta-schema of its dialect. References and patterns are not looked at:
 * those show when the schema is compiled.
 * @param describe makes the exception from what is wrong, which names the place as a JSON pointer
 */
export async function assertValidSchema(
  schema: JsonSchema,
  describe: (problem: string) => Error,
  dialect: Dialect = dialectOf(schema) ?? '2020-12',
): Promise<void> {
  const [error] = mostTelling((await metaSchemaErrors(schema, dialect)) ?? []);
  if (error) throw describe(`${pointer(error.instancePath)} ${faultOf(error)}`);
}

/**
 * Compiles a schema that is not this library's own, after its meta-schema has judged it.
 * @param describe makes the exception from what is wrong
 */
export async function compileForeignSchema(
  schema: JsonSchema,
  describe: (problem: string, cause?: unknown) => Error,
): Promise<SchemaCheck> {
  await assertValidSchema(schema, describe);
  try {
    return await compileSchema(schema);
  } catch (error) {
    throw describe(compileProblem(error), error);
  }
}

/** What keeps ajv from compiling a schema, in readable words. */
export function compileProblem(error: unknown): string {
  const { message, missingRef } = error as { message: string; missingRef?: string };
  if (missingRef !== undefined) {
    return `the reference "${safeText(missingRef, MAX_PROBLEM_LENGTH)}" leads nowhere in this schema; write what it stands for under $defs and refer to "#/$defs/…", as nothing is ever fetched`;
  }
  return safeText(message, MAX_PROBLEM_LENGTH);
}

// The meta-schema accepts a keyword in several forms, and says of a wrong one that no form fits; the last error
// of the deepest place says what a form wants.
function mostTelling(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors
    .filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'if' && keyword !== '$ref')
    .toSorted((left, right) => right.instancePath.length - left.instancePath.length);
}

function pointer(path: string): string {
  return path === '' ? 'the schema' : safeText(path, MAX_PROBLEM_LENGTH);
}

function faultOf({ keyword, params, message }: ErrorObject): string {
  const { allowedValues } = params as { allowedValues?: unknown[] };
  return keyword === 'enum' && allowedValues
    ? `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
    : (message ?? 'is not valid');
}

function isWithin(value: unknown, limit: number): boolean {
  return countValues(value, limit + 1) <= limit;
}

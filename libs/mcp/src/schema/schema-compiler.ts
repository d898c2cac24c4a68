import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JsonSchema } from './json-schema.js';
import { MAX_DETAILED_VALUES } from './schema-bounds.js';

/** A compiled schema: null for a valid value, else what is wrong with it. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[] | null;

interface Compilers {
  compile(schema: JsonSchema, allErrors: boolean): ValidateFunction;
}

const OPTIONS: Options = {
  strict: false,
  // Formats are advice; class-validator judges what they describe.
  validateFormats: false,
  // The schemas are this library's own, and checking them would cost more than compiling them.
  validateSchema: false,
  meta: false,
  addUsedSchema: false,
  logger: false,
  // Messages name the known members, which only the parent schema knows.
  verbose: true,
};

let loading: Promise<Compilers> | undefined;

/**
 * Compiles a schema. ajv is loaded by the first call, as an application that only lists its tools never needs it.
 * The verdict stops at the first error; all of them are looked for only once a value is refused, and only when it
 * is small, as a long list of wrong entries would otherwise cost an error object each.
 */
export async function compileSchema(schema: JsonSchema): Promise<SchemaCheck> {
  loading ??= loadCompilers();
  const compilers = await loading;
  const verdict = compilers.compile(schema, false);
  let detailed: ValidateFunction | undefined;
  return (value) => {
    if (verdict(value)) return null;
    if (!isWithin(value, MAX_DETAILED_VALUES)) return verdict.errors ?? [];
    detailed ??= compilers.compile(schema, true);
    detailed(value);
    return detailed.errors ?? verdict.errors ?? [];
  };
}

async function loadCompilers(): Promise<Compilers> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const first = new Ajv2020(OPTIONS);
  const all = new Ajv2020({ ...OPTIONS, allErrors: true });
  return { compile: (schema, allErrors) => (allErrors ? all : first).compile(schema) };
}

/** Says whether a value consists of at most so many values, without walking further than that. */
function isWithin(value: unknown, limit: number): boolean {
  const pending: unknown[] = [value];
  let seen = 0;
  while (pending.length > 0) {
    seen += 1;
    const current = pending.pop();
    if (typeof current !== 'object' || current === null) continue;
    const members: unknown[] = Object.values(current);
    if (seen + pending.length + members.length > limit) return false;
    pending.push(...members);
  }
  return true;
}

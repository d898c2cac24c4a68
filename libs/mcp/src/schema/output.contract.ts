import type { StandardSchemaV1 } from '@standard-schema/spec';
import { withPlainReferences } from './foreign/dynamic-references.js';
import { dtoSchemaPlan } from './dto/dto-schema.factory.js';
import { assertReadable, compileForeign } from './foreign/foreign-schema.js';
import { assertOwnFragments } from './dto/own-fragments.js';
import { type Class, freezeSchema, type JsonSchema } from './json-schema.js';
import { ownCopy } from './foreign/raw.contract.js';
import { guardArguments } from './check/argument-guard.js';
import { LazyCheck } from './check/schema-check.js';
import { type McpSchema, schemaKind } from './schema-kind.js';
import { standardJsonSchema } from './foreign/standard-json-schema.js';
import { standardValue } from './foreign/standard.contract.js';
import { dropUnknown } from './walk/unknown-members.js';
import { wrapRoot } from './walk/wrapped-root.js';

/** What a result is called where it is wrong as a whole. */
const WHOLE = 'result';

/** What a handler promises to return. A value passes `parse`, then, as plain JSON, `check`. */
export interface OutputContract {
  /** The published schema, frozen. */
  readonly schema: JsonSchema;
  /**
   * The same for revisions where the root is an object: the published schema if its root is one, else that of an
   * object whose member `result` is the value. Frozen.
   */
  readonly legacySchema: JsonSchema;
  /** A Standard Schema's own pass over the handler's value; absent for DTOs and raw schemas. */
  parse?(value: unknown): Promise<{ value: unknown } | { issues: string[] }>;
  /** Takes a plain JSON value, and checks it; where it is refused, without the members the schema does not know. */
  check(json: unknown): Checked | Promise<Checked>;
  /** Compiles at boot what has to be sound before the first call. */
  prepare(): void | Promise<void>;
}

/** The value that may be sent, or one line for each thing that is wrong with it. */
export type Checked = { json: unknown } | { issues: string[] };

/** The output contract of any kind of schema. Its root may be anything, unlike that of arguments. */
export async function outputContract(schema: McpSchema): Promise<OutputContract> {
  const known = schemaKind(schema);
  if (known.kind === 'dto') return dtoOutput(known.schema);
  return known.kind === 'standard' ? standardOutput(known.schema) : foreignOutput(ownCopy(known.schema));
}

function dtoOutput(dto: Class): OutputContract {
  const { schema, ownFragments } = dtoSchemaPlan(dto, { direction: 'output' });
  const check = new LazyCheck(schema, undefined, WHOLE);
  // Compiled by the first call, like every schema of this library's own.
  const prepare = () => (ownFragments.length === 0 ? undefined : assertOwnFragments(ownFragments));
  return { schema, legacySchema: objectRoot(schema), prepare, check: checkWith(schema, check) };
}

async function standardOutput(schema: StandardSchemaV1): Promise<OutputContract> {
  const contract = foreignOutput(await standardJsonSchema(schema, 'output'));
  return { ...contract, parse: (value) => standardValue(schema, value) };
}

function foreignOutput(schema: JsonSchema): OutputContract {
  assertReadable(schema);
  const published = freezeSchema(schema);
  const check = new LazyCheck(withPlainReferences(published), compileForeign, WHOLE);
  return {
    schema: published,
    legacySchema: objectRoot(published),
    prepare: () => check.prepare(),
    check: checkWith(published, check),
  };
}

function objectRoot(schema: JsonSchema): JsonSchema {
  return schema.type === 'object' ? schema : freezeSchema(wrapRoot(schema));
}

function checkWith(schema: JsonSchema, check: LazyCheck): OutputContract['check'] {
  const judge = (json: unknown, judged: (issues: string[]) => Checked | Promise<Checked>) => {
    const issues = issuesOf(check, json);
    return Array.isArray(issues) ? judged(issues) : issues.then(judged);
  };
  return (value) =>
    judge(value, (issues) => {
      // What the schema takes is sent as it is: of alternatives, the one that fits may not be the one that drops.
      if (issues.length === 0) return { json: value };
      const json = dropUnknown(schema, value);
      if (json === value) return { issues };
      return judge(json, (left) => (left.length === 0 ? { json } : { issues: left }));
    });
}

function issuesOf(check: LazyCheck, json: unknown): string[] | Promise<string[]> {
  const failed = (error: unknown) => {
    // The comparison with a listed object calls members that every object inherits, where a result has its own.
    const fault = guardArguments(json);
    if (fault === undefined) throw error;
    return [fault];
  };
  try {
    const issues = check.of(json);
    return Array.isArray(issues) ? issues : issues.catch(failed);
  } catch (error) {
    return failed(error);
  }
}

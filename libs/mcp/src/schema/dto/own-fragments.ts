import type { Class, JsonSchema } from '../json-schema.js';
import { assertValidSchema, compileProblem, compileSchema } from '../check/schema-compiler.js';
import { InvalidFragmentException } from '../schema.exception.js';

/** A piece of JSON Schema that somebody wrote by hand in `@McpProperty({ schema })`, and where. */
export interface OwnFragment {
  readonly dto: Class;
  readonly property: string;
  readonly schema: JsonSchema;
}

/**
 * Throws for a fragment that is no JSON Schema: by the meta-schema, or, with a reference that leads nowhere or a
 * broken pattern, because it can't be compiled.
 */
export async function assertOwnFragments(fragments: readonly OwnFragment[]): Promise<void> {
  for (const { dto, property, schema } of fragments) {
    const describe = (problem: string) => new InvalidFragmentException(dto, property, problem);
    await assertValidSchema(schema, describe, '2020-12');
    try {
      await compileSchema(schema, '2020-12');
    } catch (error) {
      throw describe(compileProblem(error));
    }
  }
}

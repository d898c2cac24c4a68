import { guardArguments } from './argument-guard.js';
import { schemaIssues } from '../messages/issue-messages.js';
import type { JsonSchema } from '../json-schema.js';
import { compileSchema, type SchemaCheck } from './schema-compiler.js';

/** A schema together with its compiled form, which is made once, by the first use. */
export class LazyCheck {
  private check: SchemaCheck | undefined;

  /**
   * @param compile how the schema is compiled; as this library's own, unless it is somebody else's
   * @param whole what the value is called where it is wrong as a whole
   */
  constructor(
    private readonly schema: JsonSchema,
    private readonly compile: (schema: JsonSchema) => Promise<SchemaCheck> = compileSchema,
    private readonly whole?: string,
  ) {}

  /** Compiles the schema, so that later checks answer at once. */
  async prepare(): Promise<void> {
    this.check ??= await this.compile(this.schema);
  }

  /** One line for each issue of arguments, none when they are valid; also refuses what no schema may let through. */
  ofArguments(raw: unknown): string[] | Promise<string[]> {
    const fault = guardArguments(raw);
    return fault === undefined ? this.of(raw) : [fault];
  }

  /** One line for each issue of a value, none when it is valid. */
  of(value: unknown): string[] | Promise<string[]> {
    if (!this.check) return this.prepare().then(() => this.of(value));
    const errors = this.check(value);
    return errors === null ? [] : schemaIssues(errors, this.schema, this.whole);
  }
}

import type { ErrorObject } from 'ajv';
import { type PathStep, pointerSteps } from '../issue-path.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { phrase } from './keyword-messages.js';
import { isOfType } from '../walk/loose-fit.js';
import { childSchemas, inPlaceSchemas } from '../walk/schema-view.js';
import { clippedList, listed, shownValue, typeWords } from './schema-words.js';

/** What to say of a value that fits no alternative: the branches it was meant for, or a text for one place. */
export type Choice =
  | { readonly branches: readonly unknown[] }
  | { readonly text: string; readonly steps: readonly PathStep[]; readonly isList?: boolean };

/** Finds out which alternative a refused value was meant for. */
export class Alternatives {
  constructor(private readonly root: JsonSchema) {}

  /** Whether an error was found under one alternative, however far below and behind whatever reference. */
  isWithin({ parentSchema, instancePath }: ErrorObject, branch: unknown, summary: ErrorObject): boolean {
    if (!instancePath.startsWith(summary.instancePath)) return false;
    const steps = pointerSteps(instancePath.slice(summary.instancePath.length));
    // A boolean schema is the same value everywhere, so it can only be told by its place.
    const owner: unknown = parentSchema;
    return this.schemasAt(branch, steps).some((schema) => schema === owner);
  }

  choose({ schema, data }: ErrorObject): Choice {
    const branches = schema as unknown[];
    const values = this.allValues(branches);
    if (values) return { text: `must be one of ${listed(values)}`, steps: [], isList: true };
    const fitting = branches.filter((branch) => this.takesType(branch, data));
    if (fitting.length === 0) return { text: `must be ${this.typesOf(branches)}`, steps: [] };
    return (
      (fitting.length > 1 && isJsonObject(data) && this.byDiscriminator(fitting, data)) || {
        branches: fitting,
      }
    );
  }

  /** What the alternatives look like, or those of them that are told by their index. */
  phrases({ schema }: ErrorObject, indices?: readonly number[]): string {
    const branches = (schema as unknown[]).filter((_, index) => !indices || indices.includes(index));
    return clippedList([...new Set(branches.map((branch) => phrase(this.plainest(branch))))], '; ');
  }

  private byDiscriminator(branches: readonly unknown[], data: JsonSchema): Choice | undefined {
    const tables = branches.map((branch) => this.singleValues(branch));
    const name = [...(tables[0]?.keys() ?? [])].find((key) => tables.every((table) => table.has(key)));
    if (name === undefined) return undefined;
    const values = tables.map((table) => table.get(name));
    if (new Set(values).size === 1) return undefined;
    const meant = branches.filter((_, index) => Object.hasOwn(data, name) && values[index] === data[name]);
    if (meant.length > 0) return { branches: meant };
    const allowed = `one of ${listed([...new Set(values)])}`;
    const text = Object.hasOwn(data, name) ? `must be ${allowed}` : `is required (${allowed})`;
    return { text, steps: [name], isList: true };
  }

  /** The members for which a branch allows one value only. */
  private singleValues(branch: unknown): Map<string, unknown> {
    const found = new Map<string, unknown>();
    for (const { properties } of inPlaceSchemas(branch, this.root)) {
      for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
        const values = valuesOf(property);
        if (values?.length === 1) found.set(name, values[0]);
      }
    }
    return found;
  }

  /** All allowed values, where every branch lists its own. */
  private allValues(branches: readonly unknown[]): unknown[] | undefined {
    const lists = branches.map((branch) =>
      inPlaceSchemas(branch, this.root)
        .map(valuesOf)
        .find((values) => values !== undefined),
    );
    return lists.every((list) => list !== undefined) ? [...new Set(lists.flat())] : undefined;
  }

  private takesType(branch: unknown, value: unknown): boolean {
    if (branch === false) return false;
    return inPlaceSchemas(branch, this.root).every(({ type }) => type === undefined || isOfType(type, value));
  }

  private typesOf(branches: readonly unknown[]): string {
    const words = branches.map((branch) => {
      const schema = this.plainest(branch);
      const values = valuesOf(schema);
      if (values && schema.type !== 'null') return values.map(shownValue).join(' or ');
      return typeWords(schema.type ?? []);
    });
    return clippedList(
      [...new Set(words)].filter((word) => word !== ''),
      ' or ',
    );
  }

  /** The part of a branch that says most of what it looks like. */
  private plainest(branch: unknown): JsonSchema {
    const schemas = inPlaceSchemas(branch, this.root);
    const telling = ['enum', 'const', 'required', 'type'];
    return schemas.find((schema) => telling.some((keyword) => keyword in schema)) ?? schemas[0] ?? {};
  }

  private schemasAt(branch: unknown, steps: readonly PathStep[]): readonly unknown[] {
    let schemas: readonly unknown[] = [branch];
    for (const step of steps) {
      // Each once: alternatives that lead back to each other would otherwise double with every step.
      schemas = [...new Set(schemas.flatMap((schema) => childSchemas(schema, step, this.root)))];
    }
    return schemas.flatMap((schema): unknown[] =>
      schema === false ? [schema] : inPlaceSchemas(schema, this.root, 'all'),
    );
  }
}

function valuesOf(schema: unknown): unknown[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if ('const' in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum as unknown[];
  return schema.type === 'null' ? [null] : undefined;
}

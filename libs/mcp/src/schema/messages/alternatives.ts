import type { ErrorObject } from 'ajv';
import type { PathStep } from '../issue-path.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { phrase } from './keyword-messages.js';
import { isOfType } from '../walk/loose-fit.js';
import { inPlaceSchemas } from '../walk/schema-view.js';
import { clippedList, listed, shownValue, typeWords } from './schema-words.js';

/** What to say of a value that fits no alternative: the alternatives it may be meant for, or a text for one place. */
export type Choice =
  | { readonly indices: readonly number[] }
  | { readonly text: string; readonly steps: readonly PathStep[]; readonly isList?: boolean };

interface Branch {
  readonly index: number;
  readonly isNever: boolean;
  /** The schemas that judge the same value. */
  readonly parts: readonly JsonSchema[];
  readonly singles: ReadonlyMap<string, unknown>;
  readonly phrased: () => string;
}

/** What is to be known of a list of alternatives. */
interface Told {
  readonly branches: readonly Branch[];
  /** All that is allowed, where every branch lists its values. */
  readonly values: readonly unknown[] | undefined;
  readonly types: () => string;
}

/** Finds out which alternative a refused value was meant for. */
export class Alternatives {
  private readonly told = new Map<readonly unknown[], Told>();

  constructor(private readonly root: JsonSchema) {}

  choose({ schema, data }: ErrorObject): Choice {
    const { branches, values, types } = this.tell(schema as readonly unknown[]);
    if (values) return { text: `must be one of ${listed(values)}`, steps: [], isList: true };
    const fitting = branches.filter((branch) => takesType(branch, data));
    if (fitting.length === 0) return { text: `must be ${types()}`, steps: [] };
    return (
      (fitting.length > 1 && isJsonObject(data) && byDiscriminator(fitting, data)) || {
        indices: fitting.map(({ index }) => index),
      }
    );
  }

  /** What the alternatives look like, or those of them that are told by their index. */
  phrases({ schema }: ErrorObject, indices?: readonly number[]): string {
    const { branches } = this.tell(schema as readonly unknown[]);
    const shown = branches.filter(({ index }) => !indices || indices.includes(index));
    return clippedList([...new Set(shown.map(({ phrased }) => phrased()))], '; ');
  }

  /** Each list of alternatives is read once, as a value can be refused by it at a thousand places. */
  private tell(schema: readonly unknown[]): Told {
    const known = this.told.get(schema);
    if (known) return known;
    const branches = schema.map((branch, index): Branch => {
      const parts = inPlaceSchemas(branch, this.root);
      return {
        index,
        isNever: branch === false,
        parts,
        singles: singleValues(parts),
        phrased: once(() => phrase(plainest(parts))),
      };
    });
    const told = { branches, values: allValues(branches), types: once(() => typesOf(branches)) };
    this.told.set(schema, told);
    return told;
  }
}

function byDiscriminator(branches: readonly Branch[], data: JsonSchema): Choice | undefined {
  const name = [...(branches[0]?.singles.keys() ?? [])].find((key) =>
    branches.every(({ singles }) => singles.has(key)),
  );
  if (name === undefined) return undefined;
  const values = new Set(branches.map(({ singles }) => singles.get(name)));
  if (values.size === 1) return undefined;
  const isGiven = Object.hasOwn(data, name);
  const meant = branches.filter(({ singles }) => isGiven && singles.get(name) === data[name]);
  if (meant.length > 0) return { indices: meant.map(({ index }) => index) };
  const allowed = `one of ${listed([...values])}`;
  const text = isGiven ? `must be ${allowed}` : `is required (${allowed})`;
  return { text, steps: [name], isList: true };
}

/** The members for which a branch allows one value only. */
function singleValues(parts: readonly JsonSchema[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const { properties } of parts) {
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const values = valuesOf(property);
      if (values?.length === 1) found.set(name, values[0]);
    }
  }
  return found;
}

/** All allowed values, where every branch lists its own. */
function allValues(branches: readonly Branch[]): readonly unknown[] | undefined {
  const lists = branches.map(({ parts }) => parts.map(valuesOf).find((values) => values !== undefined));
  return lists.every((list) => list !== undefined) ? [...new Set(lists.flat())] : undefined;
}

function takesType({ isNever, parts }: Branch, value: unknown): boolean {
  return !isNever && parts.every(({ type }) => type === undefined || isOfType(type, value));
}

function typesOf(branches: readonly Branch[]): string {
  const words = branches.map(({ parts }) => {
    const schema = plainest(parts);
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
function plainest(parts: readonly JsonSchema[]): JsonSchema {
  const telling = ['enum', 'const', 'required', 'type'];
  return parts.find((schema) => telling.some((keyword) => keyword in schema)) ?? parts[0] ?? {};
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function valuesOf(schema: unknown): unknown[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if ('const' in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum as unknown[];
  return schema.type === 'null' ? [null] : undefined;
}

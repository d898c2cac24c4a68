import type { JsonSchema } from '../json-schema.js';
import { isOfType } from '../walk/loose-fit.js';
import { define } from '../walk/schema-positions.js';
import { inPlaceSchemas } from '../walk/schema-view.js';
import { formsOf, propertiesOf, takesList } from './value-forms.js';

/** JSON's own form of a number: no sign in front but a minus, no hexadecimal, no blanks, nothing infinite. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The order in which the types of a value are tried: the narrowest form of text first, text itself last. */
const ORDER = ['null', 'boolean', 'integer', 'number', 'array', 'object', 'string'] as const;

/** One argument as a list of arguments shows it. */
export interface NamedArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

/** What is sent for one property: a text, or several of them. */
export type Texts = string | readonly string[];

/**
 * Makes values of texts, by the types that a schema declares for its properties: where a protocol or an address
 * carries only text. A text that is no value of a declared type stays as it is, so that the schema's check names
 * it. A property that allows text gets its text, unless what it lists as allowed values decides. Of several texts
 * each is an item of a list; where a list is declared, one text that is no list in JSON is its only item.
 */
export function fromText(
  schema: JsonSchema,
  texts: Readonly<Record<string, Texts>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const known = propertiesOf(schema);
  for (const [name, text] of Object.entries(texts)) {
    const parts = known.get(name);
    define(values, name, parts === undefined ? text : valueOf({ allOf: parts }, text, schema));
  }
  return values;
}

/** The properties of an object schema as a list of arguments. */
export function argumentsOf(schema: JsonSchema): NamedArgument[] {
  const required = new Set(
    inPlaceSchemas(schema, schema).flatMap((part) =>
      Array.isArray(part.required) ? (part.required as unknown[]) : [],
    ),
  );
  return [...propertiesOf(schema)].map(([name, parts]) => ({
    name,
    ...textMember('title', parts, schema),
    ...textMember('description', parts, schema),
    required: required.has(name),
  }));
}

// What stands at the place of use says more than what the reference leads to.
function textMember(
  keyword: 'title' | 'description',
  parts: readonly unknown[],
  root: JsonSchema,
): Partial<Record<typeof keyword, string>> {
  const text = parts
    .flatMap((part) => inPlaceSchemas(part, root))
    .map((part) => part[keyword])
    .find((found) => typeof found === 'string');
  return text === undefined ? {} : { [keyword]: text };
}

function valueOf(property: unknown, sent: Texts, root: JsonSchema): unknown {
  if (typeof sent !== 'string') return listOf(property, sent, root) ?? sent;
  const value = valueOfText(property, sent, root);
  // A text that means a list is one; what no other type takes is its only item.
  return value === undefined ? (listOf(property, [sent], root) ?? sent) : value;
}

/** The value of a text; undefined where it is none of a declared type. */
function valueOfText(property: unknown, text: string, root: JsonSchema): unknown {
  const forms = formsOf(property, root);
  const allowed = forms.flatMap(({ values }) => values ?? []);
  // An allowed text wins over an allowed value that is written the same.
  if (allowed.includes(text)) return text;
  const listed = allowed.find((value) => typeof value !== 'string' && isWritten(value, text));
  if (listed !== undefined) return listed;
  const open = forms.filter(({ values }) => values === undefined);
  if (open.some(({ types }) => types === undefined || types.includes('string'))) return text;
  for (const type of ORDER) {
    const isDeclared = open.some(({ types }) => types?.includes(type));
    const value = isDeclared ? parsed(type, text) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A list of the values of texts; undefined where the property is declared as something else. */
function listOf(property: unknown, sent: unknown, root: JsonSchema): unknown[] | undefined {
  const lists = formsOf(property, root).filter(takesList);
  if (lists.length === 0 || !Array.isArray(sent)) return undefined;
  const item = { anyOf: lists.map(({ items }) => ({ allOf: items ?? [] })) };
  return sent.map((text: unknown) => {
    const value = typeof text === 'string' ? valueOfText(item, text, root) : undefined;
    return value === undefined ? text : value;
  });
}

/** Null can't be told by "not found", so allowed values are compared by how they are written. */
function isWritten(value: unknown, text: string): boolean {
  if (typeof value === 'number') return NUMBER.test(text) && Number(text) === value;
  return JSON.stringify(value) === text;
}

function parsed(type: (typeof ORDER)[number], text: string): unknown {
  if (type === 'integer' || type === 'number') return parsedNumber(type, text);
  const value = json(text);
  // Null has to be told from a text that is no JSON, which is undefined.
  return value !== undefined && isOfType(type, value) ? value : undefined;
}

function parsedNumber(type: string, text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value)) return undefined;
  // An integer beyond what a number holds exactly would become another one without a word.
  if (type === 'integer' && !Number.isSafeInteger(value)) return undefined;
  return value;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

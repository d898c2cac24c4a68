import { hasRepeatedItem } from '../walk/unique-items.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { isOfType } from '../walk/loose-fit.js';
import { define } from '../walk/schema-positions.js';
import { inPlaceSchemas } from '../walk/schema-view.js';

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

/**
 * Makes values of texts, by the types that a schema declares for its properties: where a protocol or an address
 * carries only text. A text that is no value of a declared type stays as it is, so that the schema's check names
 * it. A property that allows text gets its text, unless what it lists as allowed values decides.
 */
export function fromText(
  schema: JsonSchema,
  texts: Readonly<Record<string, string>>,
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

/** By name, all that is said of a property at the several places that may describe it. */
function propertiesOf(schema: JsonSchema): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of inPlaceSchemas(schema, schema)) {
    for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {}))
      found.set(name, [...(found.get(name) ?? []), part]);
  }
  return found;
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

function valueOf(property: unknown, text: string, root: JsonSchema): unknown {
  const forms = formsOf(property, root, 0);
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
  return text;
}

/** One form a value may have: of some types, or one of the allowed values; of anything where neither is given. */
interface Form {
  readonly types?: readonly string[];
  readonly values?: readonly unknown[];
}

/** More forms than this are not told apart; nobody writes them. */
const MAX_FORMS = 256;

/** The forms of a property: what is said at one place narrows all of its alternatives, and none narrows another. */
function formsOf(property: unknown, root: JsonSchema, depth: number): Form[] {
  let forms: Form[] = [{}];
  if (depth > MAX_NESTING) return forms;
  for (const part of inPlaceSchemas(property, root)) {
    forms = forms.map((form) => both(form, ownForm(part)));
    for (const branches of alternativesOf(part)) {
      const others = branches.flatMap((branch) => formsOf(branch, root, depth + 1));
      forms = forms.flatMap((form) => others.map((other) => both(form, other))).slice(0, MAX_FORMS);
    }
  }
  return forms;
}

function alternativesOf({ anyOf, oneOf, if: condition, then, else: other }: JsonSchema): unknown[][] {
  return [anyOf, oneOf, condition === undefined ? undefined : [then, other]].filter((branches) =>
    Array.isArray(branches),
  );
}

function ownForm({ type, enum: listed, ...rest }: JsonSchema): Form {
  const types = [type ?? []].flat().filter((name): name is string => typeof name === 'string');
  const values = 'const' in rest ? [rest.const] : Array.isArray(listed) ? (listed as unknown[]) : undefined;
  return both(types.length > 0 ? { types } : {}, values ? { values } : {});
}

function both(one: Form, other: Form): Form {
  const types = one.types && other.types ? commonTypes(one.types, other.types) : (one.types ?? other.types);
  const listed =
    one.values && other.values
      ? one.values.filter((value) => other.values!.some((listed) => hasRepeatedItem([value, listed])))
      : (one.values ?? other.values);
  const values = listed?.filter((value) => !types || isOfType([...types], value));
  return { ...(types ? { types } : {}), ...(values ? { values } : {}) };
}

/** Each integer is a number, so of the two the integer is common. */
function commonTypes(some: readonly string[], others: readonly string[]): string[] {
  const isIn = (type: string, list: readonly string[]) =>
    list.includes(type) || (type === 'integer' && list.includes('number'));
  return [
    ...new Set([...some.filter((type) => isIn(type, others)), ...others.filter((type) => isIn(type, some))]),
  ];
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

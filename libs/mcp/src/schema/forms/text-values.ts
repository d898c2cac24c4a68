import { isJsonObject, type JsonSchema } from '../json-schema.js';
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
  for (const [name, text] of Object.entries(texts)) {
    const property = propertiesOf(schema, schema).find(([known]) => known === name)?.[1];
    define(values, name, property === undefined ? text : valueOf(property, text, schema));
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
  return propertiesOf(schema, schema).map(([name, property]) => ({
    name,
    ...textMember('title', property, schema),
    ...textMember('description', property, schema),
    required: required.has(name),
  }));
}

function propertiesOf(schema: unknown, root: JsonSchema): [string, unknown][] {
  return inPlaceSchemas(schema, root).flatMap(({ properties }) =>
    isJsonObject(properties) ? Object.entries(properties) : [],
  );
}

// What stands at the place of use says more than what the reference leads to.
function textMember(
  keyword: 'title' | 'description',
  property: unknown,
  root: JsonSchema,
): Partial<Record<typeof keyword, string>> {
  const text = inPlaceSchemas(property, root)
    .map((part) => part[keyword])
    .find((found) => typeof found === 'string');
  return text === undefined ? {} : { [keyword]: text };
}

function valueOf(property: unknown, text: string, root: JsonSchema): unknown {
  const forms = formsOf(property, root);
  const allowed = forms.flatMap(({ values }) => values ?? []);
  // An allowed text wins over an allowed value that is written the same.
  if (allowed.includes(text)) return text;
  const listed = allowed.find((value) => typeof value !== 'string' && isWritten(value, text));
  if (listed !== undefined) return listed;
  const types = new Set(forms.filter(({ values }) => values === undefined).flatMap(({ types: own }) => own));
  if (types.has('string')) return text;
  for (const type of ORDER) {
    const value = types.has(type) ? parsed(type, text) : undefined;
    if (value !== undefined) return value;
  }
  return text;
}

/** One form a value may have: its types, or its allowed values. */
interface Form {
  readonly types: readonly string[];
  readonly values?: readonly unknown[];
}

/** The forms of a property over its references and alternatives. A schema without any takes text as it is. */
function formsOf(property: unknown, root: JsonSchema): Form[] {
  const forms: Form[] = [];
  for (const { type, enum: listed, const: value, ...rest } of inPlaceSchemas(property, root, 'all')) {
    const values = Array.isArray(listed) ? (listed as unknown[]) : value === undefined ? undefined : [value];
    const types = [type ?? []].flat().filter((name): name is string => typeof name === 'string');
    if (values) forms.push({ types, values });
    else if (types.length > 0) forms.push({ types });
    else if (Object.keys(rest).length === 0) forms.push({ types: ['string'] });
  }
  // A list of allowed values narrows the types beside it, also those that a reference or `allOf` adds.
  const narrowed = forms.filter(
    (form) =>
      form.values !== undefined ||
      !forms.some(({ values }) => values?.some((entry) => isOfType([...form.types], entry))),
  );
  return narrowed;
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

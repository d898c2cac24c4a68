import { lineageOf } from './class-lineage.js';
import { type Class, isJsonObject, type JsonSchema } from '../json-schema.js';
import { publishedPattern } from '../text-patterns.js';
import { enumValues, oneOf } from './value-lists.js';

// Keys of what @nestjs/swagger stores. They are read without the package, so whoever has none is not asked for it.
const PROPERTY_NAMES = 'swagger/apiModelPropertiesArray';
const PROPERTY = 'swagger/apiModelProperties';
const SCHEMA = 'swagger/apiSchema';
const PLUGIN_FACTORY = '_OPENAPI_METADATA_FACTORY';

/** What Swagger's decorators and its compiler plugin say about a property. */
export interface SwaggerProperty {
  /** The value is a list, and `element` describes its entries. */
  readonly isList: boolean;
  /** The class of the value, or of the entries of a list. */
  readonly type?: Class;
  /** What is said of the value itself. */
  readonly value: JsonSchema;
  /** What is said of one entry of a list. */
  readonly element: JsonSchema;
  /** What only explains: description, title, examples, deprecated. */
  readonly annotations: JsonSchema;
  readonly isNullable: boolean;
  readonly isRequired: boolean;
}

type Options = Readonly<Record<string, unknown>>;

const ANNOTATIONS = ['title', 'description', 'deprecated'];
const LIST_KEYWORDS = ['minItems', 'maxItems', 'uniqueItems'];
const VALUE_KEYWORDS = [
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
];
const TYPE_NAMES = ['string', 'number', 'integer', 'boolean', 'object', 'array'];
const PRIMITIVES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
]);

/** Everything Swagger knows about the properties of a class: its plugin's metadata under its decorators'. */
export function swaggerProperties(dto: Class): Map<string, SwaggerProperty> {
  const options = new Map<string, Options>();
  for (const owner of lineageOf(dto)) {
    for (const [name, found] of Object.entries(pluginMetadata(owner))) options.set(name, found);
  }
  for (const name of decoratedNames(dto)) {
    const found: unknown = Reflect.getMetadata(PROPERTY, dto.prototype as object, name);
    if (isJsonObject(found)) options.set(name, { ...options.get(name), ...informative(found) });
  }
  return new Map([...options].map(([name, found]) => [name, read(found)]));
}

/** The description `@ApiSchema()` gives a class. */
export function swaggerDescription(dto: Class): string | undefined {
  const schemas: unknown = Reflect.getOwnMetadata(SCHEMA, dto);
  const descriptions = (Array.isArray(schemas) ? (schemas as unknown[]) : []).map((schema) =>
    isJsonObject(schema) && typeof schema.description === 'string' ? schema.description : undefined,
  );
  return descriptions.findLast((description) => description !== undefined);
}

function pluginMetadata(owner: Class): Record<string, Options> {
  if (!Object.hasOwn(owner, PLUGIN_FACTORY)) return {};
  const factory: unknown = (owner as unknown as Record<string, unknown>)[PLUGIN_FACTORY];
  const metadata: unknown = typeof factory === 'function' ? Reflect.apply(factory, owner, []) : undefined;
  if (!isJsonObject(metadata)) return {};
  return Object.fromEntries(Object.entries(metadata).filter(([, found]) => isJsonObject(found))) as Record<
    string,
    Options
  >;
}

function decoratedNames(dto: Class): string[] {
  const names: unknown = Reflect.getMetadata(PROPERTY_NAMES, dto.prototype as object);
  return (Array.isArray(names) ? (names as unknown[]) : []).map((name) => String(name).slice(1));
}

// The decorators write down the compiler's type where they are given none, and that says less than the plugin's.
function informative(options: Options): Options {
  const isVague = options.type === Object || options.type === Array;
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !(name === 'type' && isVague)),
  );
}

function read(options: Options): SwaggerProperty {
  const type = typeOf(options);
  const allowed = options.enum === undefined ? {} : oneOf(enumValues(resolved(options.enum)));
  const keywords = valueKeywords(options);
  // Of a Record the compiler only knows that it is an object.
  const record = 'additionalProperties' in keywords && !type.class ? { type: 'object' } : {};
  const described = { ...record, ...type.keywords, ...allowed, ...keywords };
  const items = type.isList ? fragment(options.items) : undefined;
  return {
    isList: type.isList,
    ...(type.class ? { type: type.class } : {}),
    value: type.isList ? { ...pick(options, LIST_KEYWORDS), type: 'array' } : described,
    element: type.isList ? { ...described, ...items } : {},
    annotations: annotationsOf(options),
    isNullable: options.nullable === true,
    isRequired: options.required !== false,
  };
}

interface SwaggerType {
  readonly isList: boolean;
  readonly class?: Class;
  readonly keywords: JsonSchema;
}

function typeOf({ type, isArray }: Options): SwaggerType {
  const given = resolved(type);
  const isList = isArray === true || Array.isArray(given) || given === 'array' || given === Array;
  const one = resolved(Array.isArray(given) ? (given as unknown[])[0] : given);
  if (typeof one === 'function') return { isList, ...namedType(one as Class) };
  const isName = typeof one === 'string' && TYPE_NAMES.includes(one) && one !== 'array';
  return { isList, keywords: isName ? { type: one } : {} };
}

function namedType(type: Class): Omit<SwaggerType, 'isList'> {
  const name = PRIMITIVES.get(type);
  if (name !== undefined) return { keywords: { type: name } };
  return (type as unknown) === Object || (type as unknown) === Array
    ? { keywords: {} }
    : { class: type, keywords: {} };
}

// A type is given as a class, or by a function that gives it later; only an arrow function has no prototype.
function resolved(type: unknown): unknown {
  if (typeof type !== 'function' || type.prototype !== undefined) return type;
  try {
    return Reflect.apply(type, undefined, []) as unknown;
  } catch {
    return undefined;
  }
}

function valueKeywords(options: Options): JsonSchema {
  const keywords = pick(options, VALUE_KEYWORDS);
  const pattern = publishedPattern(options.pattern, 'u');
  if (pattern !== undefined) keywords.pattern = pattern;
  const entries = fragment(options.additionalProperties);
  if (entries !== undefined) keywords.additionalProperties = entries;
  // Of OpenAPI 3.0, where the limit is exclusive by a flag.
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof keywords[flag] !== 'boolean') continue;
    const isExclusive = keywords[flag];
    delete keywords[flag];
    if (!isExclusive || keywords[limit] === undefined) continue;
    keywords[flag] = keywords[limit];
    delete keywords[limit];
  }
  return keywords;
}

function annotationsOf(options: Options): JsonSchema {
  const annotations = pick(options, ANNOTATIONS);
  if (annotations.deprecated === false) delete annotations.deprecated;
  const examples = Array.isArray(options.examples)
    ? (options.examples as unknown[])
    : options.example === undefined
      ? []
      : [options.example];
  return examples.length === 0 ? annotations : { ...annotations, examples };
}

/** A schema written in place, as JSON: class names become type names, references into Swagger's document nothing. */
function fragment(given: unknown): JsonSchema | undefined {
  if (!isJsonObject(given)) return undefined;
  const { isList, keywords } = typeOf(given);
  const type: JsonSchema = isList ? { type: 'array', items: fragment(given.items) ?? {} } : keywords;
  const allowed = given.enum === undefined ? {} : oneOf(enumValues(resolved(given.enum)));
  return {
    ...type,
    ...allowed,
    ...valueKeywords(given),
    ...pick(given, [...LIST_KEYWORDS, 'title', 'description']),
  };
}

function pick(options: Options, names: readonly string[]): JsonSchema {
  return Object.fromEntries(
    names
      .filter((name) => options[name] !== undefined && options[name] !== '')
      .map((name) => [name, options[name]]),
  );
}

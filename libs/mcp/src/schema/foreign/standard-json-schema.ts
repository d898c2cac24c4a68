import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { mapSubschemas, resolveReference } from '../walk/schema-positions.js';
import { notePattern, withoutPatterns } from './unsaid-patterns.js';
import { withoutDefaultDialect } from '../schema-dialect.js';
import {
  MissingConverterException,
  NoJsonSchemaException,
  UnrepresentableSchemaException,
} from '../unusable-schema.exception.js';

/** The side of a Standard Schema: what it takes, or what it makes of that. */
export type Side = 'input' | 'output';

const TARGET = 'draft-2020-12';

type Convert = (schema: never, options: object) => unknown;

/** The libraries' own converters, loaded only for a schema that has none with it. */
export interface ConverterModules {
  readonly zod: () => Promise<{ readonly toJSONSchema: Convert }>;
  readonly valibot: () => Promise<{ readonly toJsonSchema: Convert }>;
}

const MODULES: ConverterModules = {
  // Under this path it is version 4 in every package that has it.
  zod: async () => import('zod/v4'),
  valibot: async () => import('@valibot/to-json-schema'),
};

/**
 * The JSON Schema of one side of a Standard Schema: by the Standard JSON Schema interface where the library has
 * it, else by the library's own converter. Throws a named exception where there is none, or where the schema has
 * a type that JSON can't carry.
 */
export async function standardJsonSchema(
  schema: StandardSchemaV1,
  side: Side,
  modules: ConverterModules = MODULES,
): Promise<JsonSchema> {
  const unsaid = new Set<string>();
  const convert = await converterOf(schema, side, modules);
  let converted: unknown;
  try {
    converted = convert(libraryOptions(schema, unsaid));
  } catch (error) {
    throw new UnrepresentableSchemaException(vendorOf(schema), side, error, placeOfFault(schema, convert));
  }
  if (!isJsonObject(converted)) throw new NoJsonSchemaException(vendorOf(schema));
  // A copy: a library may hand out an object that it keeps.
  const copy = JSON.parse(JSON.stringify(converted)) as JsonSchema;
  return withoutDefaultDialect(withoutPatterns(withOwnRoot(copy), unsaid));
}

/** Converts by the options that the library has of its own. */
type Converter = (options: Record<string, unknown> | undefined) => unknown;

async function converterOf(
  schema: StandardSchemaV1,
  side: Side,
  modules: ConverterModules,
): Promise<Converter> {
  const vendor = vendorOf(schema);
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>;
  if (typeof jsonSchema?.[side] === 'function') {
    return (options) => jsonSchema[side]({ target: TARGET, libraryOptions: options });
  }
  if (vendor === 'arktype' && 'toJsonSchema' in schema && typeof schema.toJsonSchema === 'function') {
    const own = schema as { toJsonSchema(options: object): unknown } & Partial<Record<'in' | 'out', unknown>>;
    const node = own[side === 'input' ? 'in' : 'out'] ?? own;
    return () => (node as typeof own).toJsonSchema({});
  }
  if (vendor === 'zod' && '_zod' in schema) {
    const { toJSONSchema } = await loaded(modules.zod, vendor, 'zod');
    return (options) => toJSONSchema(schema as never, { target: TARGET, io: side, ...options });
  }
  if (vendor === 'valibot') {
    const { toJsonSchema } = await loaded(modules.valibot, vendor, '@valibot/to-json-schema');
    return (options) => toJsonSchema(schema as never, { target: TARGET, typeMode: side, ...options });
  }
  throw new NoJsonSchemaException(vendor);
}

async function loaded<T>(load: () => Promise<T>, vendor: string, packageName: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as { code?: unknown };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw isMissing ? new MissingConverterException(vendor, packageName) : error;
  }
}

function vendorOf(schema: StandardSchemaV1): string {
  return schema['~standard'].vendor;
}

/** What one side of a schema is converted by; the patterns that can't be published are noted on the way. */
function libraryOptions(schema: StandardSchemaV1, unsaid: Set<string>): Record<string, unknown> | undefined {
  const vendor = vendorOf(schema);
  if (vendor === 'zod') {
    return {
      override: ({ zodSchema }: { readonly zodSchema: ZodSchema }) => {
        for (const pattern of zodPatterns(zodSchema)) notePattern(unsaid, pattern);
      },
    };
  }
  if (vendor === 'valibot') {
    return {
      // A rule that JSON Schema can't say is the library's to check; a value that JSON can't carry is a mistake.
      overrideAction: ({ valibotAction, jsonSchema, errors }: ValibotActionContext) => {
        notePattern(unsaid, valibotAction.requirement);
        return errors && valibotAction.kind === 'validation' ? jsonSchema : undefined;
      },
      // Its converter says nothing of further members, here as where they are dropped.
      overrideSchema: ({ valibotSchema, jsonSchema }: ValibotSchemaContext) =>
        valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: {} } : undefined,
    };
  }
  if (vendor !== 'arktype') return undefined;
  for (const { rule, flags } of arktypePatterns(schema)) notePattern(unsaid, new RegExp(rule, flags));
  return ARKTYPE_OPTIONS;
}

interface ValibotSchemaContext {
  readonly valibotSchema: { readonly type: string };
  readonly jsonSchema: JsonSchema;
}

interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type?: string;
      readonly pattern?: unknown;
      readonly checks?: readonly ZodSchema[];
      readonly keyType?: ZodSchema;
    };
    readonly bag?: { readonly patterns?: Iterable<unknown> };
    readonly pattern?: unknown;
  };
}

function zodPatterns({ _zod: { def, bag, ...own } }: ZodSchema): unknown[] {
  return [
    def.pattern,
    ...(def.checks ?? []).map(({ _zod }) => _zod.def.pattern),
    ...(bag?.patterns ?? []),
    ...(def.type === 'template_literal' ? [own.pattern] : []),
    // The names of a loose record are written down without a visit to their schema.
    ...(def.keyType ? zodPatterns(def.keyType) : []),
  ];
}

interface ArktypePattern {
  readonly kind: string;
  readonly rule: string;
  readonly flags?: string;
}

function arktypePatterns(schema: StandardSchemaV1): readonly ArktypePattern[] {
  const { internal } = schema as { internal?: { readonly references?: readonly ArktypePattern[] } };
  return (internal?.references ?? []).filter(({ kind }) => kind === 'pattern');
}

/** Where a type stands that can't be converted, as far as the library tells. */
function placeOfFault(schema: StandardSchemaV1, convert: Converter): string | undefined {
  if (vendorOf(schema) !== 'zod') return undefined;
  let place: string | undefined;
  const unrepresentable = ({ path }: { readonly path: readonly PropertyKey[] }) => {
    place ??= `#/${path.map(String).join('/')}`;
    return 'any';
  };
  try {
    convert({ unrepresentable });
  } catch {
    // The fault is known already.
  }
  return place;
}

interface ValibotActionContext {
  readonly valibotAction: { readonly kind: string; readonly requirement?: unknown };
  readonly jsonSchema: unknown;
  readonly errors?: unknown;
}

const refuse = ({ code }: { code: string }): never => {
  throw new Error(`a type that JSON can't carry (${code})`);
};

/** By itself arktype publishes "anything" where it has nothing better. */
const ARKTYPE_OPTIONS = {
  fallback: { date: refuse, domain: refuse, proto: refuse, symbolKey: refuse, unit: refuse },
};

/** A recursive schema may come as a mere reference to one of its definitions; the root is then written out. */
function withOwnRoot(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, $schema, ...rest } = schema;
  const target = resolveReference(schema, $ref);
  if (!target || target === schema || Object.keys(rest).length > 0) return schema;
  return { ...($schema === undefined ? {} : { $schema }), ...target, $defs };
}

/**
 * Rewrites what some clients' models refuse, together with the whole list it comes in, into words of the same
 * meaning: one-value constants, lists of types, and arrays that say nothing of their items.
 */
export function portable(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, portable);
  const named = withoutConst(inner);
  const { type } = named;
  if (type === 'array' && !('items' in named) && !('prefixItems' in named)) return { ...named, items: {} };
  return Array.isArray(type) ? splitTypes(named, type) : named;
}

function withoutConst(schema: JsonSchema): JsonSchema {
  const { const: value, ...rest } = schema;
  if (!('const' in schema) || 'enum' in schema || typeof value === 'object') return schema;
  return { ...('type' in rest ? {} : { type: typeof value }), ...rest, enum: [value] };
}

/** Keywords that say something about the value as a whole, or stand for the document. */
const ABOUT = ['title', 'description', 'default', 'deprecated', 'examples', 'readOnly', 'writeOnly', '$defs'];
/** Keywords that judge values of every type, so that they can't go to one of the alternatives. */
const WHOLE = ['enum', '$ref', '$dynamicRef', '$id', '$anchor', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

function splitTypes(schema: JsonSchema, types: readonly unknown[]): JsonSchema {
  if (WHOLE.some((keyword) => keyword in schema)) return schema;
  const { type: _types, ...rest } = schema;
  const entries = Object.entries(rest);
  const about = entries.filter(([keyword]) => ABOUT.includes(keyword));
  const rules = entries.filter(([keyword]) => !ABOUT.includes(keyword));
  // A keyword says nothing of values of other types, so each branch can have them all; null has none.
  const branchOf = (type: unknown) =>
    type === 'null' ? { type } : portable({ type, ...Object.fromEntries(rules) });
  return { ...Object.fromEntries(about), anyOf: types.map(branchOf) };
}

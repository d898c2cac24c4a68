import {
  designTypeOf,
  hasTransform,
  isDecorated,
  type RuleMetadata,
  type TypeMetadata,
  typeMetadataOf,
} from './class-metadata.js';
import type { Class, JsonSchema } from './json-schema.js';
import { mergeAll } from './schema-keywords.js';
import {
  DateWithoutTypeException,
  UnknownNestedTypeException,
  UnresolvedTypeException,
} from './schema.exception.js';
import { VALIDATOR_RULES } from './validator-rules.js';

/** How a property holds its values. */
export type Container = 'list' | 'map' | 'none';

/** What a property accepts, before the classes nested in it are written out. */
export interface PropertyShape {
  /** What holds the values: a list or a keyed map, of which `element` describes one entry, or nothing. */
  readonly container: Container;
  /** What the rules say of the value itself. */
  readonly value: JsonSchema;
  /** What the rules say of one entry of a container. */
  readonly element: JsonSchema;
  /** The DTO of the value, or of one entry of the container. */
  readonly nested?: Class;
  /** The class to build that no @Type() names, known from the declared type alone. */
  readonly impliedType?: Class;
  /** The value is one of several DTOs, told apart by a member that class-transformer removes while it reads. */
  readonly isDiscriminated: boolean;
}

interface TypeFacts {
  readonly rules: readonly RuleMetadata[];
  readonly design: Class | undefined;
  readonly declared: Class | undefined;
  readonly type: TypeMetadata | undefined;
}

const BUILT_IN_TYPES: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Date, { type: 'string', format: 'date-time' }],
]);

/** Reads the rules, @Type() and the declared type of one property into its shape. */
export function resolveProperty(dto: Class, property: string, rules: readonly RuleMetadata[]): PropertyShape {
  const type = typeMetadataOf(dto, property);
  const declared = type ? declaredType(dto, property, type) : undefined;
  const facts: TypeFacts = { rules, design: designTypeOf(dto, property), declared, type };
  const own = keywordsOf(rules, false);
  const container = containerOf(facts, own);
  const held = container !== 'none';
  const nested = nestedClass(dto, property, facts, container);
  const discriminator = type?.options?.discriminator;
  const inner = discriminator ? variantSchema(discriminator) : nested ? {} : builtInType(facts, held);
  requireDateType(dto, property, facts);
  return {
    container,
    value: held ? own : finish(rules, false, own, inner),
    element: held ? finish(rules, true, keywordsOf(rules, true), inner) : {},
    ...(nested ? { nested } : {}),
    ...impliedTypeOf(facts, nested, held),
    isDiscriminated: discriminator !== undefined,
  };
}

/** Says whether a property has to be present: no decorator makes it optional, and some rule refuses its absence. */
export function isRequiredByRules(rules: readonly RuleMetadata[]): boolean {
  if (rules.some(({ type }) => type === 'conditionalValidation')) return false;
  return rules.some(
    ({ type, name, validateIf }) =>
      type !== 'whitelistValidation' && !validateIf && !VALIDATOR_RULES.get(name ?? '')?.acceptsAbsent,
  );
}

// A rule with a condition of its own is not always run, so a schema, which always is, can't carry it.
function keywordsOf(rules: readonly RuleMetadata[], each: boolean): JsonSchema {
  return mergeAll(
    applicable(rules, each).map(({ rule, constraints }) =>
      rule.onlyForType ? {} : rule.keywords(constraints),
    ),
  );
}

function finish(
  rules: readonly RuleMetadata[],
  each: boolean,
  keywords: JsonSchema,
  inner: JsonSchema,
): JsonSchema {
  // The rules outrank the declared type, which is only asked where they leave the type open.
  const isTyped = ['type', 'enum', 'const'].some((keyword) => keyword in keywords);
  const typed = isTyped && !inner.properties ? keywords : mergeAll([inner, keywords]);
  const late = applicable(rules, each).filter(
    ({ rule }) => rule.onlyForType && rule.onlyForType === typed.type,
  );
  return mergeAll([typed, ...late.map(({ rule, constraints }) => rule.keywords(constraints))]);
}

function applicable(rules: readonly RuleMetadata[], each: boolean) {
  return rules
    .filter((metadata) => Boolean(metadata.each) === each && !metadata.validateIf)
    .flatMap(({ name, constraints }) => {
      const rule = VALIDATOR_RULES.get(name ?? '');
      return rule ? [{ rule, constraints: (constraints ?? []) as readonly unknown[] }] : [];
    });
}

function containerOf({ rules, design }: TypeFacts, own: JsonSchema): Container {
  if (design === Map) return 'map';
  if (rules.some(({ each }) => each)) return 'list';
  const isArray = own.type === undefined ? isListClass(design) : own.type === 'array';
  return isArray ? 'list' : 'none';
}

function isListClass(type: unknown): boolean {
  return type === Array || type === Set;
}

function declaredType(dto: Class, property: string, type: TypeMetadata): Class | undefined {
  const read = type.typeFunction as ((options: object) => unknown) | undefined;
  // @Type() without a function only marks a Map or Set; the declared type then stands.
  if (!read) return undefined;
  let declared: unknown;
  try {
    declared = read({ newObject: {}, object: {}, property });
  } catch {
    throw new UnresolvedTypeException(dto, property);
  }
  if (typeof declared !== 'function') throw new UnresolvedTypeException(dto, property);
  return declared as Class;
}

function nestedClass(
  dto: Class,
  property: string,
  facts: TypeFacts,
  container: Container,
): Class | undefined {
  const { rules, design, declared, type } = facts;
  if (type?.options?.discriminator) return undefined;
  const candidate = declared ?? (container === 'none' ? design : undefined);
  const isNested = rules.some(({ type: kind }) => kind === 'nestedValidation');
  if (isDtoClass(candidate) && (isNested || isDecorated(candidate))) return candidate;
  if (isNested) throw new UnknownNestedTypeException(dto, property, container !== 'none');
  return undefined;
}

function isDtoClass(type: Class | undefined): type is Class {
  return type !== undefined && !isForeign(type);
}

// Classes of the language itself (Object, Date, Map, Buffer, typed arrays, Symbol) describe no members.
function isForeign(type: Class): boolean {
  return type.name in globalThis && (globalThis as Record<string, unknown>)[type.name] === type;
}

function builtInType({ declared, design }: TypeFacts, held: boolean): JsonSchema {
  const type = declared && !isListClass(declared) ? declared : held ? undefined : design;
  return BUILT_IN_TYPES.get(type) ?? {};
}

function impliedTypeOf({ type, design }: TypeFacts, nested: Class | undefined, held: boolean) {
  if (type || held || !design) return {};
  return design === nested || design === (Date as unknown) ? { impliedType: design } : {};
}

function requireDateType(dto: Class, property: string, { rules, declared, design }: TypeFacts): void {
  const isDate = rules.some(({ name, validateIf }) => name === 'isDate' && !validateIf);
  const made = [declared, design].some((type) => (type as unknown) === Date);
  if (isDate && !made && !hasTransform(dto, property)) throw new DateWithoutTypeException(dto, property);
}

// The variants differ by a member that is gone when they are validated, so only the member itself is published;
// the rules of the chosen class are class-validator's to check.
function variantSchema({
  property,
  subTypes,
}: {
  property: string;
  subTypes: { name: string }[];
}): JsonSchema {
  const names = subTypes.map(({ name }) => name);
  return {
    type: 'object',
    properties: { [property]: { type: 'string', enum: names } },
    required: [property],
  };
}

import { type Presence, presenceOf } from '../metadata/condition-probe.js';
import { refuseContradictions } from './contradictory-rules.js';
import { addDescribed, addTitles } from './described-keywords.js';
import { type Class, type JsonSchema, MIRROR_KEYWORD } from '../json-schema.js';
import { refuseImpossible } from './impossible-property.js';
import { type Notes, noteRules } from './property-differences.js';
import { isDescribed, type PropertyFacts } from '../metadata/property-facts.js';
import { MAX_UNIQUE_ITEMS } from '../schema-bounds.js';
import {
  isOpen,
  mergeAll,
  mergeKeywords,
  settleAlternatives,
  typeOnly,
  withoutNull,
} from './schema-keywords.js';
import { UnknownNestedTypeException, UnresolvedTypeException } from '../schema.exception.js';
import {
  isConstraint,
  isNestedRule,
  keywordsOf,
  ruleName,
  ruleOf,
  takes,
  takesNull,
} from './rule-reading.js';

/** How a property holds its values. */
export type Container = 'list' | 'map' | 'none';

/** The member that tells variants apart, and its value in one of them. */
export interface Tag {
  readonly property: string;
  readonly value: string;
  /** class-transformer leaves the member where it is. */
  readonly isKept: boolean;
}

/** A DTO class where it is used, as a variant if it is one of several. */
export interface DtoUse {
  readonly dto: Class;
  readonly tag?: Tag;
}

/** What a property accepts, before the classes nested in it are written out. */
export interface PropertyShape {
  /** What holds the values: a list or a keyed map, of which `element` describes one entry, or nothing. */
  readonly container: Container;
  /** What is said of the value itself, null left aside. */
  readonly value: JsonSchema;
  /** What is said of one entry of a container. */
  readonly element: JsonSchema;
  /** The DTO of the value, or of one entry of the container; several where it is one of them. */
  readonly nested: readonly DtoUse[];
  /** The class to build that no @Type() names, known from the declared type alone. */
  readonly impliedType?: Class;
  /** class-transformer removes a member of the value while it reads it. */
  readonly isMutated: boolean;
  /** A Date is made of what is sent, and no rule sees to it that it is one. */
  readonly isDate: boolean;
  readonly isNullable: boolean;
  readonly isNullableElement: boolean;
  /** Whether it has to be sent, as far as anything but an initialiser says. */
  readonly isRequired: boolean;
  /** What `@McpProperty({ schema })` adds. */
  readonly fragment: JsonSchema;
  /** Description and its like, for the property as a whole. */
  readonly annotations: JsonSchema;
  readonly stricter: ReadonlySet<string>;
  readonly looser: ReadonlySet<string>;
}

/** What the rules for a value, or those for its entries, come to. */
interface Said {
  readonly keywords: JsonSchema;
  readonly isNullable: boolean;
}

const DATE: JsonSchema = { type: 'string', format: 'date-time' };

/** What a class of the language says of a value in JSON. */
const BUILT_IN_TYPES: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Date, DATE],
]);

/** Of these a result is made of text; from text alone they are only made where @Type() asks for it. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set<unknown>([BigInt, Buffer, Uint8Array]);

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);
const CONVERTING: ReadonlySet<unknown> = new Set<unknown>([String, Number, Boolean]);

/** Reads everything that is said of one property into its shape. */
export function resolveProperty(facts: PropertyFacts): PropertyShape {
  const presence = presenceOf(facts.rules);
  const notes = { stricter: new Set<string>(), looser: new Set<string>() };
  const container = containerOf(facts);
  const isHeld = container !== 'none';
  refuseImpossible(facts);
  refuseContradictions(facts, presence, container);
  const nested = nestedUses(facts, container);
  const own = withoutNull(facts.own.schema ?? {});
  const inner = nested.length > 0 ? {} : builtInType(facts, isHeld);
  const outer = say(facts, presence, false, isHeld ? {} : inner, nested.length > 0 && !isHeld, notes);
  const element = isHeld ? say(facts, presence, true, inner, nested.length > 0, notes) : undefined;
  const described = addDescribed(
    facts,
    { value: outer.keywords, element: element?.keywords ?? {} },
    { isList: container === 'list', isNested: nested.length > 0, isConditional: presence.isConditional },
  );
  if (described.isChanged || facts.own.schema) notes.stricter.add('described-keywords');
  const takesNothing = presence.skipsNull || (!presence.isConditional && facts.rules.every(takesNull));
  // A result is no model's to write: entities have null where a column is empty, and class-validator takes it.
  const declaresNull =
    facts.view.direction === 'output' ||
    outer.isNullable ||
    presence.declaresNull ||
    facts.swagger?.isNullable === true ||
    own.namesNull;
  if (isTypeAssumed(facts, container, nested)) notes.stricter.add('declared-type');
  noteRules(facts, presence, takesNothing && declaresNull, notes);
  const isDate = holdsDate(facts);
  if (isDate) notes.looser.add('isDate');
  const titled = addTitles(facts, described, isHeld);
  return {
    container,
    value:
      container === 'list'
        ? boundUnique(facts, titled.value, titled.element, nested.length > 0)
        : titled.value,
    element: titled.element,
    nested,
    ...impliedTypeOf(facts, nested, isHeld),
    isMutated: nested.some(({ tag }) => tag && !tag.isKept),
    isDate,
    isNullable: takesNothing && declaresNull,
    isNullableElement: element?.isNullable ?? false,
    isRequired: isRequired(facts, presence),
    fragment: own.schema,
    annotations: { ...facts.swagger?.annotations, ...facts.own.annotations, ...mirrorOf(facts) },
    ...notes,
  };
}

/** No client sends a result, so there it has no header. */
function mirrorOf({ own: { header }, view }: PropertyFacts): JsonSchema {
  return header === undefined || view.direction === 'output' ? {} : { [MIRROR_KEYWORD]: header };
}

/** What the rules say, of the value itself or of each entry, with the declared type where they leave that open. */
function say(
  facts: PropertyFacts,
  presence: Presence,
  each: boolean,
  inner: JsonSchema,
  isNested: boolean,
  notes: Notes,
): Said {
  const { rules, declared } = facts;
  // A rule with a condition of its own is not always run, so a schema, which always is, can't carry it.
  const applied = rules.filter((rule) => Boolean(rule.each) === each && !rule.validateIf);
  const plain = mergeAll(applied.map((rule) => (ruleOf(rule).onlyForType ? {} : keywordsOf(rule))));
  const settled = settleAlternatives(plain, plain.type ?? inner.type);
  const isTyped = !isOpen(settled);
  if (inner.type !== undefined && (!isTyped || settled !== plain)) notes.stricter.add('declared-type');
  if (inner.type !== undefined && CONVERTING.has(declared)) notes.stricter.add('converted-type');
  if (inner === DATE) notes.stricter.add('date-text');
  const typed = isTyped ? settled : mergeKeywords(inner, settled);
  const late = applied.filter((rule) => ruleOf(rule).onlyForType === typed.type);
  const open = applied.filter(() => isOpen(typed) && !isNested).map((rule) => ruleOf(rule).whenOpen ?? {});
  const complete = vouchedFor(facts, mergeAll([typed, ...late.map(keywordsOf), ...open]));
  const isListed = applied.some((rule) => ruleOf(rule).listsValues && takesNull(rule));
  const isTaken = applied.every(takesNull) || (!each && presence.skipsNull);
  const refusesNull = isOpen(complete) && !isTaken && !isNested;
  const keywords = refusesNull ? mergeKeywords(complete, { not: { enum: [null] } }) : complete;
  return {
    keywords: presence.isConditional ? typeOnly(complete) : keywords,
    isNullable: isTaken && isListed,
  };
}

/** Clients hold a result to its formats, and nothing here does: a row of a database has its dates in another one. */
function vouchedFor({ view }: PropertyFacts, keywords: JsonSchema): JsonSchema {
  if (view.direction !== 'output') return keywords;
  const { format: _format, ...rest } = keywords;
  return rest;
}

function isRequired({ rules, swagger, isComputed, view }: PropertyFacts, presence: Presence): boolean {
  if (presence.isOptional || (view.direction === 'output' && isComputed)) return false;
  const constraints = rules.filter(isConstraint);
  if (constraints.length === 0) return swagger?.isRequired ?? false;
  return constraints.some((rule) => (isNestedRule(rule) && !rule.validateIf) || !takes(rule, undefined));
}

function containerOf({ rules, design, type, swagger }: PropertyFacts): Container {
  if ([design, type?.reflectedType].some((held) => (held as unknown) === Map)) return 'map';
  if (rules.some((rule) => rule.each && isConstraint(rule))) return 'list';
  const own = mergeAll(rules.filter((rule) => !rule.each && !rule.validateIf).map(keywordsOf));
  if (isCollection(design))
    return own.type === undefined || own.type === 'array' || isSet(design) ? 'list' : 'none';
  if (own.type !== undefined) return own.type === 'array' ? 'list' : 'none';
  return swagger?.isList && isOpen(own) ? 'list' : 'none';
}

/** Says whether it is the declared type alone that makes a list, a map or a DTO of the value. */
function isTypeAssumed({ rules }: PropertyFacts, container: Container, nested: readonly DtoUse[]): boolean {
  if (nested.length > 0 && !rules.some(isNestedRule)) return true;
  const isSaid = rules.some(
    (rule) =>
      (rule.each && isConstraint(rule)) || isNestedRule(rule) || (!rule.validateIf && keywordsOf(rule).type),
  );
  return container !== 'none' && !isSaid;
}

function isCollection(type: unknown): boolean {
  return type === Array || type === Set;
}

function isSet(type: unknown): boolean {
  return type === Set;
}

function nestedUses(facts: PropertyFacts, container: Container): DtoUse[] {
  const { dto, name, rules, design, declared, type, swagger, view, hasTransform } = facts;
  const discriminator = type?.options?.discriminator;
  if (discriminator) {
    return discriminator.subTypes.map(({ name: value, value: variant }) => {
      if (typeof variant !== 'function') throw new UnresolvedTypeException(dto, name);
      const isKept = type.options?.keepDiscriminatorProperty === true;
      return { dto: variant as Class, tag: { property: discriminator.property, value, isKept } };
    });
  }
  const candidates = [declared, container === 'none' ? design : undefined, swagger?.type];
  const candidate = candidates.find((one) => one !== undefined && !isForeign(one));
  const isNested = rules.some(isNestedRule);
  if (candidate && (isNested || isDescribed(candidate, view))) return [{ dto: candidate }];
  // What a @Transform() makes of the value is its own affair.
  if (isNested && !hasTransform) throw new UnknownNestedTypeException(dto, name, container !== 'none');
  return [];
}

// Classes of the language itself (Object, Date, Map, Buffer, typed arrays, Symbol) describe no members.
function isForeign(type: Class): boolean {
  return type.name in globalThis && (globalThis as Record<string, unknown>)[type.name] === type;
}

function builtInType({ declared, design, swagger, view }: PropertyFacts, isHeld: boolean): JsonSchema {
  const type =
    declared && !isCollection(declared) ? declared : isHeld ? swagger?.type : (design ?? swagger?.type);
  if (TEXT_TYPES.has(type) && (declared === type || view.direction === 'output')) return { type: 'string' };
  return BUILT_IN_TYPES.get(type) ?? {};
}

/** Whether a Date is made of the text. `@IsDate()` is no reason to trust it: a DTO need not be validated where it nests. */
function holdsDate({ declared, design, swagger }: PropertyFacts): boolean {
  return [declared, design, swagger?.type].some((type) => (type as unknown) === Date);
}

function impliedTypeOf({ type, design, swagger }: PropertyFacts, nested: readonly DtoUse[], isHeld: boolean) {
  if (type) return {};
  const implied = isHeld ? swagger?.type : (design ?? swagger?.type);
  return implied && (implied === nested[0]?.dto || implied === (Date as unknown))
    ? { impliedType: implied }
    : {};
}

/**
 * class-validator compares entries by identity, so `uniqueItems` says the same only of entries that are no objects,
 * and become none. However that is, a list that it has to compare needs an end.
 */
function boundUnique(
  { rules, declared }: PropertyFacts,
  value: JsonSchema,
  element: JsonSchema,
  isNested: boolean,
): JsonSchema {
  if (!rules.some((rule) => ruleName(rule) === 'arrayUnique' && !rule.each)) return value;
  const { uniqueItems, ...rest } = value;
  const bounded = { ...rest, maxItems: value.maxItems ?? MAX_UNIQUE_ITEMS };
  const isExact = uniqueItems === true && !isNested && (declared as unknown) !== Date && isScalar(element);
  return isExact ? { ...bounded, uniqueItems } : bounded;
}

function isScalar({ type, enum: values, anyOf }: JsonSchema): boolean {
  if (type !== undefined) return SCALARS.has(type);
  if (Array.isArray(values)) return true;
  return Array.isArray(anyOf) && (anyOf as JsonSchema[]).every(isScalar);
}

import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import * as classValidator from 'class-validator';
import { getMetadataStorage, type MetadataStorage, type ValidationError } from 'class-validator';
import type { Class, Json } from './corpus/entry.js';

type Rule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** Names that every object inherits. */
export const RESERVED = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Where a fault is: the property of a class, or something inside its value. */
interface Place {
  readonly owner: Class;
  readonly property: string;
  readonly isInside: boolean;
  readonly value: unknown;
}

/**
 * Why a schema refused what class-validator took, worked out from the decorators and the value alone, without
 * asking the code that wrote the schema. For each fault the reasons that may explain it.
 */
export function reasonsOfStrictness(
  ajv: Ajv2020,
  schema: Json,
  errors: readonly ErrorObject[],
  raw: Json,
  instance: unknown,
): string[][] {
  return faultsOf(ajv, schema, errors, '').map((fault) => reasonsOf(fault, raw, instance));
}

interface Fault {
  readonly keyword: string;
  readonly path: string;
  readonly name?: string;
}

/** The faults that count: of the branches of a union only those of the one that was meant. */
function faultsOf(ajv: Ajv2020, root: Json, errors: readonly ErrorObject[], prefix: string): Fault[] {
  const unions = errors.filter(
    (error) =>
      error.keyword === 'anyOf' &&
      !errors.some(
        (other) => other.keyword === 'anyOf' && error.instancePath.startsWith(`${other.instancePath}/`),
      ),
  );
  const apart = errors.filter(
    ({ instancePath }) =>
      !unions.some(
        (union) => instancePath === union.instancePath || instancePath.startsWith(`${union.instancePath}/`),
      ),
  );
  const simple = apart
    .filter(({ keyword }) => keyword !== '$ref' && keyword !== 'allOf')
    .map(({ keyword, instancePath, params }): Fault => {
      const missing = params['missingProperty'] as string | undefined;
      const added = params['additionalProperty'] as string | undefined;
      const path = prefix + instancePath;
      return missing === undefined
        ? { keyword, path, ...(added === undefined ? {} : { name: added }) }
        : { keyword, path: `${path}/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}` };
    });
  return [...simple, ...unions.flatMap((union) => faultsOfUnion(ajv, root, union, prefix))];
}

function faultsOfUnion(ajv: Ajv2020, root: Json, union: ErrorObject, prefix: string): Fault[] {
  const path = prefix + union.instancePath;
  const branches = (union.schema as Json[]).filter((branch) => branch['type'] !== 'null');
  const meant = branches.filter((branch) => isMeant(resolve(root, branch), union.data));
  if (meant.length !== 1) return [{ keyword: 'anyOf', path }];
  const check = branchCheck(ajv, root, meant[0]!);
  return check(union.data) ? [] : faultsOf(ajv, root, check.errors ?? [], path);
}

const branchChecks = new WeakMap<Json, ValidateFunction>();

function branchCheck(ajv: Ajv2020, root: Json, branch: Json): ValidateFunction {
  const known = branchChecks.get(branch);
  if (known) return known;
  const check = ajv.compile({ ...branch, ...(root['$defs'] ? { $defs: root['$defs'] } : {}) });
  branchChecks.set(branch, check);
  return check;
}

function resolve(root: Json, branch: Json): Json {
  const name = (branch['$ref'] as string | undefined)?.replace('#/$defs/', '');
  return name === undefined ? branch : (root['$defs'] as Record<string, Json>)[name]!;
}

// A variant is meant by the one value of its discriminator; where there is none, the only branch is meant.
function isMeant(branch: Json, data: unknown): boolean {
  const properties = (branch['properties'] ?? {}) as Record<string, Json>;
  const required = (branch['required'] ?? []) as string[];
  const tags = Object.entries(properties).filter(
    ([name, member]) => required.includes(name) && (member['enum'] as unknown[] | undefined)?.length === 1,
  );
  if (tags.length === 0) return true;
  if (typeof data !== 'object' || data === null) return false;
  return tags.some(([name, member]) => (data as Json)[name] === (member['enum'] as unknown[])[0]);
}

function reasonsOf(fault: Fault, raw: Json, instance: unknown): string[] {
  if (fault.keyword === 'additionalProperties')
    return [RESERVED.has(fault.name ?? '') ? 'reserved-members' : 'unknown-members'];
  if (fault.keyword === 'propertyNames') return ['reserved-members'];
  const places = placesOf(fault, raw, instance).map((place) => ({ ...place, keyword: fault.keyword }));
  const [last, ...outer] = places.map(factsOf).reverse();
  if (!last) return [];
  const own = REASONS.filter(([, holds]) => holds(last)).map(([key]) => key);
  return [...own, ...outer.flatMap(outerReasons)];
}

/** What keeps class-validator from looking into a value at all. */
function outerReasons({ rules }: Facts): string[] {
  if (rules.some(isCondition)) return ['conditional-type'];
  return rules.some(({ type }) => type === 'nestedValidation') ? [] : ['declared-type', 'described-keywords'];
}

function factsOf(place: Place & { readonly keyword: string }): Facts {
  const { owner, property } = place;
  return {
    ...place,
    rules: rulesOf(owner, property),
    type: defaultMetadataStorage.findTypeMetadata(owner, property),
  };
}

interface Facts extends Place {
  readonly keyword: string;
  readonly rules: readonly Rule[];
  readonly type: ReturnType<typeof defaultMetadataStorage.findTypeMetadata> | undefined;
}

/** Everything that makes a schema stricter, with when it can be the reason of a fault. */
const REASONS: readonly (readonly [string, (facts: Facts) => boolean])[] = [
  [
    'transform',
    ({ owner, property }) =>
      defaultMetadataStorage.findTransformMetadatas(owner, property, TO_CLASS).length > 0,
  ],
  ['conditional-type', ({ rules }) => rules.some(isCondition)],
  [
    'optional-null',
    ({ value, isInside, rules }) =>
      value === null && !isInside && rules.some(({ name }) => name === 'isOptional'),
  ],
  [
    'each-of-one',
    ({ value, isInside, rules }) =>
      !isInside && value !== undefined && !Array.isArray(value) && rules.some(({ each }) => each),
  ],
  ['discriminator', ({ keyword, type }) => keyword === 'anyOf' && type?.options?.discriminator !== undefined],
  ['nested-object', ({ rules }) => rules.some(({ type }) => type === 'nestedValidation')],
  [
    'date-text',
    ({ value, owner, property, type }) => typeof value !== 'string' && isDate(owner, property, type),
  ],
  ['enum-names', ({ rules, value }) => rules.some((rule) => isNameOfEnum(rule, value))],
  [
    'variation-selectors',
    ({ keyword, value }) =>
      keyword === 'maxLength' && typeof value === 'string' && /[\ufe0e\ufe0f]/.test(value),
  ],
  [
    'pattern-code-points',
    ({ keyword, value }) =>
      keyword === 'pattern' && typeof value === 'string' && /[\ud800-\udfff]/.test(value),
  ],
  ['huge-multiples', ({ keyword, value }) => keyword === 'multipleOf' && Math.abs(Number(value)) >= 1e21],
  [
    'unique-size',
    ({ keyword, rules }) => keyword === 'maxItems' && !rules.some(({ name }) => name === 'arrayMaxSize'),
  ],
  [
    'empty-object',
    ({ keyword, rules }) =>
      keyword === 'minProperties' && rules.some(({ name }) => name === 'isNotEmptyObject'),
  ],
  [
    'custom-presence',
    ({ value, rules }) =>
      value === undefined && rules.length > 0 && rules.every(({ name }) => !BUILT_IN.has(name ?? '')),
  ],
  ['described-keywords', ({ owner, property, rules }) => isDescribed(owner, property, rules)],
  ['converted-type', ({ type }) => [Number, String, Boolean, Date].includes(classOf(type) as never)],
  [
    'declared-type',
    ({ owner, property, rules }) => !rules.some(saysType) && designOf(owner, property) !== Object,
  ],
];

const TO_CLASS = TransformationType.PLAIN_TO_CLASS;

/** The names that class-validator's own rules have. */
const BUILT_IN = new Set<unknown>(Object.values(classValidator).filter((value) => typeof value === 'string'));

function isCondition({ type, name }: Rule): boolean {
  return type === 'conditionalValidation' && name !== 'isOptional';
}

function classOf(type: Facts['type']): unknown {
  return type?.typeFunction?.({ newObject: {}, object: {}, property: '' });
}

/** Says whether a rule leaves no doubt about the type of a value. */
function saysType({ name, type }: Rule): boolean {
  const isSilent = [
    'isOptional',
    'isDefined',
    'isNotEmpty',
    'notEquals',
    'isNotIn',
    'isLatitude',
    'isLongitude',
  ].includes(name ?? '');
  return type === 'nestedValidation' || (BUILT_IN.has(name ?? '') && !isSilent);
}

function isDate(owner: Class, property: string, type: Facts['type']): boolean {
  return classOf(type) === Date || designOf(owner, property) === Date;
}

/** The properties on the way to a fault, from the outermost to the one that is at fault. */
function placesOf({ path }: Fault, raw: Json, instance: unknown): Place[] {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let [current, source]: unknown[] = [instance, raw];
  const places: Place[] = [];
  for (const step of steps) {
    source = (source as Json | undefined)?.[step];
    const isEntry = Array.isArray(current) || current instanceof Map || current instanceof Set;
    if (!isEntry && isInstance(current)) {
      const owner = current.constructor as Class;
      const property =
        defaultMetadataStorage.findExposeMetadataByCustomName(owner, step)?.propertyName ?? step;
      places.push({ owner, property, isInside: false, value: source });
      current = (current as unknown as Json)[property];
    } else {
      const present = places.pop();
      if (present) places.push({ ...present, isInside: true, value: source });
      current = entryOf(current, step);
    }
  }
  return places;
}

function entryOf(container: unknown, step: string): unknown {
  if (container instanceof Map) return container.get(step);
  if (container instanceof Set) return [...container][Number(step)];
  return (container as Json | undefined)?.[step];
}

function isInstance(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) !== Object.prototype;
}

function rulesOf(owner: Class, property: string): Rule[] {
  return getMetadataStorage()
    .getTargetValidationMetadatas(owner, '', true, false)
    .filter((rule) => rule.propertyName === property);
}

function designOf(owner: Class, property: string): unknown {
  return Reflect.getMetadata('design:type', owner.prototype as object, property);
}

function isNameOfEnum({ name, constraints }: Rule, value: unknown): boolean {
  if (name !== 'isEnum' || typeof value !== 'string') return false;
  return Object.values((constraints as Json[])[0] ?? {}).includes(value);
}

function isDescribed(owner: Class, property: string, rules: readonly Rule[]): boolean {
  const swagger: unknown = Reflect.getMetadata(
    'swagger/apiModelProperties',
    owner.prototype as object,
    property,
  );
  const plugin =
    (owner as unknown as { _OPENAPI_METADATA_FACTORY?: () => Json })._OPENAPI_METADATA_FACTORY?.() ?? {};
  return swagger !== undefined || property in plugin || rules.some(({ context }) => context !== undefined);
}

/** A rule by which class-validator refused what a schema took, with the names it may be listed under. */
export interface Refusing {
  readonly rule: string;
  readonly listedAs: readonly string[];
}

export function rulesThatRefused(errors: readonly ValidationError[]): Refusing[] {
  return errors.flatMap(({ target, property, constraints, children }) => {
    const own = Object.keys(constraints ?? {});
    const rules = target ? rulesOf(target.constructor as Class, property) : [];
    const depends = rules.some((rule) => isCondition(rule) || Boolean(rule.validateIf));
    const refusing = own.map((rule): Refusing => {
      const name = BUILT_IN.has(rule) ? rule : 'custom';
      return { rule, listedAs: depends ? [name, 'conditional'] : [name] };
    });
    return [...refusing, ...rulesThatRefused(children ?? [])];
  });
}

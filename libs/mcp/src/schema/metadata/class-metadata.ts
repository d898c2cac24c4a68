import { getMetadataStorage, MetadataStorage } from 'class-validator';
import { lineageOf } from './class-lineage.js';
import { type DtoView, viewKey } from './dto-view.js';
import type { Class } from '../json-schema.js';
import { enumValues } from './value-lists.js';

export { publishedName } from './transform-metadata.js';

/** One class-validator decorator on one property, as its storage keeps it. */
export type RuleMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

const known = new WeakMap<Class, Map<string, readonly RuleMetadata[]>>();

/**
 * Every rule class-validator would run on a class under a view, inherited and mapped ones included, and overridden
 * ones left out just as it leaves them out. Without groups it runs the rules of every group. Asked once for a class.
 */
export function rulesOf(dto: Class, view: DtoView = {}): readonly RuleMetadata[] {
  const views = known.get(dto) ?? new Map<string, readonly RuleMetadata[]>();
  known.set(dto, views);
  const { groups, strictGroups = false, always = false } = view;
  const key = viewKey({ groups: groups ?? [], strictGroups, always });
  let rules = views.get(key);
  if (!rules) {
    rules = storageOf(dto)
      .getTargetValidationMetadatas(dto, '', always, strictGroups, groups && [...groups])
      .filter(({ propertyName }) => typeof propertyName === 'string');
    views.set(key, rules);
  }
  return rules;
}

/** The rules of a class by property, in the order of its decorators. */
export function rulesByProperty(dto: Class, view: DtoView): Map<string, RuleMetadata[]> {
  const properties = new Map<string, RuleMetadata[]>();
  for (const rule of rulesOf(dto, view)) {
    const rules = properties.get(rule.propertyName);
    if (rules) rules.push(rule);
    else properties.set(rule.propertyName, [rule]);
  }
  return properties;
}

/**
 * The class the compiler wrote down for a property. `Object` says nothing, and neither does a property of the
 * class's own type: compilers differ on what they emit for both. Of an imported enum one writes the enum itself and
 * the other the type of its values, so both are read as the latter.
 */
export function designTypeOf(dto: Class, property: string): Class | undefined {
  const type: unknown = Reflect.getMetadata('design:type', dto.prototype as object, property);
  if (typeof type === 'object' && type !== null) return typeOfEnum(type);
  if (typeof type !== 'function' || type === Object || type === dto) return undefined;
  return type as Class;
}

/**
 * A storage with what concerns one class. The whole one looks through all classes of the process for each answer,
 * which for some thousand of them would take seconds at start.
 */
function storageOf(dto: Class): MetadataStorage {
  const whole = getMetadataStorage();
  const { validationMetadatas: byClass } = whole as unknown as { validationMetadatas: unknown };
  if (!(byClass instanceof Map)) return whole;
  const own = new MetadataStorage();
  for (const owner of lineageOf(dto)) {
    for (const rule of (byClass.get(owner) ?? []) as RuleMetadata[]) own.addValidationMetadata(rule);
  }
  return own;
}

function typeOfEnum(entity: object): Class | undefined {
  const types = new Set(enumValues(entity).map((value) => typeof value));
  if (types.size !== 1) return undefined;
  return ([...types][0] === 'string' ? String : [...types][0] === 'number' ? Number : undefined) as
    Class | undefined;
}

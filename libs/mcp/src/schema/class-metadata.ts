import { TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, type MetadataStorage } from 'class-validator';
import type { Class } from './json-schema.js';

/** One class-validator decorator on one property, as its storage keeps it. */
export type RuleMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** What `@Type()` says about a property. */
export type TypeMetadata = NonNullable<ReturnType<typeof defaultMetadataStorage.findTypeMetadata>>;

/**
 * Every rule class-validator would run on a class, inherited and mapped ones included. Called without groups, as
 * class-validator then runs the rules of every group.
 */
export function rulesOf(dto: Class): RuleMetadata[] {
  return getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
}

/** The decorated properties of a class with their rules: those of class-validator first, then @Type and @Expose. */
export function declaredProperties(dto: Class): Map<string, RuleMetadata[]> {
  const properties = new Map<string, RuleMetadata[]>();
  for (const rule of rulesOf(dto)) {
    const rules = properties.get(rule.propertyName);
    if (rules) rules.push(rule);
    else properties.set(rule.propertyName, [rule]);
  }
  for (const name of transformedProperties(dto)) {
    if (!properties.has(name)) properties.set(name, []);
  }
  const excluded = defaultMetadataStorage.getExcludedProperties(dto, TransformationType.PLAIN_TO_CLASS);
  for (const name of excluded) properties.delete(name);
  return properties;
}

/** Says whether any decorator of class-validator or class-transformer describes the class. */
export function isDecorated(dto: Class): boolean {
  return rulesOf(dto).length > 0 || transformedProperties(dto).length > 0;
}

/** The name a property has in JSON: its own, or the one @Expose gives it. */
export function publishedName(dto: Class, property: string): string {
  return defaultMetadataStorage.findExposeMetadata(dto, property)?.options?.name ?? property;
}

/** What @Type() says about a property, inherited included. */
export function typeMetadataOf(dto: Class, property: string): TypeMetadata | undefined {
  return defaultMetadataStorage.findTypeMetadata(dto, property) as TypeMetadata | undefined;
}

/** Says whether a @Transform() takes part in filling a property from JSON. */
export function hasTransform(dto: Class, property: string): boolean {
  const { PLAIN_TO_CLASS } = TransformationType;
  return defaultMetadataStorage.findTransformMetadatas(dto, property, PLAIN_TO_CLASS).length > 0;
}

/**
 * The class the compiler wrote down for a property. `Object` says nothing, and neither does a property of the
 * class's own type: compilers differ on what they emit for both.
 */
export function designTypeOf(dto: Class, property: string): Class | undefined {
  const type: unknown = Reflect.getMetadata('design:type', dto.prototype as object, property);
  if (typeof type !== 'function' || type === Object || type === dto) return undefined;
  return type as Class;
}

function transformedProperties(dto: Class): string[] {
  const names = defaultMetadataStorage
    .getExposedProperties(dto, TransformationType.PLAIN_TO_CLASS)
    .filter((name) => typeof name === 'string');
  for (const owner of lineage(dto)) names.push(...typedProperties(owner));
  return [...new Set(names)];
}

function lineage(dto: Class): Class[] {
  const classes: Class[] = [];
  let current: unknown = dto;
  while (typeof current === 'function' && current !== Function.prototype) {
    classes.unshift(current as Class);
    current = Object.getPrototypeOf(current);
  }
  return classes;
}

// The storage has no public way to list what carries @Type; without it such a property would be refused as unknown.
function typedProperties(owner: Class): string[] {
  const { _typeMetadatas: byClass } = defaultMetadataStorage as unknown as {
    _typeMetadatas?: Map<Class, Map<string, unknown>>;
  };
  return [...(byClass?.get(owner)?.keys() ?? [])];
}

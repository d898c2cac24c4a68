import type { TypeMetadata } from 'class-transformer';
import { accessorOf } from './class-lineage.js';
import { designTypeOf, type RuleMetadata, rulesByProperty } from './class-metadata.js';
import type { DtoView } from './dto-view.js';
import type { Class } from '../json-schema.js';
import { type OwnAnnotations, ownAnnotations } from './own-annotations.js';
import { UnresolvedTypeException } from '../schema.exception.js';
import { type SwaggerProperty, swaggerProperties } from './swagger-metadata.js';
import {
  hasTransform,
  isExposed,
  isLetThrough,
  transformedProperties,
  typeMetadataOf,
} from './transform-metadata.js';

/** Everything the decorators and the compiler say about one property. */
export interface PropertyFacts {
  readonly dto: Class;
  readonly name: string;
  readonly view: DtoView;
  readonly rules: readonly RuleMetadata[];
  /** The class the compiler wrote down. */
  readonly design: Class | undefined;
  /** The class @Type() gives, and the rest of what it says. */
  readonly declared: Class | undefined;
  readonly type: TypeMetadata | undefined;
  readonly swagger: SwaggerProperty | undefined;
  readonly own: OwnAnnotations;
  readonly hasTransform: boolean;
  /** An accessor or a method of the class, which is no member of an instance. */
  readonly isComputed: boolean;
}

/** The properties of a class that pass in the direction of the view, in the order they are published. */
export function propertiesOf(dto: Class, view: DtoView): PropertyFacts[] {
  const rules = rulesByProperty(dto, view);
  const swagger = swaggerProperties(dto);
  const described = view.whitelist ? [] : [...transformedProperties(dto, view), ...swagger.keys()];
  const names = new Set([...rules.keys(), ...described]);
  return [...names]
    .filter((name) => passes(dto, name, view))
    .map((name) => factsOf(dto, name, view, rules.get(name) ?? [], swagger.get(name)));
}

/** Says whether anything describes a class. */
export function isDescribed(dto: Class, view: DtoView): boolean {
  return (
    rulesByProperty(dto, view).size > 0 ||
    transformedProperties(dto, view).length > 0 ||
    swaggerProperties(dto).size > 0
  );
}

// class-transformer sets no member that the class computes itself.
function passes(dto: Class, name: string, view: DtoView): boolean {
  if (!isLetThrough(dto, name, view)) return false;
  const accessor = accessorOf(dto, name);
  return (
    !accessor || accessor.set !== undefined || (view.direction === 'output' && accessor.get !== undefined)
  );
}

function factsOf(
  dto: Class,
  name: string,
  view: DtoView,
  rules: readonly RuleMetadata[],
  swagger: SwaggerProperty | undefined,
): PropertyFacts {
  const type = typeMetadataOf(dto, name);
  return {
    dto,
    name,
    view,
    rules,
    design: designTypeOf(dto, name),
    declared: type ? declaredType(dto, name, type) : undefined,
    type,
    swagger,
    own: ownAnnotations(rules),
    hasTransform: hasTransform(dto, name, view),
    isComputed: accessorOf(dto, name) !== undefined && !isExposed(dto, name, view),
  };
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

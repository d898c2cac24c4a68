import { TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { lineageOf } from './class-lineage.js';
import type { DtoView } from './dto-view.js';
import type { Class } from '../json-schema.js';

/** The properties that carry @Type() or @Expose(), inherited ones included. */
export function transformedProperties(dto: Class, view: DtoView): string[] {
  const exposed = defaultMetadataStorage.getExposedProperties(dto, transformationOf(view));
  const names = [
    ...exposed.filter((name) => typeof name === 'string'),
    ...lineageOf(dto).flatMap(typedProperties),
  ];
  return [...new Set(names)];
}

/**
 * Says whether class-transformer lets a property through. Read off the way it chooses keys when it is given no
 * version: `since` and `until` change nothing, and what is exposed for groups counts for these alone.
 */
export function isLetThrough(dto: Class, property: string, view: DtoView): boolean {
  const transformation = transformationOf(view);
  // Coming in, it looks at names as they are sent; going out, at those of the class.
  const key = view.direction === 'output' ? property : publishedName(dto, property, view);
  const isCandidate =
    (defaultMetadataStorage.getStrategy(dto) !== 'excludeAll' && !view.exposedOnly) ||
    defaultMetadataStorage.getExposedProperties(dto, transformation).includes(property);
  if (!isCandidate || defaultMetadataStorage.getExcludedProperties(dto, transformation).includes(key))
    return false;
  const groups = defaultMetadataStorage.findExposeMetadata(dto, key)?.options?.groups;
  const { exposeGroups } = view;
  if (!exposeGroups?.length) return !groups?.length;
  return !groups || groups.some((group) => exposeGroups.includes(group));
}

/** Says whether `@Expose()` makes a property pass that is no own member of the object, such as an accessor. */
export function isExposed(dto: Class, property: string, view: DtoView): boolean {
  return defaultMetadataStorage.getExposedProperties(dto, transformationOf(view)).includes(property);
}

/** The name a property has in JSON: its own, or the one @Expose gives it. */
export function publishedName(dto: Class, property: string, view: DtoView = {}): string {
  const options = defaultMetadataStorage.findExposeMetadata(dto, property)?.options;
  // Going out, the name counts whichever way it is exposed; coming in, the property's own name works as well.
  const isOther =
    view.direction !== 'output' && options?.toPlainOnly === true && options.toClassOnly !== true;
  return (isOther ? undefined : options?.name) ?? property;
}

/** What @Type() says about a property, inherited included. */
export function typeMetadataOf(dto: Class, property: string): TypeMetadata | undefined {
  return defaultMetadataStorage.findTypeMetadata(dto, property) as TypeMetadata | undefined;
}

/** Says whether a @Transform() takes part in reading or writing a property. */
export function hasTransform(dto: Class, property: string, view: DtoView): boolean {
  return defaultMetadataStorage.findTransformMetadatas(dto, property, transformationOf(view)).length > 0;
}

function transformationOf({ direction }: DtoView): TransformationType {
  return direction === 'output' ? TransformationType.CLASS_TO_PLAIN : TransformationType.PLAIN_TO_CLASS;
}

// The storage has no public way to list what carries @Type; without it such a property would be refused as unknown.
function typedProperties(owner: Class): string[] {
  const { _typeMetadatas: byClass } = defaultMetadataStorage as unknown as {
    _typeMetadatas?: Map<Class, Map<string, unknown>>;
  };
  return [...(byClass?.get(owner)?.keys() ?? [])];
}

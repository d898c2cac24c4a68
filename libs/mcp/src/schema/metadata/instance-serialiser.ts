import { TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { TransformOperationExecutor } from 'class-transformer/cjs/TransformOperationExecutor.js';
import type { Class } from '../json-schema.js';

/** The walk over a value that a serialiser is part of. */
export interface SurroundingWalk {
  /** Writes a value in which class-transformer has no say. */
  write(value: object): unknown;
  /** Refuses a value that is inside itself, or too deep. */
  enter(value: object): void;
  leave(): void;
}

const verdicts = new WeakMap<object, boolean>();

/**
 * Whether class-transformer has a say in how instances with this prototype are written: their class or one
 * above it has @Exclude, @Expose, @Transform or @Type.
 */
export function isSerialised(prototype: object): boolean {
  let verdict = verdicts.get(prototype);
  if (verdict === undefined) {
    verdict = hasMetadata(prototype);
    verdicts.set(prototype, verdict);
  }
  return verdict;
}

/**
 * `instanceToPlain`, but for what lies inside an instance and has no decorators of class-transformer: that is
 * written by the surrounding walk, which knows `toJSON`, bytes, Maps and cycles.
 */
export interface InstanceSerialiser {
  /** A plain object, whose members are not yet plain where class-transformer leaves them as they are. */
  serialise(instance: object, prototype: object): unknown;
}

export function instanceSerialiser(walk: SurroundingWalk): InstanceSerialiser {
  return new SerialisingExecutor(walk);
}

/** Not exported: its base class has no public types, and published declarations would name it. */
class SerialisingExecutor extends TransformOperationExecutor implements InstanceSerialiser {
  constructor(private readonly walk: SurroundingWalk) {
    super(TransformationType.CLASS_TO_PLAIN, { exposeUnsetFields: true });
  }

  serialise(instance: object, prototype: object): unknown {
    // What the prototype says, as an own member named "constructor" is nothing but data.
    return super.transform(undefined, instance, prototype.constructor, NO_TYPE, false);
  }

  override transform(
    source: unknown,
    value: unknown,
    type: Class | TypeMetadata,
    arrayType: Class,
    isMap: boolean,
    level?: number,
  ): unknown {
    if (typeof value !== 'object' || value === null)
      return super.transform(source, value, type, arrayType, isMap, level);
    const prototype = Object.getPrototypeOf(value) as object | null;
    const isOwn = prototype !== null && isSerialised(prototype);
    if (!isOwn && !isDescribed(type)) return this.walk.write(value);
    this.walk.enter(value);
    const plain: unknown = super.transform(source, value, type, arrayType, isMap, level);
    this.walk.leave();
    return plain;
  }
}

/** `undefined`, which the executor takes wherever its types ask for a class. */
const NO_TYPE = undefined as unknown as Class;

/** Whether @Type gives a value a class that says how it is written, also where the value is no instance of it. */
function isDescribed(type: Class | TypeMetadata | undefined): boolean {
  if (typeof type !== 'function') return type !== undefined;
  return (
    typeof type.prototype === 'object' && type.prototype !== null && isSerialised(type.prototype as object)
  );
}

// The storage has no public way to ask whether a class has any decorator of a kind, with or without a property.
function hasMetadata(prototype: object): boolean {
  const { _excludeMetadatas, _exposeMetadatas, _transformMetadatas, _typeMetadatas } =
    defaultMetadataStorage as unknown as Record<string, Map<unknown, unknown> | undefined>;
  const kinds = [_excludeMetadatas, _exposeMetadatas, _transformMetadatas, _typeMetadatas];
  let current: unknown = prototype.constructor;
  while (typeof current === 'function' && current !== Function.prototype) {
    if (kinds.some((classes) => classes?.has(current))) return true;
    current = Object.getPrototypeOf(current);
  }
  return false;
}

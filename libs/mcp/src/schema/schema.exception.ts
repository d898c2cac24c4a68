import { MAX_CLASSES, MAX_NESTING } from './schema-bounds.js';
import type { Class } from './json-schema.js';

/**
 * A DTO that can't be published as a schema. The message names the class and the property, what is wrong,
 * and what to write.
 */
export class SchemaException extends Error {
  constructor(dto: Class, property: string | undefined, problem: string) {
    super(`${dto.name || '(anonymous class)'}${property === undefined ? '' : `.${property}`}: ${problem}`);
    this.name = new.target.name;
  }
}

/** `@ValidateNested()` on a property whose class is only known to the compiler. */
export class UnknownNestedTypeException extends SchemaException {
  constructor(dto: Class, property: string, isArray: boolean) {
    const subject = isArray ? 'the class of the array elements' : 'the nested class';
    super(
      dto,
      property,
      `${subject} is not known at run time; add @Type(() => ItemDto), with your class, next to @ValidateNested()`,
    );
  }
}

/** A `@Type()` function that throws or gives no class where one is needed, mostly by a circular import. */
export class UnresolvedTypeException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(
      dto,
      property,
      '@Type() gave no class; return it from the function, as in @Type(() => ItemDto), and check that the two files do not import each other in a way that leaves it undefined',
    );
  }
}

/** `@IsDate()` on a property that JSON can never fill, as nothing turns its text into a Date. */
export class DateWithoutTypeException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(
      dto,
      property,
      '@IsDate() refuses every JSON value here; add @Type(() => Date), or use @IsDateString()',
    );
  }
}

/** A property named like a member that every object inherits and that is never read from arguments. */
export class ReservedPropertyException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(dto, property, 'this name is never read from arguments; rename the property');
  }
}

/** A DTO graph too deep or too large to publish. */
export class SchemaTooLargeException extends SchemaException {
  constructor(dto: Class, reason: 'depth' | 'classes') {
    super(
      dto,
      undefined,
      reason === 'depth'
        ? `its DTOs nest deeper than ${MAX_NESTING} classes; flatten them`
        : `its DTOs reach more than ${MAX_CLASSES} classes; split the tool or take part of it as @IsObject()`,
    );
  }
}

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

/** A date rule on a property that JSON can never fill, as nothing turns its text into a Date. */
export class DateWithoutTypeException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(
      dto,
      property,
      '@IsDate() refuses every JSON value here; add @Type(() => Date), or use @IsDateString()',
    );
  }
}

/** Rules of which no value meets all. */
export class ContradictoryRulesException extends SchemaException {
  constructor(dto: Class, property: string, [one, other]: readonly [string, string?], reason: string) {
    super(
      dto,
      property,
      other === undefined
        ? `${one} contradicts itself: ${reason}; correct it`
        : `${one} and ${one === other ? 'another one' : other} exclude each other: ${reason}; correct one of them, or leave it out`,
    );
  }
}

/** A `Map` or `Set` that class-transformer is not told to make, so that the handler would get something else. */
export class CollectionWithoutTypeException extends SchemaException {
  constructor(dto: Class, property: string, collection: 'Map' | 'Set') {
    const given = collection === 'Map' ? 'a plain object' : 'an array';
    super(
      dto,
      property,
      `the handler would be given ${given} and no ${collection}; add @Type(() => String), with the class of the entries`,
    );
  }
}

/** A rule for arrays on a `Set`, which class-validator never takes for one. */
export class ArrayRuleOnSetException extends SchemaException {
  constructor(dto: Class, property: string, rule: string) {
    super(
      dto,
      property,
      `the rule ${rule} refuses every Set; take an array, or leave the rule out and use { each: true } ones`,
    );
  }
}

/** A property named like a member that every object inherits and that is never read from arguments. */
export class ReservedPropertyException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(dto, property, 'this name is never read from arguments; rename the property');
  }
}

/** Two properties that `@Expose()` gives the same name in JSON. */
export class SharedNameException extends SchemaException {
  constructor(dto: Class, property: string, other: string, name: string) {
    super(
      dto,
      property,
      `it is published as "${name}", and so is ${other}; give one of them another name by @Expose({ name })`,
    );
  }
}

/** `@Exclude()` on a property without which the rules refuse every call. */
export class ExcludedPropertyException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(
      dto,
      property,
      '@Exclude(), or an @Expose() for other groups, keeps it from being read, and its rules refuse its absence; write @Exclude({ toPlainOnly: true }), or add @IsOptional()',
    );
  }
}

/** A constructor that fails on the empty call class-transformer makes. */
export class ConstructorException extends SchemaException {
  constructor(dto: Class) {
    super(
      dto,
      undefined,
      'its constructor throws when it is called without arguments, as class-transformer calls it; let it take none',
    );
  }
}

/** A variant whose rules ask for the member that tells variants apart, which class-transformer takes off. */
export class RemovedDiscriminatorException extends SchemaException {
  constructor(dto: Class, property: string) {
    super(
      dto,
      property,
      'class-transformer removes the discriminator before this rule sees it; add keepDiscriminatorProperty: true to the options of @Type(), or take the rule off',
    );
  }
}

/** A class that says nothing about itself, as the form of a result: everything would be taken out of it. */
export class EmptyOutputException extends SchemaException {
  constructor(dto: Class) {
    super(
      dto,
      undefined,
      'it has no known property, so every member of the result would be left out; decorate what is to be sent with @Expose(), @ApiProperty(), @McpProperty() or a rule of class-validator',
    );
  }
}

/** A default that is only stated, while the handler would be given another value or none. */
export class StatedDefaultException extends SchemaException {
  constructor(dto: Class, property: string, stated: unknown) {
    super(
      dto,
      property,
      `@McpProperty() states the default ${JSON.stringify(stated)}, and nothing gives the property this value; write \`${property} = ${JSON.stringify(stated)}\``,
    );
  }
}

/** `enumTitles` that fit no value. */
export class EnumTitlesException extends SchemaException {
  constructor(dto: Class, property: string, value: string | undefined) {
    super(
      dto,
      property,
      value === undefined
        ? 'enumTitles name values, and the property has no list of them; add @IsEnum() or @IsIn()'
        : `enumTitles name ${JSON.stringify(value)}, which is none of the values; use the values themselves, not the names of the enum`,
    );
  }
}

/** `@McpProperty({ schema })` that is no JSON Schema. */
export class InvalidFragmentException extends SchemaException {
  constructor(dto: Class, property: string, fault: string) {
    super(dto, property, `the schema of @McpProperty() is no JSON Schema (2020-12): ${fault}; correct it`);
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

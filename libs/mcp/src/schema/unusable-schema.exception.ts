/** A schema that is no DTO class and can't be used. The message says what is wrong and what to write. */
export class UnusableSchemaException extends Error {
  constructor(problem: string, options?: { cause?: unknown }) {
    super(problem, options);
    this.name = new.target.name;
  }
}

/** What was given as a schema is none of the three kinds. */
export class UnknownSchemaKindException extends UnusableSchemaException {
  constructor(description: string) {
    super(
      `${description} is no schema; give a DTO class, a Standard Schema (zod 4, valibot, arktype) or a JSON Schema object`,
    );
  }
}

/** An object of Standard Schemas by name, which is none itself. */
export class UnwrappedSchemasException extends UnusableSchemaException {
  constructor(vendor: string) {
    const wrapped = WRAPPED[vendor] ?? 'as one object schema of its library';
    super(`an object whose members are schemas is no schema itself; wrap it: ${wrapped}`);
  }
}

const WRAPPED: Readonly<Record<string, string>> = {
  zod: 'z.object({ … })',
  valibot: 'v.object({ … })',
  arktype: 'type({ … })',
};

/** A Standard Schema of a library that offers no JSON Schema for it. */
export class NoJsonSchemaException extends UnusableSchemaException {
  constructor(vendor: string) {
    super(
      vendor === 'zod'
        ? 'this zod schema is of version 3, which has no JSON Schema; import z from zod 4 (or from "zod/v4")'
        : `the schema of "${vendor}" has no JSON Schema; use a version of the library with the Standard JSON Schema interface (~standard.jsonSchema), or write the JSON Schema yourself`,
    );
  }
}

/** A Standard Schema whose library keeps its converter in a package that is not installed. */
export class MissingConverterException extends UnusableSchemaException {
  constructor(vendor: string, packageName: string) {
    super(
      `the JSON Schema of a ${vendor} schema is made by the package ${packageName}, which is not installed; run: npm install ${packageName}`,
    );
  }
}

/** A Standard Schema with a type that its library can't write as JSON Schema. */
export class UnrepresentableSchemaException extends UnusableSchemaException {
  /** @param place where the type stands, if the library tells */
  constructor(vendor: string, side: 'input' | 'output', cause: unknown, place?: string) {
    const mend =
      side === 'input'
        ? 'take what JSON has (a date as text) and convert it in the schema'
        : 'end with a type that JSON has, in zod by .transform(…).pipe(z.string()), in valibot by a schema after v.transform()';
    super(
      `the ${side} of the ${vendor} schema can't be written as JSON Schema: ${messageOf(cause)}${place === undefined ? '' : ` (at ${place})`}; ${mend}`,
      {
        cause,
      },
    );
  }
}

/** A schema of arguments that is not an object at its root. */
export class SchemaRootException extends UnusableSchemaException {
  constructor(found: string, mend: string) {
    super(`arguments are an object, but the schema's root ${found}; ${mend}`);
  }
}

/** A JSON Schema of a dialect that is not known. */
export class UnknownDialectException extends UnusableSchemaException {
  constructor(dialect: unknown, known: readonly string[]) {
    super(`the dialect "$schema": ${JSON.stringify(dialect)} is not known; known are ${known.join(' and ')}`);
  }
}

/** A JSON Schema that its own meta-schema or the compiler refuses. */
export class InvalidSchemaException extends UnusableSchemaException {
  constructor(problem: string, cause?: unknown) {
    super(`the JSON Schema is not valid: ${problem}`, { cause });
  }
}

/** A keyword `x-mcp-header` that no client could follow. */
export class MirroredArgumentException extends UnusableSchemaException {
  /** @param argument the argument that has it, as a path */
  constructor(argument: string, problem: string) {
    super(`${argument}: ${problem}`);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

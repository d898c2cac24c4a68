import { type ClassTransformOptions, plainToInstance, type TargetMap } from 'class-transformer';
import { validate, type ValidatorOptions } from 'class-validator';
import { guardArguments } from './argument-guard.js';
import type { ArgumentsContract } from './arguments.contract.js';
import { rulesOf } from './class-metadata.js';
import type { DtoGraph } from './dto-graph.js';
import { dtoSchemaPlan } from './dto-schema.factory.js';
import { schemaIssues, validationIssues } from './issue-messages.js';
import type { Class, JsonSchema } from './json-schema.js';
import { compileSchema, type SchemaCheck } from './schema-compiler.js';

const VALIDATOR_OPTIONS: ValidatorOptions = {
  whitelist: false,
  // A nested class without decorators is no error of the caller; its members are the schema's to refuse.
  forbidUnknownValues: false,
  // The target is only read for the names its class publishes; the value is never shown.
  validationError: { target: true, value: false },
};

const contracts = new WeakMap<Class, ArgumentsContract>();

/** The contract of a DTO class, once per class. Throws a `SchemaException` for a DTO that can't be published. */
export function dtoContract(dto: Class): ArgumentsContract {
  let contract = contracts.get(dto);
  if (!contract) {
    contract = new DtoContract(dto);
    contracts.set(dto, contract);
  }
  return contract;
}

class DtoContract implements ArgumentsContract {
  readonly schema: JsonSchema;
  private readonly transformOptions: ClassTransformOptions;
  private readonly hasRules: boolean;
  private readonly mutatesInput: boolean;
  private check: SchemaCheck | undefined;

  constructor(private readonly dto: Class) {
    const { schema, graph } = dtoSchemaPlan(dto);
    this.schema = schema;
    this.hasRules = rulesOf(dto).length > 0;
    this.mutatesInput = [...graph.values()].flat().some(({ shape }) => shape.isDiscriminated);
    this.transformOptions = {
      targetMaps: impliedTypes(graph),
      // Without this a missing member under @Expose() would overwrite its initialiser with undefined.
      exposeDefaultValues: true,
    };
  }

  checkRaw(raw: Record<string, unknown>): string[] | Promise<string[]> {
    return this.check ? judge(this.check, raw) : this.checkFirst(raw);
  }

  async instantiate(raw: Record<string, unknown>): Promise<{ value: object } | { issues: string[] }> {
    // class-transformer deletes the member that tells variants apart from what it reads.
    const source: unknown = this.mutatesInput ? JSON.parse(JSON.stringify(raw)) : raw;
    const value = plainToInstance(this.dto as new () => object, source, this.transformOptions);
    if (!this.hasRules) return { value };
    const errors = await validate(value, VALIDATOR_OPTIONS);
    return errors.length === 0 ? { value } : { issues: validationIssues(errors) };
  }

  private async checkFirst(raw: Record<string, unknown>): Promise<string[]> {
    const check = await compileSchema(this.schema);
    this.check ??= check;
    return judge(this.check, raw);
  }
}

function judge(check: SchemaCheck, raw: unknown): string[] {
  const fault = guardArguments(raw);
  if (fault !== undefined) return [fault];
  const errors = check(raw);
  return errors === null ? [] : schemaIssues(errors);
}

/** The nested classes and dates that only their declared types name, in the form class-transformer takes. */
function impliedTypes(graph: DtoGraph): TargetMap[] {
  return [...graph].flatMap(([target, members]) => {
    // Without a prototype, so that a member named like an inherited one is not taken for an entry.
    const properties = Object.create(null) as Record<string, Class>;
    for (const { name, shape } of members) if (shape.impliedType) properties[name] = shape.impliedType;
    return Object.keys(properties).length === 0 ? [] : [{ target, properties }];
  });
}

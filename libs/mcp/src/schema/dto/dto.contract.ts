import { type ClassTransformOptions, plainToInstance, type TargetMap } from 'class-transformer';
import { validate, type ValidationError, type ValidatorOptions } from 'class-validator';
import type { ArgumentsContract, ContractOptions } from '../arguments.contract.js';
import { builtInFaults } from './built-in-rules.js';
import { rulesOf } from '../metadata/class-metadata.js';
import type { DtoGraph } from './dto-graph.js';
import { dtoSchemaPlan } from './dto-schema.factory.js';
import { type DtoView, viewKey } from '../metadata/dto-view.js';
import { validationIssues } from '../messages/issue-messages.js';
import { type Class, freezeSchema, type JsonSchema } from '../json-schema.js';
import { assertOwnFragments, type OwnFragment } from './own-fragments.js';
import { InvalidDates } from './invalid-dates.js';
import { LazyCheck } from '../check/schema-check.js';
import { dropUnknown, openObjects } from '../walk/unknown-members.js';

type Raw = Record<string, unknown>;

const contracts = new WeakMap<Class, Map<string, ArgumentsContract>>();

/** The contract of a DTO class, once per class and options. Throws a `SchemaException` for one that can't be published. */
export function dtoContract(dto: Class, options: ContractOptions = {}): ArgumentsContract {
  const { unknownMembers = 'refuse', view = {} } = options;
  const made = contracts.get(dto) ?? new Map<string, ArgumentsContract>();
  contracts.set(dto, made);
  const key = unknownMembers + viewKey(view);
  let contract = made.get(key);
  if (!contract) made.set(key, (contract = new DtoContract(dto, unknownMembers, view)));
  return contract;
}

class DtoContract implements ArgumentsContract {
  readonly schema: JsonSchema;
  readonly withoutUnknown?: (raw: Raw) => Raw;
  private readonly transformOptions: ClassTransformOptions;
  private readonly validatorOptions: ValidatorOptions;
  private readonly ownFragments: readonly OwnFragment[];
  private readonly hasRules: boolean;
  private readonly mutatesInput: boolean;
  private readonly invalidDates: InvalidDates | undefined;
  private readonly check: LazyCheck;

  constructor(
    readonly dto: Class,
    unknownMembers: 'refuse' | 'drop',
    private readonly view: DtoView,
  ) {
    const { schema, graph, ownFragments } = dtoSchemaPlan(dto, view);
    this.schema = unknownMembers === 'drop' ? freezeSchema(openObjects(schema)) : schema;
    // Unknown to the closed schema, which also judges what is left; the published one knows no such thing.
    if (unknownMembers === 'drop') this.withoutUnknown = (raw) => dropUnknown(schema, raw) as Raw;
    this.check = new LazyCheck(schema);
    this.ownFragments = ownFragments;
    this.hasRules = rulesOf(dto, view).length > 0;
    this.mutatesInput = graph.nodes.some(({ members }) => members.some(({ shape }) => shape.isMutated));
    this.invalidDates = InvalidDates.of(graph);
    this.validatorOptions = validatorOptions(view);
    this.transformOptions = {
      targetMaps: impliedTypes(graph),
      // Without this a missing member under @Expose() would overwrite its initialiser with undefined.
      exposeDefaultValues: true,
    };
  }

  /** Only what was written by hand can be unsound; the schema itself is compiled by the first call. */
  prepare(): void | Promise<void> {
    return this.ownFragments.length === 0 ? undefined : assertOwnFragments(this.ownFragments);
  }

  checkRaw(raw: Raw): readonly string[] | Promise<readonly string[]> {
    return this.check.ofArguments(raw);
  }

  async instantiate(raw: Raw): Promise<{ value: object } | { issues: string[] }> {
    // class-transformer deletes the member that tells variants apart from what it reads.
    const source: unknown = this.mutatesInput ? copyOf(raw) : raw;
    const value = plainToInstance(this.dto as new () => object, source, this.transformOptions);
    const dates = this.invalidDates?.in(value) ?? [];
    const errors = this.hasRules ? await this.validate(value) : [];
    return errors.length + dates.length === 0 ? { value } : { issues: validationIssues(errors, dates) };
  }

  private async validate(value: object): Promise<ValidationError[]> {
    try {
      return await validate(value, this.validatorOptions);
    } catch (error) {
      const faults = builtInFaults(value, this.view);
      if (faults.length === 0) throw error;
      return faults;
    }
  }
}

function validatorOptions({ groups, strictGroups, always }: DtoView): ValidatorOptions {
  return {
    whitelist: false,
    // A nested class without decorators is no error of the caller; its members are the schema's to refuse.
    forbidUnknownValues: false,
    // The target is only read for the names its class publishes; the value is never shown.
    validationError: { target: true, value: false },
    ...(groups ? { groups: [...groups] } : {}),
    ...(strictGroups === undefined ? {} : { strictGroups }),
    ...(always === undefined ? {} : { always }),
  };
}

// Unlike a way over text it keeps numbers too large for JavaScript, and unlike structuredClone() the realm of the objects.
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? value.map(copyOf)
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

/** The nested classes and dates that only their declared types name, in the form class-transformer takes. */
function impliedTypes({ nodes }: DtoGraph): TargetMap[] {
  return nodes.flatMap(({ dto: target, members }) => {
    // Without a prototype, so that a member named like an inherited one is not taken for an entry.
    const properties = Object.create(null) as Record<string, Class>;
    for (const { name, shape } of members) if (shape.impliedType) properties[name] = shape.impliedType;
    return Object.keys(properties).length === 0 ? [] : [{ target, properties }];
  });
}

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { plainToInstance } from 'class-transformer';
import { validate, ValidationError } from 'class-validator';
import type { ArgumentsContract } from '../../libs/mcp/src/schema/arguments.contract.js';
import type { CorpusEntry, Json } from './corpus/entry.js';
import { copyOf } from './values.js';

/** What stands for a rule where class-transformer or class-validator throws. */
export const CRASH = 'threw';

/** An ajv of the tests' own, as strict as it can be, that knows the one keyword that is ours. */
export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    // Stands on types that a sibling keyword or the definition it refers to gives.
    strictTypes: false,
    strictRequired: false,
    validateFormats: false,
    // JSON has numbers of any size; one beyond those of JavaScript is read as infinite, and is a number still.
    strictNumbers: false,
    validateSchema: true,
    addUsedSchema: false,
    allErrors: true,
    verbose: true,
  });
  ajv.addKeyword({ keyword: 'enumNames', metaSchema: { type: 'array', items: { type: 'string' } } });
  return ajv;
}

/** What one judge says: nothing when it accepts. */
export interface Verdicts {
  readonly schema: readonly ErrorObject[];
  readonly call: readonly string[];
  readonly validator: readonly ValidationError[];
  /** What class-transformer makes of the arguments by itself. */
  readonly instance: unknown;
}

/** The three judges of one DTO. */
export class Bench {
  private readonly check: ValidateFunction;

  constructor(
    private readonly entry: CorpusEntry,
    readonly contract: ArgumentsContract,
    ajv: Ajv2020,
  ) {
    this.check = ajv.compile(contract.schema);
  }

  async judge(raw: Json): Promise<Verdicts> {
    const schema = this.check(copyOf(raw)) ? [] : [...(this.check.errors ?? [])];
    const call = await this.call(raw);
    const { instance, errors } = await this.validator(raw);
    return { schema, call, validator: errors, instance };
  }

  // Frozen, as a call has to leave alone what it was given.
  private async call(raw: Json): Promise<readonly string[]> {
    const given = deepFreeze(copyOf(raw));
    const issues = await this.contract.checkRaw(given);
    if (issues.length > 0) return issues;
    const made = await this.contract.instantiate(given);
    if (!('issues' in made)) return [];
    if (made.issues.length === 0) throw new Error('refused without a reason');
    return made.issues;
  }

  // As Nest's own ValidationPipe has it: what no class describes is no error in itself.
  private async validator(raw: Json): Promise<{ instance: unknown; errors: ValidationError[] }> {
    const { dto, assuming } = this.entry;
    try {
      const instance = plainToInstance(dto as new () => object, copyOf(raw), assuming);
      const errors = await validate(instance, { forbidUnknownValues: false });
      // A call refuses every Date that is none, as if each had the rule that says so.
      const isDateless = errors.length === 0 && hasInvalidDate(instance);
      return { instance, errors: isDateless ? [failed('isDate')] : errors };
    } catch {
      // Either of the two stumbled over the value, so it does not get through.
      return { instance: undefined, errors: [failed(CRASH)] };
    }
  }
}

function failed(rule: string): ValidationError {
  return Object.assign(new ValidationError(), { property: '', constraints: { [rule]: 'failed' } });
}

function hasInvalidDate(value: unknown): boolean {
  if (value instanceof Date) return Number.isNaN(value.getTime());
  if (value instanceof Map || value instanceof Set) return [...value.values()].some(hasInvalidDate);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInvalidDate);
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

import type { _ as CodeTemplate, CodeKeywordDefinition, ErrorObject, KeywordCxt } from 'ajv';
import { grouping } from './grouped-errors.js';

/** Keywords that judge a value, or what is in it, by schemas that it need not fit. */
export const BRANCHING = ['anyOf', 'oneOf', 'if', 'not', 'contains', 'propertyNames'] as const;

/** Those of them that judge what is in a value, each part once; they belong in front of the keyword named here. */
const PARTWISE: ReadonlyMap<unknown, string> = new Map([
  ['contains', 'items'],
  ['propertyNames', 'additionalProperties'],
]);

/** Evaluations that are free, and how many more each value pays for. */
const FREE = 10_000;
const PER_VALUE = 10;

/** What a keyword with alternatives found at one place: its error, or null where one alternative fits. */
interface Outcome {
  readonly data: unknown;
  readonly error: ErrorObject | null;
}

interface Budget {
  readonly value: unknown;
  /** Whether larger values may spend more. */
  readonly isEarned: boolean;
  /** By the list of alternatives, and the place in the value. */
  readonly outcomes: Map<unknown, Map<string, Outcome>>;
  spent: number;
  limit: number;
}

/** The check that runs: checks are synchronous, so there is never more than one. */
let budget: Budget | undefined;

/**
 * Runs a check, and gives up once it judges far more than its value holds: alternatives that lead back to
 * themselves can double the work with every level of nesting. Undefined where it gave up.
 */
export function withinBudget<T>(value: unknown, check: () => T): T | undefined {
  return run(value, check, true);
}

/** Runs a check that looks for everything that is wrong, which may cost only so much, however large the value is. */
export function withinFixedBudget<T>(value: unknown, check: () => T): T | undefined {
  return run(value, check, false);
}

function run<T>(value: unknown, check: () => T, isEarned: boolean): T | undefined {
  const outer = budget;
  budget = { value, isEarned, outcomes: new Map(), spent: 0, limit: FREE };
  try {
    return check();
  } catch (error) {
    // The stack ends where a reference leads to itself and nothing in between takes the value apart.
    if (error instanceof BudgetSpent || error instanceof RangeError) return undefined;
    throw error;
  } finally {
    budget = outer;
  }
}

/**
 * The same keyword, whose every evaluation is paid for, and whose error holds those that it sums up.
 * @param template ajv's own for pieces of code; importing it here would load ajv with this file
 */
export function bounded(
  definition: CodeKeywordDefinition,
  template: typeof CodeTemplate,
): CodeKeywordDefinition {
  const grouped = grouping(definition, template);
  const before = PARTWISE.get(definition.keyword);
  if (before !== undefined) return { ...grouped, before };
  return {
    ...grouped,
    code(context: KeywordCxt, ruleType?: string) {
      const pay = context.gen.scopeValue('func', { ref: spend });
      if (isRemembered(context)) return once(context, template, pay, () => grouped.code(context, ruleType));
      context.gen.code(template`${pay}(${costOf(context)})`);
      grouped.code(context, ruleType);
    },
  };
}

/**
 * Whether one evaluation may stand for all at the same place. That is of use where all errors are wanted, as every
 * alternative is then followed to its end; where judged members are tracked, an evaluation does more than judge.
 */
function isRemembered({ keyword, it, allErrors }: KeywordCxt): boolean {
  const hasAlternatives = keyword === 'anyOf' || keyword === 'oneOf';
  return hasAlternatives && allErrors === true && it.createErrors !== false && it.opts.unevaluated !== true;
}

/** Writes code that evaluates once for each place, and repeats the outcome afterwards. */
function once(
  context: KeywordCxt,
  template: typeof CodeTemplate,
  pay: ReturnType<KeywordCxt['gen']['scopeValue']>,
  evaluate: () => void,
): void {
  const { gen, it, schemaValue, data, errsCount } = context;
  const [recalled, remembered] = [recall, remember].map((ref) => gen.scopeValue('func', { ref }));
  const place = template`${schemaValue}, instancePath + ${it.errorPath}, ${data}`;
  const known = gen.const('known', template`${recalled}(${place})`);
  gen.if(template`${known} === undefined`);
  gen.code(template`${pay}(${costOf(context)})`);
  evaluate();
  gen.code(template`${remembered}(${place}, errors > ${errsCount ?? 0} ? vErrors[errors - 1] : null)`);
  gen.else();
  gen.if(template`${known} !== null`);
  gen.code(template`if (vErrors === null) vErrors = [${known}]; else vErrors.push(${known})`);
  gen.code(template`errors++`);
  gen.endIf();
  gen.endIf();
}

/** Where all errors are wanted, each alternative costs some. */
function costOf({ allErrors, schema }: KeywordCxt): number {
  return allErrors === true && Array.isArray(schema) ? schema.length : 1;
}

// A member's name is judged at the place of its object, hence the data beside the place.
function recall(alternatives: unknown, path: string, data: unknown): ErrorObject | null | undefined {
  const outcome = budget?.outcomes.get(alternatives)?.get(path);
  return outcome && Object.is(outcome.data, data) ? outcome.error : undefined;
}

function remember(alternatives: unknown, path: string, data: unknown, error: ErrorObject | null): void {
  if (!budget) return;
  const places = budget.outcomes.get(alternatives) ?? new Map<string, Outcome>();
  budget.outcomes.set(alternatives, places.set(path, { data, error }));
}

/** Counts the values a value consists of, without walking much further than the limit. */
export function countValues(value: unknown, limit: number): number {
  const pending: object[] = isContainer(value) ? [value] : [];
  let seen = 1;
  for (let current = pending.pop(); current && seen < limit; current = pending.pop()) {
    const members: unknown[] = Object.values(current);
    seen += members.length;
    // One by one: as many arguments as a long list has items would not fit on the stack.
    if (seen < limit) for (const member of members) if (isContainer(member)) pending.push(member);
  }
  return Math.min(seen, limit);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

class BudgetSpent extends Error {}

function spend(evaluations: number): void {
  if (!budget) return;
  budget.spent += evaluations;
  if (budget.spent <= budget.limit) return;
  if (!budget.isEarned) throw new BudgetSpent();
  // Only now is it worth while to look how large the value is.
  const earned = FREE + PER_VALUE * countValues(budget.value, Infinity);
  if (budget.limit >= earned) throw new BudgetSpent();
  budget.limit = earned;
}

import type { _ as CodeTemplate, CodeKeywordDefinition, KeywordCxt } from 'ajv';

/** Keywords under which a value is judged several times, once for each branch. */
export const BRANCHING = ['anyOf', 'oneOf', 'if', 'not'] as const;

/** Evaluations that are free, and how many more each value pays for. */
const FREE = 10_000;
const PER_VALUE = 10;

interface Budget {
  readonly value: unknown;
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
  const outer = budget;
  budget = { value, spent: 0, limit: FREE };
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
 * The same keyword, whose every evaluation is paid for.
 * @param template ajv's own for pieces of code; importing it here would load ajv with this file
 */
export function bounded(
  definition: CodeKeywordDefinition,
  template: typeof CodeTemplate,
): CodeKeywordDefinition {
  return {
    ...definition,
    code(context: KeywordCxt, ruleType?: string) {
      const pay = context.gen.scopeValue('func', { ref: spend });
      context.gen.code(template`${pay}()`);
      definition.code(context, ruleType);
    },
  };
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

function spend(): void {
  if (!budget) return;
  budget.spent += 1;
  if (budget.spent <= budget.limit) return;
  // Only now is it worth while to look how large the value is.
  const earned = FREE + PER_VALUE * countValues(budget.value, Infinity);
  if (budget.limit >= earned) throw new BudgetSpent();
  budget.limit = earned;
}

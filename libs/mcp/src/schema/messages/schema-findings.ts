import type { ErrorObject } from 'ajv';
import { Alternatives } from './alternatives.js';
import { formatPath, type PathStep, pointerSteps } from '../issue-path.js';
import type { JsonSchema } from '../json-schema.js';
import { describeError, memberOf } from './keyword-messages.js';

/** One thing that is wrong, at its place. */
export interface Finding {
  readonly steps: readonly PathStep[];
  readonly text: string;
  /** It names the type that is wanted. */
  readonly isType?: boolean;
  /** It names all the values that are allowed. */
  readonly isList?: boolean;
}

/**
 * Reads ajv's list of errors. ajv reports what is wrong under every alternative, under every item it looked
 * through, and after them that none fitted; only what tells the caller what to change is kept.
 */
export class SchemaFindings {
  private readonly alternatives: Alternatives;

  constructor(root: JsonSchema) {
    this.alternatives = new Alternatives(root);
  }

  of(errors: readonly ErrorObject[]): Finding[] {
    const findings: Finding[][] = [];
    // From the end, as a summary stands behind the errors that it sums up.
    let end = errors.length;
    while (end > 0) {
      const summary = errors[end - 1]!;
      const start = this.startOf(errors, end - 1);
      findings.push(this.summed(summary, errors.slice(start, end - 1)));
      end = start;
    }
    return findings.toReversed().flat();
  }

  /** Where the errors begin that the error at `index` sums up; its own index where it sums up none. */
  private startOf(errors: readonly ErrorObject[], index: number): number {
    const summary = errors[index]!;
    const parts = partsOf(summary);
    let start = index;
    while (start > 0 && parts.some((part) => this.alternatives.isWithin(errors[start - 1]!, part, summary)))
      start -= 1;
    return start;
  }

  private summed(summary: ErrorObject, details: readonly ErrorObject[]): Finding[] {
    if (summary.keyword === 'anyOf') return this.ofAlternatives(summary, details);
    if (summary.keyword === 'oneOf') return this.ofOneOf(summary, details);
    if (summary.keyword === 'propertyNames') return [this.ofName(summary, details)];
    // What the branch that applies wants says more than that it is not met.
    if (summary.keyword === 'if' && details.length > 0) return this.of(details);
    return [finding(summary)];
  }

  private ofOneOf(summary: ErrorObject, details: readonly ErrorObject[]): Finding[] {
    const { passingSchemas } = summary.params as { passingSchemas: number[] | null };
    if (!passingSchemas) return this.ofAlternatives(summary, details);
    const text = `must match only one of: ${this.alternatives.phrases(summary, passingSchemas)}`;
    return [{ steps: pointerSteps(summary.instancePath), text }];
  }

  private ofAlternatives(summary: ErrorObject, details: readonly ErrorObject[]): Finding[] {
    const steps = pointerSteps(summary.instancePath);
    const choice = this.alternatives.choose(summary);
    if ('text' in choice) {
      return [{ steps: [...steps, ...choice.steps], text: choice.text, isList: choice.isList }];
    }
    const [only, ...others] = choice.branches.map((branch) =>
      this.of(details.filter((detail) => this.alternatives.isWithin(detail, branch, summary))),
    );
    if (only && only.length > 0 && others.length === 0) return only;
    return [{ steps, text: this.joined(summary, steps, [only ?? [], ...others]) }];
  }

  /** What several alternatives want: their rules where they are about this very value, else what they look like. */
  private joined(summary: ErrorObject, steps: readonly PathStep[], branches: readonly Finding[][]): string {
    const here = formatPath(steps);
    const isHere = branches.every(
      (findings) => findings.length > 0 && findings.every((found) => formatPath(found.steps) === here),
    );
    if (!isHere) return `must match one of: ${this.alternatives.phrases(summary)}`;
    const texts = branches.map((findings) => findings.map(({ text }) => text).join(' and '));
    return [...new Set(texts)].join(', or ');
  }

  private ofName(summary: ErrorObject, details: readonly ErrorObject[]): Finding {
    const { propertyName } = summary.params as { propertyName: string };
    const rules = details
      .filter((detail) => detail.propertyName === propertyName)
      .map((detail) => describeError(detail));
    return {
      steps: [...pointerSteps(summary.instancePath), propertyName],
      text: `is not an allowed name${rules.length === 0 ? '' : ` (it ${[...new Set(rules)].join(', ')})`}`,
    };
  }
}

/** The subschemas whose errors an error sums up. */
function partsOf({ keyword, schema, parentSchema }: ErrorObject): readonly unknown[] {
  if (keyword === 'anyOf' || keyword === 'oneOf') return schema as unknown[];
  if (keyword === 'propertyNames') return [schema];
  if (keyword === 'contains') return [{ items: schema }];
  return keyword === 'if' ? [parentSchema?.then, parentSchema?.else] : [];
}

function finding(error: ErrorObject): Finding {
  const steps = pointerSteps(error.instancePath);
  const member = memberOf(error);
  return {
    steps: member === undefined ? steps : [...steps, member],
    text: describeError(error),
    isType: error.keyword === 'type',
    isList: error.keyword === 'enum' || error.keyword === 'const',
  };
}

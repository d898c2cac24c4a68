import type { ErrorObject } from 'ajv';
import { groupsOf } from './error-groups.js';
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
 * Reads ajv's errors. What is wrong under every alternative stands inside the error which says that none fits; only
 * what tells the caller what to change is kept.
 */
export class SchemaFindings {
  private readonly alternatives: Alternatives;

  constructor(root: JsonSchema) {
    this.alternatives = new Alternatives(root);
  }

  of(errors: readonly ErrorObject[]): Finding[] {
    // What the branch that applies wants says more than that it is not met.
    const telling = errors.filter(({ keyword }) => keyword !== 'if');
    return (telling.length > 0 ? telling : errors).flatMap((error) => this.summed(error));
  }

  private summed(summary: ErrorObject): Finding[] {
    if (summary.keyword === 'anyOf') return this.ofAlternatives(summary);
    if (summary.keyword === 'oneOf') return this.ofOneOf(summary);
    if (summary.keyword === 'propertyNames') return [this.ofName(summary)];
    return [finding(summary)];
  }

  private ofOneOf(summary: ErrorObject): Finding[] {
    const { passingSchemas } = summary.params as { passingSchemas: number[] | null };
    if (!passingSchemas) return this.ofAlternatives(summary);
    const text = `must match only one of: ${this.alternatives.phrases(summary, passingSchemas)}`;
    return [{ steps: pointerSteps(summary.instancePath), text }];
  }

  private ofAlternatives(summary: ErrorObject): Finding[] {
    const steps = pointerSteps(summary.instancePath);
    const choice = this.alternatives.choose(summary);
    if ('text' in choice) {
      return [{ steps: [...steps, ...choice.steps], text: choice.text, isList: choice.isList }];
    }
    const groups = groupsOf(summary);
    const meant = choice.indices.map((index) => groups[index] ?? []);
    const [only, ...others] = meant;
    if (only && only.length > 0 && others.length === 0) return this.of(only);
    return [{ steps, text: this.joined(summary, meant) }];
  }

  /** What several alternatives want: their rules where they are about this very value, else what they look like. */
  private joined(summary: ErrorObject, groups: readonly (readonly ErrorObject[])[]): string {
    const { instancePath } = summary;
    // Told before any is read: below this value there may be as many alternatives again with every level.
    const isHere = groups.every(
      (errors) => errors.length > 0 && errors.every((error) => isAbout(error, instancePath)),
    );
    const findings = isHere ? groups.map((errors) => this.of(errors)) : [];
    const here = formatPath(pointerSteps(instancePath));
    if (!isHere || findings.flat().some(({ steps }) => formatPath(steps) !== here)) {
      return `must match one of: ${this.alternatives.phrases(summary)}`;
    }
    const texts = findings.map((group) => group.map(({ text }) => text).join(' and '));
    return [...new Set(texts)].join(', or ');
  }

  private ofName(summary: ErrorObject): Finding {
    const { propertyName } = summary.params as { propertyName: string };
    const rules = this.of(groupsOf(summary).flat()).map(({ text }) => text);
    return {
      steps: [...pointerSteps(summary.instancePath), propertyName],
      text: `is not an allowed name${rules.length === 0 ? '' : ` (it ${[...new Set(rules)].join(', ')})`}`,
    };
  }
}

/** Whether an error is about the value at a place, and not about something inside it. */
function isAbout(error: ErrorObject, instancePath: string): boolean {
  return (
    error.instancePath === instancePath && error.keyword !== 'propertyNames' && memberOf(error) === undefined
  );
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

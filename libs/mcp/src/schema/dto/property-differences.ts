import type { Presence } from '../metadata/condition-probe.js';
import type { PropertyFacts } from '../metadata/property-facts.js';
import { constraintsOf, isConstraint, ruleName, ruleOf } from './rule-reading.js';

/** Which differences a property can show between its schema and class-validator, as they are found. */
export interface Notes {
  readonly stricter: Set<string>;
  readonly looser: Set<string>;
}

/** Notes the differences that follow from the rules of a property and the conditions on them. */
export function noteRules(
  { rules, hasTransform }: PropertyFacts,
  presence: Presence,
  isNullable: boolean,
  notes: Notes,
): void {
  if (hasTransform) notes.stricter.add('transform');
  if (presence.isConditional) {
    notes.stricter.add('conditional-type');
    notes.looser.add('conditional');
  }
  if (rules.some(({ name }) => name === 'isOptional') && !isNullable) notes.stricter.add('optional-null');
  const constraints = rules.filter(isConstraint);
  if (constraints.length > 0 && constraints.every((rule) => ruleName(rule) === 'custom'))
    notes.stricter.add('custom-presence');
  for (const rule of constraints) {
    const { stricter, looser } = ruleOf(rule);
    const read = (say: typeof stricter) => (typeof say === 'function' ? say(constraintsOf(rule)) : say);
    const key = read(stricter);
    if (key !== undefined) notes.stricter.add(key);
    if (rule.each) notes.stricter.add('each-of-one');
    if (rule.validateIf) notes.looser.add('conditional');
    if (read(looser) !== undefined) notes.looser.add(ruleName(rule));
  }
}

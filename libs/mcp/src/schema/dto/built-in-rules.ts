import { getMetadataStorage, type ValidationArguments, ValidationError } from 'class-validator';
import { type RuleMetadata, rulesByProperty } from '../metadata/class-metadata.js';
import type { DtoView } from '../metadata/dto-view.js';
import type { Class } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { constraintsOf, isNestedRule, ruleName } from './rule-reading.js';

/**
 * Says whether class-validator's own rules take a value of a property, nested DTOs included. Constraints of the
 * application are not asked, as they may need what is not there yet; they count as content.
 */
export function builtInsTake(
  owner: object,
  rules: readonly RuleMetadata[],
  value: unknown,
  view: DtoView,
): boolean {
  return takes(owner, rules, value, view, 0);
}

/**
 * The rules of class-validator's own that throw on a value instead of refusing it, as the refusals they mean: a
 * number in exponent form under `maxDecimalPlaces`, half a surrogate pair under `@IsByteLength()`. Asked only after
 * validation has thrown; without such a rule, what it threw came from the application.
 */
export function builtInFaults(instance: object, view: DtoView, depth = 0): ValidationError[] {
  if (depth > MAX_NESTING) return [];
  return [...rulesByProperty(instance.constructor as Class, view)].flatMap(([property, rules]) => {
    const value = (instance as Record<string, unknown>)[property];
    const error = newError(instance, property);
    for (const rule of rules) {
      if (valuesUnder(rule, value).some((one) => verdict(instance, rule, one) === 'throws')) {
        (error.constraints ??= {})[ruleName(rule)] = messageOf(instance, rule, value);
      }
    }
    if (rules.some(isNestedRule)) error.children = nestedFaults(value, view, depth + 1);
    return error.constraints || error.children?.length ? [error] : [];
  });
}

function takes(
  owner: object,
  rules: readonly RuleMetadata[],
  value: unknown,
  view: DtoView,
  depth: number,
): boolean {
  if (depth > MAX_NESTING) return true;
  if (rules.some((rule) => rule.type === 'conditionalValidation' && !holds(rule, owner, value))) return true;
  return rules.every((rule) => {
    if (!isNestedRule(rule))
      return valuesUnder(rule, value).every((one) => verdict(owner, rule, one) === true);
    return value === undefined || entriesOf(value).every((entry) => isSound(entry, view, depth + 1));
  });
}

function isSound(value: unknown, view: DtoView, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return [...rulesByProperty(value.constructor as Class, view)].every(([name, rules]) =>
    takes(value, rules, (value as Record<string, unknown>)[name], view, depth),
  );
}

function holds(rule: RuleMetadata, owner: object, value: unknown): boolean {
  const [condition] = constraintsOf(rule) as [(owner: object, value: unknown) => unknown];
  try {
    return Boolean(condition(owner, value));
  } catch {
    return false;
  }
}

function entriesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return value instanceof Set || value instanceof Map ? [...value.values()] : [value];
}

function valuesUnder({ each }: RuleMetadata, value: unknown): unknown[] {
  return each ? entriesOf(value) : [value];
}

function verdict(object: object, rule: RuleMetadata, value: unknown): boolean | 'throws' {
  if (ruleName(rule) === 'custom' || (rule.validateIf && !rule.validateIf(object, value))) return true;
  const constraints = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  try {
    return constraints.every(({ instance }) =>
      Boolean(instance.validate(value, argumentsOf(object, rule, value))),
    );
  } catch {
    return 'throws';
  }
}

function nestedFaults(value: unknown, view: DtoView, depth: number): ValidationError[] {
  if (!Array.isArray(value) && !(value instanceof Set) && !(value instanceof Map))
    return typeof value === 'object' && value !== null ? builtInFaults(value, view, depth) : [];
  const entries: [unknown, unknown][] =
    value instanceof Map ? [...value] : [...value].map((one, index) => [index, one]);
  return entries.flatMap(([key, entry]) => {
    const error = newError(value, String(key));
    error.children = nestedFaults(entry, view, depth);
    return error.children.length > 0 ? [error] : [];
  });
}

function newError(target: object, property: string): ValidationError {
  return Object.assign(new ValidationError(), { target, property });
}

function messageOf(object: object, rule: RuleMetadata, value: unknown): string {
  const { property } = argumentsOf(object, rule, value);
  const [constraint] = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  try {
    const text = constraint?.instance.defaultMessage?.(argumentsOf(object, rule, value));
    const filled = constraintsOf(rule).reduce<string>(
      (message, one, index) => message.replaceAll(`$constraint${index + 1}`, () => String(one)),
      text ?? '',
    );
    if (filled !== '') return filled.replaceAll('$property', () => property);
  } catch {
    // Its words may stumble over the value as well.
  }
  return `${property} is no value that ${ruleName(rule)} can judge`;
}

function argumentsOf(object: object, rule: RuleMetadata, value: unknown): ValidationArguments {
  return {
    value,
    object,
    constraints: [...constraintsOf(rule)],
    targetName: object.constructor.name,
    property: rule.propertyName,
  };
}

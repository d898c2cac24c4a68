import type { RuleMetadata } from '../metadata/class-metadata.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import {
  type Constraints,
  KINDS,
  CUSTOM,
  listOf,
  type ValidatorRule,
  VALIDATOR_RULES,
} from './validator-rules.js';

/** A constraint that this table does not know: it may take a null, and is taken to refuse what is missing. */
const CUSTOM_RULE: ValidatorRule = {
  keywords: () => ({}),
  takes: (nothing) => nothing === null,
  looser: CUSTOM,
};

/** The name a rule has in the table. */
export function ruleName({ name, type }: RuleMetadata): string {
  if (type in KINDS) return type;
  return name !== undefined && VALIDATOR_RULES.has(name) ? name : 'custom';
}

/** What a rule says, whoever wrote it. */
export function ruleOf(metadata: RuleMetadata): ValidatorRule {
  return VALIDATOR_RULES.get(ruleName(metadata)) ?? CUSTOM_RULE;
}

/** The constraints a rule was given. */
export function constraintsOf({ constraints }: RuleMetadata): Constraints {
  return (constraints ?? []) as Constraints;
}

/** The keywords of one rule as it stands on a property. */
export function keywordsOf(rule: RuleMetadata): JsonSchema {
  return ruleOf(rule).keywords(constraintsOf(rule));
}

/** The keywords for what a rule judges, whether or not its own say all of that. */
export function judgedBy(rule: RuleMetadata): readonly string[] {
  const { judges = [] } = ruleOf(rule);
  const unsaid = typeof judges === 'function' ? judges(constraintsOf(rule)) : judges;
  return [...keywordNames(keywordsOf(rule)), ...unsaid];
}

function keywordNames(schema: JsonSchema): string[] {
  const branches = [schema.anyOf, schema.allOf].flatMap((list) => listOf(list)).filter(isJsonObject);
  return [...Object.keys(schema), ...branches.flatMap(keywordNames)];
}

/** Says whether a rule is content with null. */
export function takesNull(rule: RuleMetadata): boolean {
  return takes(rule, null);
}

/** Says whether a rule is content with a value that is missing, or null. */
export function takes(rule: RuleMetadata, nothing: undefined | null): boolean {
  return Boolean(rule.validateIf) || (ruleOf(rule).takes?.(nothing, constraintsOf(rule)) ?? false);
}

/** Says whether a rule constrains, and is no condition or mere mark. */
export function isConstraint({ type }: RuleMetadata): boolean {
  return !['conditionalValidation', 'whitelistValidation', 'promiseValidation'].includes(type);
}

/** Says whether a rule is `@ValidateNested()`. */
export function isNestedRule({ type }: RuleMetadata): boolean {
  return type === 'nestedValidation';
}

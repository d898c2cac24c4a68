import { isJsonObject, type JsonSchema } from '../json-schema.js';
import type { RuleMetadata } from '../metadata/class-metadata.js';
import type { Presence } from '../metadata/condition-probe.js';
import type { PropertyFacts } from '../metadata/property-facts.js';
import { ContradictoryRulesException } from '../schema.exception.js';
import type { Container } from './property-type.resolver.js';
import { withoutNull } from './schema-keywords.js';
import { isConstraint, isNestedRule, keywordsOf, ruleName, ruleOf, takesNull } from './rule-reading.js';

/** One of those that say what a value is. */
interface Voice {
  readonly name: string;
  readonly keywords: JsonSchema;
  /** The JSON types it takes, where it says so. */
  readonly types: readonly string[] | undefined;
  /** It asks for an instance of Date, which nothing but such a rule takes. */
  readonly isDate: boolean;
}

const LIMITS = [
  ['minimum', 'maximum', 'at least', 'at most'],
  ['minimum', 'exclusiveMaximum', 'at least', 'less than'],
  ['exclusiveMinimum', 'maximum', 'greater than', 'at most'],
  ['exclusiveMinimum', 'exclusiveMaximum', 'greater than', 'less than'],
  ['minLength', 'maxLength', 'a text of at least', 'one of at most'],
  ['minItems', 'maxItems', 'a list of at least', 'one of at most'],
  ['minProperties', 'maxProperties', 'an object of at least', 'one of at most'],
] as const;

const NESTED = '@ValidateNested()';
const FRAGMENT = 'the schema of @McpProperty()';

/**
 * Refuses rules that no value meets together, so that every call with the property, or with an entry of it, would
 * fail. Only what always runs is looked at; what may or may not run is not known to contradict.
 */
export function refuseContradictions(facts: PropertyFacts, presence: Presence, container: Container): void {
  const { dto, name, rules, own, view } = facts;
  if (view.direction === 'output' || presence.isConditional) return;
  const always = rules.filter((rule) => isConstraint(rule) && !rule.validateIf);
  const fragment = withoutNull(own.schema ?? {}).schema;
  const entry = container === 'map' ? fragment.additionalProperties : fragment.items;
  for (const each of [false, true]) {
    const applied = always.filter((rule) => Boolean(rule.each) === each);
    if (applied.every(takesNull)) continue;
    const added = each ? entry : fragment;
    const held = each ? undefined : always.find((rule) => rule.each && container !== 'none');
    const voices = [
      ...applied.map(voiceOf),
      ...(held ? [holderOf(held, container)] : []),
      ...(isJsonObject(added) ? [newVoice(FRAGMENT, withoutNull(added).schema)] : []),
    ];
    for (const [index, one] of voices.entries()) {
      for (const other of voices.slice(index)) {
        const reason = contradiction(one, other, each ? 'entry' : 'value');
        if (reason === undefined) continue;
        throw new ContradictoryRulesException(
          dto,
          name,
          one === other ? [one.name] : [one.name, other.name],
          reason,
        );
      }
    }
  }
}

function voiceOf(rule: RuleMetadata): Voice {
  const name = ruleName(rule);
  // A keyword that waits for a type is none where the type is another.
  const keywords = ruleOf(rule).onlyForType === undefined ? keywordsOf(rule) : {};
  const isDate = ['isDate', 'minDate', 'maxDate'].includes(name);
  // Of a Date it finds nothing to say.
  if (isNestedRule(rule)) return { name: NESTED, keywords, types: ['object', 'array'], isDate };
  return { ...newVoice(`the rule ${name}`, keywords), isDate };
}

/** What a rule for entries says of the value that holds them. */
function holderOf(rule: RuleMetadata, container: Container): Voice {
  const name = `${voiceOf(rule).name} for each entry`;
  return newVoice(name, { type: container === 'map' ? 'object' : 'array' });
}

function newVoice(name: string, keywords: JsonSchema): Voice {
  return { name, keywords, types: typesOf(keywords), isDate: false };
}

function typesOf({ type, enum: values, anyOf }: JsonSchema): readonly string[] | undefined {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type as string[];
  if (Array.isArray(values)) return [...new Set(values.map(typeOfValue))];
  if (!Array.isArray(anyOf)) return undefined;
  const branches = anyOf.map((branch) => (isJsonObject(branch) ? typesOf(branch) : undefined));
  return branches.includes(undefined) ? undefined : [...new Set(branches.flatMap((types) => types ?? []))];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Why no value suits both, if none does. */
function contradiction(one: Voice, other: Voice, subject: string): string | undefined {
  if ([one, other].some(({ name }) => name === NESTED) && (one.isDate || other.isDate)) return undefined;
  if (one.types && other.types && !one.types.some((type) => other.types?.some((more) => overlap(type, more))))
    return `no ${subject} is both ${inWords(one)} and ${inWords(other)}`;
  const isRule = [one, other].every(({ name }) => name !== FRAGMENT);
  if (isRule && one.isDate !== other.isDate && one.types && other.types)
    return `no ${subject} is both ${inWords(one)} and ${inWords(other)}`;
  const [values, others] = [one.keywords.enum, other.keywords.enum];
  if (Array.isArray(values) && Array.isArray(others) && !values.some((value) => others.includes(value)))
    return 'their lists of values have none in common';
  return limitsOf(one.keywords, other.keywords, subject) ?? limitsOf(other.keywords, one.keywords, subject);
}

function limitsOf(low: JsonSchema, high: JsonSchema, subject: string): string | undefined {
  for (const [least, most, from, to] of LIMITS) {
    const [start, end] = [low[least], high[most]];
    if (typeof start !== 'number' || typeof end !== 'number') continue;
    const isEmpty = least.startsWith('ex') || most.startsWith('ex') ? start >= end : start > end;
    if (isEmpty) return `no ${subject} is ${from} ${start} and ${to} ${end}`;
  }
  return undefined;
}

function overlap(one: string, other: string): boolean {
  return one === other || [one, other].sort().join() === 'integer,number';
}

const ARTICLES: Readonly<Record<string, string>> = {
  array: 'an array',
  integer: 'an integer',
  object: 'an object',
  null: 'null',
};

function inWords({ types = [], isDate }: Voice): string {
  return isDate ? 'a Date' : types.map((type) => ARTICLES[type] ?? `a ${type}`).join(' or ');
}

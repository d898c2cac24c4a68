import type { ErrorObject } from 'ajv';
import type { ValidationError } from 'class-validator';
import { publishedName } from './class-metadata.js';
import {
  formatPath,
  type PathStep,
  pointerSteps,
  quoted,
  safeText,
  shownName,
  toStep,
} from './issue-path.js';
import { type Class, isJsonObject } from './json-schema.js';
import { MAX_ISSUES } from './schema-bounds.js';

const MAX_LISTED = 30;
const MAX_MESSAGE_LENGTH = 300;

type Describe = (params: Readonly<Record<string, unknown>>, error: ErrorObject) => string;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'a boolean',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'greater than',
  '<': 'less than',
};

const comparison: Describe = ({ comparison: sign, limit }) =>
  `must be ${COMPARISONS[String(sign)] ?? String(sign)} ${String(limit)}`;

const size =
  (bound: string, unit: string): Describe =>
  ({ limit }) =>
    `must have ${bound} ${String(limit)} ${unit}${limit === 1 ? '' : 's'}`;

/** What each schema keyword asks for, in words that name the rule and never the refused value. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  type: ({ type }) => `must be ${[type].flat().map(typeName).join(' or ')}`,
  required: () => 'is required',
  additionalProperties: (_, { parentSchema }) => `is not a known member (${knownMembers(parentSchema)})`,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${shownValue(allowedValue)}`,
  minimum: comparison,
  maximum: comparison,
  exclusiveMinimum: comparison,
  exclusiveMaximum: comparison,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minLength: size('at least', 'character'),
  maxLength: size('at most', 'character'),
  minItems: size('at least', 'item'),
  maxItems: size('at most', 'item'),
  minProperties: size('at least', 'member'),
  pattern: ({ pattern }) => `must match the pattern ${safeText(String(pattern), MAX_MESSAGE_LENGTH)}`,
  uniqueItems: () => 'must not contain the same item twice',
  not: (_, { schema }) => refusedValues(schema),
};

/** Turns ajv's errors into one line each, naming the path and the rule. */
export function schemaIssues(errors: readonly ErrorObject[]): string[] {
  // A wrong type says nothing that the list of allowed values at the same place does not say better.
  const listedPaths = new Set(
    errors
      .filter(({ keyword }) => keyword === 'enum' || keyword === 'const')
      .map((error) => error.instancePath),
  );
  const telling = errors.filter((error) => error.keyword !== 'type' || !listedPaths.has(error.instancePath));
  return boundedIssues(telling.map(schemaIssue));
}

/** Turns class-validator's errors into one line for each failed rule, naming the path. */
export function validationIssues(errors: readonly ValidationError[]): string[] {
  const issues: string[] = [];
  collectValidationIssues(errors, [], issues);
  return boundedIssues(issues);
}

/** The issue of a member that nothing declares, where nothing is declared at all. */
export function unknownMemberIssues(names: readonly string[]): string[] {
  return boundedIssues(
    names.map((name) => `${formatPath([name])}: is not a known member (${knownMembers({})})`),
  );
}

function boundedIssues(issues: readonly string[]): string[] {
  const distinct = [...new Set(issues)];
  const rest = distinct.length - MAX_ISSUES;
  return rest > 0 ? [...distinct.slice(0, MAX_ISSUES), `… and ${rest} more`] : distinct;
}

function schemaIssue(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const member = params.missingProperty ?? params.additionalProperty;
  const steps = pointerSteps(error.instancePath);
  const path = formatPath(typeof member === 'string' ? [...steps, member] : steps);
  return `${path}: ${DESCRIPTIONS[error.keyword]?.(params, error) ?? 'is not allowed here'}`;
}

function typeName(type: unknown): string {
  return TYPE_NAMES[String(type)] ?? String(type);
}

function knownMembers(schema: unknown): string {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  return names.length === 0 ? 'none is known here' : `known: ${clippedList(names.map(shownName))}`;
}

function refusedValues(schema: unknown): string {
  if (isJsonObject(schema) && 'const' in schema) return `must not be ${shownValue(schema.const)}`;
  if (isJsonObject(schema) && Array.isArray(schema.enum)) return `must not be one of ${listed(schema.enum)}`;
  return 'is not allowed here';
}

function listed(values: unknown): string {
  return clippedList((Array.isArray(values) ? (values as unknown[]) : []).map(shownValue));
}

function clippedList(entries: readonly string[]): string {
  const rest = entries.length - MAX_LISTED;
  const shown = entries.slice(0, MAX_LISTED).join(', ');
  return rest > 0 ? `${shown}, … (${rest} more)` : shown;
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}

function collectValidationIssues(
  errors: readonly ValidationError[],
  parent: readonly PathStep[],
  issues: string[],
): void {
  for (const error of errors) {
    const steps = [...parent, stepOf(error)];
    for (const [rule, message] of Object.entries(error.constraints ?? {})) {
      issues.push(`${formatPath(steps)}: ${validationMessage(rule, message, error.property)}`);
    }
    collectValidationIssues(error.children ?? [], steps, issues);
  }
}

function stepOf({ target, property }: ValidationError): PathStep {
  if (Array.isArray(target) || target instanceof Set) return toStep(property);
  const owner: unknown = target?.constructor;
  return typeof owner === 'function' ? publishedName(owner as Class, property) : property;
}

function validationMessage(rule: string, message: string, property: string): string {
  // The arguments are JSON: "a Date instance" is not something a caller can send.
  if (rule === 'isDate' && message.endsWith(`${property} must be a Date instance`)) {
    return 'must be an ISO 8601 date and time';
  }
  const text = message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;
  return safeText(text, MAX_MESSAGE_LENGTH);
}

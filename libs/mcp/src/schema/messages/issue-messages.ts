import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ErrorObject } from 'ajv';
import type { ValidationError } from 'class-validator';
import { publishedName } from '../metadata/class-metadata.js';
import { formatPath, type PathStep, safeText, toStep } from '../issue-path.js';
import type { Class, JsonSchema } from '../json-schema.js';
import { MAX_ISSUES, MAX_MESSAGE_LENGTH } from '../schema-bounds.js';
import { knownMembers } from './schema-words.js';
import { SchemaFindings } from './schema-findings.js';
import { standardSteps, standardText } from './standard-issue-text.js';

/**
 * Turns ajv's errors into one line each, naming the path and the rule.
 * @param schema the whole schema, by which references in alternatives are followed
 * @param whole what the value is called where it is wrong as a whole
 */
export function schemaIssues(
  errors: readonly ErrorObject[],
  schema: JsonSchema = {},
  whole?: string,
): string[] {
  const findings = new SchemaFindings(schema).of(errors);
  // A wrong type says nothing that the list of allowed values at the same place does not say better.
  const listedPaths = new Set(
    findings.filter(({ isList }) => isList === true).map(({ steps }) => formatPath(steps)),
  );
  const telling = findings.filter(({ isType, steps }) => !isType || !listedPaths.has(formatPath(steps)));
  return boundedIssues(telling.map((finding) => line(finding.steps, finding.text, whole)));
}

/**
 * Turns class-validator's errors into one line for each failed rule, naming the path.
 * @param invalidDates where a Date was made of text that is none
 */
export function validationIssues(
  errors: readonly ValidationError[],
  invalidDates: readonly (readonly PathStep[])[] = [],
): string[] {
  const issues: string[] = [];
  collectValidationIssues(errors, [], issues);
  for (const steps of invalidDates) issues.push(line(steps, DATE_TEXT));
  return boundedIssues(issues);
}

/** Turns a Standard Schema's issues into one line each, naming the path. */
export function standardIssues(issues: readonly StandardSchemaV1.Issue[]): string[] {
  return boundedIssues(issues.map((issue) => line(standardSteps(issue), standardText(issue))));
}

/** The issue of a member that nothing declares, where nothing is declared at all. */
export function unknownMemberIssues(names: readonly string[]): string[] {
  return boundedIssues(names.map((name) => line([name], `is not a known member (${knownMembers({})})`)));
}

function line(steps: readonly PathStep[], text: string, whole?: string): string {
  return `${formatPath(steps, whole)}: ${text}`;
}

function boundedIssues(issues: readonly string[]): string[] {
  const distinct = [...new Set(issues)];
  const rest = distinct.length - MAX_ISSUES;
  return rest > 0 ? [...distinct.slice(0, MAX_ISSUES), `… and ${rest} more`] : distinct;
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

const DATE_TEXT = 'must be an ISO 8601 date and time';

function validationMessage(rule: string, message: string, property: string): string {
  // The arguments are JSON: "a Date instance" is not something a caller can send.
  if (rule === 'isDate' && message.endsWith(`${property} must be a Date instance`)) {
    return DATE_TEXT;
  }
  // Its words are a class name, which tells a caller nothing.
  if (rule === 'isInstance') return 'is not valid';
  const moment = LIMIT_OF_DATE.exec(message);
  if (moment) return limitOfDate(moment);
  const subject = [`${property} `, `${property}'s `].find((start) => message.startsWith(start)) ?? '';
  const text = message.slice(subject.length);
  // A constraint of the application need not have words of its own.
  return safeText(text, MAX_MESSAGE_LENGTH) || 'is not valid';
}

/** class-validator's own words for @MinDate() and @MaxDate(), which end in a Date's or a function's text. */
const LIMIT_OF_DATE = /^(?:each value in )?(min|max)imal allowed date for .*? is (.*)$/s;

function limitOfDate([, end, text]: RegExpExecArray): string {
  const limit = new Date(text ?? '');
  const side = end === 'min' ? 'before' : 'after';
  return Number.isNaN(limit.getTime())
    ? `must not be ${side} the ${end === 'min' ? 'earliest' : 'latest'} date allowed`
    : `must not be ${side} ${limit.toISOString()}`;
}

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { formatPath, type PathStep, safeText, toStep } from '../issue-path.js';
import { MAX_MESSAGE_LENGTH } from '../schema-bounds.js';

/** What libraries add to an issue, beside the standard: the refused value in words. */
interface Received {
  /** In arktype. */
  readonly actual?: unknown;
  /** In valibot. */
  readonly received?: unknown;
}

/** The path of an issue. */
export function standardSteps({ path = [] }: StandardSchemaV1.Issue): PathStep[] {
  return path.map((step) => {
    const key = typeof step === 'object' ? step.key : step;
    return typeof key === 'number' ? key : toStep(String(key));
  });
}

/** The text of an issue without its path, and without the refused value that some libraries end it with. */
export function standardText(issue: StandardSchemaV1.Issue): string {
  const { actual, received } = issue as StandardSchemaV1.Issue & Received;
  let text = String(issue.message);
  if (typeof actual === 'string') text = text.replaceAll(` (was ${actual})`, '');
  if (typeof received === 'string' && text.endsWith(`eceived ${received}`)) {
    text = text.slice(0, -`received ${received}`.length).replace(/(?: but|:|,) $/, '');
  }
  const path = `${formatPath(standardSteps(issue))} `;
  return safeText(text.startsWith(path) ? text.slice(path.length) : text, MAX_MESSAGE_LENGTH);
}

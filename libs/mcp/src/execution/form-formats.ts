import { isUri } from '../protocol/uri.js';

interface FormatCheck {
  readonly fits: (text: string) => boolean;
  readonly words: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** What a form may ask of a text. Source: Elicitation, Requested Schema, 2025-06-18 on. */
const FORMATS: ReadonlyMap<string, FormatCheck> = new Map([
  ['email', { fits: (text) => EMAIL.test(text), words: 'an email address' }],
  ['uri', { fits: isUri, words: 'a URI with its scheme' }],
  ['date', { fits: isDate, words: 'a date such as 2026-01-31' }],
  ['date-time', { fits: isDateTime, words: 'a date and time such as 2026-01-31T12:00:00Z' }],
]);

/** What a text must be that is not of its format; nothing where it is, and for formats that no form has. */
export function formatFault(format: string | undefined, text: unknown): string | undefined {
  const check = format === undefined ? undefined : FORMATS.get(format);
  return !check || typeof text !== 'string' || check.fits(text) ? undefined : `must be ${check.words}`;
}

/** `Date` takes February 30 for March 2. */
function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const found = DATE_TIME.exec(text);
  return found !== null && isDate(found[1]!) && !Number.isNaN(Date.parse(text));
}

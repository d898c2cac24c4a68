import { stringify, toPlain } from './plain-value.js';

/** The body of an answer as text: a text as it is, anything else as its JSON. */
export function answerText(body: unknown, size: number): string {
  return typeof body === 'string' ? body : ((stringify(toPlain(body, size)) as string | undefined) ?? '');
}

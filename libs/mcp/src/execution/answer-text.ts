import { asRefusal, toPlain } from './plain-value.js';

/** The body of an answer as text: a text as it is, anything else as its JSON. */
export function answerText(body: unknown, size: number): string {
  if (typeof body === 'string') return body;
  try {
    return JSON.stringify(toPlain(body, size)) ?? '';
  } catch (error) {
    throw asRefusal(error);
  }
}

import { choicesOf } from '../schema/forms/choices.js';
import type { HandlerRegistration } from './registration.js';

const known = new WeakMap<HandlerRegistration, Map<string, readonly string[] | undefined>>();

/** The texts that an argument of a handler may have, where its schema lists them; told once for each. */
export function choicesOfHandler(
  registration: HandlerRegistration,
  argument: string,
): readonly string[] | undefined {
  let choices = known.get(registration);
  if (!choices) known.set(registration, (choices = new Map()));
  if (!choices.has(argument)) choices.set(argument, choicesOf(registration.contract.schema, argument));
  return choices.get(argument);
}

import { isObject, type JsonObject } from '../json-rpc.js';
import { McpAskError } from './ask-error.js';

/** What is asked, in the words of the client's revision. */
export interface Question {
  readonly kind: 'elicitation' | 'sampling' | 'roots';
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: JsonObject | undefined;
  /** The part of `ClientCapabilities` that the client must have declared. */
  readonly needs: JsonObject;
  /**
   * What the handler gets of an answer.
   *
   * @throws AnswerFault where it is not one
   */
  read(answer: JsonObject): unknown;
}

/** An answer that does not fit its question. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault';
}

/**
 * What a client did not declare of what is needed, as an object of capabilities; nothing where it has all of it.
 * `elicitation: {}` is a client for forms. Source: Elicitation, Capabilities, 2025-11-25.
 */
export function missingCapabilities(declared: JsonObject, needs: JsonObject): JsonObject | undefined {
  const missing: JsonObject = {};
  for (const [name, wanted] of Object.entries(needs)) {
    const has = name === 'elicitation' ? elicitationOf(declared[name]) : declared[name];
    if (!isObject(has)) missing[name] = wanted;
    else if (isObject(wanted)) {
      const inside = missingCapabilities(has, wanted);
      if (inside) missing[name] = inside;
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

function elicitationOf(declared: unknown): unknown {
  return isObject(declared) && !('form' in declared) && !('url' in declared)
    ? { ...declared, form: {} }
    : declared;
}

/** Whether the client's user said yes, no, or nothing. */
const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/** The `action` of an answer to an elicitation. Source: Elicitation, Response Actions, 2025-06-18 on. */
export function actionOf(answer: JsonObject): 'accept' | 'decline' | 'cancel' {
  const { action } = answer;
  if (!ACTIONS.includes(action)) throw new AnswerFault('has no "action" of accept, decline or cancel');
  return action as 'accept' | 'decline' | 'cancel';
}

/** What a handler is thrown whose client did not declare what a question needs. */
export function lackingError({ method }: Question, missing: JsonObject): McpAskError {
  return new McpAskError('unsupported', `The client lacks the capability ${namesOf(missing)} (${method})`);
}

/** `elicitation.url`, and so on. */
function namesOf(missing: JsonObject): string {
  return Object.entries(missing)
    .flatMap(([name, inside]) => {
      const parts = Object.keys(inside as JsonObject);
      return parts.length > 0 ? parts.map((part) => `${name}.${part}`) : [name];
    })
    .join(', ');
}

import type { CallLifetime } from '../call-lifetime.js';
import type { JsonObject } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import type { CallQuestions } from './call-questions.js';
import type { AskedClient } from './legacy-questions.js';
import type { Question } from './question.js';

/** A call that asks, as far as that matters for its questions. */
export interface AskingCall extends AskedClient {
  readonly era: 'modern' | 'legacy';
  readonly lifetime: CallLifetime;
  readonly method: string;
  readonly name: string;
  /** The request's `params`. */
  readonly params: JsonObject | undefined;
  /** Told when the call is begun again and again although it waits for its client. */
  giveUp(why: Error): void;
  /** Known once the guards have run. */
  callerId(): string | undefined;
}

/** How the calls of this server ask their clients. */
export interface Asking {
  open(call: AskingCall): CallQuestions;
  /**
   * The question that a form is. Rejects where it can't be put to a user of that revision.
   *
   * @param form a class, a Standard Schema or a JSON Schema
   */
  form(message: string, form: unknown, revision: McpRevision): Promise<Question>;
}

/** What a user said to a form. @publicApi */
export type McpElicited<T> =
  { readonly action: 'accept'; readonly content: T } | { readonly action: 'decline' | 'cancel' };

/**
 * A form: a DTO class, a Standard Schema, or a JSON Schema, of fields side by side.
 * @publicApi
 */
export type McpForm<T> =
  | (new (...args: never[]) => T)
  | { readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: T } | undefined } }
  | Readonly<Record<string, unknown>>;

/** How a question is told from others of the same call. @publicApi */
export interface McpAskOptions {
  /** Default: its kind and number, such as `elicitation-1`. */
  readonly key?: string;
}

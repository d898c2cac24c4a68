import type { McpSchema } from '../schema/schema-kind.js';
import { markHandler, type McpNamed } from './handler.mark.js';

/** Options of `@McpPrompt()`. @publicApi */
export interface McpPromptOptions extends McpNamed {
  /**
   * The arguments, where the parameter's type does not say them: a DTO class, a Standard Schema or JSON Schema, of
   * objects. Clients send texts, which are converted by the declared types.
   */
  args?: McpSchema;
  /** ms a prompt may take; default `limits.handlerTime`. */
  timeout?: number;
}

/**
 * Makes a method of a provider or controller a prompt. It returns a text (one message of the user), a message
 * `{ role, content }`, a list of these, or `{ description, messages }`. Guards, pipes, interceptors and filters apply
 * as on a route. Source: Prompts, all revisions.
 *
 * @param nameOrOptions the name alone, or the options
 * @example
 * @McpPrompt({ description: 'Triage a ticket' })
 * triage({ id }: TicketIdDto) { return `Read ticket://${id} and say how urgent it is.`; }
 * @publicApi
 */
export function McpPrompt(nameOrOptions: string | McpPromptOptions = {}): MethodDecorator {
  const options = typeof nameOrOptions === 'string' ? { name: nameOrOptions } : nameOrOptions;
  return markHandler({ kind: 'prompt', options });
}

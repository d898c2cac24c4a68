import { markHandler } from './handler.mark.js';

/** Which argument of which prompt, or which variable of which resource template, is completed. @publicApi */
export type McpCompletionOf =
  | { readonly prompt: string; readonly argument: string }
  | { /** The template as it is declared. */ readonly resource: string; readonly argument: string };

/**
 * Makes a method complete an argument of a prompt or a variable of a resource template. A parameter of type `string`
 * is what was typed so far; one marked `@McpArgs()` is an object of the arguments that are filled in already, as
 * texts; a `McpContext` is the context. It returns a list of texts, of which at most 100 are sent, or
 * `{ values, total, hasMore }`. The guards of the prompt or resource run first, then its own. Arguments whose
 * values are an enum complete without it. Source: Completion, all revisions.
 *
 * @example
 * @McpCompletion({ resource: 'ticket://{id}', argument: 'id' })
 * ticketIds(prefix: string): Promise<string[]> { return this.tickets.idsThatStartWith(prefix); }
 * @publicApi
 */
export function McpCompletion(of: McpCompletionOf): MethodDecorator {
  return markHandler({ kind: 'completion', options: of });
}

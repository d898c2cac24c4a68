import type { McpSchema } from '../schema/schema-kind.js';
import { markHandler, type McpNamed } from './handler.mark.js';

/** Options of `@McpTool()`. `name`: 1 to 128 characters out of letters, digits, `_`, `-` and `.`. @publicApi */
export interface McpToolOptions extends McpNamed {
  /**
   * The arguments, where the parameter's type does not say them: a DTO class, a Standard Schema (zod 4, valibot,
   * arktype) or JSON Schema, of objects. It is published and every call is held to it.
   */
  input?: McpSchema;
  /**
   * The result: a DTO class, a Standard Schema or JSON Schema. Published as `outputSchema` (2025-06-18 and later);
   * members it does not know are taken out of the result, and a result that breaks it is an error.
   * Source: Tools, Output Schema, 2025-06-18.
   */
  output?: McpSchema;
  /**
   * Members of the arguments that the schema does not know: `'refuse'` (default) names them in an error result,
   * `'drop'` takes them away before the handler sees them.
   */
  unknownMembers?: 'refuse' | 'drop';
  /** Short for `annotations: { readOnlyHint: true }`. */
  readOnly?: boolean;
  /**
   * Hints for the client; all four are always sent. Defaults: not read-only, destructive, not idempotent,
   * open world; a read-only tool counts as not destructive and idempotent.
   * Source: Tools, Tool Annotations, 2025-03-26.
   */
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
  /** ms this tool may take; default `limits.handlerTime`. */
  timeout?: number;
}

/**
 * Makes a method of a provider or controller a tool. Its DTO parameter gives the input schema and is
 * validated; guards, pipes, interceptors and filters apply as on a route.
 *
 * @param nameOrOptions the name alone, or the options
 * @example
 * @McpTool({ description: 'Finds tickets', readOnly: true })
 * searchTickets(query: SearchTicketsDto) { return this.tickets.search(query); }
 * @publicApi
 */
export function McpTool(nameOrOptions: string | McpToolOptions = {}): MethodDecorator {
  const options = typeof nameOrOptions === 'string' ? { name: nameOrOptions } : nameOrOptions;
  return markHandler({ kind: 'tool', options });
}

import type { McpAnnotations, McpCacheHints } from '../protocol/descriptors.js';
import type { McpSchema } from '../schema/schema-kind.js';
import { markHandler, type McpNamed } from './handler.mark.js';

/** Options of `@McpResource()`. @publicApi */
export interface McpResourceOptions extends McpNamed {
  /**
   * The address, by RFC 3986, or with braces a template of addresses, by RFC 6570: `ticket://{id}`,
   * `file:///{+path}`, `logs://{service}{?level,since}`. Its variables are the handler's parameters.
   */
  uri: string;
  /** Media type of what is read; default: by what the handler returns. Of a template only where all of its resources share it. */
  mimeType?: string;
  /** Bytes of the content, where they are known. Of a fixed address alone. */
  size?: number;
  /**
   * The template's variables, where the parameter's type does not say them: a DTO class, a Standard Schema or JSON
   * Schema, of objects. Texts are converted by the declared types. Default: every variable is a text.
   */
  params?: McpSchema;
  /** How long a client may keep what was read, and for whom; default: the module's `cache`. 2026-07-28. */
  cache?: McpCacheHints;
  /** For whom the resource is meant and how much it matters. */
  annotations?: McpAnnotations;
  /** ms a read may take; default `limits.handlerTime`. */
  timeout?: number;
}

/**
 * Makes a method of a provider or controller a resource, or with braces in the address a template of resources.
 * Guards, pipes, interceptors and filters apply as on a route. `undefined` and `null` mean that there is no such
 * resource. Source: Resources, all revisions.
 *
 * @param uriOrOptions the address alone, or the options
 * @example
 * @McpResource({ uri: 'ticket://{id}', description: 'One ticket', mimeType: 'application/json' })
 * ticket({ id }: TicketIdDto) { return this.tickets.find(id); }
 * @publicApi
 */
export function McpResource(uriOrOptions: string | McpResourceOptions): MethodDecorator {
  const options = typeof uriOrOptions === 'string' ? { uri: uriOrOptions } : uriOrOptions;
  return markHandler({ kind: 'resource', options });
}

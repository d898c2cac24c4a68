import { ContextIdFactory, type ContextId } from '@nestjs/core';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';

type Marked = { readonly raw?: Marked } & { readonly [REQUEST_CONTEXT_ID]?: ContextId };

/**
 * A context id of one call's own. What is made for each request before the endpoint marks the request with an id;
 * calls that came in one body would share it, instances and injected request included.
 */
export function callContextId(request: unknown): ContextId {
  const { [REQUEST_CONTEXT_ID]: id, raw } = request as Marked;
  if (!id && !raw?.[REQUEST_CONTEXT_ID]) return ContextIdFactory.getByRequest(request as Marked);
  const unmarked = Object.create(request as Marked, { [REQUEST_CONTEXT_ID]: { value: undefined } }) as Marked;
  return ContextIdFactory.getByRequest(unmarked, []);
}

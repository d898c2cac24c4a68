import { ErrorCode } from '../../protocol/error-codes.js';
import { errorMessage, type RequestId, type RpcError } from '../../protocol/json-rpc.js';

/** An answer of the transport itself, given before any method is looked at. */
export interface HttpRefusal {
  readonly status: number;
  readonly error: RpcError;
  readonly id?: RequestId;
  /** Without an id, whether it is to say `"id": null`. */
  readonly nullId?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body was not read to its end, so the connection cannot be used again. */
  readonly closes?: boolean;
}

/** A refusal in the one form that all have: a JSON-RPC error, -32600 unless told otherwise. */
export function refuse(
  status: number,
  message: string,
  more: Partial<Omit<HttpRefusal, 'status'>> = {},
): HttpRefusal {
  return { status, error: { code: ErrorCode.InvalidRequest, message }, ...more };
}

export function isRefusal(value: unknown): value is HttpRefusal {
  return typeof value === 'object' && value !== null && 'status' in value && 'error' in value;
}

/** The body of a refusal. */
export function refusalBody(refusal: HttpRefusal, nullId?: boolean): string {
  return errorMessage(refusal.id, refusal.error, nullId);
}

/** To a client that takes neither form of an answer. */
export function notAcceptable(id: RequestId | undefined): HttpRefusal {
  return refuse(406, 'Not acceptable: accept application/json, text/event-stream or both', { id });
}

/** To a request that came too late. */
export function shuttingDown(more: Partial<Omit<HttpRefusal, 'status'>> = {}): HttpRefusal {
  return refuse(503, 'The server is shutting down', { headers: RETRY, ...more });
}

/** With every 503: the client may try again soon. */
export const RETRY = { 'retry-after': '1' } as const;

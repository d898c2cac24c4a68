import type { RpcError } from '../json-rpc.js';

/** Why a client gave no result. @publicApi */
export type McpAskFault =
  /** It did not declare the capability, its revision does not have it, or nothing can be sent to it. */
  | 'unsupported'
  /** It answered an error. */
  | 'refused'
  /** It answered something else than it was asked. */
  | 'invalid'
  /** It did not answer in time. */
  | 'timeout'
  /** The call that asked is over. */
  | 'ended'
  /** The client is gone, or its session is. */
  | 'gone'
  /** The request could not be sent. */
  | 'unsent';

/**
 * A question to a client that came to no result. Where a handler lets it pass, its message is what the client reads.
 * @publicApi
 */
export class McpAskError extends Error {
  override readonly name = 'McpAskError';

  /**
   * @param options `cause`: what made the sending fail, or ended the call
   * @param answer the error of the client, as it gave it; missing unless it refused
   */
  constructor(
    readonly fault: McpAskFault,
    message: string,
    options?: { readonly cause: unknown },
    readonly answer?: RpcError,
  ) {
    super(message, options);
  }

  /** Whether a thrown value is such an error, also one made by another copy of this library. */
  static is(value: unknown): value is McpAskError {
    return value instanceof Error && value.name === 'McpAskError' && 'fault' in value;
  }
}

import { ErrorCode } from '../protocol/error-codes.js';
import type { RpcError } from '../protocol/json-rpc.js';
import { McpError } from '../protocol/mcp-error.js';

/** The answer to a request whose params are wrong. */
export function invalidParams(why: string): { error: RpcError } {
  return { error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${why}` } };
}

/** The error of a call whose result cannot tell why it ended. */
export function endedError(why: string): never {
  throw new McpError(ErrorCode.InternalError, why);
}

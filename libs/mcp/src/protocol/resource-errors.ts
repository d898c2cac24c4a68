import { ErrorCode } from './error-codes.js';
import { McpError } from './mcp-error.js';
import { MAX_URI_LENGTH } from './uri.js';
import type { McpEra } from './versions.js';

/** There is no such resource. Sources: Resources, Error Handling, 2026-07-28 and 2025-11-25. */
export function resourceNotFound(uri: string, era: McpEra, message = 'Resource not found'): McpError {
  const code = era === 'modern' ? ErrorCode.InvalidParams : ErrorCode.ResourceNotFound;
  return new McpError(code, message, { uri });
}

/** What was given as an address is none, in any revision. One that is too long is not repeated. */
export function invalidUri(given: unknown): McpError {
  const isTooLong = typeof given === 'string' && given.length > MAX_URI_LENGTH;
  const isShown = !isTooLong && (typeof given !== 'object' || given === null);
  return new McpError(
    ErrorCode.InvalidParams,
    `Invalid params: "uri" must be a URI of at most ${MAX_URI_LENGTH} characters`,
    isShown ? { uri: given ?? null } : undefined,
  );
}

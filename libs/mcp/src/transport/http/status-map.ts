import type { Outcome } from '../../protocol/dispatcher.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import type { McpEra } from '../../protocol/versions.js';

/**
 * The HTTP status of an answer from the dispatcher. Most errors travel in a 200; the ones that a client
 * of 2026-07-28 tells eras apart by have a status of their own.
 * Source: Streamable HTTP, 2026-07-28.
 */
export function statusOf({ error, busy }: Outcome, era: McpEra): number {
  if (!error) return 200;
  if (busy) return 503;
  if (era === 'legacy') return 200;
  switch (error.code) {
    case ErrorCode.MethodNotFound:
      return 404;
    case ErrorCode.HeaderMismatch:
    case ErrorCode.MissingClientCapability:
    case ErrorCode.UnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

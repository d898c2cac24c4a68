import { ErrorCode } from './error-codes.js';
import type { JsonObject, RpcError } from './json-rpc.js';
import { claimsEnvelope } from './request-meta.js';
import { eraOf, type McpEra, type ServedRevisions } from './versions.js';

/**
 * Which era's rules a message follows. The body decides: the per-request metadata is modern, whatever the
 * method. Without it a modern version header tells a modern client that forgot it, so that it is told so
 * instead of being taken for a legacy one. A server without modern revisions takes all as legacy, so that
 * a client that speaks both falls back. Source: Versioning, 2026-07-28.
 */
export function eraOfMessage(
  params: JsonObject | undefined,
  header: string | undefined,
  served: ServedRevisions,
): McpEra {
  if (served.modern.length === 0) return 'legacy';
  if (claimsEnvelope(params)) return 'modern';
  return header !== undefined && isDate(header) && eraOf(header) === 'modern' ? 'modern' : 'legacy';
}

const isDate = (version: string) => /^\d{4}-\d{2}-\d{2}$/.test(version);

/** -32022 with what is served. Source: Versioning, 2026-07-28. */
export function unsupportedVersion(requested: string, served: ServedRevisions): RpcError {
  return {
    code: ErrorCode.UnsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported: served.modern, requested },
  };
}

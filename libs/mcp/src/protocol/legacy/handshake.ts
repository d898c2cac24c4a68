import { ErrorCode } from '../error-codes.js';
import { unsupportedVersion } from '../era.js';
import { isObject, type JsonObject, type RpcError } from '../json-rpc.js';
import { isImplementation, type ClientInfo } from '../request-meta.js';
import type { McpRevision, ServedRevisions } from '../versions.js';

/** What `initialize` settled. */
export interface Handshake {
  readonly revision: McpRevision;
  readonly client: ClientInfo;
}

/** Characters of what a client says of itself. */
const MAX_CLIENT = 16 * 1024;
/** Brackets and commas of it: an empty object takes more room than its two characters. */
const MAX_CLIENT_TOKENS = 500;

/**
 * Reads `initialize` and chooses the revision. A revision that is not served is no error: the newest
 * legacy one is offered instead. Source: Lifecycle, Version Negotiation, 2025-11-25.
 */
export function readHandshake(params: JsonObject | undefined, served: ServedRevisions): Handshake | RpcError {
  const requested = params?.['protocolVersion'];
  if (typeof requested !== 'string') return invalid('"protocolVersion" must be a string');
  const revision = served.negotiate(requested);
  if (!revision) return unsupportedVersion(requested, served);
  const capabilities = params?.['capabilities'] ?? {};
  if (!isObject(capabilities)) return invalid('"capabilities" must be an object');
  const info = params?.['clientInfo'];
  // A session keeps them, for as long as it lives.
  const text = JSON.stringify([capabilities, info]);
  if (text.length > MAX_CLIENT || text.split(/[[{,]/, MAX_CLIENT_TOKENS + 1).length > MAX_CLIENT_TOKENS)
    return invalid(
      `"capabilities" and "clientInfo" have more than ${MAX_CLIENT} characters, or ${MAX_CLIENT_TOKENS} members`,
    );
  if (info === undefined) return { revision, client: { capabilities } };
  if (!isImplementation(info)) return invalid('"clientInfo" must have a "name" and a "version"');
  return { revision, client: { name: info.name, version: info.version, capabilities } };
}

function invalid(message: string): RpcError {
  return { code: ErrorCode.InvalidParams, message: `Invalid params: ${message}` };
}

import { ErrorCode } from '../../protocol/error-codes.js';
import type { JsonObject, RpcError } from '../../protocol/json-rpc.js';
import type { Envelope } from '../../protocol/request-meta.js';

/** The headers that mirror a modern message. */
export interface MirroredHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** Methods whose `Mcp-Name` header mirrors a member of the params. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** A header that is there must agree with the body. Source: Streamable HTTP, Server Validation, 2026-07-28. */
export function checkAgreement(
  headers: MirroredHeaders,
  envelope: Envelope | undefined,
  method: string,
): RpcError | undefined {
  if (headers.version !== undefined && envelope && headers.version !== envelope.version) {
    return mismatch('MCP-Protocol-Version differs from the version in _meta');
  }
  if (headers.method !== undefined && headers.method !== method)
    return mismatch('Mcp-Method differs from the method');
  return undefined;
}

/** The headers that a request must have. Source: Streamable HTTP, Standard MCP Request Headers, 2026-07-28. */
export function checkPresence(
  headers: MirroredHeaders,
  method: string,
  params: JsonObject | undefined,
): RpcError | undefined {
  if (headers.version === undefined) return mismatch('MCP-Protocol-Version is missing');
  if (headers.method === undefined) return mismatch('Mcp-Method is missing');
  if (!Object.hasOwn(NAMED, method)) return undefined;
  const member = NAMED[method]!;
  if (headers.name === undefined) {
    // What is no text cannot be mirrored: the method itself says what is wrong with it.
    return typeof params?.[member] === 'string' ? mismatch('Mcp-Name is missing') : undefined;
  }
  const name = decodeHeader(headers.name);
  if (name === undefined) return mismatch('Mcp-Name is not well encoded');
  return name === params?.[member] ? undefined : mismatch(`Mcp-Name differs from params.${member}`);
}

const SENTINEL = /^=\?base64\?(.*)\?=$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PLAIN = /^[\t\x20-\x7e]*$/;

/**
 * A mirrored value as the body has it: plain ASCII as it is, anything else as Base64 of its UTF-8 between
 * the markers. Nothing where it is neither. Source: Streamable HTTP, Value Encoding, 2026-07-28.
 */
export function decodeHeader(value: string): string | undefined {
  if (!PLAIN.test(value)) return undefined;
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}

function mismatch(what: string): RpcError {
  return { code: ErrorCode.HeaderMismatch, message: `Header mismatch: ${what}` };
}

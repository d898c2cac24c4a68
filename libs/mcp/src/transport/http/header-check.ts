import { ErrorCode } from '../../protocol/error-codes.js';
import { isObject, type JsonObject, type RpcError } from '../../protocol/json-rpc.js';
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

/** An argument that a client repeats in a header, by the schema of its tool. */
interface MirroredArgument {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/**
 * The headers that mirror arguments: required and equal where the body has a value, not looked at where it has none.
 * What is of another type than its schema says is left to the schema.
 * Source: Streamable HTTP, Custom Headers from Tool Parameters, 2026-07-28.
 */
export function checkMirrored(
  mirrored: readonly MirroredArgument[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
  isRepeated: (name: string) => boolean,
): RpcError | undefined {
  for (const { header, path, type } of mirrored) {
    const value = path.reduce<unknown>(
      (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
      args,
    );
    if (value === undefined || value === null || typeof value === 'object') continue;
    const name = `Mcp-Param-${header}`;
    const sent = headerOf(name.toLowerCase());
    const where = path.join('.');
    if (sent === undefined) return mismatch(`${name} is missing, while the argument ${where} is there`);
    // What stands before the server may have read the first line alone.
    if (isRepeated(name.toLowerCase())) return mismatch(`${name} is sent more than once`);
    const text = decodeHeader(sent);
    if (text === undefined) return mismatch(`${name} is not well encoded`);
    if (!isSame(text, value, type)) return mismatch(`${name} differs from the argument ${where}`);
  }
  return undefined;
}

const DECIMAL = /^-?[0-9]+(?:\.0+)?$/;

/** Integers by their value, so that `42.0` is 42; beyond 2^53 two of them cannot be told apart. */
function isSame(text: string, value: unknown, type: MirroredArgument['type']): boolean {
  if (type !== 'integer' || typeof value !== 'number') return text === String(value);
  return Number.isSafeInteger(value) && DECIMAL.test(text) && Number(text) === value;
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

import { ErrorCode } from './error-codes.js';
import { isObject, readId, type JsonObject, type RpcError } from './json-rpc.js';
import { tokenAt } from './json-scan.js';

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';

/** Who a client says it is. */
export interface ClientInfo {
  readonly name?: string;
  readonly version?: string;
  readonly capabilities: JsonObject;
}

/** The per-request metadata of 2026-07-28. */
export interface Envelope {
  readonly version: string;
  readonly client: ClientInfo;
}

/** Whether the message carries some part of the envelope that only a modern client sends. */
export function claimsEnvelope(params: JsonObject | undefined): boolean {
  const meta = params?.['_meta'];
  return isObject(meta) && (META_VERSION in meta || META_CAPABILITIES in meta);
}

/**
 * Reads `params._meta` of a modern request. What is missing or malformed is an error that names the key.
 * Source: Base Protocol, Request Metadata, 2026-07-28.
 */
export function readEnvelope(params: JsonObject | undefined): Envelope | RpcError {
  const meta = params?.['_meta'];
  if (!isObject(meta))
    return invalid(`params._meta must be an object with "${META_VERSION}" and "${META_CAPABILITIES}"`);
  const version = meta[META_VERSION];
  if (typeof version !== 'string') return invalid(`params._meta["${META_VERSION}"] must be a string`);
  const capabilities = meta[META_CAPABILITIES];
  if (!isObject(capabilities)) return invalid(`params._meta["${META_CAPABILITIES}"] must be an object`);
  const info = meta[META_CLIENT];
  if (info === undefined) return { version, client: { capabilities } };
  if (!isImplementation(info))
    return invalid(`params._meta["${META_CLIENT}"] must have a "name" and a "version"`);
  return { version, client: { name: info.name, version: info.version, capabilities } };
}

/** Whether a value has what every revision demands of an Implementation. */
export function isImplementation(value: unknown): value is { name: string; version: string } {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string';
}

/**
 * The JSON token of the request's progress token, digits kept; none where the client did not ask.
 * Source: Progress, all revisions.
 */
export function readProgressToken(
  params: JsonObject | undefined,
  text: string,
): string | undefined | RpcError {
  const meta = params?.['_meta'];
  if (!isObject(meta)) return undefined;
  const token = meta['progressToken'];
  if (token === undefined) return undefined;
  const id = typeof token === 'string' ? readId(JSON.stringify(token)) : readId(tokenAt(text, TOKEN_PATH));
  return id
    ? id.text
    : invalid('params._meta.progressToken must be a string of at most 256 characters or an integer');
}

const TOKEN_PATH = ['params', '_meta', 'progressToken'];

function invalid(message: string): RpcError {
  return { code: ErrorCode.InvalidParams, message: `Invalid params: ${message}` };
}

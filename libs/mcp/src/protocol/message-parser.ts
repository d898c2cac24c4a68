import { isUtf8 } from 'node:buffer';
import { ErrorCode } from './error-codes.js';
import {
  isObject,
  quote,
  readId,
  type JsonObject,
  type ParsedMessage,
  type RejectedMessage,
  type RequestId,
} from './json-rpc.js';
import { scanMessage, type ScanFault, type ScanLimits } from './json-scan.js';

/**
 * Takes the bytes of one message apart: UTF-8, limits, JSON, JSON-RPC shape. Never throws; what is not a
 * message comes back as a rejection with the error to answer and the id, where it could be read.
 * Source: JSON-RPC 2.0; Base Protocol, Messages, all revisions.
 */
export function parseMessage(bytes: Uint8Array, limits: ScanLimits): ParsedMessage {
  if (bytes.length === 0) return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is empty');
  if (!isUtf8(bytes)) return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const scan = scanMessage(text, limits);
  if (scan.fault) return reject(readId(scan.id), ErrorCode.InvalidRequest, faultText(scan.fault, limits));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is not JSON');
  }
  if (isObject(value)) return classify(value, readId(scan.id), text);
  const what = Array.isArray(value)
    ? 'batches are not supported, send one message at a time'
    : 'a message is an object';
  return reject(undefined, ErrorCode.InvalidRequest, `Invalid request: ${what}`);
}

function classify(value: JsonObject, id: RequestId | undefined, text: string): ParsedMessage {
  const invalid = (why: string) => reject(id, ErrorCode.InvalidRequest, `Invalid request: ${why}`);
  if (value['jsonrpc'] !== '2.0') return invalid('"jsonrpc" must be "2.0"');
  if (Object.hasOwn(value, 'id') && !id) {
    return invalid('"id" must be a string of at most 256 characters or an integer');
  }
  const source = { text, value };
  if (!Object.hasOwn(value, 'method'))
    return classifyResponse(value, id, source) ?? invalid('"method" is missing');
  const { method, params } = value;
  if (typeof method !== 'string' || method === '')
    return invalid('"method" must be a string that is not empty');
  if (params !== undefined && !isObject(params)) return invalid('"params" must be an object');
  return id
    ? { kind: 'request', id, method, params, source }
    : { kind: 'notification', method, params, source };
}

function classifyResponse(
  value: JsonObject,
  id: RequestId | undefined,
  source: { text: string; value: JsonObject },
): ParsedMessage | undefined {
  const hasResult = isObject(value['result']);
  const hasError = isObject(value['error']);
  if (hasResult === hasError || (hasResult && !id)) return undefined;
  return { kind: 'response', id, source };
}

function faultText(fault: ScanFault, limits: ScanLimits): string {
  if (fault === 'depth') return `Invalid request: nested deeper than ${limits.depth} levels`;
  if (fault === 'tokens') return `Invalid request: more than ${limits.tokens} brackets and commas`;
  return 'Invalid request: a member of the envelope appears twice';
}

function reject(id: RequestId | undefined, code: number, message: string): RejectedMessage {
  return { kind: 'rejected', id, error: { code, message } };
}

/** The error for a method that is not there. */
export function methodNotFound(method: string): { code: number; message: string } {
  return { code: ErrorCode.MethodNotFound, message: `Method not found: ${quote(method)}` };
}

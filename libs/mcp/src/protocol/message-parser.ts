import { isUtf8 } from 'node:buffer';
import { ErrorCode } from './error-codes.js';
import {
  isObject,
  quote,
  readId,
  type JsonObject,
  type ParsedInput,
  type ParsedMessage,
  type RejectedMessage,
  type RequestId,
} from './json-rpc.js';
import { elementTexts, scanMessage, type ScanFault, type ScanLimits } from './json-scan.js';
import { claimsEnvelope } from './request-meta.js';

/** Messages that one batch may hold: each may start a call, whatever the size of the body. */
export const MAX_BATCH = 100;

/** What a batch comes to wherever none is served: everywhere but in 2025-03-26. */
export const BATCH_NOT_SERVED = invalidRequest(
  undefined,
  'a batch is of 2025-03-26 alone: send one message at a time',
);

/**
 * Takes the bytes of one message apart: UTF-8, limits, JSON, JSON-RPC shape. Never throws; what is not a
 * message comes back as a rejection with the error to answer and the id, where it could be read. An array
 * is a batch of messages, under the limits of one. Source: JSON-RPC 2.0; Base Protocol, Messages, all revisions.
 */
export function parseMessage(bytes: Uint8Array, limits: ScanLimits): ParsedInput {
  if (bytes.length === 0) return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is empty');
  if (!isUtf8(bytes)) return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const scan = scanMessage(text, limits);
  if (scan.fault) return invalidRequest(readId(scan.id), faultText(scan.fault, limits));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return reject(undefined, ErrorCode.ParseError, 'Parse error: the message is not JSON');
  }
  if (isObject(value)) return classify(value, readId(scan.id), text);
  if (Array.isArray(value)) return takeBatch(value, text, limits);
  return invalidRequest(undefined, 'a message is an object');
}

/**
 * Sorts the members of a batch. What is wrong with one of them is answered for that one alone.
 * Source: JSON-RPC 2.0, Batch; Base Protocol, Batching, 2025-03-26.
 */
function takeBatch(values: readonly unknown[], text: string, limits: ScanLimits): ParsedInput {
  if (values.length === 0) return invalidRequest(undefined, 'the batch is empty');
  if (values.length > MAX_BATCH)
    return invalidRequest(undefined, `the batch has more than ${MAX_BATCH} messages`);
  if (values.some(isModern))
    return invalidRequest(undefined, 'a message with the metadata of 2026-07-28 is never in a batch');
  const texts = elementTexts(text);
  const members = values.map((value, index) => takeMember(value, texts[index]!, limits));
  return { kind: 'batch', members, source: { text, value: values } };
}

function isModern(value: unknown): boolean {
  return isObject(value) && isObject(value['params']) && claimsEnvelope(value['params']);
}

function takeMember(value: unknown, text: string, limits: ScanLimits): ParsedMessage {
  if (!isObject(value)) return invalidRequest(undefined, 'a message is an object');
  const scan = scanMessage(text, limits);
  const id = readId(scan.id);
  if (scan.fault) return invalidRequest(id, faultText(scan.fault, limits));
  const message = classify(value, id, text);
  return message.kind === 'request' && message.method === 'initialize'
    ? invalidRequest(id, '"initialize" is never in a batch')
    : message;
}

function classify(value: JsonObject, id: RequestId | undefined, text: string): ParsedMessage {
  const invalid = (why: string) => invalidRequest(id, why);
  if (value['jsonrpc'] !== '2.0') return invalid('"jsonrpc" must be "2.0"');
  if (Object.hasOwn(value, 'id') && !id) {
    return invalid('"id" must be a string of at most 256 characters or an integer');
  }
  const source = { text, value };
  if (!Object.hasOwn(value, 'method')) return classifyResponse(value, id, source);
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
): ParsedMessage {
  const { result, error } = value;
  const [hasResult, hasError] = [isObject(result), isObject(error)];
  const response = { kind: 'response', id, source } as const;
  if (hasResult !== hasError && !(hasResult && !id)) return response;
  if (!id || (result === undefined && error === undefined)) return invalidRequest(id, '"method" is missing');
  const rejected = invalidRequest(id, 'an answer has either a "result" or an "error", which is an object');
  return { ...rejected, answer: response };
}

function faultText(fault: ScanFault, limits: ScanLimits): string {
  if (fault === 'depth') return `nested deeper than ${limits.depth} levels`;
  if (fault === 'tokens') return `more than ${limits.tokens} brackets and commas`;
  return 'a member of the envelope appears twice';
}

function invalidRequest(id: RequestId | undefined, why: string): RejectedMessage {
  return reject(id, ErrorCode.InvalidRequest, `Invalid request: ${why}`);
}

function reject(id: RequestId | undefined, code: number, message: string): RejectedMessage {
  return { kind: 'rejected', id, error: { code, message } };
}

/** The error for a method that is not there. */
export function methodNotFound(method: string): { code: number; message: string } {
  return { code: ErrorCode.MethodNotFound, message: `Method not found: ${quote(method)}` };
}

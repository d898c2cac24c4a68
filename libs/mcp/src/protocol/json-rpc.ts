/**
 * A request's id. `text` is the JSON token as it was sent, so that it is echoed byte for byte;
 * `key` is the same for equal ids, whatever escapes were used.
 */
export interface RequestId {
  readonly text: string;
  readonly key: string;
}

/** A JSON-RPC error as it goes on the wire. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type JsonObject = Record<string, unknown>;

export interface RequestMessage {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly source: MessageSource;
}

export interface NotificationMessage {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly source: MessageSource;
}

export interface ResponseMessage {
  readonly kind: 'response';
  readonly id: RequestId | undefined;
  readonly source: MessageSource;
}

/** What could not be taken as a message, and the error that says so. */
export interface RejectedMessage {
  readonly kind: 'rejected';
  readonly id: RequestId | undefined;
  readonly error: RpcError;
  /** Where it is an answer to a request of ours, though a wrong one: whoever waits for it is to be told. */
  readonly answer?: ResponseMessage;
}

/** The text of a message and the value it parsed to. */
export interface MessageSource {
  readonly text: string;
  readonly value: JsonObject;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;
export type ParsedMessage = Message | RejectedMessage;

/**
 * Several messages that came as one array, in their order; each stands for itself, and those that could not be
 * taken are among them. Only 2025-03-26 has batches: whether one is served is up to the transport.
 */
export interface BatchMessage {
  readonly kind: 'batch';
  readonly members: readonly ParsedMessage[];
  readonly source: BatchSource;
}

/** The text of a batch and the array it parsed to. */
export interface BatchSource {
  readonly text: string;
  readonly value: readonly unknown[];
}

/** What one body or one line may hold. */
export type ParsedInput = ParsedMessage | BatchMessage;

const MAX_ID_LENGTH = 256;
const INTEGER = /^-?(?:0|[1-9][0-9]{0,255})$/;
/** A whole string token without escapes. */
const PLAIN_STRING = /^"[^"\\\p{Cc}]*"$/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Reads the JSON token of an id, a progress token or a request reference: a string of at most 256
 * characters, or a literal integer of at most 256 digits. Anything else (`1.0`, `1e2`, `null`) is none,
 * and so is a token that is no JSON: it may come from a message that was refused before it was parsed.
 */
export function readId(token: string | undefined): RequestId | undefined {
  if (token === undefined) return undefined;
  if (token.charCodeAt(0) === 0x22) return readStringId(token);
  return INTEGER.test(token) ? { text: token, key: token } : undefined;
}

function readStringId(token: string): RequestId | undefined {
  if (PLAIN_STRING.test(token))
    return token.length <= MAX_ID_LENGTH + 2 ? { text: token, key: token } : undefined;
  const value = parseString(token);
  if (value === undefined || value.length > MAX_ID_LENGTH || LONE_SURROGATE.test(value)) return undefined;
  return { text: token, key: JSON.stringify(value) };
}

function parseString(token: string): string | undefined {
  try {
    return JSON.parse(token) as string;
  } catch {
    return undefined;
  }
}

/** The id as a handler sees it: a string, a number, or the digits as text beyond 2^53. */
export function idValue(id: RequestId): string | number {
  const value = JSON.parse(id.text) as string | number;
  return typeof value === 'string' || Number.isSafeInteger(value) ? value : id.text;
}

/** The bytes of a successful response; `result` is JSON text. */
export function resultMessage(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${id.text},"result":${result}}`;
}

/**
 * The bytes of an error response. Where the id could not be read it is left out, or `null` for a
 * client whose revision (2025-06-18 or earlier) has no error without id.
 */
export function errorMessage(id: RequestId | undefined, error: RpcError, nullId = false): string {
  const idMember = id ? `"id":${id.text},` : nullId ? '"id":null,' : '';
  // Of a function or a symbol there is no JSON, whatever the types say.
  const json = JSON.stringify(error.data) as string | undefined;
  const data = json === undefined ? '' : `,"data":${json}`;
  return `{"jsonrpc":"2.0",${idMember}"error":{"code":${error.code},"message":${JSON.stringify(error.message)}${data}}}`;
}

/** The bytes of a request of the server; `idText` is the JSON token of its id, `params` is JSON text. */
export function requestMessage(idText: string, method: string, params?: string): string {
  const member = params === undefined ? '' : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText},"method":${JSON.stringify(method)}${member}}`;
}

/** The bytes of a notification; `params` is JSON text. */
export function notificationMessage(method: string, params?: string): string {
  const member = params === undefined ? '' : `,"params":${params}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${member}}`;
}

/** Whether a parsed JSON value is an object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MAX_SHOWN = 64;

/**
 * A text from the wire as it may be shown in a message or a log line: clipped, quoted, and with
 * control, format and bidirectional characters escaped.
 */
export function quote(text: string): string {
  const clipped = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return JSON.stringify(clipped).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

import {
  errorResult,
  isContentBlock,
  roughSize,
  textResult,
  type ContentBlock,
  type ToolResult,
} from '../protocol/content.js';
import { isObject } from '../protocol/json-rpc.js';

/** A handler returned what JSON cannot carry. */
export class UnserialisableResultException extends Error {
  override readonly name = 'UnserialisableResultException';
}

/** How far a result may go. */
export interface ResultBounds {
  /** Its signal, made only when asked for, aborts when the call ends before its handler. */
  readonly call: { readonly signal: AbortSignal };
  /** Bytes of one serialised result. */
  readonly resultSize: number;
}

const FULL_RESULT_MEMBERS = new Set(['content', 'structuredContent', 'isError', '_meta']);

/**
 * What a handler returns, as a result. A string is its text; an object is structured content and its JSON
 * as text; an array its JSON as text; a number, boolean, bigint and `null` their text; `undefined` no
 * content; a `Date` its ISO text; bytes their base64 text; an async iterable its items in order. Content
 * blocks, lists of them and whole results pass as they are.
 *
 * @throws UnserialisableResultException for a cycle, a function, a symbol and the like
 */
export function mapResult(value: unknown, bounds: ResultBounds): ToolResult | Promise<ToolResult> {
  switch (typeof value) {
    case 'string':
      return textResult(value);
    case 'undefined':
      return { content: [] };
    case 'number':
    case 'boolean':
    case 'bigint':
      return textResult(String(value));
    case 'object':
      return value === null ? textResult('null') : mapObject(value, bounds);
    case 'function':
    case 'symbol':
      throw new UnserialisableResultException(`a ${typeof value} cannot be a result`);
  }
}

function mapObject(value: object, bounds: ResultBounds): ToolResult | Promise<ToolResult> {
  if (value instanceof Date)
    return textResult(Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString());
  if (value instanceof Uint8Array) {
    return textResult(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
  }
  if (isContentBlock(value)) return { content: [value] };
  if (Array.isArray(value)) {
    return value.length > 0 && value.every(isContentBlock)
      ? { content: value as ContentBlock[] }
      : jsonResult(value);
  }
  if (Symbol.asyncIterator in value) return collect(value as AsyncIterable<unknown>, bounds);
  return isFullResult(value) ? fullResult(value) : jsonResult(value);
}

function jsonResult(value: object): ToolResult {
  const structured = toJson(value);
  if (structured === undefined) return { content: [] };
  const content: ContentBlock[] = [{ type: 'text', text: structured }];
  return structured.startsWith('{') ? { content, structured, structuredIsObject: true } : { content };
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch (error) {
    throw new UnserialisableResultException('JSON cannot carry the result', { cause: error });
  }
}

/**
 * Takes items until they end, the call does, or they are more than a result may hold: an endless source
 * would never let go of the process. The source is told to stop, whichever it is.
 */
async function collect(items: AsyncIterable<unknown>, bounds: ResultBounds): Promise<ToolResult> {
  const content: ContentBlock[] = [];
  const iterator = items[Symbol.asyncIterator]();
  const { signal } = bounds.call;
  const stop = () => void Promise.resolve(iterator.return?.()).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  let size = 0;
  try {
    for await (const item of { [Symbol.asyncIterator]: () => iterator }) {
      const blocks = (await mapResult(item, bounds)).content;
      content.push(...blocks);
      size += blocks.reduce((sum, block) => sum + roughSize(block), 0);
      if (signal.aborted || size > bounds.resultSize) break;
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return { content };
}

/** Content blocks, structured content or both, and nothing that a result does not have. */
function isFullResult(value: object): value is { content?: ContentBlock[] } & Record<string, unknown> {
  const { content } = value as { content?: unknown };
  const isShaped =
    content === undefined
      ? 'structuredContent' in value
      : Array.isArray(content) && content.every(isContentBlock);
  return isShaped && Object.keys(value).every((member) => FULL_RESULT_MEMBERS.has(member));
}

function fullResult(value: { content?: ContentBlock[] } & Record<string, unknown>): ToolResult {
  const { structuredContent, isError, _meta } = value;
  const structured = toJson(structuredContent);
  const content: ContentBlock[] =
    value.content ?? (structured === undefined ? [] : [{ type: 'text', text: structured }]);
  return {
    content,
    ...(structured === undefined ? {} : { structured, structuredIsObject: structured.startsWith('{') }),
    ...(isError === true ? { isError } : {}),
    ...(isObject(_meta) ? { meta: _meta } : {}),
  };
}

/** The outcome when a filter or handler answered on the response itself. */
export function mapAnswer(
  answer: { status: number; body: unknown },
  bounds: ResultBounds,
): ToolResult | Promise<ToolResult> | undefined {
  if (answer.status < 400) return mapResult(answer.body, bounds);
  if (answer.status < 500)
    return errorResult(typeof answer.body === 'string' ? answer.body : (toJson(answer.body) ?? ''));
  return undefined;
}

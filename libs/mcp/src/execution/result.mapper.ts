import { types } from 'node:util';
import {
  isContentBlock,
  roughSize,
  textResult,
  type ContentBlock,
  type ToolResult,
} from '../protocol/content.js';
import { isObject } from '../protocol/json-rpc.js';
import { hasObjectRoot } from '../protocol/result-encoder.js';
import type { Checked, OutputContract } from '../schema/output.contract.js';
import { OutputMismatchException } from './output-mismatch.exception.js';
import { asRefusal, hasOnly, stringify, toPlain, UnserialisableResultException } from './plain-value.js';
import { ByteRun, drain, sourceOf, type ResultBounds, type ValueSource } from './value-source.js';

export { UnserialisableResultException } from './plain-value.js';
export { settle, type ResultBounds } from './value-source.js';

const FULL_RESULT_MEMBERS = new Set(['content', 'structuredContent', 'isError', '_meta']);

type WholeResult = { content?: ContentBlock[] } & Record<string, unknown>;

/**
 * What a handler returns, as a result.
 *
 * | returned                                             | result                                                     |
 * | ---------------------------------------------------- | ---------------------------------------------------------- |
 * | string                                               | its text                                                   |
 * | number, boolean, bigint, `null`                      | its text                                                   |
 * | `undefined`                                          | no content                                                 |
 * | object, class instance, `Map`                        | structured content, and its JSON as text                   |
 * | array, `Set`                                         | its JSON as text                                           |
 * | `Date`, boxed primitive, object whose `toJSON` gives a primitive | that primitive's result                        |
 * | `Buffer`, a view, an `ArrayBuffer`                   | Base64 of just those bytes as text                         |
 * | Node or web stream, `Blob`, `StreamableFile`         | its bytes as one block: an image or audio block where its declared type says so; text where strings come, or the declared type is `text/*` or JSON; else Base64 as text |
 * | stream in object mode, async iterable, generator     | each item by this table, in order                          |
 * | Observable (by `settle`)                             | its last value by this table; an empty one as `undefined`  |
 * | content block, list of content blocks                | these blocks                                               |
 * | whole result: nothing but `content` (blocks), `structuredContent`, `isError`, `_meta`, and one of the first two | as it is; without content the JSON of its structured content is the text. `{ content: [] }` is one, and says nothing |
 * | `Error`                                              | as if it had been thrown                                   |
 * | function, symbol, cycle, what JSON cannot carry      | refused by name                                            |
 *
 * What lies inside a value is written by the table of `toPlain`.
 *
 * With an output contract the value becomes structured content and its JSON the text, whatever kind it is:
 * of a source of bytes its text, of a source of items the array of them. What the schema does not know is
 * taken out first. A whole result is held to the contract by its `structuredContent`; one that is an error is
 * not held to it, and has no structured content.
 *
 * @throws UnserialisableResultException for a cycle, a function, a symbol and the like
 * @throws OutputMismatchException
 * @throws ResultTooLargeException
 */
export function mapResult(
  value: unknown,
  bounds: ResultBounds,
  output?: OutputContract,
): ToolResult | Promise<ToolResult> {
  if (typeof value === 'object' && value !== null) return mapObject(value, bounds, output);
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new UnserialisableResultException(`a ${typeof value} cannot be a result`);
  return output ? checkedResult(value, bounds, output) : primitiveResult(value as Primitive);
}

type Primitive = string | number | boolean | bigint | null | undefined;

function primitiveResult(value: Primitive): ToolResult {
  return value === undefined ? { content: [] } : textResult(String(value));
}

function mapObject(
  value: object,
  bounds: ResultBounds,
  output: OutputContract | undefined,
): ToolResult | Promise<ToolResult> {
  if (isError(value)) throw value;
  try {
    const source = sourceOf(value, bounds);
    if (source) return output ? checkedSource(source, bounds, output) : contentOf(source, bounds);
    if (!output) return objectResult(value, bounds);
  } catch (error) {
    throw asRefusal(error);
  }
  return checkedObject(value, bounds, output);
}

/** Whether a value counts as thrown. Told without running anything of its own, which may throw. */
export function isError(value: unknown): boolean {
  return types.isNativeError(value) || (!types.isProxy(value) && value instanceof Error);
}

function objectResult(value: object, bounds: ResultBounds): ToolResult {
  // Plain first: what class-transformer hides stays hidden in a block as well.
  const plain = toPlain(value, bounds.resultSize);
  if (isContentBlock(plain)) return { content: [plain] };
  if (Array.isArray(plain) && plain.length > 0 && plain.every(isContentBlock)) return { content: plain };
  if (isFullResult(plain)) return fullResult(plain);
  return typeof plain === 'object' && plain !== null
    ? jsonResult(plain)
    : primitiveResult(plain as Primitive);
}

function jsonResult(plain: object): ToolResult {
  const text = stringify(plain);
  const content: ContentBlock[] = [{ type: 'text', text }];
  return text.startsWith('{') ? { content, structured: text, structuredIsObject: true } : { content };
}

/** Counted for an item without content, so that a source of nothing has an end as well. */
const SIZE_OF_NOTHING = 24;

async function contentOf(source: ValueSource, bounds: ResultBounds): Promise<ToolResult> {
  const content: ContentBlock[] = [];
  await drain(source, bounds, async (item) => {
    const blocks = item instanceof ByteRun ? [blockOf(item)] : (await mapResult(item, bounds)).content;
    let size = 0;
    for (const block of blocks) {
      content.push(block);
      size += roughSize(block);
    }
    return size || SIZE_OF_NOTHING;
  });
  return { content };
}

function blockOf(run: ByteRun): ContentBlock {
  const [kind] = run.type.split('/');
  if (kind === 'image' || kind === 'audio') return { type: kind, data: run.toBase64(), mimeType: run.type };
  return { type: 'text', text: run.toString() };
}

/** Content blocks, structured content or both, and nothing that a result does not have. */
function isFullResult(plain: unknown): plain is WholeResult {
  if (!isObject(plain) || !hasOnly(plain, FULL_RESULT_MEMBERS)) return false;
  const { content } = plain;
  return content === undefined
    ? 'structuredContent' in plain
    : Array.isArray(content) && content.every(isContentBlock);
}

function fullResult(whole: WholeResult): ToolResult {
  const { structuredContent } = whole;
  if (structuredContent === undefined) return wholeOf(whole, { content: [] });
  const structured = stringify(structuredContent);
  const structuredIsObject = structured.startsWith('{');
  return wholeOf(whole, { content: [{ type: 'text', text: structured }], structured, structuredIsObject });
}

/** A whole result with this structured content, whose text stands in where the result has no content. */
function wholeOf({ content, isError: hasFailed, _meta: meta }: WholeResult, made: ToolResult): ToolResult {
  return {
    ...made,
    ...(content && content.length > 0 ? { content } : {}),
    ...(hasFailed === true ? { isError: true } : {}),
    ...(isObject(meta) ? { meta } : {}),
  };
}

type MaybePromise<T> = T | Promise<T>;

function checkedObject(
  value: object,
  bounds: ResultBounds,
  output: OutputContract,
): MaybePromise<ToolResult> {
  const whole = wholeResult(value, bounds, output);
  if (!whole) return checkedResult(value, bounds, output);
  // An error tells of no output, so there is nothing to hold it to; unchecked data is no structured content.
  if (whole['isError'] === true) {
    const { content, meta } = fullResult(whole);
    return { content, isError: true, ...(meta ? { meta } : {}) };
  }
  if (whole['structuredContent'] === undefined)
    throw new OutputMismatchException(['the result has content, but no structuredContent']);
  // As the handler gave it: a Standard Schema parses values, not their JSON.
  const checked = checkedResult((value as WholeResult)['structuredContent'], bounds, output);
  return checked instanceof Promise ? checked.then((made) => wholeOf(whole, made)) : wholeOf(whole, checked);
}

function wholeResult(value: object, bounds: ResultBounds, output: OutputContract): WholeResult | undefined {
  try {
    if (!hasOnly(value, FULL_RESULT_MEMBERS)) return undefined;
    const plain = toPlain(value, bounds.resultSize);
    return isFullResult(plain) && !isData(plain, output) ? plain : undefined;
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Whether what looks like a result of content alone is a value of the schema, which knows a `content` itself. */
function isData(value: WholeResult, { schema }: OutputContract): boolean {
  const { properties } = schema as { properties?: unknown };
  return !('structuredContent' in value) && isObject(properties) && Object.hasOwn(properties, 'content');
}

async function checkedSource(
  source: ValueSource,
  bounds: ResultBounds,
  output: OutputContract,
): Promise<ToolResult> {
  const items: unknown[] = [];
  await drain(source, bounds, (item) => {
    const value = item instanceof ByteRun ? item.toString() : item;
    if (isError(value)) throw value;
    items.push(value);
    return stringify(toPlain(value, bounds.resultSize) ?? null).length + 1;
  });
  // A web stream tells its kind by its pieces; strings and bytes alone are one text.
  const isWhole = source.kind !== 'items' && items.length === 1 && typeof items[0] === 'string';
  return checkedResult(isWhole ? items[0] : items, bounds, output);
}

function checkedResult(
  value: unknown,
  bounds: ResultBounds,
  output: OutputContract,
): MaybePromise<ToolResult> {
  if (!output.parse) return heldTo(output, value, bounds);
  return output.parse(value).then((parsed) => {
    if ('issues' in parsed) throw new OutputMismatchException(parsed.issues);
    return heldTo(output, parsed.value, bounds);
  });
}

function heldTo(output: OutputContract, value: unknown, bounds: ResultBounds): MaybePromise<ToolResult> {
  const plain = toPlain(value, bounds.resultSize);
  if (plain === undefined) throw new OutputMismatchException(['nothing was returned']);
  const checked = output.check(plain);
  return checked instanceof Promise
    ? checked.then((outcome) => structuredResult(outcome, output))
    : structuredResult(checked, output);
}

function structuredResult(checked: Checked, output: OutputContract): ToolResult {
  if ('issues' in checked) throw new OutputMismatchException(checked.issues);
  const structured = stringify(checked.json);
  return {
    content: [{ type: 'text', text: structured }],
    structured,
    // A revision to which the schema is not published gets no structured content either.
    structuredIsObject: structured.startsWith('{') && hasObjectRoot(output.schema),
  };
}

/**
 * What an exception filter returned for a failure. With an output contract it may be an output as well; where it
 * is none it tells of the failure, so the result is an error.
 */
export async function mapFiltered(
  value: unknown,
  bounds: ResultBounds,
  output?: OutputContract,
): Promise<ToolResult> {
  if (!output) return mapResult(value, bounds);
  try {
    return await mapResult(value, bounds, output);
  } catch (error) {
    if (!(error instanceof OutputMismatchException)) throw error;
    const { content, meta } = await mapResult(value, bounds);
    return { content, isError: true, ...(meta ? { meta } : {}) };
  }
}

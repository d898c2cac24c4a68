import { types } from 'node:util';
import type { CompletionResult } from '../protocol/content.js';
import { isObject } from '../protocol/json-rpc.js';
import {
  asRefusal,
  hasOnly,
  isScalar,
  ResultTooLargeException,
  toPlain,
  UnserialisableResultException,
} from './plain-value.js';
import { isError } from './result.mapper.js';
import { ByteRun, drain, isBytes, sourceOf, type ResultBounds, type ValueSource } from './value-source.js';

type MaybePromise<T> = T | Promise<T>;

/** Source: Completion, `CompleteResult`, all revisions. */
const MOST_VALUES = 100;
const WHOLE_MEMBERS = new Set(['values', 'total', 'hasMore']);
const NO_VALUES: CompletionResult = { values: [], total: 0, hasMore: false };
const INSTEAD = 'return a list of texts, or { values, total, hasMore }';

/**
 * What a completion's handler returns, as the values it completes with.
 *
 * | returned                                             | completion                                                 |
 * | ---------------------------------------------------- | ---------------------------------------------------------- |
 * | array, `Set`, other iterable of texts                | the first 100, how many there are, whether these are more  |
 * | stream in object mode, async iterable, generator     | the same; where they are more than a result may hold, it is stopped, and their number is not told |
 * | `{ values, total?, hasMore? }`                       | the first 100; `total` is never less than the values given; `hasMore` also where there are more than are sent |
 * | `undefined`, `null`                                  | no values                                                  |
 * | `Error`, also as an item of a source                 | as if it had been thrown                                   |
 * | a single text, bytes, any other object               | refused, with what to return instead                       |
 *
 * A number, a boolean, a bigint and what `toPlain` makes a text of count as their text; a list is refused where
 * one of those that are sent is none.
 *
 * @throws UnserialisableResultException
 * @throws ResultTooLargeException
 */
export function mapCompletion(value: unknown, bounds: ResultBounds): MaybePromise<CompletionResult> {
  if (value === undefined || value === null) return NO_VALUES;
  if (typeof value !== 'object') throw refusal(`a single ${typeof value}`);
  if (isError(value)) throw value;
  try {
    if (isBytes(value)) throw refusal('bytes');
    if (Array.isArray(value) || value instanceof Set)
      return listed([...(value as Iterable<unknown>)], bounds);
    const source = sourceOf(value, bounds) ?? iterableSource(value);
    return source ? drained(source, bounds) : objectCompletion(value, bounds);
  } catch (error) {
    throw asRefusal(error);
  }
}

function listed(list: readonly unknown[], bounds: ResultBounds): CompletionResult {
  const values = sentOf(list, bounds);
  return { values, total: list.length, hasMore: list.length > values.length };
}

function sentOf(list: readonly unknown[], { resultSize }: ResultBounds): string[] {
  const values = list.slice(0, MOST_VALUES).map((item) => textOf(item, resultSize));
  if (values.reduce((sum, text) => sum + sizeOf(text), 0) > resultSize)
    throw new ResultTooLargeException(resultSize);
  return values;
}

/** With its quotes and its comma. */
function sizeOf(text: string): number {
  return text.length + 3;
}

/** A generator is a source by itself; this is any other object that gives its items one by one. */
function iterableSource(value: object): ValueSource | undefined {
  if (!(Symbol.iterator in value) || types.isBoxedPrimitive(value)) return undefined;
  const pieces = (value as Iterable<unknown>)[Symbol.iterator]();
  return { kind: 'items', pieces, stop: () => void pieces.return?.() };
}

/** Counted for a value that is not sent, so that a source without end has one. */
const SIZE_OF_UNSENT = 24;

async function drained(source: ValueSource, bounds: ResultBounds): Promise<CompletionResult> {
  if (source.kind === 'bytes') {
    source.stop();
    throw refusal('bytes');
  }
  const values: string[] = [];
  let total = 0;
  try {
    await drain(source, bounds, (item) => {
      if (item instanceof ByteRun) throw refusal('bytes');
      if (isError(item)) throw item;
      total++;
      if (values.length === MOST_VALUES) return SIZE_OF_UNSENT;
      const text = textOf(item, bounds.resultSize);
      values.push(text);
      return sizeOf(text);
    });
  } catch (error) {
    if (!(error instanceof ResultTooLargeException) || total <= MOST_VALUES) throw error;
    // It was only counted any more, and there are too many to be counted.
    return { values, hasMore: true };
  }
  return { values, total, hasMore: total > values.length };
}

function objectCompletion(value: object, bounds: ResultBounds): CompletionResult {
  const plain = toPlain(value, bounds.resultSize);
  if (plain === undefined || plain === null) return NO_VALUES;
  if (!isObject(plain)) throw refusal(`a single ${typeof plain}`);
  const { values: given, total, hasMore = false } = plain;
  if (!Array.isArray(given)) throw refusal('an object without a list of values');
  if (!hasOnly(plain, WHOLE_MEMBERS)) throw refusal('values and members that no completion has');
  if (!(total === undefined || isCount(total))) throw refusal('a total that is no whole number from 0 on');
  if (typeof hasMore !== 'boolean') throw refusal('a hasMore that is neither true nor false');
  const values = sentOf(given, bounds);
  const known = total === undefined ? undefined : Math.max(total, given.length);
  return {
    values,
    ...(known === undefined ? {} : { total: known }),
    hasMore: hasMore || (known ?? given.length) > values.length,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function textOf(item: unknown, size: number): string {
  if (isBytes(item)) throw refusal('a list in which a value is bytes');
  // As it is, where it is no object: what JSON has no number for is text here.
  const plain = typeof item === 'object' ? toPlain(item, size) : item;
  if (!isScalar(plain)) throw refusal('a list in which a value is no text');
  return String(plain);
}

function refusal(what: string): UnserialisableResultException {
  return new UnserialisableResultException(`the completion returned ${what}: ${INSTEAD}`);
}

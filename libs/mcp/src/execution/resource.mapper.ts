import {
  isBase64,
  isContentBlock,
  roughSizeOf,
  type ContentBlock,
  type ReadResult,
  type ResourceContents,
} from '../protocol/content.js';
import { isObject } from '../protocol/json-rpc.js';
import { uriFault } from '../protocol/uri.js';
import {
  asRefusal,
  hasOnly,
  isScalar,
  ResultTooLargeException,
  stringify,
  toPlain,
  UnserialisableResultException,
} from './plain-value.js';
import { isError } from './result.mapper.js';
import { ByteRun, drain, isBytes, sourceOf, type ResultBounds, type ValueSource } from './value-source.js';

/** What was asked for, and the type that its declaration gives it. */
export interface ReadTarget {
  readonly uri: string;
  readonly mimeType?: string;
}

type MaybePromise<T> = T | Promise<T>;
type Given = { readonly [Member in keyof ResourceContents]?: ResourceContents[Member] | undefined };
type Part = Given | ContentBlock;

const PLAIN_TEXT = 'text/plain';
const BINARY = 'application/octet-stream';
const JSON_TYPE = 'application/json';
const CONTENTS_MEMBERS = new Set(['uri', 'mimeType', 'text', 'blob', '_meta']);
const WHOLE_MEMBERS = new Set(['contents', '_meta']);

/**
 * What a resource's handler returns, as what was read.
 *
 * | returned                                             | contents                                                   |
 * | ---------------------------------------------------- | ---------------------------------------------------------- |
 * | string                                               | one text, `text/plain`                                     |
 * | number, boolean, bigint, `Date`, object whose `toJSON` gives a primitive | its text, the same                     |
 * | `Buffer`, a view, an `ArrayBuffer`                   | a blob of just those bytes, `application/octet-stream`; text where the type is `text/*`, JSON, XML or names a charset, and the bytes are valid in it |
 * | Node or web stream, `Blob`, `StreamableFile`         | its bytes by the same rule, with the type of the file; text where strings come |
 * | object, class instance, `Map`, array, `Set`          | its JSON as text, `application/json`                       |
 * | an object with exactly one of `text` and `blob` (Base64 or bytes), and beside it nothing but `uri`, `mimeType`, `_meta` | these contents: also where `{ text: 'x' }` was meant as data |
 * | content block                                        | text, image and audio by what they hold; the contents that a resource block embeds |
 * | list of nothing but such contents and blocks         | each of them                                               |
 * | whole result: nothing but `contents` (a list as above) and `_meta` | as it is. Only here the list may be empty    |
 * | stream in object mode, async iterable, generator     | each item by this table, in order                          |
 * | `undefined`, `null`, a source without items          | none: there is no such resource                            |
 * | `Error`                                              | as if it had been thrown                                   |
 * | link block, function, symbol, cycle, what JSON cannot carry | refused by name                                     |
 *
 * The type that the resource declares goes before those of the table, and the requested uri stands where the
 * handler gives none. What lies inside a value is written by the table of `toPlain`.
 *
 * @returns undefined where there is no such resource
 * @throws UnserialisableResultException
 * @throws ResultTooLargeException
 */
export function mapRead(
  value: unknown,
  bounds: ResultBounds,
  resource: ReadTarget,
): MaybePromise<ReadResult | undefined> {
  return new Reading(bounds, resource).read(value);
}

class Reading {
  constructor(
    private readonly bounds: ResultBounds,
    private readonly resource: ReadTarget,
  ) {}

  read(value: unknown): MaybePromise<ReadResult | undefined> {
    if (typeof value === 'function' || typeof value === 'symbol')
      throw new UnserialisableResultException(`a ${typeof value} cannot be the contents of a resource`);
    if (typeof value !== 'object' || value === null) return this.plainRead(value);
    if (isError(value)) throw value;
    try {
      if (isBytes(value)) return this.bytesRead(value);
      const source = sourceOf(value, this.bounds);
      return source ? this.sourceRead(source) : this.plainRead(toPlain(value, this.bounds.resultSize));
    } catch (error) {
      throw asRefusal(error);
    }
  }

  private bytesRead(bytes: ArrayBufferView | ArrayBufferLike): ReadResult {
    const { resultSize } = this.bounds;
    if (bytes.byteLength > resultSize) throw new ResultTooLargeException(resultSize);
    const run = new ByteRun();
    run.add(bytes);
    return this.bounded([this.ofRun(run)]);
  }

  private async sourceRead(source: ValueSource): Promise<ReadResult | undefined> {
    const contents: ResourceContents[] = [];
    await drain(source, this.bounds, async (item) => {
      const found = item instanceof ByteRun ? [this.ofRun(item)] : ((await this.read(item))?.contents ?? []);
      for (const part of found) contents.push(part);
      return roughSizeOf(found) || SIZE_OF_NOTHING;
    });
    if (contents.length > 0) return { contents };
    // A web stream tells its kind by its pieces; one without any is an empty file.
    return source.kind === 'items' ? undefined : { contents: [this.ofRun(new ByteRun(source.type))] };
  }

  private plainRead(plain: unknown): ReadResult | undefined {
    if (plain === undefined || plain === null) return undefined;
    if (isScalar(plain)) return this.bounded([this.ofText(String(plain), PLAIN_TEXT)]);
    if (isPart(plain)) return this.bounded([this.ofPart(plain)]);
    if (isParts(plain) && plain.length > 0) return this.bounded(plain.map((part) => this.ofPart(part)));
    if (!isWhole(plain)) return this.bounded([this.ofText(stringify(plain), JSON_TYPE)]);
    const { contents, _meta: meta } = plain;
    return { ...this.bounded(contents.map((part) => this.ofPart(part))), ...(meta ? { meta } : {}) };
  }

  private ofText(text: string, type: string): ResourceContents {
    const { uri, mimeType = type } = this.resource;
    return { uri, mimeType, text };
  }

  private ofRun(run: ByteRun): ResourceContents {
    const { uri, mimeType = typeOf(run) } = this.resource;
    const text = run.textAs(mimeType);
    const data = text === undefined ? { blob: run.toBase64() } : { text };
    return { uri, mimeType: mimeType ?? usualType(data), ...data };
  }

  private ofPart(part: Part): ResourceContents {
    if (!('type' in part)) return this.ofGiven(part);
    switch (part.type) {
      case 'text':
        return this.ofGiven({ text: part.text, _meta: part._meta });
      case 'image':
      case 'audio':
        return this.ofGiven({ blob: part.data, mimeType: part.mimeType, _meta: part._meta });
      case 'resource':
        return this.ofGiven(part.resource);
      case 'resource_link':
        throw new UnserialisableResultException(
          'a resource returned a link, which is no contents: return what the link leads to',
        );
    }
  }

  private ofGiven(given: Given): ResourceContents {
    const {
      uri = this.resource.uri,
      mimeType = this.resource.mimeType,
      text,
      blob = '',
      _meta: meta,
    } = given;
    const fault = uri === this.resource.uri ? undefined : uriFault(uri);
    if (fault !== undefined)
      throw new UnserialisableResultException(`a resource returned contents whose uri ${fault}`);
    if (text === undefined && !isBase64(blob))
      throw new UnserialisableResultException(
        'a resource returned a blob that is no Base64: return the bytes, their Base64, or { text }',
      );
    const data = text === undefined ? { blob } : { text };
    return { uri, mimeType: mimeType ?? usualType(data), ...data, ...(meta ? { _meta: meta } : {}) };
  }

  private bounded(contents: ResourceContents[]): ReadResult {
    const { resultSize } = this.bounds;
    if (roughSizeOf(contents) > resultSize) throw new ResultTooLargeException(resultSize);
    return { contents };
  }
}

/** Counted for an item without contents, so that a source of nothing has an end as well. */
const SIZE_OF_NOTHING = 24;

/** The media type of contents of which nothing more is known. */
export function usualType(contents: { readonly text?: string }): string {
  return contents.text === undefined ? BINARY : PLAIN_TEXT;
}

/** Nest declares bytes of which it knows no more as `application/octet-stream`: that says nothing. */
function typeOf({ declaredType, type }: ByteRun): string | undefined {
  return type === '' || type === BINARY ? undefined : declaredType;
}

function isParts(plain: unknown): plain is Part[] {
  return Array.isArray(plain) && plain.every(isPart);
}

function isPart(plain: unknown): plain is Part {
  return isGiven(plain) || isContentBlock(plain);
}

/** Contents as a handler writes them: what it leaves out is filled in. */
function isGiven(plain: unknown): plain is Given {
  if (!isObject(plain) || !hasOnly(plain, CONTENTS_MEMBERS)) return false;
  const { uri, mimeType, text, blob, _meta: meta } = plain;
  return (
    (typeof text === 'string' ? blob === undefined : text === undefined && typeof blob === 'string') &&
    (uri === undefined || typeof uri === 'string') &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (meta === undefined || isObject(meta))
  );
}

function isWhole(plain: object): plain is { contents: Part[]; _meta?: Record<string, unknown> } {
  if (!hasOnly(plain, WHOLE_MEMBERS) || !('contents' in plain) || !isParts(plain.contents)) return false;
  return !('_meta' in plain) || isObject(plain._meta);
}

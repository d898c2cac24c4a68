import { TextDecoder, types } from 'node:util';
import { isObservable, Subscription, take, type Observable } from 'rxjs';
import { base64Of, ResultTooLargeException, UnserialisableResultException } from './plain-value.js';

/** How far a result may go. */
export interface ResultBounds {
  /** Its signal, made only when asked for, aborts when the call ends before its handler. */
  readonly call: { readonly signal: AbortSignal };
  /** Bytes of one serialised result. */
  readonly resultSize: number;
}

/** What gives its content piece by piece: a stream, a file, an async iterable, a generator. */
export interface ValueSource {
  /** Bytes make one whole, items count one by one; `mixed` is told by each piece. */
  readonly kind: 'bytes' | 'items' | 'mixed';
  readonly pieces: AsyncIterator<unknown> | Iterator<unknown>;
  /** The media type that the source declares. */
  readonly type?: string;
  /** Lets go of what it reads from, also while a piece is awaited. */
  stop(): void;
}

/** Pieces of bytes or text that belong together. */
export class ByteRun {
  private readonly chunks: Buffer[] = [];
  private hasText = false;

  constructor(readonly declaredType?: string) {}

  /** @returns the bytes it grew by */
  add(piece: string | ArrayBufferView | ArrayBufferLike): number {
    const chunk = bytesOf(piece);
    this.hasText ||= typeof piece === 'string';
    this.chunks.push(chunk);
    return chunk.length;
  }

  /** The media type alone, in lower case, without parameters. */
  get type(): string {
    return mediaTypeOf(this.declaredType);
  }

  /** Text where text came or is declared, else Base64. */
  toString(): string {
    return this.hasText || IS_TEXT.test(this.type) ? this.decoded() : this.toBase64();
  }

  /** Its text where text came or the type is that of text, unless there are bytes that are none in its charset. */
  textAs(type: string | undefined): string | undefined {
    const charset = CHARSET.exec(type ?? '')?.[1];
    if (!this.hasText && charset === undefined && !IS_READABLE.test(mediaTypeOf(type))) return undefined;
    try {
      return new TextDecoder(this.hasText ? UTF_8 : (charset ?? UTF_8), { fatal: true }).decode(this.bytes);
    } catch {
      return undefined;
    }
  }

  toBase64(): string {
    return base64Of(this.bytes, Infinity);
  }

  private decoded(): string {
    const [, charset = UTF_8] = CHARSET.exec(this.declaredType ?? '') ?? [];
    // What came as text was turned into UTF-8 here, whatever was declared.
    return decoderFor(this.hasText ? UTF_8 : charset).decode(this.bytes);
  }

  private get bytes(): Buffer {
    return this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
  }
}

const UTF_8 = 'utf-8';
const IS_TEXT = /^text\/|^application\/(?:[\w.-]+\+)?json$/;
const IS_READABLE = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)$|\+xml$/;
const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]+)/i;

function mediaTypeOf(declared: string | undefined): string {
  return (declared ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

export function isBytes(value: unknown): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

function bytesOf(piece: string | ArrayBufferView | ArrayBufferLike): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece);
  if (!ArrayBuffer.isView(piece)) return Buffer.from(piece);
  return Buffer.from(piece.buffer as ArrayBuffer, piece.byteOffset, piece.byteLength);
}

interface Shapes {
  getStream(): object | undefined;
  getHeaders(): { type?: string };
  stream(): object;
  readonly type: string;
  readonly size: number;
  getReader(): ReadableStreamDefaultReader<unknown>;
  destroy(): void;
  readonly readableObjectMode: boolean;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/**
 * The source that a value is, by its shape, so that a stream of another package or copy of Nest counts as
 * well: `StreamableFile`, `Blob`, web and Node streams, async iterables, generators.
 */
export function sourceOf(value: object, bounds: ResultBounds): ValueSource | undefined {
  const isLiteral = Object.getPrototypeOf(value) === Object.prototype;
  if (isLiteral || Array.isArray(value) || ArrayBuffer.isView(value))
    return Symbol.asyncIterator in value ? iterableSource(value as Shapes) : undefined;
  const shape = value as Partial<Shapes>;
  if (has(shape, 'getStream') && has(shape, 'getHeaders')) return fileSource(shape as Shapes);
  if (has(shape, 'stream') && has(shape, 'arrayBuffer' as 'stream'))
    return blobSource(shape as Shapes, bounds);
  return streamSource(value) ?? (types.isGeneratorObject(value) ? generatorSource(value) : undefined);
}

function has(value: object, method: keyof Shapes): boolean {
  return typeof (value as Record<PropertyKey, unknown>)[method] === 'function';
}

function fileSource(file: Shapes): ValueSource {
  const stream = file.getStream();
  const source = stream && streamSource(stream);
  if (!source) throw new UnserialisableResultException('a file without a stream that can be read');
  return { ...source, kind: 'bytes', type: file.getHeaders().type ?? '' };
}

function blobSource(blob: Shapes, { resultSize }: ResultBounds): ValueSource {
  if (blob.size > resultSize) throw new ResultTooLargeException(resultSize);
  return { ...webSource(blob.stream() as Shapes), kind: 'bytes', type: blob.type };
}

function streamSource(value: object): ValueSource | undefined {
  if (has(value, 'getReader')) return webSource(value as Shapes);
  if (!(Symbol.asyncIterator in value)) return undefined;
  if (!has(value, 'pipe' as 'stream') || !has(value, 'destroy')) return iterableSource(value as Shapes);
  const stream = value as Shapes;
  return {
    kind: stream.readableObjectMode ? 'items' : 'bytes',
    pieces: stream[Symbol.asyncIterator](),
    stop: () => stream.destroy(),
  };
}

function webSource(stream: Shapes): ValueSource {
  const reader = stream.getReader();
  return {
    kind: 'mixed',
    pieces: { next: () => reader.read() as Promise<IteratorResult<unknown>> },
    stop: () => void reader.cancel().catch(() => undefined),
  };
}

function iterableSource(iterable: Shapes): ValueSource {
  const pieces = iterable[Symbol.asyncIterator]();
  return {
    kind: 'items',
    pieces,
    stop: () => void Promise.resolve(pieces.return?.()).catch(() => undefined),
  };
}

function generatorSource(value: object): ValueSource {
  const pieces = value as Generator<unknown>;
  return { kind: 'items', pieces, stop: () => void pieces.return(undefined) };
}

/**
 * Takes pieces until they end, the call does, or they are more than a result may hold: an endless source
 * would never let go of the process. The source is told to stop, whichever it is.
 *
 * @param collect is given each item, and each run of bytes once it is whole; says what an item adds in bytes
 * @throws ResultTooLargeException
 */
export async function drain(
  source: ValueSource,
  { call: { signal }, resultSize }: ResultBounds,
  collect: (item: unknown) => number | Promise<number>,
): Promise<void> {
  const stop = () => source.stop();
  signal.addEventListener('abort', stop, { once: true });
  const { kind, pieces, type } = source;
  let run = kind === 'bytes' ? new ByteRun(type) : undefined;
  let size = 0;
  let isEnded = false;
  try {
    while (!signal.aborted) {
      const { done, value } = await pieces.next();
      if (done) {
        isEnded = true;
        break;
      }
      if (kind !== 'items' && (typeof value === 'string' || isBytes(value)))
        size += (run ??= new ByteRun(type)).add(value);
      else if (kind === 'bytes') throw new UnserialisableResultException('an object in a stream of bytes');
      else {
        if (run) await collect(run);
        run = undefined;
        size += await collect(value);
      }
      if (size > resultSize) throw new ResultTooLargeException(resultSize);
    }
    if (run) await collect(run);
  } catch (error) {
    // A source that is told to stop may say so by an error, which nobody waits for any more.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    if (!isEnded) stop();
  }
}

/**
 * A handler's value, waited for: an Observable counts by its last value, an empty one as `undefined`. It is
 * unsubscribed when the call ends before it, and when it gives values without end.
 */
export function settle(value: unknown, bounds: ResultBounds): unknown {
  return isObservable(value) ? lastValueOf(value, bounds) : value;
}

function lastValueOf(source: Observable<unknown>, { call, resultSize }: ResultBounds): Promise<unknown> {
  const { signal } = call;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    let last: unknown;
    let given = 0;
    const subscription = new Subscription();
    const end = () => {
      signal.removeEventListener('abort', end);
      subscription.unsubscribe();
      resolve(last);
    };
    signal.addEventListener('abort', end, { once: true });
    const fail = (error: Error) => {
      reject(error);
      end();
    };
    subscription.add(
      // One that never waits would keep every timer from firing, that of its own time limit as well.
      source.pipe(take(resultSize + 1)).subscribe({
        next: (next) => {
          last = next;
          if (++given > resultSize) fail(new ResultTooLargeException(resultSize));
        },
        error: fail,
        complete: end,
      }),
    );
  });
}

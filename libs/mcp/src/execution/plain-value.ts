import { types } from 'node:util';
import { isObservable } from 'rxjs';
import { tooLargeText } from '../protocol/content.js';
import { ErrorCode } from '../protocol/error-codes.js';
import { McpError } from '../protocol/mcp-error.js';
import {
  instanceSerialiser,
  isSerialised,
  type InstanceSerialiser,
  type SurroundingWalk,
} from '../schema/metadata/instance-serialiser.js';

/** A handler returned what JSON cannot carry. */
export class UnserialisableResultException extends Error {
  override readonly name = 'UnserialisableResultException';
}

/** A handler returned more than one result may hold. The client reads it as it stands. */
export class ResultTooLargeException extends McpError {
  constructor(bytes: number) {
    super(ErrorCode.InternalError, tooLargeText(bytes));
  }
}

/** Levels of one value; far beyond any data, far below the end of the stack. */
export const MAX_DEPTH = 1000;
/** What a value may have where nothing else is said: the default of `limits.resultSize`. */
const DEFAULT_SIZE = 8 * 1024 * 1024;

/** A part that class-transformer writes is walked more than once, and counted as often. */
const SLACK = 4;

type Key = string | number | undefined;

/**
 * A handler's value as plain JSON value, at any depth. What is plain already comes back as it is, never as
 * a copy, and the value itself is never changed.
 *
 * | value                                         | plain                                                       |
 * | --------------------------------------------- | ----------------------------------------------------------- |
 * | `Date`                                        | its ISO text; one that is invalid is refused                |
 * | `Map`                                         | an object by `String(key)`                                  |
 * | `Set`                                         | an array                                                    |
 * | `bigint`                                      | its decimal text                                            |
 * | `Buffer`, a view, an `ArrayBuffer`            | Base64 of just those bytes                                  |
 * | an instance that class-transformer describes  | what `instanceToPlain` gives; its `toJSON` is not asked     |
 * | an object with `toJSON`                       | what that returns, then by this table                       |
 * | an `Error`                                    | its own enumerable members, without `stack` and `toJSON`    |
 * | any other instance                            | its own enumerable members                                  |
 * | a boxed primitive                             | the primitive                                               |
 * | `NaN`, an infinity                            | `null`, as JSON has it                                      |
 * | `undefined`, a function, a symbol             | left out; `null` in an array                                |
 * | a promise, stream, generator or Observable    | refused: inside a value nobody would wait for it            |
 *
 * @param size bytes that the value's JSON may have; only what is certain to exceed it is refused here
 * @throws UnserialisableResultException for a cycle, a member that throws, and the like
 * @throws ResultTooLargeException
 */
export function toPlain(value: unknown, size: number = DEFAULT_SIZE): unknown {
  if (typeof value === 'string') return value;
  try {
    return new Walk(size).plain(value, undefined);
  } catch (error) {
    throw asRefusal(error);
  }
}

/**
 * A value as `toPlain` has it, but of an error, at any depth, no more than its name and message: what libraries hang on
 * errors, the headers of a request for example, is not for clients.
 */
export function toLogged(value: unknown): unknown {
  return new Walk(DEFAULT_SIZE, true).plain(value, undefined);
}

/** A named refusal out of whatever a value's own code threw. */
export function asRefusal(error: unknown): Error {
  return error instanceof UnserialisableResultException || error instanceof ResultTooLargeException
    ? error
    : new UnserialisableResultException('JSON cannot carry the result', { cause: error });
}

/** The JSON of a plain value. */
export function stringify(plain: unknown): string {
  try {
    return JSON.stringify(plain);
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Whether a value is one that its text can stand for. */
export function isScalar(value: unknown): value is string | number | boolean | bigint {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
}

/** Whether an object has no other members than these. */
export function hasOnly(value: object, known: ReadonlySet<string>): boolean {
  return Object.keys(value).every((name) => known.has(name));
}

/** Base64 of just the bytes that a view shows. */
export function base64Of(bytes: ArrayBufferView | ArrayBufferLike, size: number = DEFAULT_SIZE): string {
  if (bytes.byteLength > (size / 4) * 3) throw new ResultTooLargeException(size);
  return (
    ArrayBuffer.isView(bytes)
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : Buffer.from(bytes)
  ).toString('base64');
}

class Walk implements SurroundingWalk {
  /** What is being written, from the top down, with the keys on the way. */
  private readonly ancestors: object[] = [];
  private readonly keys: Key[] = [];
  private serialiser: InstanceSerialiser | undefined;
  private left: number;

  constructor(
    private readonly size: number,
    /** Whether an error is its name and message alone. */
    private readonly namesErrors = false,
  ) {
    this.left = size * SLACK;
  }

  /** Undefined where JSON has nothing for the value. */
  plain(value: unknown, key: Key): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : null;
      case 'object':
        return value === null ? null : this.object(value, key, true);
      case 'bigint': {
        const { toJSON } = value as { toJSON?: unknown };
        return typeof toJSON === 'function' ? this.plain(toJSON.call(value), key) : String(value);
      }
      case 'undefined':
      case 'function':
      case 'symbol':
        return undefined;
    }
  }

  write(value: object): unknown {
    return this.object(value, undefined, true);
  }

  enter(value: object, key?: Key): void {
    const { ancestors } = this;
    this.keys.push(key);
    if (ancestors.length >= MAX_DEPTH) throw this.refusal(`more than ${MAX_DEPTH} levels`);
    for (let index = ancestors.length - 1; index >= 0; index--) {
      if (ancestors[index] === value) throw this.refusal('a cycle');
    }
    ancestors.push(value);
  }

  leave(): void {
    this.ancestors.pop();
    this.keys.pop();
  }

  private object(value: object, key: Key, mayHaveJson: boolean): unknown {
    const isArray = Array.isArray(value);
    // The least that JSON needs for it: so a value that repeats its parts over and over has an end as well.
    this.spend(isArray ? value.length + 1 : 2);
    const prototype = isArray ? null : (Object.getPrototypeOf(value) as object | null);
    if (prototype !== Object.prototype && prototype !== null)
      return this.instance(value, prototype, key, mayHaveJson);
    const { toJSON } = value as { toJSON?: unknown };
    if (mayHaveJson && typeof toJSON === 'function') return this.fromJson(value, toJSON, key);
    this.enter(value, key);
    const plain = isArray ? this.items(value) : this.members(value as Record<string, unknown>);
    this.leave();
    return plain;
  }

  private members(source: Record<string, unknown>): object {
    let copy: Record<string, unknown> | undefined;
    for (const key in source) {
      const member = source[key];
      const isPlain = isPlainPrimitive(member);
      if (copy === undefined && isPlain) continue;
      // Asked late, as it costs: what is inherited and needs no change is never written.
      if (!Object.hasOwn(source, key)) continue;
      const plain = isPlain ? member : this.plain(member, key);
      if (copy === undefined) {
        if (plain === member && plain !== undefined) continue;
        copy = membersBefore(source, key);
      }
      if (plain !== undefined) define(copy, key, plain);
    }
    return copy ?? source;
  }

  private items(source: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < source.length; index++) {
      const item = source[index];
      const plain = isPlainPrimitive(item) ? item : (this.plain(item, index) ?? null);
      if (copy === undefined) {
        if (plain === item) continue;
        copy = [];
        for (let before = 0; before < index; before++) copy.push(source[before]);
      }
      copy.push(plain);
    }
    return copy ?? source;
  }

  private instance(value: object, prototype: object, key: Key, mayHaveJson: boolean): unknown {
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return this.bytes(value);
    const isError = types.isNativeError(value) || value instanceof Error;
    if (isError && this.namesErrors) return { name: String(value.name), message: String(value.message) };
    if (isSerialised(prototype)) return this.serialised(value, prototype, key);
    if (types.isDate(value) && Number.isNaN(value.getTime())) throw this.refusal('an invalid date', key);
    if (types.isBoxedPrimitive(value) && !types.isSymbolObject(value))
      return this.plain(value.valueOf(), key);
    const { toJSON } = value as { toJSON?: unknown };
    if (mayHaveJson && typeof toJSON === 'function' && !isError) return this.fromJson(value, toJSON, key);
    if (types.isDate(value)) return value.toISOString();
    if (isAwaited(value)) throw this.refusal('a promise, stream, generator or Observable', key);
    this.enter(value, key);
    const plain = this.ownMembers(value, isError);
    this.leave();
    return plain;
  }

  private ownMembers(value: object, isError: boolean): object {
    if (types.isSet(value)) {
      this.spend(value.size);
      return this.items([...value]);
    }
    const copy: Record<string, unknown> = {};
    const members = types.isMap(value) ? value : Object.entries(value);
    for (const [key, member] of members as Iterable<[unknown, unknown]>) {
      const name = String(key);
      if (isError && name === 'stack') continue;
      const plain = this.plain(member, name);
      if (plain !== undefined) define(copy, name, plain);
    }
    return copy;
  }

  private serialised(value: object, prototype: object, key: Key): unknown {
    this.serialiser ??= instanceSerialiser(this);
    this.enter(value, key);
    // Twice, as class-transformer lets primitives and dates pass as they are.
    const plain = this.plain(this.serialiser.serialise(value, prototype), undefined);
    this.leave();
    return plain;
  }

  /** As `JSON.stringify` has it, the result's own `toJSON` is not asked again. */
  private fromJson(value: object, toJSON: Function, key: Key): unknown {
    const json: unknown = toJSON.call(value, key === undefined ? '' : String(key));
    if (typeof json !== 'object' || json === null) return this.plain(json, key);
    if (json === value) return this.object(value, key, false);
    this.enter(value, key);
    const plain = this.object(json, undefined, false);
    this.leave();
    return plain;
  }

  private bytes(value: ArrayBufferView | ArrayBufferLike): string {
    const text = base64Of(value, this.size);
    this.spend(text.length);
    return text;
  }

  private spend(bytes: number): void {
    this.left -= bytes;
    if (!(this.left >= 0)) throw new ResultTooLargeException(this.size);
  }

  private refusal(what: string, key?: Key): UnserialisableResultException {
    return new UnserialisableResultException(`${what} at ${pathOf([...this.keys, key])}`);
  }
}

function isPlainPrimitive(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    typeof value === 'boolean' ||
    value === null
  );
}

/** What would be waited for if it were the whole result. */
function isAwaited(value: object): boolean {
  return (
    typeof (value as { then?: unknown }).then === 'function' ||
    Symbol.asyncIterator in value ||
    typeof (value as { getReader?: unknown }).getReader === 'function' ||
    types.isGeneratorObject(value) ||
    isObservable(value)
  );
}

function membersBefore(source: Record<string, unknown>, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key in source) {
    if (key === end) break;
    if (Object.hasOwn(source, key)) define(copy, key, source[key]);
  }
  return copy;
}

/** Sets an own member, also one named `__proto__`. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

const MAX_SHOWN_KEYS = 8;

function pathOf(keys: readonly Key[]): string {
  const shown = keys.filter((key) => key !== undefined);
  const steps = shown.slice(0, MAX_SHOWN_KEYS).map((key) => `[${JSON.stringify(key)}]`);
  return `result${steps.join('')}${shown.length > MAX_SHOWN_KEYS ? '…' : ''}`;
}

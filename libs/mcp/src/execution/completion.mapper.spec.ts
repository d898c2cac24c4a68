import { Readable } from 'node:stream';
import { mapCompletion } from './completion.mapper.js';
import { UnserialisableResultException } from './result.mapper.js';

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 5000 };
const TOO_LARGE = 'The result is larger than 5000 bytes: ask for less';

const complete = async (value: unknown) => mapCompletion(value, BOUNDS);
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const some = (...values: string[]) => ({ values, total: values.length, hasMore: false });

async function* items(values: Iterable<unknown>) {
  for (const value of values) yield await Promise.resolve(value);
}

class Found {
  values = ['a', 'b'];
  total = 7;
}

class Shelf {
  *[Symbol.iterator]() {
    yield 'a';
    yield 'b';
  }
}

describe('mapCompletion', () => {
  it.each([
    ['a list', ['a', 'b'], some('a', 'b')],
    ['an empty list', [], some()],
    ['numbers, booleans and bigints', [1, true, 2n], some('1', 'true', '2')],
    ['dates and addresses', [new Date(0), new URL('a:b')], some('1970-01-01T00:00:00.000Z', 'a:b')],
    ['a Set', new Set(['a', 'b']), some('a', 'b')],
    ['the keys of a Map', new Map([['a', 1]]).keys(), some('a')],
    ['an iterable', new Shelf(), some('a', 'b')],
    ['a generator', new Shelf()[Symbol.iterator](), some('a', 'b')],
    ['an async iterable', items(['a', 5]), some('a', '5')],
    ['an empty async iterable', items([]), some()],
    ['a stream in object mode', Readable.from(['a', 'b']), some('a', 'b')],
    ['undefined', undefined, some()],
    ['null', null, some()],
    ['an object that turns itself into nothing', { toJSON: () => null }, some()],
    ['an empty text in a list', [''], some('')],
  ])('J11: completes with %s', async (_, value, result) => {
    expect(await complete(value)).toEqual(result);
  });

  it.each([
    ['a list', (list: string[]) => list],
    ['a Set', (list: string[]) => new Set(list)],
    ['an iterable', (list: string[]) => list.values()],
    ['an async iterable', (list: string[]) => items(list)],
  ])('J11: S-112: sends 100 values of %s, and how many there are', async (_, made) => {
    expect(await complete(made(names(100)))).toEqual({ values: names(100), total: 100, hasMore: false });
    expect(await complete(made(names(101)))).toEqual({ values: names(100), total: 101, hasMore: true });
    expect(await complete(made(names(150)))).toEqual({ values: names(100), total: 150, hasMore: true });
  });

  it.each([
    ['values alone', { values: ['a'] }, { values: ['a'], hasMore: false }],
    ['no values', { values: [] }, { values: [], hasMore: false }],
    ['a total', { values: ['a'], total: 1 }, { values: ['a'], total: 1, hasMore: false }],
    ['a larger total', { values: ['a'], total: 9 }, { values: ['a'], total: 9, hasMore: true }],
    ['a total that is too small', { values: ['a'], total: 0 }, { values: ['a'], total: 1, hasMore: false }],
    ['hasMore', { values: ['a'], hasMore: true }, { values: ['a'], hasMore: true }],
    [
      'a total that is too large for its hasMore',
      { values: ['a'], total: 9, hasMore: false },
      { values: ['a'], total: 9, hasMore: true },
    ],
    ['members that are undefined', { values: ['a'], total: undefined }, { values: ['a'], hasMore: false }],
    ['a Set', { values: new Set(['a', 2n]) }, { values: ['a', '2'], hasMore: false }],
    ['an instance', new Found(), { values: ['a', 'b'], total: 7, hasMore: true }],
    ['150 values', { values: names(150) }, { values: names(100), hasMore: true }],
    [
      '150 values and less as total',
      { values: names(150), total: 3, hasMore: false },
      { values: names(100), total: 150, hasMore: true },
    ],
    [
      '150 values of more',
      { values: names(150), total: 9000 },
      { values: names(100), total: 9000, hasMore: true },
    ],
  ])('S-112: takes a whole completion with %s', async (_, value, result) => {
    expect(await complete(value)).toEqual(result);
  });

  it.each([
    ['a single text', 'a', 'a single string: return a list of texts, or { values, total, hasMore }'],
    ['an empty text', '', 'a single string'],
    ['a boxed text', Object('a'), 'a single string'],
    ['a number', 5, 'a single number'],
    ['a function', () => ['a'], 'a single function'],
    ['a Date', new Date(0), 'a single string'],
    ['null in a list', ['a', null], 'a list in which a value is no text'],
    ['undefined in a list', [undefined], 'a list in which a value is no text'],
    ['an object in a list', [{ value: 'a' }], 'a list in which a value is no text'],
    ['a list in a list', [['a']], 'a list in which a value is no text'],
    ['a function in a list', [() => 'a'], 'a list in which a value is no text'],
    ['an Error in a list', [new Error('no')], 'a list in which a value is no text'],
    ['bytes in a list', [Buffer.from('a')], 'a list in which a value is bytes'],
    ['null in a source', items(['a', null]), 'a list in which a value is no text'],
    ['null in a whole completion', { values: ['a', null] }, 'a list in which a value is no text'],
    ['a Map', new Map([['a', 1]]), 'a list in which a value is no text'],
    ['an object', { a: 1 }, 'an object without a list of values'],
    ['values that are no list', { values: 'a' }, 'an object without a list of values'],
    ['a completion with more', { values: [], next: 1 }, 'values and members that no completion has'],
    ['a negative total', { values: [], total: -1 }, 'a total that is no whole number'],
    ['a broken total', { values: [], total: 1.5 }, 'a total that is no whole number'],
    ['a total that is a text', { values: [], total: '1' }, 'a total that is no whole number'],
    ['a total without end', { values: [], total: Infinity }, 'a total that is no whole number'],
    ['a hasMore that is a text', { values: [], hasMore: 'no' }, 'a hasMore that is neither'],
    ['a Buffer', Buffer.from('a'), 'bytes'],
    ['a typed array', Uint16Array.of(1), 'bytes'],
    ['a Node stream', Readable.from([Buffer.from('a')], { objectMode: false }), 'bytes'],
    ['a web stream', new Blob(['a']).stream(), 'bytes'],
  ])('S-112: refuses %s, and says what instead', async (_, value, message) => {
    const refusal = complete(value);
    await expect(refusal).rejects.toThrow(UnserialisableResultException);
    await expect(refusal).rejects.toThrow(message);
  });

  it('S-112: stops a source without end, and does not tell how many there are', async () => {
    let stopped = 0;
    function* endless() {
      try {
        for (;;) yield 'a';
      } finally {
        stopped++;
      }
    }
    const result = { values: Array.from({ length: 100 }, () => 'a'), hasMore: true };
    expect(await complete(endless())).toEqual(result);
    expect(await complete({ [Symbol.iterator]: endless })).toEqual(result);
    expect(await complete(items(endless()))).toEqual(result);
    expect(stopped).toBe(3);
  });

  it.each([
    ['a list', () => ['x'.repeat(5001)]],
    ['a list of many', () => Array.from({ length: 100 }, () => 'x'.repeat(50))],
    ['a whole completion', () => ({ values: ['x'.repeat(5001)] })],
    ['a source', () => items(['x'.repeat(5001)])],
  ])('refuses %s over the size of a result', async (_, value) => {
    await expect(complete(value())).rejects.toThrow(TOO_LARGE);
  });

  it('counts only what is sent', async () => {
    const list = [...names(100), 'x'.repeat(9000), null];
    expect(await complete(list)).toEqual({ values: names(100), total: 102, hasMore: true });
  });

  it('takes an Error for thrown, alone and in a source', async () => {
    const error = new Error('no');
    await expect(complete(error)).rejects.toBe(error);
    await expect(complete(items(['a', error]))).rejects.toBe(error);
  });

  it('lets go of a stream that it refuses, and of a source when the call ends', async () => {
    const refused = new Readable({ read() {} });
    await expect(complete(refused)).rejects.toThrow('bytes');
    expect(refused.destroyed).toBe(true);

    const call = new AbortController();
    const stream = new Readable({ objectMode: true, read() {} });
    const mapping = mapCompletion(stream, { call, resultSize: 1000 });
    call.abort();
    await mapping;
    expect(stream.destroyed).toBe(true);
  });
});

import * as mapper from './result.mapper.js';
import { UnserialisableResultException } from './result.mapper.js';

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 1000 };
const mapResult = (value: unknown) => mapper.mapResult(value, BOUNDS);
const mapAnswer = (answer: { status: number; body: unknown }) => mapper.mapAnswer(answer, BOUNDS);

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const block = { type: 'text', text: 'a' };
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };

async function* items(...values: unknown[]) {
  for (const value of values) yield await Promise.resolve(value);
}

describe('mapResult', () => {
  it.each([
    ['a string', 'hi', text('hi')],
    ['an empty string', '', text('')],
    ['a number', 5, text('5')],
    ['zero', 0, text('0')],
    ['NaN', Number.NaN, text('NaN')],
    ['true', true, text('true')],
    ['false', false, text('false')],
    ['a bigint', 10n, text('10')],
    ['null', null, text('null')],
    ['undefined', undefined, { content: [] }],
    ['a Date', new Date('2026-07-28T10:00:00.000Z'), text('2026-07-28T10:00:00.000Z')],
    ['a Date that is none', new Date('banana'), text('Invalid Date')],
    ['an array', [1, 'a', { b: null }], text('[1,"a",{"b":null}]')],
    ['an empty array', [], text('[]')],
  ])('I1: gives %s a documented meaning', async (_, value, result) => {
    expect(await mapResult(value)).toEqual(result);
  });

  it.each([
    [{ a: 1, b: [true] }, '{"a":1,"b":[true]}'],
    [{}, '{}'],
    [new Map([[1, 2]]), '{}'],
    [{ type: 'bug', text: 'a' }, '{"type":"bug","text":"a"}'],
    [{ content: 'a page' }, '{"content":"a page"}'],
    [
      { content: [{ type: 'text', text: 'a' }], title: 'x' },
      '{"content":[{"type":"text","text":"a"}],"title":"x"}',
    ],
    [{ toJSON: () => ({ a: 1 }) }, '{"a":1}'],
  ])('I5: gives the object %j as structured content and as text', async (value, structured) => {
    expect(await mapResult(value)).toEqual({ ...text(structured), structured, structuredIsObject: true });
  });

  it('takes an object that turns itself into a text or into nothing at its word', async () => {
    expect(await mapResult({ toJSON: () => 'a' })).toEqual(text('"a"'));
    expect(await mapResult({ toJSON: () => undefined })).toEqual({ content: [] });
  });

  it.each([
    ['a Buffer', Buffer.from([1, 2, 3])],
    ['a Uint8Array', Uint8Array.of(1, 2, 3)],
    ['a view into a larger buffer', new Uint8Array(Uint8Array.of(9, 1, 2, 3, 9).buffer, 1, 3)],
    ['a slice of a Buffer', Buffer.from([9, 1, 2, 3, 9]).subarray(1, 4)],
  ])('I7: gives %s as the base64 of just its bytes', async (_, bytes) => {
    expect(await mapResult(bytes)).toEqual(text('AQID'));
  });

  it('I6: lets ready content blocks pass, one or several', async () => {
    expect(await mapResult(block)).toEqual({ content: [block] });
    expect(await mapResult([block, image])).toEqual({ content: [block, image] });
    expect(await mapResult([block, { type: 'bug' }])).toEqual(
      text('[{"type":"text","text":"a"},{"type":"bug"}]'),
    );
  });

  it('I5: adds the text to a result that has structured content alone', async () => {
    expect(await mapResult({ structuredContent: { a: 1 } })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      structured: '{"a":1}',
      structuredIsObject: true,
    });
  });

  it('I5: lets a whole result pass', async () => {
    expect(await mapResult({ content: [block], isError: true, _meta: { a: 1 } })).toEqual({
      content: [block],
      isError: true,
      meta: { a: 1 },
    });
    expect(await mapResult({ content: [block], structuredContent: { a: 1 } })).toEqual({
      content: [block],
      structured: '{"a":1}',
      structuredIsObject: true,
    });
    expect(await mapResult({ content: [], structuredContent: [1] })).toEqual({
      content: [],
      structured: '[1]',
      structuredIsObject: false,
    });
    expect(await mapResult({ content: [block], isError: false, _meta: 'x' })).toEqual({ content: [block] });
  });

  it('gives the items of an async iterable in order', async () => {
    expect(await mapResult(items('a', 1, image, null, undefined, [block]))).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: '1' },
        image,
        { type: 'text', text: 'null' },
        block,
      ],
    });
    expect(await mapResult(items())).toEqual({ content: [] });
  });

  it('rejects as an async iterable does', async () => {
    const failing = (async function* () {
      yield await Promise.resolve('a');
      throw new Error('cut');
    })();
    await expect(mapResult(failing)).rejects.toThrow('cut');
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;

  it.each([
    ['a cycle', cycle],
    ['a cycle in an array', [cycle]],
    ['a bigint in an object', { a: 10n }],
    ['a toJSON that throws', { toJSON: () => JSON.parse('{') as unknown }],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
    ['a whole result with a cycle', { content: [], structuredContent: cycle }],
  ])('I1: refuses %s by name', (_, value) => {
    expect(() => mapResult(value)).toThrow(UnserialisableResultException);
  });

  it('I1: refuses it as an item as well', async () => {
    await expect(mapResult(items('a', cycle))).rejects.toThrow(UnserialisableResultException);
  });
});

describe('mapAnswer', () => {
  it('takes the body of an answer below 400 as the result', async () => {
    expect(await mapAnswer({ status: 200, body: { a: 1 } })).toMatchObject({ structured: '{"a":1}' });
    expect(await mapAnswer({ status: 302, body: undefined })).toEqual({ content: [] });
    expect(await mapAnswer({ status: 399, body: 'x' })).toEqual(text('x'));
  });

  it('takes one of 400 to 499 as a refusal with its body as text', async () => {
    expect(await mapAnswer({ status: 400, body: 'no' })).toEqual({ ...text('no'), isError: true });
    expect(await mapAnswer({ status: 499, body: { message: 'no' } })).toEqual({
      ...text('{"message":"no"}'),
      isError: true,
    });
  });

  it('says nothing of one from 500', () => {
    expect(mapAnswer({ status: 500, body: 'secret' })).toBeUndefined();
    expect(mapAnswer({ status: 503, body: undefined })).toBeUndefined();
  });
});

describe('an endless source', () => {
  function endless() {
    let stopped = false;
    const source = {
      [Symbol.asyncIterator]: () => source,
      next: () =>
        new Promise<{ value: string; done: false }>((resolve) =>
          setImmediate(() => resolve({ value: 'x', done: false })),
        ),
      return: () => {
        stopped = true;
        return Promise.resolve({ value: undefined, done: true as const });
      },
    };
    return { source, isStopped: () => stopped };
  }

  it('is stopped when the call ends before it', async () => {
    const { source, isStopped } = endless();
    const call = new AbortController();
    const mapped = mapper.mapResult(source, {
      ...BOUNDS,
      resultSize: Number.POSITIVE_INFINITY,
      call,
    });
    call.abort();
    await mapped;
    expect(isStopped()).toBe(true);
  });

  it('is stopped once it gave more than a result may hold, also when it never waits', async () => {
    let given = 0;
    async function* rush() {
      for (;;) {
        given++;
        yield 'x'.repeat(100);
      }
    }
    const { content } = await mapper.mapResult(rush(), BOUNDS);
    expect([given, content.length]).toEqual([9, 9]);
  });
});

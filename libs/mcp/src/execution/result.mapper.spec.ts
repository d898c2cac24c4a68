import 'reflect-metadata';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { Exclude } from 'class-transformer';
import { concat, EMPTY, interval, NEVER, Observable, of, range, repeat, throwError } from 'rxjs';
import { McpError } from '../protocol/mcp-error.js';
import type { OutputContract } from '../schema/output.contract.js';
import { OutputMismatchException } from './output-mismatch.exception.js';
import * as mapper from './result.mapper.js';
import { UnserialisableResultException } from './result.mapper.js';

const TOO_LARGE = 'The result is larger than 1000 bytes: ask for less';

class Secret {
  id = 1;

  @Exclude()
  password = 'hunter2';
}

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 1000 };
const mapResult = (value: unknown) => mapper.mapResult(value, BOUNDS);

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
    ['a Set', new Set([1, 'a']), text('[1,"a"]')],
    ['a list of instances', [new Secret()], text('[{"id":1}]')],
    ['a boxed text', Object('a'), text('a')],
    ['an ArrayBuffer', Uint8Array.of(1, 2, 3).buffer, text('AQID')],
    ['an array', [1, 'a', { b: null }], text('[1,"a",{"b":null}]')],
    ['an empty array', [], text('[]')],
  ])('I1: gives %s a documented meaning', async (_, value, result) => {
    expect(await mapResult(value)).toEqual(result);
  });

  it.each([
    [{ a: 1, b: [true] }, '{"a":1,"b":[true]}'],
    [{}, '{}'],
    [new Map([[1, 2n]]), '{"1":"2"}'],
    [new Secret(), '{"id":1}'],
    [{ list: [new Secret()], at: new Date(0) }, '{"list":[{"id":1}],"at":"1970-01-01T00:00:00.000Z"}'],
    [{ bytes: Buffer.from([1, 2, 3]), big: 10n }, '{"bytes":"AQID","big":"10"}'],
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
    expect(await mapResult({ toJSON: () => 'a' })).toEqual(text('a'));
    expect(await mapResult({ toJSON: () => 5 })).toEqual(text('5'));
    expect(await mapResult(new URL('https://example.com/'))).toEqual(text('https://example.com/'));
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

  it('I6: takes rows that look like blocks, and have more than these, for data', async () => {
    const row = { type: 'text', text: 'hello', author: 'x' };
    expect(await mapResult([row])).toEqual(text(JSON.stringify([row])));
    expect(await mapResult(row)).toEqual({
      ...text(JSON.stringify(row)),
      structured: JSON.stringify(row),
      structuredIsObject: true,
    });
    const extended = { type: 'resource', resource: { uri: 'a:b', text: 'c', owner: 'd' } };
    expect(await mapResult([extended])).toEqual(text(JSON.stringify([extended])));
  });

  it('I2: hides in blocks, in whole results and in their _meta what class-transformer hides', async () => {
    class Message extends Secret {
      type = 'text';
      text = 'hello';
    }
    class Line {
      type = 'text';
      text = 'hello';

      @Exclude()
      secret = 'hunter2';
    }
    const line = { type: 'text', text: 'hello' };
    expect(await mapResult(new Line())).toEqual({ content: [line] });
    expect(await mapResult([new Line()])).toEqual({ content: [line] });
    expect(await mapResult({ content: [new Line()], _meta: { by: new Secret() } })).toEqual({
      content: [line],
      meta: { by: { id: 1 } },
    });
    expect(JSON.stringify(await mapResult({ content: [new Message()] }))).not.toContain('hunter2');
    expect(JSON.stringify(await mapResult([new Message()]))).not.toContain('hunter2');
  });

  it('I7: writes the bytes of a block as Base64', async () => {
    const bytes = Buffer.from([0]);
    expect(await mapResult({ type: 'image', data: bytes, mimeType: 'image/png' })).toEqual({
      content: [image],
    });
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
    expect(await mapResult({ content: [] })).toEqual({ content: [] });
    expect(await mapResult({ content: [], structuredContent: [1] })).toEqual({
      ...text('[1]'),
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
    ['an invalid date', new Date('banana')],
    ['a proxy that throws', new Proxy({}, { get: () => JSON.parse('{') as unknown })],
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
    await expect(mapper.mapResult(rush(), BOUNDS)).rejects.toThrow(TOO_LARGE);
    expect(given).toBe(9);
  });
});

describe('an Error that is returned', () => {
  it.each([new Error('a'), new TypeError('b'), new McpError(4001, 'c')])('counts as thrown: %s', (error) => {
    expect(() => mapResult(error)).toThrow(error);
    expect(() => mapper.mapResult(error, BOUNDS, contract({}))).toThrow(error);
  });

  it('counts as thrown as an item as well', async () => {
    await expect(mapResult(items('a', new Error('cut')))).rejects.toThrow('cut');
    await expect(mapper.mapResult(items(new Error('cut')), BOUNDS, contract({}))).rejects.toThrow('cut');
  });
});

const webStream = (...pieces: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

/** A Node stream of bytes in several chunks, with a character cut in two. */
const byteStream = () =>
  Readable.from([Buffer.from([0x61, 0xc3]), Buffer.from([0xa4])], { objectMode: false });

describe('a source of bytes', () => {
  it.each([
    ['a Node stream', () => byteStream(), text('YcOk')],
    ['a Node stream that decodes', () => byteStream().setEncoding('utf8'), text('a\u00e4')],
    ['an empty Node stream', () => Readable.from([], { objectMode: false }), text('')],
    ['a web stream of bytes', () => webStream(Uint8Array.of(1, 2), Uint8Array.of(3)), text('AQID')],
    ['a web stream of texts', () => webStream('a', 'b'), text('ab')],
    ['an empty web stream', () => webStream(), { content: [] }],
    ['a Blob', () => new Blob([Uint8Array.of(1, 2, 3)]), text('AQID')],
    ['a Blob of text', () => new Blob(['a\u00e4'], { type: 'text/csv; charset=utf-8' }), text('a\u00e4')],
    ['a Blob of JSON', () => new Blob(['{"a":1}'], { type: 'application/problem+json' }), text('{"a":1}')],
    [
      'a File that is an image',
      () => new File([Uint8Array.of(1, 2, 3)], 'a', { type: 'image/png' }),
      { content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }] },
    ],
    ['a StreamableFile', () => new StreamableFile(Uint8Array.of(1, 2, 3)), text('AQID')],
    [
      'a StreamableFile of audio',
      () => new StreamableFile(Buffer.from([1, 2, 3]), { type: 'Audio/WAV; rate=1' }),
      { content: [{ type: 'audio', data: 'AQID', mimeType: 'audio/wav' }] },
    ],
    [
      'a StreamableFile of Latin text',
      () => new StreamableFile(Buffer.from([0xe4]), { type: 'text/plain; charset=latin1' }),
      text('\u00e4'),
    ],
    [
      'a StreamableFile of an unknown charset',
      () => new StreamableFile(Buffer.from('a'), { type: 'text/plain; charset=x-none' }),
      text('a'),
    ],
    [
      'a StreamableFile over chunks',
      () => new StreamableFile(Readable.from([Buffer.from('a'), Buffer.from('b')]), { type: 'text/plain' }),
      text('ab'),
    ],
  ])('I7: becomes one block: %s', async (_, make, result) => {
    expect(await mapResult(make())).toEqual(result);
  });

  it('gives the items of a stream in object mode, and runs of a mixed one', async () => {
    expect(await mapResult(Readable.from(['a', { b: 1 }, image]))).toEqual({
      content: [...text('a').content, ...text('{"b":1}').content, image],
    });
    expect(await mapResult(webStream('a', 'b', { c: 1 }, 'd'))).toEqual({
      content: [...text('ab').content, ...text('{"c":1}').content, ...text('d').content],
    });
  });

  it('rejects as the source does, and when a file holds no bytes', async () => {
    await expect(
      mapResult(
        new Readable({
          read() {
            this.destroy(new Error('cut'));
          },
        }),
      ),
    ).rejects.toThrow('cut');
    await expect(mapResult(new StreamableFile(Readable.from([{ a: 1 }])))).rejects.toThrow(
      UnserialisableResultException,
    );
  });

  it('is refused and let go once it is more than a result may hold', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(400));
      },
    });
    await expect(mapResult(endless)).rejects.toThrow(TOO_LARGE);
    expect(endless.destroyed).toBe(true);
    let cancelled = false;
    const web = new ReadableStream({
      pull: (controller) => controller.enqueue('x'.repeat(400)),
      cancel: () => void (cancelled = true),
    });
    await expect(mapResult(web)).rejects.toThrow(TOO_LARGE);
    expect(cancelled).toBe(true);
    expect(() => mapResult(new Blob(['x'.repeat(1001)]))).toThrow(TOO_LARGE);
    expect(() => mapResult(Buffer.alloc(100_000_000))).toThrow(TOO_LARGE);
  });

  it('is let go when the call ends before it, also while a piece is awaited', async () => {
    const silent = new Readable({ read: () => undefined });
    let cancelled = false;
    const web = new ReadableStream({ cancel: () => void (cancelled = true) });
    const call = new AbortController();
    const mapped = [silent, web].map(async (source) => mapper.mapResult(source, { ...BOUNDS, call }));
    call.abort();
    expect(await Promise.all(mapped)).toEqual([{ content: [] }, { content: [] }]);
    expect([silent.destroyed, cancelled]).toEqual([true, true]);
    const late = new Readable({ read: () => undefined });
    await mapper.mapResult(late, { ...BOUNDS, call });
    expect(late.destroyed).toBe(true);
  });
});

describe('a generator', () => {
  it('gives its items in order', async () => {
    const generator = (function* () {
      yield 'a';
      yield image;
    })();
    expect(await mapResult(generator)).toEqual({ content: [...text('a').content, image] });
  });

  it('has an end even if it gives nothing for ever', async () => {
    const nothing = (function* () {
      for (;;) yield undefined;
    })();
    await expect(mapResult(nothing)).rejects.toThrow(TOO_LARGE);
  });
});

describe('settle', () => {
  const settle = (value: unknown, call: { readonly signal: AbortSignal } = BOUNDS.call) =>
    mapper.settle(value, { ...BOUNDS, call });

  it('gives anything else as it is, without asking for the signal', () => {
    const call = {
      get signal(): AbortSignal {
        throw new Error('asked');
      },
    };
    for (const value of [undefined, null, 'a', 5, {}, [of(1)]]) expect(settle(value, call)).toBe(value);
  });

  it('takes the last value of an Observable, and undefined of an empty one', async () => {
    expect(await settle(of(1, 2, 3))).toBe(3);
    expect(await settle(EMPTY)).toBeUndefined();
    expect(await settle(concat(of(1), of(undefined)))).toBeUndefined();
  });

  it('rejects as it does', async () => {
    await expect(settle(throwError(() => new Error('cut')))).rejects.toThrow('cut');
    await expect(
      settle(
        concat(
          of(1),
          throwError(() => new Error('late')),
        ),
      ),
    ).rejects.toThrow('late');
  });

  it('unsubscribes when the call ends, also from one that goes on giving values', async () => {
    let torn = 0;
    const watched = (source: Observable<unknown>) =>
      new Observable((subscriber) => source.subscribe(subscriber).add(() => torn++));
    const call = new AbortController();
    const settled = [settle(watched(NEVER), call), settle(watched(interval(1)), call)];
    call.abort();
    await Promise.all(settled);
    expect(torn).toBe(2);
    expect(await settle(watched(NEVER), call)).toBeUndefined();
    expect(torn).toBe(2);
  });

  it('is refused when it never waits and never ends', async () => {
    await expect(settle(of('x').pipe(repeat()))).rejects.toThrow(TOO_LARGE);
    expect(await settle(range(1, 1000))).toBe(1000);
  });
});

interface StubOptions extends Partial<OutputContract> {
  /** Members that the schema knows; the rest is dropped. */
  known?: string[];
  issues?: string[];
}

function contract({ known, issues, ...more }: StubOptions): OutputContract {
  return {
    schema: { type: 'object' },
    legacySchema: { type: 'object' },
    prepare: () => undefined,
    check: (json) => {
      if (issues) return { issues };
      if (!known) return { json };
      const members = Object.entries(json as object).filter(([name]) => known.includes(name));
      return { json: Object.fromEntries(members) as unknown };
    },
    ...more,
  };
}

const structured = (json: string, structuredIsObject = true) => ({
  ...text(json),
  structured: json,
  structuredIsObject,
});

describe('with an output contract', () => {
  const mapTo = async (output: OutputContract, value: unknown) => mapper.mapResult(value, BOUNDS, output);
  const open = contract({});
  const anyRoot = contract({ schema: {} });

  it('I2: gives nothing that the schema does not know, neither as structured content nor as text', async () => {
    const output = contract({ known: ['id', 'name'] });
    expect(await mapTo(output, { id: 1, name: 'a', passwordHash: 'x' })).toEqual(
      structured('{"id":1,"name":"a"}'),
    );
    expect(await mapTo(output, { structuredContent: { id: 1, passwordHash: 'x' } })).toEqual(
      structured('{"id":1}'),
    );
    expect(
      await mapTo(output, { content: [block], structuredContent: { id: 1, hash: 'x' }, _meta: { m: 1 } }),
    ).toEqual({
      ...structured('{"id":1}'),
      content: [block],
      meta: { m: 1 },
    });
  });

  it('checks plain JSON: dates, Maps, instances and bytes are written before', async () => {
    const seen: unknown[] = [];
    const output = contract({ check: (json) => (seen.push(json), { json }) });
    await mapTo(output, { at: new Date(0), secret: new Secret(), map: new Map([[1, Buffer.from('a')]]) });
    expect(seen).toEqual([{ at: '1970-01-01T00:00:00.000Z', secret: { id: 1 }, map: { '1': 'YQ==' } }]);
  });

  it.each([
    ['0', 0],
    ['false', false],
    ['null', null],
    ['""', ''],
    ['"a"', 'a'],
    ['[1]', [1]],
    ['[]', new Set()],
    ['"AQID"', Buffer.from([1, 2, 3])],
    ['"10"', 10n],
  ])('I1, I6: gives %s as structured content, as JSON', async (json, value) => {
    expect(await mapTo(anyRoot, value)).toEqual(structured(json, false));
  });

  it('is structured content for legacy clients only where they are told the schema', async () => {
    expect(await mapTo(open, { a: 1 })).toMatchObject({ structuredIsObject: true });
    expect(await mapTo(anyRoot, { a: 1 })).toMatchObject({
      structured: '{"a":1}',
      structuredIsObject: false,
    });
  });

  it.each([
    ['undefined', open, undefined, 'nothing was returned'],
    ['a value that writes itself as nothing', open, { toJSON: () => undefined }, 'nothing was returned'],
    ['a wrong shape', contract({ issues: ['id is missing'] }), { a: 1 }, 'id is missing'],
    ['plain text', contract({ issues: ['must be an object'] }), 'a', 'must be an object'],
    ['content alone', open, { content: [block] }, 'the result has content, but no structuredContent'],
    ['empty content alone', open, { content: [] }, 'the result has content, but no structuredContent'],
    [
      'wrong structured content',
      contract({ issues: ['id is missing'] }),
      { structuredContent: {} },
      'id is missing',
    ],
    [
      'what the schema itself refuses',
      contract({ parse: () => Promise.resolve({ issues: ['no'] }) }),
      {},
      'no',
    ],
    [
      'a wrong shape, checked later',
      contract({ check: () => Promise.resolve({ issues: ['late'] }) }),
      {},
      'late',
    ],
  ])('I4: refuses %s by name', async (_, output, value, issue) => {
    const thrown: unknown = await mapTo(output, value).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OutputMismatchException);
    expect((thrown as OutputMismatchException).issues).toEqual([issue]);
  });

  it('I3: holds no error to it, and gives none structured content', async () => {
    const never = contract({ issues: ['never'] });
    expect(await mapTo(never, { content: [block], isError: true })).toEqual({
      content: [block],
      isError: true,
    });
    expect(await mapTo(never, { structuredContent: { a: 1 }, isError: true, _meta: { m: 1 } })).toEqual({
      ...text('{"a":1}'),
      isError: true,
      meta: { m: 1 },
    });
  });

  it('takes blocks for the values they are, where the schema is of such values', async () => {
    expect(await mapTo(open, block)).toEqual(structured('{"type":"text","text":"a"}'));
    const page = contract({ schema: { type: 'object', properties: { content: {} } } });
    expect(await mapTo(page, { content: [block] })).toEqual(
      structured('{"content":[{"type":"text","text":"a"}]}'),
    );
  });

  it('runs the schema on the value as it was returned, then writes and checks what it made of it', async () => {
    const value = new Secret();
    const output = contract({
      parse: (given) => Promise.resolve({ value: { same: given === value, at: new Date(0) } }),
      check: (json) => Promise.resolve({ json }),
    });
    expect(await mapTo(output, value)).toEqual(structured('{"same":true,"at":"1970-01-01T00:00:00.000Z"}'));
    expect(await mapTo(output, { structuredContent: 1 })).toEqual(
      structured('{"same":false,"at":"1970-01-01T00:00:00.000Z"}'),
    );
  });

  it('takes items for an array, and bytes for their text', async () => {
    expect(await mapTo(anyRoot, items({ a: new Date(0) }, 1n))).toEqual(
      structured('[{"a":"1970-01-01T00:00:00.000Z"},"1"]', false),
    );
    expect(await mapTo(anyRoot, items('a'))).toEqual(structured('["a"]', false));
    expect(await mapTo(anyRoot, byteStream())).toEqual(structured('"YcOk"', false));
    expect(await mapTo(anyRoot, webStream('a', 'b'))).toEqual(structured('"ab"', false));
    expect(await mapTo(anyRoot, webStream({ a: 1 }))).toEqual(structured('[{"a":1}]', false));
    await expect(mapTo(anyRoot, items(...Array.from({ length: 500 }, () => ({}))))).rejects.toThrow(
      TOO_LARGE,
    );
  });

  it.each([
    ['a cycle', cycleOf()],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
    ['a proxy that throws', new Proxy({}, { get: () => JSON.parse('{') as unknown })],
  ])('I1: refuses %s by name', async (_, value) => {
    await expect(mapTo(open, value)).rejects.toThrow(UnserialisableResultException);
  });
});

describe('what an exception filter returns', () => {
  it('I3: is the result as it is, without an output contract or in keeping with it', async () => {
    expect(await mapper.mapFiltered({ a: 1n }, BOUNDS)).toEqual(structured('{"a":"1"}'));
    expect(await mapper.mapFiltered({ id: 1, b: 2 }, BOUNDS, contract({ known: ['id'] }))).toEqual(
      structured('{"id":1}'),
    );
  });

  it('I3: is an error result without structured content where it breaks the contract', async () => {
    const never = contract({ issues: ['id is missing'] });
    expect(await mapper.mapFiltered({ message: 'no' }, BOUNDS, never)).toEqual({
      ...text('{"message":"no"}'),
      isError: true,
    });
    expect(await mapper.mapFiltered('no', BOUNDS, never)).toEqual({ ...text('no'), isError: true });
    await expect(mapper.mapFiltered(cycleOf(), BOUNDS, never)).rejects.toThrow(UnserialisableResultException);
  });
});

function cycleOf(): unknown {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  return cycle;
}

import 'reflect-metadata';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { Exclude } from 'class-transformer';
import { mapRead } from './resource.mapper.js';
import { UnserialisableResultException } from './result.mapper.js';

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 1000 };
const TOO_LARGE = 'The result is larger than 1000 bytes: ask for less';
const uri = 'ticket://7';

const read = async (value: unknown, mimeType?: string) =>
  mapRead(value, BOUNDS, mimeType === undefined ? { uri } : { uri, mimeType });
const text = (value: string, mimeType = 'text/plain') => ({ contents: [{ uri, mimeType, text: value }] });
const blob = (value: string, mimeType = 'application/octet-stream') => ({
  contents: [{ uri, mimeType, blob: value }],
});
const json = (value: string) => text(value, 'application/json');
const webStream = (...pieces: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

async function* items(...values: unknown[]) {
  for (const value of values) yield await Promise.resolve(value);
}

class Ticket {
  id = 7;
  title = 'printer';

  @Exclude()
  note = 'hunter2';
}

class Page {
  text = 'hello';

  @Exclude()
  note = 'hunter2';
}

describe('mapRead', () => {
  it.each([
    ['a string', 'hi', text('hi')],
    ['an empty string', '', text('')],
    ['a number', 5, text('5')],
    ['zero', 0, text('0')],
    ['NaN', Number.NaN, text('NaN')],
    ['false', false, text('false')],
    ['a bigint', 10n, text('10')],
    ['a Date', new Date(0), text('1970-01-01T00:00:00.000Z')],
    ['a boxed text', Object('a'), text('a')],
    ['a URL', new URL('https://example.com/'), text('https://example.com/')],
    ['an object', { a: 1, at: new Date(0) }, json('{"a":1,"at":"1970-01-01T00:00:00.000Z"}')],
    ['an empty object', {}, json('{}')],
    ['an instance', new Ticket(), json('{"id":7,"title":"printer"}')],
    ['a Map', new Map([['a', 2n]]), json('{"a":"2"}')],
    ['an array', [1, 'a', new Ticket()], json('[1,"a",{"id":7,"title":"printer"}]')],
    ['an empty array', [], json('[]')],
    ['a Set', new Set(['a']), json('["a"]')],
    ['a list of bytes', [Buffer.from([1, 2, 3])], json('["AQID"]')],
  ])('gives %s a documented meaning', async (_, value, result) => {
    expect(await read(value)).toEqual(result);
  });

  it.each([
    ['a string', '# hi', text('# hi', 'text/markdown')],
    ['an object', { a: 1 }, text('{"a":1}', 'text/markdown')],
    ['contents without a type', { text: '# hi' }, text('# hi', 'text/markdown')],
    ['contents with a type', { text: 'hi', mimeType: 'text/x-y' }, text('hi', 'text/x-y')],
    ['a text block', { type: 'text', text: '# hi' }, text('# hi', 'text/markdown')],
    ['a blob', { blob: Buffer.from('hi') }, blob('aGk=', 'text/markdown')],
    ['a picture', { type: 'image', data: 'AQID', mimeType: 'image/png' }, blob('AQID', 'image/png')],
  ])('gives %s the type that the resource declares, unless it has its own', async (_, value, result) => {
    expect(await read(value, 'text/markdown')).toEqual(result);
  });

  it.each([
    ['a Buffer', Buffer.from([1, 2, 3])],
    ['a Uint8Array', Uint8Array.of(1, 2, 3)],
    ['an ArrayBuffer', Uint8Array.of(1, 2, 3).buffer],
    ['a view into a larger buffer', new Uint8Array(Uint8Array.of(9, 1, 2, 3, 9).buffer, 1, 3)],
    ['a slice of a Buffer', Buffer.from([9, 1, 2, 3, 9]).subarray(1, 4)],
    ['a DataView', new DataView(Uint8Array.of(9, 1, 2, 3, 9).buffer, 1, 3)],
    ['the blob of contents', { blob: Buffer.from([9, 1, 2, 3, 9]).subarray(1, 4) }],
    ['a Base64 blob', { blob: 'AQID' }],
  ])('I7: gives %s as a blob of just its bytes', async (_, value) => {
    expect(await read(value)).toEqual(blob('AQID'));
    expect(await read(value, 'image/png')).toEqual(blob('AQID', 'image/png'));
  });

  it.each([
    ['text/csv', 'a;b'],
    ['TEXT/CSV', 'ä'],
    ['application/json', '{"a":1}'],
    ['application/problem+json', '{}'],
    ['application/xml', '<a/>'],
    ['application/atom+xml', '<a/>'],
    ['image/svg+xml', '<svg/>'],
    ['text/plain; charset=utf-8', 'ä'],
    ['application/javascript; charset="UTF-8"', 'let a;'],
  ])('I7: gives bytes that are declared as %s as the text that they are', async (type, value) => {
    expect(await read(Buffer.from(value), type)).toEqual(text(value, type));
    expect(await read(Readable.from([Buffer.from(value)], { objectMode: false }), type)).toEqual(
      text(value, type),
    );
  });

  it('I7: reads bytes in the charset that is declared', async () => {
    const type = 'text/plain; charset=iso-8859-1';
    expect(await read(Buffer.from([0xe4]), type)).toEqual(text('ä', type));
  });

  it.each([
    ['text/plain', [0xe4]],
    ['application/json', [0xff, 0xfe]],
    ['text/plain; charset=utf-8', [0xe4]],
    ['text/plain; charset=no-such', [0x61]],
    ['image/png; charset=binary', [0x61]],
    ['application/pdf', [0x61]],
    ['application/xmlish', [0x61]],
  ])('I7: gives bytes that are no text in %s as a blob', async (type, bytes) => {
    expect(await read(Buffer.from(bytes), type)).toEqual(blob(Buffer.from(bytes).toString('base64'), type));
  });

  it.each([
    ['a Node stream', () => Readable.from([Buffer.from([1, 2]), Buffer.from([3])], { objectMode: false })],
    ['a web stream', () => webStream(Uint8Array.of(1, 2), Uint8Array.of(3))],
    ['a Blob', () => new Blob([Uint8Array.of(1, 2, 3)])],
    ['a file of an unknown type', () => new StreamableFile(Buffer.from([1, 2, 3]))],
  ])('I7: gives the bytes of %s as one blob', async (_, value) => {
    expect(await read(value())).toEqual(blob('AQID'));
    expect(await read(value(), 'image/png')).toEqual(blob('AQID', 'image/png'));
  });

  it('takes the type of a file where the resource declares none', async () => {
    const file = (type: string) => new StreamableFile(Buffer.from('a;b'), { type });
    expect(await read(file('text/csv'))).toEqual(text('a;b', 'text/csv'));
    expect(await read(file('text/csv'), 'text/plain')).toEqual(text('a;b', 'text/plain'));
    expect(await read(file('image/png'))).toEqual(blob('YTti', 'image/png'));
    expect(await read(new Blob(['a'], { type: 'text/html' }))).toEqual(text('a', 'text/html'));
  });

  it('gives a stream of strings as one text', async () => {
    const encoded = Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false });
    encoded.setEncoding('utf8');
    expect(await read(encoded)).toEqual(text('ab'));
    expect(await read(webStream('a', 'b'))).toEqual(text('ab'));
    expect(await read(new StreamableFile(Readable.from(['a', 'b'])))).toEqual(text('ab'));
  });

  it('S-107: gives a stream of nothing as an empty file, which is there', async () => {
    expect(await read(Buffer.alloc(0))).toEqual(blob(''));
    expect(await read(new Blob([]))).toEqual(blob(''));
    expect(await read(webStream())).toEqual(blob(''));
    expect(await read(Readable.from([], { objectMode: false }), 'text/plain')).toEqual(text(''));
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an object that turns itself into nothing', { toJSON: () => null }],
    ['a source without items', items()],
    ['a source of nothing', items(undefined, null)],
  ])('J6: S-107: takes %s for a resource that is not there', async (_, value) => {
    expect(await read(value)).toBeUndefined();
  });

  it('fills in what contents leave out, and lets them pass otherwise', async () => {
    expect(await read({ text: 'x' })).toEqual(text('x'));
    expect(
      await read({ uri: 'ticket://7/a', mimeType: 'text/x-y', text: 'x', _meta: { a: 1 } }, 'text/plain'),
    ).toEqual({ contents: [{ uri: 'ticket://7/a', mimeType: 'text/x-y', text: 'x', _meta: { a: 1 } }] });
    expect(await read(new Page())).toEqual(text('hello'));
    expect(await read({ text: 'x', uri: undefined, blob: undefined })).toEqual(text('x'));
  });

  it.each([
    [{ text: 'x', id: 1 }],
    [{ text: 'x', blob: 'AQID' }],
    [{ text: 5 }],
    [{ text: 'x', uri: 5 }],
    [{ text: 'x', mimeType: 5 }],
    [{ text: 'x', _meta: 'a' }],
    [{ uri: 'a:b' }],
    [[{ text: 'x' }, { text: 'y', id: 1 }]],
    [[{ text: 'x' }, 'y']],
    [{ contents: 'a page' }],
    [{ contents: ['x'] }],
    [{ contents: [{ text: 'x' }], title: 'x' }],
    [{ type: 'bug', text: 'x' }],
    [{ type: 'text', text: 'x', author: 'y' }],
  ])('takes %j for data', async (value) => {
    expect(await read(value)).toEqual(json(JSON.stringify(value)));
  });

  it('gives a list of contents as several, in order', async () => {
    const list = [{ text: 'x' }, { uri: 'ticket://7/b', blob: Buffer.from([1, 2, 3]) }];
    const contents = [
      { uri, mimeType: 'text/plain', text: 'x' },
      { uri: 'ticket://7/b', mimeType: 'application/octet-stream', blob: 'AQID' },
    ];
    expect(await read(list)).toEqual({ contents });
    expect(await read(new Set(list))).toEqual({ contents });
    expect(await read({ contents: list, _meta: { a: new Ticket() } })).toEqual({
      contents,
      meta: { a: { id: 7, title: 'printer' } },
    });
  });

  it('S-107: lets an empty list pass in a whole result alone', async () => {
    expect(await read({ contents: [] })).toEqual({ contents: [] });
    expect(await read([])).toEqual(json('[]'));
  });

  it('takes content blocks by what they hold', async () => {
    const embedded = { uri: 'ticket://8', mimeType: 'text/html', text: '<p>' };
    expect(await read({ type: 'text', text: 'x', _meta: { a: 1 } })).toEqual({
      contents: [{ uri, mimeType: 'text/plain', text: 'x', _meta: { a: 1 } }],
    });
    expect(await read({ type: 'audio', data: Buffer.from([1, 2, 3]), mimeType: 'audio/wav' })).toEqual(
      blob('AQID', 'audio/wav'),
    );
    expect(await read({ type: 'resource', resource: embedded })).toEqual({ contents: [embedded] });
    expect(
      await read([
        { type: 'resource', resource: { uri, blob: 'AQID' } },
        { type: 'text', text: 'x' },
        { text: 'y' },
      ]),
    ).toEqual({ contents: [...blob('AQID').contents, ...text('x').contents, ...text('y').contents] });
  });

  it('gives the items of a source by the same table, in order', async () => {
    const parts = ['a', null, { b: 1 }, Buffer.from([1, 2, 3]), [{ text: 'c' }, { text: 'd' }], items('e')];
    const contents: unknown[] = [
      text('a'),
      json('{"b":1}'),
      blob('AQID'),
      text('c'),
      text('d'),
      text('e'),
    ].flatMap(({ contents: own }): unknown[] => own);
    expect(await read(items(...parts))).toEqual({ contents });
    expect(await read(Readable.from(['a', { b: 1 }]))).toEqual({ contents: contents.slice(0, 2) });
    expect(await read(webStream(Uint8Array.of(1, 2), Uint8Array.of(3), { b: 1 }))).toEqual({
      contents: [contents[2], contents[1]],
    });
    expect(
      await read(
        (function* () {
          yield 'a';
        })(),
      ),
    ).toEqual(text('a'));
  });

  it('leaves out the _meta of a whole result that is one item of a source', async () => {
    expect(await read(items({ contents: [{ text: 'a' }], _meta: { a: 1 } }))).toEqual(text('a'));
  });

  it.each([
    ['{ blob: "not base64" }', { blob: 'not base64' }, 'blob that is no Base64: return the bytes'],
    ['a blob without padding', { blob: 'YQ' }, 'blob that is no Base64'],
    ['a blob in the alphabet of addresses', [{ blob: '-_-_' }], 'blob that is no Base64'],
    ['a broken blob in a whole result', { contents: [{ blob: 'YQ' }] }, 'blob that is no Base64'],
    ['a uri without a scheme', { uri: 'a/b', text: '' }, 'contents whose uri has no scheme'],
    ['a uri with a space', { uri: 'a:b c', text: '' }, 'contents whose uri has " " at 3'],
    [
      'an embedded resource without a scheme',
      { type: 'resource', resource: { uri: 'b', text: '' } },
      'contents whose uri has no scheme',
    ],
    ['a link', { type: 'resource_link', uri: 'a:b', name: 'x' }, 'a link, which is no contents'],
    ['a list with a link', [{ text: 'a' }, { type: 'resource_link', uri: 'a:b', name: 'x' }], 'a link'],
    ['a function', () => 'x', 'a function cannot be the contents'],
    ['a symbol', Symbol('x'), 'a symbol cannot be the contents'],
    ['an invalid date', new Date(Number.NaN), 'an invalid date'],
    [
      'a stream inside contents',
      { blob: Readable.from(['a']) },
      'a promise, stream, generator or Observable',
    ],
    ['an object in a stream of bytes', new StreamableFile(Readable.from([{}])), 'an object in a stream'],
  ])('S-108: refuses %s', async (_, value, message) => {
    const refusal = read(value);
    await expect(refusal).rejects.toThrow(UnserialisableResultException);
    await expect(refusal).rejects.toThrow(message);
  });

  it('refuses what throws while it is written, by name', async () => {
    const value = {
      get a(): never {
        throw new Error('hunter2');
      },
    };
    await expect(read(value)).rejects.toThrow('JSON cannot carry the result');
  });

  it('takes an Error for thrown, alone and in a source', async () => {
    const error = new Error('no');
    await expect(read(error)).rejects.toBe(error);
    await expect(read(items('a', error))).rejects.toBe(error);
  });

  async function* endless(item: unknown) {
    for (;;) yield await Promise.resolve(item);
  }

  it.each([
    ['a string', () => 'x'.repeat(1001)],
    ['bytes', () => Buffer.alloc(1001)],
    ['bytes that are Base64 beyond it', () => Buffer.alloc(900)],
    ['an object', () => ({ a: 'x'.repeat(1001) })],
    ['a list of contents', () => Array.from({ length: 60 }, () => ({ text: '' }))],
    ['a whole result', () => ({ contents: [{ text: 'x'.repeat(1001) }] })],
    ['a stream', () => Readable.from([Buffer.alloc(600), Buffer.alloc(600)], { objectMode: false })],
    ['a Blob', () => new Blob([Buffer.alloc(1001)])],
    ['a source of texts without end', () => endless('a')],
    ['a source of nothing without end', () => endless(undefined)],
  ])('refuses %s over the size of a result', async (_, value) => {
    await expect(read(value())).rejects.toThrow(TOO_LARGE);
  });

  it('lets go of a source when the call ends', async () => {
    const call = new AbortController();
    const stream = new Readable({ read() {} });
    const reading = mapRead(stream, { call, resultSize: 1000 }, { uri });
    call.abort();
    await reading;
    expect(stream.destroyed).toBe(true);
  });
});

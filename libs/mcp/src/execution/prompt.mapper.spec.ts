import 'reflect-metadata';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { Exclude, Expose } from 'class-transformer';
import { mapPrompt } from './prompt.mapper.js';
import { UnserialisableResultException } from './result.mapper.js';

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 1000 };
const TOO_LARGE = 'The result is larger than 1000 bytes: ask for less';

const get = async (value: unknown) => mapPrompt(value, BOUNDS);
const by = (role: string, text: string) => ({ role, content: { type: 'text', text } });
const user = (text: string) => by('user', text);

const image = { type: 'image', data: 'AQID', mimeType: 'image/png' };
const audio = { type: 'audio', data: 'AQID', mimeType: 'audio/wav' };
const link = { type: 'resource_link', uri: 'ticket://7', name: 'ticket' };
const embedded = {
  type: 'resource',
  resource: { uri: 'ticket://7', mimeType: 'application/json', text: '{}' },
};
const annotated = { type: 'text', text: 'a', annotations: { priority: 1 }, _meta: { a: 1 } };

async function* items(...values: unknown[]) {
  for (const value of values) yield await Promise.resolve(value);
}

class Message {
  constructor(
    readonly role: string,
    readonly content: unknown,
  ) {}
}

class Guarded {
  role = 'assistant';

  @Expose({ name: 'content' })
  said = 'hello';

  @Exclude()
  note = 'hunter2';
}

describe('mapPrompt', () => {
  it.each([
    ['a string', 'hi', 'hi'],
    ['an empty string', '', ''],
    ['a number', 5, '5'],
    ['false', false, 'false'],
    ['a bigint', 10n, '10'],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a boxed text', Object('a'), 'a'],
    ['a URL', new URL('https://example.com/'), 'https://example.com/'],
  ])('gives %s as one text of the user', async (_, value, text) => {
    expect(await get(value)).toEqual({ messages: [user(text)] });
  });

  it.each([image, audio, link, embedded, annotated])(
    'S-111: gives the block %j as one message of the user',
    async (block) => {
      expect(await get(block)).toEqual({ messages: [{ role: 'user', content: block }] });
      expect(await get({ role: 'assistant', content: block })).toEqual({
        messages: [{ role: 'assistant', content: block }],
      });
    },
  );

  it('I7: S-111: writes the bytes of a block as Base64 of just these', async () => {
    const bytes = Buffer.from([9, 1, 2, 3, 9]).subarray(1, 4);
    expect(await get({ type: 'image', data: bytes, mimeType: 'image/png' })).toEqual({
      messages: [{ role: 'user', content: image }],
    });
    expect(
      await get({ type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', blob: bytes } }),
    ).toEqual({
      messages: [
        {
          role: 'user',
          content: { type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', blob: 'AQID' } },
        },
      ],
    });
  });

  it('S-111: gives an embedded resource without a media type that of its kind', async () => {
    const typed = async (contents: object) => {
      const { messages } = await get({ type: 'resource', resource: contents });
      return (messages[0]!.content as { resource: unknown }).resource;
    };
    expect(await typed({ uri: 'a:b', text: 'x' })).toEqual({
      uri: 'a:b',
      mimeType: 'text/plain',
      text: 'x',
    });
    expect(await typed({ uri: 'a:b', blob: 'AQID' })).toEqual({
      uri: 'a:b',
      mimeType: 'application/octet-stream',
      blob: 'AQID',
    });
  });

  it.each([
    ['a message', { role: 'assistant', content: annotated }, [{ role: 'assistant', content: annotated }]],
    ['a message with a text', { role: 'assistant', content: 'hi' }, [by('assistant', 'hi')]],
    ['a message with a number', { role: 'user', content: 5 }, [user('5')]],
    ['a message with a Date', { role: 'user', content: new Date(0) }, [user('1970-01-01T00:00:00.000Z')]],
    ['an instance', new Message('assistant', 'hi'), [by('assistant', 'hi')]],
    ['an instance that hides and renames', new Guarded(), [by('assistant', 'hello')]],
    [
      'a message with several blocks',
      { role: 'assistant', content: ['look:', image] },
      [by('assistant', 'look:'), { role: 'assistant', content: image }],
    ],
  ])('gives %s as messages of one block each', async (_, value, messages) => {
    expect(await get(value)).toEqual({ messages });
  });

  const mixed = ['a', image, { role: 'assistant', content: 'b' }, new Message('user', [5, link]), 7n];
  const messages = [
    user('a'),
    { role: 'user', content: image },
    by('assistant', 'b'),
    user('5'),
    { role: 'user', content: link },
    user('7'),
  ];

  it.each([
    ['a list', () => mixed],
    ['a Set', () => new Set(mixed)],
    ['an async iterable', () => items(...mixed)],
    ['an async iterable of lists', () => items(mixed.slice(0, 2), mixed.slice(2))],
    ['a stream in object mode', () => Readable.from(mixed)],
    [
      'a generator',
      () =>
        (function* () {
          yield* mixed;
        })(),
    ],
    ['a whole result', () => ({ messages: mixed })],
  ])('gives the parts of %s in order', async (_, value) => {
    expect(await get(value())).toEqual({ messages });
  });

  it('lets a whole result pass', async () => {
    expect(await get({ description: 'd', messages: [user('a'), 'b'], _meta: { a: new Date(0) } })).toEqual({
      description: 'd',
      messages: [user('a'), user('b')],
      meta: { a: '1970-01-01T00:00:00.000Z' },
    });
    expect(await get({ messages: [] })).toEqual({ messages: [] });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an object that turns itself into nothing', { toJSON: () => null }],
    ['an item that is nothing', items('a', null)],
  ])('J6: refuses %s', async (_, value) => {
    const refusal = get(value);
    await expect(refusal).rejects.toThrow(UnserialisableResultException);
    await expect(refusal).rejects.toThrow(
      'the prompt returned nothing: return a text, a content block, { role, content }, a list of these, ' +
        'or { description, messages }',
    );
  });

  it.each([
    ['an object', { a: 1 }, 'an object that is no message'],
    ['a Map', new Map([['role', 'user']]), 'a message without content'],
    ['a block of no type', { type: 'bug', text: 'a' }, 'an object that is no message'],
    ['a block without its members', { type: 'image', data: 'AQID' }, 'a block of type "image" that is not'],
    [
      'a block whose data is no Base64',
      { type: 'image', data: 'x', mimeType: 'a/b' },
      'a block of type "image" that is not as its type has it (bytes are Base64)',
    ],
    ['a block with more', { type: 'text', text: 'a', id: 1 }, 'a block of type "text" that is not'],
    [
      'an embedded resource with a uri that is none',
      { type: 'resource', resource: { uri: 'b', text: 'x' } },
      'a resource whose uri has no scheme',
    ],
    ['a link to no uri', { ...link, uri: 'a:b c' }, 'a resource whose uri has " " at 3'],
    ['another role', { role: 'system', content: 'a' }, 'a message whose role is neither "user" nor'],
    ['a role that is no text', { role: 5, content: 'a' }, 'a message whose role is neither "user" nor'],
    ['a message with more', { role: 'user', content: 'a', name: 'b' }, 'has more than role and content'],
    ['a message without content', { role: 'user' }, 'a message without content'],
    ['a message with no blocks', { role: 'user', content: [] }, 'a message with an empty list for content'],
    ['a message of an object', { role: 'user', content: { a: 1 } }, 'an object that is no message'],
    ['a message of nothing', { role: 'user', content: null }, 'a message without content'],
    ['an empty list', [], 'an empty list'],
    ['an empty Set', new Set(), 'an empty list'],
    ['an empty source', items(), 'no message'],
    ['a list in a list', [['a']], 'a list within a list'],
    ['a list with null', ['a', null], 'a list in which an item is nothing'],
    ['a list with a whole result', [{ messages: ['a'] }], 'an object that is no message'],
    ['a source with a whole result', items({ messages: ['a'] }), 'an object that is no message'],
    ['a Buffer', Buffer.from('a'), 'bytes'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'bytes'],
    ['a list with bytes', ['a', Buffer.from('a')], 'bytes'],
    ['a source with bytes', items(Buffer.from('a')), 'bytes'],
    ['a message of bytes', { role: 'user', content: Buffer.from('a') }, 'bytes'],
    ['an instance with bytes', new Message('user', [Uint8Array.of(1)]), 'bytes'],
    ['a whole result with bytes', { messages: [{ role: 'user', content: Buffer.from('a') }] }, 'bytes'],
    ['a Node stream', Readable.from([Buffer.from('a')], { objectMode: false }), 'bytes'],
    ['a web stream', new Blob(['a']).stream(), 'bytes'],
    ['a file', new StreamableFile(Buffer.from('a')), 'bytes'],
    ['messages that are no list', { messages: 'a' }, 'messages that are no list'],
    ['a whole result with more', { messages: [], title: 'a' }, 'messages and members that no prompt has'],
    ['a description that is no text', { description: 5, messages: [] }, 'a description that is no text'],
    ['a _meta that is no object', { messages: [], _meta: 5 }, 'a _meta that is no object'],
    ['a function', () => 'a', 'a function'],
    ['a symbol', Symbol('a'), 'a symbol'],
    ['a stream inside a list', [items('a')], 'a promise, stream, generator or Observable'],
  ])('S-111: refuses %s, and says what instead', async (_, value, message) => {
    const refusal = get(value);
    await expect(refusal).rejects.toThrow(UnserialisableResultException);
    await expect(refusal).rejects.toThrow(message);
  });

  it('never puts what a value holds into a refusal', async () => {
    for (const value of [{ secret: 'hunter2' }, { type: 'hunter2' }, { role: 'hunter2', content: 'a' }]) {
      const { message } = await get(value).then(
        () => ({ message: 'taken' }),
        (error: Error) => error,
      );
      expect(message).toContain('the prompt returned');
      expect(message).not.toContain('hunter2');
    }
  });

  it('lets go of a stream that it refuses', async () => {
    const stream = new Readable({ read() {} });
    await expect(get(stream)).rejects.toThrow('bytes');
    expect(stream.destroyed).toBe(true);
  });

  it('takes an Error for thrown, alone and in a source', async () => {
    const error = new Error('no');
    await expect(get(error)).rejects.toBe(error);
    await expect(get(items('a', error))).rejects.toBe(error);
  });

  it.each([
    ['a string', () => 'x'.repeat(1001)],
    ['a list', () => Array.from({ length: 60 }, () => '')],
    ['a whole result', () => ({ messages: ['x'.repeat(1001)] })],
    [
      'a source without end',
      async function* () {
        for (;;) yield await Promise.resolve('');
      },
    ],
  ])('refuses %s over the size of a result', async (_, value) => {
    await expect(get(value())).rejects.toThrow(TOO_LARGE);
  });

  it('lets go of a source when the call ends, without a complaint', async () => {
    const call = new AbortController();
    const stream = new Readable({ objectMode: true, read() {} });
    const mapping = mapPrompt(stream, { call, resultSize: 1000 });
    call.abort();
    expect(await mapping).toEqual({ messages: [] });
    expect(stream.destroyed).toBe(true);
  });
});

import { content } from './content-builders.js';
import { isContentBlock } from './content.js';

const annotations = { audience: ['user' as const], priority: 1 };
const meta = { 'example.com/x': 1 };
const options = { annotations, meta };
const whole = Buffer.from('0123456789');
const png = 'image/png';

/** What a JavaScript caller may write. */
const untyped = content as unknown as Record<keyof typeof content, (...args: unknown[]) => unknown>;

describe('content.text', () => {
  it('is a text block', () => {
    expect(content.text('a')).toStrictEqual({ type: 'text', text: 'a' });
    expect(content.text('', options)).toStrictEqual({ type: 'text', text: '', annotations, _meta: meta });
    expect(content.text('a', {})).toStrictEqual({ type: 'text', text: 'a' });
  });

  it.each([[undefined], [null], [1], [['a']]])('refuses %p', (value) => {
    expect(() => untyped.text(value)).toThrow(TypeError);
  });

  it('says what is wrong', () => {
    expect(() => untyped.text(null)).toThrow('content.text(): the text must be a string, but is null');
    expect(() => untyped.text(['a'])).toThrow('content.text(): the text must be a string, but is an array');
  });
});

describe.each(['image', 'audio'] as const)('content.%s', (kind) => {
  const build = content[kind];
  const type = `${kind}/x-test`;

  it.each([
    ['a Buffer', Buffer.from('56')],
    ['a Uint8Array', new Uint8Array([0x35, 0x36])],
    ['a view into a larger buffer', whole.subarray(5, 7)],
    ['a Uint8Array into a larger buffer', new Uint8Array(whole.buffer, whole.byteOffset + 5, 2)],
    ['a DataView', new DataView(whole.buffer, whole.byteOffset + 5, 2) as unknown as Uint8Array],
    ['Base64', 'NTY='],
  ])('I7: takes %s for just its bytes', (_, data) => {
    expect(build(data, type)).toStrictEqual({ type: kind, data: 'NTY=', mimeType: type });
  });

  it('I7: takes no bytes at all', () => {
    expect(build(new Uint8Array(), type).data).toBe('');
  });

  it('has annotations and _meta where they are given', () => {
    expect(build('NTY=', type, options)).toStrictEqual({
      type: kind,
      data: 'NTY=',
      mimeType: type,
      annotations,
      _meta: meta,
    });
  });

  it.each([
    ['N', 'is not Base64'],
    ['NTY', 'is not Base64'],
    ['N_-=', 'is not Base64'],
    ['a picture', 'Buffer.from(bytes).toString("base64")'],
    ['data:image/type;base64,NTY=', 'is a data: address: give what follows its comma'],
  ])('S-111: refuses the text %j and says what to write', (data, message) => {
    expect(() => build(data, type)).toThrow(TypeError);
    expect(() => build(data, type)).toThrow(`content.${kind}(): the data`);
    expect(() => build(data, type)).toThrow(message);
  });

  it.each([[undefined], [null], [7], [[1, 2]], [{ type: 'Buffer', data: [1] }], [new ArrayBuffer(2)]])(
    'I7: refuses %p',
    (data) => {
      expect(() => untyped[kind](data, type)).toThrow('the data must be a string or a Uint8Array, but is');
    },
  );

  it.each([[''], ['type'], ['image/'], ['/type'], [undefined], [7]])(
    'S-111: refuses the MIME type %p',
    (mimeType) => {
      expect(() => untyped[kind]('NTY=', mimeType)).toThrow(TypeError);
      expect(() => untyped[kind]('NTY=', mimeType)).toThrow('MIME type');
    },
  );
});

it.each([
  ['image', 'audio/wav', 'image/png'],
  ['image', 'text/html', 'image/png'],
  ['image', 'images/png', 'image/png'],
  ['audio', 'image/png', 'audio/wav'],
  ['audio', 'application/octet-stream', 'audio/wav'],
] as const)('S-111: content.%s() refuses %s, which is of another kind', (kind, mimeType, example) => {
  expect(() => content[kind]('NTY=', mimeType)).toThrow(
    new TypeError(
      `content.${kind}(): "${mimeType}" is no MIME type of ${kind}: write one such as "${example}"`,
    ),
  );
  expect(content[kind]('NTY=', example.toUpperCase()).mimeType).toBe(example.toUpperCase());
});

describe('content.link', () => {
  const told = {
    title: 'The first',
    description: 'A ticket',
    mimeType: 'application/json',
    size: 3,
    icons: [{ src: 'https://example.com/a.png' }],
  };

  it('is a link with what is told of its resource', () => {
    const bare = { type: 'resource_link', uri: 'ticket://1', name: 'Ticket 1' };
    expect(content.link('ticket://1', 'Ticket 1')).toStrictEqual(bare);
    expect(content.link('ticket://1', 'Ticket 1', { ...told, ...options })).toStrictEqual({
      ...bare,
      ...told,
      annotations,
      _meta: meta,
    });
  });

  it.each([
    [[7, 'a'], 'the uri must be a string, but is number'],
    [['/tickets/1', 'a'], 'the uri "/tickets/1" has no scheme: write one such as "ticket://7"'],
    [['', 'a'], 'has no scheme'],
    [['ticket://1'], 'the name must be a string, but is undefined'],
    [['ticket://1', 'a', 'text/plain'], 'the options are an object'],
    [['ticket://1', 'a', { mime: 'text/plain' }], 'there is no option "mime", only annotations, meta, title'],
    [['ticket://1', 'a', { type: 'text' }], 'there is no option "type"'],
    [['ticket://1', 'a', { size: -1 }], 'size is a count of bytes'],
    [['ticket://1', 'a', { title: 7 }], 'title, description and mimeType are text'],
    [['ticket://1', 'a', { icons: ['https://example.com'] }], 'icons are { src'],
    [['ticket://1', 'a', { icons: [{ src: 'javascript:x' }] }], 'clients load only https: and data:'],
  ])('S-110: refuses %j', (args, message) => {
    expect(() => untyped.link(...args)).toThrow(TypeError);
    expect(() => untyped.link(...args)).toThrow(message);
  });
});

describe('content.resource', () => {
  it('holds a text', () => {
    expect(content.resource('ticket://1', '{}', 'application/json', options)).toStrictEqual({
      type: 'resource',
      resource: { uri: 'ticket://1', mimeType: 'application/json', text: '{}' },
      annotations,
      _meta: meta,
    });
    expect(content.resource('ticket://1', '').resource).toStrictEqual({
      uri: 'ticket://1',
      mimeType: 'text/plain',
      text: '',
    });
  });

  it('I7: holds just the bytes of a view as Base64', () => {
    expect(content.resource('ticket://1', whole.subarray(5, 7)).resource).toStrictEqual({
      uri: 'ticket://1',
      mimeType: 'application/octet-stream',
      blob: 'NTY=',
    });
    expect(content.resource('ticket://1', new Uint8Array(), png).resource).toStrictEqual({
      uri: 'ticket://1',
      mimeType: png,
      blob: '',
    });
  });

  it.each([
    [[undefined, 'a'], 'the uri must be a string'],
    [['ticket', 'a'], 'has no scheme'],
    [['ticket://1', { a: 1 }], 'the body must be a string or a Uint8Array, but is object'],
    [['ticket://1', undefined], 'the body must be a string or a Uint8Array, but is undefined'],
    [['ticket://1', 'a', ''], '"" is no MIME type: write one such as "application/json"'],
    [['ticket://1', 'a', options], 'the MIME type must be a string, but is object'],
  ])('S-108, S-111: refuses %j', (args, message) => {
    expect(() => untyped.resource(...args)).toThrow(TypeError);
    expect(() => untyped.resource(...args)).toThrow(message);
  });
});

describe('every builder', () => {
  const build: Record<keyof typeof content, (more?: unknown) => unknown> = {
    text: (more) => untyped.text('a', more),
    image: (more) => untyped.image('', png, more),
    audio: (more) => untyped.audio('', 'audio/wav', more),
    link: (more) => untyped.link('a:b', 'a', more),
    resource: (more) => untyped.resource('a:b', 'a', undefined, more),
  };
  const names = Object.keys(content) as (keyof typeof content)[];

  it.each(names)('makes what counts as a content block: %s', (name) => {
    expect(isContentBlock(build[name]())).toBe(true);
    expect(isContentBlock(build[name](options))).toBe(true);
  });

  it.each(names)('refuses what a block cannot have: %s', (name) => {
    expect(() => build[name](null)).toThrow(`content.${name}(): the options are an object`);
    expect(() => build[name]({ _meta: {} })).toThrow(`content.${name}(): there is no option "_meta"`);
    expect(() => build[name]({ meta: [] })).toThrow(`content.${name}(): meta is an object`);
    expect(() => build[name]({ annotations: { priority: 2 } })).toThrow(
      `content.${name}(): annotations are {`,
    );
  });
});

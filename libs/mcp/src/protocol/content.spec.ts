import {
  annotationsFor,
  blockFor,
  contentsFor,
  errorResult,
  isBase64,
  isContentBlock,
  isPromptMessage,
  isResourceContents,
  roughSize,
  roughSizeOf,
  roughSizeOfMessages,
  textResult,
  type ContentBlock,
  type ResourceContents,
} from './content.js';
import { REVISIONS } from './versions.js';

const text: ContentBlock = { type: 'text', text: 'a' };
const image: ContentBlock = { type: 'image', data: 'AA==', mimeType: 'image/png' };
const audio: ContentBlock = { type: 'audio', data: 'AA==', mimeType: 'audio/wav' };
const link: ContentBlock = { type: 'resource_link', uri: 'ticket://1', name: 'Ticket 1' };
const embedded: ContentBlock = { type: 'resource', resource: { uri: 'a:b', text: '' } };

const icons = [{ src: 'https://example.com/a.png', sizes: ['48x48'], theme: 'dark' as const }];
const lastModified = '2026-01-02T03:04:05Z';
const annotations = { audience: ['user' as const], priority: 0.5, lastModified };
const known = { audience: ['user'], priority: 0.5 };
const meta = { 'example.com/x': 1 };
const full = { annotations, _meta: meta };
const fullLink: ContentBlock = {
  ...link,
  ...full,
  title: 'The first',
  description: 'A ticket',
  mimeType: 'application/json',
  size: 3,
  icons,
};
const bytes: ResourceContents = { uri: 'a:b', mimeType: 'image/png', blob: 'AA==', _meta: meta };

/** As a client reads it: a member without a value is not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a block for a revision', () => {
  it.each(REVISIONS)('S-190: of a kind that %s does not know is a text', (revision) => {
    expect(blockFor(audio, revision)).toEqual(
      revision === '2024-11-05' ? { type: 'text', text: '[audio, audio/wav]' } : audio,
    );
    expect(blockFor(link, revision)).toEqual(
      revision <= '2025-03-26' ? { type: 'text', text: 'Ticket 1: ticket://1' } : link,
    );
  });

  it.each(REVISIONS)('S-190: that needs no change for %s is given back as it is', (revision) => {
    const plain = { ...text, annotations: { priority: 1 } };
    for (const block of [text, image, embedded, plain]) expect(blockFor(block, revision)).toBe(block);
  });

  it.each(REVISIONS.filter((revision) => revision >= '2025-06-18'))(
    'S-190: is given back with all its members for %s',
    (revision) => {
      for (const block of [link, audio, { ...text, ...full }, { ...embedded, resource: bytes, ...full }])
        expect(blockFor(block, revision)).toBe(block);
      expect(contentsFor(bytes, revision)).toBe(bytes);
    },
  );

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'S-190: that is a link keeps its icons for %s',
    (revision) => {
      expect(blockFor(fullLink, revision)).toBe(fullLink);
    },
  );

  it.each(REVISIONS)('S-190: has in %s only the members of that revision', (revision) => {
    const isOld = revision <= '2025-03-26';
    const members = isOld ? { annotations: known } : full;
    for (const block of [text, image])
      expect(sent(blockFor({ ...block, ...full }, revision))).toEqual({ ...block, ...members });
    expect(sent(blockFor({ type: 'resource', resource: bytes, ...full }, revision))).toEqual({
      type: 'resource',
      resource: isOld ? { uri: 'a:b', mimeType: 'image/png', blob: 'AA==' } : bytes,
      ...members,
    });
    expect(sent(blockFor({ ...audio, ...full }, revision))).toEqual(
      revision === '2024-11-05'
        ? { type: 'text', text: '[audio, audio/wav]', annotations: known }
        : { ...audio, ...members },
    );
    const { icons: _, ...withoutIcons } = fullLink as { icons: unknown };
    const modern = revision >= '2025-11-25' ? fullLink : withoutIcons;
    expect(sent(blockFor(fullLink, revision))).toEqual(
      isOld ? { type: 'text', text: 'Ticket 1: ticket://1', annotations: known } : modern,
    );
  });

  it('S-190: leaves the handler its own block unchanged', () => {
    const block: ContentBlock = { type: 'resource', resource: bytes, ...full };
    const before = sent(block);
    for (const revision of REVISIONS) blockFor(block, revision);
    expect(block).toEqual(before);
  });

  it.each(REVISIONS)('S-190: has annotations in %s only where some are left', (revision) => {
    const isOld = revision <= '2025-03-26';
    expect(annotationsFor({ lastModified }, revision)).toEqual(isOld ? undefined : { lastModified });
    expect(annotationsFor(annotations, revision)).toEqual(isOld ? known : annotations);
    expect(annotationsFor(undefined, revision)).toBeUndefined();
    expect(sent(blockFor({ ...text, annotations: { lastModified } }, revision))).toEqual(
      isOld ? text : { ...text, annotations: { lastModified } },
    );
  });

  it.each(REVISIONS)('S-190: holds contents that have _meta in %s only where it knows it', (revision) => {
    const plain = { uri: 'a:b', text: 'x' };
    expect(contentsFor(plain, revision)).toBe(plain);
    const { _meta: _, ...bare } = bytes;
    expect(sent(contentsFor(bytes, revision))).toEqual(revision >= '2025-06-18' ? bytes : bare);
  });
});

describe('a content block', () => {
  it.each([
    [text, true],
    [image, true],
    [audio, true],
    [link, true],
    [embedded, true],
    [{ type: 'text', text: '' }, true],
    [{ type: 'text', text: 'a', annotations: {} }, true],
    [{ ...text, ...full }, true],
    [{ ...image, ...full }, true],
    [{ type: 'resource', resource: bytes, ...full }, true],
    [fullLink, true],
    [{ type: 'image', data: '', mimeType: 'image/png' }, true],
    [{ type: 'text' }, false],
    [{ type: 'text', text: 1 }, false],
    [{ type: 'text', text: 'a', from: 'x' }, false],
    [{ type: 'bug', text: 'a' }, false],
    [{ type: 'constructor', text: 'a' }, false],
    [{ type: ['text'], text: 'a' }, false],
    [{ type: 'image', data: 'AA==' }, false],
    [{ type: 'image', mimeType: 'image/png' }, false],
    [{ type: 'image', data: 'AA==', mimeType: 1 }, false],
    [{ type: 'resource', resource: null }, false],
    [{ type: 'resource_link', uri: 'a:b' }, false],
    [{ type: 'resource_link', name: 'a' }, false],
    [[text], false],
    [null, false],
    ['text', false],
  ])('I6: %j is one: %p', (value, expected) => {
    expect(isContentBlock(value)).toBe(expected);
  });

  it.each([
    'AA',
    'AA=',
    'A===',
    'AAA',
    'AA==AA==',
    'A-_A',
    'AA==\n',
    ' AAAA',
    'data:image/png;base64,AAAA',
    'AB==',
    'AAB=',
  ])('S-108, S-111: with %j for bytes is none, for it is not Base64', (data) => {
    expect(isContentBlock({ ...image, data })).toBe(false);
    expect(isContentBlock({ ...audio, data })).toBe(false);
    expect(isContentBlock({ type: 'resource', resource: { uri: 'a:b', blob: data } })).toBe(false);
  });

  it.each([
    { annotations: null },
    { annotations: [] },
    { annotations: { audience: 'user' } },
    { annotations: { audience: ['robot'] } },
    { annotations: { priority: 1.5 } },
    { annotations: { priority: -1 } },
    { annotations: { priority: Number.NaN } },
    { annotations: { priority: '1' } },
    { annotations: { lastModified: 1 } },
    { _meta: null },
    { _meta: [] },
    { _meta: 'x' },
  ])('S-111: with the member %j is none', (members) => {
    for (const block of [text, image, audio, link, embedded])
      expect(isContentBlock({ ...block, ...members })).toBe(false);
  });

  it.each([
    { title: 1 },
    { description: null },
    { mimeType: 1 },
    { size: -1 },
    { size: 1.5 },
    { size: '1' },
    { icons: {} },
    { icons: ['https://example.com/a.png'] },
    { icons: [{ sizes: ['any'] }] },
    { icons: [{ src: 'https:', sizes: 'any' }] },
    { icons: [{ src: 'https:', theme: 'blue' }] },
    { icons: [{ src: 'https:', mimeType: 1 }] },
    { text: 'a' },
  ])('S-111: that is a link with %j is none', (members) => {
    expect(isContentBlock({ ...link, ...members })).toBe(false);
  });
});

describe('contents of a resource', () => {
  it.each([
    [{ uri: 'a:b', text: '' }, true],
    [{ uri: 'a:b', blob: '' }, true],
    [bytes, true],
    [{ uri: 'a:b', text: 'x', mimeType: 'text/plain', _meta: {} }, true],
    [{ uri: 'a:b', text: 'x', blob: undefined, mimeType: undefined, _meta: undefined }, true],
    [{ uri: 'a:b' }, false],
    [{ uri: 'a:b', text: '', blob: '' }, false],
    [{ uri: 'a:b', text: 1 }, false],
    [{ uri: 'a:b', text: null, blob: 'AA==' }, false],
    [{ uri: 'a:b', blob: 'A' }, false],
    [{ uri: 'a:b', text: '', mimeType: 1 }, false],
    [{ uri: 'a:b', text: '', mimeType: null }, false],
    [{ uri: 'a:b', text: '', _meta: null }, false],
    [{ uri: 'a:b', text: '', name: 'b' }, false],
    [{ uri: 1, text: '' }, false],
    [{ text: 'x' }, false],
    ['x', false],
    [null, false],
  ])('S-108: %j are some: %p', (value, expected) => {
    expect(isResourceContents(value)).toBe(expected);
    expect(isContentBlock({ type: 'resource', resource: value })).toBe(expected);
  });
});

describe('a message of a prompt', () => {
  it.each([
    [{ role: 'user', content: text }, true],
    [{ role: 'assistant', content: embedded }, true],
    [{ role: 'system', content: text }, false],
    [{ role: 'user', content: [text] }, false],
    [{ role: 'user', content: 'a' }, false],
    [{ role: 'user', content: { ...image, data: '?' } }, false],
    [{ role: 'user', content: text, name: 'Ada' }, false],
    [{ content: text }, false],
    [{ role: 'user' }, false],
    [text, false],
    [null, false],
  ])('S-111: %j is one: %p', (value, expected) => {
    expect(isPromptMessage(value)).toBe(expected);
  });
});

describe('Base64', () => {
  it.each([0, 1, 2, 3, 4, 255, 256, 257])('S-108: of %d bytes is recognised as Node writes it', (size) => {
    const data = Buffer.from(Array.from({ length: size }, (_, index) => (index * 37) % 256));
    expect(isBase64(data.toString('base64'))).toBe(true);
    expect(isBase64(data.toString('base64url'))).toBe(data.toString('base64url') === data.toString('base64'));
  });

  it.each([undefined, null, 0, [], {}, Buffer.from('AAAA')])('S-108: is text: %p is none', (value) => {
    expect(isBase64(value)).toBe(false);
  });

  it('S-108: of 8 MiB is read once, wherever the fault is', () => {
    const data = 'AAAA'.repeat(2 * 1024 * 1024);
    expect(isBase64(data)).toBe(true);
    for (const wrong of [`*${data.slice(1)}`, `${data.slice(1)}*`, '='.repeat(data.length)])
      expect(isBase64(wrong)).toBe(false);
  });
});

describe('the rough size', () => {
  it.each([
    text,
    image,
    audio,
    link,
    embedded,
    fullLink,
    { type: 'resource', resource: bytes } as ContentBlock,
  ])('of %j is at most that of its JSON, and grows with it', (block) => {
    expect(roughSize(block)).toBeLessThanOrEqual(JSON.stringify(block).length);
    const messages = [{ role: 'user' as const, content: block }];
    expect(roughSizeOfMessages(messages)).toBeLessThanOrEqual(JSON.stringify(messages).length);
  });

  it('counts what is long', () => {
    const long = 'A'.repeat(1000);
    for (const block of [
      { ...text, text: long },
      { ...image, data: long },
      { ...audio, data: long },
      { ...link, uri: long },
      { ...link, description: long },
      { type: 'resource', resource: { uri: 'a:b', blob: long } },
    ] as ContentBlock[]) {
      expect(roughSize(block)).toBeGreaterThanOrEqual(1000);
      expect(roughSizeOfMessages([{ role: 'user', content: block }])).toBeGreaterThanOrEqual(1000);
    }
    const contents = [
      { uri: 'a:b', text: long },
      { uri: 'a:b', blob: long },
    ];
    expect(roughSizeOf(contents)).toBeGreaterThanOrEqual(2000);
    expect(roughSizeOf(contents)).toBeLessThanOrEqual(JSON.stringify(contents).length);
    expect(roughSizeOf([])).toBe(0);
  });
});

describe('a result of one text', () => {
  it('is an error only where it is one', () => {
    expect(textResult('a')).toEqual({ content: [{ type: 'text', text: 'a' }] });
    expect(errorResult('a')).toEqual({ content: [{ type: 'text', text: 'a' }], isError: true });
  });
});

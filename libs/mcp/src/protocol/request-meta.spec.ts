import {
  claimsEnvelope,
  META_CAPABILITIES,
  META_CLIENT,
  META_VERSION,
  readEnvelope,
  readProgressToken,
} from './request-meta.js';

const good = { [META_VERSION]: '2026-07-28', [META_CAPABILITIES]: { elicitation: {} } };
const refused = (message: string) => ({ code: -32602, message: `Invalid params: ${message}` });

describe('readEnvelope', () => {
  it('reads version, capabilities and client', () => {
    const _meta = { ...good, [META_CLIENT]: { name: 'a', version: '1', title: 'A' } };
    expect(readEnvelope({ _meta })).toEqual({
      version: '2026-07-28',
      client: { name: 'a', version: '1', capabilities: { elicitation: {} } },
    });
    expect(readEnvelope({ _meta: good })).toEqual({
      version: '2026-07-28',
      client: { capabilities: { elicitation: {} } },
    });
  });

  it.each([
    [undefined, `params._meta must be an object with "${META_VERSION}" and "${META_CAPABILITIES}"`],
    [{}, `params._meta must be an object with "${META_VERSION}" and "${META_CAPABILITIES}"`],
    [{ _meta: null }, `params._meta must be an object with "${META_VERSION}" and "${META_CAPABILITIES}"`],
    [{ _meta: [] }, `params._meta must be an object with "${META_VERSION}" and "${META_CAPABILITIES}"`],
    [{ _meta: {} }, `params._meta["${META_VERSION}"] must be a string`],
    [{ _meta: { ...good, [META_VERSION]: 5 } }, `params._meta["${META_VERSION}"] must be a string`],
    [
      { _meta: { ...good, [META_CAPABILITIES]: undefined } },
      `params._meta["${META_CAPABILITIES}"] must be an object`,
    ],
    [
      { _meta: { ...good, [META_CAPABILITIES]: [] } },
      `params._meta["${META_CAPABILITIES}"] must be an object`,
    ],
    [
      { _meta: { ...good, [META_CLIENT]: null } },
      `params._meta["${META_CLIENT}"] must have a "name" and a "version"`,
    ],
    [
      { _meta: { ...good, [META_CLIENT]: { name: 'a' } } },
      `params._meta["${META_CLIENT}"] must have a "name" and a "version"`,
    ],
    [
      { _meta: { ...good, [META_CLIENT]: { name: 1, version: '1' } } },
      `params._meta["${META_CLIENT}"] must have a "name" and a "version"`,
    ],
  ])('S-012: names what is missing or malformed in %j', (params, message) => {
    expect(readEnvelope(params)).toEqual(refused(message));
  });
});

describe('claimsEnvelope', () => {
  it.each([
    [undefined, false],
    [{}, false],
    [{ _meta: {} }, false],
    [{ _meta: { progressToken: 1, [META_CLIENT]: {} } }, false],
    [{ _meta: { [META_VERSION]: null } }, true],
    [{ _meta: { [META_CAPABILITIES]: 5 } }, true],
  ])('of %j is %p', (params, claims) => {
    expect(claimsEnvelope(params)).toBe(claims);
  });
});

describe('readProgressToken', () => {
  const read = (token: string) => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":${token}}}}`;
    const { params } = JSON.parse(text) as { params: Record<string, unknown> };
    return readProgressToken(params, text);
  };

  it.each(['0', '-5', '9007199254740993', '"abc"', '""', '"0"', '"é"'])(
    'K1: keeps %s with its type and digits',
    (token) => {
      expect(read(token)).toBe(token);
    },
  );

  it('keeps a token that was written with escapes as the same text', () => {
    expect(read(String.raw`"\u0061\/"`)).toBe('"a/"');
  });

  it.each([
    'null',
    'true',
    '1.0',
    '1e2',
    '1.5',
    '{}',
    '[]',
    '9'.repeat(257),
    `"${'x'.repeat(257)}"`,
    String.raw`"\ud800"`,
  ])('refuses %s', (token) => {
    expect(read(token)).toEqual(
      refused('params._meta.progressToken must be a string of at most 256 characters or an integer'),
    );
  });

  it('finds none where there is none', () => {
    expect(readProgressToken(undefined, '{}')).toBeUndefined();
    expect(readProgressToken({}, '{"params":{}}')).toBeUndefined();
    expect(readProgressToken({ _meta: {} }, '{"params":{"_meta":{}}}')).toBeUndefined();
  });
});

import { checkAgreement, checkPresence, decodeHeader, type MirroredHeaders } from './header-check.js';

const encode = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const mismatch = (what: string) => ({ code: -32020, message: `Header mismatch: ${what}` });
const envelope = { version: '2026-07-28', client: { capabilities: {} } };
const headers = (more: Partial<MirroredHeaders> = {}): MirroredHeaders => ({
  version: '2026-07-28',
  method: 'tools/call',
  name: 'a',
  ...more,
});

describe('decodeHeader', () => {
  it.each([
    '',
    'a',
    'ticket://1',
    'a b',
    'a\tb',
    '~!"#',
    '=?base64?',
    '?=',
    '=?BASE64?YQ==?=',
    '=?base64?YQ==',
    ' =?base64?YQ==?=',
  ])('takes %j as it is', (value) => {
    expect(decodeHeader(value)).toBe(value);
  });

  it.each(['é', '日本 😀', '', ' a ', '\t', 'a\nb', '\u0000', '\ufeffa', '=?base64?YQ==?=', 'plain'])(
    'S-062: decodes what was encoded from %j, once',
    (text) => {
      expect(decodeHeader(encode(text))).toBe(text);
    },
  );

  it('decodes a marker inside a marker to the inner text and no further', () => {
    expect(decodeHeader(encode(encode('a')))).toBe(encode('a'));
  });

  it.each([
    '=?base64?YQ?=',
    '=?base64?YQ=?=',
    '=?base64?YQ===?=',
    '=?base64?Y?=',
    '=?base64?=YQ=?=',
    '=?base64?YQ==YQ==?=',
    '=?base64?Y Q==?=',
    '=?base64?_w==?=',
    '=?base64?-A==?=',
    '=?base64?$$$$?=',
    '=?base64?/w==?=',
    '=?base64?wK8=?=',
    '=?base64?7aCA?=',
  ])('S-062: refuses %s', (value) => {
    expect(decodeHeader(value)).toBeUndefined();
  });

  it.each(['\u00e9', 'a\u00ffb', '\u0080', '\u007f', 'a\u0001', 'a\u0000', '\u20ac'])(
    'S-062: refuses raw characters outside of ASCII: %j',
    (value) => {
      expect(decodeHeader(value)).toBeUndefined();
    },
  );
});

describe('checkAgreement', () => {
  it('S-057: refuses a version that differs from the body', () => {
    expect(checkAgreement(headers({ version: '2025-11-25' }), envelope, 'tools/call')).toEqual(
      mismatch('MCP-Protocol-Version differs from the version in _meta'),
    );
  });

  it.each(['TOOLS/CALL', 'tools/list', '', 'tools/call '])('D2, S-060: refuses the method %j', (method) => {
    expect(checkAgreement(headers({ method }), envelope, 'tools/call')).toEqual(
      mismatch('Mcp-Method differs from the method'),
    );
  });

  it('takes what agrees and what is absent', () => {
    expect(checkAgreement(headers(), envelope, 'tools/call')).toBeUndefined();
    expect(checkAgreement(headers({ version: undefined, method: undefined }), envelope, 'a')).toBeUndefined();
    expect(checkAgreement(headers(), undefined, 'tools/call')).toBeUndefined();
  });
});

describe('checkPresence', () => {
  it.each([
    [{ version: undefined }, 'MCP-Protocol-Version is missing'],
    [{ method: undefined }, 'Mcp-Method is missing'],
    [{ name: undefined }, 'Mcp-Name is missing'],
    [{ name: 'b' }, 'Mcp-Name differs from params.name'],
    [{ name: 'A' }, 'Mcp-Name differs from params.name'],
    [{ name: '' }, 'Mcp-Name differs from params.name'],
    [{ name: 'é' }, 'Mcp-Name is not well encoded'],
    [{ name: '=?base64?YQ?=' }, 'Mcp-Name is not well encoded'],
  ])('D1, D2, S-058, S-060, S-061: refuses %j', (more, what) => {
    expect(checkPresence(headers(more), 'tools/call', { name: 'a' })).toEqual(mismatch(what));
  });

  it.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
  ])('S-061: mirrors for %s the member %s', (method, member) => {
    expect(checkPresence(headers({ method }), method, { [member]: 'a' })).toBeUndefined();
    expect(checkPresence(headers({ method, name: encode('a') }), method, { [member]: 'a' })).toBeUndefined();
    expect(checkPresence(headers({ method, name: 'x' }), method, { [member]: 'a' })).toEqual(
      mismatch(`Mcp-Name differs from params.${member}`),
    );
  });

  it.each([undefined, {}, { name: 5 }, { name: null }])(
    'H5: takes no name %j of the body for equal',
    (params) => {
      expect(checkPresence(headers({ name: '5' }), 'tools/call', params)).toEqual(
        mismatch('Mcp-Name differs from params.name'),
      );
    },
  );

  it.each([undefined, {}, { name: 5 }, { name: null }])(
    'H5: leaves the missing header of %j to the method',
    (params) => {
      expect(checkPresence(headers({ name: undefined }), 'tools/call', params)).toBeUndefined();
    },
  );

  it.each(['tools/list', 'server/discover', 'no/such', '__proto__', 'constructor'])(
    'needs no name for %s',
    (method) => {
      expect(checkPresence(headers({ method, name: undefined }), method, {})).toBeUndefined();
      expect(checkPresence(headers({ method, name: 'any' }), method, {})).toBeUndefined();
    },
  );
});

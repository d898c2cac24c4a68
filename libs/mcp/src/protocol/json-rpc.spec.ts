import {
  errorMessage,
  idValue,
  notificationMessage,
  quote,
  readId,
  requestMessage,
  resultMessage,
} from './json-rpc.js';

const LONE = String.raw`"\ud800"`;

describe('readId', () => {
  it.each([
    '0',
    '-0',
    '7',
    '-7',
    '9007199254740993',
    '9'.repeat(256),
    `-${'9'.repeat(256)}`,
    '""',
    '"7"',
    '"ü€😀"',
    `"${'a'.repeat(256)}"`,
    String.raw`"a\/b"`,
    String.raw`"\ud83d\ude00"`,
    `"${String.raw`\u0041`.repeat(256)}"`,
  ])('keeps %s byte for byte', (token) => {
    expect(readId(token)?.text).toBe(token);
  });

  it.each([
    undefined,
    '',
    'null',
    'true',
    'false',
    '1.0',
    '1.5',
    '1e2',
    '1E2',
    '+1',
    '01',
    '-',
    '-01',
    ' 1',
    '1 ',
    '0x1',
    '{}',
    '[1]',
    '9'.repeat(257 + 1),
    `-${'9'.repeat(257)}`,
    `"${'a'.repeat(257)}"`,
    `"${String.raw`\u0041`.repeat(257)}"`,
    LONE,
    String.raw`"\udc00\ud800"`,
  ])('takes %s for no id', (token) => {
    expect(readId(token)).toBeUndefined();
  });

  it('refuses an integer of 257 digits, with and without a sign', () => {
    expect(readId(`-${'1'.repeat(257)}`)).toBeUndefined();
    expect(readId('1'.repeat(257))).toBeUndefined();
  });

  it.each([
    '"cut',
    '"cut\\',
    '"',
    String.raw`"\q"`,
    String.raw`"\u12"`,
    '"tab\there"',
    '"new\nline"',
    '"a" "b"',
  ])('takes the broken string token %j of an unparsed message for no id, without throwing', (token) => {
    expect(readId(token)).toBeUndefined();
  });

  it('has one key for the spellings of a string, and another for the integer of the same digits', () => {
    expect(readId(String.raw`"\u0037"`)?.key).toBe(readId('"7"')?.key);
    expect(readId(String.raw`"a\/b"`)?.key).toBe(readId('"a/b"')?.key);
    expect(readId('"7"')?.key).not.toBe(readId('7')?.key);
    expect(readId('9007199254740993')?.key).not.toBe(readId('9007199254740992')?.key);
  });
});

describe('idValue', () => {
  it.each([
    ['"7"', '7'],
    ['7', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['9'.repeat(256), '9'.repeat(256)],
    [String.raw`"\u0041"`, 'A'],
  ])('gives handlers %s as %p', (token, value) => {
    expect(idValue(readId(token)!)).toBe(value);
  });
});

describe('messages', () => {
  const id = readId('9007199254740993')!;

  it('are written with the id as it was sent', () => {
    expect(resultMessage(id, '{}')).toBe('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}');
    expect(errorMessage(id, { code: -1, message: 'a"b' })).toBe(
      '{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-1,"message":"a\\"b"}}',
    );
  });

  it('leave an unreadable id out, or send null where the revision has no other form', () => {
    const error = { code: -32700, message: 'x' };
    expect(JSON.parse(errorMessage(undefined, error))).toEqual({ jsonrpc: '2.0', error });
    expect(JSON.parse(errorMessage(undefined, error, true))).toEqual({ jsonrpc: '2.0', id: null, error });
    expect(JSON.parse(errorMessage(readId('1'), error, true))).toEqual({ jsonrpc: '2.0', id: 1, error });
  });

  it('carry data only where there is some', () => {
    expect(JSON.parse(errorMessage(id, { code: -1, message: '', data: null }))).toMatchObject({
      error: { data: null },
    });
    expect(errorMessage(id, { code: -1, message: '', data: undefined })).not.toContain('data');
  });

  it('S-005: have no id when they are notifications', () => {
    expect(JSON.parse(notificationMessage('a/b', '{"c":1}'))).toEqual({
      jsonrpc: '2.0',
      method: 'a/b',
      params: { c: 1 },
    });
  });

  it('are written with the id they were given when they are requests', () => {
    expect(requestMessage('"x-1"', 'a/b')).toBe('{"jsonrpc":"2.0","id":"x-1","method":"a/b"}');
    expect(requestMessage('7', 'a"b', '{"c":1}')).toBe(
      '{"jsonrpc":"2.0","id":7,"method":"a\\"b","params":{"c":1}}',
    );
  });
});

describe('quote', () => {
  it.each([
    ['plain', '"plain"'],
    ['a\r\nb', String.raw`"a\r\nb"`],
    ['\u001b[31m', String.raw`"\u001b[31m"`],
    ['\u007f', String.raw`"\u007f"`],
    ['\u202eevil', String.raw`"\u202eevil"`],
    ['a\u2028b\u2029c', String.raw`"a\u2028b\u2029c"`],
    ['\u200b', String.raw`"\u200b"`],
    ['😀', '"😀"'],
  ])('shows %j as %s', (text, shown) => {
    expect(quote(text)).toBe(shown);
  });

  it('clips what is long', () => {
    expect(quote('a'.repeat(64))).toBe(`"${'a'.repeat(64)}"`);
    expect(quote('a'.repeat(10_000))).toBe(`"${'a'.repeat(64)}…"`);
  });
});

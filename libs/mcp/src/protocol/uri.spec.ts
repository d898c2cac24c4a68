import { characterFault, hasOnlyUriCharacters, isUri, MAX_URI_LENGTH, uriFault } from './uri.js';

describe('isUri', () => {
  it.each([
    'ticket://4711',
    'ticket://T-1?a=1&b=%C3%BC#top',
    'file:///a/b/c.txt',
    'file:///pages/[id].tsx',
    'https://user:secret@example.com:8443/a;p=1/b,c?d[]=1',
    'http://[::1]:80/',
    'http://[::ffff:127.0.0.1]',
    'http://[v1.fe80::a]/',
    'http://example.com:/',
    'urn:isbn:0451450523',
    'mailto:a@b.example',
    'a+b-c.1://x',
    'x:',
    'x://',
    "x:~!$&'()*+,;=:@",
    'javascript:alert(1)',
  ])('takes %s', (uri) => {
    expect(isUri(uri)).toBe(true);
    expect(uriFault(uri)).toBeUndefined();
  });

  it.each([
    'not a uri',
    '',
    'http://[',
    'http://]',
    'http://[]',
    'http://[::1',
    'http://[1]',
    'http://[::1]x/',
    'http://[::1%25eth0]/',
    'http://a[::1]/',
    'http://a@b@c/',
    'http://[::1]@c/',
    'x://a:b',
    'x://a:1:2',
    '/a/b',
    '//host/a',
    'a/b:c',
    '1a://x',
    '://x',
    ':',
    'é://x',
    'x://a b',
    'x://a\\b',
    'x://a\nb',
    'x://a\0',
    'x://é',
    'x://\ud800',
    'x://😀',
    'x://a"b',
    'x://<a>',
    'x://{a}',
    'x://a|b',
    'x://a^b',
    'x://a`b',
    'file:///%zz',
    'x://%',
    'x://%2',
    'x://%2g',
    'x://%%20',
  ])('J4: does not take %j', (uri) => {
    expect(isUri(uri)).toBe(false);
    expect(uriFault(uri)).toMatch(/^has .+: (?:write|begin)|, write/);
  });

  it.each([5, undefined, null, {}, [], ['x://a'], true, new URL('x://a')])(
    'J4: does not take %p',
    (value) => {
      expect(isUri(value)).toBe(false);
    },
  );

  it('takes as many characters as there may be, and not one more', () => {
    const longest = 'x://'.padEnd(MAX_URI_LENGTH, 'a');
    expect(isUri(longest)).toBe(true);
    expect(isUri(`${longest}a`)).toBe(false);
    expect(uriFault(`${longest}a`)).toBe('has 8193 characters: write one of at most 8192');
  });
});

describe('uriFault', () => {
  it.each([
    ['docs', 'has no scheme: begin it with a name and a colon, such as "docs://"'],
    ['x://a b', 'has " " at 5, which no URI may hold: write "%20"'],
    ['x://ü', 'has "ü" at 4, which no URI may hold: write "%C3%BC"'],
    ['x://😀', 'has "😀" at 4, which no URI may hold: write "%F0%9F%98%80"'],
    ['x://a\n', 'has "\\n" at 5, which no URI may hold: write "%0A"'],
    ['x://100%', 'has a "%" at 7 without two hex digits: write "%25" for a percent sign'],
    [
      'app://config:main',
      'has no well-formed authority between "//" and the next "/": write a name, an address such as "[::1]", or either with ":" and a port number (a colon that belongs to a name is "%3A")',
    ],
  ])('says what is wrong with %j and what to write', (uri, fault) => {
    expect(uriFault(uri)).toBe(fault);
  });
});

describe('hasOnlyUriCharacters', () => {
  it.each(['a', '%', '{', '%41', ' ', '[', 'ü', ':'])('comes to an end on any length of %j', (piece) => {
    const isGood = ['a', '%41', '[', ':'].includes(piece);
    for (const length of [1e3, 1e5, 3e6]) {
      const text = piece.repeat(length / piece.length);
      expect(hasOnlyUriCharacters(text)).toBe(isGood);
      expect(characterFault(text) === undefined).toBe(isGood);
    }
  });
});

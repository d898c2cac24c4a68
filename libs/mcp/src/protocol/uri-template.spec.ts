import { UriTemplate, UriTemplateException } from './uri-template.js';

const match = (template: string, uri: string) => UriTemplate.parse(template).match(uri);

/** What a template is refused with. */
function refusalOf(template: string): string {
  try {
    UriTemplate.parse(template);
  } catch (error) {
    if (error instanceof UriTemplateException) return error.message;
    throw error;
  }
  return 'it is taken';
}

describe('UriTemplate.match', () => {
  it.each([
    ['dom://5', { id: '5' }],
    ['dom://5?', { id: '5' }],
    ['dom://5?b=2', { id: '5', b: '2' }],
    ['dom://5?b=2&a=1', { id: '5', a: '1', b: '2' }],
    ['dom://5?a=1&b=2', { id: '5', a: '1', b: '2' }],
    ['dom://5?c=1', { id: '5' }],
    ['dom://5?c=1&&a=1&c=2', { id: '5', a: '1' }],
    ['dom://5?a', { id: '5', a: '' }],
    ['dom://5?a=', { id: '5', a: '' }],
    ['dom://5?a=b=c', { id: '5', a: 'b=c' }],
    ['dom://5?a=1+1', { id: '5', a: '1+1' }],
    ['dom://5?%61=1', { id: '5', a: '1' }],
    ['dom://5?a=x/y?z', { id: '5', a: 'x/y?z' }],
    ['dom://5?a=..%2F%5C%26%23', { id: '5', a: '../\\&#' }],
  ])('J1: reads %s by dom://{id}{?a,b}', (uri, values) => {
    expect(match('dom://{id}{?a,b}', uri)).toEqual(values);
  });

  it('J1: leaves out what a uri does without', () => {
    expect(Object.keys(match('dom://{id}{?a,b}', 'dom://5?b=2')!)).toEqual(['id', 'b']);
  });

  it.each(['dom://?a=1', 'dom://5/6?a=1', 'dom://5?a=1&a=2', 'dom://5?a=%00', 'dom://5?a=1#b'])(
    'does not read %s by dom://{id}{?a,b}',
    (uri) => {
      expect(match('dom://{id}{?a,b}', uri)).toBeUndefined();
    },
  );

  it('J2: {path} never crosses a slash, {+path} does', () => {
    expect(match('file:///{path}', 'file:///a/b/c')).toBeUndefined();
    expect(match('file:///{+path}', 'file:///a/b/c')).toEqual({ path: 'a/b/c' });
  });

  it('J3: takes literals as they are and a value as a whole', () => {
    const template = UriTemplate.parse('docs://a.b/c?x={x}');
    expect(template.match('docs://aXb/c?x=1')).toBeUndefined();
    expect(template.match('docs://a.b/c?x=1')).toEqual({ x: '1' });
    expect(template.match('docs://a.b/c?x=12345')).toEqual({ x: '12345' });
    expect(template.match('docs://a.b/c?x=a/b?c')).toEqual({ x: 'a/b?c' });
    expect(template.match('docs://a.b/c?x=1&y=2')).toBeUndefined();
    expect(template.match('docs://a.b/c?x=')).toBeUndefined();
    expect(template.match('docs://a.b/c')).toBeUndefined();
    expect(template.match('docs://a.b/c?y=1&x=1')).toBeUndefined();
  });

  it.each<[string, string, Record<string, string | string[]> | undefined]>([
    ['x:(a+)+$[b]*{v}', 'x:(a+)+$[b]*1', { v: '1' }],
    ['x:(a+)+$[b]*{v}', 'x:aab1', undefined],
    ['x://{a,b}', 'x://1,2', { a: '1', b: '2' }],
    ['x://{a,b}', 'x://1%2C5,2', { a: '1,5', b: '2' }],
    ['x://{a,b}', 'x://1,2,3', undefined],
    ['x://{a,b}', 'x://1', undefined],
    ['x://{a,b}', 'x://,2', undefined],
    ['x://{a}', 'x://52.5,13.4', { a: '52.5,13.4' }],
    ['x:{a}', 'x:b:c@d', { a: 'b:c@d' }],
    ['x://{a}-{b}', 'x://1-2-3', { a: '1', b: '2-3' }],
    ['x://{name}.{type}', 'x://a.tar.gz', { name: 'a', type: 'tar.gz' }],
    ['x://{name}{.type}', 'x://a.md', { name: 'a', type: 'md' }],
    ['x://f{.a,b}', 'x://f.1.2', { a: '1', b: '2' }],
    ['x://f{.a,b}', 'x://f.1.2.3', undefined],
    ['x://f{;a,b}', 'x://f;a=1;b=2', { a: '1', b: '2' }],
    ['x://f{;a,b}', 'x://f;b=2;a=1', undefined],
    ['x://f{/a,b}', 'x://f/1/2', { a: '1', b: '2' }],
    ['x://f{/a,b}', 'x://f/1', undefined],
    ['x://f{/a,b}', 'x://f/1/2/3', undefined],
    ['x://f{/a*}', 'x://f/1', { a: ['1'] }],
    ['x://f{/a*}', 'x://f/1/2%203/4', { a: ['1', '2 3', '4'] }],
    ['x://f{/a*}', 'x://f', undefined],
    ['x://f{/a*}', 'x://f/', undefined],
    ['x://f{/a*}', 'x://f/1//2', undefined],
    ['x://f{/a*}', 'x://f/1/../2', undefined],
    ['x://f{/a*}', 'x://f/1?b', undefined],
    ['x://f{/a,b*}{.c}', 'x://f/1/2/3.x.md', { a: '1', b: ['2', '3.x'], c: 'md' }],
    ['x://{host}/{+path}/raw', 'x://h/raw/b/raw/raw', { host: 'h', path: 'raw/b/raw' }],
    ['x://{+path}.{type}', 'x://a.b/c.tar.gz', { path: 'a.b/c.tar', type: 'gz' }],
    ['x://{+path}.{type}', 'x://a.b/c', undefined],
    ['x://{+path}/{a}-{b}.md', 'x://p-q/r/1-2-3.md', { path: 'p-q/r', a: '1-2', b: '3' }],
    ['x://{+url}', 'x://https://a.example/?b=c#d', { url: 'https://a.example/?b=c#d' }],
    ['x://{+path}{?q}', 'x://a/b?q=c/d', { path: 'a/b', q: 'c/d' }],
    ['x:///{+path}', 'x:////etc/passwd', undefined],
    ['x:///{+path}', 'x:///', undefined],
    ['x:{a}//{+path}', 'x:a///etc', undefined],
    ['x://a/{b}/{+path}', 'x://a/b//etc/passwd', undefined],
    ['x://{+path}', 'x:///etc/hosts', { path: '/etc/hosts' }],
    ['x://a{#f}', 'x://a#b/c?d', { f: 'b/c?d' }],
    ['x://a{#f}', 'x://a', undefined],
    ['x://a{#f}', 'x://a#', undefined],
    ['x://a#p{n}', 'x://a#p7', { n: '7' }],
    ['x://a{?q}{#f}', 'x://a?q=1#2', { q: '1', f: '2' }],
    ['x://a{?q}{#f}', 'x://a#2?q=1', { f: '2?q=1' }],
    ['x://a?x=1{&a,b}', 'x://a?x=1', {}],
    ['x://a?x=1{&a,b}', 'x://a?x=1&b=2&c=3&a=1', { a: '1', b: '2' }],
    ['x://a?x=1{&a,b}', 'x://a?a=1&x=1', undefined],
    ['x://a?x=1{&a,b}', 'x://a?x=12&a=1', undefined],
    ['x://a?x=1{&a,b}', 'x://a', undefined],
    ['x://a?x={x}&y=1{&a}{&b}', 'x://a?x=5&y=1&b=2', { x: '5', b: '2' }],
    ['x://a?u={+u}', 'x://a?u=b?c=d&e', { u: 'b?c=d&e' }],
    ['x://a{?tag*,n}', 'x://a?tag=1&n=2&tag=3%264', { tag: ['1', '3&4'], n: '2' }],
    ['x://a{?tag*}', 'x://a?tag=1', { tag: ['1'] }],
    ['x://a{?tag*}', 'x://a', {}],
    ['x://a{?tag}', 'x://a?tag=1,2', { tag: '1,2' }],
    ['x://a?b', 'x://a?b', {}],
    ['x://a?b', 'x://a', undefined],
    ['ticket://{id}', 'ticket://', undefined],
    ['ticket://{id}', 'ticket://1?', undefined],
    ['ticket://{id}', 'ticket://1#', undefined],
    ['ticket://{id}', 'ticket://1/', undefined],
    ['Ticket://{id}', 'tICKET://Ab', { id: 'Ab' }],
    ['ticket://Ab/{id}', 'ticket://ab/1', undefined],
    ['x://a%20b/{v}', 'x://a%20b/1', { v: '1' }],
    ['x://a%20b/{v}', 'x://a b/1', undefined],
    ['x://{a}2{b}', 'x://%22%2525', { a: '"%', b: '5' }],
    ['x://{a}2', 'x://a%22', undefined],
    ['x://{+a}2', 'x://%222', { a: '"' }],
    ['x://{a}2{b}', 'x://%25%22', undefined],
    ['x://{+a}2{b}', 'x://%25%22', undefined],
    ['x://{a}2{b}', 'x://%22%252b', { a: '"%', b: 'b' }],
    ['x://{+a}2{b}', 'x://1%222b%22', { a: '1"', b: 'b"' }],
    ['x://{a.b,c_1}', 'x://1,2', { 'a.b': '1', c_1: '2' }],
  ])('reads by %s the uri %s as %j', (template, uri, values) => {
    expect(match(template, uri)).toEqual(values);
  });

  it.each([
    ['%2525', '%25'],
    ['%252F', '%2F'],
    ['%252e%252e', '%2e%2e'],
    ['%C3%BC', 'ü'],
    ['%f0%9f%98%80', '😀'],
    ['a+b', 'a+b'],
    ['...', '...'],
    ['..a', '..a'],
    ['%3F%23', '?#'],
  ])('decodes %s once, to %s', (raw, value) => {
    expect(match('x://{v}', `x://${raw}`)).toEqual({ v: value });
    expect(match('x://a{?v}', `x://a?v=${raw}`)).toEqual({ v: value });
  });

  describe.each(['%', '%2', '%zz', 'a%', '%ff', '%c0%af', '%ed%a0%80', '%C3', '%00', 'a%00b', ' ', '"', 'ü'])(
    'with %j',
    (raw) => {
      it.each([
        ['x://{v}', `x://${raw}`],
        ['x://{+v}', `x://a/${raw}`],
        ['x://a{/v*}', `x://a/b/${raw}`],
        ['x://a{?v}', `x://a?v=${raw}`],
        ['x://a{?v}', `x://a?other=${raw}`],
        ['x://a{?v}', `x://a?${raw}=1`],
        ['x://a?x={v}', `x://a?x=${raw}`],
        ['x://a{#v}', `x://a#${raw}`],
      ])('does not read by %s', (template, uri) => {
        expect(match(template, uri)).toBeUndefined();
      });
    },
  );

  describe.each([
    '%2F',
    'a%2fb',
    '%5C',
    '..%5c',
    'a\\b',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '.%2e',
    '..%3Fa',
    '..%23',
  ])('with %s in a path', (raw) => {
    it.each([
      ['x://{v}', `x://${raw}`],
      ['file:///{+v}', `file:///${raw}`],
      ['file:///{+v}', `file:///a/${raw}`],
      ['file:///{+v}', `file:///${raw}/a`],
      ['file:///{+v}', `file:///a/${raw}/b`],
      ['file:///{+v}', `file:///${raw}?a`],
      ['x://a{/v*}', `x://a/b/${raw}/c`],
      ['x://{a,v}', `x://a,${raw}`],
      ['x://a/{v}{?q}', `x://a/${raw}?q=1`],
    ])('lets nothing break out of %s', (template, uri) => {
      expect(match(template, uri)).toBeUndefined();
    });
  });

  it('gives values that no prototype adds to', () => {
    const values = match('x://{a}{?q}', 'x://1?__proto__=2&constructor=3&toString=4&q=5&__proto__[q]=6')!;
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect(Object.keys(values)).toEqual(['a', 'q']);
    expect('toString' in values).toBe(false);
    expect(({} as Record<string, unknown>)['q']).toBeUndefined();
    expect(match('x://{toString}', 'x://1')).toEqual(Object.assign(Object.create(null), { toString: '1' }));
  });

  it('gives each caller its own values', () => {
    const template = UriTemplate.parse('x://{a}{?q*}');
    const first = template.match('x://1?q=1')!;
    expect(template.match('x://2')).toEqual({ a: '2' });
    expect(first).toEqual({ a: '1', q: ['1'] });
  });
});

describe('UriTemplate.match of hostile uris', () => {
  const TEMPLATES = [
    'x:{a}',
    'x:{a,b,c}',
    'x:{+a}',
    'x:{/a*}',
    'x:{a}aab{b}aab{c}',
    'x:{a}aab{+b}aab{c}aab{d}',
    'x:{+a},{b},{c}',
    'x:{.a,b}',
    'x:{;a,b}',
    'x:a{#b}',
    'x:a{?b,c*}',
    'x:a?b={b}&c={c}{&d}',
    'x:{a}{?b}{#c}',
    'x:a',
  ];

  it.each([',', '/', '%', '{', 'a', '%41', '?', '&', '#', '=', '.', '../', ';a=', 'aa,', '\\', 'ü', '\0'])(
    'comes to an end on any length of %j',
    (piece) => {
      const wronglyRead: string[] = [];
      for (const template of TEMPLATES.map((text) => UriTemplate.parse(text)))
        for (const length of [1e3, 1e4, 1e5]) {
          const text = piece.repeat(length / piece.length);
          for (const uri of [
            text,
            `x:${text}`,
            `x:${text}aab`,
            `x:a?b=${text}`,
            `x:a#${text}`,
            `x:a?${text}`,
          ]) {
            const isNone = uri === text || /[{\\ü\0]|%(?!41)/.test(uri);
            if (template.match(uri) && isNone) wronglyRead.push(`${template.template} ${uri.slice(0, 20)}`);
          }
        }
      expect(wronglyRead).toEqual([]);
    },
    60_000,
  );

  it.each([1e3, 1e4, 1e5])('gives back long values (%d)', (length) => {
    const [a, dots, list] = ['a', '.', 'a,'].map((text) => text.repeat(length));
    expect(match('x:{v}', `x:${a}`)).toEqual({ v: a });
    expect(match('x:{v}', `x:${dots}`)).toEqual({ v: dots });
    expect(match('x:{v,w}', `x:${a},${a}`)).toEqual({ v: a, w: a });
    expect(match('x:{v,w}', `x:${list}`)).toBeUndefined();
    expect(match('x:{+v}b{w}', `x:${list}b${a}`)).toEqual({ v: list, w: a });
    expect(match('x:{/v*}', `x:${'/a'.repeat(length)}`)).toEqual({ v: Array.from(a!) });
    expect(match('x:a{?v*}', `x:a?${'v=1&'.repeat(length)}`)).toEqual({ v: Array.from(a!, () => '1') });
    expect(match('x:a{?v}', `x:a?${'v=1&'.repeat(length)}`)).toBeUndefined();
  });

  it.each([
    '',
    ':',
    'x',
    'x:',
    'x://',
    'X://',
    '\0',
    '\ud800',
    'x://\udfff',
    'x://[]:/%',
    '?',
    '#',
    '{',
    'undefined',
  ])('never throws: %j', (uri) => {
    for (const template of ['x://{a}', 'x://{+a}{?b}{#c}', 'x://a{/b*}'])
      expect(match(template, uri)).toBe(undefined);
  });
});

describe('UriTemplate.parse', () => {
  it('tells the variables in order, lists and those a uri may do without', () => {
    expect(UriTemplate.parse('x://{a}{/b*}{?c,d*}{#e}').variables).toEqual([
      { name: 'a', isList: false, isOptional: false },
      { name: 'b', isList: true, isOptional: false },
      { name: 'c', isList: false, isOptional: true },
      { name: 'd', isList: true, isOptional: true },
      { name: 'e', isList: false, isOptional: false },
    ]);
    expect(UriTemplate.parse('x://{a}').template).toBe('x://{a}');
  });

  it.each([
    ['a://{x}', 'A://{y}'],
    ['a://b{/x}', 'a://b/{y}'],
    ['a://b{/x*}', 'a://b{/y*}'],
    ['a://b{#x}', 'a://b#{+y}'],
    ['a://{x}{?p}', 'a://{y}{?q,r}'],
    ['a://{x}?k=1{&p}', 'a://{x}?k=1{&q}'],
    ['a://{x,y}', 'a://{y},{x}'],
  ])('gives %s and %s one shape', (first, second) => {
    expect(UriTemplate.parse(first).shape).toBe(UriTemplate.parse(second).shape);
  });

  it('gives templates for other uris other shapes', () => {
    const templates = [
      'a://{x}',
      'b://{x}',
      'a://{+x}',
      'a://{x}/',
      'a://{x}{/y}',
      'a://{x}{/y*}',
      'a://{x}{/y}{/z*}',
      'a://{x}{?y}',
      'a://{x}?y',
      'a://{x}?y={y}',
      'a://{x}?y={+y}',
      'a://{x}?y={y}{&z}',
      'a://{x}{#y}',
      'a://{x}#{y}',
      'a://{x}{?y}{#z}',
      'A://X/{x}',
      'a://x/{x}',
    ];
    expect(new Set(templates.map((text) => UriTemplate.parse(text).shape)).size).toBe(templates.length);
  });

  it.each([
    [
      'x://{id:3}',
      '"{id:3}" takes the beginning of a value only, which cannot be read back: write "id" without ":"',
    ],
    ['x://{a}/{a}', 'it has "a" twice: write two names'],
    ['x://{a}{?a}', 'it has "a" twice: write two names'],
    [
      'x://{a}{b}',
      'nothing stands between "{a}" and "{b}" to tell their values apart: write a fixed text between them, such as "/"',
    ],
    [
      'x://{a}{+b}',
      'nothing stands between "{a}" and "{+b}" to tell their values apart: write a fixed text between them, such as "/"',
    ],
    [
      'x://{+a}x{+b}',
      '"a" and "b" may both hold separators, so nothing tells where the first ends: write one of them as "{name}"',
    ],
    ['x://{}', '"{}" lacks a name: write one, such as "{id}"'],
    ['x://{+}', '"{+}" lacks a name: write one, such as "{id}"'],
    ['x://{a,}', '"{a,}" lacks a name: write one, such as "{id}"'],
    ['x://{*}', '"{*}" lacks a name: write one, such as "{id}"'],
    ['x://{a', 'the "{" at 4 is not closed: write "}" behind the name, or "%7B" for a brace'],
    ['x://{a{b}}', 'the "{" at 4 is not closed: write "}" behind the name, or "%7B" for a brace'],
    ['x://a}', 'a "}" has no "{" before it: write "%7D" for a brace'],
    ['x://{=a}', '"{=a}" begins with "=", which means nothing: write "{a}"'],
    ['x://{!a}', '"{!a}" begins with "!", which means nothing: write "{a}"'],
    ['x://{@a}', '"{@a}" begins with "@", which means nothing: write "{a}"'],
    ['x://{|a}', '"{|a}" begins with "|", which means nothing: write "{a}"'],
    ['x://{a-b}', '"a-b" in "{a-b}" is no name: write letters, digits and "_", such as "ticketId"'],
    ['x://{ a }', '" a " in "{ a }" is no name: write letters, digits and "_", such as "ticketId"'],
    ['x://{ü}', '"ü" in "{ü}" is no name: write letters, digits and "_", such as "ticketId"'],
    ['x://{a.}', '"a." in "{a.}" is no name: write letters, digits and "_", such as "ticketId"'],
    ['x://{a**}', '"a*" in "{a**}" is no name: write letters, digits and "_", such as "ticketId"'],
    ['x://{__proto__}', '"__proto__" cannot be the name of a variable: write another one'],
    ['x://{?constructor}', '"constructor" cannot be the name of a variable: write another one'],
    ['x://{/prototype*}', '"prototype" cannot be the name of a variable: write another one'],
    ['x://a b/{c}', 'its fixed part "//a b/" has " " at 3, which no URI may hold: write "%20"'],
    ['x://ü/{c}', 'its fixed part "//ü/" has "ü" at 2, which no URI may hold: write "%C3%BC"'],
    [
      'x://5%/{c}',
      'its fixed part "//5%/" has a "%" at 3 without two hex digits: write "%25" for a percent sign',
    ],
    ['{a}', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    ['{scheme}://a', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    ['x{a}://b', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    ['/a/{b}', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    ['', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    [
      'x://{a*}',
      '"{a*}" makes a list with "*", which can be read in "{/a*}", "{?a*}" and "{&a*}" only: write one of these, or "a" without "*"',
    ],
    [
      'x://{+a*}',
      '"{+a*}" makes a list with "*", which can be read in "{/a*}", "{?a*}" and "{&a*}" only: write one of these, or "a" without "*"',
    ],
    ['x://a?b{?c}', '"{?c}" stands behind a "?": write "{&c}"'],
    ['x://a{?b}{?c}', '"{?b}" and "{?c}" are two queries: write their names into one, "{?a,b}"'],
    [
      'x://a{?b}{&c}',
      '"{&c}" continues no fixed query such as "?x=1": write its names into "{?b}", such as "{?a,b}"',
    ],
    ['x://a{&b,c}', '"{&b,c}" continues no fixed query such as "?x=1": write "{?b,c}"'],
    ['x://a?{&b}', '"{&b}" continues no fixed query such as "?x=1": write "{?b}"'],
    [
      'x://a?b={+b}{&c}',
      '"{&c}" stands behind a variable that may hold "&": write "{name}" instead of "{+name}" there',
    ],
    [
      'x://a{?b}&c=1',
      '"&c=1" stands behind "{?b}", whose values come in any order: write what is fixed first, such as "?x=1{&a}"',
    ],
    [
      'x://a?b=1{&c}{d}',
      '"{d}" stands behind "{&c}", whose values come in any order: write what is fixed first, such as "?x=1{&a}"',
    ],
    ['x://a#b{?c}', '"{?c}" stands behind "#": write the query before the fragment'],
    ['x://a#b{&c}', '"{&c}" stands behind "#": write the query before the fragment'],
    ['x://a#b{#c}', '"{#c}" stands behind a "#": write "{+c}"'],
    [
      'x://{a}:b/',
      'the uri "x://1:b/", which it would give, has no well-formed authority between "//" and the next "/": write a name, an address such as "[::1]", or either with ":" and a port number (a colon that belongs to a name is "%3A")',
    ],
  ])('refuses %s', (template, message) => {
    expect(refusalOf(template)).toBe(message);
  });

  it.each([
    '{a}{b}',
    '{a}{+b}',
    '{+a}{b}',
    '{+a}{/b*}',
    '{+a,b}',
    '{/a*,b*}',
    '{/a*}{b}',
    '{a,b}{c}',
    '?{a}{b}',
  ])('refuses values that nothing tells apart: %s', (text) => {
    expect(refusalOf(`x://${text}`)).toMatch(/to tell their values apart: write|where the first ends: write/);
  });

  it('takes as much as there may be, and no more', () => {
    const names = Array.from({ length: 33 }, (_, index) => `v${index}`);
    expect(UriTemplate.parse(`x://{${names.slice(0, 32).join(',')}}`).variables).toHaveLength(32);
    expect(refusalOf(`x://{${names.join(',')}}`)).toBe('it has too many variables: write at most 32');
    expect(refusalOf('x://{a}'.padEnd(1000, 'b'))).toBe('it is taken');
    expect(refusalOf('x://{a}'.padEnd(1001, 'b'))).toBe(
      'it has 1001 characters: write a template of at most 1000',
    );
  });
});

/** Expands and makes templates and values, the same ones in each run. */
class Generator {
  constructor(private seed: number) {}

  /** A whole number below `limit` (mulberry32). */
  below(limit: number): number {
    this.seed = (this.seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.seed ^ (this.seed >>> 15), this.seed | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) % limit;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  text(pieces: readonly string[], least = 1): string {
    return Array.from({ length: least + this.below(6) }, () => this.pick(pieces)).join('');
  }
}

const UNRESERVED = /[A-Za-z0-9\-._~]/;
const RESERVED = /[:/?#[\]@!$&'()*+,;=]/;
const SAFE = [
  'a',
  'Z',
  '9',
  '-',
  '_',
  '~',
  'ü',
  '😀',
  ' ',
  '%',
  '%41',
  '"',
  '{',
  '|',
  '+',
  '&',
  '=',
  '?',
  '#',
  ',',
];
const ANY = [...SAFE, '/', '..', '\\', '.'];

function encode(text: string, isReserved = false): string {
  return Array.from(text, (character) =>
    UNRESERVED.test(character) || (isReserved && RESERVED.test(character))
      ? character
      : Array.from(
          Buffer.from(character),
          (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
        ).join(''),
  ).join('');
}

interface Sample {
  readonly template: string;
  readonly uri: string;
  readonly values: Record<string, string | string[]>;
  /** The variables before the query and the fragment. */
  readonly pathNames: readonly string[];
}

/** A template with one of its expansions. Literals between values are such as no value of it holds unencoded. */
function sample(random: Generator): Sample {
  const values: Record<string, string | string[]> = {};
  let [template, uri] = ['x:', 'x:'];
  let count = 0;
  const add = (expression: string, expansion: string) => {
    template += expression;
    uri += expansion;
  };
  const set = <T extends string | string[]>(value: T): [string, T] => {
    const name = `v${count++}`;
    values[name] = value;
    return [name, value];
  };
  const simple = () => {
    const [name, value] = set(random.text(SAFE));
    const [other, second] = set(random.text(SAFE));
    random.pick([
      () => add(`{${name},${other}}`, `${encode(value)},${encode(second)}`),
      () => add(`{${name}}:{${other}}`, `${encode(value)}:${encode(second)}`),
      () => add(`{/${name},${other}}`, `/${encode(value)}/${encode(second)}`),
      () => add(`{;${name},${other}}`, `;${name}=${encode(value)};${other}=${encode(second)}`),
      () => add(`{${name}}{.${other}}`, `${encode(value)}.${encode(second)}`),
      () => add(`{${name}}(.*)+$!{${other}}`, `${encode(value)}(.*)+$!${encode(second)}`),
    ])();
  };
  const literal = () => {
    const text = random.pick(['/', ':', ';;', '@a', '/%20/', '!(x)*', '/a.b/']);
    add(text, text);
  };
  literal();
  simple();
  const wide = random.below(3);
  if (wide === 1) {
    const [name, list] = set(Array.from({ length: 1 + random.below(3) }, () => random.text(SAFE)));
    add(`{/${name}*}`, list.map((text) => `/${encode(text)}`).join(''));
  } else if (wide === 2) {
    // "?" and "#" come back from it only where the template has no query and no fragment.
    const [name, value] = set(`a${random.text(['b', '/c', 'é', '=', ' ', '[d]', ',', '+'], 0)}`);
    add(`@{+${name}}`, `@${encode(value, true)}`);
  }
  if (wide !== 0 && random.below(2) === 1) {
    add('/', '/');
    const [name, value] = set(random.text(SAFE));
    add(`{${name}}`, encode(value));
  }
  const pathNames = Object.keys(values);
  const hasFixed = random.below(3) === 1;
  if (hasFixed) {
    const [name, value] = set(random.text(ANY));
    add(`?(k)={${name}}&l`, `?(k)=${encode(value)}&l`);
  }
  if (random.below(2) === 1) {
    const operator = hasFixed ? '&' : '?';
    const [name, value] = set(random.text(ANY, 0));
    const [other, list] = set(Array.from({ length: random.below(4) }, () => random.text(ANY, 0)));
    const pairs = [`${name}=${encode(value)}`, ...list.map((text) => `${other}=${encode(text)}`)];
    if (list.length === 0) delete values[other];
    if (random.below(2) === 1) pairs.reverse();
    if (operator === '?' || random.below(2) === 1) pairs.push('unknown=1');
    add(`{${operator}${name},${other}*}`, operator + pairs.join('&'));
    if (list.length > 0 && pairs[0]!.startsWith(other)) values[other] = list.toReversed();
  }
  if (random.below(3) === 1) {
    const [name, value] = set(random.text(ANY));
    add(`{#${name}}`, `#${encode(value, true)}`);
  }
  return { template, uri, values, pathNames };
}

describe('UriTemplate, for any template and values', () => {
  it('gives back the values that a uri was expanded from', () => {
    const random = new Generator(6570);
    for (let run = 0; run < 3000; run++) {
      const { template, uri, values } = sample(random);
      expect({ template, uri, values: { ...match(template, uri) } }).toEqual({ template, uri, values });
    }
  });

  it('never throws for a uri that was broken, and never lets a path out', () => {
    const random = new Generator(3986);
    const junk = [
      '%',
      '%2F',
      '%00',
      '..',
      '/',
      '/../',
      '?',
      '#',
      '&',
      '=',
      '{',
      '%ff',
      ',',
      'a',
      ' ',
      '\ud800',
    ];
    const escapes: string[] = [];
    for (let run = 0; run < 3000; run++) {
      const { template, uri, pathNames } = sample(random);
      const at = 2 + random.below(uri.length - 1);
      const broken = uri.slice(0, at) + random.text(junk) + uri.slice(at + random.below(3));
      const parsed = UriTemplate.parse(template);
      const values = parsed.match(broken) ?? {};
      const inPath = pathNames.flatMap((name) => values[name] ?? []);
      escapes.push(...inPath.filter((value) => /(?:^|\/)\.\.?(?:\/|$)|\\|\0/.test(value)));
    }
    expect(escapes).toEqual([]);
  });

  it('refuses a template of junk with a mend, or reads by it', () => {
    const random = new Generator(2026);
    const junk = [
      '{',
      '}',
      '{a}',
      '{+b}',
      '{?c}',
      '{&d}',
      '{#e}',
      '{/f*}',
      ',',
      '*',
      ':',
      '?',
      '#',
      '/',
      '%',
      '[',
      ' ',
    ];
    const answers = Array.from({ length: 3000 }, () => refusalOf(`x:${random.text(junk)}`));
    expect(answers.filter((answer) => !/it is taken|: write |, write /.test(answer))).toEqual([]);
    expect(answers.filter((answer) => answer === 'it is taken').length).toBeGreaterThan(100);
  });
});

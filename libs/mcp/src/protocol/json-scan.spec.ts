import { scanMessage, tokenAt } from './json-scan.js';

const LOOSE = { depth: 64, tokens: 1000 };
const scan = (text: string, limits = LOOSE) => scanMessage(text, limits);

describe('scanMessage', () => {
  it('takes as many levels as the limit says and not one more', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(scan(nested(64)).fault).toBeUndefined();
    expect(scan(nested(65)).fault).toBe('depth');
    expect(scan(`{"params":${nested(63)}}`).fault).toBeUndefined();
    expect(scan(`{"params":${nested(64)}}`).fault).toBe('depth');
  });

  it('does not count siblings as depth', () => {
    expect(scan(`[${'[[]],'.repeat(60)}[]]`, { depth: 3, tokens: 1000 }).fault).toBeUndefined();
  });

  it.each([
    ['{}', 2],
    ['[1,2,3]', 4],
    ['{"a":[{}],"b":1}', 7],
    ['[[]]', 4],
  ])('counts the brackets and commas of %s as %d tokens', (text, tokens) => {
    expect(scan(text, { depth: 64, tokens }).fault).toBeUndefined();
    expect(scan(text, { depth: 64, tokens: tokens - 1 }).fault).toBe('tokens');
  });

  it('sees no brackets, commas or member names inside strings', () => {
    const text = JSON.stringify({ id: '[[{{,,"id":', a: '\\"id\\":[', method: '\\', params: {} });
    expect(scan(text, { depth: 2, tokens: 7 }).fault).toBeUndefined();
  });

  it('stops at once at a million levels and at a million tokens', () => {
    expect(scan(`{"id":3,"params":${'['.repeat(1_000_000)}`)).toEqual({ fault: 'depth', id: '3' });
    expect(scan(`{"id":3,"params":[${'[],'.repeat(1_000_000)}`)).toEqual({ fault: 'tokens', id: '3' });
  });

  it.each(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])('finds a second "%s"', (name) => {
    expect(scan(`{"${name}":1,"x":2,"${name}":1}`).fault).toBe('duplicate');
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
    expect(scan(`{"${name}":1,"${escaped}":1}`).fault).toBe('duplicate');
    expect(scan(`{"${escaped}":1,"${name}":1}`).fault).toBe('duplicate');
  });

  it.each([
    '{"x":1,"x":2}',
    '{"params":{"id":1,"id":2,"method":1,"method":2}}',
    '{"params":[{"id":1},{"id":2}],"id":3}',
    '{"id":1,"ID":2,"Id":3}',
    '{"id":1,"x":"id"}',
    '{"constructor":1,"constructor":2,"__proto__":1,"__proto__":2}',
    '{"toString":1,"toString":2}',
  ])('lets members that are not of the envelope repeat: %s', (text) => {
    expect(scan(text).fault).toBeUndefined();
  });

  it('looks at the first value only: what follows is for the JSON parser to refuse', () => {
    expect(scan('{"id":1}{"id":2,"id":3}')).toEqual({ fault: undefined, id: '1' });
    expect(scan(`{"id":1}${'['.repeat(100)}`)).toEqual({ fault: undefined, id: '1' });
    expect(scan('}{"id":1,"id":2}').fault).toBeUndefined();
  });

  it.each([
    ['{"id":7,"params":{"id":8}}', '7'],
    ['{"params":{"id":8},"id":7}', '7'],
    ['{"params":[{"id":8}],"id" \t\r\n:\n 7 }', '7'],
    ['{"params":"\\"id\\":8","id":"a"}', '"a"'],
    [String.raw`{"\u0069d":7}`, '7'],
    [String.raw`{"id":"a\"b\\"}`, String.raw`"a\"b\\"`],
    ['{"id":1.0}', '1.0'],
    ['{"id":null}', 'null'],
    ['{"id":{}}', undefined],
    ['{"id":[1]}', undefined],
    ['{"params":{"id":8}}', undefined],
    ['[{"id":8}]', undefined],
  ])('finds the id token of %s', (text, id) => {
    expect(scan(text).id).toBe(id);
  });

  it('finds no id where the text was cut inside it', () => {
    expect(scan('{"id":12').id).toBeUndefined();
    expect(scan('{"id":').id ?? '').toBe('');
    expect(scan('{"id":12,').id).toBe('12');
  });

  it.each(['', '"', '"\\', '{"', '{"id', '{"id":"', '{"id":"\\', '\\"', '{,"":', ']]]]', ',,,,', '{"a"}'])(
    'takes %j without throwing',
    (text) => {
      expect(() => scan(text)).not.toThrow();
      expect(() => tokenAt(text, ['id'])).not.toThrow();
    },
  );
});

describe('tokenAt', () => {
  const PATH = ['params', '_meta', 'progressToken'];

  it.each([
    ['{"params":{"_meta":{"progressToken":9007199254740993}}}', '9007199254740993'],
    ['{"params":{"_meta":{"progressToken":1.0}}}', '1.0'],
    ['{"params":{"_meta":{"progressToken":1e2 }}}', '1e2'],
    ['{"params":{"_meta":{"progressToken":"a"}}}', '"a"'],
    [' { "params" : { "x" : [1,{"_meta":5}] , "_meta" : {"progressToken"\n:\n-4\n} } } ', '-4'],
    ['{"_meta":{"progressToken":1},"params":{"progressToken":2,"_meta":{"progressToken":3}}}', '3'],
    [String.raw`{"p\u0061rams":{"_meta":{"progress\u0054oken":4}}}`, '4'],
    ['{"params":{"_meta":{"x":"}\\"]{","progressToken":4}}}', '4'],
    ['{"params":{"_meta":{"progressToken":null}}}', 'null'],
    ['{"params":{"_meta":{"progressToken":{}}}}', undefined],
    ['{"params":{"_meta":[{"progressToken":1}]}}', undefined],
    ['{"params":{"_meta":{}}}', undefined],
    ['{"params":{"_meta":5}}', undefined],
    ['{"params":[]}', undefined],
    ['{}', undefined],
    ['5', undefined],
  ])('finds the progress token of %s', (text, token) => {
    expect(tokenAt(text, PATH)).toBe(token);
  });

  it('takes the last of repeated members, as the JSON parser does', () => {
    const text = '{"params":{"requestId":1,"requestId":2},"params":{"requestId":3,"requestId":4}}';
    expect(tokenAt(text, ['params', 'requestId'])).toBe('4');
    expect((JSON.parse(text) as { params: { requestId: number } }).params.requestId).toBe(4);
  });
});

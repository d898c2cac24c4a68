import { isDeepStrictEqual } from 'node:util';
import { elementTexts } from './json-scan.js';
import { methodNotFound, parseMessage } from './message-parser.js';

const LIMITS = { depth: 64, tokens: 100_000 };
const parse = (text: string | Uint8Array, limits = LIMITS) =>
  parseMessage(typeof text === 'string' ? Buffer.from(text) : text, limits);
const rejected = (code: number, message: string, id?: string) => ({
  kind: 'rejected',
  id: id === undefined ? undefined : expect.objectContaining({ text: id }),
  error: { code, message },
});
const BAD_ID = 'Invalid request: "id" must be a string of at most 256 characters or an integer';

describe('bytes', () => {
  it.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, ...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')]],
    [
      'two values',
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}'),
    ],
    ['two values on two lines', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a"}\n{}')],
    ['a NUL', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a\0"}')],
    ['a cut object', Buffer.from('{"jsonrpc":"2.0","id":1')],
    ['a cut word', Buffer.from('nul')],
    ['a trailing comma', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a",}')],
    ['single quotes', Buffer.from("{'jsonrpc':'2.0'}")],
    ['blanks alone', Buffer.from(' \t\r\n ')],
    ['a comment', Buffer.from('{}//')],
    ['a leading zero', Buffer.from('{"jsonrpc":"2.0","id":01,"method":"a"}')],
    ['a lone bracket', Buffer.from('}{"id":1,"id":2}')],
  ])('refuses %s as no JSON, without an id', (_, bytes) => {
    expect(parse(Uint8Array.from(bytes))).toEqual(rejected(-32700, 'Parse error: the message is not JSON'));
  });

  it.each([
    ['a lone continuation', [0x80]],
    ['a byte that UTF-8 never has', [0xff]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['a cut sequence', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('S-001: refuses %s inside a string, and replaces nothing', (_, bytes) => {
    const message = [...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), ...bytes, ...Buffer.from('"}')];
    expect(parse(Uint8Array.from(message))).toEqual(
      rejected(-32700, 'Parse error: the message is not UTF-8'),
    );
  });

  it('refuses an empty message', () => {
    expect(parse('')).toEqual(rejected(-32700, 'Parse error: the message is empty'));
  });

  it('reads a view into a larger buffer by its own bytes', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const large = Buffer.from(`xxxx${text}yyyy`);
    expect(parse(large.subarray(4, 4 + text.length))).toMatchObject({ kind: 'request', source: { text } });
  });
});

describe('limits', () => {
  const deep = (levels: number, tail = '') =>
    `{"jsonrpc":"2.0","id":5,"method":"a","params":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}${tail}}`;

  it('names the level limit, with the id that came before', () => {
    expect(parse(deep(62)).kind).toBe('request');
    expect(parse(deep(63))).toEqual(rejected(-32600, 'Invalid request: nested deeper than 64 levels', '5'));
  });

  it('names the token limit', () => {
    const text = '{"jsonrpc":"2.0","id":5,"method":"a"}';
    expect(parse(text, { depth: 64, tokens: 4 }).kind).toBe('request');
    expect(parse(text, { depth: 64, tokens: 3 })).toEqual(
      rejected(-32600, 'Invalid request: more than 3 brackets and commas', '5'),
    );
  });

  it('echoes no id that comes after the fault', () => {
    const text = `{"params":${'['.repeat(65)}${']'.repeat(65)},"id":5}`;
    expect(parse(text)).toMatchObject({ kind: 'rejected', id: undefined, error: { code: -32600 } });
  });

  it.each([String.raw`"\q"`, '"a\tb"', '"a\nb"', String.raw`"\ud800"`, '1.0', 'null'])(
    'echoes no broken id %j of a message that was never parsed',
    (token) => {
      const text = `{"id":${token},"params":${'['.repeat(100_000)}`;
      expect(parse(text)).toEqual(rejected(-32600, 'Invalid request: nested deeper than 64 levels'));
    },
  );
});

describe('duplicate members', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}',
    String.raw`{"jsonrpc":"2.0","id":1,"\u006dethod":"a","method":"b"}`,
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}',
  ])('are refused in the envelope: %s', (text) => {
    expect(parse(text)).toEqual(
      rejected(-32600, 'Invalid request: a member of the envelope appears twice', '1'),
    );
  });

  it.each(['"id":2', String.raw`"\u0069d":2`, String.raw`"i\u0064":2`])(
    'of the id are refused: %s',
    (second) => {
      expect(parse(`{"jsonrpc":"2.0","id":1,"method":"a",${second}}`)).toMatchObject({
        kind: 'rejected',
        error: { code: -32600 },
      });
    },
  );

  it('may repeat deeper: the last one counts', () => {
    expect(parse('{"jsonrpc":"2.0","id":1,"method":"a","params":{"id":1,"id":2}}')).toMatchObject({
      kind: 'request',
      params: { id: 2 },
    });
  });
});

describe('ids', () => {
  const withId = (token: string) => parse(`{"jsonrpc":"2.0","id":${token},"method":"a"}`);

  it.each([
    '0',
    '-1',
    '""',
    '"7"',
    '7',
    '9007199254740993',
    '9'.repeat(256),
    `"${'x'.repeat(256)}"`,
    String.raw`"\u00e9\n"`,
  ])('S-002: %s is kept with its type and spelling', (token) => {
    expect(withId(token)).toMatchObject({ kind: 'request', id: { text: token } });
  });

  it.each([
    'null',
    'true',
    '{}',
    '[1]',
    '1.5',
    '1.0',
    '1e2',
    '-0.0',
    '9'.repeat(257),
    `"${'x'.repeat(257)}"`,
    String.raw`"\ud800"`,
  ])('H3: %s is refused and not echoed', (token) => {
    expect(withId(token)).toEqual(rejected(-32600, BAD_ID));
  });

  it('is found before and after the params', () => {
    expect(parse('{"id":7,"params":{"id":8},"method":"a","jsonrpc":"2.0"}')).toMatchObject({
      id: { text: '7' },
    });
    expect(parse('{"params":{"id":8},"method":"a","jsonrpc":"2.0","id":7}')).toMatchObject({
      id: { text: '7' },
    });
  });

  it('S-005: none at all is a notification', () => {
    const message = parse('{"jsonrpc":"2.0","method":"a","params":{"id":8}}');
    expect(message).toMatchObject({ kind: 'notification', method: 'a', params: { id: 8 } });
    expect(message).not.toHaveProperty('id');
  });
});

describe('shapes', () => {
  it.each([
    ['{"hello":"world"}', undefined, '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":"1.0","id":1,"method":"a"}', '1', '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":2,"id":1,"method":"a"}', '1', '"jsonrpc" must be "2.0"'],
    ['{"jsonRpc":"2.0","id":1,"method":"a"}', '1', '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":"2.0","id":1}', '1', '"method" is missing'],
    ['{"jsonrpc":"2.0","id":1,"Method":"a"}', '1', '"method" is missing'],
    ['{"jsonrpc":"2.0","id":1,"METHOD":"a"}', '1', '"method" is missing'],
    ['{"jsonrpc":"2.0","id":1,"method":5}', '1', '"method" must be a string that is not empty'],
    ['{"jsonrpc":"2.0","id":1,"method":null}', '1', '"method" must be a string that is not empty'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":null}', '1', '"params" must be an object'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":[]}', '1', '"params" must be an object'],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', '1', '"params" must be an object'],
    ['{"jsonrpc":"2.0","method":"a","params":[1]}', undefined, '"params" must be an object'],
    ['{"jsonrpc":"2.0","result":{}}', undefined, '"method" is missing'],
    ['{"jsonrpc":"2.0","error":5}', undefined, '"method" is missing'],
    ['{"jsonrpc":"2.0","error":{},"result":{}}', undefined, '"method" is missing'],
    ['[]', undefined, 'the batch is empty'],
    ['5', undefined, 'a message is an object'],
    ['"x"', undefined, 'a message is an object'],
    ['null', undefined, 'a message is an object'],
  ])('H1, H2, H5: %s is refused', (text, id, why) => {
    expect(parse(text)).toEqual(rejected(-32600, `Invalid request: ${why}`, id));
  });

  it('H4: an empty method is refused with the id', () => {
    expect(parse('{"jsonrpc":"2.0","id":3,"method":""}')).toEqual(
      rejected(-32600, 'Invalid request: "method" must be a string that is not empty', '3'),
    );
  });

  it('S-004: takes a result or an error as a response', () => {
    expect(parse('{"jsonrpc":"2.0","id":1,"result":{}}')).toMatchObject({
      kind: 'response',
      id: { text: '1' },
    });
    expect(parse('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}').kind).toBe('response');
    expect(parse('{"jsonrpc":"2.0","error":{"code":1,"message":""}}')).toMatchObject({
      kind: 'response',
      id: undefined,
    });
  });

  it.each(['"result":5', '"result":null', '"error":"no"', '"result":{},"error":{}'])(
    'refuses %s, and knows it for a wrong answer to a request',
    (outcome) => {
      expect(parse(`{"jsonrpc":"2.0","id":1,${outcome}}`)).toMatchObject({
        kind: 'rejected',
        id: { text: '1' },
        error: {
          code: -32600,
          message: 'Invalid request: an answer has either a "result" or an "error", which is an object',
        },
        answer: { kind: 'response', id: { text: '1' } },
      });
    },
  );

  it('lets unknown members pass', () => {
    expect(parse('{"jsonrpc":"2.0","id":1,"method":"a","extra":[1]}').kind).toBe('request');
  });

  it('pollutes no prototype by odd member names', () => {
    const message = parse(
      '{"__proto__":{"jsonrpc":"2.0","method":"evil"},"constructor":1,"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{"x":1}}}',
    );
    expect(message).toMatchObject({ kind: 'request', method: 'a' });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(parse('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"evil"}}')).toMatchObject({
      kind: 'rejected',
    });
    expect(parse('{"jsonrpc":"2.0","id":1,"__proto__":{"method":"evil"}}')).toMatchObject({
      kind: 'rejected',
    });
  });
});

describe('any input', () => {
  /** A small generator with a fixed seed, so that a failure comes back on every run. */
  class Dice {
    constructor(private state: number) {}

    upTo(limit: number): number {
      this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((this.state / 2 ** 32) * limit);
    }

    pick<T>(items: readonly T[]): T {
      return items[this.upTo(items.length)]!;
    }

    many(limit: number, make: () => string): string[] {
      return Array.from({ length: this.upTo(limit) }, make);
    }
  }

  const CHARS = [
    'a',
    'é',
    '€',
    '😀',
    '\\"',
    '\\\\',
    '\\/',
    '\\n',
    '\\u0069',
    '\\ud83d\\ude00',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
  ];
  const SPACES = ['', ' ', '\n', '\t ', '\r\n'];
  const SCALARS = ['0', '-1', '1.0', '1e2', 'null', 'true', '12345678901234567890'];
  const PIECES = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u00',
    '"id"',
    '"method"',
    '"jsonrpc"',
    '"2.0"',
    '1',
    '\0',
    '\n',
    'null',
    ' ',
  ];

  const string = (dice: Dice) => `"${dice.many(12, () => dice.pick(CHARS)).join('')}"`;
  const integer = (dice: Dice) =>
    `${dice.pick(['', '-'])}${1 + dice.upTo(9)}${dice.many(40, () => String(dice.upTo(10))).join('')}`;
  const object = (dice: Dice, depth: number): string =>
    `{${dice.many(4, () => `${dice.pick(['"id"', '"method"', '"_meta"', string(dice)])}:${value(dice, depth)}`).join(',')}}`;
  const value = (dice: Dice, depth: number): string => {
    if (depth === 0) return dice.pick(SCALARS);
    const kind = dice.upTo(4);
    if (kind === 0) return object(dice, depth - 1);
    if (kind === 1) return `[${dice.many(4, () => value(dice, depth - 1)).join(',')}]`;
    return kind === 2 ? string(dice) : dice.pick(SCALARS);
  };
  const request = (dice: Dice, id: string) => {
    const members = [
      `"jsonrpc":"2.0"`,
      `"method":"a/b"`,
      `"id"${dice.pick(SPACES)}:${dice.pick(SPACES)}${id}`,
    ];
    if (dice.upTo(2)) members.push(`"params":${object(dice, 4)}`);
    members.sort(() => dice.upTo(3) - 1);
    return `${dice.pick(SPACES)}{${members.join(`${dice.pick(SPACES)},${dice.pick(SPACES)}`)}${dice.pick(SPACES)}}`;
  };

  const array = (dice: Dice, elements: readonly string[]) =>
    `${dice.pick(SPACES)}[${elements.map((element) => dice.pick(SPACES) + element + dice.pick(SPACES)).join(',')}]${dice.pick(SPACES)}`;

  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  it('keeps the id of every valid request as it was written', () => {
    const dice = new Dice(20_260_728);
    const lost: string[] = [];
    for (let round = 0; round < 2_000; round++) {
      const id = dice.upTo(2) ? integer(dice) : string(dice);
      const text = request(dice, id);
      const message = parse(text);
      if (message.kind !== 'request' || message.id.text !== id) lost.push(text);
    }
    expect(lost).toEqual([]);
  });

  it('gives each message of a batch its own text and id, as they were written', () => {
    const dice = new Dice(20_250_326);
    const lost: string[] = [];
    for (let round = 0; round < 500; round++) {
      const ids = Array.from({ length: 1 + dice.upTo(6) }, () =>
        dice.upTo(2) ? integer(dice) : string(dice),
      );
      const messages = ids.map((id) => request(dice, id).trim());
      const text = array(dice, messages);
      const batch = parse(text);
      const members = batch.kind === 'batch' ? batch.members : [];
      const found = members.map((one) => (one.kind === 'request' ? [one.source.text, one.id.text] : []));
      if (
        !isDeepStrictEqual(
          found,
          messages.map((message, index) => [message, ids[index]]),
        )
      )
        lost.push(text);
    }
    expect(lost).toEqual([]);
  });

  it('splits an array of any values into texts that parse to its elements', () => {
    const dice = new Dice(3);
    const wrong: string[] = [];
    for (let round = 0; round < 2_000; round++) {
      const elements = dice.many(6, () => value(dice, 3));
      const text = array(dice, elements);
      const texts = elementTexts(text);
      const values = texts.map((one) => JSON.parse(one) as unknown);
      if (!isDeepStrictEqual(texts, elements) || !isDeepStrictEqual(values, JSON.parse(text)))
        wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('never throws on a broken batch, and never takes what the JSON parser refuses', () => {
    const dice = new Dice(11);
    const wrong: string[] = [];
    for (let round = 0; round < 2_000; round++) {
      const valid = array(dice, [request(dice, integer(dice)), value(dice, 2)]);
      const cut = dice.upTo(valid.length);
      const text = `${valid.slice(0, cut)}${dice.pick([...PIECES, ''])}${valid.slice(cut + dice.upTo(2))}`;
      elementTexts(text);
      if (parse(text).kind === 'batch' && !isJson(text)) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('never throws, and never calls a message what the JSON parser refuses', () => {
    const dice = new Dice(1);
    const wrong: string[] = [];
    for (let round = 0; round < 4_000; round++) {
      const valid = request(dice, integer(dice));
      const cut = dice.upTo(valid.length);
      const text = dice.pick([
        dice.many(30, () => dice.pick(PIECES)).join(''),
        valid.slice(0, cut),
        valid.slice(0, cut) + dice.pick(PIECES) + valid.slice(cut),
        valid.slice(0, cut) + valid.slice(cut + 1),
      ]);
      const message = parse(text, { depth: 5, tokens: 40 });
      const json = message.kind === 'rejected' ? message.id?.text : text;
      if (json !== undefined && !isJson(json)) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('takes flipped bytes without throwing', () => {
    const dice = new Dice(7);
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(request(dice, string(dice)));
      bytes[dice.upTo(bytes.length)] = dice.upTo(256);
      expect(['request', 'notification', 'response', 'rejected']).toContain(parse(bytes).kind);
    }
  });
});

describe('methodNotFound', () => {
  it('shows the method clipped and escaped', () => {
    expect(methodNotFound('no/such\n')).toEqual({
      code: -32601,
      message: String.raw`Method not found: "no/such\n"`,
    });
    expect(methodNotFound('x'.repeat(10_000)).message.length).toBeLessThan(100);
  });
});

import { elementTexts, tokenAt } from './json-scan.js';
import type { BatchMessage } from './json-rpc.js';
import { BATCH_NOT_SERVED, MAX_BATCH, parseMessage } from './message-parser.js';

const LIMITS = { depth: 64, tokens: 100_000 };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const NOTE = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const TOKEN_PATH = ['params', '_meta', 'progressToken'];
const DIGITS = '1234567890123456789012345678901234567890';

const parse = (text: string, limits = LIMITS) => parseMessage(Buffer.from(text), limits);
const batchOf = (text: string): BatchMessage => {
  const input = parse(text);
  if (input.kind !== 'batch') throw new Error(`no batch: ${JSON.stringify(input)}`);
  return input;
};
const rejected = (message: string, id?: string, code = -32600) => ({
  kind: 'rejected',
  id: id === undefined ? undefined : expect.objectContaining({ text: id }),
  error: { code, message },
});
const textsOf = ({ members }: BatchMessage) =>
  members.map((member) => (member.kind === 'rejected' ? undefined : member.source.text));

describe('elementTexts', () => {
  it.each([
    ['[]', []],
    [' [ \r\n ] ', []],
    ['[1]', ['1']],
    ['\n[\t1 ,\r\n"a" , null\t] ', ['1', '"a"', 'null']],
    ['[-1.50e+3,true]', ['-1.50e+3', 'true']],
    ['[[],[[1,2],{}],{}]', ['[]', '[[1,2],{}]', '{}']],
    ['[{"a":"]},{"},{"b":[1,{"c":2}]}]', ['{"a":"]},{"}', '{"b":[1,{"c":2}]}']],
    [
      String.raw`["a\"],[","\\",{"\\\"":"\\"}]`,
      [String.raw`"a\"],["`, String.raw`"\\"`, String.raw`{"\\\"":"\\"}`],
    ],
    ['[" , "," ] "]', ['" , "', '" ] "']],
    ['["\u00a0","\u2028"]', ['"\u00a0"', '"\u2028"']],
    ['[{ "a" : 1 } , { }]', ['{ "a" : 1 }', '{ }']],
  ])('splits %j and changes nothing inside', (text, texts) => {
    expect(elementTexts(text)).toEqual(texts);
    expect(texts.map((element) => JSON.parse(element) as unknown)).toEqual(JSON.parse(text));
  });

  it.each([
    '',
    '[',
    '[,',
    '[}',
    '[}}',
    '[1',
    '["',
    '["\\',
    '[1,',
    '[1}2',
    '[{]',
    '{"a":1}',
    'x',
    '[1]]',
    '[:::',
  ])('ends on %j, which is no array', (text) => {
    expect(() => elementTexts(text)).not.toThrow();
  });
});

describe('a batch', () => {
  it('S-006: holds requests, notifications and responses in their order', () => {
    const response = '{"jsonrpc":"2.0","id":"r","result":{}}';
    const error = '{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":""}}';
    const call = '{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"a"}}';
    const text = `[${[PING, NOTE, call, response, error].join(',')}]`;
    const batch = batchOf(text);
    expect(batch.members).toEqual([
      {
        kind: 'request',
        id: { text: '1', key: '1' },
        method: 'ping',
        params: undefined,
        source: { text: PING, value: JSON.parse(PING) as unknown },
      },
      {
        kind: 'notification',
        method: 'notifications/initialized',
        params: undefined,
        source: { text: NOTE, value: JSON.parse(NOTE) as unknown },
      },
      {
        kind: 'request',
        id: { text: '"2"', key: '"2"' },
        method: 'tools/call',
        params: { name: 'a' },
        source: { text: call, value: JSON.parse(call) as unknown },
      },
      {
        kind: 'response',
        id: { text: '"r"', key: '"r"' },
        source: { text: response, value: JSON.parse(response) as unknown },
      },
      {
        kind: 'response',
        id: { text: '4', key: '4' },
        source: { text: error, value: JSON.parse(error) as unknown },
      },
    ]);
    expect(batch.source).toEqual({ text, value: JSON.parse(text) as unknown });
  });

  it('parses each member once: its value is the element of the array', () => {
    const { members, source } = batchOf(`[${PING},${NOTE}]`);
    expect(members).toHaveLength(2);
    members.forEach((member, index) => {
      expect(member.kind === 'rejected' ? undefined : member.source.value).toBe(source.value[index]);
    });
  });

  it('S-002: keeps the 40 digits of an id', () => {
    const { members } = batchOf(
      `[${PING},{"jsonrpc":"2.0","method":"ping","id" : ${DIGITS} },{"jsonrpc":"2.0","id":-${DIGITS},"method":"ping"}]`,
    );
    expect(members).toMatchObject([
      { kind: 'request', id: { text: '1' } },
      { kind: 'request', id: { text: DIGITS, key: DIGITS } },
      { kind: 'request', id: { text: `-${DIGITS}` } },
    ]);
  });

  it('keeps the digits of each progress token apart', () => {
    const call = (id: number, token: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"_meta":{"progressToken":${token}}}}`;
    const batch = batchOf(`[${call(1, `${DIGITS}1`)},${NOTE},${call(2, `${DIGITS}2`)},${call(3, '1.0')}]`);
    const tokens = textsOf(batch).map((text) => tokenAt(text!, TOKEN_PATH));
    expect(tokens).toEqual([`${DIGITS}1`, undefined, `${DIGITS}2`, '1.0']);
  });

  it('is not misled by brackets, commas, quotes and escapes inside strings', () => {
    const first = String.raw`{"jsonrpc":"2.0","id":"]},{\"id\":9,\\","method":"a\\","params":{"x":"[{\"]\\\\\"","\"}]":[",","]"]}}`;
    const second = String.raw`{"jsonrpc":"2.0","\u0069d":"\u00e9\ud83d\ude00","method":"b"}`;
    const batch = batchOf(`[${first},${second}]`);
    expect(textsOf(batch)).toEqual([first, second]);
    expect(batch.members).toMatchObject([
      { kind: 'request', id: { text: String.raw`"]},{\"id\":9,\\"` }, method: 'a\\' },
      { kind: 'request', id: { text: String.raw`"\u00e9\ud83d\ude00"`, key: '"é😀"' }, method: 'b' },
    ]);
  });

  it('may have blanks everywhere, at its end too', () => {
    const spaced = '{ \n"jsonrpc"\t:\r\n"2.0" , "id" : 7 , "method" : "a" , "params" : { } \n}';
    const batch = batchOf(` \t\r\n[ \n ${spaced} \r\n,\t${NOTE}\n, 1 \n ] \t\r\n`);
    expect(textsOf(batch)).toEqual([spaced, NOTE, undefined]);
    expect(batch.members).toMatchObject([
      { kind: 'request', id: { text: '7' } },
      { kind: 'notification' },
      { kind: 'rejected', id: undefined },
    ]);
  });

  it('answers a duplicate member of the envelope for that message alone', () => {
    const { members } = batchOf(
      `[${PING},{"jsonrpc":"2.0","id":2,"method":"ping","\\u006dethod":"tools/call"},{"jsonrpc":"2.0","id":3,"method":"a"}]`,
    );
    expect(members).toEqual([
      expect.objectContaining({ kind: 'request', id: { text: '1', key: '1' } }),
      rejected('Invalid request: a member of the envelope appears twice', '2'),
      expect.objectContaining({ kind: 'request', id: { text: '3', key: '3' } }),
    ]);
  });

  it('H1, H3: answers what is wrong with one message for that message alone', () => {
    const { members } = batchOf(
      `[{"jsonrpc":"1.0","id":2,"method":"a"},{"jsonrpc":"2.0","id":null,"method":"a"},{"jsonrpc":"2.0","id":1.0,"method":"a"},{"hello":"world"},${PING}]`,
    );
    const badId = 'Invalid request: "id" must be a string of at most 256 characters or an integer';
    expect(members).toEqual([
      rejected('Invalid request: "jsonrpc" must be "2.0"', '2'),
      rejected(badId),
      rejected(badId),
      rejected('Invalid request: "jsonrpc" must be "2.0"'),
      expect.objectContaining({ kind: 'request' }),
    ]);
  });

  it.each(['1', 'null', 'true', '"x"', '"id"', '[]', `[${PING}]`])(
    'H2: refuses %s in it by itself, without an id',
    (element) => {
      expect(batchOf(`[${element},${PING}]`).members).toEqual([
        rejected('Invalid request: a message is an object'),
        expect.objectContaining({ kind: 'request', id: { text: '1', key: '1' } }),
      ]);
    },
  );

  it('S-007: refuses initialize in it, with its id, and takes the others', () => {
    const { members } = batchOf(
      `[{"jsonrpc":"2.0","id":${DIGITS},"method":"initialize","params":{"protocolVersion":"2025-03-26"}},${PING}]`,
    );
    expect(members).toEqual([
      rejected('Invalid request: "initialize" is never in a batch', DIGITS),
      expect.objectContaining({ kind: 'request', method: 'ping' }),
    ]);
  });

  it('S-005, S-007: leaves initialize without an id a notification, which nothing answers', () => {
    const { members } = batchOf('[{"jsonrpc":"2.0","method":"initialize"}]');
    expect(members).toMatchObject([{ kind: 'notification', method: 'initialize' }]);
  });

  it('takes members of odd names as the members of messages only', () => {
    const { members } = batchOf('[{"__proto__":{"jsonrpc":"2.0","id":1,"method":"evil"}}]');
    expect(members).toEqual([rejected('Invalid request: "jsonrpc" must be "2.0"')]);
  });
});

describe('as a whole a batch is refused', () => {
  it.each(['[]', ' [\n] '])('H2: when it is empty: %j', (text) => {
    expect(parse(text)).toEqual(rejected('Invalid request: the batch is empty'));
  });

  it('when it has more than a hundred messages', () => {
    const many = (count: number) => `[${Array.from({ length: count }, () => NOTE).join(',')}]`;
    expect(MAX_BATCH).toBe(100);
    expect(batchOf(many(100)).members).toHaveLength(100);
    expect(parse(many(101))).toEqual(rejected('Invalid request: the batch has more than 100 messages'));
  });

  it.each([
    [
      'the version',
      PING.replace('}', ',"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}'),
    ],
    [
      'capabilities',
      NOTE.replace('}', ',"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}'),
    ],
    ['the version, misshapen', '{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}}'],
  ])('S-008: when one message in it has the metadata of 2026-07-28: %s', (_, modern) => {
    const refusal = rejected(
      'Invalid request: a message with the metadata of 2026-07-28 is never in a batch',
    );
    expect(parse(`[${PING},${modern}]`)).toEqual(refusal);
    expect(parse(`[${modern},${PING}]`)).toEqual(refusal);
  });

  it.each([
    ['a cut array', `[${PING}`],
    ['a trailing comma', `[${PING},]`],
    ['a leading comma', `[,${PING}]`],
    ['no comma', `[${PING}${PING}]`],
    ['a member that is no JSON', `[${PING},{"jsonrpc":"2.0",}]`],
    ['something after it', `[${PING}]${PING}`],
    ['another array after it', '[][]'],
    ['the wrong bracket', `[${PING}}`],
  ])('when it is no JSON: %s', (_, text) => {
    expect(parse(text)).toEqual(rejected('Parse error: the message is not JSON', undefined, -32700));
  });

  it('when it is nested too deep in any message', () => {
    const deep = (levels: number) =>
      `[${PING},{"jsonrpc":"2.0","id":5,"method":"a","params":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}]`;
    expect(parse(deep(61)).kind).toBe('batch');
    expect(parse(deep(62))).toEqual(rejected('Invalid request: nested deeper than 64 levels'));
  });

  it('when all messages together have too many tokens', () => {
    const text = `[${PING},${PING}]`;
    expect(parse(text, { depth: 64, tokens: 11 }).kind).toBe('batch');
    expect(parse(text, { depth: 64, tokens: 10 })).toEqual(
      rejected('Invalid request: more than 10 brackets and commas'),
    );
  });
});

describe('where no batch is served', () => {
  it('H2, S-008: the answer is one refusal without an id', () => {
    expect(BATCH_NOT_SERVED).toEqual(
      rejected('Invalid request: a batch is of 2025-03-26 alone: send one message at a time'),
    );
  });
});

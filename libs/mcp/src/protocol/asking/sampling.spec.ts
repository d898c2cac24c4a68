import type { JsonObject } from '../json-rpc.js';
import { REVISIONS, type McpRevision } from '../versions.js';
import { McpAskError } from './ask-error.js';
import { AnswerFault } from './question.js';
import { samplingQuestion, type McpSampling } from './sampling.js';

const NOW = '2026-07-28';
const since = (first: McpRevision) => REVISIONS.filter((revision) => revision >= first);
const before = (first: McpRevision) => REVISIONS.filter((revision) => revision < first);

const text = (value: string) => ({ type: 'text', text: value });
const said = { role: 'user', content: text('Hi') };
const use = (id: string) => ({ type: 'tool_use', id, name: 'a', input: {} });
const result = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [] });
const ask = (more: JsonObject = {}, revision: McpRevision = NOW) =>
  samplingQuestion({ messages: [said], maxTokens: 5, ...more } as unknown as McpSampling, revision);

it.each(REVISIONS)('is in %s what was given', (revision) => {
  expect(ask({ systemPrompt: 'Be kind', temperature: 0.5 }, revision)).toMatchObject({
    kind: 'sampling',
    method: 'sampling/createMessage',
    params: { messages: [said], maxTokens: 5, systemPrompt: 'Be kind', temperature: 0.5 },
    needs: { sampling: {} },
  });
});

it.each([{ tools: [] }, { toolChoice: { mode: 'none' } }])(
  'S-145: with %j needs a client that declared tools, and a revision that has them',
  (more) => {
    for (const revision of since('2025-11-25'))
      expect(ask(more, revision).needs).toEqual({ sampling: { tools: {} } });
    for (const revision of before('2025-11-25'))
      expect(() => ask(more, revision)).toThrow(
        `A client of ${revision} has no sampling/createMessage with tools: it came with 2025-11-25`,
      );
  },
);

it('S-133: asks for the context of others only a client that declared it', () => {
  expect(ask({ includeContext: 'none' }).needs).toEqual({ sampling: {} });
  expect(ask({ includeContext: 'allServers', tools: [] }).needs).toEqual({
    sampling: { tools: {}, context: {} },
  });
  expect(ask({ includeContext: 'thisServer' }, '2025-06-18').needs).toEqual({ sampling: {} });
});

it.each<[string, unknown[]]>([
  [
    'a use and its result',
    [said, { role: 'assistant', content: use('1') }, { role: 'user', content: result('1') }],
  ],
  [
    'several at once, in any order',
    [
      { role: 'assistant', content: [text('Let me see'), use('1'), use('2')] },
      { role: 'user', content: [result('2'), result('1')] },
      { role: 'assistant', content: [use('3')] },
      { role: 'user', content: [result('3')] },
      said,
    ],
  ],
  ['no tools', [said, { role: 'assistant', content: [text('Hi')] }, said]],
])('S-146: takes %s', (_, messages) => {
  expect(ask({ messages }).params).toMatchObject({ messages });
});

const UNBALANCED = 'each tool_use needs its tool_result in the very next message';
const MIXED = 'a message with tool results is of the user, and holds nothing else';
it.each<[string, unknown[], string]>([
  ['a use at the end', [{ role: 'assistant', content: use('1') }], UNBALANCED],
  ['a use that is passed over', [{ role: 'assistant', content: use('1') }, said], UNBALANCED],
  [
    'a result that comes late',
    [{ role: 'assistant', content: use('1') }, said, { role: 'user', content: result('1') }],
    UNBALANCED,
  ],
  [
    'one result of two',
    [
      { role: 'assistant', content: [use('1'), use('2')] },
      { role: 'user', content: result('1') },
    ],
    UNBALANCED,
  ],
  [
    'the result of another use',
    [
      { role: 'assistant', content: use('1') },
      { role: 'user', content: result('2') },
    ],
    UNBALANCED,
  ],
  ['a result of nothing', [{ role: 'user', content: result('1') }], UNBALANCED],
  [
    'a result beside a text',
    [
      { role: 'assistant', content: use('1') },
      { role: 'user', content: [result('1'), text('and')] },
    ],
    MIXED,
  ],
  [
    'a result of the assistant',
    [
      { role: 'assistant', content: use('1') },
      { role: 'assistant', content: result('1') },
    ],
    MIXED,
  ],
])('S-146: refuses %s', (_, messages, why) => {
  expect(() => ask({ messages })).toThrow(TypeError);
  expect(() => ask({ messages })).toThrow(why);
});

describe('the request', () => {
  it.each<[JsonObject, string]>([
    [{ messages: undefined }, 'messages must be a list of messages'],
    [{ messages: {} }, 'messages must be a list of messages'],
    [{ maxTokens: undefined }, 'maxTokens must be a positive integer'],
    [{ maxTokens: 0 }, 'maxTokens must be a positive integer'],
    [{ maxTokens: 1.5 }, 'maxTokens must be a positive integer'],
    [{ maxTokens: '5' }, 'maxTokens must be a positive integer'],
    [{ maxTokens: Number.NaN }, 'maxTokens must be a positive integer'],
    [{ systemPrompt: null }, 'systemPrompt must be a text'],
    [{ temperature: '0.5' }, 'temperature must be a number'],
    [{ temperature: Number.NaN }, 'temperature must be a number'],
    [{ stopSequences: 'END' }, 'stopSequences must be a list of texts'],
    [{ stopSequences: ['a', 5] }, 'stopSequences must be a list of texts'],
    [{ includeContext: 'all' }, "includeContext must be 'none', 'thisServer' or 'allServers'"],
    [{ metadata: [] }, 'metadata must be an object'],
    [{ tools: {} }, "tools must be a list of { name, inputSchema: { type: 'object' } }"],
    [{ tools: [{ name: 'a' }] }, "tools must be a list of { name, inputSchema: { type: 'object' } }"],
    [
      { tools: [{ name: 'a', inputSchema: { type: 'string' } }] },
      "tools must be a list of { name, inputSchema: { type: 'object' } }",
    ],
    [{ toolChoice: 'auto' }, "toolChoice must be { mode: 'auto', 'required' or 'none' }"],
    [{ toolChoice: { mode: 'any' } }, "toolChoice must be { mode: 'auto', 'required' or 'none' }"],
    [{ modelPreferences: { costPriority: 2 } }, 'modelPreferences must be { hints: [{ name }], costPriority'],
    [{ modelPreferences: { hints: ['a'] } }, 'modelPreferences must be { hints: [{ name }], costPriority'],
  ])('is refused with %j: it names what must be what', (more, why) => {
    for (const revision of REVISIONS) {
      const refused = () => ask(more, revision);
      expect(refused).toThrow(TypeError);
      expect(refused).toThrow(`ctx.sample: ${why}`);
    }
  });

  it('is refused where there is none', () => {
    expect(() => samplingQuestion(undefined as unknown as McpSampling, NOW)).toThrow(
      'ctx.sample: messages must be a list of messages',
    );
  });

  it('is taken with all that it may have', () => {
    const more = {
      systemPrompt: '',
      temperature: 0,
      stopSequences: [],
      includeContext: 'none',
      metadata: {},
      tools: [{ name: 'a', inputSchema: { type: 'object' } }],
      toolChoice: {},
      modelPreferences: { hints: [{ name: 'a' }, {}], costPriority: 0, speedPriority: 1 },
      other: 1,
    };
    expect(ask(more).params).toEqual({ messages: [said], maxTokens: 5, ...more });
  });

  const ROLE = "must be { role: 'user' or 'assistant', content }";
  const BLOCK = 'must be a block of the type text, image, audio, tool_use or tool_result';
  it.each<[unknown, string]>([
    [null, `messages[1] ${ROLE}`],
    ['Hi', `messages[1] ${ROLE}`],
    [{}, `messages[1] ${ROLE}`],
    [{ role: 'system', content: text('Hi') }, `messages[1] ${ROLE}`],
    [{ role: 'user' }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: 'Hi' }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: { type: 'text' } }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: [text('a'), 'b'] }, `messages[1].content[1] ${BLOCK}`],
    [
      { role: 'user', content: { type: 'image', data: 'AA', mimeType: 'image/png' } },
      `messages[1].content ${BLOCK}`,
    ],
    [
      { role: 'user', content: { type: 'resource_link', uri: 'a:b', name: 'a' } },
      `messages[1].content ${BLOCK}`,
    ],
    [{ role: 'assistant', content: { ...use('1'), input: '{}' } }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: { ...result('1'), content: 'Hi' } }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: { ...result('1'), isError: 1 } }, `messages[1].content ${BLOCK}`],
    [{ role: 'user', content: { ...result('1'), structuredContent: [] } }, `messages[1].content ${BLOCK}`],
  ])('is refused with the message %j: it names the place', (message, why) => {
    for (const revision of REVISIONS) {
      const refused = () => ask({ messages: [said, message] } as JsonObject, revision);
      expect(refused).toThrow(TypeError);
      expect(refused).toThrow(`ctx.sample: ${why}`);
    }
  });
});

describe('what a revision before 2025-11-25 gets', () => {
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };

  it.each(before('2025-11-25'))('is in %s a message for each block, in order', (revision) => {
    const messages = [
      { role: 'user', content: [text('a'), text('b')], _meta: { x: 1 } },
      { role: 'assistant', content: [text('c')] },
      { role: 'user', content: text('d') },
      { role: 'user', content: [] },
    ];
    expect(ask({ messages } as JsonObject, revision).params).toMatchObject({
      messages: [
        { role: 'user', content: text('a') },
        { role: 'user', content: text('b') },
        { role: 'assistant', content: text('c') },
        { role: 'user', content: text('d') },
      ],
    });
    expect(JSON.stringify(ask({ messages } as JsonObject, revision).params)).not.toContain('_meta');
  });

  it.each(since('2025-11-25'))('is in %s a list as it is given', (revision) => {
    const messages = [{ role: 'user', content: [text('a'), audio], _meta: { x: 1 } }];
    expect(ask({ messages } as JsonObject, revision).params).toMatchObject({ messages });
  });

  it('S-137: holds no use of a tool and no sound that it does not have', () => {
    const uses = [
      { role: 'assistant', content: use('1') },
      { role: 'user', content: result('1') },
    ];
    for (const revision of before('2025-11-25'))
      expect(() => ask({ messages: uses } as JsonObject, revision)).toThrow(
        new McpAskError(
          'unsupported',
          `A client of ${revision} has no sampling/createMessage with tool_use: it came with 2025-11-25`,
        ),
      );
    const messages = [{ role: 'user', content: audio }];
    for (const revision of since('2025-03-26'))
      expect(ask({ messages } as JsonObject, revision).params).toMatchObject({ messages });
    expect(() => ask({ messages } as JsonObject, '2024-11-05')).toThrow(
      'A client of 2024-11-05 has no sampling/createMessage with audio: it came with 2025-03-26',
    );
  });
});

describe('the answer', () => {
  const answer = { role: 'assistant', content: text('Hi'), model: 'm', stopReason: 'endTurn' };
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };

  it.each(REVISIONS)('is in %s given as it came, with whatever else a client says', (revision) => {
    const question = ask({}, revision);
    expect(question.read(answer)).toBe(answer);
    const more = { role: 'user', content: { ...image, more: 1 }, model: '', more: 1 };
    expect(question.read(more)).toBe(more);
  });

  it.each<[McpRevision, unknown]>([
    ['2025-03-26', audio],
    ['2025-11-25', [text('a'), image, audio, use('1')]],
    ['2025-11-25', use('1')],
    ['2025-11-25', []],
  ])('has from %s on content of %j, and not before', (first, content) => {
    const said = { ...answer, content } as JsonObject;
    for (const revision of since(first)) expect(ask({}, revision).read(said)).toBe(said);
    for (const revision of before(first))
      expect(() => ask({}, revision).read(said)).toThrow(
        new AnswerFault(`has "content" that is none of ${revision}`),
      );
  });

  it.each<[JsonObject, string]>([
    [{ role: 'system' }, 'has no "role" or no "model"'],
    [{ role: undefined }, 'has no "role" or no "model"'],
    [{ model: undefined }, 'has no "role" or no "model"'],
    [{ stopReason: 5 }, 'has a "stopReason" that is no text'],
    [{ content: undefined }, 'has no "content"'],
    [{ content: null }, 'has no "content"'],
    [{ content: 'Hi' }, 'has no "content"'],
    [{ content: {} }, `has "content" that is none of ${NOW}`],
    [{ content: { type: 'text' } }, `has "content" that is none of ${NOW}`],
    [{ content: { type: 'image', data: 'AAAA' } }, `has "content" that is none of ${NOW}`],
    [{ content: [text('a'), null] }, `has "content" that is none of ${NOW}`],
    [{ content: { ...use('1'), input: [] } }, `has "content" that is none of ${NOW}`],
    [{ content: result('1') }, `has "content" that is none of ${NOW}`],
  ])('is none with %j', (more, why) => {
    expect(() => ask().read({ ...answer, ...more })).toThrow(new AnswerFault(why));
  });
});

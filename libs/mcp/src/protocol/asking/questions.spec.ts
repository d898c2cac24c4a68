import type { JsonObject } from '../json-rpc.js';
import { REVISIONS, type McpRevision } from '../versions.js';
import { McpAskError } from './ask-error.js';
import { AnswerFault } from './question.js';
import { formParams, rootsQuestion, samplingQuestion, urlQuestion, type McpSampling } from './questions.js';

const NOW = '2026-07-28';
const since = (first: McpRevision) => REVISIONS.filter((revision) => revision >= first);
const before = (first: McpRevision) => REVISIONS.filter((revision) => revision < first);

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a form', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };

  it.each(since('2025-11-25'))('has in %s a mode', (revision) => {
    expect(formParams('Which?', schema, revision)).toEqual({
      mode: 'form',
      message: 'Which?',
      requestedSchema: schema,
    });
  });

  it('S-137: has in 2025-06-18 none', () => {
    expect(formParams('Which?', schema, '2025-06-18')).toEqual({
      message: 'Which?',
      requestedSchema: schema,
    });
  });

  it.each(before('2025-06-18'))('S-137: is nothing that a client of %s can be asked', (revision) => {
    const error = errorOf(() => formParams('Which?', schema, revision));
    expect(McpAskError.is(error) && error.fault).toBe('unsupported');
    expect(error).toMatchObject({
      message: `A client of ${revision} has no elicitation/create: it came with 2025-06-18`,
    });
  });
});

describe('an address to open', () => {
  it.each(since('2025-11-25'))('S-133: needs in %s a client that declared its mode', (revision) => {
    const question = urlQuestion('Sign in', 'https://example.com/a?b#c', revision);
    expect(question).toMatchObject({
      kind: 'elicitation',
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Sign in', url: 'https://example.com/a?b#c' },
      needs: { elicitation: { url: {} } },
    });
    expect(question.read({ action: 'accept', content: { secret: 1 } })).toEqual({ action: 'accept' });
    expect(question.read({ action: 'decline' })).toEqual({ action: 'decline' });
    expect(() => question.read({})).toThrow(AnswerFault);
  });

  it.each(before('2025-11-25'))('S-137: is nothing that a client of %s can be asked', (revision) => {
    expect(() => urlQuestion('Sign in', 'https://example.com', revision)).toThrow(
      `A client of ${revision} has no elicitation/create in url mode: it came with 2025-11-25`,
    );
  });

  it.each(['', '/sign-in', 'example.com', 'https://', 'http://a b', '//a.example', undefined, 5, {}])(
    'S-139: is refused where it is none: %p',
    (url) => {
      for (const revision of REVISIONS) {
        const refused = () => urlQuestion('Sign in', url as string, revision);
        expect(refused).toThrow(TypeError);
        expect(refused).toThrow(`${JSON.stringify(url)} is no http(s) URL`);
      }
    },
  );
});

describe('sampling', () => {
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

  it.each([
    { messages: undefined },
    { messages: {} },
    { maxTokens: undefined },
    { maxTokens: 0 },
    { maxTokens: 1.5 },
    { maxTokens: '5' },
    { maxTokens: Number.NaN },
  ])('is refused with %p', (more) => {
    expect(() => ask(more)).toThrow(TypeError);
    expect(() => ask(more)).toThrow('messages must be a list, maxTokens a positive integer');
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

  it('takes messages of any shape for a TypeError at most', () => {
    for (const message of [null, 5, 'a', {}, { content: null }, { content: [null, 5] }])
      expect(ask({ messages: [message] }).params).toMatchObject({ messages: [message] });
  });

  it('gives what the model said, and nothing else', () => {
    const answer = { role: 'assistant', content: text('Hi'), model: 'm', stopReason: 'endTurn' };
    expect(ask().read(answer)).toBe(answer);
    expect(ask().read({ ...answer, content: [text('Hi')] })).toEqual({ ...answer, content: [text('Hi')] });
    for (const bad of [{ role: 'system' }, { role: undefined }, { model: undefined }])
      expect(() => ask().read({ ...answer, ...bad })).toThrow('has no "role" or no "model"');
    for (const content of [undefined, null, 'Hi'])
      expect(() => ask().read({ ...answer, content })).toThrow('has no "content"');
  });
});

describe('roots', () => {
  it('are asked for without params', () => {
    const question = rootsQuestion();
    expect(question).toMatchObject({ kind: 'roots', method: 'roots/list', needs: { roots: {} } });
    expect(question.params).toBeUndefined();
    const roots = [{ uri: 'file:///a', name: 'A' }, { uri: 'file:///b' }];
    expect(question.read({ roots })).toEqual(roots);
    expect(question.read({ roots: [] })).toEqual([]);
  });

  it.each([{}, { roots: null }, { roots: {} }, { roots: [null] }, { roots: [{}] }, { roots: [{ uri: 5 }] }])(
    'are not %j',
    (answer) => {
      expect(() => rootsQuestion().read(answer)).toThrow('has no "roots" with addresses');
    },
  );
});

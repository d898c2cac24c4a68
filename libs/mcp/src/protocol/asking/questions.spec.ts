import { REVISIONS, type McpRevision } from '../versions.js';
import { McpAskError } from './ask-error.js';
import { AnswerFault } from './question.js';
import { formParams, rootsQuestion, urlQuestion } from './questions.js';

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
    expect(question.read({ action: 'decline' })).toEqual({ action: 'decline' });
    expect(() => question.read({})).toThrow(AnswerFault);
  });

  it.each(before('2025-11-25'))('S-137: is nothing that a client of %s can be asked', (revision) => {
    expect(() => urlQuestion('Sign in', 'https://example.com', revision)).toThrow(
      `A client of ${revision} has no elicitation/create in url mode: it came with 2025-11-25`,
    );
  });

  it.each([
    [' https://example.com/a \n', 'https://example.com/a'],
    ['https://example.com/a b', 'https://example.com/a%20b'],
    ['http:\\\\x.example', 'http://x.example/'],
    ['https:x.example', 'https://x.example/'],
    ['https://example.com/\u00fc', 'https://example.com/%C3%BC'],
    ['https://example.com', 'https://example.com'],
  ])('S-139: of %j is sent as the URI %s', (given, sent) => {
    expect(urlQuestion('Sign in', given, '2026-07-28').params).toMatchObject({ url: sent });
  });

  it.each(since('2025-11-25'))('S-141: gives in %s nothing but what the user decided', (revision) => {
    const question = urlQuestion('Sign in', 'https://example.com', revision);
    for (const content of [{ token: 'x' }, 'x', null])
      expect(question.read({ action: 'accept', content })).toEqual({ action: 'accept' });
  });

  it.each([
    '',
    '/sign-in',
    'example.com',
    'https://',
    'http://a b',
    '//a.example',
    'https://a.example/^',
    'ftp://a.example',
    undefined,
    5,
    {},
  ])('S-139: is refused where it is none: %p', (url) => {
    for (const revision of REVISIONS) {
      const refused = () => urlQuestion('Sign in', url as string, revision);
      expect(refused).toThrow(TypeError);
      expect(refused).toThrow(`${JSON.stringify(url)} is no http(s) URL`);
    }
  });
});

describe('a message', () => {
  it.each([undefined, null, 5, {}])('is a text, and not %p', (message) => {
    const wrong = message as unknown as string;
    for (const revision of REVISIONS) {
      expect(() => formParams(wrong, {}, revision)).toThrow('ctx.elicit: the message must be a text');
      expect(() => urlQuestion(wrong, 'https://a.example', revision)).toThrow(
        'ctx.elicitUrl: the message must be a text',
      );
    }
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

  it.each([
    {},
    { roots: null },
    { roots: {} },
    { roots: [null] },
    { roots: [{}] },
    { roots: [{ uri: 5 }] },
    { roots: [{ uri: 'a:b', name: 5 }] },
  ])('are not %j', (answer) => {
    expect(() => rootsQuestion().read(answer)).toThrow('has no "roots" with addresses');
  });
});

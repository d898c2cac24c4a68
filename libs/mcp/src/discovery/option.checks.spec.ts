import { InvalidHandlerOptionException } from './boot.exceptions.js';
import { OptionChecks } from './option.checks.js';

const checks = new OptionChecks('prompt', 'Docs.ask');

const START = 'Docs.ask: @McpPrompt() option ';

/** The rest of the message of a refusal; nothing where there is none. */
function refusalOf(look: () => void): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (error instanceof InvalidHandlerOptionException && error.message.startsWith(START))
      return error.message.slice(START.length);
    throw error;
  }
}

describe('OptionChecks', () => {
  it('refuses a name that nothing reads', () => {
    expect(refusalOf(() => checks.names(['a', 'b'], { a: 1, b: undefined }))).toBeUndefined();
    expect(refusalOf(() => checks.names(['a', 'b'], { a: 1, c: undefined }))).toBe(
      '`c` is unknown; known are a, b',
    );
    expect(refusalOf(() => checks.names(['a'], { toString: 1 }, 'group.'))).toBe(
      '`group.toString` is unknown; known are a',
    );
  });

  it.each([
    [{}, undefined],
    [{ title: '', description: 'x', meta: { a: 1 }, icons: [] }, undefined],
    [{ icons: [{ src: 'https://a.example/i.png' }, { src: 'data:image/png;base64,AA==' }] }, undefined],
    [{ title: 5 }, '`title` must be a text'],
    [{ description: null }, '`description` must be a text'],
    [{ meta: 'x' }, '`meta` must be an object'],
    [{ meta: [] }, '`meta` must be an object'],
    [
      { icons: { src: 'https://a.example' } },
      "`icons` must be a list of icons: [{ src: 'https://example.com/icon.png' }]",
    ],
    [{ icons: [null] }, "`icons` must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    [
      { icons: [{ src: 'javascript:x' }] },
      '`icons` has "javascript:x": clients load only https: and data: addresses',
    ],
  ])('checks what every kind may say of itself: %j', (options, problem) => {
    expect(refusalOf(() => checks.named(options))).toBe(problem);
  });

  it.each<[unknown, string | undefined]>([
    [undefined, undefined],
    [1, undefined],
    [2_147_483_647, undefined],
    ...[0, -1, 1.5, 2 ** 31, NaN, '5', null].map((one): [unknown, string] => [
      one,
      '`timeout` must be an integer from 1 to 2147483647, in milliseconds',
    ]),
  ])('checks the time limit %p', (timeout, problem) => {
    expect(refusalOf(() => checks.timeout(timeout as number))).toBe(problem);
  });

  it('checks flags, lists of texts and schemas', () => {
    expect(refusalOf(() => checks.flags({ a: true, b: undefined, c: 5 }, ['a', 'b']))).toBeUndefined();
    expect(refusalOf(() => checks.flags({ a: 'yes' }, ['a'], 'hints.'))).toBe(
      '`hints.a` must be true or false',
    );
    expect(refusalOf(() => checks.oneOf('scope', undefined, ['a', 'b']))).toBeUndefined();
    expect(refusalOf(() => checks.oneOf('scope', 'c', ['a', 'b', 'd']))).toBe(
      "`scope` must be 'a', 'b' or 'd'",
    );
    expect(refusalOf(() => checks.schema('args', { type: 'object' }))).toBeUndefined();
    expect(refusalOf(() => checks.schema('args', 5))).toContain(
      '`args` is of no use: a value of type number',
    );
  });
});

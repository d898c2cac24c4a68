import { hasRepeatedItem } from './unique-items.js';

describe('hasRepeatedItem', () => {
  it.each<[unknown[], boolean]>([
    [[], false],
    [[1, 2, '1', true, 'true', null, 'null', [], '[]', {}, '{}', [1], ['1'], 0, ''], false],
    [[1, 1], true],
    [['a', 'a'], true],
    [[0, -0], true],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      true,
    ],
    [[{ a: [1, 2] }, { a: [2, 1] }], false],
    [[{ a: Infinity }, { a: null }], false],
    [[[null], ['null']], false],
    [[{ 'a":1,"b': 1 }, { a: 1, b: 1 }], false],
    [[{ a: '\ud800' }, { a: '\ud801' }], false],
  ])('of %j is %p', (list, expected) => {
    expect(hasRepeatedItem(list)).toBe(expected);
  });
});

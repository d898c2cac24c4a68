import { isMultipleOf } from './multiple-of.js';

describe('isMultipleOf', () => {
  it.each([
    [0.07, 0.01],
    [19.99, 0.01],
    [2.03, 0.07],
    [1.1, 0.1],
    [-0.3, 0.1],
    [0.3, -0.1],
    [0, 0.01],
    [123_456_789.01, 0.01],
    [1e-7, 1e-8],
    [1e300, 0.5],
    [7.5, 2.5],
  ])('%d is a multiple of %d', (value, divisor) => expect(isMultipleOf(value, divisor)).toBe(true));

  it.each([
    [0.075, 0.01],
    [19.999, 0.01],
    [123_456_789.015, 0.01],
    [1e-300, 0.01],
    [0.3, 0.2],
    [1e308, 0.123456789],
    [Infinity, 0.01],
  ])('%d is no multiple of %d', (value, divisor) => expect(isMultipleOf(value, divisor)).toBe(false));

  it('takes every amount of cents', () => {
    const wrong = Array.from({ length: 100_000 }, (_, cents) => Number((cents / 100).toFixed(2)));
    expect(wrong.filter((amount) => !isMultipleOf(amount, 0.01))).toEqual([]);
  });
});

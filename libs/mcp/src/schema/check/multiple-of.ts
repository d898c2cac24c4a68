/**
 * How far the quotient of two decimal fractions may lie beside an integer, relative to itself, though the one divides
 * the other: both numbers and then their quotient are rounded, each by half an epsilon at most.
 */
const TOLERANCE = 4 * Number.EPSILON;

/**
 * Whether a number is a multiple of a fraction, as the decimals that JSON writes: 0.07 of 0.01, though their quotient
 * as floating-point numbers is 7.000000000000001.
 */
export function isMultipleOf(value: number, fraction: number): boolean {
  if (value % fraction === 0) return true;
  const quotient = value / fraction;
  const nearest = Math.round(quotient);
  return nearest !== 0 && Math.abs(quotient - nearest) < TOLERANCE * Math.abs(quotient);
}

/**
 * The pattern of `@Matches()` as JSON Schema writes it, or undefined where it can't be said: patterns have no flags
 * there and are read as Unicode ones, so one that needs flags, or is not valid that way, is class-validator's alone.
 * The flag g changes nothing about whether a text matches.
 */
export function publishedPattern(pattern: unknown, flags?: unknown): string | undefined {
  const isExpression = pattern instanceof RegExp;
  if (!isExpression && typeof pattern !== 'string') return undefined;
  const modifiers = isExpression ? pattern.flags : typeof flags === 'string' ? flags : '';
  if (/[^gu]/.test(modifiers)) return undefined;
  try {
    return new RegExp(isExpression ? pattern.source : pattern, 'u').source;
  } catch {
    return undefined;
  }
}

/** A pattern that finds exactly this text. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

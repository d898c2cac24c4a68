/**
 * A regular expression as JSON Schema writes it, or undefined where it can't be said: patterns have no flags there and
 * are read as Unicode ones, so one that needs flags, or means something else that way, is its own library's alone.
 */
export function publishedPattern(pattern: unknown, flags?: unknown): string | undefined {
  const isExpression = pattern instanceof RegExp;
  if (!isExpression && typeof pattern !== 'string') return undefined;
  const modifiers = isExpression ? pattern.flags : typeof flags === 'string' ? flags : '';
  const source = isExpression ? pattern.source : pattern;
  if (needsFlags(source, modifiers) || isReadDifferently(source, modifiers)) return undefined;
  try {
    return new RegExp(source, 'u').source;
  } catch {
    return undefined;
  }
}

/** The flags d and g change nothing about whether a text matches, and others only something about certain patterns. */
function needsFlags(source: string, flags: string): boolean {
  return flags.split('').some((flag) => {
    if (flag === 'i') return hasCase(source, flags);
    if (flag === 'm') return /[$^]/.test(source);
    if (flag === 's') return source.includes('.');
    return !'dgu'.includes(flag);
  });
}

/** Whether a pattern names characters that have two cases, or classes of characters that the flag i adds to. */
function hasCase(source: string, flags: string): boolean {
  const named = source.replace(flags.includes('u') ? /\\[dDsS]/g : /\\[bBdDsSwW]/g, '');
  return named.toLowerCase() !== named.toUpperCase();
}

/** Whether a pattern has an escape that only the flag u makes one of; without it, it stands for its own letters. */
function isReadDifferently(source: string, flags: string): boolean {
  return !flags.includes('u') && /(?<!\\)(?:\\\\)*\\[pPu]\{/.test(source);
}

/** A pattern that finds exactly this text. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** True where every word of the query occurs in one of the fields, in any order and case. */
export function matchesText(query: string | null | undefined, fields: readonly string[]): boolean {
  const haystack = fields.join('\n').toLowerCase();
  const words = (query ?? '').toLowerCase().split(/\s+/);
  return words.every((word) => haystack.includes(word));
}

/** Those that begin with what was typed, in any case. */
export function startingWith(typed: string, texts: readonly string[]): string[] {
  return texts.filter((text) => text.toLowerCase().startsWith(typed.toLowerCase()));
}

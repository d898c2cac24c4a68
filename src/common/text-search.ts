/** True where every word of the query occurs in one of the fields, in any order and case. */
export function matchesText(query: string | null | undefined, fields: readonly string[]): boolean {
  const haystack = fields.join('\n').toLowerCase();
  const words = (query ?? '').toLowerCase().split(/\s+/);
  return words.every((word) => haystack.includes(word));
}

/** A variable between two literals. */
export interface Slot {
  readonly name: string;
  /** `{a}` holds no separator, `{+a}` may, and `{/a*}` is a list of what stands between slashes. */
  readonly kind: 'simple' | 'reserved' | 'segments';
  /** Characters that do not stand in its text unless they are percent-encoded. */
  readonly excluded: string;
}

/**
 * Literals and variables in turn, a literal at both ends. Those between two variables are never empty, and
 * at most one variable is other than simple, so a text is divided in one way and without trying twice.
 */
export interface Pattern {
  readonly literals: readonly string[];
  readonly slots: readonly Slot[];
  /** Whether it stands before `?` and `#`, where a value may end up as a path of a file. */
  readonly isPath: boolean;
}

export type Values = Record<string, string | string[]>;

/**
 * Reads the variables of a text, or answers false where it is not of this pattern.
 *
 * The variables before the one that may hold separators (or before the last) end at the first place
 * where the next literal stands, those behind it begin at the last such place, and it has what is left.
 * Every search goes on where the one before has ended, so the time is linear in the text.
 */
export function matchPattern(pattern: Pattern, text: string, values: Values): boolean {
  const { literals, slots } = pattern;
  if (slots.length === 0) return text === literals[0];
  const wide = slots.findIndex((slot) => slot.kind !== 'simple');
  const middle = wide === -1 ? slots.length - 1 : wide;
  const texts: string[] = [];

  let start = literals[0]!.length;
  if (!text.startsWith(literals[0]!)) return false;
  for (let index = 0; index < middle; index++) {
    const literal = literals[index + 1]!;
    const at = firstPlace(text, literal, start + 1);
    if (at === -1) return false;
    texts[index] = text.slice(start, at);
    start = at + literal.length;
  }

  let end = text.length - literals.at(-1)!.length;
  if (end <= start || !text.endsWith(literals.at(-1)!)) return false;
  for (let index = slots.length - 1; index > middle; index--) {
    const literal = literals[index]!;
    const at = lastPlace(text, literal, end - 1 - literal.length);
    if (at <= start) return false;
    texts[index] = text.slice(at + literal.length, end);
    end = at;
  }

  texts[middle] = text.slice(start, end);
  if (pattern.isPath && texts[middle].startsWith('/') && isInFolder(literals, middle)) return false;
  return slots.every((slot, index) => readSlot(slot, texts[index]!, pattern.isPath, values));
}

/** Text behind its percent-encoding, undone once; nothing where that is no UTF-8 or holds a NUL. */
export function decodeOnce(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    const text = decodeURIComponent(raw);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Whether what follows is meant to be relative: "file:///{+path}" of "file:////etc/passwd" would be an
 * absolute path. The slashes that begin an authority are no folder: "file://{+path}" is an absolute path.
 */
function isInFolder(literals: readonly string[], index: number): boolean {
  return literals[index]!.endsWith('/') && (index > 0 || literals[0] !== '//');
}

function readSlot(slot: Slot, raw: string, isPath: boolean, values: Values): boolean {
  for (const character of slot.excluded) if (raw.includes(character)) return false;
  if (slot.kind !== 'segments') {
    const value = readValue(raw, isPath);
    if (value === undefined) return false;
    values[slot.name] = value;
    return true;
  }
  const segments: string[] = [];
  for (const part of raw.split('/')) {
    const segment = readValue(part, isPath);
    if (segment === undefined) return false;
    segments.push(segment);
  }
  values[slot.name] = segments;
  return true;
}

/** A separator that came encoded, and a segment that means this or the upper folder, is an attempt to break out. */
function readValue(raw: string, isPath: boolean): string | undefined {
  if (raw === '' || (isPath && /%(?:2f|5c)/i.test(raw))) return undefined;
  const value = decodeOnce(raw);
  const isTraversal = isPath && value !== undefined && /(?:^|[/?#])\.{1,2}(?:$|[/?#])/.test(value);
  return isTraversal ? undefined : value;
}

function firstPlace(text: string, literal: string, from: number): number {
  let at = text.indexOf(literal, from);
  while (at !== -1 && isInEncoding(text, at)) at = text.indexOf(literal, at + 1);
  return at;
}

function lastPlace(text: string, literal: string, from: number): number {
  let at = from < 0 ? -1 : text.lastIndexOf(literal, from);
  while (at > 0 && isInEncoding(text, at)) at = text.lastIndexOf(literal, at - 1);
  return at;
}

/** Whether a character is a digit of a percent-encoding: the "2" of "%2E" is not the literal "2". */
function isInEncoding(text: string, at: number): boolean {
  return text[at - 1] === '%' || text[at - 2] === '%';
}

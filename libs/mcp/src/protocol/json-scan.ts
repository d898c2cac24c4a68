/** What a message may hold at most. */
export interface ScanLimits {
  /** Levels of nesting. */
  readonly depth: number;
  /** Brackets and commas. */
  readonly tokens: number;
}

export type ScanFault = 'depth' | 'tokens' | 'duplicate';

export interface ScanResult {
  readonly fault: ScanFault | undefined;
  /** The token of the top-level `id`, as far as the scan came. */
  readonly id: string | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The members of an envelope that decide what a message is; a second one of a name is a trap. */
const ENVELOPE: Record<string, number> = { jsonrpc: 1, id: 2, method: 4, params: 8, result: 16, error: 32 };

/**
 * Looks over a message before it is parsed: counts nesting and tokens, and notes the envelope's own
 * members. `JSON.parse` alone would take a million levels, forget how an integer was written, and let
 * the last of two `method` members win. The text need not be JSON; what is not, `JSON.parse` refuses.
 */
export function scanMessage(text: string, limits: ScanLimits): ScanResult {
  const length = text.length;
  let depth = 0;
  let tokens = 0;
  let seen = 0;
  let id: string | undefined;
  let isObject = false;
  let expectsKey = false;
  for (let at = 0; at < length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = stringEnd(text, at);
      if (expectsKey && depth === 1) {
        const bit = envelopeBit(text, at, end);
        if ((seen & bit) !== 0) return { fault: 'duplicate', id };
        seen |= bit;
        if (bit === 2) id = valueToken(text, end);
        expectsKey = false;
      }
      at = end - 1;
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth++;
      tokens++;
      if (depth > limits.depth) return { fault: 'depth', id };
      if (tokens > limits.tokens) return { fault: 'tokens', id };
      if (depth === 1) isObject = char === OPEN_BRACE;
      expectsKey = depth === 1 && isObject;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth--;
      tokens++;
      if (tokens > limits.tokens) return { fault: 'tokens', id };
      // The value ends here; what may follow is not part of its envelope, and no JSON either.
      if (depth <= 0) break;
    } else if (char === COMMA) {
      tokens++;
      if (tokens > limits.tokens) return { fault: 'tokens', id };
      expectsKey = depth === 1 && isObject;
    }
  }
  return { fault: undefined, id };
}

/**
 * The JSON token of a scalar inside a message that is known to be valid JSON, found by its path of
 * object members. Needed where the digits of an integer matter: beyond 2^53, or `1.0` against `1`.
 */
export function tokenAt(text: string, path: readonly string[]): string | undefined {
  let at = text.indexOf('{');
  for (const name of path) {
    if (at < 0 || text.charCodeAt(at) !== OPEN_BRACE) return undefined;
    at = memberValue(text, at, name);
  }
  return at < 0 ? undefined : scalarToken(text, at);
}

/**
 * The texts of the elements of an array that is known to be valid JSON, as they were written and without
 * the blanks around them.
 */
export function elementTexts(text: string): string[] {
  const texts: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at);
    // A number or a word is skipped with the blanks behind it.
    texts.push(text.slice(at, end).trimEnd());
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return texts;
}

/** Where the value of the last member of that name starts, or -1. */
function memberValue(text: string, object: number, name: string): number {
  let found = -1;
  let at = skipSpace(text, object + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const end = stringEnd(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (memberName(text, at, end) === name) found = value;
    at = skipSpace(text, skipValue(text, value));
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return found;
}

function skipValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) depth++;
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (char === COMMA && depth === 0) return at;
  }
  return text.length;
}

/** The index after the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, quoteAt: number): boolean {
  let at = quoteAt - 1;
  while (text.charCodeAt(at) === BACKSLASH) at--;
  return (quoteAt - at) % 2 === 0;
}

/** `quoteAt` to `end`, quotes included, as a member name. */
function memberName(text: string, quoteAt: number, end: number): string {
  const raw = text.slice(quoteAt + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(text.slice(quoteAt, end)) as string;
  } catch {
    return raw;
  }
}

function envelopeBit(text: string, quoteAt: number, end: number): number {
  if (end - quoteAt > 64) return 0;
  const name = memberName(text, quoteAt, end);
  return Object.hasOwn(ENVELOPE, name) ? ENVELOPE[name]! : 0;
}

/** The token of the value that follows a member name, if it is a scalar. */
function valueToken(text: string, nameEnd: number): string | undefined {
  const colon = skipSpace(text, nameEnd);
  return text.charCodeAt(colon) === COLON ? scalarToken(text, skipSpace(text, colon + 1)) : undefined;
}

function scalarToken(text: string, at: number): string | undefined {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return text.slice(at, stringEnd(text, at));
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return undefined;
  let end = at;
  while (end < text.length && isScalarChar(text.charCodeAt(end))) end++;
  // At the end of a cut text the token may be cut as well: 12 of 123 is another number.
  return end < text.length ? text.slice(at, end) : undefined;
}

function isScalarChar(char: number): boolean {
  return char > 0x20 && char !== COMMA && char !== CLOSE_BRACE && char !== CLOSE_BRACKET;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

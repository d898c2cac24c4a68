const MAX_NAME_LENGTH = 60;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;
// Controls, line and paragraph separators, and characters that are invisible or reorder the text around them.
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A step from a value into one of its members: a name, or an index into a list. */
export type PathStep = string | number;

/** Makes text from outside safe to show on one line: clipped, and with unsafe characters written as escapes. */
export function safeText(text: string, limit: number): string {
  const clipped = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return clipped.replace(UNSAFE_CHARACTERS, escapeCharacter);
}

/** A member name as shown in messages: plain where it can be, else in quotes. */
export function shownName(name: string): string {
  return PLAIN_NAME.test(name) && name.length <= MAX_NAME_LENGTH ? name : quoted(name);
}

/** Text in JSON quotes, clipped and escaped. */
export function quoted(text: string, limit = MAX_NAME_LENGTH): string {
  const clipped = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return JSON.stringify(clipped).replace(UNSAFE_CHARACTERS, escapeCharacter);
}

/** Writes a path as `a.b[2].c`; the arguments as a whole are called `arguments`, anything else as told. */
export function formatPath(steps: readonly PathStep[], whole = 'arguments'): string {
  if (steps.length === 0) return whole;
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    const name = shownName(step);
    if (path === '') return name;
    return name.startsWith('"') ? `${path}[${name}]` : `${path}.${name}`;
  }, '');
}

/** Reads a JSON pointer into steps; a step of digits alone is taken for an index. */
export function pointerSteps(pointer: string): PathStep[] {
  return pointer.split('/').slice(1).map(decodeStep);
}

/** Reads one written step: digits alone are an index, anything else a name. */
export function toStep(name: string): PathStep {
  return /^(0|[1-9]\d{0,8})$/.test(name) ? Number(name) : name;
}

function decodeStep(step: string): PathStep {
  return toStep(step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

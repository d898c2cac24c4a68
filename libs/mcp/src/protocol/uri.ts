/** The longest uri that is looked at; a longer one is refused unread. */
export const MAX_URI_LENGTH = 8192;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** What stands nowhere in a uri, by RFC 3986 section 2. A search without repetition, so it is linear. */
const FOREIGN = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/u;

/** `[ userinfo "@" ] host [ ":" port ]`, RFC 3986 section 3.2; the first group is what stands in brackets. */
const AUTHORITY = /^(?:[^@[\]]*@)?(?:\[([^[\]]*)\]|[^:@[\]]*)(?::[0-9]*)?$/;
const IP_FUTURE = /^v[0-9A-Fa-f]+\.[^/?#[\]@%]+$/i;

/**
 * Whether a value is a URI by RFC 3986 of at most {@link MAX_URI_LENGTH} characters: a scheme, only
 * characters that a URI may have, whole percent-encodings, and an authority that is well formed if there
 * is one. Brackets are let through behind the authority too, since RFC 6570 leaves them there: `{+path}`
 * with `pages/[id].tsx`. Nothing is decoded here.
 * Source: Resources, all revisions ("servers MUST validate all resource URIs").
 */
export function isUri(value: unknown): value is string {
  return typeof value === 'string' && uriFault(value) === undefined;
}

/** What is wrong with a declared uri and what to write, to follow "the uri"; nothing if it is good. */
export function uriFault(uri: string): string | undefined {
  if (uri.length > MAX_URI_LENGTH)
    return `has ${uri.length} characters: write one of at most ${MAX_URI_LENGTH}`;
  if (!SCHEME.test(uri)) return 'has no scheme: begin it with a name and a colon, such as "docs://"';
  return characterFault(uri) ?? authorityFault(uri);
}

/** Whether a text has no character that a uri never has and no broken percent-encoding. */
export function hasOnlyUriCharacters(text: string): boolean {
  return !FOREIGN.test(text);
}

/** The first character that no uri may have, as {@link uriFault} would say it. */
export function characterFault(text: string): string | undefined {
  const found = FOREIGN.exec(text);
  if (!found) return undefined;
  const [character] = found;
  return character === '%'
    ? `has a "%" at ${found.index} without two hex digits: write "%25" for a percent sign`
    : `has ${JSON.stringify(character)} at ${found.index}, which no URI may hold: write "${percentEncoded(character)}"`;
}

function percentEncoded(character: string): string {
  const bytes = Array.from(new TextEncoder().encode(character));
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function authorityFault(uri: string): string | undefined {
  const start = uri.indexOf(':') + 1;
  if (!uri.startsWith('//', start)) return undefined;
  const [authority = ''] = uri.slice(start + 2).split(/[/?#]/, 1);
  const found = AUTHORITY.exec(authority);
  if (found && (found[1] === undefined || isAddress(found[1]))) return undefined;
  return (
    'has no well-formed authority between "//" and the next "/": write a name, an address such as "[::1]", ' +
    'or either with ":" and a port number (a colon that belongs to a name is "%3A")'
  );
}

/** What may stand in brackets. The runtime's own parser knows the forms of an IPv6 address. */
function isAddress(text: string): boolean {
  return IP_FUTURE.test(text) || (/^[0-9A-Fa-f:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]`));
}

import { hasOnlyUriCharacters } from './uri.js';
import { decodeOnce, matchPattern, type Pattern, type Slot, type Values } from './uri-pattern.js';
import {
  parseTemplate,
  type Parameter,
  type ParsedQuery,
  type ParsedTemplate,
} from './uri-template.parser.js';

export { UriTemplateException } from './uri-template.parser.js';

/** A variable of a template, in the template's order. */
export interface TemplateVariable {
  readonly name: string;
  /** Whether its value is a list of texts: `{/path*}`, `{?tag*}`. */
  readonly isList: boolean;
  /** Whether a uri may do without it: a variable of `{?a}` or `{&a}`. */
  readonly isOptional: boolean;
}

/**
 * A URI template read backwards: what were the values that gave this uri?
 *
 * RFC 6570 defines the way forth only and says that the way back works for templates that are clear; what is
 * not clear is refused by {@link UriTemplate.parse}. Where a value may hold the text of the literal behind
 * it, it ends at the first one: `{name}.{type}` of `a.tar.gz` is `a` and `tar.gz`. More is accepted than an
 * expansion would write, since people and models write uris by hand: `{id}` is also `a:b`.
 * Sources: RFC 6570; RFC 3986; Resources, all revisions.
 */
export class UriTemplate {
  readonly variables: readonly TemplateVariable[];
  /**
   * The same for templates that match the same uris, such as `a://{x}` and `a://{y}`: of two of these only
   * the first would ever be reached.
   */
  readonly shape: string;

  private constructor(
    readonly template: string,
    private readonly parsed: ParsedTemplate,
  ) {
    this.variables = parsed.variables;
    this.shape = shapeOf(parsed);
  }

  /** @throws UriTemplateException for a template that is broken or cannot be read backwards */
  static parse(template: string): UriTemplate {
    return new UriTemplate(template, parseTemplate(template));
  }

  /**
   * The values of the variables, decoded once, on an object without prototype; those the uri does without
   * are absent. Nothing where the uri is not of this template. Takes any text and never throws.
   *
   * No value of the path (before `?` and `#`) holds a separator or NUL that came encoded (`%2F`, `%5C`,
   * `%00`) or is or has a segment `.` or `..`; such a uri does not match.
   */
  match(uri: string): Values | undefined {
    const { scheme, path, query, fragment } = this.parsed;
    const colon = scheme.length;
    if (uri[colon] !== ':' || uri.slice(0, colon).toLowerCase() !== scheme) return undefined;
    if (!hasOnlyUriCharacters(uri)) return undefined;
    const values = Object.create(null) as Values;
    const [withoutFragment, fragmentText] = cut(uri.slice(colon + 1), fragment && '#');
    const [pathText, queryText] = cut(withoutFragment, query && '?');
    const isMatch =
      matchPattern(path, pathText, values) &&
      (!query || matchQuery(query, queryText, values)) &&
      (!fragment || (fragmentText !== undefined && matchPattern(fragment, fragmentText, values)));
    return isMatch ? values : undefined;
  }
}

/** A text before and behind a separator. One that the template does not have is a character like others. */
function cut(text: string, separator: string | undefined): [string, string | undefined] {
  const at = separator === undefined ? -1 : text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function matchQuery({ fixed, parameters }: ParsedQuery, text: string | undefined, values: Values): boolean {
  if (!fixed) return text === undefined || matchParameters(parameters, text, values);
  if (text === undefined) return false;
  if (parameters.length === 0) return matchPattern(fixed, text, values);
  // Values before the parameters hold no "&", so the literals tell where the parameters begin.
  let end = -1;
  for (let count = fixed.literals.join('').split('&').length; count > 0; count--) {
    end = text.indexOf('&', end + 1);
    if (end === -1) return matchPattern(fixed, text, values);
  }
  return (
    matchPattern(fixed, text.slice(0, end), values) &&
    matchParameters(parameters, text.slice(end + 1), values)
  );
}

/** Parameters in any order, those of other names among them. Of two for one value nobody knows which is meant. */
function matchParameters(parameters: readonly Parameter[], text: string, values: Values): boolean {
  if (text.includes('#')) return false;
  const found = new Map<string, string[]>(parameters.map(({ name }) => [name, []]));
  for (const pair of text.split('&')) {
    const [rawName, rawValue = ''] = cut(pair, '=');
    const name = decodeOnce(rawName);
    const value = decodeOnce(rawValue);
    if (name === undefined || value === undefined) return false;
    found.get(name)?.push(value);
  }
  for (const { name, isList } of parameters) {
    const [value, ...others] = found.get(name)!;
    if (value === undefined) continue;
    if (!isList && others.length > 0) return false;
    values[name] = isList ? [value, ...others] : value;
  }
  return true;
}

const SHAPES: Readonly<Record<Slot['kind'], string>> = { simple: '{}', reserved: '{+}', segments: '{*}' };

function shapeOf({ scheme, path, query, fragment }: ParsedTemplate): string {
  const parts = [`${scheme}:`, patternShape(path)];
  if (query?.fixed) parts.push('?', patternShape(query.fixed));
  if (query && query.parameters.length > 0) parts.push(query.fixed ? '{&}' : '{?}');
  if (fragment) parts.push('#', patternShape(fragment));
  return parts.join('');
}

function patternShape({ literals, slots }: Pattern): string {
  return literals.map((literal, index) => literal + (slots[index] ? SHAPES[slots[index].kind] : '')).join('');
}

import { characterFault, uriFault } from './uri.js';
import type { Pattern, Slot } from './uri-pattern.js';

/** A template that cannot be matched. The message says what is wrong and what to write. */
export class UriTemplateException extends Error {
  override readonly name = 'UriTemplateException';
}

/** A variable of `{?a}` or `{&a}`. */
export interface Parameter {
  readonly name: string;
  readonly isList: boolean;
}

export interface ParsedQuery {
  /** What was written out behind a literal `?`, to be found as it stands; nothing for `{?a}`. */
  readonly fixed: Pattern | undefined;
  readonly parameters: readonly Parameter[];
}

export interface ParsedTemplate {
  /** In lower case. */
  readonly scheme: string;
  readonly path: Pattern;
  readonly query: ParsedQuery | undefined;
  readonly fragment: Pattern | undefined;
  readonly variables: readonly (Parameter & { readonly isOptional: boolean })[];
}

const MAX_LENGTH = 1000;
const MAX_VARIABLES = 32;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const NAME = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;
/** They would be traps on the objects that values end up on. */
const TRAPS = new Set(['__proto__', 'constructor', 'prototype']);

const OPERATORS = '+#./;?&';
/** RFC 6570 section 2.2 keeps these for later. */
const KEPT_OPERATORS = '=,!@|';

/** What a simple variable never holds unencoded. */
const EXCLUDED = { path: '/?#', query: '&#', fragment: '#' } as const;
type Part = keyof typeof EXCLUDED;

/** Reads a template of RFC 6570, level 4 without `{a:3}`; refuses what could be read backwards in two ways. */
export function parseTemplate(template: string): ParsedTemplate {
  return new TemplateParser().parse(template);
}

interface PatternDraft extends Pattern {
  readonly literals: string[];
  readonly slots: Slot[];
}

function draft(part: Part): PatternDraft {
  return { literals: [''], slots: [], isPath: part === 'path' };
}

class TemplateParser {
  private part: Part = 'path';
  private readonly drafts: Record<Part, PatternDraft> = {
    path: draft('path'),
    query: draft('query'),
    fragment: draft('fragment'),
  };
  private readonly entered = new Set<Part>();
  private readonly parameters: Parameter[] = [];
  private readonly variables = new Map<string, Parameter & { isOptional: boolean }>();
  /** The expression that begins the query, `{?…}`, if there is one. */
  private formQuery: string | undefined;
  private lastExpression = '';

  parse(template: string): ParsedTemplate {
    if (template.length > MAX_LENGTH)
      throw refusal(`it has ${template.length} characters: write a template of at most ${MAX_LENGTH}`);
    const [prefix, scheme] = SCHEME.exec(template) ?? [];
    if (prefix === undefined || scheme === undefined)
      throw refusal('it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"');
    for (let at = prefix.length; ;) {
      const open = template.indexOf('{', at);
      this.literal(template.slice(at, open === -1 ? undefined : open));
      if (open === -1) break;
      const close = template.indexOf('}', open);
      const body = template.slice(open + 1, close === -1 ? undefined : close);
      if (close === -1 || body.includes('{'))
        throw refusal(`the "{" at ${open} is not closed: write "}" behind the name, or "%7B" for a brace`);
      this.expression(body);
      at = close + 1;
    }
    const sample = prefix + this.drafts.path.literals.join('1');
    const fault = uriFault(sample);
    if (fault !== undefined) throw refusal(`the uri "${sample}", which it would give, ${fault}`);
    return {
      scheme: scheme.toLowerCase(),
      path: this.drafts.path,
      query: this.entered.has('query') ? this.query() : undefined,
      fragment: this.entered.has('fragment') ? this.drafts.fragment : undefined,
      variables: Array.from(this.variables.values()),
    };
  }

  private query(): ParsedQuery {
    const fixed = this.formQuery === undefined ? this.drafts.query : undefined;
    return { fixed, parameters: this.parameters };
  }

  private literal(text: string): void {
    if (text.includes('}')) throw refusal('a "}" has no "{" before it: write "%7D" for a brace');
    const fault = characterFault(text);
    if (fault !== undefined) throw refusal(`its fixed part "${text}" ${fault}`);
    this.append(text);
  }

  /** Adds fixed text, which begins the query at its first `?` and the fragment at its first `#`. */
  private append(text: string): void {
    const at = this.part === 'fragment' ? -1 : text.search(this.part === 'path' ? /[?#]/ : /#/);
    const own = at === -1 ? text : text.slice(0, at);
    if (own !== '') {
      this.refuseBehindParameters(own);
      const { literals } = this.drafts[this.part];
      literals.push(literals.pop()! + own);
    }
    if (at === -1) return;
    this.enter(text[at] === '?' ? 'query' : 'fragment');
    this.append(text.slice(at + 1));
  }

  private enter(part: Part): void {
    this.part = part;
    this.entered.add(part);
  }

  private expression(body: string): void {
    const expression = `{${body}}`;
    const first = body.charAt(0);
    if (first !== '' && KEPT_OPERATORS.includes(first))
      throw refusal(
        `"${expression}" begins with "${first}", which means nothing: write "{${body.slice(1)}}"`,
      );
    const operator = first !== '' && OPERATORS.includes(first) ? first : '';
    const specs = body.slice(operator.length).split(',');
    if (operator === '?' || operator === '&') this.parameterList(operator, specs, expression);
    else this.slots(operator, specs, expression);
    this.lastExpression = expression;
  }

  private parameterList(operator: '?' | '&', specs: readonly string[], expression: string): void {
    const names = specs.join(',');
    if (this.part === 'fragment')
      throw refusal(`"${expression}" stands behind "#": write the query before the fragment`);
    if (operator === '?') {
      if (this.part === 'query')
        throw refusal(
          this.formQuery === undefined
            ? `"${expression}" stands behind a "?": write "{&${names}}"`
            : `"${this.formQuery}" and "${expression}" are two queries: write their names into one, "{?a,b}"`,
        );
      this.enter('query');
      this.formQuery = expression;
    } else if (this.part === 'path' || this.formQuery !== undefined || isEmpty(this.drafts.query)) {
      const mend =
        this.formQuery === undefined
          ? `"{?${names}}"`
          : `its names into "${this.formQuery}", such as "{?a,b}"`;
      throw refusal(`"${expression}" continues no fixed query such as "?x=1": write ${mend}`);
    } else if (this.drafts.query.slots.some((slot) => slot.kind !== 'simple'))
      throw refusal(
        `"${expression}" stands behind a variable that may hold "&": write "{name}" instead of "{+name}" there`,
      );
    for (const spec of specs) {
      const { name, isExploded } = this.variable(spec, expression, true);
      this.parameters.push({ name, isList: isExploded });
    }
  }

  private slots(operator: string, specs: readonly string[], expression: string): void {
    if (operator === '#') {
      if (this.part === 'fragment')
        throw refusal(`"${expression}" stands behind a "#": write "{+${specs.join(',')}}"`);
      this.enter('fragment');
    }
    this.refuseBehindParameters(expression);
    const isReserved = operator === '+' || operator === '#';
    const separator = operator === '' || isReserved ? ',' : operator;
    specs.forEach((spec, index) => {
      const { name, isExploded } = this.variable(spec, expression, false);
      if (isExploded && operator !== '/')
        throw refusal(
          `"${expression}" makes a list with "*", which can be read in "{/${name}*}", "{?${name}*}" and "{&${name}*}" only: write one of these, or "${name}" without "*"`,
        );
      if (separator !== ',' || index > 0) this.append(separator + (operator === ';' ? `${name}=` : ''));
      const kind = isExploded ? 'segments' : isReserved ? 'reserved' : 'simple';
      // Within one expression the separator tells its values apart, so none of them holds it.
      const own = specs.length > 1 && kind === 'simple' ? separator : '';
      const usual = kind === 'reserved' ? '' : EXCLUDED[this.part];
      this.slot({ name, kind, excluded: own + (isExploded ? usual.replace('/', '') : usual) }, expression);
    });
  }

  private slot(slot: Slot, expression: string): void {
    const { slots, literals } = this.drafts[this.part];
    const wide = slots.find(({ kind }) => kind !== 'simple');
    if (wide && slot.kind !== 'simple')
      throw refusal(
        `"${wide.name}" and "${slot.name}" may both hold separators, so nothing tells where the first ends: write one of them as "{name}"`,
      );
    if (slots.length > 0 && literals.at(-1) === '')
      throw refusal(
        `nothing stands between "${this.lastExpression}" and "${expression}" to tell their values apart: write a fixed text between them, such as "/"`,
      );
    slots.push(slot);
    literals.push('');
  }

  private variable(
    spec: string,
    expression: string,
    isOptional: boolean,
  ): { name: string; isExploded: boolean } {
    if (spec.includes(':'))
      throw refusal(
        `"${expression}" takes the beginning of a value only, which cannot be read back: write "${spec.slice(0, spec.indexOf(':'))}" without ":"`,
      );
    const isExploded = spec.endsWith('*');
    const name = isExploded ? spec.slice(0, -1) : spec;
    if (name === '') throw refusal(`"${expression}" lacks a name: write one, such as "{id}"`);
    if (!NAME.test(name))
      throw refusal(
        `"${name}" in "${expression}" is no name: write letters, digits and "_", such as "ticketId"`,
      );
    if (TRAPS.has(name)) throw refusal(`"${name}" cannot be the name of a variable: write another one`);
    if (this.variables.has(name)) throw refusal(`it has "${name}" twice: write two names`);
    if (this.variables.size === MAX_VARIABLES)
      throw refusal(`it has too many variables: write at most ${MAX_VARIABLES}`);
    this.variables.set(name, { name, isList: isExploded, isOptional });
    return { name, isExploded };
  }

  private refuseBehindParameters(what: string): void {
    if (this.part !== 'query' || (this.formQuery === undefined && this.parameters.length === 0)) return;
    throw refusal(
      `"${what}" stands behind "${this.lastExpression}", whose values come in any order: write what is fixed first, such as "?x=1{&a}"`,
    );
  }
}

function isEmpty({ literals, slots }: Pattern): boolean {
  return slots.length === 0 && literals[0] === '';
}

function refusal(message: string): UriTemplateException {
  return new UriTemplateException(message);
}

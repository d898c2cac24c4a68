import { dtoSchemaPlan } from './dto-schema.factory.js';
import type { DtoView } from '../metadata/dto-view.js';
import type { Class } from '../json-schema.js';
import { MAX_UNIQUE_ITEMS } from '../schema-bounds.js';
import { CUSTOM, VALIDATOR_RULES } from './validator-rules.js';

/** Why the schema refuses what class-validator alone would take: a stable key and one sentence for each reason. */
export const STRICTER: Readonly<Record<string, string>> = {
  'unknown-members': 'A member that the DTO does not declare is refused by name, at every level.',
  'reserved-members':
    'A member named like one that every object inherits (`__proto__`, `toString`) is refused.',
  'each-of-one':
    'Under `each` the value is a list (a `Map` an object); class-validator also takes a single value.',
  'enum-names':
    'Of a numeric enum only the values are taken; class-validator takes the names of its members too.',
  'optional-null': '`@IsOptional()` means "may be left out"; null is refused unless something declares it.',
  'date-text': 'A date is text; `@Type(() => Date)` also makes dates of numbers and flags.',
  'variation-selectors':
    'A variation selector counts as a character of a text; class-validator leaves it out.',
  'nested-object':
    'A nested DTO is sent, and is an object, and a list of them is flat; class-validator also takes its absence, a list, or lists in the list.',
  'conditional-type':
    'A property under `@ValidateIf()` has its type whenever it is sent, also where the condition spares it.',
  discriminator:
    'The member that tells variants apart has to be one of the known values; class-transformer falls back to the base class.',
  'described-keywords':
    'What `@McpProperty({ schema })`, `@ApiProperty()` and the Swagger plugin say of a value, and of its presence where no rule does, is checked too.',
  'declared-type':
    'Where no rule says a type, the declared one is checked, and a nested DTO also without `@ValidateNested()`.',
  'converted-type':
    'Under `@Type(() => Number)` and its like the value has that type already; nothing is converted.',
  transform: 'The rules hold before `@Transform()` as well as after it.',
  'custom-presence':
    'A property under constraints of the application alone has to be sent, unless `@IsOptional()` spares it.',
  'pattern-code-points': 'A pattern is read with the flag u, so that a character beyond U+FFFF counts once.',
  'huge-multiples': 'Of numbers from 10^21 on none counts as a multiple.',
  'unique-size': `A list under \`@ArrayUnique()\` without an \`@ArrayMaxSize()\` has at most ${MAX_UNIQUE_ITEMS} entries.`,
  'empty-object':
    '`@IsNotEmptyObject()` asks for a member that is sent; class-validator also counts those a class gives itself.',
};

/** Why class-validator refuses what the schema of a rule takes, or undefined where the two agree. */
export function looserReason(ruleName: string): string | undefined {
  if (ruleName === 'conditional') return 'rules that hold on a condition only';
  if (ruleName === 'custom') return CUSTOM;
  const looser = VALIDATOR_RULES.get(ruleName)?.looser;
  return typeof looser === 'function' ? LOOSER_BY_CONSTRAINT[ruleName] : looser;
}

/** The reasons of rules whose constraints decide whether there is one. */
const LOOSER_BY_CONSTRAINT: Readonly<Record<string, string>> = {
  isNumber: 'the number of decimal places, and numbers too large for JavaScript',
  matches: 'flags, patterns that are not valid with the flag u, and characters beyond U+FFFF',
  contains: 'a search for nothing',
  notContains: 'a search for nothing',
  isAlpha: 'letters of a locale other than en-US',
  isAlphanumeric: 'letters of a locale other than en-US',
  isHash: 'a hash of unknown length',
};

/** Which differences a DTO can show, over its whole graph: keys of `STRICTER`, and names that have a `looserReason`. */
export function differencesOf(
  dto: Class,
  view: DtoView = {},
): { readonly stricter: ReadonlySet<string>; readonly looser: ReadonlySet<string> } {
  const { nodes } = dtoSchemaPlan(dto, view).graph;
  const shapes = nodes.flatMap(({ members }) => members.map(({ shape }) => shape));
  return {
    stricter: new Set([
      'unknown-members',
      'reserved-members',
      ...(nodes.some(({ tag }) => tag) ? ['discriminator'] : []),
      ...shapes.flatMap(({ stricter }) => [...stricter]),
    ]),
    looser: new Set(shapes.flatMap(({ looser }) => [...looser])),
  };
}

import type { ArgumentsContract } from '../arguments.contract.js';
import { choicesOf, type FormChoice } from './form-choices.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { UnusableSchemaException } from '../unusable-schema.exception.js';
import { resolveReference } from '../walk/schema-positions.js';
import { asksForSecret } from './secret-fields.js';

/** A form that can be put to a user: fields side by side, none inside another. */
export interface FormSchema {
  readonly fields: readonly FormField[];
}

/** One field of a form. */
export type FormField = FieldText & FieldKind;

type FieldKind = TextField | NumberField | YesNoField | ChoiceField | ChoicesField;

interface FieldText {
  readonly name: string;
  readonly required: boolean;
  readonly title?: string;
  readonly description?: string;
}

interface TextField {
  readonly kind: 'text';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly default?: string;
}

interface NumberField {
  readonly kind: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

interface YesNoField {
  readonly kind: 'boolean';
  readonly default?: boolean;
}

/** One of several texts. */
interface ChoiceField {
  readonly kind: 'choice';
  readonly choices: readonly FormChoice[];
  readonly default?: string;
}

/** Any of several texts. */
interface ChoicesField {
  readonly kind: 'choices';
  readonly choices: readonly FormChoice[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** A schema that can't be shown as a form. The message says which property, and what to write. */
export class UnusableFormException extends UnusableSchemaException {
  constructor(owner: string, property: string | undefined, problem: string) {
    super(`${placeOf(owner, property)}: ${problem}`);
  }
}

/** Stands for a schema without a class. */
const UNNAMED = 'the form';

function placeOf(owner: string, property: string | undefined): string {
  if (property === undefined) return owner;
  return owner === UNNAMED ? `the field "${property}" of ${UNNAMED}` : `${owner}.${property}`;
}

/** Keywords that may ask for more than the fields that are shown. */
const BESIDE_FIELDS = ['allOf', 'anyOf', 'oneOf', 'if', 'not', 'dependentSchemas', '$ref'];

const FORMATS = ['email', 'uri', 'date', 'date-time'];

/**
 * Reads a contract's or a plain schema as a form. Rules that a form can't show, such as a pattern, are left out of
 * it; they are for the check of the answer. Throws for what a form has no field for.
 */
export function formSchema(source: ArgumentsContract | JsonSchema): FormSchema {
  const { schema, owner } = isContract(source)
    ? { schema: source.schema, owner: source.dto?.name || UNNAMED }
    : { schema: source, owner: UNNAMED };
  const properties = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  if (schema.type !== 'object')
    throw new UnusableFormException(owner, undefined, 'a form is an object; write "type": "object"');
  if (properties.length === 0) {
    throw new UnusableFormException(owner, undefined, 'a form needs at least one field; declare a property');
  }
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  assertOnlyFields(schema, required, owner);
  return {
    fields: properties.map(([name, given]) => {
      const property = resolved(given, schema);
      const refuse = (problem: string) => new UnusableFormException(owner, name, problem);
      const texts = pick(property, { title: 'string', description: 'string' });
      const field = readField(name, property, refuse);
      return {
        name,
        required: required.includes(name),
        ...texts,
        ...(isDto(source) ? retitled(field) : field),
      };
    }),
  };
}

function isDto(source: ArgumentsContract | JsonSchema): boolean {
  return isContract(source) && source.dto !== undefined;
}

/** A user who is shown only some of what is asked could never answer. */
function assertOnlyFields(schema: JsonSchema, required: readonly unknown[], owner: string): void {
  const beside = BESIDE_FIELDS.find((keyword) => keyword in schema);
  if (beside !== undefined)
    throw new UnusableFormException(
      owner,
      undefined,
      `a form is a list of fields and nothing beside it; leave out "${beside}" and write all fields under "properties"`,
    );
  const fields = isJsonObject(schema.properties) ? schema.properties : {};
  const hidden = required.find((name) => typeof name === 'string' && !Object.hasOwn(fields, name));
  if (typeof hidden === 'string')
    throw new UnusableFormException(owner, hidden, 'it is required, but is no field; declare it');
}

/** What a local reference of a field leads to, with what stands beside it. */
function resolved(property: unknown, root: JsonSchema): unknown {
  let found = property;
  for (let depth = 0; depth < MAX_REFERENCES && isJsonObject(found) && '$ref' in found; depth++) {
    const { $ref, ...beside } = found;
    const target = resolveReference(root, $ref);
    if (!target) return found;
    found = { ...target, ...beside };
  }
  return found;
}

const MAX_REFERENCES = 10;

/** Names of choices that a DTO gives are titles: only where a schema was written with `enumNames` they stay so. */
function retitled(field: FieldKind): FieldKind {
  if (!('choices' in field)) return field;
  return {
    ...field,
    choices: field.choices.map(({ value, title }) => (title === undefined ? { value } : { value, title })),
  };
}

type Refuse = (problem: string) => UnusableFormException;

function isContract(source: ArgumentsContract | JsonSchema): source is ArgumentsContract {
  return typeof source.checkRaw === 'function';
}

function readField(name: string, property: unknown, refuse: Refuse): FieldKind {
  if (!isJsonObject(property)) throw refuse('a field needs a type; declare a text, a number or a boolean');
  const choices = choicesOf(property);
  if (choices) {
    const preset = pick(property, { default: 'string' });
    assertChosen(choices, [preset.default ?? []].flat(), refuse);
    return { kind: 'choice', choices, ...preset };
  }
  if (Array.isArray(property.enum)) throw refuse('the choices of a form are text; list strings');
  switch (property.type) {
    case 'string':
      if (asksForSecret(name, property)) throw refuse(SECRET);
      return { kind: 'text', ...textRules(property) };
    case 'number':
    case 'integer':
      return { kind: property.type, ...numberRules(property) };
    case 'boolean':
      return { kind: 'boolean', ...pick(property, { default: 'boolean' }) };
    case 'array':
      return readChoices(property, refuse);
    default:
      throw refuse(mendOf(property));
  }
}

const SECRET =
  'a secret must not pass through the client; ask for it at an address of yours by ctx.elicitUrl(), or give what is none another name';

function readChoices(property: JsonSchema, refuse: Refuse): ChoicesField {
  const choices = choicesOf(property.items);
  if (!choices) {
    throw refuse(
      'a list in a form is a choice among given texts; list them with @IsIn([…], { each: true }) or @IsEnum(…, { each: true }), or as items.enum',
    );
  }
  const { default: value } = property;
  const isTexts = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  if (isTexts) assertChosen(choices, value as string[], refuse);
  return {
    kind: 'choices',
    choices,
    ...sizes(property, 'minItems', 'maxItems'),
    ...(isTexts ? { default: value as string[] } : {}),
  };
}

function assertChosen(choices: readonly FormChoice[], preset: readonly string[], refuse: Refuse): void {
  const odd = preset.find((text) => !choices.some(({ value }) => value === text));
  if (odd !== undefined)
    throw refuse(`the default ${JSON.stringify(odd)} is none of the choices; list it, or leave it out`);
}

function textRules(property: JsonSchema): Omit<TextField, 'kind'> {
  const { format } = property;
  return {
    ...sizes(property, 'minLength', 'maxLength'),
    ...pick(property, { default: 'string' }),
    ...(typeof format === 'string' && FORMATS.includes(format) ? { format } : {}),
  };
}

function numberRules(property: JsonSchema): Omit<NumberField, 'kind'> {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = property;
  // A form has no open bounds; between integers the next one is the same, and between others the check knows it.
  const isInteger = property.type === 'integer';
  const least = [minimum, isInteger && typeof above === 'number' ? Math.floor(above) + 1 : above];
  const most = [maximum, isInteger && typeof below === 'number' ? Math.ceil(below) - 1 : below];
  return {
    ...tightest('minimum', least, (bounds) => Math.max(...bounds.map(isInteger ? Math.ceil : Number))),
    ...tightest('maximum', most, (bounds) => Math.min(...bounds.map(isInteger ? Math.floor : Number))),
    ...pick(property, { default: 'number' }),
  };
}

/** Sizes as whole numbers, as a form wants them. */
function sizes<L extends string, M extends string>(
  property: JsonSchema,
  least: L,
  most: M,
): Partial<Record<L | M, number>> {
  return {
    ...tightest(least, [property[least]], ([size]) => Math.max(0, Math.ceil(size!))),
    ...tightest(most, [property[most]], ([size]) => Math.floor(size!)),
  } as Partial<Record<L | M, number>>;
}

function tightest<N extends string>(
  name: N,
  bounds: readonly unknown[],
  choose: (bounds: readonly number[]) => number,
): Partial<Record<N, number>> {
  const given = bounds.filter((bound) => typeof bound === 'number');
  return given.length === 0 ? {} : ({ [name]: choose(given) } as Partial<Record<N, number>>);
}

function mendOf({ type, anyOf, oneOf, $ref }: JsonSchema): string {
  const branches: unknown[] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  const isNullable =
    (Array.isArray(type) && type.includes('null')) ||
    branches.some((branch) => isJsonObject(branch) && branch.type === 'null');
  if (isNullable) return 'a field of a form is never null; make the property optional instead';
  if ($ref !== undefined) return 'its reference leads nowhere in this form; write what it stands for here';
  if (type === 'object') {
    return 'a form has no fields inside a field; move the nested properties up, or ask for them in a question of their own';
  }
  return 'a field of a form has one type; declare a text, a number, a boolean or a choice of texts';
}

type Names = Readonly<Record<string, 'string' | 'number' | 'boolean'>>;
type Picked<N extends Names> = {
  [K in keyof N]?: N[K] extends 'string' ? string : N[K] extends 'number' ? number : boolean;
};

/** The members of the named types, where the schema has them. */
function pick<const N extends Names>(schema: unknown, names: N): Picked<N> {
  const entries = Object.entries(names)
    .map(([name, type]) => [name, isJsonObject(schema) ? schema[name] : undefined, type] as const)
    .filter(([, value, type]) => typeof value === type);
  return Object.fromEntries(entries.map(([name, value]) => [name, value])) as Picked<N>;
}

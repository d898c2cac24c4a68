import { isJsonObject, type JsonSchema } from './json-schema.js';

/** What one class-validator rule says in JSON Schema. */
export interface ValidatorRule {
  /** The keywords a value of the rule has; `{}` when these constraints can't be said exactly. */
  readonly keywords: (constraints: readonly unknown[]) => JsonSchema;
  /** The keywords count only where the other rules, or the declared type, already say this type. */
  readonly onlyForType?: string;
  /** The rule is content when the property is missing, so it does not make it required. */
  readonly acceptsAbsent?: boolean;
}

const STRING: JsonSchema = { type: 'string' };
const NUMBER: JsonSchema = { type: 'number' };
const ARRAY: JsonSchema = { type: 'array' };

const fixed = (schema: JsonSchema): ValidatorRule => ({ keywords: () => schema });
const rule = (keywords: ValidatorRule['keywords']): ValidatorRule => ({ keywords });

/** Rules that accept text only, and of it what JSON Schema has no exact words for. */
const TEXT_RULES =
  'isAlpha isAlphanumeric isAscii isBIC isBase32 isBase58 isBase64 isBooleanString isBtcAddress isByteLength ' +
  'isCreditCard isCurrency isDataURI isDecimal isEAN isEthereumAddress isFqdn IsFirebasePushId isFullWidth isHSL ' +
  'isHalfWidth isHash isHexColor isHexadecimal isIBAN isISBN isIsbn isIsin isISO31661Alpha2 isISO31661Alpha3 ' +
  'isISO31661Numeric isISO4217CurrencyCode isISO6391 isISRC isISSN isIdentityCard isJSON isJson isJwt isLatLong ' +
  'isLocale isLowercase isMacAddress isMagnetURI isMilitaryTime isMimeType isMobilePhone isMongoId isMultibyte ' +
  'isNumberString isOctal isPassportNumber isPhoneNumber isPort isPostalCode isRFC3339 isRgbColor isSemVer ' +
  'isStrongPassword isSurrogatePair isTaxId isTimeZone isUppercase isVariableWidth notContains';

const TYPE_RULES: Record<string, ValidatorRule> = {
  isString: fixed(STRING),
  isInt: fixed({ type: 'integer' }),
  isBoolean: fixed({ type: 'boolean' }),
  isArray: fixed(ARRAY),
  isObject: fixed({ type: 'object' }),
  isNotEmptyObject: fixed({ type: 'object', minProperties: 1 }),
  // multipleOf is not exact on decimal fractions, so of maxDecimalPlaces only "none" is published.
  isNumber: rule(([options]) =>
    isJsonObject(options) && options.maxDecimalPlaces === 0 ? { type: 'integer' } : NUMBER,
  ),
  // JSON has no dates: the text is what @Type(() => Date) is given. Other forms that Date reads pass too.
  isDate: fixed({ type: 'string', format: 'date-time' }),
};

const VALUE_RULES: Record<string, ValidatorRule> = {
  isEnum: rule(([entity]) => oneOf(enumValues(entity))),
  isIn: rule(([values]) => oneOf(Array.isArray(values) ? values : [])),
  equals: rule(([value]) => (isJsonPrimitive(value) ? { ...typeOfAll([value]), const: value } : {})),
  isNotIn: {
    keywords: ([values]) => noneOf(Array.isArray(values) ? values : []),
    acceptsAbsent: true,
  },
  notEquals: {
    keywords: ([value]) => (isJsonPrimitive(value) ? { not: { const: value } } : {}),
    acceptsAbsent: true,
  },
  // Says nothing of the type: it also stands on numbers, arrays and flags.
  isNotEmpty: { keywords: () => ({ minLength: 1 }), onlyForType: 'string' },
  isEmpty: { keywords: () => ({}), acceptsAbsent: true },
};

const NUMBER_RULES: Record<string, ValidatorRule> = {
  min: rule(([limit]) => bounded(NUMBER, 'minimum', limit)),
  max: rule(([limit]) => bounded(NUMBER, 'maximum', limit)),
  isPositive: fixed({ type: 'number', exclusiveMinimum: 0 }),
  isNegative: fixed({ type: 'number', exclusiveMaximum: 0 }),
  isDivisibleBy: rule(([divisor]) =>
    Number.isInteger(divisor) && divisor !== 0
      ? { type: 'number', multipleOf: Math.abs(Number(divisor)) }
      : NUMBER,
  ),
};

const ARRAY_RULES: Record<string, ValidatorRule> = {
  arrayMinSize: rule(([size]) => bounded(ARRAY, 'minItems', size)),
  arrayMaxSize: rule(([size]) => bounded(ARRAY, 'maxItems', size)),
  arrayNotEmpty: fixed({ type: 'array', minItems: 1 }),
  arrayUnique: fixed({ type: 'array', uniqueItems: true }),
  arrayContains: fixed(ARRAY),
};

// JSON Schema counts code points; class-validator counts those too, but not a variation selector. On such text
// the two may differ by the number of selectors, and a value has to suit both.
const TEXT_SHAPE_RULES: Record<string, ValidatorRule> = {
  isLength: rule(([min, max]) => bounded(bounded(STRING, 'minLength', min), 'maxLength', max)),
  minLength: rule(([min]) => bounded(STRING, 'minLength', min)),
  maxLength: rule(([max]) => bounded(STRING, 'maxLength', max)),
  matches: rule(([pattern, flags]) => ({ ...STRING, ...patternOf(pattern, flags) })),
  contains: rule(([seed]) =>
    typeof seed === 'string' && seed !== '' ? { ...STRING, pattern: escapePattern(seed) } : STRING,
  ),
};

// Formats are advice to the caller; class-validator stays the judge. A format is given where a value written by
// it is accepted, whatever other forms (a bare date, say) are accepted besides.
const FORMAT_RULES: Record<string, ValidatorRule> = {
  isEmail: rule(([options]) => formatted('email', !has(options, 'allow_display_name'))),
  isUuid: fixed({ type: 'string', format: 'uuid' }),
  isUrl: rule(([options]) => formatted('uri', has(options, 'require_protocol'))),
  isDateString: fixed({ type: 'string', format: 'date-time' }),
  isIso8601: fixed({ type: 'string', format: 'date-time' }),
  isIp: rule(([version]) =>
    formatted(`ipv${String(version)}`, String(version) === '4' || String(version) === '6'),
  ),
};

/** class-validator's rule names with what each says in JSON Schema. A rule that isn't here constrains nothing. */
export const VALIDATOR_RULES: ReadonlyMap<string, ValidatorRule> = new Map([
  ...TEXT_RULES.split(' ').map((name): [string, ValidatorRule] => [name, fixed(STRING)]),
  ...[TYPE_RULES, VALUE_RULES, NUMBER_RULES, ARRAY_RULES, TEXT_SHAPE_RULES, FORMAT_RULES].flatMap((rules) =>
    Object.entries(rules),
  ),
]);

function bounded(base: JsonSchema, keyword: string, limit: unknown): JsonSchema {
  return typeof limit === 'number' && Number.isFinite(limit) ? { ...base, [keyword]: limit } : base;
}

function formatted(format: string, fits: boolean): JsonSchema {
  return fits ? { type: 'string', format } : STRING;
}

function has(options: unknown, flag: string): boolean {
  return isJsonObject(options) && options[flag] === true;
}

type JsonPrimitive = string | number | boolean | null;

function isJsonPrimitive(value: unknown): value is JsonPrimitive {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** The values of an enum object, without the names a numeric enum maps its values back to. */
function enumValues(entity: unknown): unknown[] {
  if (typeof entity !== 'object' || entity === null) return [];
  const members = entity as Record<string, unknown>;
  const isReverseName = (key: string) => {
    const name = members[key];
    return String(Number(key)) === key && typeof name === 'string' && members[name] === Number(key);
  };
  return Object.keys(members)
    .filter((key) => !isReverseName(key))
    .map((key) => members[key]);
}

// class-validator compares by identity, so only primitives of a list can ever equal a value read from JSON.
function oneOf(values: readonly unknown[]): JsonSchema {
  const allowed = [...new Set(values.filter(isJsonPrimitive))];
  return allowed.length === 0 ? { not: {} } : { ...typeOfAll(allowed), enum: allowed };
}

function noneOf(values: readonly unknown[]): JsonSchema {
  const refused = [...new Set(values.filter(isJsonPrimitive))];
  return refused.length === 0 ? {} : { not: { enum: refused } };
}

function typeOfAll(values: readonly JsonPrimitive[]): JsonSchema {
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  return types.size === 1 ? { type: [...types][0] } : {};
}

// JSON Schema patterns have no flags and are read as Unicode ones, so a pattern that needs flags, or is not
// valid that way, is left to class-validator alone. The flag g changes nothing about whether a text matches.
function patternOf(pattern: unknown, flags: unknown): JsonSchema {
  const isExpression = pattern instanceof RegExp;
  if (!isExpression && typeof pattern !== 'string') return {};
  const source = isExpression ? pattern.source : pattern;
  const modifiers = isExpression ? pattern.flags : typeof flags === 'string' ? flags : '';
  if (/[^gu]/.test(modifiers)) return {};
  try {
    return { pattern: new RegExp(source, 'u').source };
  } catch {
    return {};
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

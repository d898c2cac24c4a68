import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { literalPattern, publishedPattern } from '../text-patterns.js';
import { enumValues, hasReverseNames, isJsonPrimitive, noneOf, oneOf } from '../metadata/value-lists.js';

/** What a rule was given when it was written. */
export type Constraints = readonly unknown[];

/** What one class-validator rule says in JSON Schema. */
export interface ValidatorRule {
  /** The keywords of the values it takes, null left aside; fewer where these constraints can't be said exactly. */
  readonly keywords: (constraints: Constraints) => JsonSchema;
  /** The keywords count only where the other rules, or the declared type, already say this type. */
  readonly onlyForType?: string;
  /** Keywords for what it judges that have nothing to say where these constraints can't be said exactly. */
  readonly judges?: readonly string[] | ((constraints: Constraints) => readonly string[]);
  /** What such a rule says where nothing says a type. */
  readonly whenOpen?: JsonSchema;
  /** Says whether the rule is content with a value that is missing, or null. A rule without it takes neither. */
  readonly takes?: (nothing: undefined | null, constraints: Constraints) => boolean;
  /** The rule allows values by listing them, so null is allowed when it takes it, and not merely overlooked. */
  readonly listsValues?: boolean;
  /** What only class-validator can judge, where the keywords don't say all. */
  readonly looser?: string | ((constraints: Constraints) => string | undefined);
  /** The key, in `STRICTER`, of what the keywords refuse and class-validator takes. */
  readonly stricter?: string | ((constraints: Constraints) => string | undefined);
}

const STRING: JsonSchema = { type: 'string' };
const NUMBER: JsonSchema = { type: 'number' };
const ARRAY: JsonSchema = { type: 'array' };
const DATE: JsonSchema = { type: 'string', format: 'date-time' };

const FORMAT = 'a text format, which is advice in a schema';
const CHECKSUM = 'a check digit, or another relation between the characters';
const LISTED_ELSEWHERE = 'a list of names or codes too long to publish';
const LOCAL = 'the form depends on a country, a locale or options';
const CHARACTERS = 'which characters the text is made of, or how they are encoded';
export const CUSTOM = 'a constraint of the application';
const BEYOND = 'numbers too large for JavaScript, which reads them as infinite';
const MOMENT = 'which moment the text stands for';
const SELECTORS = 'variation selectors, which class-validator does not count';

const exactly = (keywords: JsonSchema): ValidatorRule => ({ keywords: () => keywords });
const text = (looser: string): ValidatorRule => ({ keywords: () => STRING, looser });
const pattern = (source: string): ValidatorRule => exactly({ ...STRING, pattern: source });
const silent = (looser?: string): ValidatorRule => ({
  keywords: () => ({}),
  takes: () => true,
  ...(looser === undefined ? {} : { looser }),
});

const texts = (looser: string, names: string): Record<string, ValidatorRule> =>
  Object.fromEntries(names.split(' ').map((name) => [name, text(looser)]));

/** Rules that accept text only, and of it what JSON Schema has no exact words for. */
const TEXT_RULES: Record<string, ValidatorRule> = {
  ...texts(
    FORMAT,
    'isBase32 isBase64 isDataURI isFqdn isHSL isJson isJwt isLatLong isLocale isMacAddress isMagnetURI',
  ),
  ...texts(FORMAT, 'isMimeType isRFC3339 isRgbColor isSemVer'),
  ...texts(CHECKSUM, 'isBIC isBtcAddress isCreditCard isEAN isIBAN isIsbn isIsin isISSN'),
  ...texts(
    LISTED_ELSEWHERE,
    'isISO31661Alpha2 isISO31661Alpha3 isISO31661Numeric isISO4217CurrencyCode isISO6391',
  ),
  ...texts(LISTED_ELSEWHERE, 'isTimeZone'),
  ...texts(
    LOCAL,
    'isCurrency isDecimal isIdentityCard isMobilePhone isNumberString isPassportNumber isPhoneNumber',
  ),
  ...texts(LOCAL, 'isPostalCode isStrongPassword isTaxId'),
  ...texts(
    CHARACTERS,
    'isByteLength isFullWidth isHalfWidth isLowercase isMultibyte isSurrogatePair isUppercase',
  ),
  ...texts(CHARACTERS, 'isVariableWidth'),
};

const TYPE_RULES: Record<string, ValidatorRule> = {
  isString: exactly(STRING),
  isInt: { keywords: () => ({ type: 'integer' }), looser: BEYOND },
  isBoolean: exactly({ type: 'boolean' }),
  isArray: exactly(ARRAY),
  isObject: exactly({ type: 'object' }),
  isNotEmptyObject: {
    keywords: ([options]) => ({
      type: 'object',
      minProperties: 1,
      // "Some member is not null" is "not all members are null".
      ...(has(options, 'nullable', false) ? { not: { additionalProperties: { type: 'null' } } } : {}),
    }),
    stricter: 'empty-object',
  },
  isInstance: { keywords: () => ({}), looser: 'the class of the instance' },
  isNumber: {
    // multipleOf is not exact on decimal fractions, so of maxDecimalPlaces only "none" is published.
    keywords: ([options]) => (has(options, 'maxDecimalPlaces', 0) ? { type: 'integer' } : NUMBER),
    judges: ([options]) => (isJsonObject(options) && 'maxDecimalPlaces' in options ? ['multipleOf'] : []),
    looser: ([options]) =>
      isJsonObject(options) && Number(options.maxDecimalPlaces) > 0 ? 'the number of decimal places' : BEYOND,
  },
  // JSON has no dates: the text is what @Type(() => Date) is given. Other forms that Date reads pass too.
  isDate: { keywords: () => DATE, looser: FORMAT, stricter: 'date-text' },
  minDate: { keywords: () => DATE, looser: MOMENT, stricter: 'date-text' },
  maxDate: { keywords: () => DATE, looser: MOMENT, stricter: 'date-text' },
};

const VALUE_RULES: Record<string, ValidatorRule> = {
  isEnum: {
    keywords: ([entity]) => oneOf(enumValues(entity)),
    takes: (nothing, [entity]) => enumValues(entity).includes(nothing),
    listsValues: true,
    stricter: ([entity]) => (hasReverseNames(entity) ? 'enum-names' : undefined),
  },
  isIn: {
    keywords: ([values]) => oneOf(listOf(values)),
    takes: (nothing, [values]) => listOf(values).includes(nothing),
    listsValues: true,
  },
  equals: {
    keywords: ([value]) => oneOf([value]),
    takes: (nothing, [value]) => value === nothing,
    listsValues: true,
  },
  isNotIn: {
    keywords: ([values]) => noneOf(listOf(values)),
    takes: (nothing, [values]) => !listOf(values).includes(nothing),
  },
  notEquals: {
    keywords: ([value]) => noneOf([value]),
    takes: (nothing, [value]) => value !== nothing,
  },
  isEmpty: { keywords: () => ({ ...STRING, maxLength: 0 }), takes: () => true, listsValues: true },
  // Says nothing of the type: it also stands on numbers, arrays and flags.
  isNotEmpty: { keywords: () => ({ minLength: 1 }), onlyForType: 'string', whenOpen: noneOf(['']) },
  isDefined: { keywords: () => ({}) },
};

const NUMBER_RULES: Record<string, ValidatorRule> = {
  min: { keywords: ([limit]) => bounded(NUMBER, 'minimum', limit), judges: ['minimum'] },
  max: { keywords: ([limit]) => bounded(NUMBER, 'maximum', limit), judges: ['maximum'] },
  isPositive: exactly({ type: 'number', exclusiveMinimum: 0 }),
  isNegative: exactly({ type: 'number', exclusiveMaximum: 0 }),
  isDivisibleBy: {
    // class-validator cuts the divisor down to an integer.
    keywords: ([divisor]) =>
      typeof divisor === 'number' && Math.abs(Math.trunc(divisor)) >= 1
        ? { ...NUMBER, multipleOf: Math.abs(Math.trunc(divisor)) }
        : NUMBER,
    judges: ['multipleOf'],
    looser: 'numbers beyond 2^53, or a divisor that divides nothing',
    stricter: 'huge-multiples',
  },
  // Both take a number and text; the declared type says which of them is meant.
  isLatitude: degrees(90),
  isLongitude: degrees(180),
};

const ARRAY_RULES: Record<string, ValidatorRule> = {
  arrayMinSize: { keywords: ([size]) => bounded(ARRAY, 'minItems', size), judges: ['minItems'] },
  arrayMaxSize: { keywords: ([size]) => bounded(ARRAY, 'maxItems', size), judges: ['maxItems'] },
  arrayNotEmpty: exactly({ ...ARRAY, minItems: 1 }),
  arrayUnique: {
    keywords: () => ({ ...ARRAY, uniqueItems: true }),
    looser: 'entries compared through a function, or lists whose entries have no single plain type',
    stricter: 'unique-size',
  },
  arrayContains: {
    keywords: ([values]) => ({
      ...ARRAY,
      ...allOf(
        listOf(values).map((value) => ({
          contains: isJsonPrimitive(value) ? { enum: [value] } : { not: {} },
        })),
      ),
    }),
  },
  arrayNotContains: { keywords: ([values]) => ({ ...ARRAY, items: refusing(listOf(values)) }) },
};

// JSON Schema counts code points; class-validator counts those too, but not a variation selector. On such text the
// two may differ by the number of selectors, and a value has to suit both.
const TEXT_SHAPE_RULES: Record<string, ValidatorRule> = {
  isLength: {
    keywords: ([min, max]) => bounded(bounded(STRING, 'minLength', min), 'maxLength', max),
    judges: ([, max]) => (max === undefined ? ['minLength'] : ['minLength', 'maxLength']),
    looser: SELECTORS,
    stricter: ([, max]) => (typeof max === 'number' ? 'variation-selectors' : undefined),
  },
  minLength: {
    keywords: ([min]) => bounded(STRING, 'minLength', min),
    judges: ['minLength'],
    looser: SELECTORS,
  },
  maxLength: {
    keywords: ([max]) => bounded(STRING, 'maxLength', max),
    judges: ['maxLength'],
    stricter: 'variation-selectors',
  },
  matches: {
    keywords: ([expression, flags]) => {
      const source = publishedPattern(expression, flags);
      return source === undefined ? STRING : { ...STRING, pattern: source };
    },
    judges: ['pattern'],
    looser: ([expression, flags]) =>
      publishedPattern(expression, flags) === undefined
        ? 'a pattern with flags, or one that is not valid with the flag u'
        : 'characters beyond U+FFFF, which the schema counts once and class-validator twice',
    stricter: 'pattern-code-points',
  },
  contains: {
    keywords: ([seed]) =>
      typeof seed === 'string' && seed !== '' ? { ...STRING, pattern: literalPattern(seed) } : STRING,
    judges: ['pattern'],
    looser: ([seed]) => (seed === '' ? 'a search for nothing' : undefined),
  },
  notContains: {
    keywords: ([seed]) =>
      typeof seed === 'string' && seed !== ''
        ? { ...STRING, not: { pattern: literalPattern(seed) } }
        : STRING,
    looser: ([seed]) => (seed === '' ? 'a search for nothing' : undefined),
  },
  isAlpha: lettersOf('^[A-Za-z]+$'),
  isAlphanumeric: lettersOf('^[0-9A-Za-z]+$'),
  isAscii: pattern('^[\\x00-\\x7F]+$'),
  isBase58: pattern('^[A-HJ-NP-Za-km-z1-9]*$'),
  isBooleanString: exactly({ ...STRING, enum: ['true', 'false', '1', '0'] }),
  isEthereumAddress: pattern('^0[xX][0-9A-Fa-f]{40}$'),
  IsFirebasePushId: pattern('^[a-zA-Z0-9_-]{20}$'),
  isHash: {
    keywords: ([algorithm]) => {
      const digits = HASH_DIGITS[String(algorithm)];
      return digits === undefined ? STRING : { ...STRING, pattern: `^[a-fA-F0-9]{${digits}}$` };
    },
    judges: ['pattern'],
    looser: ([algorithm]) => (String(algorithm) in HASH_DIGITS ? undefined : 'a hash of unknown length'),
  },
  isHexColor: pattern('^#?(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$'),
  isHexadecimal: pattern('^(?:0[xXhH])?[0-9A-Fa-f]+$'),
  isISRC: pattern('^[A-Z]{2}[0-9A-Z]{3}\\d{7}$'),
  isMilitaryTime: pattern('^(?:[01]\\d|2[0-3]):?[0-5]\\d$'),
  isMongoId: pattern('^(?:[0-9A-Fa-f]{2}|0[xXhH])[0-9A-Fa-f]{22}$'),
  isOctal: pattern('^(?:0[oO])?[0-7]+$'),
  isPort: pattern(
    '^(?:-0|\\+?(?:0|[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))$',
  ),
};

const HASH_DIGITS: Readonly<Record<string, number>> = {
  crc32: 8,
  crc32b: 8,
  md4: 32,
  md5: 32,
  ripemd128: 32,
  ripemd160: 40,
  sha1: 40,
  sha256: 64,
  sha384: 96,
  sha512: 128,
  tiger128: 32,
  tiger160: 40,
  tiger192: 48,
};

// Formats are advice to the caller; class-validator stays the judge. A format is given where a value written by it
// is accepted, whatever other forms (a bare date, say) are accepted besides.
const FORMAT_RULES: Record<string, ValidatorRule> = {
  isEmail: formatted('email', ([options]) => !has(options, 'allow_display_name', true)),
  isUuid: formatted('uuid'),
  isUrl: formatted('uri', ([options]) => has(options, 'require_protocol', true)),
  isDateString: formatted('date-time'),
  isIso8601: formatted('date-time'),
  isIp: {
    keywords: ([version]) =>
      ['4', '6'].includes(String(version)) ? { ...STRING, format: `ipv${String(version)}` } : STRING,
    judges: ['format'],
    looser: FORMAT,
  },
};

/** What has no name of its own in class-validator, by the kind of its metadata. */
export const KINDS: Record<string, ValidatorRule> = {
  nestedValidation: {
    keywords: () => ({}),
    takes: (nothing) => nothing === undefined,
    stricter: 'nested-object',
  },
  conditionalValidation: silent(),
  whitelistValidation: silent(),
  // Only waits for promises, and JSON brings none.
  promiseValidation: silent(),
};

/** class-validator's rule names with what each says in JSON Schema. */
export const VALIDATOR_RULES: ReadonlyMap<string, ValidatorRule> = new Map(
  [
    TEXT_RULES,
    TYPE_RULES,
    VALUE_RULES,
    NUMBER_RULES,
    ARRAY_RULES,
    TEXT_SHAPE_RULES,
    FORMAT_RULES,
    KINDS,
  ].flatMap((rules) => Object.entries(rules)),
);

function formatted(format: string, fits: (constraints: Constraints) => boolean = () => true): ValidatorRule {
  return {
    keywords: (constraints) => (fits(constraints) ? { ...STRING, format } : STRING),
    judges: ['format'],
    looser: FORMAT,
  };
}

function lettersOf(source: string): ValidatorRule {
  const isPlain = (locale: unknown) => locale === undefined || locale === 'en-US';
  return {
    keywords: ([locale]) => (isPlain(locale) ? { ...STRING, pattern: source } : STRING),
    judges: ['pattern'],
    looser: ([locale]) => (isPlain(locale) ? undefined : LOCAL),
  };
}

function degrees(most: number): ValidatorRule {
  return {
    keywords: () => ({ anyOf: [{ ...NUMBER, minimum: -most, maximum: most }, STRING] }),
    looser: 'degrees as text, and numbers so small that they are written with an exponent',
  };
}

function allOf(parts: readonly JsonSchema[]): JsonSchema {
  return parts.length > 1 ? { allOf: parts } : (parts[0] ?? {});
}

function refusing(values: readonly unknown[]): JsonSchema {
  const refused = values.filter(isJsonPrimitive);
  return refused.length === 0 ? {} : { not: { enum: refused } };
}

export function listOf(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? (values as unknown[]) : [];
}

function bounded(base: JsonSchema, keyword: string, limit: unknown): JsonSchema {
  if (typeof limit !== 'number' || !Number.isFinite(limit)) return base;
  if (keyword === 'minimum' || keyword === 'maximum') return { ...base, [keyword]: limit };
  // A size is a whole number from 0 on, and a limit need not be.
  if (keyword.startsWith('min')) return limit <= 0 ? base : { ...base, [keyword]: Math.ceil(limit) };
  return limit < 0 ? { ...base, not: {} } : { ...base, [keyword]: Math.floor(limit) };
}

function has(options: unknown, flag: string, value: unknown): boolean {
  return isJsonObject(options) && options[flag] === value;
}

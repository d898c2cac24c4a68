/** The deepest chain of DTO classes that is written inline, and the deepest nesting of arguments that is read. */
export const MAX_NESTING = 64;

/** The most DTO classes one schema may reach. */
export const MAX_CLASSES = 256;

/** The most class bodies a schema repeats inline before classes used twice move to `$defs`. */
export const MAX_INLINED_BODIES = 64;

/** The most issues one refusal lists. */
export const MAX_ISSUES = 20;

/** The longest text of one issue, in characters. */
export const MAX_MESSAGE_LENGTH = 300;

/**
 * The longest list that class-validator is asked to find unique, where the DTO gives no size of its own: it compares
 * all pairs, so a longer one would be a way to stall a server.
 */
export const MAX_UNIQUE_ITEMS = 10_000;

/** The largest arguments, in values, for which every issue is looked for and not only the first. */
export const MAX_DETAILED_VALUES = 2_000;

/**
 * Member names that never reach a DTO: those every object inherits. class-transformer drops or calls them, and
 * class-validator calls some on the object it checks.
 */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

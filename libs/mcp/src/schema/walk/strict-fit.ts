import { hasRepeatedItem } from './unique-items.js';
import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { isOfType } from './loose-fit.js';
import { meetsBounds } from './value-bounds.js';
import { judgesOf, referencesOf } from './schema-positions.js';

/** How many schemas one question may visit; beyond that the answer is no, as nothing is known for certain. */
const MAX_VISITS = 2_000;

/** How many schemas all questions about one value may visit together. */
const MAX_VISITS_IN_ALL = 200_000;

/** How deep it goes: references may lead to themselves. */
const MAX_DEPTH = MAX_NESTING * 4;

/**
 * Says whether a value meets a schema, bounds and patterns included, with or without what the schema says of unknown
 * members. It chooses among alternatives, and is no validator: unevaluated members and items are not looked at, and
 * what would take too long does not fit.
 */
export class StrictFit {
  private visits = 0;
  private visitsInAll = 0;
  private depth = 0;
  private gaveUp = false;
  private minds = true;

  /** @param isDraft7 whether nothing counts beside a reference */
  constructor(
    private readonly root: JsonSchema,
    private readonly isDraft7: boolean,
  ) {}

  /** Whether the schema takes the value as it is. */
  fits(schema: unknown, value: unknown): boolean {
    return this.answer(schema, value, true);
  }

  /** Whether the schema would take the value without its unknown members. */
  fitsPruned(schema: unknown, value: unknown): boolean {
    return this.answer(schema, value, false);
  }

  private answer(schema: unknown, value: unknown, minds: boolean): boolean {
    if (this.visitsInAll > MAX_VISITS_IN_ALL) return false;
    this.minds = minds;
    this.visits = 0;
    this.depth = 0;
    this.gaveUp = false;
    const fits = this.judge(schema, value);
    this.visitsInAll += this.visits;
    return fits && !this.gaveUp;
  }

  private judge(schema: unknown, value: unknown): boolean {
    if (!isJsonObject(schema)) return schema !== false;
    this.visits += 1;
    this.gaveUp ||= this.visits > MAX_VISITS || this.depth > MAX_DEPTH;
    if (this.gaveUp) return false;
    this.depth += 1;
    const fits =
      (this.isDraft7 && '$ref' in schema) ||
      (isAllowed(schema, value) &&
        meetsBounds(schema, value) &&
        this.fitsMembers(schema, value) &&
        this.fitsItems(schema, value) &&
        this.fitsCombined(schema, value) &&
        // Unknown members may be what these ask for, so only the value as it is can be asked about.
        (!this.minds || (this.fitsConditions(schema, value) && this.fitsDependencies(schema, value))));
    const fitsAll = fits && referencesOf(schema, this.root).every((target) => this.judge(target, value));
    this.depth -= 1;
    return fitsAll;
  }

  private fitsMembers(schema: JsonSchema, value: unknown): boolean {
    if (!isJsonObject(value)) return true;
    const { required, propertyNames } = schema;
    const wanted: unknown[] = Array.isArray(required) ? required : [];
    if (!wanted.every((name) => Object.hasOwn(value, String(name)))) return false;
    return Object.entries(value).every(([name, member]) => {
      const judges = judgesOf(schema, name);
      if (judges === undefined) return !this.minds;
      const isNamed = propertyNames === undefined || this.judge(propertyNames, name);
      return isNamed && judges.every((judge) => this.judge(judge, member));
    });
  }

  private fitsItems({ items, prefixItems, additionalItems, contains, ...rest }: JsonSchema, value: unknown) {
    if (!Array.isArray(value)) return true;
    const list = value as unknown[];
    if (rest.uniqueItems === true && hasRepeatedItem(list)) return false;
    const tuple: unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const others = Array.isArray(items) ? additionalItems : items;
    if (!list.every((entry, index) => this.judge(index < tuple.length ? tuple[index] : others, entry)))
      return false;
    if (contains === undefined || !this.minds) return true;
    const { minContains = 1, maxContains = Infinity } = rest as Record<string, number | undefined>;
    const found = list.filter((entry) => this.judge(contains, entry)).length;
    return found >= minContains && found <= maxContains;
  }

  private fitsCombined({ allOf, anyOf, oneOf }: JsonSchema, value: unknown): boolean {
    const fitting = (branches: unknown) =>
      (branches as unknown[]).filter((branch) => this.judge(branch, value)).length;
    if (Array.isArray(allOf) && !allOf.every((branch) => this.judge(branch, value))) return false;
    if (Array.isArray(anyOf) && !anyOf.some((branch) => this.judge(branch, value))) return false;
    if (!Array.isArray(oneOf)) return true;
    return this.minds ? fitting(oneOf) === 1 : fitting(oneOf) > 0;
  }

  private fitsConditions(schema: JsonSchema, value: unknown): boolean {
    if (schema.not !== undefined && this.judge(schema.not, value)) return false;
    if (schema.if === undefined) return true;
    return this.judge(this.judge(schema.if, value) ? schema.then : schema.else, value);
  }

  private fitsDependencies(schema: JsonSchema, value: unknown): boolean {
    if (!isJsonObject(value)) return true;
    const { dependencies, dependentRequired, dependentSchemas } = schema;
    return [dependencies, dependentRequired, dependentSchemas]
      .flatMap((map) => (isJsonObject(map) ? Object.entries(map) : []))
      .filter(([name]) => Object.hasOwn(value, name))
      .every(([, wanted]) =>
        Array.isArray(wanted)
          ? wanted.every((name) => Object.hasOwn(value, String(name)))
          : this.judge(wanted, value),
      );
  }
}

function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const { type, enum: listed } = schema;
  if (type !== undefined && !isOfType(type, value)) return false;
  if ('const' in schema && !hasRepeatedItem([schema.const, value])) return false;
  return !Array.isArray(listed) || listed.some((entry) => hasRepeatedItem([entry, value]));
}

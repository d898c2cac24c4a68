import { isJsonObject, type JsonSchema } from '../json-schema.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { isOfType } from '../walk/loose-fit.js';
import { inPlaceSchemas } from '../walk/schema-view.js';
import { hasRepeatedItem } from '../walk/unique-items.js';

/** One form a value may have: of some types, or one of the allowed values; of anything where neither is given. */
export interface Form {
  readonly types?: readonly string[];
  readonly values?: readonly unknown[];
  /** What is said of the items of a list, at all places together. */
  readonly items?: readonly JsonSchema[];
}

/** More forms than this are not told apart; nobody writes them. */
const MAX_FORMS = 256;

/** The forms of a property: what is said at one place narrows all of its alternatives, and none narrows another. */
export function formsOf(property: unknown, root: JsonSchema, depth = 0): Form[] {
  let forms: Form[] = [{}];
  if (depth > MAX_NESTING) return forms;
  for (const part of inPlaceSchemas(property, root)) {
    forms = forms.map((form) => both(form, ownForm(part)));
    for (const branches of alternativesOf(part)) {
      const others = branches.flatMap((branch) => formsOf(branch, root, depth + 1));
      forms = forms.flatMap((form) => others.map((other) => both(form, other))).slice(0, MAX_FORMS);
    }
  }
  return forms;
}

/** Whether a value of this form may be a list, of whatever items. */
export function takesList({ types, values }: Form): boolean {
  return values === undefined && (types === undefined || types.includes('array'));
}

function alternativesOf({ anyOf, oneOf, if: condition, then, else: other }: JsonSchema): unknown[][] {
  return [anyOf, oneOf, condition === undefined ? undefined : [then, other]].filter((branches) =>
    Array.isArray(branches),
  );
}

function ownForm({ type, enum: listed, items, ...rest }: JsonSchema): Form {
  const types = [type ?? []].flat().filter((name): name is string => typeof name === 'string');
  const values = 'const' in rest ? [rest.const] : Array.isArray(listed) ? (listed as unknown[]) : undefined;
  const typed = types.length > 0 ? { types } : {};
  return both({ ...typed, ...(isJsonObject(items) ? { items: [items] } : {}) }, values ? { values } : {});
}

function both(one: Form, other: Form): Form {
  const types = one.types && other.types ? commonTypes(one.types, other.types) : (one.types ?? other.types);
  const listed =
    one.values && other.values
      ? one.values.filter((value) => other.values!.some((listed) => hasRepeatedItem([value, listed])))
      : (one.values ?? other.values);
  const values = listed?.filter((value) => !types || isOfType([...types], value));
  const items = [...(one.items ?? []), ...(other.items ?? [])];
  return {
    ...(types ? { types } : {}),
    ...(values ? { values } : {}),
    ...(items.length > 0 ? { items } : {}),
  };
}

/** Each integer is a number, so of the two the integer is common. */
function commonTypes(some: readonly string[], others: readonly string[]): string[] {
  const isIn = (type: string, list: readonly string[]) =>
    list.includes(type) || (type === 'integer' && list.includes('number'));
  return [
    ...new Set([...some.filter((type) => isIn(type, others)), ...others.filter((type) => isIn(type, some))]),
  ];
}

/** By name, all that is said of a property at the several places that may describe it. */
export function propertiesOf(schema: JsonSchema): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of inPlaceSchemas(schema, schema)) {
    for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {}))
      found.set(name, [...(found.get(name) ?? []), part]);
  }
  return found;
}

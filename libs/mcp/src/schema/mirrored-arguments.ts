import { formatPath, quoted } from './issue-path.js';
import { type JsonSchema, MIRROR_KEYWORD } from './json-schema.js';
import { MirroredArgumentException } from './unusable-schema.exception.js';
import { mapSubschemas, referencesOf, type SchemaPosition, subschemasOf } from './walk/schema-positions.js';

/** An argument that a client repeats in the header `Mcp-Param-<header>`. */
export interface MirroredArgument {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** A token of RFC 9110, which is what the name of a header is made of. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** A part of a schema: the names that lead to it, and the first keyword on the way that a client does not follow. */
interface Place {
  readonly part: JsonSchema;
  readonly path: readonly string[];
  readonly outside?: string;
}

/** The arguments that a client repeats in headers. Throws a `MirroredArgumentException` for what breaks a rule. */
export function mirroredArguments(schema: JsonSchema): MirroredArgument[] {
  const found: MirroredArgument[] = [];
  for (const place of placesOf(schema)) {
    if (!(MIRROR_KEYWORD in place.part)) continue;
    const mirrored = mirroredArgument(place);
    const twin = found.find(({ header }) => header.toLowerCase() === mirrored.header.toLowerCase());
    if (twin) {
      throw refusal(
        place,
        `the header ${quoted(mirrored.header)} is that of ${formatPath(twin.path)} too, as case does not count; give one of them another name`,
      );
    }
    found.push(mirrored);
  }
  return found;
}

/** The schema without the keyword, for revisions that do not have it; the same object where there is none. */
export function withoutMirrors(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, withoutMirrors);
  if (!(MIRROR_KEYWORD in inner)) return inner;
  const { [MIRROR_KEYWORD]: _, ...rest } = inner;
  return rest;
}

function mirroredArgument(place: Place): MirroredArgument {
  const { part, path, outside } = place;
  const { [MIRROR_KEYWORD]: header, type } = part;
  if (outside !== undefined) {
    throw refusal(
      place,
      `a header is for an argument that "properties" alone lead to, and this one stands under "${outside}"; take the header off, or move the argument`,
    );
  }
  if (path.length === 0) throw refusal(place, 'a header is for one argument; put it on a property');
  if (typeof header !== 'string' || header === '')
    throw refusal(place, 'a header needs a name; write a text such as "Region"');
  if (!TOKEN.test(header)) {
    throw refusal(
      place,
      `${quoted(header)} is no name of a header; write letters, digits and hyphens, such as "Region"`,
    );
  }
  if (!TYPES.includes(type)) {
    throw refusal(
      place,
      `a header is for one text, integer or boolean, and this argument has ${type === undefined ? 'no "type"' : `"type": ${JSON.stringify(type)}`}; declare one of these alone, as by @IsString(), @IsInt() or @IsBoolean(), or take the header off`,
    );
  }
  return { header, path, type: type as MirroredArgument['type'] };
}

/** Every part of a schema, and what references find where no keyword holds a schema. */
function placesOf(schema: JsonSchema): Place[] {
  const places = [...placesUnder({ part: schema, path: [] })];
  const seen = new Set(places.map(({ part }) => part));
  for (const { part, path, outside } of places) {
    for (const target of referencesOf(part, schema)) {
      if (seen.has(target)) continue;
      const found = [...placesUnder({ part: target, path, outside: outside ?? '$ref' })];
      for (const place of found) seen.add(place.part);
      places.push(...found);
    }
  }
  return places;
}

function* placesUnder(place: Place): Generator<Place> {
  yield place;
  for (const [position, subschema] of subschemasOf(place.part)) {
    const outside = place.outside ?? (position.keyword === 'properties' ? undefined : position.keyword);
    yield* placesUnder({
      part: subschema,
      path: [...place.path, ...nameOf(position)],
      ...(outside === undefined ? {} : { outside }),
    });
  }
}

/** Indexes tell nobody which argument is meant. */
function nameOf({ key }: SchemaPosition): string[] {
  return typeof key === 'string' ? [key] : [];
}

function refusal({ path }: Place, problem: string): MirroredArgumentException {
  return new MirroredArgumentException(formatPath(path), problem);
}

import type { CorpusEntry, Json } from './corpus/entry.js';

const deep = (levels: number, wrap: (inner: unknown) => unknown) =>
  Array.from({ length: levels }).reduce((inner) => wrap(inner), null as unknown);

/** One value of each JSON type and the edges between them. What has no literal is read from JSON text. */
const COMMON: readonly unknown[] = [
  '',
  ' ',
  'text',
  '0',
  '1',
  'true',
  'null',
  '2024-01-01T00:00:00Z',
  '☺️☺️',
  '👩‍👩‍👧',
  '\ud83d',
  'ä\u0000\n',
  'long '.repeat(2000),
  0,
  -0,
  1,
  -1,
  1.5,
  2 ** 53,
  1e21,
  1e308,
  JSON.parse('1e400'),
  true,
  false,
  null,
  [],
  {},
  ['text'],
  [1, 1],
  [null],
  [[1], []],
  [{}],
  { name: 'text', length: 1 },
  { '': 1 },
  JSON.parse('{"__proto__": {"admin": true}}'),
  { constructor: { name: 'Object' } },
  { toString: 1, hasOwnProperty: null },
  deep(40, (inner) => [inner]),
  deep(70, (inner) => [inner]),
  deep(40, (inner) => ({ a: inner })),
];

/** Members that no DTO of the corpus knows. */
const UNKNOWN: readonly string[] = ['unknown', '', '__proto__', 'constructor', 'toString'];

/** How many of the accepted arguments further values are made from, and how many places in each. */
const MAX_SEEDS = 2;
const MAX_PLACES = 10;
const RANDOM_VALUES = 12;

type Step = string | number;
type Change = (parent: Record<Step, unknown>, step: Step) => void;

/** All arguments that a DTO of the corpus is judged by, without repetition and always the same. */
export function argumentsFor(entry: CorpusEntry, schema: Json): Json[] {
  const given = [...entry.accepts, ...entry.refuses, ...entry.edges];
  const seeds = entry.accepts.length > 0 ? entry.accepts.slice(0, MAX_SEEDS) : [{}];
  const found = new Map<string, Json>();
  const add = (value: Json) => void found.set(keyOf(value), value);
  given.forEach(add);
  add({});
  const pool = [...COMMON, ...entry.pool, ...literalsOf(schema)];
  for (const [index, seed] of seeds.entries()) {
    // Around the first all of them, around the others a part.
    const values = pool.filter((_, position) => index === 0 || position % 4 === 0);
    for (const value of mutations(seed, values, propertiesOf(schema))) add(value);
  }
  const random = generator(entry.name);
  const base = seeds[0]!;
  for (let count = 0; count < RANDOM_VALUES; count += 1) add(scrambled(base, pool, random));
  return [...found.values()];
}

/** The arguments with one thing changed: each member replaced, left out, and joined by one too many. */
function* mutations(seed: Json, pool: readonly unknown[], properties: readonly string[]): Generator<Json> {
  const places = placesOf(seed);
  for (const name of properties) if (!Object.hasOwn(seed, name)) places.push([name]);
  for (const [index, path] of places.slice(0, MAX_PLACES).entries()) {
    // All of them in the first places, a part, and each time another one, in the rest.
    const values = pool.filter((_, position) => index < 2 || position % 3 === index % 3);
    for (const value of values) yield changed(seed, path, (parent, step) => put(parent, step, value));
    yield changed(seed, path, (parent, step) => remove(parent, step));
    yield changed(seed, path, (parent, step) => put(parent, step, [parent[step]]));
    yield changed(seed, path, (parent, step) => {
      const present = parent[step];
      if (Array.isArray(present)) put(parent, step, [...(present as unknown[]), ...(present as unknown[])]);
    });
    yield changed(seed, path, (parent, step) => {
      const present = parent[step];
      if (isObject(present)) put(present, 'unknown', 1);
    });
  }
  for (const name of UNKNOWN) yield changed(seed, [name], (parent) => put(parent, name, 1));
}

/** Two or three changes at once. */
function scrambled(seed: Json, pool: readonly unknown[], random: () => number): Json {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  let value = seed;
  for (let change = 0; change < 2 + Math.floor(random() * 2); change += 1) {
    const places = placesOf(value);
    const path = places.length === 0 ? ['unknown'] : pick(places);
    const replacement = pick(pool);
    value = changed(value, path, (parent, step) =>
      random() < 0.25 ? remove(parent, step) : put(parent, step, replacement),
    );
  }
  return value;
}

function changed(seed: Json, path: readonly Step[], change: Change): Json {
  const copy = copyOf(seed);
  let parent = copy as Record<Step, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<Step, unknown>;
  change(parent, path.at(-1)!);
  return copy;
}

// An assignment to __proto__ would change the prototype; JSON.parse makes it a member like any other.
function put(parent: Record<Step, unknown>, step: Step, value: unknown): void {
  Object.defineProperty(parent, step, { value, enumerable: true, configurable: true, writable: true });
}

function remove(parent: Record<Step, unknown>, step: Step): void {
  if (Array.isArray(parent)) parent.splice(Number(step), 1);
  else delete parent[step];
}

function placesOf(value: unknown, path: readonly Step[] = []): Step[][] {
  if (typeof value !== 'object' || value === null || path.length > 8) return [];
  const members: (readonly [Step, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, index) => [index, item] as const)
    : Object.entries(value);
  return members.flatMap(([step, member]) => [[...path, step], ...placesOf(member, [...path, step])]);
}

function propertiesOf(schema: Json): string[] {
  return Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
}

/** What the keywords of a schema say is just allowed and just not allowed. */
function literalsOf(schema: unknown): unknown[] {
  const found = new Map<string, unknown>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { enum: values, minLength, maxLength, minItems, maxItems, default: usual } = node as Json;
    const candidates: unknown[] = [];
    if (Array.isArray(values)) candidates.push(...(values as unknown[]));
    for (const length of [minLength, maxLength]) {
      if (typeof length !== 'number') continue;
      for (const size of [length - 1, length, length + 1]) if (size >= 0) candidates.push('😀'.repeat(size));
    }
    for (const keyword of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']) {
      const limit = (node as Json)[keyword];
      if (typeof limit === 'number') candidates.push(limit - 1, limit, limit + 0.5, limit + 1);
    }
    for (const length of [minItems, maxItems]) {
      // Long lists are the business of those who ask for them: all their entries are compared.
      if (typeof length !== 'number' || length > 100) continue;
      for (const size of [length - 1, length, length + 1])
        if (size >= 0) candidates.push(Array.from({ length: size }, (_, index) => index));
    }
    if (usual !== undefined) candidates.push(usual);
    for (const candidate of candidates) found.set(keyOf(candidate), candidate);
    Object.values(node).forEach(visit);
  };
  visit(schema);
  return [...found.values()].slice(0, 40);
}

function isObject(value: unknown): value is Record<Step, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Tells values apart that JSON text does not. */
export function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    Object.is(member, -0) ? '<-0>' : typeof member === 'number' && !Number.isFinite(member) ? '<∞>' : member,
  );
}

/** Numbers from 0 to 1 that only depend on a text. */
function generator(text: string): () => number {
  let state = Array.from(text).reduce((sum, character) => (sum * 31 + character.codePointAt(0)!) | 0, 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A deep copy of what JSON text can hold, with every member its own. Unlike that of structuredClone it is made of
 * this realm's objects, which class-transformer asks for.
 */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item)) as T;
  const copy = {} as Record<Step, unknown>;
  for (const [name, member] of Object.entries(value)) put(copy, name, copyOf(member));
  return copy as T;
}

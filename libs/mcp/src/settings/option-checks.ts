import type { Type } from '@nestjs/common';
import { McpBootException } from '../mcp.exceptions.js';
import { isObject } from '../protocol/json-rpc.js';

/** An option of the module that cannot be meant. */
export class InvalidOptionException extends McpBootException {
  constructor(option: string, problem: string) {
    super(`McpModule: option \`${option}\` ${problem}`);
  }
}

export function listOf<T>(option: string, given: readonly T[] | undefined): readonly T[] {
  if (given === undefined) return [];
  if (Array.isArray(given)) return given as readonly T[];
  throw new InvalidOptionException(option, 'must be a list, also of one');
}

export function objectOf<T extends object>(group: string, given: T | undefined): Partial<T> {
  if (given === undefined) return {};
  if (isObject(given)) return given as Partial<T>;
  throw new InvalidOptionException(group, 'must be an object');
}

/** A name that nothing reads is a typing error, or an option of another version: it would do nothing. */
export function checkNames(group: string, known: readonly string[], given: object): void {
  if (!isObject(given)) throw new InvalidOptionException(group, 'must be an object');
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new InvalidOptionException(
    group ? `${group}.${unknown}` : unknown,
    `is unknown; known are ${known.join(', ')}`,
  );
}

export function oneOf<T extends string>(
  option: string,
  value: T | undefined,
  allowed: readonly [T, ...T[]],
): T {
  if (value === undefined) return allowed[0];
  if (allowed.includes(value)) return value;
  throw new InvalidOptionException(option, `must be one of ${allowed.map((item) => `'${item}'`).join(', ')}`);
}

/** Longer waits would fire at once: the largest delay of a Node timer. */
const MAX_COUNT = 2 ** 31 - 1;

export function counts<T extends { [K in keyof T]: number }>(
  group: string,
  defaults: T,
  given: Partial<T> = {},
  others: readonly string[] = [],
): T {
  checkNames(group, [...Object.keys(defaults), ...others], given);
  const merged = { ...defaults };
  for (const [name, value] of Object.entries(given) as [keyof T & string, number | undefined][]) {
    const path = group ? `${group}.${name}` : name;
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 1 || value > MAX_COUNT) {
      throw new InvalidOptionException(path, `must be an integer from 1 to ${MAX_COUNT}`);
    }
    merged[name] = value as T[typeof name];
  }
  return merged;
}

export const MAX_SECONDS = Math.floor(MAX_COUNT / 1_000);

export function count(
  group: string,
  name: string,
  standard: number,
  given: number | undefined,
  most = MAX_COUNT,
): number {
  if (given === undefined) return standard;
  if (Number.isInteger(given) && given >= 1 && given <= most) return given;
  throw new InvalidOptionException(group ? `${group}.${name}` : name, `must be an integer from 1 to ${most}`);
}

/** A class that has the methods of an interface. */
export function classOf<T>(
  option: string,
  name: string,
  methods: readonly string[],
  given: Type<T> | undefined,
): Type<T> | undefined {
  if (given === undefined) return undefined;
  const { prototype } = (given ?? {}) as { prototype?: Record<string, unknown> };
  if (methods.every((method) => typeof prototype?.[method] === 'function')) return given;
  const list = `${methods.slice(0, -1).join(', ')} and ${methods.at(-1)}`;
  throw new InvalidOptionException(option, `must be a class with the methods ${list} of ${name}`);
}

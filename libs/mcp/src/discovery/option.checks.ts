import type { HandlerMark } from '../decorators/handler.mark.js';
import type { McpIcon } from '../protocol/descriptors.js';
import { isObject } from '../protocol/json-rpc.js';
import { schemaKind } from '../schema/schema-kind.js';
import { InvalidHandlerOptionException } from './boot.exceptions.js';

/** The largest delay of a Node timer, ms. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** What every kind of handler may say of itself. */
export const NAMED_OPTIONS = ['name', 'title', 'description', 'icons', 'meta'] as const;

/** The options of one handler, and how a mistake in them is told. */
export class OptionChecks {
  constructor(
    private readonly kind: HandlerMark['kind'],
    private readonly where: string,
  ) {}

  refuse(option: string, problem: string): never {
    throw new InvalidHandlerOptionException(this.kind, this.where, option, problem);
  }

  /** A name that nothing reads would do nothing. */
  names(known: readonly string[], given: object, group = ''): void {
    const unknown = Object.keys(given).find((name) => !known.includes(name));
    if (unknown !== undefined) this.refuse(`${group}${unknown}`, `is unknown; known are ${known.join(', ')}`);
  }

  /** Texts where they are given. */
  texts(given: Readonly<Record<string, unknown>>, ...names: string[]): void {
    const bad = names.find((name) => given[name] !== undefined && typeof given[name] !== 'string');
    if (bad !== undefined) this.refuse(bad, 'must be a text');
  }

  /** What every kind of handler may say of itself, beside its name. */
  named(given: { title?: unknown; description?: unknown; icons?: unknown; meta?: unknown }): void {
    this.texts(given, 'title', 'description');
    this.icons(given.icons);
    this.object('meta', given.meta);
  }

  private icons(icons: unknown): void {
    if (icons === undefined) return;
    if (!Array.isArray(icons) || !icons.every((icon) => isObject(icon) && typeof icon['src'] === 'string'))
      this.refuse('icons', "must be a list of icons: [{ src: 'https://example.com/icon.png' }]");
    const bad = (icons as McpIcon[]).find(({ src }) => !/^(https|data):/.test(src));
    if (bad)
      this.refuse('icons', `has ${JSON.stringify(bad.src)}: clients load only https: and data: addresses`);
  }

  /** Yes or no where it is given. */
  flags(given: Readonly<Record<string, unknown>>, names: readonly string[], group = ''): void {
    const bad = names.find((name) => given[name] !== undefined && typeof given[name] !== 'boolean');
    if (bad !== undefined) this.refuse(`${group}${bad}`, 'must be true or false');
  }

  timeout(timeout: number | undefined): void {
    if (timeout === undefined || (Number.isInteger(timeout) && timeout > 0 && timeout <= MAX_TIMEOUT)) return;
    this.refuse('timeout', `must be an integer from 1 to ${MAX_TIMEOUT}, in milliseconds`);
  }

  schema(option: string, schema: unknown): void {
    if (schema === undefined) return;
    try {
      schemaKind(schema);
    } catch (error) {
      this.refuse(option, `is of no use: ${(error as Error).message}`);
    }
  }

  oneOf(option: string, value: unknown, allowed: readonly string[]): void {
    if (value === undefined || allowed.includes(value as string)) return;
    const names = allowed.map((name) => `'${name}'`);
    this.refuse(option, `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);
  }

  object(option: string, value: unknown): void {
    if (value !== undefined && !isObject(value)) this.refuse(option, 'must be an object');
  }
}

import type { Type } from '@nestjs/common';
import type {
  McpHttpOptions,
  McpLimits,
  McpModuleOptions,
  McpServerPlacement,
  McpSseOptions,
} from './mcp.options.js';
import { McpBootException } from './mcp.exceptions.js';
import type { McpCaller } from './protocol/call-context.js';
import type { McpEventBus } from './protocol/event-bus.js';
import type { CacheHints, McpCacheHints, ServerIdentity } from './protocol/descriptors.js';
import { ErrorCode } from './protocol/error-codes.js';
import { isObject } from './protocol/json-rpc.js';
import { McpError } from './protocol/mcp-error.js';
import type { McpEventStore } from './protocol/legacy/event-store.js';
import type { McpSessionStore } from './protocol/legacy/session-store.js';
import { REVISIONS, ServedRevisions } from './protocol/versions.js';

/** The options with every default filled in and every mistake refused. */
export interface McpSettings {
  readonly server: ServerIdentity;
  readonly revisions: ServedRevisions;
  readonly limits: McpLimits;
  readonly legacy: 'sessions' | 'stateless' | 'off';
  readonly sessions: { readonly idle: number; readonly max: number; readonly maxPerCaller: number };
  readonly sessionStore: Type<McpSessionStore> | undefined;
  readonly eventStore: Type<McpEventStore> | undefined;
  /** The path that a proxy puts before those of this application; empty without one. */
  readonly publicPath: string;
  readonly pageSize: number;
  readonly cache: CacheHints;
  /** ms between the comments on an open stream. */
  readonly keepAlive: number;
  /** How open streams are kept alive and bounded. */
  readonly streams: {
    readonly keepAlive: number;
    readonly streamBuffer: number;
    readonly streamStall: number;
  };
  readonly bus: Type<McpEventBus> | undefined;
  readonly stateKeys: readonly (string | Uint8Array)[];
  readonly validation: 'auto' | 'own' | 'app';
  readonly readBody: 'after-guards' | 'before-guards';
  readonly responses: 'auto' | 'json';
  readonly allowedHosts: ReadonlySet<string>;
  readonly allowedOrigins: ReadonlySet<string>;
  callerOf(request: unknown): McpCaller | undefined;
}

const MiB = 1024 * 1024;

const LIMITS: McpLimits = {
  body: 4 * MiB,
  line: 10 * MiB,
  depth: 64,
  tokens: 100_000,
  bodyTime: 30_000,
  handlerTime: 60_000,
  inFlight: 1_000,
  inFlightPerChannel: 100,
  streams: 1_024,
  streamsPerCaller: 16,
  streamBuffer: MiB,
  streamStall: 30_000,
  replayEvents: 1_000,
  replayBytes: MiB,
  replayTime: 300_000,
  replayTotal: 64 * MiB,
  resultSize: 8 * MiB,
  stateSize: 32 * 1024,
  rounds: 8,
  stateTime: 600_000,
  askTime: 600_000,
  shutdownGrace: 5_000,
};

const SESSIONS = { idle: 1_800_000, max: 1_000, maxPerCaller: 20 };

/** An option of the module that cannot be meant. */
export class InvalidOptionException extends McpBootException {
  constructor(option: string, problem: string) {
    super(`McpModule: option \`${option}\` ${problem}`);
  }
}

/** The paths of HTTP+SSE as they are registered. */
export interface SsePaths {
  readonly path: string;
  readonly messagesPath: string;
}

/** `mcp`, `/mcp`, `/mcp/` and `//mcp` are one path. */
export function normalisePath(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

/**
 * The paths of HTTP+SSE, where it is on.
 *
 * @param endpoint the path of Streamable HTTP
 */
export function ssePathsOf(sse: McpServerPlacement['sse'], endpoint: string): SsePaths | undefined {
  if (sse === undefined || sse === false) return undefined;
  if (sse !== true && !isObject(sse as unknown))
    throw new InvalidOptionException(
      'sse',
      "must be true, false or { path: 'sse', messagesPath: 'messages' }",
    );
  const given: McpSseOptions = sse === true ? {} : sse;
  checkNames('sse', ['path', 'messagesPath'], given);
  const { path = 'sse', messagesPath = 'messages' } = given;
  const paths = Object.entries({ path: endpoint, 'sse.path': path, 'sse.messagesPath': messagesPath });
  const taken = new Map<string, string>();
  for (const [option, value] of paths) {
    if (typeof value !== 'string') throw new InvalidOptionException(option, 'must be a text');
    // Express takes paths in any case.
    const place = normalisePath(value).toLowerCase();
    const other = taken.get(place);
    if (other !== undefined)
      throw new InvalidOptionException(option, `is the same path as \`${other}\`: each has its own`);
    taken.set(place, option);
  }
  for (const [option, value] of [['sse.path', path] as const, ['sse.messagesPath', messagesPath] as const])
    if (
      !normalisePath(value)
        .split('/')
        .every((segment) => /^[\w.~-]+$/.test(segment))
    )
      throw new InvalidOptionException(
        option,
        `is ${JSON.stringify(value)}: write plain segments, for example 'sse'`,
      );
  return { path: normalisePath(path), messagesPath: normalisePath(messagesPath) };
}

/**
 * Fills in the defaults; throws `InvalidOptionException` for what cannot be meant.
 *
 * @param sse that option, where it does not stand among the others
 */
export function settingsOf(
  options: McpModuleOptions,
  sse: McpServerPlacement['sse'] = options?.sse,
): McpSettings {
  if (!isObject(options))
    throw new InvalidOptionException('name', 'is required: the factory gave no options');
  checkNames('', OPTIONS, options);
  checkNames('http', HTTP_OPTIONS, options.http ?? {});
  checkTexts(options, ['title', 'instructions', 'websiteUrl']);
  for (const name of ['name', 'version'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') {
      throw new InvalidOptionException(
        name,
        "is required: McpModule.forRoot({ name: 'my-api', version: '1.0.0' })",
      );
    }
  }
  const { name, version, title, websiteUrl, icons, instructions, http = {}, caller } = options;
  const { store, events, ...sessions } = objectOf('sessions', options.sessions);
  const legacy = oneOf('legacy', options.legacy, ['sessions', 'stateless', 'off']);
  const revisions = servedRevisions(options.revisions);
  const limits = counts('limits', LIMITS, options.limits);
  const keepAlive = count('http', 'keepAlive', 15, http.keepAlive, MAX_SECONDS) * 1_000;
  checkServed(legacy, revisions, sse);
  checkIcons(icons);
  return {
    server: { name, version, title, websiteUrl, icons, instructions },
    revisions,
    limits,
    legacy,
    sessions: counts('sessions', SESSIONS, sessions, ['store', 'events']),
    sessionStore: classOf('sessions.store', 'McpSessionStore', SESSION_STORE, store),
    eventStore: classOf('sessions.events', 'McpEventStore', EVENT_STORE, events),
    publicPath: publicPath(http.publicUrl),
    pageSize: count('', 'pageSize', 100, options.pageSize),
    cache: cacheHints(options.cache),
    keepAlive,
    streams: { keepAlive, streamBuffer: limits.streamBuffer, streamStall: limits.streamStall },
    bus: classOf('bus', 'McpEventBus', ['publish', 'subscribe'], options.bus),
    stateKeys: stateKeys(options.stateKeys),
    validation: oneOf('validation', options.validation, ['auto', 'own', 'app']),
    readBody: oneOf('http.readBody', http.readBody, ['after-guards', 'before-guards']),
    responses: oneOf('http.responses', http.responses, ['auto', 'json']),
    allowedHosts: new Set(listOf('http.allowedHosts', http.allowedHosts).map(hostName)),
    allowedOrigins: new Set(listOf('http.allowedOrigins', http.allowedOrigins).map(originOf)),
    callerOf: caller === undefined ? defaultCaller : checkedCaller(caller),
  };
}

function servedRevisions(given: readonly string[] = REVISIONS): ServedRevisions {
  const revisions = listOf('revisions', given);
  const unknown = revisions.find((revision) => !REVISIONS.some((known) => known === revision));
  if (unknown !== undefined) {
    throw new InvalidOptionException(
      'revisions',
      `has ${JSON.stringify(unknown)}; known are ${REVISIONS.join(', ')}`,
    );
  }
  if (revisions.length === 0)
    throw new InvalidOptionException('revisions', 'is empty: leave it out to serve all');
  return new ServedRevisions(REVISIONS.filter((revision) => revisions.includes(revision)));
}

/** Hints that a client can go by; what is not said is the safe side. */
function cacheHints(given: McpCacheHints = {}): CacheHints {
  checkNames('cache', ['ttlMs', 'scope'], given);
  const { ttlMs = 0 } = given;
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0)
    throw new InvalidOptionException('cache.ttlMs', 'must be an integer of milliseconds, 0 or more');
  return { ttlMs, scope: oneOf('cache.scope', given.scope, ['private', 'public']) };
}

const SESSION_STORE = ['create', 'get', 'touch', 'update', 'delete', 'count', 'idlest'];
const EVENT_STORE = ['append', 'end', 'keep', 'after', 'drop'];

/** A class that has the methods of an interface. */
function classOf<T>(
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

/** Somebody has to be served. */
function checkServed(
  legacy: McpSettings['legacy'],
  { modern, legacy: older }: ServedRevisions,
  sse: McpModuleOptions['sse'],
): void {
  const isSse = sse !== undefined && sse !== false;
  if (isSse && older.length === 0)
    throw new InvalidOptionException('sse', 'needs a revision before 2026-07-28 in `revisions`');
  if (legacy === 'off' && modern.length === 0 && !isSse)
    throw new InvalidOptionException(
      'legacy',
      "is 'off', and `revisions` has none but legacy ones: nobody is served",
    );
}

const MIN_KEY = 32;

function stateKeys(given: readonly (string | Uint8Array)[] | undefined): readonly (string | Uint8Array)[] {
  const keys = listOf('stateKeys', given);
  for (const key of keys) {
    const isKey = typeof key === 'string' || key instanceof Uint8Array;
    if (!isKey || Buffer.byteLength(key) < MIN_KEY)
      throw new InvalidOptionException(
        'stateKeys',
        `must be texts or bytes of at least ${MIN_KEY} bytes each`,
      );
  }
  return keys;
}

function publicPath(given: string | undefined): string {
  if (given === undefined) return '';
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  // A path with two slashes at its head would be taken for a host.
  const isPlain =
    url?.search === '' && url.hash === '' && url.username === '' && !/^\/\/./.test(url.pathname);
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new InvalidOptionException(
      'http.publicUrl',
      `has ${JSON.stringify(given)}: write scheme, host and path, for example 'https://example.com/helpdesk'`,
    );
  return url.pathname.replace(/\/+$/, '');
}

/** Longer waits would fire at once: the largest delay of a Node timer. */
const MAX_COUNT = 2 ** 31 - 1;

function counts<T extends { [K in keyof T]: number }>(
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

const MAX_SECONDS = Math.floor(MAX_COUNT / 1_000);

function count(
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

const OPTIONS: readonly (keyof McpModuleOptions)[] = [
  'name',
  'version',
  'title',
  'instructions',
  'icons',
  'websiteUrl',
  'revisions',
  'path',
  'sse',
  'http',
  'legacy',
  'sessions',
  'limits',
  'pageSize',
  'cache',
  'bus',
  'stateKeys',
  'validation',
  'caller',
];
const HTTP_OPTIONS: readonly (keyof McpHttpOptions)[] = [
  'allowedHosts',
  'allowedOrigins',
  'readBody',
  'decorators',
  'responses',
  'keepAlive',
  'publicUrl',
];

function listOf<T>(option: string, given: readonly T[] | undefined): readonly T[] {
  if (given === undefined) return [];
  if (Array.isArray(given)) return given as readonly T[];
  throw new InvalidOptionException(option, 'must be a list, also of one');
}

function objectOf<T extends object>(group: string, given: T | undefined): Partial<T> {
  if (given === undefined) return {};
  if (isObject(given)) return given as Partial<T>;
  throw new InvalidOptionException(group, 'must be an object');
}

/** A name that nothing reads is a typing error, or an option of another version: it would do nothing. */
function checkNames(group: string, known: readonly string[], given: object): void {
  if (!isObject(given)) throw new InvalidOptionException(group, 'must be an object');
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new InvalidOptionException(
    group ? `${group}.${unknown}` : unknown,
    `is unknown; known are ${known.join(', ')}`,
  );
}

function oneOf<T extends string>(option: string, value: T | undefined, allowed: readonly [T, ...T[]]): T {
  if (value === undefined) return allowed[0];
  if (allowed.includes(value)) return value;
  throw new InvalidOptionException(option, `must be one of ${allowed.map((item) => `'${item}'`).join(', ')}`);
}

const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?)$/i;

function hostName(host: string): string {
  if (HOST_NAME.test(host)) return host.toLowerCase();
  throw new InvalidOptionException(
    'http.allowedHosts',
    `has ${JSON.stringify(host)}: write a host name without scheme, port and path, for example 'api.example.com'`,
  );
}

function originOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidOptionException(
    'http.allowedOrigins',
    `has ${JSON.stringify(origin)}: write scheme and host, for example 'https://app.example.com'`,
  );
}

function checkTexts(given: McpModuleOptions, names: readonly (keyof McpModuleOptions)[]): void {
  const bad = names.find((name) => given[name] !== undefined && typeof given[name] !== 'string');
  if (bad !== undefined) throw new InvalidOptionException(bad, 'must be a text');
}

function checkIcons(icons: unknown): void {
  if (icons === undefined) return;
  if (!Array.isArray(icons) || !icons.every((icon) => isObject(icon) && typeof icon['src'] === 'string'))
    throw new InvalidOptionException(
      'icons',
      "must be a list of icons: [{ src: 'https://example.com/icon.png' }]",
    );
  const bad = (icons as { src: string }[]).find(({ src }) => !/^(https|data):/.test(src));
  if (bad === undefined) return;
  throw new InvalidOptionException(
    'icons',
    `has ${JSON.stringify(bad.src)}: clients load only https: and data: addresses`,
  );
}

/** What is no caller would leave sessions unbound. */
function checkedCaller(caller: (request: unknown) => McpCaller | undefined): McpSettings['callerOf'] {
  if (typeof caller !== 'function')
    throw new InvalidOptionException(
      'caller',
      'must be a function: (request) => ({ id: request.user.name })',
    );
  return (request) => {
    const found: unknown = caller(request);
    if (found === undefined || found === null) return undefined;
    if (isObject(found) && typeof found['id'] === 'string' && found['id'] !== '')
      return found as unknown as McpCaller;
    throw new McpError(
      ErrorCode.InternalError,
      'Cannot tell who is calling: the option `caller` of McpModule has to return { id } with a text, or undefined.',
    );
  };
}

function defaultCaller(request: unknown): McpCaller | undefined {
  const user = isObject(request) ? request['user'] : undefined;
  if (user === undefined || user === null) return undefined;
  const { sub, id, userId } = user as Record<string, unknown>;
  const found = sub ?? id ?? userId;
  if (typeof found === 'string' || typeof found === 'number' || typeof found === 'bigint')
    return { id: String(found) };
  throw new McpError(
    ErrorCode.InternalError,
    'Cannot tell who is calling: request.user has none of sub, id and userId. Set the option `caller` of McpModule.',
  );
}

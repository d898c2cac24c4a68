import type { Type } from '@nestjs/common';
import type { McpHttpOptions, McpLimits, McpModuleOptions, McpServerPlacement } from './mcp.options.js';
import type { McpCaller } from './protocol/call-origin.js';
import type { McpEventBus } from './protocol/event-bus.js';
import type { CacheHints, McpCacheHints, ServerIdentity } from './protocol/descriptors.js';
import { isObject } from './protocol/json-rpc.js';
import type { McpEventStore } from './protocol/legacy/event-store.js';
import type { McpSessionStore } from './protocol/legacy/session-store.js';
import { REVISIONS, ServedRevisions } from './protocol/versions.js';
import { hostName, originOf, publicPath } from './settings/addresses.js';
import { checkedCaller, defaultCaller } from './settings/caller.js';
import {
  checkNames,
  classOf,
  count,
  counts,
  InvalidOptionException,
  listOf,
  MAX_SECONDS,
  objectOf,
  oneOf,
} from './settings/option-checks.js';

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
  if (given?.length === 0)
    throw new InvalidOptionException('stateKeys', 'has no key: give one, or leave the option out');
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

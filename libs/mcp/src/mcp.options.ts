import type { FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { McpCaller } from './protocol/call-origin.js';
import type { McpEventBus } from './protocol/event-bus.js';
import type { McpCacheHints, McpIcon } from './protocol/descriptors.js';
import type { McpEventStore } from './protocol/legacy/event-store.js';
import type { McpSessionStore } from './protocol/legacy/session-store.js';
import type { McpRevision } from './protocol/versions.js';

/**
 * Limits of what one request, one call or one peer may take. Bytes, counts and milliseconds.
 * @publicApi
 */
export interface McpLimits {
  /** HTTP body, bytes; default 4 MiB. Beyond it: 413. */
  body: number;
  /** One line on stdio, bytes; default 10 MiB. Beyond it: -32600, and the rest of the line is thrown away. */
  line: number;
  /** Nesting of a message; default 64. Beyond it: -32600. */
  depth: number;
  /** Brackets and commas of a message; default 100 000. Beyond it: -32600. */
  tokens: number;
  /** ms until a body has to be there; default 30 000. After it: 408. */
  bodyTime: number;
  /** ms a handler may take; default 60 000. `McpToolOptions.timeout` changes it for one tool. */
  handlerTime: number;
  /** Calls running in this process; default 1 000. Beyond it: 503, on stdio -32600. */
  inFlight: number;
  /** Calls running on one stdio channel; default 100. Beyond it: -32600. */
  inFlightPerChannel: number;
  /** Streams of this process that stay open for changes; default 1 024. Beyond it: 503, on stdio -32600. */
  streams: number;
  /** The same of one caller; default 16. Without a caller only `streams` applies. */
  streamsPerCaller: number;
  /** Bytes that may wait in one stream for its reader; default 1 MiB. Beyond it the connection is closed. */
  streamBuffer: number;
  /** ms in which the reader of a stream may take nothing of what waits; default 30 000. After it the connection is closed. */
  streamStall: number;
  /** Events kept of one stream of a session, for a client whose connection is cut; default 1 000. Beyond it the oldest go. */
  replayEvents: number;
  /** Bytes of the same; default 1 MiB. An answer that alone is larger is not kept: the client is told so instead. */
  replayBytes: number;
  /** ms for which a stream is kept that waits for its client; default 300 000 (5 minutes). */
  replayTime: number;
  /** Bytes of all streams that are kept in the memory of this process; default 64 MiB. Beyond it the oldest go. */
  replayTotal: number;
  /** Bytes of one serialised result; default 8 MiB. Beyond it: -32603. */
  resultSize: number;
  /** Bytes of the sealed state of a call that asks its client, 2026-07-28; default 32 KiB. Beyond it the call fails. */
  stateSize: number;
  /** How often one call may ask; default 8. Beyond it the call fails. */
  rounds: number;
  /** ms that a sealed state can be presented for; default 600 000 (10 minutes). */
  stateTime: number;
  /** ms that a client of an older revision may take to answer; default 600 000 (10 minutes). */
  askTime: number;
  /** ms that running calls get to finish at shutdown; default 5 000. */
  shutdownGrace: number;
}

/** The HTTP endpoint. @publicApi */
export interface McpHttpOptions {
  /**
   * Host names that clients may use beside the loopback ones, for example `['api.example.com']`. Where
   * the socket is not a loopback one, setting this refuses every other name. Default: none.
   */
  allowedHosts?: string[];
  /** Origins of web pages that may call, for example `['https://app.example.com']`. Default: none but loopback ones. */
  allowedOrigins?: string[];
  /**
   * When the body is read: `'after-guards'` (default), so that nobody unknown makes us read; or
   * `'before-guards'`, for guards that verify a signature over `request.rawBody`.
   */
  readBody?: 'after-guards' | 'before-guards';
  /**
   * Decorators of the application put on the endpoint class, for example `[Public(), SkipThrottle()]`.
   * With `forRootAsync` only those that set metadata work, `UseGuards()` and its kind do not.
   */
  decorators?: ClassDecorator[];
  /** `'auto'` (default): JSON, and a stream once something is sent before the result; `'json'`: never a stream. */
  responses?: 'auto' | 'json';
  /**
   * Seconds between the comments that keep an open stream alive; default 15. A call that is silent for so long is
   * answered as a stream too, where `responses` and the client allow it.
   */
  keepAlive?: number;
  /**
   * Where clients find the root of this application when a proxy stands in front, for example
   * `'https://example.com/helpdesk'`. Its path precedes the address that HTTP+SSE tells its clients. Default: as the
   * request says.
   */
  publicUrl?: string;
}

/** Sessions of the revisions before 2026-07-28. @publicApi */
export interface McpSessionOptions {
  /** ms without a request, a running call or an open stream until a session ends; default 1 800 000 (30 minutes). */
  idle?: number;
  /** Sessions in the store; default 1 000. At the cap the longest-idle one that is not busy goes; if all are busy: 503. */
  max?: number;
  /** Sessions of one caller; default 20. Without a caller only `max` applies. */
  maxPerCaller?: number;
  /** Where sessions are kept: a class that is provided somewhere, or that this module makes. Default: in memory. */
  store?: Type<McpSessionStore>;
  /** Where the events of their streams are kept for replay; the same. Default: in memory. */
  events?: Type<McpEventStore>;
}

/** The paths of HTTP+SSE, under the application's global prefix. @publicApi */
export interface McpSseOptions {
  /** GET opens the stream here; default `'sse'`. */
  path?: string;
  /** POST sends messages here; default `'messages'`. */
  messagesPath?: string;
}

/** Needed before an async factory runs, so they stand beside it. @publicApi */
export interface McpServerPlacement {
  /** Route of the endpoint, under the application's global prefix; default `'mcp'`. */
  path?: string;
  /**
   * HTTP+SSE, the transport of 2024-11-05, on paths of its own; default off. Deprecated by the specification: for
   * clients that know nothing else.
   */
  sse?: boolean | McpSseOptions;
}

/**
 * @example McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })
 * @publicApi
 */
export interface McpModuleOptions extends McpServerPlacement {
  /** The server's name for programs. */
  name: string;
  version: string;
  /** The server's name for people. */
  title?: string;
  /** What a model should know before it uses this server. */
  instructions?: string;
  icons?: McpIcon[];
  websiteUrl?: string;
  /** Revisions served; default all five. */
  revisions?: McpRevision[];
  http?: McpHttpOptions;
  /**
   * The revisions before 2026-07-28 on the endpoint: `'sessions'` (default); `'stateless'`, every request alone, so
   * that instances need share nothing, without standing streams, logging and resource subscriptions; or `'off'`.
   */
  legacy?: 'sessions' | 'stateless' | 'off';
  sessions?: McpSessionOptions;
  limits?: Partial<McpLimits>;
  /** Items on a page of a list; default 100. */
  pageSize?: number;
  /**
   * How long clients of 2026-07-28 may keep lists, and for whom; default `{ ttlMs: 0, scope: 'private' }`. `'public'`
   * only where every caller gets the same. `McpResourceOptions.cache` changes it for what is read of one resource.
   */
  cache?: McpCacheHints;
  /**
   * Carries changes between processes, and what concerns sessions that they share: a class that is provided somewhere,
   * or that this module makes. Default: this process alone.
   */
  bus?: Type<McpEventBus>;
  /**
   * Secrets that seal what a call keeps while its client is asked, newest first: the first seals, all open. Texts or
   * bytes, each of at least 32 bytes. Default: random, so that a call can only go on in the process where it began.
   */
  stateKeys?: (string | Uint8Array)[];
  /**
   * Who runs class-transformer and class-validator over a DTO: `'auto'` (default), the application's own
   * `ValidationPipe` where one is bound to it, else the library; `'own'`, always the library, and a `ValidationPipe`
   * passes arguments by; `'app'`, always the application's pipes, and a handler that none reaches is refused at
   * start. The published schema is checked first in every case.
   */
  validation?: 'auto' | 'own' | 'app';
  /**
   * Who is calling, read from the request after guards ran. Default: `request.user`'s `sub`, `id` or
   * `userId`; a `user` with none of them refuses the call.
   */
  caller?: (request: unknown) => McpCaller | undefined;
}

/** @publicApi */
export interface McpModuleAsyncOptions extends McpServerPlacement, Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  /** Called once, at start, with what `inject` names. */
  useFactory: (
    ...deps: never[]
  ) =>
    | Omit<McpModuleOptions, keyof McpServerPlacement>
    | Promise<Omit<McpModuleOptions, keyof McpServerPlacement>>;
}

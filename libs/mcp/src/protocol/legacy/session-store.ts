import type { ListKind } from '../changes.js';
import type { McpLogLevel } from '../client-log.js';
import type { ClientInfo } from '../request-meta.js';
import type { McpRevision } from '../versions.js';

/**
 * What is kept of a legacy session over HTTP: plain JSON, so that it can lie in a database.
 * @publicApi
 */
export interface McpSessionData {
  /** 128 random bits in hexadecimal. */
  readonly id: string;
  /** What `initialize` settled. */
  readonly revision: McpRevision;
  readonly client: ClientInfo;
  /** Id of the caller who opened it; nobody else can use it. Missing where nobody is known. */
  readonly owner?: string;
  /** The lists whose changes `initialize` promised to tell. */
  readonly lists: readonly ListKind[];
  /** Whether the client said `notifications/initialized`. Nothing but answers is sent before. */
  readonly isReady: boolean;
  /** The least level of log messages it wants; none before `logging/setLevel`. */
  readonly logLevel?: McpLogLevel;
  /** Addresses of the resources it follows, each once. */
  readonly followed: readonly string[];
}

/** One thing that a session sets up for itself. @publicApi */
export type McpSessionChange =
  | { readonly isReady: true }
  | { readonly logLevel: McpLogLevel }
  /** An address to add to those that are followed; one that is there already changes nothing. */
  | { readonly follow: string }
  | { readonly unfollow: string };

/** How many sessions may be there at once. @publicApi */
export interface McpSessionCaps {
  readonly max: number;
  /** Of one owner; sessions without one are only counted in all. */
  readonly maxPerCaller: number;
}

/** When a session was used last, in ms since 1970. @publicApi */
export interface McpSessionUse {
  readonly id: string;
  readonly lastUsed: number;
}

/**
 * Where legacy sessions are kept; by default in the memory of this process. A store that several processes share lets
 * each of them serve every session. What it gives is never changed, and what is given to it neither.
 *
 * A session that was not used for the `idle` ms it was last kept for is over, as if it was deleted.
 *
 * `get` and `touch` are called for every message, `touch` every ten seconds for each session at work. Ids are of our
 * making, an `owner` and what is followed may be any text. A call that rejects or throws is answered 500 and logged; one
 * that never answers holds its request, so give the connection a time-out. Close it in `onApplicationShutdown()`: until
 * then calls are being answered.
 * @publicApi
 */
export abstract class McpSessionStore {
  /**
   * Whether other processes use the same sessions; default true. They are then not ended to make room while they were
   * used in the last half minute: another process may be at work for them. A store of one process says false.
   */
  readonly isShared: boolean = true;

  /**
   * Keeps a new session for `idle` ms. The caps are checked and the session kept in one step.
   *
   * @returns false where a cap is reached or the id is taken; nothing is kept then
   */
  abstract create(session: McpSessionData, caps: McpSessionCaps, idle: number): boolean | Promise<boolean>;

  /** The session of that id, if there is one. Looking at it is no use. */
  abstract get(id: string): McpSessionData | undefined | Promise<McpSessionData | undefined>;

  /**
   * The session is used now, and kept for `idle` ms from here.
   *
   * @returns false where it is not there
   */
  abstract touch(id: string, idle: number): boolean | Promise<boolean>;

  /**
   * Changes one thing of a session, in one step, whatever else is changed of it meanwhile. That is no use of it either.
   *
   * @returns false where it is not there
   */
  abstract update(id: string, change: McpSessionChange): boolean | Promise<boolean>;

  /** @returns true to the one who ended it; false where it is not there */
  abstract delete(id: string): boolean | Promise<boolean>;

  /** How many sessions there are: of that owner, or of all. */
  abstract count(owner?: string): number | Promise<number>;

  /** The sessions used longest ago, the longest first, at most `limit`: of that owner, or of all. */
  abstract idlest(
    limit: number,
    owner?: string,
  ): readonly McpSessionUse[] | Promise<readonly McpSessionUse[]>;
}

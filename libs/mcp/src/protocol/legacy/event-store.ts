/** Names one stream of a session. @publicApi */
export interface McpStreamKey {
  /** Id of the session. */
  readonly session: string;
  /** At most 16 characters of `A-Z a-z 0-9 _ -`; never used again in the session. */
  readonly stream: string;
}

/** One event of a stream. @publicApi */
export interface McpStreamEvent {
  /** From 1 on, rising within its stream; a number may be left out. */
  readonly sequence: number;
  /** A JSON-RPC message as JSON text; empty for an event that only opens the stream. */
  readonly message: string;
}

/** How much of one stream is kept, and for how long; the newest event in any case. @publicApi */
export interface McpReplayBounds {
  /** Events; beyond it the oldest go. */
  readonly events: number;
  /** Bytes of all messages; beyond it the oldest go. */
  readonly bytes: number;
  /** ms after its last event until a stream is forgotten, ended or not, unless `keep` or `end` says otherwise. */
  readonly time: number;
}

/** What a client missed of a stream. @publicApi */
export interface McpReplay {
  /** In the order of their numbers. */
  readonly events: readonly McpStreamEvent[];
  /** Whether nothing more comes. */
  readonly isEnded: boolean;
}

/**
 * Keeps what was sent on the streams of legacy sessions, so that a client whose connection was cut gets what it missed;
 * by default in the memory of this process. Plain data, so that it can lie in a database.
 *
 * `append` is called for every event, `keep` every ten seconds for each stream at work, `after` once a second for each
 * client that follows a stream of another process. A call that rejects or throws is logged, and loses what it would have
 * kept; one that never answers holds what waits for it, so give the connection a time-out. Close it in
 * `onApplicationShutdown()`: until then the last answers are kept.
 * Source: Transports, Resumability and Redelivery, 2025-11-25.
 * @publicApi
 */
export abstract class McpEventStore {
  /**
   * Keeps one more event of a stream, which is there from its first one on. May be called again before it resolved: the
   * calls of one stream take effect in their order. One that comes after the stream was forgotten begins it anew, and is
   * forgotten in time.
   */
  abstract append(key: McpStreamKey, event: McpStreamEvent, bounds: McpReplayBounds): void | Promise<void>;

  /**
   * No further event comes; one that comes all the same is not kept as long as the stream is. It is forgotten after
   * `time` ms, where that is 0 at once. May be called again with another time, and for a stream that is not known, which
   * stays unknown.
   */
  abstract end(key: McpStreamKey, time: number): void | Promise<void>;

  /**
   * The stream is still at work: what is kept of it is kept for `time` ms from here. Nothing where it is not known, or
   * has ended.
   */
  abstract keep(key: McpStreamKey, time: number): void | Promise<void>;

  /** The events whose number is higher, as far as they are kept; nothing where the stream is not known. */
  abstract after(key: McpStreamKey, sequence: number): McpReplay | undefined | Promise<McpReplay | undefined>;

  /** The session is over: forgets its streams. */
  abstract drop(session: string): void | Promise<void>;
}

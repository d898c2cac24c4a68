import type { McpLogLevel } from './client-log.js';
import type { JsonObject, RequestId } from './json-rpc.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { ClientInfo } from './request-meta.js';
import type { McpEra, McpRevision } from './versions.js';

/** Who is calling, as the application's guards found out. */
export interface McpCaller {
  /** Sessions and caps are bound to this id. */
  readonly id: string;
  readonly clientId?: string;
  readonly scopes?: string[];
  readonly claims?: unknown;
}

/** Which transport brought a call; `'sse'` is HTTP+SSE of 2024-11-05, `'memory'` one of the application's own, by `McpDispatcher`. */
export type McpTransport = 'http' | 'stdio' | 'sse' | 'memory';

/** What can stay open for changes. */
export interface ChangeOutlet {
  /** Opens the answer as a stream; what it gives sends on it. */
  listen(): (message: string) => void;
}

/** The request's own stream, before its answer. */
export interface CallStream {
  /** Sends a message that may be lost to a client who does not read. Resolves when there is room for more. */
  emit(message: string): void | Promise<void>;
  /**
   * Sends a message that must not be lost.
   *
   * @param instead what is kept of it for a client whose connection is cut, where it is too large to be kept
   */
  send(message: string, instead?: () => string): void;
  /** Closes the connection alone: the client comes back for the answer. Missing where it would not. */
  pause?(): void;
  /** Whether the client is gone and would not come back for what is sent. */
  readonly isLost?: boolean;
}

/** Where a message came from: all that a transport tells the core, made once per message. */
export interface CallOrigin {
  readonly transport: McpTransport;
  readonly era: McpEra;
  readonly revision: McpRevision;
  readonly client: ClientInfo;
  readonly sessionId: string | undefined;
  /** The legacy client behind the message, after its handshake. */
  readonly peer: LegacyPeer | undefined;
  /** What guards see as the request: the framework's own, or the stand-in of stdio. */
  readonly request: unknown;
  /** The framework's response, or nothing on stdio. */
  readonly response: unknown;
  /** Reads the caller from the request as it stands now. */
  callerOf(): McpCaller | undefined;
  /** The way to the client before the answer. Missing where the client or the server wants plain answers. */
  readonly stream: CallStream | undefined;
  /** Gives a stream that stays open for changes; missing where the client takes no stream. */
  readonly outlet: ChangeOutlet | undefined;
}

/** What a call asks for, read from its message. */
export interface CallSubject {
  readonly id: RequestId;
  readonly method: string;
  readonly name: string;
  readonly meta: JsonObject;
  /** JSON token, digits kept. */
  readonly progressToken: string | undefined;
  /** The least level of log messages that the request itself asks for. */
  readonly logLevel: McpLogLevel | undefined;
  /** The request's `params`. */
  readonly params: JsonObject | undefined;
}

import { randomBytes } from 'node:crypto';
import { Channel } from '../in-flight.js';
import type { LegacyPeer } from './legacy-peer.js';
import type { ClientInfo } from '../request-meta.js';
import type { McpRevision } from '../versions.js';

/** One legacy client over HTTP, from `initialize` to DELETE or the idle time-out. */
export class Session extends Channel {
  /** 128 random bits; visible ASCII. Source: Transports, Session Management, 2025-11-25. */
  readonly id = randomBytes(16).toString('hex');
  lastUsed = 0;
  /** Ends the one stream that is open for messages of no request; missing while there is none. */
  endStream: (() => void) | undefined;

  constructor(
    readonly peer: LegacyPeer,
    /** Id of the caller who opened it; nobody else can use it. */
    readonly owner: string | undefined,
    private readonly onEnd: () => void,
  ) {
    super();
  }

  get revision(): McpRevision {
    return this.peer.handshake.revision;
  }

  get client(): ClientInfo {
    return this.peer.handshake.client;
  }

  /** Ends every call and the stream. */
  end(): void {
    this.endAll('cancelled');
    this.endStream?.();
    this.onEnd();
  }
}

export interface SessionLimits {
  /** ms without a request until a session ends. */
  readonly idle: number;
  readonly max: number;
  readonly maxPerCaller: number;
}

/**
 * The sessions of this process, longest idle first. A session that is busy is never ended to make room
 * or for being idle; one whose stream is open makes no room either, but may have been idle for too long. A foreign session is as unknown as one that never was.
 */
export class SessionRegistry {
  private readonly sessions = new Map<string, Session>();
  private readonly perCaller = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: SessionLimits) {}

  get size(): number {
    return this.sessions.size;
  }

  /**
   * Opens a session, making room where a cap is reached; nothing when every session in the way is busy.
   *
   * @param onEnd called once, when the session is over
   */
  open(peer: LegacyPeer, owner: string | undefined, onEnd: () => void): Session | undefined {
    const held = owner === undefined ? 0 : (this.perCaller.get(owner) ?? 0);
    if (held >= this.limits.maxPerCaller && !this.evict((session) => session.owner === owner))
      return undefined;
    if (this.sessions.size >= this.limits.max && !this.evict(() => true)) return undefined;
    const session = new Session(peer, owner, onEnd);
    session.lastUsed = Date.now();
    this.sessions.set(session.id, session);
    if (owner !== undefined) this.perCaller.set(owner, (this.perCaller.get(owner) ?? 0) + 1);
    this.schedule();
    return session;
  }

  /** The caller's session of that id; looking at it counts as use. */
  find(id: string, owner: string | undefined): Session | undefined {
    const session = this.sessions.get(id);
    if (!session || session.owner !== owner) return undefined;
    session.lastUsed = Date.now();
    this.sessions.delete(id);
    this.sessions.set(id, session);
    return session;
  }

  /** Ends a session and every call that runs in it. */
  end(session: Session): void {
    if (!this.sessions.delete(session.id)) return;
    if (session.owner !== undefined) this.release(session.owner);
    session.end();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const session of Array.from(this.sessions.values())) this.end(session);
  }

  private release(owner: string): void {
    const left = (this.perCaller.get(owner) ?? 1) - 1;
    if (left > 0) this.perCaller.set(owner, left);
    else this.perCaller.delete(owner);
  }

  private evict(mayGo: (session: Session) => boolean): boolean {
    for (const session of this.sessions.values()) {
      if (session.isBusy || session.endStream || !mayGo(session)) continue;
      this.end(session);
      return true;
    }
    return false;
  }

  private schedule(): void {
    const oldest = this.sessions.values().next().value;
    if (this.timer || !oldest) return;
    const wait = Math.max(oldest.lastUsed + this.limits.idle - Date.now(), 1);
    this.timer = setTimeout(() => this.sweep(), wait);
    this.timer.unref();
  }

  private sweep(): void {
    this.timer = undefined;
    const now = Date.now();
    for (const session of Array.from(this.sessions.values())) {
      if (session.isBusy) {
        this.sessions.delete(session.id);
        session.lastUsed = now;
        this.sessions.set(session.id, session);
      } else if (session.lastUsed + this.limits.idle <= now) this.end(session);
      else break;
    }
    this.schedule();
  }
}

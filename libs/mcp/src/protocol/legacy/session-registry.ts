import { randomBytes } from 'node:crypto';
import type { ListKind } from '../changes.js';
import { isObject, readId, type NotificationMessage, type ResponseMessage } from '../json-rpc.js';
import { tokenAt } from '../json-scan.js';
import type { McpReplay } from './event-store.js';
import type { Handshake } from './handshake.js';
import { Session, type SessionHost } from './session.js';
import type { McpSessionSignal, SessionSignals } from './session-signals.js';
import type { McpSessionCaps, McpSessionData } from './session-store.js';

/** ms between two tellings of the store that a session is busy, at most. */
const BUSY_INTERVAL = 10_000;
/** ms that a session is left alone which another process may be at work for. */
const SHARED_LEASE = 30_000;
/** ms in which a session counts as just used. */
const FRESH = 1_000;

/** Others may take the room that is made for a session, but not for ever. */
const MAX_TRIES = 16;

const SESSION_ID = /^[0-9a-f]{32}$/;

export interface SessionRegistryOptions extends Omit<SessionHost, 'settled' | 'tell'> {
  readonly caps: McpSessionCaps;
  /** ms without a request until a session ends. */
  readonly idle: number;
  /** The way to the processes that share the sessions. */
  readonly signals: SessionSignals;
}

/**
 * The legacy sessions of this server. Most of them lie in the store; those at work here are held until their last call
 * is answered and their last stream closed, and are neither idle nor ended to make room meanwhile. A foreign session is
 * as unknown as one that never was. Source: Transports, Session Management, 2025-11-25.
 */
export class SessionRegistry implements SessionHost {
  private readonly live = new Map<string, Session>();
  /** Tells its own signals from those of other processes. */
  private readonly process = randomBytes(9).toString('base64url');
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SessionRegistryOptions) {}

  get store() {
    return this.options.store;
  }

  get events() {
    return this.options.events;
  }

  get bounds() {
    return this.options.bounds;
  }

  get replayTime() {
    return this.options.replayTime;
  }

  /** Sessions at work here. */
  get size(): number {
    return this.live.size;
  }

  /** Hears from other processes, where they share the sessions. */
  async start(): Promise<void> {
    if (this.store.isShared) await this.options.signals.open((signal) => this.hear(signal));
  }

  /**
   * Opens a session, making room where a cap is reached.
   *
   * @returns its id; nothing when every session in the way is busy
   */
  async open(
    handshake: Handshake,
    owner: string | undefined,
    lists: readonly ListKind[],
  ): Promise<string | undefined> {
    const { caps, idle } = this.options;
    const { revision, client } = handshake;
    const id = randomBytes(16).toString('hex');
    const data: McpSessionData = {
      id,
      revision,
      client,
      ...(owner === undefined ? {} : { owner }),
      lists,
      isReady: false,
      followed: [],
    };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await this.store.create(data, caps, idle)) return id;
      if (!(await this.makeRoom(owner))) return undefined;
    }
    return undefined;
  }

  /** The caller's session of that id, held until `release` is called. To be asked for is to be used. */
  async find(
    id: string,
    owner: string | undefined,
  ): Promise<{ readonly session: Session; readonly release: () => void } | undefined> {
    const known = this.live.get(id)?.peer.changes;
    const data = await this.lookUp(id, owner);
    if (!data) return undefined;
    let session = this.live.get(id);
    // What was changed here meanwhile may have been missed by that look.
    if (session && session.peer.changes === known) session.peer.refresh(data);
    if (!session) this.live.set(id, (session = new Session(data, this)));
    const release = session.hold();
    this.schedule();
    try {
      await this.touch(session);
    } catch (fault) {
      release();
      throw fault;
    }
    if (!session.isEnded) return { session, release };
    release();
    return undefined;
  }

  /** What is kept of the caller's session. */
  async lookUp(id: string, owner: string | undefined): Promise<McpSessionData | undefined> {
    if (!SESSION_ID.test(id)) return undefined;
    const data = await this.store.get(id);
    return data && data.owner === owner ? data : undefined;
  }

  /** Ends a session, its calls and its streams. False where someone else did. */
  async end(id: string): Promise<boolean> {
    const isOurs = await this.store.delete(id);
    this.finish(id);
    if (this.store.isShared)
      await this.options.signals.send({ kind: 'session', session: id, signal: 'ended' });
    try {
      await this.events.drop(id);
    } catch (fault) {
      // The session is over all the same, and its streams are forgotten in time.
      this.onFault(fault);
    }
    return isOurs;
  }

  /** `notifications/cancelled`, for a call that may run in another process. */
  async cancel(session: Session, { params, source: { text } }: NotificationMessage): Promise<void> {
    if (session.cancel(params, text) || !this.store.isShared) return;
    await this.options.signals.send({
      kind: 'session',
      session: session.id,
      signal: 'cancelled',
      message: text,
    });
  }

  /** An answer to a request of this server, made by a call that may run in another process. */
  async answer(session: Session, message: ResponseMessage): Promise<void> {
    if (session.peer.answer(message) || !this.store.isShared) return;
    const { text } = message.source;
    await this.options.signals.send({
      kind: 'session',
      session: session.id,
      signal: 'answered',
      message: text,
    });
  }

  /** What a client missed of a stream that is not open here. */
  async missed(
    session: Session,
    { stream, sequence }: { readonly stream: string; readonly sequence: number },
  ): Promise<McpReplay | undefined> {
    return this.events.after({ session: session.id, stream }, sequence);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    for (const session of Array.from(this.live.values())) session.end(this.store.isShared);
    this.live.clear();
    await this.options.signals.close();
  }

  join(listener: Parameters<SessionHost['join']>[0]): () => void {
    return this.options.join(listener);
  }

  tell(session: Session, signal: 'opened' | 'closed'): void {
    if (!this.store.isShared) return;
    void this.options.signals.send({ kind: 'session', session: session.id, signal, process: this.process });
  }

  onFault(fault: unknown): void {
    this.options.onFault(fault);
  }

  settled(session: Session): void {
    if (!session.isSettled || this.live.get(session.id) !== session) return;
    this.letGo(session.id);
    if (Date.now() - session.touchedAt > FRESH)
      this.touch(session).catch((fault: unknown) => this.onFault(fault));
  }

  /** A session that is gone from the store was ended elsewhere. */
  private async touch(session: Session): Promise<void> {
    session.touchedAt = Date.now();
    if (!(await this.store.touch(session.id, this.options.idle))) this.finish(session.id);
  }

  private finish(id: string): void {
    const session = this.live.get(id);
    this.letGo(id);
    session?.end();
  }

  private letGo(id: string): void {
    this.live.delete(id);
    if (this.live.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Ends the session that was idle for longest: the owner's, where it is the owner who has too many. */
  private async makeRoom(owner: string | undefined): Promise<boolean> {
    const { caps } = this.options;
    const isOwners = owner !== undefined && (await this.store.count(owner)) >= caps.maxPerCaller;
    // Of one more than can be busy here, one is not.
    const candidates = await this.store.idlest(this.live.size + 1, isOwners ? owner : undefined);
    for (const { id, lastUsed } of candidates) {
      if (this.live.get(id)?.isHeld) continue;
      if (this.store.isShared && Date.now() - lastUsed < SHARED_LEASE) return false;
      await this.end(id);
      return true;
    }
    return false;
  }

  /** Keeps the sessions that are busy here from being taken for idle. */
  private schedule(): void {
    if (this.timer) return;
    this.timer = setInterval(
      () => this.touchHeld(),
      Math.min(BUSY_INTERVAL, Math.ceil(this.options.idle / 2)),
    );
    this.timer.unref();
  }

  private touchHeld(): void {
    for (const session of Array.from(this.live.values())) {
      session.renewStreams();
      if (session.isHeld) this.touch(session).catch((fault: unknown) => this.onFault(fault));
    }
  }

  private hear(signal: McpSessionSignal): void {
    const session = this.live.get(signal.session);
    if (!session) return;
    if (signal.signal === 'ended') return this.finish(session.id);
    if ('process' in signal) {
      // Its own as well: of those that open one at once, all hear the same one last.
      const other = signal.process === this.process ? undefined : signal.process;
      if (signal.signal === 'opened') session.toldBy = other;
      else if (session.toldBy === other) session.toldBy = undefined;
      return;
    }
    const { message: text } = signal;
    const value = parsed(text);
    if (!isObject(value)) return;
    const { params } = value;
    if (signal.signal === 'cancelled') session.cancel(isObject(params) ? params : undefined, text);
    else
      session.peer.answer({ kind: 'response', id: readId(tokenAt(text, ['id'])), source: { text, value } });
  }
}

/** What another process sends may be anything. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

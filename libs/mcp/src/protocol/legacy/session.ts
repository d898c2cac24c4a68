import type { ChangeListener } from '../changes.js';
import { Channel } from '../in-flight.js';
import type { ClientInfo } from '../request-meta.js';
import type { McpRevision } from '../versions.js';
import type { McpEventStore, McpReplayBounds } from './event-store.js';
import { LegacyPeer } from './legacy-peer.js';
import type { McpSessionData, McpSessionStore } from './session-store.js';
import { SessionStream, type EventWriter, type StreamHome } from './session-stream.js';

/** What the sessions of one server share. */
export interface SessionHost {
  readonly store: McpSessionStore;
  readonly events: McpEventStore;
  readonly bounds: McpReplayBounds;
  readonly replayTime: number;
  /** Has a listener told of changes until what it gives is called. */
  join(listener: ChangeListener): () => void;
  /** The newest standing stream of a session is here, or there is none here any more. */
  tell(session: Session, what: 'opened' | 'closed'): void;
  /** Nothing of the session is at work here any more. */
  settled(session: Session): void;
  /** Told of a store that fails. */
  onFault(fault: unknown): void;
}

/** Standing streams that one session may have. */
export const MAX_STANDING = 8;

/** The first revision that has event ids, and the first that opens a stream with one. */
const FIRST_WITH_IDS = '2025-03-26';
const FIRST_TO_PRIME = '2025-11-25';

/**
 * A legacy session at work in this process: its calls and its open streams. What outlives them is in the store.
 * Made when a request needs it, and let go once nothing is held.
 */
export class Session extends Channel implements StreamHome {
  readonly peer: LegacyPeer;
  readonly events: McpEventStore | undefined;
  readonly bounds: McpReplayBounds;
  readonly replayTime: number;
  readonly primes: boolean;
  /** The other process that has the newest stream, and tells the client what there is. */
  toldBy: string | undefined;
  /** When the store was told last that this session is used; ms. */
  touchedAt = 0;
  private holds = 0;
  /** Answers that are not there yet, by the name of their stream. */
  private readonly posts = new Map<string, SessionStream>();
  /** Streams for messages of no request, the newest last, with those whose client may come back. */
  private standing: SessionStream[] = [];
  private leave: (() => void) | undefined;

  constructor(
    private readonly data: McpSessionData,
    private readonly host: SessionHost,
  ) {
    super();
    const { id, revision, client, lists } = data;
    const { store } = host;
    const keeper = {
      update: (change: Parameters<McpSessionStore['update']>[1]) => store.update(id, change),
      ...(store.isShared ? { latest: () => this.latest() } : {}),
    };
    this.peer = new LegacyPeer({ revision, client }, lists, keeper, data);
    this.events = revision >= FIRST_WITH_IDS ? host.events : undefined;
    this.bounds = host.bounds;
    this.replayTime = host.replayTime;
    this.primes = revision >= FIRST_TO_PRIME;
  }

  get id(): string {
    return this.data.id;
  }

  /** The name that its streams are kept by. */
  get session(): string {
    return this.data.id;
  }

  get owner(): string | undefined {
    return this.data.owner;
  }

  get revision(): McpRevision {
    return this.data.revision;
  }

  get client(): ClientInfo {
    return this.data.client;
  }

  /** Whether a request is being served or a stream is open: then it is neither idle nor in anyone's way. */
  get isHeld(): boolean {
    return this.holds > 0;
  }

  /** Whether it came to its end while it was held: nothing more is done in it. */
  get isEnded(): boolean {
    return this.endReason !== undefined;
  }

  /** Whether nothing here needs it. */
  get isSettled(): boolean {
    return this.holds === 0 && this.standing.length === 0;
  }

  /** @returns to be called when the request is answered or the connection closed; again, it does nothing */
  hold(): () => void {
    this.holds++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.holds--;
      if (this.holds === 0) this.host.settled(this);
    };
  }

  /** The stream of an answer, opened when it is needed. */
  answerStream(writer: EventWriter, tooLarge: () => string): SessionStream {
    return new SessionStream(this, 'p', writer, tooLarge);
  }

  /** Opens a standing stream. Of too many the oldest goes, first of those whose client is away. */
  open(writer: EventWriter): SessionStream {
    const stream = new SessionStream(this, 'g', writer);
    this.standing.push(stream);
    if (this.standing.length > MAX_STANDING) {
      const [oldest, ...others] = this.standing;
      const away = others.find((other) => other !== stream && !other.isAttached);
      (oldest!.isAttached ? (away ?? oldest!) : oldest!).end();
    }
    this.leave ??= this.host.join(this.peer);
    this.toldBy = undefined;
    this.host.tell(this, 'opened');
    this.peer.send = (message) => this.tell(message);
    stream.begin();
    // It may have come to its end while the request looked into the store.
    if (this.isEnded) stream.end();
    return stream;
  }

  /** What is kept of its streams is still wanted. */
  renewStreams(): void {
    for (const stream of [...this.posts.values(), ...this.standing]) stream.renew();
  }

  /** The stream of that name, where it is not over. */
  find(name: string): SessionStream | undefined {
    return this.posts.get(name) ?? this.standing.find(({ id }) => id === name);
  }

  opened(stream: SessionStream): void {
    if (!this.standing.includes(stream)) this.posts.set(stream.id, stream);
  }

  closed(stream: SessionStream): void {
    this.posts.delete(stream.id);
    this.standing = this.standing.filter((other) => other !== stream);
    if (this.standing.length > 0) return;
    this.peer.send = undefined;
    if (this.leave) this.host.tell(this, 'closed');
    this.leave?.();
    this.leave = undefined;
    if (this.holds === 0) this.host.settled(this);
  }

  onFault(fault: unknown): void {
    this.host.onFault(fault);
  }

  /**
   * Ends every call, whose streams end with it, and every standing stream.
   *
   * @param goesOn whether it ends in this process alone
   */
  end(goesOn = false): void {
    if (this.isEnded) return;
    // First, so that nothing is written for what waits for the client itself.
    this.peer.close();
    this.shut('cancelled');
    for (const stream of this.standing) {
      if (goesOn) stream.leave();
      else stream.end();
    }
  }

  /**
   * One message, on one stream: the newest whose turn it is on its connection, else the newest that waits for its turn,
   * else the newest whose client may come back.
   */
  private tell(message: string): void {
    if (this.toldBy !== undefined) return;
    const { standing } = this;
    const stream =
      standing.findLast(({ isConnected }) => isConnected) ??
      standing.findLast(({ isAttached }) => isAttached) ??
      standing.at(-1);
    stream?.send(message);
  }

  private async latest(): Promise<McpSessionData | undefined> {
    try {
      return await this.host.store.get(this.id);
    } catch (fault) {
      this.onFault(fault);
      return undefined;
    }
  }
}

import type { ChangeListener, ListKind, McpChange } from '../changes.js';
import { changeMessage } from '../change-messages.js';
import type { McpLogLevel } from '../client-log.js';
import type { ResponseMessage } from '../json-rpc.js';
import { ClientRequests } from './client-requests.js';
import type { Handshake } from './handshake.js';
import type { McpSessionChange } from './session-store.js';

/** Resources that one legacy client may follow. */
export const MAX_FOLLOWED = 1_000;
/** Characters of all their addresses together. */
export const MAX_FOLLOWED_LENGTH = 128 * 1024;

/** What a client set up for itself. */
export interface PeerState {
  readonly isReady: boolean;
  readonly logLevel?: McpLogLevel;
  readonly followed: readonly string[];
}

const NOTHING_SET: PeerState = { isReady: false, followed: [] };

/** Where the state of a client is kept beside the memory of its peer. */
export interface PeerKeeper {
  update(change: McpSessionChange): unknown;
  /** The state as it is now, where another process may have changed it. */
  latest?(): Promise<PeerState | undefined>;
}

/**
 * A legacy client after its handshake: what it set up for itself, and the way to it for messages that belong to no
 * request.
 */
export class LegacyPeer implements ChangeListener {
  /** Sends a message on the peer's standing stream; missing while none is open, and messages are lost then. */
  send: ((message: string) => void) | undefined;
  /** How often something was set up here. */
  changes = 0;
  private isReadyNow = false;
  private level: McpLogLevel | undefined;
  private followed = new Set<string>();
  private followedLength = 0;
  private asked: ClientRequests | undefined;
  /** The list that `followed` was made of last. */
  private known: readonly string[] | undefined;

  constructor(
    readonly handshake: Handshake,
    /** The lists whose changes the handshake promised. */
    private readonly lists: readonly ListKind[],
    private readonly keeper?: PeerKeeper,
    state: PeerState = NOTHING_SET,
  ) {
    this.refresh(state);
  }

  /** Takes over what is kept of this client. */
  refresh({ isReady, logLevel, followed }: PeerState): void {
    this.isReadyNow = isReady;
    this.level = logLevel;
    if (followed === this.known) return;
    this.known = followed;
    this.followed = new Set(followed);
    this.followedLength = followed.reduce((sum, { length }) => sum + length, 0);
  }

  /** The least level of log messages it wants; none before `logging/setLevel`. */
  get logLevel(): McpLogLevel | undefined {
    return this.level;
  }

  /** `logging/setLevel`. */
  async setLogLevel(level: McpLogLevel): Promise<void> {
    this.changes++;
    this.level = level;
    await this.keeper?.update({ logLevel: level });
  }

  /** Whether it said `notifications/initialized`. Nothing but answers is sent before. */
  get isReady(): boolean {
    return this.isReadyNow;
  }

  /** `notifications/initialized`. */
  async becomeReady(): Promise<void> {
    if (this.isReadyNow) return;
    this.changes++;
    this.isReadyNow = true;
    await this.keeper?.update({ isReady: true });
  }

  /** `resources/subscribe`. False where it follows too many already. */
  async follow(uri: string): Promise<boolean> {
    if (this.followed.has(uri)) return true;
    const length = this.followedLength + uri.length;
    if (this.followed.size >= MAX_FOLLOWED || length > MAX_FOLLOWED_LENGTH) return false;
    this.changes++;
    this.followed.add(uri);
    this.followedLength = length;
    await this.keeper?.update({ follow: uri });
    return true;
  }

  /** `resources/unsubscribe`. */
  async unfollow(uri: string): Promise<void> {
    if (!this.followed.delete(uri)) return;
    this.changes++;
    this.followedLength -= uri.length;
    await this.keeper?.update({ unfollow: uri });
  }

  /** The requests of this server to the client. */
  get requests(): ClientRequests {
    return (this.asked ??= new ClientRequests());
  }

  /** An answer to one of them. False where nobody here waits for it. */
  answer(message: ResponseMessage): boolean {
    return this.asked?.answer(message) ?? false;
  }

  /** The client is gone: what it was not asked yet it is not asked any more either. */
  close(): void {
    this.requests.close();
  }

  notify(change: McpChange): void {
    if (!this.send) return;
    if (this.keeper?.latest) void this.notifyLatest(change);
    else this.tell(change);
  }

  /** Another process may have been told what this client wants. */
  private async notifyLatest(change: McpChange): Promise<void> {
    const known = this.changes;
    const state = await this.keeper!.latest!();
    if (state && this.changes === known) this.refresh(state);
    if (state) this.tell(change);
  }

  private tell(change: McpChange): void {
    if (!this.send || !this.isReadyNow) return;
    const isAsked = change.kind === 'list' ? this.lists.includes(change.list) : this.followed.has(change.uri);
    if (isAsked) this.send(changeMessage(change));
  }
}

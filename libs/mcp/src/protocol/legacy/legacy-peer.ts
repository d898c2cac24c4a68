import type { ChangeListener, McpChange } from '../changes.js';
import { changeMessage } from '../change-messages.js';
import type { McpLogLevel } from '../client-log.js';
import type { ServerFeatures } from '../descriptors.js';
import type { Handshake } from './handshake.js';

/** Resources that one legacy client may follow. */
export const MAX_FOLLOWED = 1_000;
/** Characters of all their addresses together. */
export const MAX_FOLLOWED_LENGTH = 128 * 1024;

/**
 * A legacy client after its handshake: what it set up for itself, and the way to it for messages that belong to no
 * request. Lives as long as its session or its pipe.
 */
export class LegacyPeer implements ChangeListener {
  /** The least level of log messages it wants; none before `logging/setLevel`. */
  logLevel: McpLogLevel | undefined;
  /** Whether it said `notifications/initialized`. Nothing but answers is sent before. */
  isReady = false;
  /** Sends a message on the peer's standing stream; missing while none is open, and messages are lost then. */
  send: ((message: string) => void) | undefined;
  private readonly followed = new Set<string>();
  private followedLength = 0;

  constructor(
    readonly handshake: Handshake,
    /** What the handshake promised. */
    private readonly features: ServerFeatures,
  ) {}

  /** `resources/subscribe`. False where it follows too many already. */
  follow(uri: string): boolean {
    if (this.followed.has(uri)) return true;
    const length = this.followedLength + uri.length;
    if (this.followed.size >= MAX_FOLLOWED || length > MAX_FOLLOWED_LENGTH) return false;
    this.followed.add(uri);
    this.followedLength = length;
    return true;
  }

  /** `resources/unsubscribe`. */
  unfollow(uri: string): void {
    if (this.followed.delete(uri)) this.followedLength -= uri.length;
  }

  notify(change: McpChange): void {
    if (!this.send || !this.isReady) return;
    const isAsked = change.kind === 'list' ? this.features[change.list] : this.followed.has(change.uri);
    if (isAsked) this.send(changeMessage(change));
  }
}

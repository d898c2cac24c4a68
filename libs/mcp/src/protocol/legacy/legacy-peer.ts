import type { ChangeListener, McpChange } from '../changes.js';
import { changeMessage } from '../change-messages.js';
import type { McpLogLevel } from '../client-log.js';
import type { ServerFeatures } from '../descriptors.js';
import type { Handshake } from './handshake.js';

/** Resources that one legacy client may follow. */
export const MAX_FOLLOWED = 1_000;

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

  constructor(
    readonly handshake: Handshake,
    /** What the handshake promised. */
    private readonly features: ServerFeatures,
  ) {}

  /** `resources/subscribe`. False where it follows too many already. */
  follow(uri: string): boolean {
    if (this.followed.size >= MAX_FOLLOWED && !this.followed.has(uri)) return false;
    this.followed.add(uri);
    return true;
  }

  /** `resources/unsubscribe`. */
  unfollow(uri: string): void {
    this.followed.delete(uri);
  }

  notify(change: McpChange): void {
    if (!this.send || !this.isReady) return;
    const isAsked = change.kind === 'list' ? this.features[change.list] : this.followed.has(change.uri);
    if (isAsked) this.send(changeMessage(change));
  }
}

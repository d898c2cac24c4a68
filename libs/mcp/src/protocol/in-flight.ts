import { CallLifetime, type EndReason } from './call-lifetime.js';
import { ErrorCode } from './error-codes.js';
import { readId, type JsonObject, type RequestId, type RpcError } from './json-rpc.js';
import { tokenAt } from './json-scan.js';

/** The calls of one peer that share an id space: a stdio pipe or a legacy session. */
export class Channel {
  private readonly running = new Map<string, CallLifetime>();
  /** Requests that stay open for changes, apart from those that work. */
  private readonly listening = new Map<string, CallLifetime>();
  private over: EndReason | undefined;

  constructor(readonly limit: number = Number.POSITIVE_INFINITY) {}

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** What ended the channel: a call that was on its way then ends as those that ran. */
  get endReason(): EndReason | undefined {
    return this.over;
  }

  get isFull(): boolean {
    return this.running.size >= this.limit;
  }

  has(id: RequestId): boolean {
    return this.running.has(id.key) || this.listening.has(id.key);
  }

  add(id: RequestId, lifetime: CallLifetime): void {
    this.running.set(id.key, lifetime);
  }

  remove(id: RequestId): void {
    this.running.delete(id.key);
  }

  /** @returns to be called once it does not listen any more */
  listen(id: RequestId, lifetime: CallLifetime): () => void {
    this.listening.set(id.key, lifetime);
    return () => void this.listening.delete(id.key);
  }

  /**
   * `notifications/cancelled`: ends the call it names. An unknown, finished or malformed reference is
   * ignored. Source: Cancellation, all revisions.
   *
   * @returns whether there was such a call
   */
  cancel(params: JsonObject | undefined, text: string): boolean {
    const reference = params?.['requestId'];
    const token =
      typeof reference === 'string' ? JSON.stringify(reference) : tokenAt(text, ['params', 'requestId']);
    const id = readId(token);
    const lifetime = id && (this.running.get(id.key) ?? this.listening.get(id.key));
    lifetime?.end('cancelled');
    return lifetime !== undefined;
  }

  /** Ends every call, and each that is still on its way. */
  shut(reason: EndReason): void {
    this.over = reason;
    this.endAll(reason);
  }

  endAll(reason: EndReason): void {
    this.running.forEach((lifetime) => lifetime.end(reason));
    this.listening.forEach((lifetime) => lifetime.end(reason));
  }
}

/** Why a request is refused whose id one of the same peer still has. */
export const DUPLICATE_ID = 'Invalid request: a call with this id is still running';

/** How a call came out: what its handler gave, or what ended it first. */
export type CallEnd<T> = { readonly value: T } | { readonly ended: EndReason };

/** The time that a call may take, which stands still while its client is asked. */
class TimeLimit {
  private timer: NodeJS.Timeout | undefined;
  private since = 0;

  constructor(
    private readonly lifetime: CallLifetime,
    private left: number,
  ) {
    lifetime.onPause = (isPaused) => (isPaused ? this.rest() : this.run());
    if (!lifetime.isPaused) this.run();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.lifetime.onPause = undefined;
  }

  private run(): void {
    this.since = performance.now();
    this.timer = setTimeout(() => this.lifetime.end('timeout'), Math.max(this.left, 1));
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.left -= performance.now() - this.since;
  }
}

/**
 * All calls that run in this process, their number bounded, each with its time limit. A slot is freed
 * when the call is answered or ended, even if its handler never settles.
 */
export class InFlight {
  private readonly calls = new Set<CallLifetime>();
  private closing = false;
  private onIdle: (() => void) | undefined;

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.calls.size;
  }

  get isClosing(): boolean {
    return this.closing;
  }

  /** Why no further call is taken now, if so. */
  refusal(id: RequestId, channel: Channel | undefined): (RpcError & { readonly busy: boolean }) | undefined {
    const error = (message: string, busy: boolean) => ({ code: ErrorCode.InvalidRequest, message, busy });
    if (this.closing) return error('The server is shutting down', true);
    if (channel?.has(id)) return error(DUPLICATE_ID, false);
    if (channel?.isFull)
      return error(`Too many calls in flight on this channel: at most ${channel.limit}`, true);
    if (this.calls.size >= this.limit) return error('Too many calls in flight: try again shortly', true);
    return undefined;
  }

  /**
   * Follows one call that was just started: resolves with what it gives, or with what ended it before.
   * Rejects as the call does. Takes a promise, not the work itself: a closure of the work, kept here, ties
   * the whole request to the lifetime, and young-generation collections were seen to cost seven times as much.
   */
  follow<T>(
    id: RequestId,
    lifetime: CallLifetime,
    channel: Channel | undefined,
    timeLimit: number,
    running: Promise<T>,
  ): Promise<CallEnd<T>> {
    if (channel?.endReason) lifetime.end(channel.endReason);
    if (lifetime.endReason) {
      running.catch(() => undefined);
      return Promise.resolve({ ended: lifetime.endReason });
    }
    this.calls.add(lifetime);
    channel?.add(id, lifetime);
    return new Promise((resolve, reject) => {
      const clock = new TimeLimit(lifetime, timeLimit);
      const release = () => {
        clock.stop();
        this.calls.delete(lifetime);
        channel?.remove(id);
        if (this.calls.size === 0) this.onIdle?.();
      };
      lifetime.onEnd = (ended) => {
        release();
        resolve({ ended });
      };
      running.then(
        (value) => {
          if (!lifetime.isOpen) return;
          lifetime.finish();
          release();
          resolve({ value });
        },
        (error: unknown) => {
          if (!lifetime.isOpen) return;
          lifetime.finish();
          release();
          reject(error as Error);
        },
      );
    });
  }

  /** Takes no further calls, waits `grace` ms for those that run, then ends them. */
  async close(grace: number): Promise<void> {
    this.closing = true;
    if (this.calls.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, grace);
        this.onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.calls.forEach((lifetime) => lifetime.end('shutdown'));
  }
}

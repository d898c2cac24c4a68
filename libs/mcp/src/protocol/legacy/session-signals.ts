import type { McpEventBus } from '../event-bus.js';

/**
 * What processes that share their sessions tell each other: a session is over, its newest standing stream is in that
 * process or there no more, the client cancelled a call, or it answered a request of the server. Plain JSON.
 * @publicApi
 */
export type McpSessionSignal = { readonly kind: 'session'; readonly session: string } & (
  | { readonly signal: 'ended' }
  /** `process` names the sender. */
  | { readonly signal: 'opened' | 'closed'; readonly process: string }
  /** `message` is the JSON text of what the client sent. */
  | { readonly signal: 'cancelled' | 'answered'; readonly message: string }
);

/** What a bus brings may come from another version of this library. */
export function isSessionSignal(value: unknown): value is McpSessionSignal {
  const { kind, session, signal, message, process } = (value ?? {}) as Record<string, unknown>;
  if (kind !== 'session' || typeof session !== 'string') return false;
  if (signal === 'opened' || signal === 'closed') return typeof process === 'string';
  return (
    signal === 'ended' || ((signal === 'cancelled' || signal === 'answered') && typeof message === 'string')
  );
}

/** Publishes and hears signals. */
export class SessionSignals {
  private unsubscribe: (() => void | Promise<void>) | undefined;

  constructor(
    private readonly bus: McpEventBus,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  async open(hear: (signal: McpSessionSignal) => void): Promise<void> {
    this.unsubscribe = await this.bus.subscribe((message) => {
      if (isSessionSignal(message)) hear(message);
    });
  }

  async send(signal: McpSessionSignal): Promise<void> {
    try {
      await this.bus.publish(signal);
    } catch (fault) {
      this.onFault(fault);
    }
  }

  async close(): Promise<void> {
    try {
      await this.unsubscribe?.();
    } catch (fault) {
      this.onFault(fault);
    }
    this.unsubscribe = undefined;
  }
}

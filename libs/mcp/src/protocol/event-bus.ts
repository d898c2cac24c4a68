import type { McpChange } from './changes.js';
import type { McpSessionSignal } from './legacy/session-signals.js';

/** What a bus carries: changes, and what concerns sessions that several processes share. Plain JSON. @publicApi */
export type McpBusMessage = McpChange | McpSessionSignal;

/**
 * Carries messages from where they happen to everyone who listens, in this process and, where it is backed by a
 * network, in others. The default knows this process alone.
 *
 * A message that is published reaches the listeners of the same bus as well, once. Session signals hold what one client
 * sent: whoever can read the bus can read it.
 * @publicApi
 */
export abstract class McpEventBus {
  /** Tells a message to every listener in every process. May reject; the failure is logged. */
  abstract publish(message: McpBusMessage): void | Promise<void>;

  /**
   * @param listener told of each message, from wherever it comes; never throws
   * @returns what ends it
   */
  abstract subscribe(
    listener: (message: McpBusMessage) => void,
  ): (() => void | Promise<void>) | Promise<() => void | Promise<void>>;
}

/** The bus of one process. */
export class LocalEventBus extends McpEventBus {
  private readonly listeners = new Set<(message: McpBusMessage) => void>();

  publish(message: McpBusMessage): void {
    this.listeners.forEach((listener) => listener(message));
  }

  subscribe(listener: (message: McpBusMessage) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

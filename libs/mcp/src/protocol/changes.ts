import type { McpEventBus } from './event-bus.js';

/** The lists that can change. Resources and their templates are one. */
export type ListKind = 'tools' | 'resources' | 'prompts';

export const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/**
 * What changed: a list, or the content of one resource. Plain JSON, so that it can travel between processes.
 * @publicApi
 */
export type McpChange =
  { readonly kind: 'list'; readonly list: ListKind } | { readonly kind: 'resource'; readonly uri: string };

/** Someone who may be told of changes, and knows which of them to pass on. */
export interface ChangeListener {
  notify(change: McpChange): void;
}

/**
 * The changes of this server: what happens in one turn of the event loop is told once, and what the bus brings is
 * passed on to those who listen.
 */
export class ChangeFeed {
  private readonly listeners = new Set<ChangeListener>();
  private pending = new Map<string, McpChange>();
  private flush: NodeJS.Immediate | undefined;
  private unsubscribe: (() => void | Promise<void>) | undefined;

  /** @param onFault told of a bus that fails */
  constructor(
    private readonly bus: McpEventBus,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  get size(): number {
    return this.listeners.size;
  }

  async open(): Promise<void> {
    this.unsubscribe = await this.bus.subscribe((change) => {
      if (isChange(change)) this.listeners.forEach((listener) => listener.notify(change));
    });
  }

  /** Publishes at the end of this turn; the same change again in this turn is no further one. */
  announce(change: McpChange): void {
    this.pending.set(change.kind === 'list' ? `list ${change.list}` : `resource ${change.uri}`, change);
    this.flush ??= setImmediate(() => this.publish());
  }

  /** @returns what ends it */
  add(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.flush) clearImmediate(this.flush);
    this.flush = undefined;
    this.listeners.clear();
    try {
      await this.unsubscribe?.();
    } catch (fault) {
      this.onFault(fault);
    }
  }

  private publish(): void {
    const changes = this.pending;
    this.flush = undefined;
    this.pending = new Map();
    for (const change of changes.values()) void this.send(change);
  }

  private async send(change: McpChange): Promise<void> {
    try {
      await this.bus.publish(change);
    } catch (fault) {
      this.onFault(fault);
    }
  }
}

/** What a bus brings may come from another version of this library. */
function isChange(value: unknown): value is McpChange {
  const { kind, list, uri } = (value ?? {}) as Record<string, unknown>;
  return kind === 'list'
    ? (LISTS as readonly unknown[]).includes(list)
    : kind === 'resource' && typeof uri === 'string';
}

import { EndHeap } from './end-heap.js';

/** What an `ExpiringMap` knows of each of its values; nobody else writes it. */
export abstract class Expiring {
  key = '';
  /** ms since 1970, as is the next. */
  usedAt = 0;
  /** It is over from then on. */
  end = 0;
  /** Where it is in the order of ends. */
  place = -1;
}

/** The longest that a timer can wait. */
const MAX_WAIT = 2 ** 31 - 1;

/**
 * Values that are over a while after they were used last, in the order of that use. One that is over is never seen,
 * whether the timer has taken it out yet or not.
 *
 * There is one timer, for all. Since each value may be kept for another while, the order of use is not the order of
 * ends, which has a heap of its own: a look costs no more than what it takes out.
 */
export class ExpiringMap<V extends Expiring> {
  private readonly values = new Map<string, V>();
  private readonly ends = new EndHeap<V>();
  /** Nothing is over before. */
  private due = Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** @param onExpired called with each value that is over, when it is taken out */
  constructor(private readonly onExpired: (value: V) => void) {}

  size(now: number): number {
    this.sweep(now);
    return this.values.size;
  }

  /** Those used longest ago first. */
  entries(now: number): MapIterator<[string, V]> {
    this.sweep(now);
    return this.values.entries();
  }

  get(key: string, now: number): V | undefined {
    this.sweep(now);
    return this.values.get(key);
  }

  /** The value is used now, and over `span` ms from here. */
  keep(key: string, value: V, span: number, now: number): void {
    const former = this.values.get(key);
    if (former && former !== value) this.ends.remove(former);
    value.key = key;
    value.usedAt = now;
    value.end = now + span;
    this.values.delete(key);
    this.values.set(key, value);
    this.ends.put(value);
    if (value.end < this.due) this.wait(value.end, now);
  }

  delete(key: string): boolean {
    const value = this.values.get(key);
    if (!value) return false;
    this.values.delete(key);
    this.ends.remove(value);
    if (this.values.size === 0) this.wait(Infinity, 0);
    return true;
  }

  clear(): void {
    this.values.clear();
    this.ends.clear();
    this.wait(Infinity, 0);
  }

  private sweep(now: number): void {
    if (now < this.due) return;
    let first = this.ends.first;
    while (first && first.end <= now) {
      this.values.delete(first.key);
      this.ends.remove(first);
      this.onExpired(first);
      first = this.ends.first;
    }
    this.wait(first?.end ?? Infinity, now);
  }

  private wait(due: number, now: number): void {
    clearTimeout(this.timer);
    this.due = due;
    this.timer =
      due === Infinity
        ? undefined
        : setTimeout(() => this.wake(), Math.min(Math.max(due - now, 1), MAX_WAIT)).unref();
  }

  /** A timer may be early, by a millisecond of the clock or by much where it could not wait for longer. */
  private wake(): void {
    const now = Date.now();
    if (now < this.due) this.wait(this.due, now);
    else this.sweep(now);
  }
}

/** What an `ExpiringMap` knows of each of its values; nobody else writes it. */
export abstract class Expiring {
  /** ms since 1970. */
  usedAt = 0;
  /** ms from there until it is over. */
  span = 0;
}

/** The longest that a timer can wait. */
const MAX_WAIT = 2 ** 31 - 1;

/**
 * Values that are over a while after they were used last, in the order of that use. One that is over is never seen,
 * whether the timer has taken it out yet or not.
 *
 * There is one timer, for all. Since each value may be kept for another while, the order of use is not the order of
 * ends; but nothing ends before the least of those whiles, so that a look from the front can stop early: at once, where
 * all are the same.
 */
export class ExpiringMap<V extends Expiring> {
  private readonly values = new Map<string, V>();
  /** The least `span` that was given since the map was empty. */
  private leastSpan = Infinity;
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
    const value = this.values.get(key);
    // Never wrong, but for a clock that was set back since: then the look from the front may have stopped too early.
    if (!value || now < value.usedAt + value.span) return value;
    this.delete(key);
    this.onExpired(value);
    return undefined;
  }

  /** The value is used now, and over `span` ms from here. */
  keep(key: string, value: V, span: number, now: number): void {
    value.usedAt = now;
    value.span = span;
    this.values.delete(key);
    this.values.set(key, value);
    this.leastSpan = Math.min(this.leastSpan, span);
    if (now + span < this.due) this.wait(now + span, now);
  }

  delete(key: string): boolean {
    const isThere = this.values.delete(key);
    if (this.values.size === 0) this.clear();
    return isThere;
  }

  clear(): void {
    this.values.clear();
    this.leastSpan = Infinity;
    this.wait(Infinity, 0);
  }

  private sweep(now: number): void {
    if (now < this.due) return;
    let due = Infinity;
    for (const [key, value] of this.values) {
      const soonest = value.usedAt + this.leastSpan;
      const end = value.usedAt + value.span;
      if (end <= now) {
        this.values.delete(key);
        this.onExpired(value);
      } else due = Math.min(due, soonest > now ? soonest : end);
      if (soonest > now) break;
    }
    if (this.values.size === 0) this.clear();
    else this.wait(due, now);
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

/** What has an end, and a place among others, which only the heap writes; -1 outside of it. */
export interface Ending {
  readonly end: number;
  place: number;
}

/** The one that ends first is at hand, whatever their ends: a binary heap that knows where each of them is. */
export class EndHeap<V extends Ending> {
  private readonly items: V[] = [];

  get first(): V | undefined {
    return this.items[0];
  }

  /** Takes one in, or to its new place after its end was changed. */
  put(item: V): void {
    if (item.place < 0) item.place = this.items.push(item) - 1;
    this.rise(item);
    this.sink(item);
  }

  remove(item: V): void {
    const { place } = item;
    const last = this.items.pop()!;
    item.place = -1;
    if (last === item) return;
    this.set(last, place);
    this.put(last);
  }

  clear(): void {
    for (const item of this.items) item.place = -1;
    this.items.length = 0;
  }

  private rise(item: V): void {
    while (item.place > 0) {
      const above = this.items[(item.place - 1) >> 1]!;
      if (above.end <= item.end) return;
      this.swap(above, item);
    }
  }

  private sink(item: V): void {
    for (;;) {
      const left = this.items[2 * item.place + 1];
      const right = this.items[2 * item.place + 2];
      const below = left && right && right.end < left.end ? right : left;
      if (!below || item.end <= below.end) return;
      this.swap(item, below);
    }
  }

  /** @param upper the one above, which goes below */
  private swap(upper: V, lower: V): void {
    const { place } = upper;
    this.set(upper, lower.place);
    this.set(lower, place);
  }

  private set(item: V, place: number): void {
    this.items[place] = item;
    item.place = place;
  }
}

/** How many streams may be open that wait for changes. */
export interface StreamLimits {
  readonly streams: number;
  readonly streamsPerCaller: number;
}

/** The streams of this process that stay open for changes: counted, and ended together at shutdown. */
export class OpenStreams {
  private readonly ends = new Set<() => void>();
  private readonly perCaller = new Map<string, number>();
  private isClosing = false;

  constructor(private readonly limits: StreamLimits) {}

  get size(): number {
    return this.ends.size;
  }

  /** Why no further stream is opened for that caller, if so. */
  refusal(caller: string | undefined): string | undefined {
    const { streams, streamsPerCaller } = this.limits;
    if (this.isClosing) return 'The server is shutting down';
    if (caller !== undefined && (this.perCaller.get(caller) ?? 0) >= streamsPerCaller)
      return `Too many open streams: at most ${streamsPerCaller} for one caller`;
    return this.ends.size >= streams ? 'Too many open streams: try again later' : undefined;
  }

  /**
   * @param end called at shutdown
   * @returns to be called once the stream is closed
   */
  add(caller: string | undefined, end: () => void): () => void {
    this.ends.add(end);
    if (caller !== undefined) this.perCaller.set(caller, (this.perCaller.get(caller) ?? 0) + 1);
    return () => {
      if (!this.ends.delete(end) || caller === undefined) return;
      const left = (this.perCaller.get(caller) ?? 1) - 1;
      if (left > 0) this.perCaller.set(caller, left);
      else this.perCaller.delete(caller);
    };
  }

  /** Takes no further streams and ends those that are open. */
  close(): void {
    this.isClosing = true;
    for (const end of Array.from(this.ends)) end();
  }
}

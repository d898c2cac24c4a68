import type { EventWriter } from '../../libs/mcp/src/protocol/legacy/session-stream.js';

/** One event as it was written; `message` is missing where it has none. */
export interface WrittenEvent {
  readonly id?: string;
  readonly message?: string;
}

/** A connection that keeps what is written to it, and whose reader does what a test wants. */
export class RecordingWriter implements EventWriter {
  readonly written: WrittenEvent[] = [];
  hasRoom = true;
  /** Whether what is written goes out at once. */
  isConnected = true;
  /** Whether the client knows that the stream is there. */
  isBegun = false;
  /** Whether the server ended it; false where it was cut. */
  isEnded = false;
  private isCut = false;
  private onTaken: (() => void) | undefined;
  private readonly waiting: (() => void)[] = [];

  get isOver(): boolean {
    return this.isEnded || this.isCut;
  }

  get messages(): string[] {
    return this.written.flatMap(({ message }) => message ?? []);
  }

  get ids(): (string | undefined)[] {
    return this.written.map(({ id }) => id);
  }

  begin(): void {
    if (!this.isOver) this.isBegun = true;
  }

  prime(id: string): void {
    this.write({ id });
  }

  async emit(message: string, id?: string): Promise<void> {
    this.put(message, id);
    await this.drained();
  }

  put(message: string, id?: string): void {
    this.write(id === undefined ? { message } : { message, id });
  }

  drained(): Promise<void> {
    if (this.hasRoom || this.isOver) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  end(message?: string, id?: string, onTaken?: () => void): void {
    if (this.isOver) return;
    if (message !== undefined) this.put(message, id);
    // Nobody was told of a stream: nothing is there to be ended.
    if (!this.isBegun) return;
    this.onTaken = onTaken;
    this.isEnded = true;
    this.wake();
  }

  /** The last bytes were handed to the connection. */
  take(): void {
    this.onTaken?.();
  }

  /** The connection breaks. */
  cut(): void {
    this.isCut = true;
    this.wake();
  }

  /** The reader catches up. */
  read(): void {
    this.hasRoom = true;
    this.wake();
  }

  private write(event: WrittenEvent): void {
    if (this.isOver) return;
    this.isBegun = true;
    this.written.push(event);
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

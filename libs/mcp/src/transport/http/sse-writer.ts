import type { ServerResponse } from 'node:http';
import type { HttpExchange } from './http-exchange.js';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * The answer to one request as server-sent events, opened by the first message.
 * Source: Streamable HTTP, Sending Messages to the Server, all revisions.
 */
export class SseWriter {
  private stream: ServerResponse | undefined;

  constructor(private readonly exchange: HttpExchange) {}

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  /**
   * Sends a message that may be lost. Waits until a slow reader has room again; what is sent meanwhile
   * without waiting is dropped, so that nothing piles up.
   */
  async emit(message: string): Promise<void> {
    if (this.exchange.raw.destroyed || this.stream?.writableNeedDrain) return;
    const stream = this.open();
    if (!stream.write(event(message))) await drained(stream);
  }

  /** Sends the last message and ends the stream; without one it just ends. */
  end(message: string | undefined): void {
    if (this.exchange.raw.destroyed) return;
    if (message === undefined) this.stream?.end();
    else this.open().end(event(message));
  }

  private open(): ServerResponse {
    this.stream ??= this.exchange.openStream(STREAM_HEADERS);
    return this.stream;
  }
}

/** A message is JSON on one line, so it is one `data` field. */
function event(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

function drained(stream: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

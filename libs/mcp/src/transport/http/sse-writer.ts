import type { ServerResponse } from 'node:http';
import { BURST_ROOM } from '../burst-room.js';
import type { HttpExchange } from './http-exchange.js';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** How a stream is kept alive, and how much of it may wait for its reader. */
export interface StreamOptions {
  /** ms between comments. */
  readonly keepAlive: number;
  /** Bytes that may be unread. */
  readonly streamBuffer: number;
}

/**
 * Server-sent events as the answer to one request, opened by the first message.
 * Source: Streamable HTTP, Sending Messages to the Server, all revisions.
 */
export class SseWriter {
  private stream: ServerResponse | undefined;
  private stopKeepAlive: (() => void) | undefined;
  private drained: Promise<void> | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    private readonly options: StreamOptions,
  ) {}

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  /**
   * Sends a message that may be lost. Waits until a slow reader has room again; of what is sent meanwhile
   * without waiting a little is kept and the rest dropped, so that nothing piles up.
   */
  async emit(message: string): Promise<void> {
    if (this.isOver || (this.stream?.writableLength ?? 0) > BURST_ROOM) return;
    const stream = this.open();
    if (stream.write(event(message))) return;
    await (this.drained ??= this.drain(stream));
  }

  /** Opens the stream before there is a message: its client knows at once that it is there. */
  begin(): void {
    this.open().flushHeaders();
  }

  /** Sends a message that is not dropped: a client that lets too much wait loses the stream, and knows. */
  send(message: string): void {
    if (this.isOver) return;
    const stream = this.open();
    if (stream.writableLength > this.options.streamBuffer) stream.destroy();
    else stream.write(event(message));
  }

  /** Sends the last message and ends the stream; without one it just ends. */
  end(message: string | undefined): void {
    if (!this.isOver) {
      if (message === undefined) this.stream?.end();
      else this.open().end(event(message));
    }
    this.stopKeepAlive?.();
  }

  /** Whether nothing can be written any more: one write too many would end the process. A slow reader may still read. */
  private get isOver(): boolean {
    const { raw, message } = this.exchange;
    return raw.destroyed || raw.writableEnded || message.socket.destroyed;
  }

  private open(): ServerResponse {
    if (this.stream) return this.stream;
    const stream = this.exchange.openStream(STREAM_HEADERS);
    // Proxies close what is silent; a comment is no message.
    const timer = setInterval(() => {
      if (!this.isOver && !stream.writableNeedDrain) stream.write(':\n\n');
    }, this.options.keepAlive);
    timer.unref();
    const stop = () => clearInterval(timer);
    this.stopKeepAlive = stop;
    stream.once('close', stop).once('finish', stop);
    return (this.stream = stream);
  }

  /** Resolves when there is room again, or nobody who reads: a response that waits behind others is not told of that. */
  private drain(stream: ServerResponse): Promise<void> {
    const { socket } = this.exchange.message;
    return new Promise((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done);
        socket.off('close', done);
        this.drained = undefined;
        resolve();
      };
      stream.on('drain', done).on('close', done);
      socket.on('close', done);
    });
  }
}

/** A message is JSON on one line, so it is one `data` field. */
function event(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

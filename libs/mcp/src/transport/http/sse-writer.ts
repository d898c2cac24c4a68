import type { ServerResponse } from 'node:http';
import { BURST_ROOM } from '../burst-room.js';
import { onSocketClose } from './disconnects.js';
import type { HttpExchange } from './http-exchange.js';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** How a stream is kept alive, and how much of it may wait for its reader, for how long. */
export interface StreamOptions {
  /** ms between comments. */
  readonly keepAlive: number;
  /** Bytes that may be unread. */
  readonly streamBuffer: number;
  /** ms in which the reader may take nothing of what waits. */
  readonly streamStall: number;
}

/** ms after which a client whose stream was closed is asked to come back. */
const COME_BACK = 1_000;

/**
 * Server-sent events as the answer to one request, opened by the first message.
 * Source: Streamable HTTP, Sending Messages to the Server, all revisions.
 */
export class SseWriter {
  private stream: ServerResponse | undefined;
  private beat: NodeJS.Timeout | undefined;
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    private readonly options: StreamOptions,
  ) {}

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  /** Whether nothing can be written any more: one write too many would end the process. A slow reader may still read. */
  get isOver(): boolean {
    const { raw, message } = this.exchange;
    return raw.destroyed || raw.writableEnded || message.socket.destroyed;
  }

  /** Whether it is this response's turn on its connection: a pipelined one waits until all before it are sent. */
  get isConnected(): boolean {
    return this.exchange.raw.socket !== null;
  }

  /** Whether what may be lost is worth sending: of it, a burst of one moment may wait. */
  get hasRoom(): boolean {
    return (this.stream?.writableLength ?? 0) <= BURST_ROOM;
  }

  /** Opens the stream before there is a message: its client knows at once that it is there. */
  begin(): void {
    if (!this.isOver) this.open().flushHeaders();
  }

  /** An event without a message, whose id the client can come back with, and when it should. */
  prime(id: string): void {
    this.write(`id: ${id}\nretry: ${COME_BACK}\ndata:\n\n`);
  }

  /** Another kind of event than a message. */
  announce(name: string, data: string): void {
    this.write(`event: ${name}\ndata: ${data}\n\n`);
  }

  /**
   * Sends a message that may be lost. Waits until a slow reader has room again; of what is sent meanwhile
   * without waiting a little is kept and the rest dropped, so that nothing piles up.
   */
  async emit(message: string, id?: string): Promise<void> {
    if (this.isOver || !this.hasRoom || this.write(event(message, id))) return;
    await this.drained();
  }

  send(message: string): void {
    this.put(message);
  }

  /** Sends a message that is not dropped: a client that lets too much wait loses the connection, and knows. */
  put(message: string, id?: string): void {
    if (this.isOver) return;
    const stream = this.open();
    if (stream.writableLength > this.options.streamBuffer) stream.destroy();
    else this.write(event(message, id));
  }

  /** Sends the last message and ends the stream; without one it just ends. */
  end(message?: string, id?: string, onTaken?: () => void): void {
    clearInterval(this.beat);
    if (this.isOver || (message === undefined && !this.stream)) return;
    const stream = this.open();
    // Not by `end()` itself: compressing middleware takes what it is given there for the message.
    if (onTaken) stream.once('finish', onTaken);
    if (message === undefined) stream.end();
    else stream.end(event(message, id));
  }

  /** Resolves when there is room again, or nobody who reads: a response that waits behind others is not told of that. */
  drained(): Promise<void> {
    const { stream } = this;
    if (!stream?.writableNeedDrain || this.isOver) return Promise.resolve();
    return (this.waiting ??= new Promise((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done);
        unwatch();
        this.waiting = undefined;
        resolve();
      };
      stream.on('drain', done).on('close', done);
      const unwatch = onSocketClose(this.exchange.message.socket, done);
    }));
  }

  /** @returns whether there is room for more */
  private write(text: string): boolean {
    if (this.isOver) return true;
    const stream = this.open();
    const hasRoom = stream.write(text);
    // A compressing middleware would hold it back.
    flush(stream);
    return hasRoom;
  }

  private open(): ServerResponse {
    if (this.stream) return this.stream;
    const { keepAlive, streamStall } = this.options;
    const stream = this.exchange.openStream(STREAM_HEADERS);
    // Proxies close what is silent; a comment is no message.
    this.beat = setInterval(() => {
      if (!stream.writableNeedDrain) this.write(':\n\n');
    }, keepAlive);
    this.beat.unref();
    const stop = () => clearInterval(this.beat);
    stream.once('close', stop);
    this.exchange.cutWhenStalled(streamStall);
    return (this.stream = stream);
  }
}

function flush(stream: ServerResponse & { flush?: unknown }): void {
  if (typeof stream.flush === 'function') stream.flush();
}

/** A message is JSON on one line, so it is one `data` field. */
function event(message: string, id: string | undefined): string {
  return `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${message}\n\n`;
}

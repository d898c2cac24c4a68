import type { ChangeOutlet } from '../../protocol/call-context.js';
import type { HttpExchange } from './http-exchange.js';
import type { Acceptance } from './media-types.js';
import { SseWriter, type StreamOptions } from './sse-writer.js';
import { RETRY } from './http-refusal.js';

/** The answer to one request: plain JSON, or a stream from the moment something precedes the result. */
export class ReplyStream implements ChangeOutlet {
  private readonly writer: SseWriter;
  /** Sends a message before the answer; missing where the answer has to be plain JSON. */
  readonly emit: ((message: string) => Promise<void>) | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    private readonly acceptance: Acceptance,
    mayStream: boolean,
    options: StreamOptions,
  ) {
    this.writer = new SseWriter(exchange, options);
    this.emit = acceptance.stream && mayStream ? (message) => this.writer.emit(message) : undefined;
  }

  /** The answer as a stream that stays open for changes; missing where the client takes none. */
  get changes(): ChangeOutlet | undefined {
    return this.acceptance.stream ? this : undefined;
  }

  listen(): (message: string) => void {
    this.writer.begin();
    return (message) => this.writer.send(message);
  }

  answer(message: string, status: number): void {
    if (this.writer.isOpen) this.writer.end(message);
    else if (this.exchange.isAnswered || this.exchange.raw.destroyed) return;
    else if (status === 200 && !this.acceptance.json) this.writer.end(message);
    else this.exchange.send(status, message, status === 503 ? RETRY : undefined);
  }

  /** The call was cancelled: the stream ends without an answer, a plain exchange with an empty one. */
  endUnanswered(): void {
    if (this.writer.isOpen) this.writer.end(undefined);
    else if (!this.exchange.isAnswered && !this.exchange.raw.destroyed) this.exchange.send(204, undefined);
  }
}

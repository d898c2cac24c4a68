import type { CallStream, ChangeOutlet } from '../../protocol/call-origin.js';
import type { HttpExchange } from './http-exchange.js';
import type { Acceptance } from './media-types.js';
import { RETRY } from './http-refusal.js';

/** The answer to a request in the form of a stream, on whatever connections. */
export interface AnswerStream extends CallStream {
  readonly isOpen: boolean;
  begin(): void;
  end(message?: string): void;
  /** Resolves when there is room again, or nobody who reads. */
  drained(): Promise<void>;
}

export interface ReplyOptions {
  readonly responses: 'auto' | 'json';
  /** ms of silence after which an answer is a stream, which can be kept alive. */
  readonly keepAlive: number;
  readonly limits: {
    /** ms in which the reader may take nothing of what waits. */
    readonly streamStall: number;
  };
}

/** Characters beyond which an answer may wait for its reader. */
const LARGE = 64 * 1024;

/** The answer to one request: plain JSON, or a stream from the moment something precedes the result. */
export class ReplyStream implements ChangeOutlet {
  /** The way to the client before the answer; missing where the answer has to be plain JSON. */
  readonly early: CallStream | undefined;
  private readonly silence: NodeJS.Timeout | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    private readonly acceptance: Acceptance,
    private readonly stream: AnswerStream,
    private readonly options: ReplyOptions,
  ) {
    const { responses, keepAlive } = options;
    if (!acceptance.stream || responses === 'json') return;
    this.early = stream;
    this.silence = setTimeout(() => stream.begin(), keepAlive);
  }

  /** Whether it is a stream already. */
  get isStream(): boolean {
    return this.stream.isOpen;
  }

  /** Resolves when there is room for more on the stream. */
  drained(): Promise<void> {
    return this.stream.drained();
  }

  /** The answer as a stream that stays open for changes; missing where the client takes none. */
  get changes(): ChangeOutlet | undefined {
    return this.acceptance.stream ? this : undefined;
  }

  listen(): (message: string) => void {
    clearTimeout(this.silence);
    this.stream.begin();
    return (message) => this.stream.send(message);
  }

  answer(message: string, status: number): void {
    clearTimeout(this.silence);
    if (this.stream.isOpen) this.stream.end(message);
    else if (this.exchange.isAnswered || this.exchange.raw.destroyed) return;
    else if (status === 200 && !this.acceptance.json) this.stream.end(message);
    else {
      this.exchange.send(status, message, status === 503 ? RETRY : undefined);
      if (message.length > LARGE) this.exchange.cutWhenStalled(this.options.limits.streamStall);
    }
  }

  /** The call was cancelled: the stream ends without an answer, a plain exchange with an empty one. */
  endUnanswered(): void {
    clearTimeout(this.silence);
    if (this.stream.isOpen) this.stream.end();
    else if (!this.exchange.isAnswered && !this.exchange.raw.destroyed) this.exchange.send(204, undefined);
  }
}

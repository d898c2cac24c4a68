import { ErrorCode } from './error-codes.js';
import { errorMessage, type RequestId } from './json-rpc.js';

/** One of the answers to a batch. */
export interface BatchAnswer {
  readonly id: RequestId | undefined;
  readonly message: string;
}

/**
 * The answers to one batch that wait to be sent. Each may be as large as any other answer, so what waits together is
 * bounded: an answer for which there is no room is an error that says so.
 */
export class BatchAnswers {
  private readonly waiting: BatchAnswer[] = [];
  private size = 0;

  /** @param limit characters of all that wait, about */
  constructor(private readonly limit: number) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(id: RequestId | undefined, message: string): void {
    const isMuch = this.size > 0 && this.size + message.length > this.limit;
    const answer = { id, message: isMuch ? this.noRoom(id) : message };
    this.waiting.push(answer);
    this.size += answer.message.length;
  }

  shift(): BatchAnswer | undefined {
    const answer = this.waiting.shift();
    this.size -= answer?.message.length ?? 0;
    return answer;
  }

  /** All of them as one message. */
  toArray(): string {
    return `[${this.waiting.map(({ message }) => message).join(',')}]`;
  }

  private noRoom(id: RequestId | undefined): string {
    const message = `The answers to this batch are larger than ${this.limit} bytes together: send its messages one at a time`;
    return errorMessage(id, { code: ErrorCode.InternalError, message });
  }
}

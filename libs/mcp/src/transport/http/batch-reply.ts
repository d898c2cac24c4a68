import type { ReplyStream } from './reply-stream.js';

/** One of the answers to a batch. */
export interface BatchAnswer {
  readonly message: string;
  /** What is kept of it for a client whose connection is cut, where it is too large to be kept. */
  readonly instead: () => string;
}

/** The answers to one batch: an array, or single messages once something preceded them on a stream. */
export class BatchReply {
  private readonly answers: BatchAnswer[] = [];
  private sending: Promise<void> | undefined;

  constructor(private readonly reply: ReplyStream) {}

  add(answer: BatchAnswer): void {
    this.answers.push(answer);
    if (this.reply.isStream) void this.send();
  }

  /** Nothing more is added. What waited comes as fast as the client reads. */
  async end(): Promise<void> {
    const { reply, answers } = this;
    if (!reply.isStream && answers.length > 0)
      return reply.answer(`[${answers.map(({ message }) => message).join(',')}]`, 200);
    while (this.sending || answers.length > 0) await this.send();
    reply.endUnanswered();
  }

  private send(): Promise<void> {
    return (this.sending ??= this.sendAll().finally(() => (this.sending = undefined)));
  }

  /** One after the other: many calls may end at once, and all their answers be more than may wait for a client. */
  private async sendAll(): Promise<void> {
    for (let answer = this.answers.shift(); answer; answer = this.answers.shift()) {
      this.reply.early!.send(answer.message, answer.instead);
      await this.reply.drained();
    }
  }
}

import { BatchAnswers } from '../../protocol/batch-answers.js';
import type { RequestId } from '../../protocol/json-rpc.js';
import type { ReplyStream } from './reply-stream.js';

/** The answers to one batch: an array, or single messages once something preceded them on a stream. */
export class BatchReply {
  private readonly answers: BatchAnswers;
  private sending: Promise<void> | undefined;

  /**
   * @param limit bytes of answers that may wait together
   * @param instead what is kept of an answer that is too large to be kept, for a client whose connection is cut
   */
  constructor(
    private readonly reply: ReplyStream,
    limit: number,
    private readonly instead: (id: RequestId | undefined) => string,
  ) {
    this.answers = new BatchAnswers(limit);
  }

  add(id: RequestId | undefined, message: string): void {
    this.answers.add(id, message);
    if (this.reply.isStream) void this.send();
  }

  /** Nothing more is added. What waited comes as fast as the client reads. */
  async end(): Promise<void> {
    const { reply, answers } = this;
    if (!reply.isStream && !answers.isEmpty) return reply.answer(answers.toArray(), 200);
    while (this.sending || !answers.isEmpty) await this.send();
    reply.endUnanswered();
  }

  private send(): Promise<void> {
    return (this.sending ??= this.sendAll().finally(() => (this.sending = undefined)));
  }

  /** One after the other: many calls may end at once, and all their answers be more than may wait for a client. */
  private async sendAll(): Promise<void> {
    for (let answer = this.answers.shift(); answer; answer = this.answers.shift()) {
      const { id, message } = answer;
      this.reply.early!.send(message, () => this.instead(id));
      await this.reply.drained();
    }
  }
}

import type { ReplyStream } from './reply-stream.js';

/** The answers to one batch: an array, or single messages once something preceded them on a stream. */
export class BatchReply {
  private readonly answers: string[] = [];

  constructor(private readonly reply: ReplyStream) {}

  add(message: string): void {
    if (this.reply.isStream) this.reply.early!.send(message);
    else this.answers.push(message);
  }

  /** Nothing more is added. */
  end(): void {
    const { reply, answers } = this;
    if (answers.length === 0) return reply.endUnanswered();
    if (!reply.isStream) return reply.answer(`[${answers.join(',')}]`, 200);
    for (const message of answers) reply.early!.send(message);
    reply.endUnanswered();
  }
}

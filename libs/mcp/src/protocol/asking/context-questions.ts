import type { CallLifetime } from '../call-lifetime.js';
import type { CallOrigin, CallSubject } from '../call-origin.js';
import { McpAskError } from './ask-error.js';
import type { Asking } from './asking.js';
import { unheeded, type CallQuestions } from './call-questions.js';
import { ModernRounds, type RoundVerdict } from './modern-rounds.js';
import type { Question } from './question.js';

/** What one call asks: made ready with its first question, or where its client comes back with answers. */
export class ContextQuestions {
  private asked: CallQuestions | undefined;
  private givenUp: Error | undefined;
  /** Whether the handler runs, and not only what stands before it. */
  private hasBegun = false;

  constructor(
    private readonly origin: CallOrigin,
    private readonly subject: CallSubject,
    private readonly lifetime: CallLifetime,
    private readonly asking: Asking | undefined,
    private readonly callerId: () => string | undefined,
  ) {}

  /** Whether the call waits for its client, and nothing else may come of it. */
  get isSuspended(): boolean {
    return this.asked?.isSuspended === true;
  }

  elicit<T>(message: string, form: unknown, key: string | undefined): Promise<T> {
    return this.ask('elicitation', key, () => this.ready().form(message, form, this.origin.revision));
  }

  ask<T>(
    kind: Question['kind'],
    key: string | undefined,
    question: () => Question | Promise<Question>,
  ): Promise<T> {
    const answer = (async () => this.opened().ask(kind, key, question()))();
    return unheeded(answer) as Promise<T>;
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return unheeded((async () => this.opened().once(key, work))());
  }

  /** The handler begins, perhaps once more. Gives a rejection where it must not, as a state is not valid. */
  enter(): Promise<void> | undefined {
    this.hasBegun = true;
    const { params } = this.subject;
    const goesOn = params && ('requestState' in params || 'inputResponses' in params) && this.asking;
    return this.asked || goesOn ? this.open().enter() : undefined;
  }

  /** Why the call was ended although its handler goes on: it waits for its client, or asks in vain without end. */
  get whyGivenUp(): Error | undefined {
    return this.givenUp;
  }

  /**
   * How the call comes out, where it asked what is not answered; whatever its handler made of that.
   *
   * @param thrown what its handler and interceptors ended with, if they failed; whatever a filter made of that
   */
  verdict(thrown?: unknown): Promise<RoundVerdict | undefined> | undefined {
    return this.asked instanceof ModernRounds && this.asked.isUndecided
      ? this.asked.verdict(thrown)
      : undefined;
  }

  /** The verdict on a call that was ended while whoever runs its handler did not. */
  async overdueVerdict(): Promise<RoundVerdict | undefined> {
    if (!this.isSuspended && !this.givenUp) return undefined;
    // What is done once may not end either: then there is nothing to go on from.
    return Promise.race([
      this.verdict(this.givenUp),
      new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
    ]);
  }

  private ready(): Asking {
    if (this.asking) return this.asking;
    throw new McpAskError('unsupported', `Nothing can be asked during ${this.subject.method}`);
  }

  private opened(): CallQuestions {
    if (this.lifetime.isOpen) return this.open();
    throw new McpAskError(
      'ended',
      `The call (${this.subject.method}) is over: nothing comes of what it asks`,
    );
  }

  private open(): CallQuestions {
    if (this.asked) return this.asked;
    const { era, peer, stream, client } = this.origin;
    const { method, name, params } = this.subject;
    const asked = this.ready().open({
      era,
      peer,
      stream,
      capabilities: client.capabilities,
      lifetime: this.lifetime,
      method,
      name,
      params,
      callerId: this.callerId,
      giveUp: (why) => {
        this.givenUp = why;
        this.lifetime.end('stuck');
      },
    });
    this.asked = asked;
    asked.open();
    if (this.hasBegun) void asked.enter();
    return asked;
  }
}

import { randomUUID } from 'node:crypto';
import type { CallStream } from '../call-origin.js';
import type { CallLifetime } from '../call-lifetime.js';
import type { JsonObject } from '../json-rpc.js';
import { McpAskError } from './ask-error.js';
import type { LegacyPeer } from '../legacy/legacy-peer.js';
import { KeyedQuestions } from './call-questions.js';
import { AnswerFault, lackingError, missingCapabilities, type Question } from './question.js';
import { digest } from './state-sealer.js';

/** The client that a call of an older revision came from, as far as it can be asked. */
export interface AskedClient {
  readonly capabilities: JsonObject;
  /** Missing where nothing is kept of it, so that it cannot answer. */
  readonly peer: LegacyPeer | undefined;
  /** The call's own stream; missing where its answer is plain JSON. */
  readonly stream: CallStream | undefined;
}

/** How many calls may wait for their clients: each holds its place, for as long as a person takes. */
export class WaitingRoom {
  private taken = 0;

  constructor(private readonly places: number) {}

  /** @returns to be called once; nothing where there is no place */
  take(): (() => void) | undefined {
    if (this.taken >= this.places) return undefined;
    this.taken++;
    return () => void this.taken--;
  }
}

/**
 * The questions of one call of a revision before 2026-07-28: each is a request to the client on the call's own stream,
 * which the handler waits for. Its time limit stops meanwhile.
 * Source: Elicitation, Sampling, Roots, 2025-11-25.
 */
export class LegacyQuestions extends KeyedQuestions {
  readonly isSuspended = false;
  private readonly answers = new Map<string, Promise<JsonObject>>();
  /** Rounds so far, and questions that wait for their answers. */
  private asked = 0;
  private waiting = 0;
  private leave: (() => void) | undefined;

  constructor(
    private readonly client: AskedClient,
    private readonly lifetime: CallLifetime,
    /** ms that the client may take to answer. */
    private readonly timeLimit: number,
    /** How many times a call may ask. */
    private readonly rounds: number,
    private readonly room: WaitingRoom,
    giveUp: (why: Error) => void,
  ) {
    super(giveUp);
  }

  open(): void {
    // Nothing comes with the request.
  }

  enter(): undefined {
    this.countAnew();
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return this.results.get(key, work);
  }

  protected async answer(
    kind: Question['kind'],
    given: string | undefined,
    coming: Question | Promise<Question>,
  ): Promise<unknown> {
    const key = this.keys.take(kind, given);
    const question = await coming;
    // A handler that is run again, by an interceptor that retries, asks what it knows.
    const name = `${key} ${digest([question.method, question.params]).toString('base64url')}`;
    let answer = this.answers.get(name);
    if (!answer) this.answers.set(name, (answer = this.send(question)));
    return this.read(question, await answer);
  }

  /** A copy is read: what a handler changes in it is not what its client said. */
  private async read(question: Question, answer: JsonObject): Promise<unknown> {
    try {
      return await question.read(structuredClone(answer));
    } catch (thrown) {
      throw thrown instanceof AnswerFault
        ? new McpAskError('invalid', `The client's answer to ${question.method} ${thrown.message}`)
        : thrown;
    }
  }

  private async send(question: Question): Promise<JsonObject> {
    const { method, needs } = question;
    const { capabilities, peer, stream } = this.client;
    if (!peer || !stream)
      throw new McpAskError(
        'unsupported',
        `This client cannot be asked (${method}): it has no session or takes no stream`,
      );
    const missing = missingCapabilities(capabilities, needs);
    if (missing) throw lackingError(question, missing);
    if (stream.isLost)
      throw new McpAskError(
        'unsent',
        `The client is not there to be asked (${method}), and would not come back for it`,
      );
    return this.wait(question, peer, stream);
  }

  private async wait(
    { method, params }: Question,
    peer: LegacyPeer,
    stream: CallStream,
  ): Promise<JsonObject> {
    // What is asked while something else is open is of the same round, as in 2026-07-28.
    if (this.waiting === 0) this.beginRound();
    this.waiting++;
    const resume = this.lifetime.pause();
    try {
      return await peer.requests.ask(
        { method, params: params && JSON.stringify(legacyParams(params)) },
        { send: (message) => stream.send(message), signal: this.lifetime.over, timeLimit: this.timeLimit },
      );
    } finally {
      if (--this.waiting === 0) this.leave?.();
      resume();
    }
  }

  private beginRound(): void {
    if (this.asked >= this.rounds)
      throw new McpAskError(
        'unsupported',
        `The client was asked ${this.rounds} times for this call, which is as often as it may be`,
      );
    this.leave = this.room.take();
    if (!this.leave)
      throw new McpAskError('unsupported', 'Too many calls wait for their clients: try again later');
    this.asked++;
  }
}

/** The revision before 2026-07-28 that has url mode names each such question. Source: Elicitation, 2025-11-25. */
function legacyParams(params: JsonObject): JsonObject {
  return params['mode'] === 'url' ? { ...params, elicitationId: randomUUID() } : params;
}

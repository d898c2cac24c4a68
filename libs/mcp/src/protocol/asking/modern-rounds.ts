import { ErrorCode } from '../error-codes.js';
import { isObject, type JsonObject } from '../json-rpc.js';
import { McpError } from '../mcp-error.js';
import { McpAskError } from './ask-error.js';
import { KeyedQuestions, unheeded } from './call-questions.js';
import { AnswerFault, lackingError, missingCapabilities, type Question } from './question.js';
import { digest, type StateBinding, type StateSealer } from './state-sealer.js';

/** Thrown to a handler of 2026-07-28 whose client has to be asked: it runs again with the answer. */
export class McpSuspension extends Error {
  override readonly name = 'McpSuspension';

  constructor() {
    super('The call waits for its client and runs again with the answer: let this pass');
  }
}

export interface RoundLimits {
  /** Bytes of a sealed state. */
  readonly stateSize: number;
  readonly rounds: number;
}

/** How a call that asked comes out, whatever its handler made of it. */
export type RoundVerdict =
  | { readonly requests: JsonObject; readonly state: string }
  | { readonly error: McpError }
  /** It cannot go on, for a reason that its client is told. */
  | { readonly why: string };

interface KnownAnswer {
  readonly digest: string;
  readonly answer: JsonObject;
}

/**
 * The questions of one call of 2026-07-28. A question without an answer ends the call as `input_required`; the client
 * sends it again with the answers, and the handler runs again. What was answered before travels in the sealed state.
 * Source: Multi Round-Trip Requests, 2026-07-28.
 */
export class ModernRounds extends KeyedQuestions {
  private readonly answers = new Map<string, KnownAnswer>();
  /** Digests of what was asked in the round before; missing where the client shows no state. */
  private asked: Record<string, unknown> | undefined;
  private responses: JsonObject = {};
  private readonly questions = new Map<string, Question>();
  private rounds = 0;
  /** Questions that are being read, and answers that are: the round waits for them. */
  private readonly working = new Set<Promise<unknown>>();
  private binding: StateBinding | undefined;
  private suspension: Promise<never> | undefined;
  private deadline: NodeJS.Timeout | undefined;
  /** Whether the pipeline has come to its end. */
  private isDecided = false;
  isSuspended = false;
  private fault: McpError | undefined;
  /** Capabilities that the questions so far need and the client did not declare. */
  private missing: JsonObject = {};
  private readonly lacks = new Set<unknown>();

  constructor(
    /** The request's `params`. */
    private readonly params: JsonObject | undefined,
    private readonly capabilities: JsonObject,
    private readonly sealer: StateSealer,
    private readonly limits: RoundLimits,
    /** What the state is of; asked for once the guards have run, since they find out who is calling. */
    private readonly bindingOf: () => StateBinding,
    /** Told when a suspended call is begun again and again: whoever retries without end gets no further. */
    giveUp: (why: Error) => void,
  ) {
    super(giveUp);
  }

  open(): void {
    this.binding = this.bindingOf();
    this.takeState(this.params?.['requestState'], this.binding);
    this.takeResponses(this.params?.['inputResponses']);
  }

  enter(): Promise<void> | undefined {
    if (this.binding?.caller !== this.bindingOf().caller)
      this.fault ??= new McpError(
        ErrorCode.InternalError,
        'Internal error: a guard asked before the caller was known',
      );
    if (this.fault || this.questions.size > 0) return unheeded(this.paused(this.refusal()));
    if (this.working.size > 0) return unheeded(this.enterLater());
    this.countAnew();
    return undefined;
  }

  /** A handler that did not wait for its question may be run again before it is known whether that is answered. */
  private async enterLater(): Promise<void> {
    await this.worked();
    await this.enter();
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    if (this.fault || this.isSuspended) return unheeded(this.paused(this.refusal()));
    return this.results.get(key, work);
  }

  /**
   * How the call comes out, where that is not its handler's to say.
   *
   * @param thrown what its handler and interceptors ended with: only where they let it pass is it indispensable to ask
   */
  async verdict(thrown?: unknown): Promise<RoundVerdict | undefined> {
    this.isDecided = true;
    clearTimeout(this.deadline);
    await this.worked();
    if (this.fault) return { error: this.fault };
    if (this.lacks.has(thrown)) return { error: lacking(this.missing) };
    if (this.questions.size === 0) return undefined;
    this.isSuspended = true;
    // What began before the call was suspended has its place in the state.
    await this.results.settled();
    if (this.rounds >= this.limits.rounds)
      return {
        why: `The client was asked ${this.rounds} times for this call, which is as often as it may be`,
      };
    const state = this.sealer.seal(this.content(), this.binding!);
    if (state.length > this.limits.stateSize)
      return { why: `What this call keeps while it asks is larger than ${this.limits.stateSize} bytes` };
    const requests = Array.from(this.questions, ([key, { method, params }]) => [
      key,
      params === undefined ? { method } : { method, params },
    ]);
    return { requests: Object.fromEntries(requests) as JsonObject, state };
  }

  /** Whether anything was asked that is not answered, or cannot be, or is wrong, or may come to be. */
  get isUndecided(): boolean {
    return (
      this.questions.size > 0 || this.lacks.size > 0 || this.working.size > 0 || this.fault !== undefined
    );
  }

  protected async answer(
    kind: Question['kind'],
    given: string | undefined,
    coming: Question | Promise<Question>,
  ): Promise<unknown> {
    if (this.fault || this.isSuspended) return this.paused(this.refusal());
    const key = this.keys.take(kind, given);
    const finding = this.find(key, coming);
    this.working.add(finding);
    const found = await finding.finally(() => this.working.delete(finding));
    return found ? found.value : this.suspend();
  }

  /** The answer to a question; nothing where the client has to be asked. */
  private async find(
    key: string,
    coming: Question | Promise<Question>,
  ): Promise<{ readonly value: unknown } | undefined> {
    const question = await coming;
    const asked = digest([question.method, question.params]).toString('base64url');
    const known = this.answers.get(key);
    if (known?.digest === asked) return { value: await this.read(question, known.answer, key) };
    const answer = Object.hasOwn(this.responses, key) ? this.responses[key] : undefined;
    if (answer !== undefined && (!this.asked || this.asked[key] === asked)) {
      if (!isObject(answer)) throw this.fail(key, 'must be an object');
      const value = await this.read(question, answer, key);
      this.answers.set(key, { digest: asked, answer });
      return { value };
    }
    const missing = missingCapabilities(this.capabilities, question.needs);
    if (missing) throw this.lack(question, missing);
    this.questions.set(key, question);
    return undefined;
  }

  private refusal(): Error {
    return this.fault ?? new McpSuspension();
  }

  /** A form may take some turns to be read, and so may an answer to be validated. */
  private async worked(): Promise<void> {
    while (this.working.size > 0) await Promise.allSettled(this.working);
  }

  private async read(question: Question, answer: JsonObject, key: string): Promise<unknown> {
    try {
      // A copy: what a handler changes in it is not what its client said, and goes into no state.
      return await question.read(structuredClone(answer));
    } catch (thrown) {
      throw thrown instanceof AnswerFault ? this.fail(key, thrown.message) : thrown;
    }
  }

  /** All questions of one turn of the event loop are one round. */
  private suspend(): Promise<never> {
    this.suspension ??= unheeded(
      new Promise((_, reject) => {
        const close = async () => {
          await this.worked();
          this.isSuspended = true;
          const why = new McpSuspension();
          reject(why);
          if (!this.isDecided) this.deadline = setTimeout(() => void this.letGo(why), MAX_END);
        };
        setImmediate(() => void close());
      }),
    );
    return this.suspension;
  }

  private takeState(state: unknown, binding: StateBinding): void {
    if (state === undefined) return;
    const isFitting = typeof state === 'string' && state.length <= this.limits.stateSize;
    const content = isFitting ? this.sealer.open(state, binding) : undefined;
    if (!content) {
      this.fault = new McpError(ErrorCode.InvalidParams, INVALID_STATE);
      return;
    }
    const { rounds, answers, asked, once } = content;
    this.rounds = Number(rounds);
    this.asked = asked as JsonObject;
    for (const [key, known] of Object.entries(answers as JsonObject))
      this.answers.set(key, known as KnownAnswer);
    for (const [key, value] of Object.entries(once as JsonObject)) this.results.values.set(key, value);
  }

  private takeResponses(responses: unknown): void {
    if (responses === undefined) return;
    if (isObject(responses)) this.responses = responses;
    else
      this.fault ??= new McpError(
        ErrorCode.InvalidParams,
        'Invalid params: "inputResponses" must be an object of answers',
      );
  }

  private content(): JsonObject {
    const asked = Array.from(this.questions, ([key, { method, params }]) => [
      key,
      digest([method, params]).toString('base64url'),
    ]);
    return {
      rounds: this.rounds + 1,
      answers: Object.fromEntries(this.answers),
      asked: Object.fromEntries(asked),
      once: Object.fromEntries(this.results.values),
    };
  }

  private fail(key: string, why: string): McpError {
    const message = `Invalid params: the answer ${JSON.stringify(key)} ${why}`;
    return (this.fault = new McpError(ErrorCode.InvalidParams, message));
  }

  /** A handler may do without. What all questions of a round lack is told at once. */
  private lack(question: Question, missing: JsonObject): McpAskError {
    this.missing = withAll(this.missing, missing);
    const error = lackingError(question, missing);
    this.lacks.add(error);
    return error;
  }
}

function lacking(requiredCapabilities: JsonObject): McpError {
  return new McpError(
    ErrorCode.MissingClientCapability,
    'The client lacks a capability that this request needs',
    { requiredCapabilities },
  );
}

/** Capabilities of both, and what is inside of them of both. */
function withAll(some: JsonObject, more: JsonObject): JsonObject {
  const all = { ...some };
  for (const [name, inside] of Object.entries(more))
    all[name] = { ...(all[name] as JsonObject | undefined), ...(inside as JsonObject) };
  return all;
}

/** ms that the pipeline of a suspended call may take to end: its client waits for the question. */
const MAX_END = 1_000;

const INVALID_STATE = 'Invalid params: "requestState" is not a valid state of this call';

import type { Question } from './question.js';

/** How the questions of one call reach its client, in the way of its era. */
export interface CallQuestions {
  /** Whether the call waits for its client, and nothing else may come of it. */
  readonly isSuspended: boolean;
  /** The guards have run, or one of them asks: reads what came with the request. */
  open(): void;
  /** A handler begins, perhaps once more: what it asks is counted from the start. Gives a rejection where it must not. */
  enter(): Promise<void> | undefined;
  /** Asks, or gives the answer that is known. The key is taken at once, whenever the question is ready. */
  ask(
    kind: Question['kind'],
    key: string | undefined,
    question: Question | Promise<Question>,
  ): Promise<unknown>;
  /** Does some work once for the call, whatever its rounds. */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T>;
}

/** Before default names of what is asked before the handler, by a guard or an interceptor. */
const OUTER = 'outer-';

/** Names of what a handler asks, each used once as long as it runs. */
class QuestionKeys {
  private readonly used = new Set<string>();
  private readonly counts = new Map<string, number>();

  /**
   * @param prefix of default names
   * @param outer names that are taken already
   */
  constructor(
    private readonly prefix = '',
    private readonly outer?: QuestionKeys,
  ) {}

  /** @throws TypeError where the handler used it already */
  take(kind: string, key: string | undefined): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const name = key ?? `${this.prefix}${kind}-${count}`;
    assertKey(name, 'a question');
    if (this.used.has(name) || this.outer?.used.has(name))
      throw new TypeError(
        `Two questions of one call have the key ${JSON.stringify(name)}: give each its own`,
      );
    this.used.add(name);
    return name;
  }
}

const MAX_KEY = 128;

function assertKey(key: unknown, of: string): void {
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY)
    throw new TypeError(`The key of ${of} must be a text of 1 to ${MAX_KEY} characters`);
}

const MAX_AT_ONCE = 10;
/** Beyond it nothing is answered any more to who goes on. */
const MAX_PAUSES = 100;

/** A handler need not wait for what it asked, nor for what it does once: that ends no process. */
export function unheeded<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** What a call keeps of `once`, and what of it is still at work. */
class OnceResults {
  private readonly running = new Map<string, Promise<unknown>>();

  constructor(readonly values: Map<string, unknown> = new Map<string, unknown>()) {}

  /** The value of that key, or of the work where there is none. Work that fails is none. */
  get<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return unheeded(this.copy(key, work));
  }

  private async copy<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    assertKey(key, 'ctx.once');
    // A copy each time: what a handler changes in it is not what the next round gets.
    if (this.values.has(key)) return structuredClone(this.values.get(key) as T);
    return structuredClone((await (this.running.get(key) ?? this.run(key, work))) as T);
  }

  /** Resolves when nothing is at work any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.running.values());
  }

  private run(key: string, work: () => unknown): Promise<unknown> {
    let hasWorked = false;
    const running = (async () => {
      const value: unknown = await work();
      hasWorked = true;
      // What the next round gets is what the first one gets as well.
      const kept: unknown = jsonOf(value, key);
      this.values.set(key, kept);
      return kept;
    })().finally(() => {
      // What was done is not done again because its value cannot be kept.
      if (!hasWorked || this.values.has(key)) this.running.delete(key);
    });
    this.running.set(key, running);
    return unheeded(running);
  }
}

function jsonOf(value: unknown, key: string): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch (cause) {
    throw new TypeError(`The value of ctx.once(${JSON.stringify(key)}) is nothing that JSON can carry`, {
      cause,
    });
  }
}

/** What the questions of either era have in common: their keys, and what was done once. */
export abstract class KeyedQuestions implements CallQuestions {
  protected readonly results = new OnceResults();
  private readonly outerKeys = new QuestionKeys(OUTER);
  protected keys = this.outerKeys;
  private failures = 0;
  private pauses = 0;

  /** @param giveUp told when a handler goes on and on asking what is refused; it gets no further */
  constructor(private readonly giveUp: (why: Error) => void) {}

  abstract readonly isSuspended: boolean;
  abstract open(): void;
  abstract enter(): Promise<void> | undefined;
  abstract once<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  protected abstract answer(
    kind: Question['kind'],
    given: string | undefined,
    coming: Question | Promise<Question>,
  ): Promise<unknown>;

  ask(
    kind: Question['kind'],
    given: string | undefined,
    question: Question | Promise<Question>,
  ): Promise<unknown> {
    if (question instanceof Promise) void unheeded(question);
    return unheeded(this.answer(kind, given, question).catch((why: unknown) => this.failed(why as Error)));
  }

  /** Never in the same turn: a loop that goes on after each refusal would stop all else. */
  protected async paused(why: Error): Promise<never> {
    await new Promise<void>((resolve) => {
      if (++this.pauses <= MAX_PAUSES) setImmediate(resolve);
      else void this.letGo(why);
    });
    throw why;
  }

  /** Ends the call, with what was begun to be done once. */
  protected async letGo(why: Error): Promise<void> {
    await this.results.settled();
    this.giveUp(why);
  }

  /** The first are told in their own turn, before a question beside them suspends the call. */
  private failed(why: Error): Promise<never> {
    return ++this.failures <= MAX_AT_ONCE ? Promise.reject(why) : this.paused(why);
  }

  /** The handler begins: its default names are counted from the start. */
  protected countAnew(): void {
    this.keys = new QuestionKeys('', this.outerKeys);
  }
}

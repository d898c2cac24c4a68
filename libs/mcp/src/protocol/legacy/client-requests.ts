import { randomBytes } from 'node:crypto';
import { McpAskError } from '../asking/ask-error.js';
import { ErrorCode } from '../error-codes.js';
import {
  isObject,
  notificationMessage,
  quote,
  requestMessage,
  type JsonObject,
  type ResponseMessage,
} from '../json-rpc.js';

/** What is asked of a client. */
export interface ClientRequest {
  readonly method: string;
  /** JSON text. */
  readonly params?: string | undefined;
}

export interface AskOptions {
  /**
   * Sends on the stream of the call that asks, and must not lose what it sends. It keeps the order of its messages
   * where it works later.
   */
  readonly send: (message: string) => void | Promise<void>;
  /** Aborts once the call that asks is over. */
  readonly signal: AbortSignal;
  /** ms */
  readonly timeLimit: number;
}

/** One request that waits for its answer. */
interface Waiting {
  readonly method: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: McpAskError) => void;
  /** Takes away all that was set up to wait. */
  readonly release: () => void;
}

/**
 * The requests of this process to one legacy client, and the way of its answers to those who asked. What the client
 * declared is for the caller to check. Source: Lifecycle, Timeouts; Cancellation, all revisions before 2026-07-28.
 */
export class ClientRequests {
  private readonly waiting = new Map<string, Waiting>();
  private readonly ends = new Ends();
  /** No other process has it, so that all may serve one session; and a client cannot guess the ids of another. */
  private readonly prefix = randomBytes(12).toString('base64url');
  private count = 0;
  private isClosed = false;

  /** Requests that wait for an answer. */
  get size(): number {
    return this.waiting.size;
  }

  /**
   * Sends a request and waits for the answer. A request that nobody waits for any more is cancelled on the same
   * stream.
   *
   * @returns the result, as the client gave it
   * @throws McpAskError where there is none
   */
  ask({ method, params }: ClientRequest, { send, signal, timeLimit }: AskOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) return reject(gone(method));
      if (signal.aborted) return reject(ended(method, signal));
      const id = `"${this.prefix}-${++this.count}"`;
      let timer: NodeJS.Timeout | undefined;
      const release = () => {
        clearTimeout(timer);
        this.ends.ignore(signal, onEnd);
        this.waiting.delete(id);
      };
      const giveUp = (error: McpAskError, why: string) => {
        release();
        reject(error);
        const notice = notificationMessage(
          'notifications/cancelled',
          `{"requestId":${id},"reason":"${why}"}`,
        );
        deliver(send, notice, () => undefined);
      };
      const onEnd = () => giveUp(ended(method, signal), 'The call that asked is over');
      // First of all: the answer may come while the request is being sent.
      this.waiting.set(id, { method, resolve, reject, release });
      deliver(send, requestMessage(id, method, params), (cause) => {
        // Both change nothing where the outcome is known already.
        release();
        reject(new McpAskError('unsent', `${method} could not be sent to the client`, { cause }));
      });
      if (!this.waiting.has(id)) return;
      if (signal.aborted) return onEnd();
      this.ends.watch(signal, onEnd);
      timer = setTimeout(() => giveUp(late(method, timeLimit), 'No answer in time'), timeLimit);
    });
  }

  /** Hands an answer of the client to who waits for it. False where nobody here does. */
  answer({ id, source }: ResponseMessage): boolean {
    const waiting = id && this.waiting.get(id.key);
    if (!waiting) return false;
    waiting.release();
    const { result, error } = source.value;
    if (isObject(result) && error === undefined) waiting.resolve(result);
    else if (isObject(error) && result === undefined) waiting.reject(refused(waiting.method, error));
    else waiting.reject(malformed(waiting.method));
    return true;
  }

  /** The client is gone: nothing is asked of it any more, and nobody waits for it. */
  close(): void {
    this.isClosed = true;
    for (const { method, reject, release } of Array.from(this.waiting.values())) {
      release();
      reject(gone(method));
    }
  }
}

/**
 * Tells of the end of calls those who wait for it. One listener stands for all that one call asks at once: Node warns
 * of a leak where a signal has more than ten.
 */
class Ends {
  private readonly groups = new Map<
    AbortSignal,
    { readonly watchers: Set<() => void>; readonly tell: () => void }
  >();

  watch(signal: AbortSignal, watcher: () => void): void {
    let group = this.groups.get(signal);
    if (!group) {
      const watchers = new Set<() => void>();
      group = { watchers, tell: () => watchers.forEach((told) => told()) };
      this.groups.set(signal, group);
      signal.addEventListener('abort', group.tell);
    }
    group.watchers.add(watcher);
  }

  ignore(signal: AbortSignal, watcher: () => void): void {
    const group = this.groups.get(signal);
    if (!group?.watchers.delete(watcher) || group.watchers.size > 0) return;
    signal.removeEventListener('abort', group.tell);
    this.groups.delete(signal);
  }
}

/** Sends a message; `failed` is told where that fails, at once or later. */
function deliver(send: AskOptions['send'], message: string, failed: (cause: unknown) => void): void {
  try {
    Promise.resolve(send(message)).catch(failed);
  } catch (cause) {
    failed(cause);
  }
}

function malformed(method: string): McpAskError {
  return new McpAskError(
    'invalid',
    `The client's answer to ${method} must have a "result" or an "error" that is an object`,
  );
}

function refused(method: string, { code, message, data }: JsonObject): McpAskError {
  const answer = {
    code: Number.isSafeInteger(code) ? (code as number) : ErrorCode.InternalError,
    message: typeof message === 'string' ? message : '',
    ...(data === undefined ? {} : { data }),
  };
  const text = `The client answered ${method} with error ${answer.code}: ${quote(answer.message)}`;
  return new McpAskError('refused', text, undefined, answer);
}

function late(method: string, timeLimit: number): McpAskError {
  return new McpAskError('timeout', `The client did not answer ${method} within ${timeLimit} ms`);
}

function ended(method: string, { reason }: AbortSignal): McpAskError {
  return new McpAskError('ended', `The call was over before the client answered ${method}`, {
    cause: reason,
  });
}

function gone(method: string): McpAskError {
  return new McpAskError('gone', `The client was gone before it answered ${method}`);
}

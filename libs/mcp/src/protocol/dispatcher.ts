import type { CallOrigin } from './call-origin.js';
import type { CallLifetime } from './call-lifetime.js';
import { ErrorCode } from './error-codes.js';
import type { Channel } from './in-flight.js';
import { errorMessage, resultMessage, type RequestMessage, type RpcError } from './json-rpc.js';
import { McpError } from './mcp-error.js';
import { methodNotFound } from './message-parser.js';
import type { McpEra } from './versions.js';

/** What a method says: the JSON text of its result, an error, or nothing when the client is gone. */
export type Answer =
  { readonly result: string } | { readonly error: RpcError; readonly busy?: boolean } | undefined;

/** What a transport sends: the message, and the error in it, which decides a status. */
export interface Outcome {
  readonly message: string;
  readonly error: RpcError | undefined;
  /** The refusal is for lack of room or time, not for what was asked. */
  readonly busy: boolean;
}

/** A request on its way through the dispatcher. */
export interface Delivery {
  readonly request: RequestMessage;
  readonly origin: CallOrigin;
  readonly lifetime: CallLifetime;
  /** The peer's id space; none where every request stands alone. */
  readonly channel: Channel | undefined;
}

/** One entry of the method table. */
export interface Method {
  readonly era: McpEra | 'both';
  answer(delivery: Delivery): Answer | Promise<Answer>;
}

/**
 * The single way in: a request of any transport and either era finds its method here, and leaves as the
 * bytes to send. Never rejects.
 */
export class Dispatcher {
  /**
   * @param methods the method table; a method that is not in it is answered by -32601
   * @param onFault told of a failure that no method foresaw; gives the text to send
   */
  constructor(
    private readonly methods: { get(method: string): Method | undefined },
    private readonly onFault: (fault: unknown, method: string) => RpcError,
  ) {}

  /** Resolves with what to send; with nothing when the request ended without an answer. */
  async dispatch(delivery: Delivery): Promise<Outcome | undefined> {
    const { request, origin } = delivery;
    const method = this.methods.get(request.method);
    let answer: Answer;
    if (!method || (method.era !== 'both' && method.era !== origin.era)) {
      answer = { error: methodNotFound(request.method) };
    } else {
      try {
        answer = await method.answer(delivery);
      } catch (fault) {
        answer = {
          error: McpError.is(fault) ? errorFor(fault, origin.era) : this.onFault(fault, request.method),
        };
      }
    }
    if (!answer) return undefined;
    if ('result' in answer)
      return { message: resultMessage(request.id, answer.result), error: undefined, busy: false };
    return this.failure(request, answer.error, answer.busy === true);
  }

  private failure({ id, method }: RequestMessage, error: RpcError, busy: boolean): Outcome {
    try {
      const message = errorMessage(id, error);
      if (message.length > MAX_ERROR) throw new TypeError(`an error of ${message.length} characters`);
      return { message, error, busy };
    } catch (fault) {
      // Only an application's error can be that long, or hold data that JSON cannot carry.
      const masked = this.onFault(fault, method);
      return { message: errorMessage(id, masked), error: masked, busy: false };
    }
  }
}

/** Characters of an error message; who has more to say has a result for it. */
const MAX_ERROR = 1024 * 1024;

/** Codes that 2026-07-28 forbids to send, with those that say the same there. Source: Base Protocol, Error Codes. */
const WITHDRAWN: Readonly<Record<number, number>> = {
  [ErrorCode.ResourceNotFound]: ErrorCode.InvalidParams,
  [-32042]: ErrorCode.InvalidRequest,
};

/** An error as a client of that era may get it, also one that an application chose by its code. */
function errorFor(thrown: McpError, era: McpEra): RpcError {
  const error = rpcError(thrown);
  const code = era === 'modern' ? WITHDRAWN[error.code] : undefined;
  return code === undefined ? error : { ...error, code };
}

/** The wire form of a thrown `McpError`. */
export function rpcError({ code, message, data }: McpError): RpcError {
  return data === undefined ? { code, message } : { code, message, data };
}

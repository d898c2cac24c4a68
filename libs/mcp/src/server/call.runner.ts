import type { Handler } from '../discovery/registration.js';
import { kindOf } from '../execution/mcp-execution-context.js';
import { toLogged } from '../execution/plain-value.js';
import { CallInterrupted } from '../execution/call-interrupted.js';
import type { Asking } from '../protocol/asking/asking.js';
import type { RoundVerdict } from '../protocol/asking/modern-rounds.js';
import { McpContext } from '../protocol/call-context.js';
import type { EndReason } from '../protocol/call-lifetime.js';
import { readCallOptions } from '../protocol/call-options.js';
import { tooLargeText } from '../protocol/content.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { ErrorCode } from '../protocol/error-codes.js';
import type { InFlight } from '../protocol/in-flight.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import type { McpRevision } from '../protocol/versions.js';
import type { CallLog } from './call-log.js';

/** How the results of one kind of handler are written. */
export interface ResultWriter<Result> {
  /** Characters that it takes on the wire at least, told before a huge one is escaped. */
  roughSize(value: Result): number;
  encode(value: Result, revision: McpRevision): string;
  /** What is answered when a call ended before its handler; may throw the error instead. */
  ended(why: string): Result;
  /** How the call came out, in a word for the log. */
  outcome?(value: Result): string;
}

/** What is called, with what, and how its result is written. */
export interface Call<Result> {
  readonly name: string;
  readonly handler: Pick<Handler<Result>, 'invoke'>;
  readonly raw: JsonObject;
  /** ms; the server's `limits.handlerTime` where it says nothing. */
  readonly timeout: number | undefined;
  readonly writer: ResultWriter<Result>;
}

export interface CallRunnerOptions {
  readonly handlerTime: number;
  readonly resultSize: number;
  readonly asking: Asking;
  /** The result of a call whose client is asked. */
  inputRequired(requests: JsonObject, state: string): string;
}

/** What may ask its client. Source: Multi Round-Trip Requests, 2026-07-28. */
const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get']);

/** Runs one call of any kind: its place among those in flight, its context, its time limit, its line in the log. */
export class CallRunner {
  constructor(
    private readonly inFlight: InFlight,
    private readonly log: CallLog,
    private readonly options: CallRunnerOptions,
  ) {}

  async run<Result>(delivery: Delivery, call: Call<Result>): Promise<Answer> {
    const { request, channel } = delivery;
    const options = readCallOptions(request);
    if ('code' in options) return { error: options };
    // Whoever asked is gone already: nothing is started for nobody.
    if (delivery.lifetime.endReason) return undefined;
    const refusal = this.inFlight.refusal(request.id, channel);
    if (refusal) return { error: { code: refusal.code, message: refusal.message }, busy: refusal.busy };
    const { meta, progressToken, logLevel } = options;
    const subject = {
      id: request.id,
      method: request.method,
      name: call.name,
      meta,
      progressToken,
      logLevel,
      params: request.params,
    };
    const asking = ASKING_METHODS.has(request.method) ? this.options.asking : undefined;
    const context = new McpContext(delivery.origin, subject, delivery.lifetime, toLogged, asking);
    return this.follow(delivery, call, context);
  }

  private async follow<Result>(
    { request, origin, lifetime, channel }: Delivery,
    { name, handler, raw, timeout, writer }: Call<Result>,
    context: McpContext,
  ): Promise<Answer> {
    const timeLimit = timeout ?? this.options.handlerTime;
    const entry = this.log.open(request.method, name);
    try {
      const running = handler.invoke(raw, context, origin);
      const end = await this.inFlight.follow(request.id, lifetime, channel, timeLimit, running);
      const overdue =
        'ended' in end && isOverdue(end.ended) ? await context.questions.overdueVerdict() : undefined;
      if (overdue) throw new CallInterrupted(overdue);
      const why = 'ended' in end ? whyEnded(end.ended, request.method, timeLimit, context) : undefined;
      if ('ended' in end && why === undefined) {
        entry?.close(context, end.ended);
        return undefined;
      }
      const value = 'value' in end ? end.value : writer.ended(why!);
      const answer = this.answer(value, writer, origin.revision);
      entry?.close(context, 'ended' in end ? end.ended : outcomeOf(end.value, writer, answer));
      return answer;
    } catch (error) {
      const verdict = CallInterrupted.is(error) ? error.verdict : undefined;
      entry?.close(context, verdict && 'requests' in verdict ? 'input required' : 'error');
      if (!verdict) throw error;
      return this.interrupted(verdict, writer, origin.revision);
    }
  }

  /** Source: Multi Round-Trip Requests, 2026-07-28. */
  private interrupted<Result>(
    verdict: RoundVerdict,
    writer: ResultWriter<Result>,
    revision: McpRevision,
  ): Answer {
    if ('error' in verdict) throw verdict.error;
    if ('why' in verdict) return this.answer(writer.ended(verdict.why), writer, revision);
    const result = this.options.inputRequired(verdict.requests, verdict.state);
    return isWithin(result, this.options.resultSize) ? { result } : tooLarge(this.options.resultSize);
  }

  private answer<Result>(value: Result, writer: ResultWriter<Result>, revision: McpRevision): Answer {
    const { resultSize } = this.options;
    if (writer.roughSize(value) > resultSize) return tooLarge(resultSize);
    const result = writer.encode(value, revision);
    return isWithin(result, resultSize) ? { result } : tooLarge(resultSize);
  }
}

/** Whether the server itself ended the call, and not whoever waits for it. */
function isOverdue(ended: EndReason): boolean {
  return ended === 'timeout' || ended === 'stuck';
}

/** What the client reads of a call that ended before its handler; nothing where nobody waits any more. */
function whyEnded(
  ended: EndReason,
  method: string,
  timeLimit: number,
  { questions }: McpContext,
): string | undefined {
  if (ended === 'stuck') return questions.whyGivenUp?.message;
  if (ended === 'timeout') return `The ${kindOf(method)} did not finish within ${timeLimit} ms`;
  return ended === 'shutdown' ? 'The server is shutting down' : undefined;
}

function outcomeOf<Result>(value: Result, writer: ResultWriter<Result>, answer: Answer): string {
  if (answer && 'error' in answer) return `error ${answer.error.code}`;
  return writer.outcome?.(value) ?? 'ok';
}

function tooLarge(bytes: number): Answer {
  return { error: { code: ErrorCode.InternalError, message: tooLargeText(bytes) } };
}

/** A character takes one to three bytes, so most texts need no count. */
function isWithin(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return true;
  return text.length <= bytes && Buffer.byteLength(text) <= bytes;
}

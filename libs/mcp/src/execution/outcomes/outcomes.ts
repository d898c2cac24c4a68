import type { McpContext } from '../../protocol/call-context.js';
import type { answerOf } from '../response-facade.js';
import type { ResultBounds } from '../value-source.js';

/** How what comes out of a handler's pipeline becomes the neutral result of its kind, or an `McpError`. */
export interface Outcomes<Result> {
  /** Whether what a pipe threw is told apart from what a guard or the handler threw. */
  readonly notesPipeFaults: boolean;
  /** What the handler returned. */
  returned(value: unknown, bounds: ResultBounds, context: McpContext): Result | Promise<Result>;
  /** What an exception filter returned for a failure. */
  filtered(value: unknown, bounds: ResultBounds, context: McpContext): Result | Promise<Result>;
  /** What was answered on the response itself, with a status from 400 to 499. */
  refused(status: number, body: unknown, bounds: ResultBounds, context: McpContext): Result | Promise<Result>;
  /** What was thrown and not filtered. */
  failed(thrown: unknown, context: McpContext): Result;
  /** What nobody foresaw: a fixed text with a reference. */
  unforeseen(thrown: unknown, context: McpContext): Result;
}

/** What was answered on the response itself: a result below 400, a refusal below 500, and then a fault. */
export function answered<Result>(
  outcomes: Outcomes<Result>,
  { status, body }: NonNullable<ReturnType<typeof answerOf>>,
  failure: { thrown: unknown } | undefined,
  bounds: ResultBounds,
  context: McpContext,
): Result | Promise<Result> {
  if (status < 400) return outcomes.returned(body, bounds, context);
  if (status < 500) return outcomes.refused(status, body, bounds, context);
  return outcomes.unforeseen(failure?.thrown ?? `answered with status ${status}`, context);
}

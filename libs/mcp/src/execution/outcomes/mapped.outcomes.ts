import type { McpContext } from '../../protocol/call-context.js';
import type { ExceptionMapper } from '../exception.mapper.js';
import { answerText } from '../answer-text.js';
import type { ResultBounds } from '../value-source.js';
import type { Outcomes } from './outcomes.js';

/** The failures of what has no result that could tell of one: all of them are errors. */
export abstract class MappedOutcomes<Result> implements Outcomes<Result> {
  readonly notesPipeFaults = true;

  constructor(private readonly exceptions: ExceptionMapper) {}

  abstract returned(value: unknown, bounds: ResultBounds, context: McpContext): Result | Promise<Result>;

  filtered(value: unknown, bounds: ResultBounds, context: McpContext): Result | Promise<Result> {
    return this.returned(value, bounds, context);
  }

  refused(status: number, body: unknown, { resultSize }: ResultBounds, context: McpContext): never {
    throw this.exceptions.refusedError(status, answerText(body, resultSize), context);
  }

  failed(thrown: unknown, context: McpContext): never {
    throw this.exceptions.toMcpError(thrown, context);
  }

  unforeseen(thrown: unknown, context: McpContext): never {
    throw this.exceptions.unforeseenError(thrown, context);
  }
}

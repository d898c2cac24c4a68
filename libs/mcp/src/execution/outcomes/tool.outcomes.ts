import type { ToolRegistration } from '../../discovery/registration.js';
import type { McpContext } from '../../protocol/call-context.js';
import { errorResult, type ToolResult } from '../../protocol/content.js';
import type { OutputContract } from '../../schema/output.contract.js';
import type { ExceptionMapper } from '../exception.mapper.js';
import { answerText } from '../answer-text.js';
import { mapFiltered, mapResult, type ResultBounds } from '../result.mapper.js';
import type { Outcomes } from './outcomes.js';

/** A tool's failures are results, which a model reads and can act on. */
export class ToolOutcomes implements Outcomes<ToolResult> {
  readonly notesPipeFaults = false;
  private readonly name: string;
  private readonly output: OutputContract | undefined;

  constructor(
    private readonly exceptions: ExceptionMapper,
    { descriptor, output }: ToolRegistration,
  ) {
    this.name = descriptor.name;
    this.output = output;
  }

  returned(value: unknown, bounds: ResultBounds): ToolResult | Promise<ToolResult> {
    return mapResult(value, bounds, this.output);
  }

  filtered(value: unknown, bounds: ResultBounds): Promise<ToolResult> {
    return mapFiltered(value, bounds, this.output);
  }

  refused(_status: number, body: unknown, { resultSize }: ResultBounds): ToolResult {
    return errorResult(answerText(body, resultSize));
  }

  failed(thrown: unknown, _context: McpContext): ToolResult {
    return this.exceptions.toToolResult(thrown, this.name);
  }

  unforeseen(thrown: unknown): ToolResult {
    return this.exceptions.unexpected(thrown, this.name);
  }
}

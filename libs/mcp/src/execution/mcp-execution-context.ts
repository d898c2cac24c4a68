import type { ExecutionContext } from '@nestjs/common';
import type { McpContext } from '../protocol/call-context.js';

/** Positions among what the pipeline is called with, after request, response and next. */
export const ARGUMENTS_INDEX = 3;
export const CONTEXT_INDEX = 4;
export const ADMISSION_INDEX = 5;

/**
 * The typed view of Nest's `ExecutionContext` (or a filter's `ArgumentsHost`) of type `'mcp'`.
 *
 * @example
 * canActivate(context: ExecutionContext) {
 *   if (context.getType<string>() !== 'mcp') return true;
 *   return McpExecutionContext.create(context).getContext().caller !== undefined;
 * }
 * @publicApi
 */
export class McpExecutionContext {
  /** What is being called. */
  readonly kind = 'tool' as const;

  private constructor(private readonly args: readonly unknown[]) {}

  /** @throws TypeError when the context is not of type `'mcp'` */
  static create(context: Pick<ExecutionContext, 'getType' | 'getArgs'>): McpExecutionContext {
    if (context.getType<string>() !== 'mcp') {
      throw new TypeError(
        `McpExecutionContext.create() takes a context of type 'mcp', not '${context.getType<string>()}': check context.getType() first`,
      );
    }
    return new McpExecutionContext(context.getArgs());
  }

  /** The call's context. */
  getContext(): McpContext {
    return this.args[CONTEXT_INDEX] as McpContext;
  }

  /** The arguments as they were sent; not yet validated while guards run. */
  getArgs<T = unknown>(): T {
    return this.args[ARGUMENTS_INDEX] as T;
  }
}

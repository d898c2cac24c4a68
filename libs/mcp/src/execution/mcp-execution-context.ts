import type { ExecutionContext } from '@nestjs/common';
import type { McpContext } from '../protocol/call-context.js';

/** Positions among what the pipeline is called with, after request, response and next. */
export const ARGUMENTS_INDEX = 3;
export const CONTEXT_INDEX = 4;
export const ADMISSION_INDEX = 5;

/** What is being called. @publicApi */
export type McpHandlerKind = 'tool' | 'resource' | 'prompt' | 'completion';

/** Told by the method: a client that subscribes to a resource is judged as one that reads it. */
export function kindOf(method: string): McpHandlerKind {
  if (method === 'tools/call') return 'tool';
  if (method === 'prompts/get') return 'prompt';
  return method === 'completion/complete' ? 'completion' : 'resource';
}

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

  /** What is being called; the guards of a prompt or resource see `'completion'` where an argument of it is completed. */
  get kind(): McpHandlerKind {
    return kindOf(this.getContext().method);
  }

  /** The call's context. */
  getContext(): McpContext {
    return this.args[CONTEXT_INDEX] as McpContext;
  }

  /**
   * The arguments as they were sent; not yet validated while guards run. Of a resource the variables of its address,
   * of a completion the text so far under the argument's name, beside the arguments that are filled in.
   */
  getArgs<T = unknown>(): T {
    return this.args[ARGUMENTS_INDEX] as T;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type {
  CompletionRegistration,
  Handler,
  HandlerActivator,
  HandlerRegistration,
  PromptRegistration,
  ResourceRegistration,
  ToolRegistration,
} from '../discovery/registration.js';
import { MCP_SETTINGS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import type { CallOrigin } from '../protocol/call-origin.js';
import type { McpContext } from '../protocol/call-context.js';
import type { RoundVerdict } from '../protocol/asking/modern-rounds.js';
import type { CompletionResult, PromptResult, ReadResult, ToolResult } from '../protocol/content.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import { CompletionOutcomes } from './outcomes/completion.outcomes.js';
import { answered, type Outcomes } from './outcomes/outcomes.js';
import { PromptOutcomes } from './outcomes/prompt.outcomes.js';
import { ReadOutcomes } from './outcomes/read.outcomes.js';
import { ToolOutcomes } from './outcomes/tool.outcomes.js';
import { CallInterrupted } from './call-interrupted.js';
import { ExceptionMapper } from './exception.mapper.js';
import { CONTEXT_TYPE, PipelineFactory, type Admission, type Pipeline } from './pipeline.factory.js';
import { answerOf, responseFacade } from './response-facade.js';
import { isError, settle, type ResultBounds } from './result.mapper.js';

const next = () => undefined;

/** Builds, once per handler, the closures that a call goes through. */
@Injectable()
export class HandlerFactory implements HandlerActivator {
  constructor(
    private readonly pipelines: PipelineFactory,
    private readonly exceptions: ExceptionMapper,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {}

  tool(registration: ToolRegistration): Handler<ToolResult> {
    return this.create(registration, new ToolOutcomes(this.exceptions, registration));
  }

  resource(registration: ResourceRegistration): Handler<ReadResult> {
    return this.create(registration, new ReadOutcomes(this.exceptions, registration));
  }

  prompt(registration: PromptRegistration): Handler<PromptResult> {
    return this.create(registration, new PromptOutcomes(this.exceptions));
  }

  completion(registration: CompletionRegistration): Handler<CompletionResult> {
    return this.create(registration, new CompletionOutcomes(this.exceptions), registration.of.argument);
  }

  private create<Result>(
    registration: HandlerRegistration,
    outcomes: Outcomes<Result>,
    completes?: string,
  ): Handler<Result> {
    const { contract, isValidatedByApp } = registration;
    const admission: Admission = { contract, isValidatedByApp, completes };
    const { resultSize } = this.settings.limits;
    const acquire = this.pipelines.create(registration, outcomes.notesPipeFaults);

    const invoke = async (raw: JsonObject, context: McpContext, origin: CallOrigin) => {
      const facade = responseFacade(origin.response as object | undefined);
      try {
        const args = [origin.request, facade, next, raw, context, admission];
        const bounds = { call: context, resultSize };
        const { value, failure } = await runFiltered(await acquire(origin.request), args, bounds);
        // Whatever a handler, an interceptor or a filter made of it: a call that asked is not over.
        const undecided = context.questions.verdict(failure?.thrown);
        if (undecided) await interrupted(undecided);
        const answer = answerOf(facade);
        if (answer) return await answered(outcomes, answer, failure, bounds, context);
        return await (failure
          ? outcomes.filtered(value, bounds, context)
          : outcomes.returned(value, bounds, context));
      } catch (thrown) {
        if (CallInterrupted.is(thrown)) throw thrown;
        const undecided = context.questions.verdict(thrown);
        if (undecided) await interrupted(undecided);
        // Nobody waits for the answer, and that a handler stops when it should is no failure to log.
        if (context.isStoppedBy(thrown)) throw thrown;
        return outcomes.failed(thrown, context);
      }
    };
    const admit = async (raw: JsonObject, context: McpContext, origin: CallOrigin) => {
      const facade = responseFacade(origin.response as object | undefined);
      try {
        const pipeline = await acquire(origin.request);
        await pipeline.admit([origin.request, facade, next, raw, context, admission]);
      } catch (thrown) {
        throw this.exceptions.toMcpError(thrown, context);
      }
    };
    return { invoke, admit };
  }
}

async function interrupted(undecided: Promise<RoundVerdict | undefined>): Promise<void> {
  const verdict = await undecided;
  if (verdict) throw new CallInterrupted(verdict);
}

/** Exception filters see what was thrown as in a route; what they return is the result. */
async function runFiltered(
  pipeline: Pipeline,
  args: unknown[],
  bounds: ResultBounds,
): Promise<{ value: unknown; failure?: { thrown: unknown } }> {
  try {
    const value = await settle(await pipeline.run(...args), bounds);
    if (isError(value)) throw value;
    return { value };
  } catch (thrown) {
    const host = new ExecutionContextHost(args);
    host.setType(CONTEXT_TYPE);
    const value = await settle(await pipeline.filter(thrown, host), bounds);
    if (value !== undefined || answerOf(args[1] as object)) return { value, failure: { thrown } };
    throw thrown;
  }
}

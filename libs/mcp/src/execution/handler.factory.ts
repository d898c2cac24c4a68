import { Inject, Injectable } from '@nestjs/common';
import { ContextIdFactory, ExternalContextCreator, ModuleRef, type ContextId } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { PARAMS_METADATA } from '../decorators/metadata-keys.js';
import { UnprotectedHandlerException } from '../discovery/boot.exceptions.js';
import { ARGUMENTS_SLOT, CONTEXT_SLOT, HIDDEN_SLOT } from '../discovery/parameter.binder.js';
import { isMadePerCall, type HandlerLocation, type ToolRegistration } from '../discovery/registration.js';
import { isValidationPipe } from '../discovery/validation.plan.js';
import { MCP_SETTINGS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import type { CallOrigin, McpContext } from '../protocol/call-context.js';
import type { ToolResult } from '../protocol/content.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { ExceptionMapper } from './exception.mapper.js';
import { ADMISSION_INDEX, ARGUMENTS_INDEX, CONTEXT_INDEX } from './mcp-execution-context.js';
import { answerOf, responseFacade } from './response-facade.js';
import { isError, mapAnswer, mapFiltered, mapResult, settle, type ResultBounds } from './result.mapper.js';
import { admitArguments } from './validation.js';

/** Runs a tool through Nest's pipeline. Rejects with `McpError` only. */
export type InvokeTool = (raw: JsonObject, context: McpContext, origin: CallOrigin) => Promise<ToolResult>;

/** A handler with its guards, interceptors and pipes round it, and its exception filters. */
interface Pipeline {
  run(...args: unknown[]): Promise<unknown>;
  filter(thrown: unknown, host: ExecutionContextHost): unknown;
}

type Acquire = (request: unknown) => Pipeline | Promise<Pipeline>;

/** Raw arguments as the pipeline carries them, with the contract they have to meet. */
interface Admission {
  readonly contract: ArgumentsContract;
  readonly isValidatedByApp: boolean;
}

const CONTEXT_TYPE = 'mcp';
const next = () => undefined;

/** Members of `ExternalContextCreator` that exist in Nest 11 and 12, but not in its types. */
interface CreatorInternals {
  filtersContextCreator: {
    create(...args: unknown[]): Record<string, (thrown: unknown, host: ExecutionContextHost) => unknown>;
  };
}

/**
 * Nest's cache of a handler's parameters, for this handler alone: Nest 11 keys the shared one by the names of
 * class and method, and would bind the parameters of another class of that name.
 */
class OwnMetadataStorage {
  private metadata: unknown;

  get(): unknown {
    return this.metadata;
  }

  set(_instance: object, _key: string, metadata: unknown): void {
    this.metadata = metadata;
  }
}

/**
 * What runs has to be what was checked at start: guards are read off the prototype's method and off the
 * class, and an instance with a method of its own, or one that a proxy stands before, has neither.
 */
function assertUnchanged({ where, classRef, methodName, method }: HandlerLocation, instance: object): void {
  if (instance.constructor !== classRef) {
    throw new UnprotectedHandlerException(
      where,
      `its instance is no ${classRef.name} but made by another class or a proxy. Provide the class itself.`,
    );
  }
  if ((instance as Record<string, unknown>)[methodName] !== method) {
    throw new UnprotectedHandlerException(
      where,
      `its instance has a ${methodName} of its own, bound or patched, which guards on the method do not reach. ` +
        'Leave the method on the class: a tool is called with its instance as `this`.',
    );
  }
}

/** Builds, once per tool, the closure that a call goes through. */
@Injectable()
export class HandlerFactory {
  constructor(
    private readonly creator: ExternalContextCreator,
    private readonly exceptions: ExceptionMapper,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {}

  create(registration: ToolRegistration): InvokeTool {
    const { location, contract, isValidatedByApp, output, descriptor } = registration;
    const admission = { contract, isValidatedByApp };
    const { resultSize } = this.settings.limits;
    const acquire = isMadePerCall(location.wrapper)
      ? this.acquireScoped(registration)
      : this.acquireStatic(registration);
    return async (raw, context, origin) => {
      const facade = responseFacade(origin.response as object | undefined);
      try {
        const args = [origin.request, facade, next, raw, context, admission];
        const bounds = { call: context, resultSize };
        const { value, failure } = await this.runFiltered(await acquire(origin.request), args, bounds);
        const answer = answerOf(facade);
        if (!answer) return await (failure ? mapFiltered : mapResult)(value, bounds, output);
        return (
          (await mapAnswer(answer, bounds, output)) ??
          this.exceptions.unexpected(
            failure?.thrown ?? `answered with status ${answer.status}`,
            descriptor.name,
          )
        );
      } catch (thrown) {
        return this.exceptions.toToolResult(thrown, descriptor.name);
      }
    };
  }

  /** Exception filters see what was thrown as in a route; what they return is the result. */
  private async runFiltered(
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

  private acquireStatic(registration: ToolRegistration): Acquire {
    const instance = registration.location.wrapper.instance as object;
    const pipeline = this.pipeline(registration, instance, undefined, new OwnMetadataStorage());
    return () => pipeline;
  }

  /** A new instance for each call, from the handler's own module, in a context id of the call's own. */
  private acquireScoped(registration: ToolRegistration): Acquire {
    const { wrapper, host } = registration.location;
    const moduleRef = host.providers.get(ModuleRef)?.instance as ModuleRef;
    const metadataStorage = new OwnMetadataStorage();
    return async (request) => {
      const contextId = ContextIdFactory.getByRequest(request as object);
      moduleRef.registerRequestByContextId(contextId.payload ?? request, contextId);
      const instance = await moduleRef.resolve<object>(wrapper.token as string, contextId, { strict: true });
      return this.pipeline(registration, instance, contextId, metadataStorage);
    };
  }

  private pipeline(
    { location, skipsValidationPipe }: ToolRegistration,
    instance: object,
    contextId: ContextId | undefined,
    metadataStorage: OwnMetadataStorage,
  ): Pipeline {
    const { moduleKey, methodName, method, wrapper, where } = location;
    assertUnchanged(location, instance);
    // Nest finds a handler's module by its class and among providers only: a controller's guards would be
    // skipped, and of a class that two modules provide the wrong ones run. The module is known here.
    const bound = Object.create(this.creator, {
      getContextModuleKey: { value: () => moduleKey },
      getHostModuleKey: { value: () => moduleKey },
      handlerMetadataStorage: { value: metadataStorage },
      // An Observable is waited for here, where it can be told that the call has ended.
      transformToResult: { value: (result: unknown) => result },
      ...(skipsValidationPipe ? { getParamValue: { value: getParamValueUnvalidated } } : {}),
    }) as ExternalContextCreator;
    if (skipsValidationPipe && !hasParamValue) {
      throw new UnprotectedHandlerException(
        where,
        "this version of @nestjs/core has no place for validation: 'own'",
      );
    }
    // Enhancer metadata is read off the method itself, so it is passed as it is, never wrapped.
    const run = bound.create(
      instance,
      method,
      methodName,
      PARAMS_METADATA,
      PARAMS_FACTORY,
      contextId,
      wrapper.id,
      { guards: true, interceptors: true, filters: false },
      CONTEXT_TYPE,
    ) as Pipeline['run'];
    const { filtersContextCreator } = bound as unknown as CreatorInternals;
    const filters = filtersContextCreator?.create(instance, method, moduleKey, contextId, wrapper.id);
    const invoke = filters?.['invokeCustomFilters'] ?? filters?.['invokeCustomFilter'];
    if (!invoke)
      throw new UnprotectedHandlerException(
        where,
        'this version of @nestjs/core keeps exception filters elsewhere',
      );
    return { run, filter: (thrown, host) => invoke.call(filters, thrown, host) ?? undefined };
  }
}

type GetParamValue = (
  value: unknown,
  metadata: { readonly type: unknown },
  pipes: readonly object[],
) => Promise<unknown>;

const CREATOR = ExternalContextCreator.prototype as unknown as { getParamValue: GetParamValue };
const hasParamValue = typeof CREATOR.getParamValue === 'function';

/** As Nest's own, but where the library has validated the arguments a `ValidationPipe` is not to do it again. */
function getParamValueUnvalidated(
  this: object,
  value: unknown,
  metadata: { readonly type: unknown },
  pipes: readonly object[],
): Promise<unknown> {
  const run = metadata.type === ARGUMENTS_SLOT ? pipes.filter((pipe) => !isValidationPipe(pipe)) : pipes;
  return CREATOR.getParamValue.call(this, value, metadata, run);
}

/**
 * Gives each parameter its value, after guards and interceptors, before pipes. One for all handlers: what
 * differs between them travels with the call.
 */
const PARAMS_FACTORY = {
  exchangeKeyForValue(slot: number, _data: unknown, args: unknown[]): unknown {
    const context = args[CONTEXT_INDEX] as McpContext;
    context.fixCaller();
    if (slot === CONTEXT_SLOT) return context;
    const { contract, isValidatedByApp } = args[ADMISSION_INDEX] as Admission;
    const raw = args[ARGUMENTS_INDEX] as JsonObject;
    // No pipe sees arguments that the method does not take, so they are validated here.
    if (slot === HIDDEN_SLOT) return admitArguments(contract, raw, false).then(() => undefined);
    return admitArguments(contract, raw, isValidatedByApp);
  },
};

import { Injectable } from '@nestjs/common';
import { ExternalContextCreator, ModuleRef, type ContextId } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { PARAMS_METADATA } from '../decorators/metadata-keys.js';
import { UnprotectedHandlerException } from '../discovery/boot.exceptions.js';
import { callContextId } from '../discovery/call-context-id.js';
import {
  ARGUMENTS_SLOT,
  CONTEXT_SLOT,
  FILLED_SLOT,
  HIDDEN_SLOT,
  TYPED_SLOT,
} from '../discovery/parameter.binder.js';
import { isMadePerCall, type HandlerLocation, type HandlerRegistration } from '../discovery/registration.js';
import { isValidationPipe } from '../discovery/validation.plan.js';
import type { McpContext } from '../protocol/call-context.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { ADMISSION_INDEX, ARGUMENTS_INDEX, CONTEXT_INDEX } from './mcp-execution-context.js';
import { notePipeFault } from './pipe-faults.js';
import { admitArguments } from './validation.js';

/** A handler with its guards, interceptors and pipes round it, and its exception filters. */
export interface Pipeline {
  run(...args: unknown[]): Promise<unknown>;
  /** The guards alone; throws what they throw. */
  admit(args: unknown[]): Promise<void>;
  filter(thrown: unknown, host: ExecutionContextHost): unknown;
}

/** Gives the pipeline of a call: one for all, or where instances are made per call a new one. */
export type AcquirePipeline = (request: unknown) => Pipeline | Promise<Pipeline>;

/** Raw arguments as the pipeline carries them, with the contract they have to meet. */
export interface Admission {
  readonly contract: ArgumentsContract;
  readonly isValidatedByApp: boolean;
  /** The argument that is completed, where that is what the handler does. */
  readonly completes?: string;
}

export const CONTEXT_TYPE = 'mcp';

/** Members of `ExternalContextCreator` that exist in Nest 11 and 12, but not in its types. */
interface CreatorInternals {
  guardsContextCreator: { create(...args: unknown[]): unknown[] };
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
        'Leave the method on the class: it is called with its instance as `this`.',
    );
  }
}

/** Builds what a call goes through, once for each handler: Nest's guards, interceptors, pipes and filters round its method. */
@Injectable()
export class PipelineFactory {
  constructor(private readonly creator: ExternalContextCreator) {}

  /** @param notesPipeFaults whether it matters afterwards that a pipe threw something */
  create(registration: HandlerRegistration, notesPipeFaults: boolean): AcquirePipeline {
    const { location, skipsValidationPipe } = registration;
    const getParamValue = paramValueOf(notesPipeFaults, skipsValidationPipe);
    return isMadePerCall(location.wrapper)
      ? this.acquireScoped(location, getParamValue)
      : this.acquireStatic(location, getParamValue);
  }

  private acquireStatic(location: HandlerLocation, getParamValue: GetParamValue): AcquirePipeline {
    const own = { getParamValue, metadataStorage: new OwnMetadataStorage() };
    const pipeline = this.pipeline(location, location.wrapper.instance as object, undefined, own);
    return () => pipeline;
  }

  /** A new instance for each call, from the handler's own module, in a context id of the call's own. */
  private acquireScoped(location: HandlerLocation, getParamValue: GetParamValue): AcquirePipeline {
    const { wrapper, host } = location;
    const moduleRef = host.providers.get(ModuleRef)?.instance as ModuleRef;
    const own = { getParamValue, metadataStorage: new OwnMetadataStorage() };
    return async (request) => {
      const contextId = callContextId(request);
      moduleRef.registerRequestByContextId(contextId.payload ?? request, contextId);
      const instance = await moduleRef.resolve<object>(wrapper.token as string, contextId, { strict: true });
      return this.pipeline(location, instance, contextId, own);
    };
  }

  private pipeline(
    location: HandlerLocation,
    instance: object,
    contextId: ContextId | undefined,
    { getParamValue, metadataStorage }: OwnParts,
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
      getParamValue: { value: getParamValue },
    }) as ExternalContextCreator;
    if (!hasParamValue)
      throw new UnprotectedHandlerException(where, 'this version of @nestjs/core runs pipes elsewhere');
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
    const { filtersContextCreator, guardsContextCreator } = bound as unknown as CreatorInternals;
    const filters = filtersContextCreator?.create(instance, method, moduleKey, contextId, wrapper.id);
    const invoke = filters?.['invokeCustomFilters'] ?? filters?.['invokeCustomFilter'];
    if (!invoke || !guardsContextCreator)
      throw new UnprotectedHandlerException(
        where,
        'this version of @nestjs/core keeps guards and exception filters elsewhere',
      );
    const admit = () => {
      const guards = guardsContextCreator.create(instance, method, moduleKey, contextId, wrapper.id);
      return bound.createGuardsFn(guards, instance as never, method, CONTEXT_TYPE) as
        ((args: unknown[]) => Promise<void>) | null;
    };
    return {
      run,
      admit: async (args) => admit()?.(args),
      filter: (thrown, host) => invoke.call(filters, thrown, host) ?? undefined,
    };
  }
}

type GetParamValue = (
  this: object,
  value: unknown,
  metadata: { readonly type: unknown },
  pipes: readonly object[],
) => Promise<unknown>;

/** What differs between handlers in how Nest is asked to bind them. */
interface OwnParts {
  readonly getParamValue: GetParamValue;
  readonly metadataStorage: OwnMetadataStorage;
}

const CREATOR = ExternalContextCreator.prototype as unknown as { getParamValue: GetParamValue };
const hasParamValue = typeof CREATOR.getParamValue === 'function';

/** How pipes are run: as Nest does, but for a pipe that is not to run, and with a note of what they throw. */
function paramValueOf(notesPipeFaults: boolean, skipsValidationPipe: boolean): GetParamValue {
  const run = skipsValidationPipe ? getParamValueUnvalidated : CREATOR.getParamValue;
  if (!notesPipeFaults) return run;
  return async function (this: object, ...args) {
    try {
      return await run.apply(this, args);
    } catch (thrown) {
      notePipeFault(thrown);
      throw thrown;
    }
  };
}

/** Where the library has validated the arguments a `ValidationPipe` is not to do it again. */
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
    const entering = (args[CONTEXT_INDEX] as McpContext).enter();
    return entering ? entering.then(() => valueOf(slot, args)) : valueOf(slot, args);
  },
};

function valueOf(slot: number, args: unknown[]): unknown {
  if (slot === CONTEXT_SLOT) return args[CONTEXT_INDEX];
  const { contract, isValidatedByApp, completes } = args[ADMISSION_INDEX] as Admission;
  const raw = args[ARGUMENTS_INDEX] as JsonObject;
  if (slot === TYPED_SLOT) return raw[completes!];
  if (slot === FILLED_SLOT) {
    const { [completes!]: _typed, ...filled } = raw;
    return filled;
  }
  // No pipe sees arguments that the method does not take, so they are validated here.
  if (slot === HIDDEN_SLOT) return admitArguments(contract, raw, false).then(() => undefined);
  return admitArguments(contract, raw, isValidatedByApp);
}

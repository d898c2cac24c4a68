import { Injectable, type CanActivate, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { isObservable, lastValueFrom } from 'rxjs';
import { ARGS_METADATA, CONTEXT_METADATA } from '../decorators/metadata-keys.js';
import { McpContext } from '../protocol/call-context.js';
import {
  UnknownGuardException,
  UnprotectedHandlerException,
  UnusableHandlerException,
} from './boot.exceptions.js';
import { callContextId } from './call-context-id.js';
import type { HandlerLocation } from './registration.js';

/** A handler that is added at run time. Its first argument is what the caller sent, validated. */
export type AddedHandler = (args: never, ctx: McpContext) => unknown;

/** A guard of a handler that is added at run time: a class, looked up where it is provided, or an instance. */
export type AddedGuard = Type<CanActivate> | CanActivate;

const GUARDS_METADATA = '__guards__';
const METHOD = 'handle';

/** What is said of a handler that is added. */
export interface Added {
  readonly guards: readonly AddedGuard[];
  /** How the handler is called in messages. */
  readonly where: string;
  /** Whether the handler's first argument is bound; it is an empty object otherwise. */
  readonly takesArguments: boolean;
  /** What decorators may stand on; the handler itself, where nothing is said. */
  readonly marked?: object;
}

/** A handler as a method of a class, so that one pipeline serves it like a decorated one. */
export interface AddedLocation {
  readonly location: HandlerLocation;
  /** Makes the guards that no module provides. */
  readonly prepare: () => Promise<void>;
}

/** Gives functions that are added at run time a place among the application's handlers. */
@Injectable()
export class AddedHandlers {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
  ) {}

  locate(handler: AddedHandler, { guards, where, takesArguments, marked = handler }: Added): AddedLocation {
    if (typeof marked !== 'function') throw new UnusableHandlerException(where, marked);
    const call = handler as (args: unknown, ctx: McpContext) => unknown;
    class McpAddedHandler {}
    const method: HandlerLocation['method'] = takesArguments
      ? (args, ctx) => call(args, ctx as McpContext)
      : (ctx) => call({}, ctx as McpContext);
    Object.defineProperty(McpAddedHandler.prototype, METHOD, { value: method });
    // What decorators put on the function itself, roles for example, is what guards look for on the handler.
    for (const key of Reflect.getMetadataKeys(marked) as unknown[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, marked), method);
    if (takesArguments) Reflect.defineMetadata(ARGS_METADATA, 0, McpAddedHandler, METHOD);
    Reflect.defineMetadata(CONTEXT_METADATA, takesArguments ? 1 : 0, McpAddedHandler, METHOD);
    const types = takesArguments ? [Object, McpContext] : [McpContext];
    Reflect.defineMetadata('design:paramtypes', types, McpAddedHandler.prototype, METHOD);
    const own = (Reflect.getMetadata(GUARDS_METADATA, method) ?? []) as AddedGuard[];
    const made = [...own, ...guards].map((guard) => {
      assertGuard(guard, where);
      return typeof guard === 'function' ? this.guardOf(guard, where) : { guard };
    });
    const judges = made.map(({ guard }) => guard);
    Reflect.defineMetadata(GUARDS_METADATA, judges, method);
    const [moduleKey, host] = this.ownModule();
    const instance = new McpAddedHandler();
    const wrapper = new InstanceWrapper({
      name: McpAddedHandler.name,
      token: McpAddedHandler,
      metatype: McpAddedHandler,
      instance,
      isResolved: true,
      host,
    });
    return {
      location: { where, wrapper, host, moduleKey, classRef: McpAddedHandler, methodName: METHOD, method },
      prepare: async () => {
        for (const guard of made) if ('prepare' in guard) await guard.prepare();
      },
    };
  }

  private ownModule(): [string, Module] {
    const found = [...this.modules].find(([, host]) => host.providers.get(AddedHandlers)?.instance === this);
    return found!;
  }

  /** A guard that is provided somewhere is that one, of a scope of its own as well; another is made once. */
  private guardOf(
    type: Type<CanActivate>,
    where: string,
  ): { guard: CanActivate; prepare: () => Promise<void> } {
    const wrapper = this.provided(type);
    let made: CanActivate | undefined;
    const find = async (request: unknown): Promise<CanActivate> => {
      if (made) return made;
      if (wrapper && (wrapper.isTransient || !wrapper.isDependencyTreeStatic())) {
        const contextId = callContextId(request);
        this.moduleRef.registerRequestByContextId(contextId.payload ?? request, contextId);
        return this.moduleRef.resolve(type, contextId, { strict: false });
      }
      const found = this.moduleRef.get<CanActivate>(type, { strict: false });
      return (made = found);
    };
    return {
      guard: {
        canActivate: async (context) => {
          const guard = await find(context.switchToHttp().getRequest<unknown>());
          const verdict = guard.canActivate(context);
          // Inside a promise Nest would take an Observable for a yes.
          return isObservable(verdict) ? lastValueFrom(verdict) : verdict;
        },
      },
      prepare: async () => {
        if (wrapper) return;
        try {
          made ??= await this.moduleRef.create(type);
        } catch (error) {
          throw new UnknownGuardException(where, type.name, error);
        }
      },
    };
  }

  private provided(type: Type<CanActivate>): InstanceWrapper | undefined {
    for (const { providers, injectables } of this.modules.values()) {
      const wrapper = providers.get(type) ?? injectables.get(type);
      if (wrapper) return wrapper;
    }
    return undefined;
  }
}

/** Nest leaves out what has no `canActivate`, and whoever gave it counts on it. */
function assertGuard(guard: unknown, where: string): void {
  const judge: unknown = typeof guard === 'function' ? guard.prototype : guard;
  if (typeof (judge as Partial<CanActivate> | null | undefined)?.canActivate === 'function') return;
  throw new UnprotectedHandlerException(
    where,
    `${String(guard)} is given as a guard, but has no method canActivate`,
  );
}

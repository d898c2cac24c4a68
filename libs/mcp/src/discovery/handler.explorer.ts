import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { DECORATOR_OF, type HandlerMark } from '../decorators/handler.mark.js';
import { HANDLER_METADATA } from '../decorators/metadata-keys.js';
import { UnprotectedHandlerException } from './boot.exceptions.js';
import { isMadePerCall, type HandlerLocation } from './registration.js';

/** A decorated method as it was found. */
export interface FoundHandler {
  readonly location: HandlerLocation;
  readonly mark: HandlerMark;
}

/** Walks the providers and controllers of every module and collects decorated methods, in Nest's order. */
@Injectable()
export class HandlerExplorer {
  constructor(private readonly modules: ModulesContainer) {}

  findHandlers(): FoundHandler[] {
    const found: FoundHandler[] = [];
    for (const [moduleKey, host] of this.modules.entries()) {
      for (const wrapper of [...host.providers.values(), ...host.controllers.values()]) {
        const prototype = prototypeOf(wrapper);
        if (prototype) found.push(...findIn(prototype, wrapper, host, moduleKey));
      }
    }
    return found;
  }

  /** How many modules of that class the application has. */
  countModules(metatype: object): number {
    return [...this.modules.values()].filter((module) => module.metatype === metatype).length;
  }
}

/** A provider may be anything: null, a number, an object without prototype. Only class instances count. */
function prototypeOf(wrapper: InstanceWrapper): object | undefined {
  if (wrapper.isAlias) return undefined;
  if (wrapper.isFactory && isMadePerCall(wrapper)) {
    // What it will make is not there yet; its token says so where it is a class.
    return typeof wrapper.token === 'function' ? (wrapper.token.prototype as object | undefined) : undefined;
  }
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return prototype === null || prototype === Object.prototype ? undefined : prototype;
}

function* findIn(
  prototype: object,
  wrapper: InstanceWrapper,
  host: Module,
  moduleKey: string,
): Generator<FoundHandler> {
  const classRef = prototype.constructor as HandlerLocation['classRef'];
  for (const [methodName, owner] of methodsOf(prototype)) {
    const mark = Reflect.getOwnMetadata(HANDLER_METADATA, owner, methodName) as HandlerMark | undefined;
    if (!mark) continue;
    const method = (prototype as Record<string, unknown>)[methodName] as HandlerLocation['method'];
    const where = `${classRef.name}.${methodName}`;
    if (Reflect.getMetadata(HANDLER_METADATA, method) !== mark) {
      throw new UnprotectedHandlerException(
        where,
        `a decorator above ${DECORATOR_OF[mark.kind]} replaced the method, so what @UseGuards() and its kind stored is lost. ` +
          'Put that decorator last, directly above the method.',
      );
    }
    yield { location: { where, wrapper, host, moduleKey, classRef, methodName, method }, mark };
  }
}

/** Every method name of a prototype chain with the prototype that holds it, nearest first, base classes last. */
function methodsOf(prototype: object): Map<string, object> {
  const methods = new Map<string, object>();
  for (
    let at: object | null = prototype;
    at && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (name !== 'constructor' && typeof property.value === 'function' && !methods.has(name))
        methods.set(name, at);
    }
  }
  return methods;
}

import type { ApplicationConfig } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';
import { UnprotectedHandlerException } from './boot.exceptions.js';
import type { HandlerLocation } from './registration.js';

const ENHANCERS: Record<string, string> = {
  __guards__: '@UseGuards',
  __interceptors__: '@UseInterceptors',
  __pipes__: '@UsePipes',
  __exceptionFilters__: '@UseFilters',
};

/**
 * Nest leaves out, without a word, an enhancer class that it did not register with the handler's module,
 * and a request-scoped global enhancer where the handler is static. Both would serve a handler less
 * protected than it is declared, so the application does not start.
 */
export function assertProtected(location: HandlerLocation, config: ApplicationConfig): void {
  const { where, host, classRef, method, wrapper } = location;
  assertEnhancersRegistered(where, host, [classRef, method]);
  const scoped = [
    ...config.getGlobalRequestGuards(),
    ...config.getGlobalRequestInterceptors(),
    ...config.getGlobalRequestPipes(),
    ...config.getGlobalRequestFilters(),
  ].filter((enhancer) => !enhancer.isTransient);
  // A value without metatype is never made anew, so nothing scoped can be made for it.
  if (scoped.length > 0 && (wrapper.isDependencyTreeStatic() || !wrapper.metatype)) {
    throw new UnprotectedHandlerException(
      where,
      `the request-scoped global enhancer ${scoped[0]!.name} does not reach it. ` +
        'Provide the class itself (`providers: [TheClass]`), or make that enhancer a singleton.',
    );
  }
}

/** Refuses pipe classes of parameter decorators that the module does not hold. */
export function assertPipesRegistered(where: string, host: Module, pipes: readonly unknown[]): void {
  const lost = pipes.find((pipe) => typeof pipe === 'function' && !host.injectables.has(pipe as never));
  if (typeof lost === 'function') throw unknownEnhancer(where, `the pipe ${lost.name} of a parameter`);
}

/** Refuses enhancers given as classes that the module does not hold. */
export function assertEnhancersRegistered(where: string, host: Module, targets: readonly object[]): void {
  for (const [key, decorator] of Object.entries(ENHANCERS)) {
    for (const target of targets) {
      const enhancers = (Reflect.getMetadata(key, target) ?? []) as unknown[];
      const lost = enhancers.find(
        (enhancer) => typeof enhancer === 'function' && !host.injectables.has(enhancer as never),
      );
      if (typeof lost !== 'function') continue;
      throw unknownEnhancer(where, `${decorator}(${lost.name})`);
    }
  }
}

function unknownEnhancer(where: string, enhancer: string): UnprotectedHandlerException {
  return new UnprotectedHandlerException(
    where,
    `${enhancer} is unknown to its module. ` +
      'Provide the decorated class itself (`providers: [TheClass]`) instead of `useClass`, a value or a factory, ' +
      'or give the enhancer as an instance.',
  );
}

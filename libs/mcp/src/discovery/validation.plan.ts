import { ValidationPipe } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { DtoView } from '../schema/dto-schema.factory.js';
import type { McpSettings } from '../mcp.settings.js';
import { UnvalidatedHandlerException } from './boot.exceptions.js';
import type { HandlerLocation } from './registration.js';

/** Who validates a handler's DTO, so that class-validator runs exactly once. */
export interface ValidationPlan {
  /** The application's pipes get the raw arguments, and ours stands back. */
  readonly isByApp: boolean;
  /** The rules that the application's pipe runs, where it runs some of them only. */
  readonly view?: DtoView;
}

/** Says who validates a handler's DTO, by the pipes bound to the application, the class and the method. */
export function validationPlan(
  location: HandlerLocation,
  config: ApplicationConfig,
  mode: McpSettings['validation'],
): ValidationPlan {
  if (mode === 'own') return { isByApp: false };
  const pipes = boundPipes(location, config);
  if (mode === 'app' && pipes.length === 0) throw new UnvalidatedHandlerException(location.where);
  const validating = pipes.filter(isValidationPipe);
  if (validating.length === 0) return { isByApp: mode === 'app' };
  return { isByApp: true, view: viewOf(validating, location) };
}

/** Recognises Nest's own pipe and what extends it, as an instance or as a class. */
export function isValidationPipe(pipe: unknown): boolean {
  return (
    pipe instanceof ValidationPipe ||
    (typeof pipe === 'function' && (pipe === ValidationPipe || pipe.prototype instanceof ValidationPipe))
  );
}

function boundPipes({ classRef, method }: HandlerLocation, config: ApplicationConfig): unknown[] {
  return [
    ...config.getGlobalPipes(),
    ...config.getGlobalRequestPipes().map((wrapper) => wrapper.metatype),
    ...((Reflect.getMetadata('__pipes__', classRef) ?? []) as unknown[]),
    ...((Reflect.getMetadata('__pipes__', method) ?? []) as unknown[]),
  ];
}

/** Options of the pipe that choose among a DTO's rules. Protected in its types, and the same in Nest 11 and 12. */
interface PipeInternals {
  readonly validatorOptions?: Pick<DtoView, 'groups' | 'strictGroups' | 'always'>;
}

function viewOf(pipes: readonly unknown[], { host }: HandlerLocation): DtoView {
  for (const pipe of pipes) {
    const instance: unknown =
      typeof pipe === 'function' ? host.injectables.get(pipe as never)?.instance : pipe;
    const { groups, strictGroups, always } = (instance as PipeInternals | undefined)?.validatorOptions ?? {};
    if (groups?.length || strictGroups || always) return { groups, strictGroups, always };
  }
  return {};
}

import { ValidationPipe } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { DtoView } from '../schema/dto/dto-schema.factory.js';
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
  const isOnly = validating.length === pipes.length;
  return { isByApp: true, view: viewOf(validating, location, isOnly) };
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

/** Options of the pipe that choose among a DTO's properties and rules. Protected in its types, and the same in Nest 11 and 12. */
interface PipeInternals {
  readonly isTransformEnabled?: boolean;
  readonly validatorOptions?: Pick<DtoView, 'groups' | 'strictGroups' | 'always' | 'whitelist'>;
  readonly transformOptions?: {
    readonly excludeExtraneousValues?: boolean;
    readonly groups?: readonly string[];
    readonly enableImplicitConversion?: boolean;
    readonly targetMaps?: readonly unknown[];
  };
}

function viewOfPipe({ validatorOptions = {}, transformOptions = {} }: PipeInternals): DtoView {
  const { groups, strictGroups, always, whitelist } = validatorOptions;
  const { excludeExtraneousValues: exposedOnly, groups: exposeGroups } = transformOptions;
  return { groups, strictGroups, always, whitelist, exposedOnly, exposeGroups };
}

/**
 * Of several pipes the first that says something of a matter; one made per request says nothing yet.
 * @param isOnly no pipe of another kind is bound, which could make what it likes of the arguments
 */
function viewOf(pipes: readonly unknown[], { host }: HandlerLocation, isOnly: boolean): DtoView {
  const made = pipes.map((pipe): PipeInternals => {
    const instance: unknown =
      typeof pipe === 'function' ? host.injectables.get(pipe as never)?.instance : pipe;
    return instance ?? {};
  });
  const said = made.flatMap((pipe) => Object.entries(viewOfPipe(pipe)).filter(([, value]) => Boolean(value)));
  return {
    ...Object.fromEntries(said.toReversed()),
    typedOnly: isOnly && made.every(readsTypesOnly),
    keepsPlain: made.every(handsOnPlain),
  };
}

function readsTypesOnly({ isTransformEnabled, transformOptions = {} }: PipeInternals): boolean {
  const { enableImplicitConversion, targetMaps } = transformOptions;
  return isTransformEnabled !== undefined && !enableImplicitConversion && !targetMaps;
}

// With an option of class-validator's besides the one that Nest sets, it writes its instance back as a plain object.
function handsOnPlain({ isTransformEnabled, validatorOptions = {} }: PipeInternals): boolean {
  return isTransformEnabled === false && Object.keys(validatorOptions).length <= 1;
}

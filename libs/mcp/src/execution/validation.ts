import { ValidationPipe } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { HandlerLocation } from '../discovery/registration.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';

/**
 * Whether the application validates this handler's arguments itself, by a `ValidationPipe` bound to the
 * application, the class or the method. Ours then stands back, so that class-validator runs exactly once.
 */
export function hasOwnValidation({ classRef, method }: HandlerLocation, config: ApplicationConfig): boolean {
  const bound = [
    ...config.getGlobalPipes(),
    ...config.getGlobalRequestPipes().map((wrapper) => wrapper.metatype),
    ...((Reflect.getMetadata('__pipes__', classRef) ?? []) as unknown[]),
    ...((Reflect.getMetadata('__pipes__', method) ?? []) as unknown[]),
  ];
  return bound.some(isValidationPipe);
}

function isValidationPipe(pipe: unknown): boolean {
  return (
    pipe instanceof ValidationPipe ||
    (typeof pipe === 'function' && (pipe === ValidationPipe || pipe.prototype instanceof ValidationPipe))
  );
}

/**
 * The arguments as the handler's pipes get them: the published schema on the raw JSON first, then, unless
 * the application does it, the DTO's instance.
 *
 * @throws InvalidArgumentsException naming each field
 */
export async function admitArguments(
  contract: ArgumentsContract,
  raw: Record<string, unknown>,
  isValidatedByApp: boolean,
): Promise<unknown> {
  const issues = contract.checkRaw(raw);
  const found = Array.isArray(issues) ? issues : await issues;
  if (found.length > 0) throw new InvalidArgumentsException(found);
  if (isValidatedByApp) return raw;
  const made = await contract.instantiate(raw);
  if ('issues' in made) throw new InvalidArgumentsException(made.issues);
  return made.value;
}

import type { Module } from '@nestjs/core/injector/module.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { ToolDescriptor } from '../protocol/result-encoder.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import type { OutputContract } from '../schema/output.contract.js';

/** The method behind a tool, and where Nest keeps it. */
export interface HandlerLocation {
  /** `Class.method`, for messages. */
  readonly where: string;
  readonly wrapper: InstanceWrapper;
  readonly host: Module;
  /** Key of the host among the application's modules. */
  readonly moduleKey: string;
  readonly classRef: new (...args: never[]) => object;
  readonly methodName: string;
  readonly method: (...args: unknown[]) => unknown;
}

/** All that is known of a tool at start; never changed afterwards. */
export interface ToolRegistration {
  readonly location: HandlerLocation;
  readonly descriptor: ToolDescriptor;
  readonly contract: ArgumentsContract;
  /** Pipes of the application make the DTO's instance and validate it. */
  readonly isValidatedByApp: boolean;
  /** The application's own `ValidationPipe` is not to see the arguments. */
  readonly skipsValidationPipe: boolean;
  readonly output?: OutputContract;
  /** ms; the server's `limits.handlerTime` where the tool says nothing. */
  readonly timeout: number | undefined;
}

/** Whether each call gets an instance of its own: request-scoped or durable, itself or by what it depends on, or transient. */
export function isMadePerCall(wrapper: InstanceWrapper): boolean {
  return wrapper.isTransient || !wrapper.isDependencyTreeStatic();
}

import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import type { CallOrigin } from '../protocol/call-origin.js';
import type { McpContext } from '../protocol/call-context.js';
import type { CompletionResult, PromptResult, ReadResult, ToolResult } from '../protocol/content.js';
import type {
  CacheHints,
  PromptDescriptor,
  ResourceDescriptor,
  ToolDescriptor,
} from '../protocol/descriptors.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import type { UriTemplate } from '../protocol/uri-template.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import type { MirroredArgument } from '../schema/mirrored-arguments.js';
import type { OutputContract } from '../schema/output.contract.js';

/** The method behind a handler, and where Nest keeps it. */
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

/** How a handler is bound: all that its pipeline is built from, whatever its kind. */
export interface HandlerRegistration {
  readonly location: HandlerLocation;
  readonly contract: ArgumentsContract;
  /** Pipes of the application make the DTO's instance and validate it. */
  readonly isValidatedByApp: boolean;
  /** The application's own `ValidationPipe` is not to see the arguments. */
  readonly skipsValidationPipe: boolean;
  /** ms; the server's `limits.handlerTime` where the handler says nothing. */
  readonly timeout: number | undefined;
}

/** All that is known of a tool; never changed afterwards. */
export interface ToolRegistration extends HandlerRegistration {
  readonly descriptor: ToolDescriptor;
  readonly output?: OutputContract;
  /** Arguments that clients of 2026-07-28 repeat in headers. */
  readonly mirrored: readonly MirroredArgument[];
}

/** All that is known of a resource or a template of resources. */
export interface ResourceRegistration extends HandlerRegistration {
  readonly descriptor: ResourceDescriptor;
  /** Of a template alone. */
  readonly template: UriTemplate | undefined;
  readonly cache: CacheHints;
}

/** All that is known of a prompt. */
export interface PromptRegistration extends HandlerRegistration {
  readonly descriptor: PromptDescriptor;
}

/** All that is known of a handler that completes an argument. */
export interface CompletionRegistration extends HandlerRegistration {
  readonly of: CompletionTarget;
}

/** What is completed. `name`: the prompt's name or the template as it is declared. */
export interface CompletionTarget {
  readonly kind: 'prompt' | 'resource';
  readonly name: string;
  readonly argument: string;
}

/** A handler that is ready to be called: its pipeline is built. */
export interface Handler<Result> {
  /** Guards, interceptors, pipes, the method, filters. Rejects with `McpError` only. */
  invoke(raw: JsonObject, context: McpContext, origin: CallOrigin): Promise<Result>;
  /** The guards alone, as for `invoke`; resolves where they let the caller pass. Rejects with `McpError` only. */
  admit(raw: JsonObject, context: McpContext, origin: CallOrigin): Promise<void>;
}

/** Makes handlers of registrations; what keeps one from being made is a named exception. */
export interface HandlerActivator {
  tool(registration: ToolRegistration): Handler<ToolResult>;
  resource(registration: ResourceRegistration): Handler<ReadResult>;
  prompt(registration: PromptRegistration): Handler<PromptResult>;
  completion(registration: CompletionRegistration): Handler<CompletionResult>;
}

/** Whether each call gets an instance of its own: request-scoped or durable, itself or by what it depends on, or transient. */
export function isMadePerCall(wrapper: InstanceWrapper): boolean {
  return wrapper.isTransient || !wrapper.isDependencyTreeStatic();
}

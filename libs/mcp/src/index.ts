export { McpModule } from './mcp.module.js';
export type {
  McpHttpOptions,
  McpLimits,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpServerPlacement,
  McpSessionOptions,
  McpSseOptions,
} from './mcp.options.js';
export { McpRegistry, type McpAdded, type McpExposable, type McpExposed } from './discovery/mcp.registry.js';
export type {
  AddedGuard as McpAddedGuard,
  AddedHandler as McpAddedHandler,
} from './discovery/added.handlers.js';
export { InjectMcpRegistry } from './discovery/inject-registry.js';
export { McpBootException } from './mcp.exceptions.js';

export { McpTool, type McpToolOptions } from './decorators/tool.decorator.js';
export { McpResource, type McpResourceOptions } from './decorators/resource.decorator.js';
export { McpPrompt, type McpPromptOptions } from './decorators/prompt.decorator.js';
export { McpCompletion, type McpCompletionOf } from './decorators/completion.decorator.js';
export type { McpNamed } from './decorators/handler.mark.js';
export { McpArgs, McpCtx } from './decorators/parameter.decorators.js';
export { McpProperty, type McpPropertyOptions } from './decorators/property.decorator.js';

export { jsonSchemaOf } from './schema/dto/dto-schema.factory.js';
export { schema } from './schema/schema-helpers.js';
export type { JsonSchema } from './schema/json-schema.js';
export type { McpSchema } from './schema/schema-kind.js';

export { McpContext } from './protocol/call-context.js';
export { type McpAskOptions, type McpElicited, type McpForm } from './protocol/asking/asking.js';
export { type McpCaller, type McpTransport } from './protocol/call-origin.js';
export { McpAskError, type McpAskFault } from './protocol/asking/ask-error.js';
export { McpSuspension } from './protocol/asking/modern-rounds.js';
export type {
  McpModelPreferences,
  McpSampled,
  McpSampling,
  McpSamplingTool,
} from './protocol/asking/sampling.js';
export type {
  McpSampledBlock,
  McpSamplingMessage,
  McpToolResultBlock,
  McpToolUseBlock,
} from './protocol/asking/sampling-messages.js';
export type { McpClientLog, McpLogLevel } from './protocol/client-log.js';
export { content, type McpContentOptions, type McpLinkOptions } from './protocol/content-builders.js';
export type {
  AudioBlock as McpAudioBlock,
  ContentBlock as McpContentBlock,
  ImageBlock as McpImageBlock,
  PromptMessage as McpPromptMessage,
  ResourceBlock as McpResourceBlock,
  ResourceContents as McpResourceContents,
  ResourceLinkBlock as McpResourceLinkBlock,
  TextBlock as McpTextBlock,
} from './protocol/content.js';
export type { ClientInfo as McpClientInfo } from './protocol/request-meta.js';
export { McpExecutionContext, type McpHandlerKind } from './execution/mcp-execution-context.js';
export { McpError } from './protocol/mcp-error.js';
export type { ListKind as McpListKind, McpChange } from './protocol/changes.js';
export { McpEventBus, type McpBusMessage } from './protocol/event-bus.js';
export type { McpSessionSignal } from './protocol/legacy/session-signals.js';
export type { McpAnnotations, McpCacheHints, McpIcon } from './protocol/descriptors.js';
export {
  McpEventStore,
  type McpReplay,
  type McpReplayBounds,
  type McpStreamEvent,
  type McpStreamKey,
} from './protocol/legacy/event-store.js';
export {
  McpSessionStore,
  type McpSessionCaps,
  type McpSessionChange,
  type McpSessionData,
  type McpSessionUse,
} from './protocol/legacy/session-store.js';
export type { McpEra, McpRevision } from './protocol/versions.js';

export { serveMcpOverStdio, type McpStdioApp, type McpStdioOptions } from './serve-mcp-over-stdio.js';
export { mcpCors } from './transport/http/cors.js';
export { McpDispatcher, type McpPeer } from './transport/peer/mcp.dispatcher.js';
export { McpStdioRequest, type McpStdioRequestOptions } from './transport/peer/stand-in.request.js';

export { McpModule } from './mcp.module.js';
export type {
  McpHttpOptions,
  McpLimits,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpServerPlacement,
  McpSessionOptions,
} from './mcp.options.js';
export { McpRegistry, type McpExposed } from './discovery/mcp.registry.js';
export { McpBootException } from './mcp.exceptions.js';

export { McpTool, type McpToolOptions } from './decorators/tool.decorator.js';
export { McpArgs, McpCtx } from './decorators/parameter.decorators.js';
export { McpProperty, type McpPropertyOptions } from './decorators/property.decorator.js';

export { jsonSchemaOf } from './schema/dto/dto-schema.factory.js';
export { schema } from './schema/schema-helpers.js';
export type { JsonSchema } from './schema/json-schema.js';
export type { McpSchema } from './schema/schema-kind.js';

export { McpContext, type McpCaller, type McpTransport } from './protocol/call-context.js';
export { McpExecutionContext } from './execution/mcp-execution-context.js';
export { McpError } from './protocol/mcp-error.js';
export type { McpIcon } from './protocol/result-encoder.js';
export type { McpEra, McpRevision } from './protocol/versions.js';

export { serveMcpOverStdio, type McpStdioApp, type McpStdioOptions } from './serve-mcp-over-stdio.js';
export { McpStdioRequest, type McpStdioRequestOptions } from './transport/stdio/stdio-request.js';

import { Inject } from '@nestjs/common';
import { McpRegistry } from './mcp.registry.js';

/**
 * Injects the `McpRegistry`, in any module: `McpModule` does not have to be imported there.
 *
 * @example constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}
 * @publicApi
 */
export function InjectMcpRegistry(): ParameterDecorator & PropertyDecorator {
  return Inject(McpRegistry);
}

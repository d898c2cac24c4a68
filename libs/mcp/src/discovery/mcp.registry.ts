import { Injectable } from '@nestjs/common';
import { ToolRegistrar } from './tool.registrar.js';
import type { ToolRegistration } from './registration.js';

/** One thing that is exposed, for reports and tests. @publicApi */
export interface McpExposed {
  kind: 'tool';
  name: string;
  /** Size of its schemas, input and output, as JSON. */
  schemaBytes: number;
}

/**
 * What this server exposes. Filled once the application is initialised.
 *
 * @example app.get(McpRegistry).describe() // [{ kind: 'tool', name: 'searchTickets', schemaBytes: 812 }, …]
 * @publicApi
 */
@Injectable()
export class McpRegistry {
  private registered: ReadonlyMap<string, ToolRegistration> = new Map();

  /** @internal */
  constructor(private readonly registrar: ToolRegistrar) {}

  /** @internal Finds the tools, once, at start. */
  async discover(): Promise<ReadonlyMap<string, ToolRegistration>> {
    this.registered = await this.registrar.register();
    return this.registered;
  }

  /** What is exposed, in the order it is listed. */
  describe(): McpExposed[] {
    return [...this.registered.values()].map(({ descriptor }) => ({
      kind: 'tool',
      name: descriptor.name,
      schemaBytes: bytesOf(descriptor.inputSchema) + bytesOf(descriptor.outputSchema),
    }));
  }
}

function bytesOf(schema: object | undefined): number {
  return schema ? Buffer.byteLength(JSON.stringify(schema)) : 0;
}

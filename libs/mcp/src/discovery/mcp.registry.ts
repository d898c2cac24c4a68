import { Injectable } from '@nestjs/common';
import { ToolRegistrar } from './tool.registrar.js';
import type { ToolRegistration } from './registration.js';

/** One thing that is exposed, for reports and tests. @publicApi */
export interface McpExposed {
  kind: 'tool';
  name: string;
  /** Size of its input schema as JSON. */
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
  discover(): ReadonlyMap<string, ToolRegistration> {
    this.registered = this.registrar.register();
    return this.registered;
  }

  /** What is exposed, in the order it is listed. */
  describe(): McpExposed[] {
    return [...this.registered.values()].map(({ descriptor }) => ({
      kind: 'tool',
      name: descriptor.name,
      schemaBytes: Buffer.byteLength(JSON.stringify(descriptor.inputSchema)),
    }));
  }
}

import { Injectable, Module, type Type } from '@nestjs/common';
import { McpArgs, McpModule, McpTool, type McpToolOptions } from 'nest-mcp';
import type { CorpusEntry } from './corpus/entry.js';

/** The name under which an entry is a tool: as many letters as names may have. */
export const toolName = (entry: CorpusEntry): string => entry.name.replace(/\W+/g, '_');

type Method = (args: unknown) => unknown;

/** A module with one tool for each entry, as if each had been written down as a decorated method. */
export function corpusModule(
  entries: readonly CorpusEntry[],
  options: (entry: CorpusEntry) => McpToolOptions,
  method: Method,
): Type {
  @Injectable()
  class CorpusTools {}
  const prototype = CorpusTools.prototype as Record<string, unknown>;
  for (const entry of entries) {
    const name = toolName(entry);
    // A function of its own for each, as decorators write on it.
    const descriptor = { value: (args: unknown) => method(args), writable: true, configurable: true };
    Object.defineProperty(prototype, name, descriptor);
    McpArgs()(prototype, name, 0);
    McpTool({ description: `Takes ${entry.name}`, ...options(entry) })(prototype, name, descriptor);
  }

  @Module({ imports: [McpModule.forRoot({ name: 'corpus', version: '1.0.0' })], providers: [CorpusTools] })
  class CorpusModule {}
  return CorpusModule;
}

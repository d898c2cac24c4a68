import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { McpContext, McpTool } from 'nest-mcp';

/** The fixtures that the official suite asks for by name. */
@Injectable()
export class ConformanceTools {
  @McpTool({ name: 'test_simple_text', description: 'Returns one text' })
  simpleText(): string {
    return 'This is a simple text response for testing.';
  }

  @McpTool({ name: 'test_error_handling', description: 'Always fails' })
  fail(): never {
    throw new Error('This tool intentionally returns an error for testing');
  }

  @McpTool({ name: 'test_tool_with_progress', description: 'Reports progress three times' })
  async withProgress(ctx: McpContext): Promise<string> {
    for (const progress of [0, 50, 100]) {
      await ctx.progress(progress, 100, `Completed step ${progress} of 100`);
      await delay(50, undefined, { signal: ctx.signal });
    }
    return 'Done';
  }
}

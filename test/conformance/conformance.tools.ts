import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { content, McpContext, McpTool, type McpContentBlock } from 'nest-mcp';
import { PNG, WAV } from './sample.files.js';

/** What the official suite asks for by name: tools that answer with each kind of content, fail or take their time. */
@Injectable()
export class ConformanceTools {
  /** The first that is listed: the suite calls that one without arguments to judge headers. */
  @McpTool({ name: 'test_simple_text', description: 'Returns one text' })
  simpleText(): string {
    return 'This is a simple text response for testing.';
  }

  @McpTool({ name: 'test_image_content', description: 'Returns one picture' })
  image(): McpContentBlock {
    return content.image(PNG, 'image/png');
  }

  @McpTool({ name: 'test_audio_content', description: 'Returns one sound' })
  audio(): McpContentBlock {
    return content.audio(WAV, 'audio/wav');
  }

  @McpTool({ name: 'test_embedded_resource', description: 'Returns a resource with what is in it' })
  embeddedResource(): McpContentBlock {
    return content.resource(
      'test://embedded-resource',
      'This is an embedded resource content.',
      'text/plain',
    );
  }

  @McpTool({ name: 'test_multiple_content_types', description: 'Returns a text, a picture and a resource' })
  mixed(): McpContentBlock[] {
    const data = JSON.stringify({ test: 'data', value: 123 });
    return [
      content.text('Multiple content types test:'),
      content.image(PNG, 'image/png'),
      content.resource('test://mixed-content-resource', data, 'application/json'),
    ];
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

  @McpTool({ name: 'test_tool_with_logging', description: 'Logs three times while it runs' })
  async withLogging(ctx: McpContext): Promise<string> {
    for (const step of ['started', 'processing data', 'completed']) {
      ctx.log.info(`Tool execution ${step}`);
      await delay(50, undefined, { signal: ctx.signal });
    }
    return 'Done';
  }
}

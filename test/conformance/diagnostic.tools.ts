import { Injectable } from '@nestjs/common';
import { setTimeout } from 'node:timers/promises';
import { InjectMcpRegistry, McpContext, McpError, McpRegistry, McpTool } from 'nest-mcp';

const DYNAMIC_TOOL = 'test_dynamic_tool';
const DYNAMIC_PROMPT = 'test_dynamic_prompt';
/** The client lacks a capability that the request cannot do without. Source: Error codes, 2026-07-28. */
const MISSING_CLIENT_CAPABILITY = -32021;

/** Tools by which the suite looks into a server: at its streams, its lists and its refusals. */
@Injectable()
export class DiagnosticTools {
  constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}

  @McpTool({ name: 'test_missing_capability', description: 'Works only for clients with sampling' })
  needSampling(ctx: McpContext): string {
    if (ctx.client.capabilities['sampling'] === undefined)
      throw new McpError(MISSING_CLIENT_CAPABILITY, 'This tool needs the client capability sampling', {
        requiredCapabilities: { sampling: {} },
      });
    return 'The client has sampling.';
  }

  @McpTool({ name: 'test_logging_tool', description: 'Logs at info, for whoever asked for it' })
  log(ctx: McpContext): string {
    ctx.log.info('This message is only for requests that ask for it');
    return 'Logged.';
  }

  @McpTool({ name: 'test_streaming_elicitation', description: 'Answers with nothing but its result' })
  stream(): string {
    return 'No request of the server travels on this stream.';
  }

  @McpTool({ name: 'test_trigger_tool_change', description: 'Adds a tool, or takes it away again' })
  async changeTools(): Promise<string> {
    if (!this.registry.remove('tool', DYNAMIC_TOOL)) {
      const tool = { name: DYNAMIC_TOOL, description: 'Comes and goes', replace: true };
      await this.registry.addTool(tool, () => 'Here I am.');
    }
    return 'The list of tools changed.';
  }

  @McpTool({ name: 'test_trigger_prompt_change', description: 'Adds a prompt, or takes it away again' })
  async changePrompts(): Promise<string> {
    if (!this.registry.remove('prompt', DYNAMIC_PROMPT)) {
      const prompt = { name: DYNAMIC_PROMPT, description: 'Comes and goes', replace: true };
      await this.registry.addPrompt(prompt, () => 'Here I am.');
    }
    return 'The list of prompts changed.';
  }

  @McpTool({ name: 'test_reconnection', description: 'Answers once its client has come back for it' })
  async reconnection(ctx: McpContext): Promise<string> {
    ctx.closeStream();
    await setTimeout(100);
    return 'The answer waited for the client';
  }
}

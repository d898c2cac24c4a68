import type { Catalog } from '../discovery/catalog.js';
import type { ToolRegistration } from '../discovery/registration.js';
import { errorResult, roughSize, type ToolResult } from '../protocol/content.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { isObject, quote } from '../protocol/json-rpc.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import { invalidParams } from './answers.js';
import type { CallRunner, ResultWriter } from './call.runner.js';

/** `tools/call`. Source: Tools, all revisions. */
export class ToolsHandler {
  private readonly writer: ResultWriter<ToolResult>;

  constructor(
    private readonly tools: Catalog<ToolRegistration, ToolResult>,
    private readonly runner: CallRunner,
    encoder: ResultEncoder,
  ) {
    this.writer = {
      roughSize: ({ content, structured }) =>
        content.reduce((sum, block) => sum + roughSize(block), structured?.length ?? 0),
      encode: (value, revision) => encoder.toolResult(value, revision),
      ended: errorResult,
      outcome: ({ isError }) => (isError ? 'tool error' : 'ok'),
    };
  }

  call(delivery: Delivery): Answer | Promise<Answer> {
    const { params } = delivery.request;
    const name = params?.['name'];
    if (typeof name !== 'string') return invalidParams('"name" must be a string');
    const tool = this.tools.find(name);
    if (!tool) return invalidParams(`unknown tool ${quote(name)}`);
    // Absent arguments are a new object for each call: guards, pipes and handlers may write to it.
    const raw = Object.hasOwn(params!, 'arguments') ? params!['arguments'] : {};
    if (!isObject(raw)) return invalidParams('"arguments" must be an object');
    const { handler, registration } = tool;
    return this.runner.run(delivery, {
      name,
      handler,
      raw,
      timeout: registration.timeout,
      writer: this.writer,
    });
  }
}

import type { ToolRegistration } from '../discovery/registration.js';
import type { InvokeTool } from '../execution/handler.factory.js';
import { McpContext } from '../protocol/call-context.js';
import { errorResult, roughSize, tooLargeText, type ToolResult } from '../protocol/content.js';
import type { EndReason } from '../protocol/call-lifetime.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { ErrorCode } from '../protocol/error-codes.js';
import type { InFlight } from '../protocol/in-flight.js';
import { isObject, quote, type JsonObject, type RpcError } from '../protocol/json-rpc.js';
import { PagedList } from '../protocol/pagination.js';
import { readProgressToken } from '../protocol/request-meta.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import type { McpRevision } from '../protocol/versions.js';
import type { CallLog } from './call-log.js';

/** A tool that is ready to be called. */
export interface ReadyTool {
  readonly registration: ToolRegistration;
  readonly invoke: InvokeTool;
}

export interface ToolsHandlerOptions {
  readonly revisions: readonly McpRevision[];
  readonly pageSize: number;
  readonly handlerTime: number;
  readonly resultSize: number;
}

/** `tools/list` and `tools/call`. Source: Tools, all revisions. */
export class ToolsHandler {
  private readonly pages = new Map<McpRevision, ReadonlyMap<string | undefined, string>>();

  constructor(
    private readonly tools: ReadonlyMap<string, ReadyTool>,
    private readonly encoder: ResultEncoder,
    private readonly inFlight: InFlight,
    private readonly log: CallLog,
    private readonly options: ToolsHandlerOptions,
  ) {
    for (const revision of options.revisions) this.pages.set(revision, this.pagesFor(revision));
  }

  /** Answers from bytes that were ready at start. */
  list({ request, origin }: Delivery): Answer {
    const cursor = request.params?.['cursor'];
    if (cursor !== undefined && typeof cursor !== 'string') return invalid('"cursor" must be a string');
    const result = this.pages.get(origin.revision)?.get(cursor);
    return result === undefined ? invalid('"cursor" is not one that tools/list gave') : { result };
  }

  async call(delivery: Delivery): Promise<Answer> {
    const { request, channel } = delivery;
    const name = request.params?.['name'];
    if (typeof name !== 'string') return invalid('"name" must be a string');
    const tool = this.tools.get(name);
    if (!tool) return invalid(`unknown tool ${quote(name)}`);
    // Absent arguments are a new object for each call: guards, pipes and handlers may write to it.
    const raw = Object.hasOwn(request.params!, 'arguments') ? request.params!['arguments'] : {};
    if (!isObject(raw)) return invalid('"arguments" must be an object');
    const progressToken = readProgressToken(request.params, request.source.text);
    if (typeof progressToken === 'object') return { error: progressToken };
    // Whoever asked is gone already: nothing is started for nobody.
    if (delivery.lifetime.endReason) return undefined;
    const refusal = this.inFlight.refusal(request.id, channel);
    if (refusal) return { error: { code: refusal.code, message: refusal.message }, busy: refusal.busy };
    return this.run(delivery, tool, raw, progressToken);
  }

  private async run(
    delivery: Delivery,
    tool: ReadyTool,
    raw: JsonObject,
    progressToken: string | undefined,
  ): Promise<Answer> {
    const { request, origin, lifetime, channel } = delivery;
    const { descriptor, timeout } = tool.registration;
    const meta = request.params!['_meta'];
    const subject = {
      id: request.id,
      method: request.method,
      name: descriptor.name,
      meta: isObject(meta) ? meta : {},
      progressToken,
    };
    const context = new McpContext(origin, subject, lifetime);
    const timeLimit = timeout ?? this.options.handlerTime;
    const entry = this.log.open(request.method, descriptor.name);
    try {
      const running = tool.invoke(raw, context, origin);
      const end = await this.inFlight.follow(request.id, lifetime, channel, timeLimit, running);
      const value = 'value' in end ? end.value : resultOfEnd(end.ended, timeLimit);
      const answer = value && this.answer(value, origin.revision);
      entry?.close(context, 'ended' in end ? end.ended : outcomeOf(end.value, answer));
      return answer;
    } catch (error) {
      entry?.close(context, 'error');
      throw error;
    }
  }

  private answer(value: ToolResult, revision: McpRevision): Answer {
    const { resultSize } = this.options;
    if (isLarge(value, resultSize)) return tooLarge(resultSize);
    const result = this.encoder.toolResult(value, revision);
    return isWithin(result, resultSize) ? { result } : tooLarge(resultSize);
  }

  private pagesFor(revision: McpRevision): ReadonlyMap<string | undefined, string> {
    const items = [...this.tools.values()].map(({ registration: { descriptor } }) => ({
      name: descriptor.name,
      json: this.encoder.tool(descriptor, revision),
    }));
    const list = new PagedList('tools', items, this.options.pageSize);
    return new Map(
      [...list.entries()].map(([cursor, page]) => [cursor, this.encoder.toolPage(page, revision)]),
    );
  }
}

/** What is answered when a call ended before its handler; nothing where nobody waits any more. */
function resultOfEnd(ended: EndReason, timeLimit: number): ToolResult | undefined {
  if (ended === 'timeout') return errorResult(`The tool did not finish within ${timeLimit} ms`);
  return ended === 'shutdown' ? errorResult('The server is shutting down') : undefined;
}

function outcomeOf(value: ToolResult, answer: Answer): string {
  if (answer && 'error' in answer) return `error ${answer.error.code}`;
  return value.isError ? 'tool error' : 'ok';
}

/** Told by the texts alone, before a huge one is escaped. */
function isLarge({ content, structured }: ToolResult, bytes: number): boolean {
  return content.reduce((sum, block) => sum + roughSize(block), structured?.length ?? 0) > bytes;
}

function tooLarge(bytes: number): Answer {
  return {
    error: {
      code: ErrorCode.InternalError,
      message: tooLargeText(bytes),
    },
  };
}

/** A character takes one to three bytes, so most texts need no count. */
function isWithin(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return true;
  return text.length <= bytes && Buffer.byteLength(text) <= bytes;
}

function invalid(why: string): { error: RpcError } {
  return { error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${why}` } };
}

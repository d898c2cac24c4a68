import { Injectable, Module, type Type } from '@nestjs/common';
import { IsString } from 'class-validator';
import { McpContext, McpTool } from 'nest-mcp';

/** What the clients of both generations have in common, as far as these tests use it. */
export interface AnyClient {
  /** Only the v2 client tells. */
  getNegotiatedProtocolVersion?(): string | undefined;
  getServerVersion(): { name: string; version: string } | undefined;
  listTools(): Promise<{ tools: { name: string; inputSchema: object }[] }>;
  callTool(params: ToolCall, options?: CallOptions): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
}

export interface ToolAnswer {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface CallOptions {
  onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  signal?: AbortSignal;
}

/** The v1 client takes the options of a call as third argument: its second is a schema of the result. */
export function withOptionsThird(client: object): AnyClient {
  const v1 = client as AnyClient & {
    callTool(call: ToolCall, schema: undefined, options?: CallOptions): unknown;
  };
  const callTool = v1.callTool.bind(v1) as (
    call: ToolCall,
    schema: undefined,
    options?: CallOptions,
  ) => unknown;
  return Object.assign(v1, {
    callTool: (call: ToolCall, options?: CallOptions) => callTool(call, undefined, options),
  }) as AnyClient;
}

export const TOOLS = [
  'searchCustomers',
  'getCustomer',
  'searchTickets',
  'getTicket',
  'commentTicket',
  'closeTicket',
  'closeTickets',
  'deleteTicket',
  'exportTickets',
  'listAttachments',
  'publishArticle',
];

/** The calls of the tool `wait`: when each started, and why the server ended it. */
class Waits {
  private readonly calls = new Map<string, { start: () => void; end: (reason: Error) => void }>();

  /** To be called before the call itself. */
  of(key: string): { started: Promise<void>; ended: Promise<Error> } {
    let start = () => {};
    let end: (reason: Error) => void = () => {};
    const started = new Promise<void>((resolve) => (start = resolve));
    const ended = new Promise<Error>((resolve) => (end = resolve));
    this.calls.set(key, { start, end });
    return { started, ended };
  }

  run(key: string, signal: AbortSignal): Promise<never> {
    const { start, end } = this.calls.get(key)!;
    start();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        end(signal.reason as Error);
        reject(signal.reason as Error);
      });
    });
  }
}

export const waits = new Waits();

class WaitDto {
  @IsString()
  key: string;
}

@Injectable()
class WaitTools {
  @McpTool({ description: 'Ends when it is cancelled' })
  wait({ key }: WaitDto, ctx: McpContext): Promise<never> {
    return waits.run(key, ctx.signal);
  }
}

/** An application and, beside its own tools, one that only a cancellation ends. */
export function withWaitTool(app: Type): Type {
  @Module({ imports: [app], providers: [WaitTools] })
  class WithWaitTool {}
  return WithWaitTool;
}

/** Cancels a call that runs; resolves with the reason that the server's own signal gave to the tool. */
export async function cancelWait(client: AnyClient, key: string): Promise<Error> {
  const { started, ended } = waits.of(key);
  const controller = new AbortController();
  const call = client.callTool({ name: 'wait', arguments: { key } }, { signal: controller.signal });
  const refused = call.then(() => 'answered', String);
  await started;
  controller.abort('not needed any more');
  expect(await refused).toContain('not needed any more');
  return ended;
}

let articles = 0;

/** Calls every tool of the helpdesk: an open ticket is found, commented, closed and deleted. */
export async function useEveryTool(client: AnyClient): Promise<void> {
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args });
  expect((await call('searchCustomers', { text: 'lantern yifan' })).structuredContent).toMatchObject({
    total: 1,
    items: [{ company: 'Lantern Robotics' }],
  });
  expect((await call('getCustomer', { id: 'C-101' })).structuredContent).toMatchObject({
    name: 'Amara Okafor',
  });
  const page = (await call('searchTickets', { status: 'open', limit: 1 })).structuredContent;
  expect(page).toMatchObject({ limit: 1, items: [{ status: 'open' }] });
  const ticket = (page as { items: { id: string }[] }).items[0]!.id;
  const comment = await call('commentTicket', { id: ticket, body: 'On it', internal: true });
  expect(comment.structuredContent).toMatchObject({ author: 'Jonas', body: 'On it', internal: true });
  const read = (await call('getTicket', { id: ticket })).structuredContent as { comments: unknown[] };
  expect(read.comments.at(-1)).toEqual(comment.structuredContent);
  expect((await call('closeTicket', { id: ticket, resolution: 'Solved' })).structuredContent).toMatchObject({
    id: ticket,
    status: 'closed',
  });
  expect((await call('deleteTicket', { id: ticket })).content).toEqual([
    { type: 'text', text: `Ticket ${ticket} is deleted` },
  ]);
  const gone = await call('getTicket', { id: ticket });
  expect(gone).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(`no ticket ${ticket}`) }],
  });
  expect((await call('listAttachments', { id: 'T-1289' })).content[1]).toEqual({
    type: 'resource_link',
    uri: 'ticket://T-1289/attachments/orders.csv',
    name: 'orders.csv',
    mimeType: 'text/csv',
    size: 93,
  });
  // A title can be taken once, and every client of a suite meets the same server.
  const title = `Articles of client ${++articles}`;
  expect((await call('publishArticle', { title, body: 'Text' })).content).toMatchObject([
    { type: 'resource_link', title },
  ]);
  const [header] = (await call('exportTickets')).content[0]!.text.split('\r\n');
  expect(header).toBe('id,subject,status,priority,customerId,assignee,createdAt,updatedAt');
}

/** Progress comes before the result, in order. */
export async function followProgress(client: AnyClient): Promise<void> {
  const seen: unknown[] = [];
  await client.callTool(
    { name: 'exportTickets', arguments: { format: 'json' } },
    { onprogress: ({ progress, total, message }) => void seen.push([progress, total, message]) },
  );
  const total = (seen.at(-1) as number[])[1]!;
  expect(total).toBeGreaterThan(250);
  const steps = Array.from({ length: Math.ceil(total / 50) }, (_, index) =>
    Math.min((index + 1) * 50, total),
  );
  expect(seen).toEqual(steps.map((done) => [done, total, `${done} of ${total} tickets`]));
}

/** Mistakes come back as each of them is documented. */
export async function makeMistakes(client: AnyClient): Promise<void> {
  const wrong = await client.callTool({
    name: 'searchTickets',
    arguments: { status: 'lost', limit: 'ten', colour: 'red' },
  });
  expect(wrong.isError).toBe(true);
  expect(wrong.content[0]!.text.split('\n').sort()).toEqual([
    '- colour: is not a known member (known: text, status, priority, customerId, assignee, limit, offset)',
    '- limit: must be an integer',
    '- status: must be one of "open", "pending", "closed"',
    'Invalid arguments for searchTickets:',
  ]);
  await expect(client.callTool({ name: 'noSuchTool' })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('unknown tool "noSuchTool"'),
  });
}

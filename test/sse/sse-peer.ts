import type { McpRevision } from 'nest-mcp';
import { OpenStream } from '../features/open-stream.js';
import type { Traffic } from '../support/traffic.js';
import { post, type Json, type Reply } from '../support/wire.js';

type Headers = Record<string, string>;

/** A client over HTTP+SSE of the barest kind: its stream, and posts to wherever that says. */
export class SsePeer {
  private constructor(
    readonly stream: OpenStream,
    /** What the event `endpoint` said. */
    readonly endpoint: string,
    /** The same as an address. */
    readonly address: string,
    private readonly asked: Map<unknown, string>,
    private readonly headers: Headers,
  ) {}

  /** Opens the stream and waits for its first event. */
  static async open(
    url: string,
    traffic: Traffic,
    headers: Headers = {},
    revision: McpRevision = '2024-11-05',
  ): Promise<SsePeer> {
    const asked = new Map<unknown, string>();
    const judge = (message: Json) => traffic.observe(message, revision, asked.get(message['id']));
    const stream = await OpenStream.open(
      url,
      { method: 'GET', headers: { accept: 'text/event-stream', ...headers } },
      (input) => (Array.isArray(input) ? (input as Json[]).forEach(judge) : judge(input)),
    );
    await stream.until(() => stream.text.includes('\n\n'));
    const [first] = stream.text.split('\n\n');
    const endpoint = /^event: endpoint\ndata: (.*)$/.exec(first!)?.[1];
    if (endpoint === undefined) throw new Error(`the first event is ${first}`);
    return new SsePeer(stream, endpoint, new URL(endpoint, url).href, asked, headers);
  }

  get id(): string {
    return new URL(this.address).searchParams.get('sessionId')!;
  }

  /** The answer to the POST itself. */
  post(message: unknown, headers: Headers = {}): Promise<Reply> {
    for (const { id, method } of (Array.isArray(message) ? message : [message]) as Json[])
      if (id !== undefined) this.asked.set(id, method as string);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    return post(this.address, body, { ...this.headers, ...headers });
  }

  /** Posts a request and waits for what answers it. */
  async request(method: string, params: Json = {}, id: string | number = method): Promise<Json> {
    const reply = await this.post({ jsonrpc: '2.0', id, method, params });
    if (reply.status !== 202 || reply.text !== '') throw new Error(`${reply.status} ${reply.text}`);
    return this.answerTo(id);
  }

  async answerTo(id: string | number): Promise<Json> {
    const find = () => this.stream.messages.find((message) => message['id'] === id && !('method' in message));
    await this.stream.until(() => find() !== undefined);
    return find()!;
  }

  /** Waits for a notification. */
  async notified(method: string): Promise<Json> {
    const find = () => this.stream.messages.find((message) => message['method'] === method);
    await this.stream.until(() => find() !== undefined);
    return find()!;
  }

  callTool(name: string, args: Json = {}, id: string | number = name): Promise<Json> {
    return this.request('tools/call', { name, arguments: args }, id);
  }

  async initialize(revision: McpRevision = '2024-11-05'): Promise<this> {
    const clientInfo = { name: 'test', version: '1' };
    await this.request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo });
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return this;
  }
}

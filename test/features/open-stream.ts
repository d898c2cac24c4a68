import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { McpRevision } from 'nest-mcp';
import type { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, type Json, type LegacySession } from '../support/wire.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** How a stream came to its end: by the server, or because the connection broke or was closed here. */
export type StreamEnd = 'ended' | 'cut';

/** An event stream over HTTP that stays open: its messages are read, and judged, as they come. */
export class OpenStream {
  readonly messages: Json[] = [];
  /** Everything that came so far, as it came. */
  text = '';
  readonly end: Promise<StreamEnd>;
  private rest = '';
  private wake: (() => void)[] = [];
  private isOver = false;

  private constructor(
    private readonly response: IncomingMessage,
    private readonly judge: (message: Json) => void,
  ) {
    this.end = this.read();
  }

  /**
   * Resolves once the headers are there. On a connection of its own: `fetch` opens a spare one for each that is cut,
   * and a server that closes waits for it.
   */
  static open(
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
    judge: (message: Json) => void,
  ): Promise<OpenStream> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent: false }, (response) =>
        resolve(new OpenStream(response, judge)),
      );
      sent.on('error', reject).end(body);
    });
  }

  get status(): number {
    return this.response.statusCode!;
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  /** Resolves once there are that many messages. */
  async count(wanted: number): Promise<Json[]> {
    await this.until(() => this.messages.length >= wanted);
    return this.messages;
  }

  /** Resolves once what came holds that, and fails where the stream is over before. */
  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      if (this.isOver) throw new Error(`the stream was over after: ${this.text}`);
      await new Promise<void>((resolve) => this.wake.push(resolve));
    }
  }

  /** Hangs up. */
  async close(): Promise<void> {
    this.response.destroy();
    await this.end;
  }

  private async read(): Promise<StreamEnd> {
    const decoder = new TextDecoder();
    let end: StreamEnd = 'ended';
    try {
      for await (const chunk of this.response) this.take(decoder.decode(chunk as Buffer, { stream: true }));
    } catch {
      end = 'cut';
    }
    this.isOver = true;
    this.wakeAll();
    return end;
  }

  private take(text: string): void {
    this.text += text;
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop()!;
    const messages = blocks.filter((block) => !block.startsWith('event: endpoint\n'));
    for (const line of messages.flatMap((block) => block.split('\n'))) {
      if (!line.startsWith('data: ')) continue;
      const message = JSON.parse(line.slice('data: '.length)) as Json;
      this.judge(message);
      this.messages.push(message);
    }
    this.wakeAll();
  }

  private wakeAll(): void {
    this.wake.splice(0).forEach((wake) => wake());
  }
}

export interface ListenOptions {
  readonly id?: string | number;
  readonly headers?: Record<string, string>;
  /** The request as text, where an id is to keep digits that a number loses. */
  readonly body?: string;
}

/** Sends `subscriptions/listen` over HTTP and gives the stream that answers it. */
export function listenOverHttp(
  url: string,
  notifications: unknown,
  traffic: Traffic,
  { id = 'sub', headers = {}, body }: ListenOptions = {},
): Promise<OpenStream> {
  const params = { notifications };
  const init = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders('subscriptions/listen'),
      ...headers,
    },
    body: body ?? JSON.stringify(modernMessage('subscriptions/listen', params, id)),
  };
  return OpenStream.open(url, init, (message) => {
    // The judges' parsers take no integer that JavaScript cannot hold.
    const isLarge = typeof message['id'] === 'number' && !Number.isSafeInteger(message['id']);
    traffic.observe(isLarge ? { ...message, id: 0 } : message, '2026-07-28', 'subscriptions/listen');
  });
}

/** Opens the standing stream of a legacy session. */
export function openGet(
  url: string,
  session: Pick<LegacySession, 'id'>,
  traffic: Traffic,
  revision: McpRevision = '2025-11-25',
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const init = {
    method: 'GET',
    headers: { accept: 'text/event-stream', 'mcp-session-id': session.id, ...headers },
  };
  return OpenStream.open(url, init, (message) => traffic.observe(message, revision, undefined));
}

/** What a client is told of a change to a list; on a subscription with its id. */
export function listChange(list: 'tools' | 'resources' | 'prompts', subscription?: string | number): Json {
  const method = `notifications/${list}/list_changed`;
  return {
    jsonrpc: '2.0',
    method,
    ...(subscription === undefined ? {} : { params: { _meta: { [SUBSCRIPTION]: subscription } } }),
  };
}

export function resourceChange(uri: string, subscription?: string | number): Json {
  return {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri, ...(subscription === undefined ? {} : { _meta: { [SUBSCRIPTION]: subscription } }) },
  };
}

export function acknowledged(notifications: Json, subscription: string | number): Json {
  return {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { [SUBSCRIPTION]: subscription } },
  };
}

/** Waits for what happens at the other end of a connection, which nothing here tells of. */
export async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

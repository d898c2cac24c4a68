import { randomBytes } from 'node:crypto';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import type { ParsedInput } from '../../protocol/json-rpc.js';
import type { McpServer } from '../../server/mcp.server.js';
import { endOnDisconnect } from '../http/disconnects.js';
import type { HttpExchange } from '../http/http-exchange.js';
import { SseWriter } from '../http/sse-writer.js';
import { PeerChannel, type BearerOf, type MessageBearer } from '../peer/peer.channel.js';

/**
 * One client: the stream that carries all it is sent, and the channel whose messages it posts. Whatever ends the stream
 * ends the client, what runs for it included. Source: Transports, HTTP with SSE, 2024-11-05.
 */
export class SseStream {
  /** Whoever knows it may post here, so it cannot be guessed. */
  readonly id = randomBytes(16).toString('hex');
  readonly channel: PeerChannel;
  /** Resolves once nothing is left of the connection. */
  readonly closed: Promise<void>;
  private readonly writer: SseWriter;
  private running = 0;
  private isFinishing = false;

  constructor(
    server: McpServer,
    private readonly exchange: HttpExchange,
    /** The caller who opened it. */
    readonly owner: string | undefined,
  ) {
    const { settings } = server;
    const writer = new SseWriter(exchange, settings.streams);
    const send = (message: string) => writer.send(message);
    const { request, response } = exchange;
    const bearer: MessageBearer = { request, response, callerOf: () => settings.callerOf(request) };
    const identity = {
      transport: 'sse',
      eras: 'legacy',
      sessionId: this.id,
      bearerOf: () => bearer,
    } as const;
    const outlet = { emit: (message: string) => writer.emit(message), send, notify: send };
    this.writer = writer;
    this.channel = new PeerChannel(server, identity, outlet);
    this.closed = this.watch();
  }

  /** Tells the client where to post, which is the first thing it is told. */
  open(path: string): void {
    this.writer.announce('endpoint', `${path}?sessionId=${this.id}`);
  }

  /** Serves what was posted; the answer goes out on the stream. */
  async serve(message: ParsedInput, bearerOf: BearerOf): Promise<void> {
    this.running++;
    try {
      const answer = await this.channel.take(message, bearerOf);
      if (answer) this.writer.send(answer.message);
    } finally {
      this.running--;
      this.endIfFinished();
    }
  }

  /** Ends the stream as soon as what runs is answered. */
  finish(): void {
    this.isFinishing = true;
    this.endIfFinished();
  }

  /** Cuts the connection. */
  destroy(): void {
    this.exchange.raw.destroy();
  }

  private endIfFinished(): void {
    if (this.isFinishing && this.running === 0) this.writer.end();
  }

  private watch(): Promise<void> {
    return new Promise((resolve) => {
      const connection = new CallLifetime();
      const close = () => {
        unwatch();
        this.writer.end();
        this.channel.close();
        resolve();
      };
      const unwatch = endOnDisconnect(connection, this.exchange);
      // Who hung up while guards ran is told of no more.
      if (!connection.isOpen) return close();
      connection.onEnd = close;
    });
  }
}

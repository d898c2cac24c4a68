import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { LOG_CONTEXT } from '../../mcp.constants.js';
import type { SsePaths } from '../../settings/addresses.js';
import type { ParsedInput, RequestId } from '../../protocol/json-rpc.js';
import { parseMessage } from '../../protocol/message-parser.js';
import { McpServer } from '../../server/mcp.server.js';
import { BodyGate } from '../http/body-gate.js';
import {
  requestWith,
  type FastifyReply,
  type FrameworkRequest,
  type HttpExchange,
} from '../http/http-exchange.js';
import { HttpReception } from '../http/http-reception.js';
import { isRefusal, refuse, RETRY, shuttingDown, type HttpRefusal } from '../http/http-refusal.js';
import { acceptanceOf } from '../http/media-types.js';
import type { BearerOf } from '../peer/peer.channel.js';
import { within } from '../within.js';
import { messagesPathOf } from './messages-path.js';
import { SseStream } from './sse-stream.js';

/**
 * HTTP+SSE: a GET opens the stream of one client, whose first event says where it posts its messages. Deprecated, and
 * for the revisions before 2026-07-28 alone. Source: Transports, HTTP with SSE, 2024-11-05.
 */
@Injectable()
export class SseTransport implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LOG_CONTEXT);
  private readonly reception: HttpReception;
  private readonly streams = new Map<string, SseStream>();

  constructor(
    private readonly server: McpServer,
    bodies: BodyGate,
  ) {
    this.reception = new HttpReception('sse', server, bodies, this.logger);
  }

  /** The last answers are on their way, and a server that closes cuts off what was ended and is not taken yet. */
  async beforeApplicationShutdown(): Promise<void> {
    const streams = Array.from(this.streams.values());
    await within(this.server.settings.limits.shutdownGrace, Promise.all(streams.map(({ closed }) => closed)));
    // Who does not read gets no longer than what runs, and nothing may keep the application.
    for (const stream of this.streams.values()) stream.destroy();
  }

  /** The route of the stream. */
  open(request: FrameworkRequest, response: ServerResponse | FastifyReply, paths: SsePaths): Promise<void> {
    return this.reception.serve(request, response, async (exchange) => {
      if (exchange.message.method !== 'GET') return this.reception.refuseMethod(exchange, 'GET');
      const stream = this.admit(exchange);
      if (isRefusal(stream)) return exchange.refuse(stream);
      const { originalUrl = exchange.message.url ?? '' } = exchange.request;
      stream.open(messagesPathOf(originalUrl, paths, this.server.settings.publicPath));
    });
  }

  /** The route of the messages. */
  receive(request: FrameworkRequest, response: ServerResponse | FastifyReply): Promise<void> {
    return this.reception.serve(request, response, async (exchange) => {
      if (exchange.message.method !== 'POST') return this.reception.refuseMethod(exchange, 'POST');
      const body = await this.reception.bodyOf(exchange);
      if (!body) return;
      const message = parseMessage(body, this.server.settings.limits);
      if (message.kind !== 'rejected') exchange.request.body = message.source.value;
      try {
        this.post(message, exchange);
      } catch (fault) {
        this.reception.fail(fault, exchange, idOf(message));
      }
    });
  }

  private admit(exchange: HttpExchange): SseStream | HttpRefusal {
    const { settings, streams } = this.server;
    if (!acceptanceOf(exchange.message.headers.accept).stream)
      return refuse(406, 'Not acceptable: accept text/event-stream');
    const owner = settings.callerOf(exchange.request)?.id;
    const full = streams.refusal(owner);
    if (full !== undefined) return refuse(503, full, { headers: RETRY });
    const stream = new SseStream(this.server, exchange, owner);
    const unlist = streams.add(owner, () => stream.finish());
    this.streams.set(stream.id, stream);
    void stream.closed.then(() => {
      unlist();
      this.streams.delete(stream.id);
    });
    return stream;
  }

  private post(message: ParsedInput, exchange: HttpExchange): void {
    // What concerns running calls is still taken.
    if (this.server.isClosing && asks(message))
      return exchange.refuse(shuttingDown({ id: idOf(message), nullId: true }));
    const stream = this.streamOf(exchange, idOf(message));
    if (isRefusal(stream)) return exchange.refuse(stream);
    const refusal = stream.channel.refuse(message);
    if (refusal !== undefined) return exchange.send(400, refusal);
    exchange.send(202, undefined);
    void stream.serve(message, this.bearersOf(message, exchange)).catch((fault: unknown) => {
      this.logger.error(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    });
  }

  /** The stream that a message names, if it is the caller's: what is another's is as unknown as what never was. */
  private streamOf({ message, request }: HttpExchange, id: RequestId | undefined): SseStream | HttpRefusal {
    const name = new URLSearchParams(/\?([^#]*)/.exec(message.url ?? '')?.[1]).get('sessionId');
    if (name === null)
      return refuse(400, 'sessionId is missing: post to the address that the event "endpoint" gave', { id });
    const stream = this.streams.get(name);
    const caller = this.server.settings.callerOf(request)?.id;
    if (stream && stream.owner === caller) return stream;
    return refuse(404, 'Session not found: open the stream again', { id });
  }

  /** What guards see as the request: the POST; each message of a batch has its own body. */
  private bearersOf({ kind }: ParsedInput, { request, response }: HttpExchange): BearerOf {
    const { settings } = this.server;
    return (body) => {
      const own = kind === 'batch' ? requestWith(request, body) : request;
      return { request: own, response, callerOf: () => settings.callerOf(own) };
    };
  }
}

/** Whether there is something in it to be called; only 2025-03-26, whose errors have an id, has batches. */
function asks(message: ParsedInput): boolean {
  return message.kind === 'batch' ? message.members.some(asks) : message.kind === 'request';
}

function idOf(message: ParsedInput): RequestId | undefined {
  return message.kind === 'request' || message.kind === 'rejected' ? message.id : undefined;
}

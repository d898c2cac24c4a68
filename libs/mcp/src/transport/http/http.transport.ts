import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Server, type ServerResponse } from 'node:http';
import { LOG_CONTEXT } from '../../mcp.constants.js';
import { rpcError } from '../../protocol/dispatcher.js';
import { eraOfMessage } from '../../protocol/era.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import type { ParsedMessage, RejectedMessage, RequestId, RequestMessage } from '../../protocol/json-rpc.js';
import { McpError } from '../../protocol/mcp-error.js';
import { parseMessage } from '../../protocol/message-parser.js';
import { McpServer } from '../../server/mcp.server.js';
import { BodyGate } from './body-gate.js';
import { GONE } from './body-reader.js';
import { HttpExchange, type FastifyReply, type FrameworkRequest } from './http-exchange.js';
import { refuse } from './http-refusal.js';
import { LegacyEndpoint, VERSION_HEADER } from './legacy.endpoint.js';
import { acceptanceOf, hasShortBody } from './media-types.js';
import { ModernEndpoint } from './modern.endpoint.js';
import { ReplyStream } from './reply-stream.js';
import { SpareConnections } from './spare-connections.js';

/** Streamable HTTP: both eras on one URL, behind the endpoint's guards. */
@Injectable()
export class HttpTransport implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(LOG_CONTEXT);
  private readonly modern: ModernEndpoint;
  private readonly legacy: LegacyEndpoint;
  private readonly spare = new SpareConnections();

  constructor(
    private readonly server: McpServer,
    private readonly bodies: BodyGate,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.modern = new ModernEndpoint(server);
    this.legacy = new LegacyEndpoint(server);
  }

  onApplicationBootstrap(): void {
    const server: unknown = this.adapterHost.httpAdapter?.getHttpServer();
    if (server instanceof Server) this.spare.watch(server);
  }

  beforeApplicationShutdown(): void {
    this.spare.close();
  }

  async handle(request: FrameworkRequest, response: ServerResponse | FastifyReply): Promise<void> {
    const exchange = new HttpExchange(request, response);
    if (exchange.isAnswered) {
      return this.logger.error(
        'Something answered the MCP request before the endpoint did: nothing more is sent',
      );
    }
    const refusal = this.bodies.admit(exchange.message);
    if (refusal) return exchange.refuse(refusal);
    try {
      await this.route(exchange);
    } catch (fault) {
      this.fail(fault, exchange, undefined);
    }
  }

  /** Only an application's `caller` can fail here; what a call throws never gets this far. */
  private fail(fault: unknown, exchange: HttpExchange, id: RequestId | undefined): void {
    const error = McpError.is(fault)
      ? rpcError(fault)
      : { code: ErrorCode.InternalError, message: 'Internal error' };
    this.logger.error(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    if (!exchange.isAnswered) exchange.refuse({ status: 500, error, id });
  }

  private async route(exchange: HttpExchange): Promise<void> {
    const { method } = exchange.message;
    if (method === 'POST') return this.post(exchange);
    if (method === 'DELETE' && !this.legacy.isOff) return this.legacy.end(exchange);
    if (method === 'GET' && !this.legacy.isOff) return this.legacy.open(exchange);
    const allow = this.legacy.isOff ? 'POST' : 'GET, POST, DELETE';
    const closes = !hasShortBody(exchange.message, this.server.settings.limits.body);
    exchange.refuse(refuse(405, `Method not allowed: use ${allow}`, { headers: { allow }, closes }));
  }

  private async post(exchange: HttpExchange): Promise<void> {
    const body = await this.bodies.take(exchange);
    if (body === GONE) return;
    if (!Buffer.isBuffer(body)) {
      this.server.log.refused('http', body.error.code, body.error.message);
      return exchange.refuse(body);
    }
    const parsed = parseMessage(body, this.server.settings.limits);
    exchange.request.rawBody = body;
    if (parsed.kind === 'rejected') return this.reject(parsed, exchange);
    exchange.request.body = parsed.source.value;
    const id = parsed.kind === 'request' ? parsed.id : undefined;
    return this.deliver(parsed, exchange).catch((fault: unknown) => this.fail(fault, exchange, id));
  }

  private async deliver(
    message: Exclude<ParsedMessage, RejectedMessage>,
    exchange: HttpExchange,
  ): Promise<void> {
    const params = message.kind === 'response' ? undefined : message.params;
    const era = eraOfMessage(params, exchange.header(VERSION_HEADER), this.server.settings.revisions);
    const endpoint = era === 'modern' ? this.modern : this.legacy;
    if (message.kind !== 'request') return endpoint.accept(message, exchange);
    const stream = this.replyStream(message, exchange);
    if (stream) await endpoint.request(message, exchange, stream);
  }

  private replyStream({ id }: RequestMessage, exchange: HttpExchange): ReplyStream | undefined {
    const acceptance = acceptanceOf(exchange.message.headers.accept);
    if (acceptance.json || acceptance.stream) {
      const { responses, keepAlive, limits } = this.server.settings;
      const { streamBuffer } = limits;
      return new ReplyStream(exchange, acceptance, responses === 'auto', { keepAlive, streamBuffer });
    }
    exchange.refuse(
      refuse(406, 'Not acceptable: accept application/json, text/event-stream or both', { id }),
    );
    return undefined;
  }

  private reject({ id, error }: RejectedMessage, exchange: HttpExchange): void {
    this.server.log.refused('http', error.code, error.message);
    exchange.refuse({ status: 400, error, id }, id === undefined && this.legacy.wantsNullId(exchange));
  }
}

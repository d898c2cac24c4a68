import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Server, type ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { LOG_CONTEXT } from '../../mcp.constants.js';
import { eraOfMessage } from '../../protocol/era.js';
import type { ParsedMessage, RejectedMessage } from '../../protocol/json-rpc.js';
import { parseMessage } from '../../protocol/message-parser.js';
import { McpServer } from '../../server/mcp.server.js';
import { BodyGate } from './body-gate.js';
import { Connections } from './connections.js';
import type { FastifyReply, FrameworkRequest, HttpExchange } from './http-exchange.js';
import { HttpReception } from './http-reception.js';
import { notAcceptable, shuttingDown } from './http-refusal.js';
import { LegacyEndpoint, VERSION_HEADER } from './legacy.endpoint.js';
import { acceptanceOf } from './media-types.js';
import { ModernEndpoint } from './modern.endpoint.js';

/** Streamable HTTP: both eras on one URL, behind the endpoint's guards. */
@Injectable()
export class HttpTransport implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly reception: HttpReception;
  private readonly modern: ModernEndpoint;
  private readonly legacy: LegacyEndpoint;
  private readonly connections = new Connections();

  constructor(
    private readonly server: McpServer,
    bodies: BodyGate,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.reception = new HttpReception('http', server, bodies, new Logger(LOG_CONTEXT));
    this.modern = new ModernEndpoint(server);
    this.legacy = new LegacyEndpoint(server);
  }

  onApplicationBootstrap(): void {
    const server: unknown = this.adapterHost.httpAdapter?.getHttpServer();
    if (server instanceof Server || server instanceof SecureServer) this.connections.watch(server);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.connections.close(this.server.settings.limits.shutdownGrace);
  }

  handle(request: FrameworkRequest, response: ServerResponse | FastifyReply): Promise<void> {
    return this.reception.serve(request, response, (exchange) => this.route(exchange));
  }

  private async route(exchange: HttpExchange): Promise<void> {
    const { method } = exchange.message;
    if (method === 'POST') return this.post(exchange);
    if (method === 'DELETE' && this.legacy.hasSessions) return this.legacy.end(exchange);
    if (method === 'GET' && this.legacy.hasSessions) return this.legacy.open(exchange);
    this.reception.refuseMethod(exchange, this.legacy.hasSessions ? 'GET, POST, DELETE' : 'POST');
  }

  private async post(exchange: HttpExchange): Promise<void> {
    const body = await this.reception.bodyOf(exchange);
    if (!body) return;
    const parsed = parseMessage(body, this.server.settings.limits);
    if (parsed.kind === 'rejected') return this.reject(parsed, exchange);
    if (parsed.kind === 'batch') {
      if (this.server.isClosing)
        return exchange.refuse(shuttingDown(), await this.legacy.wantsNullId(exchange));
      return this.legacy.batch(parsed, exchange);
    }
    exchange.request.body = parsed.source.value;
    const id = parsed.kind === 'request' ? parsed.id : undefined;
    return this.deliver(parsed, exchange).catch((fault: unknown) => this.reception.fail(fault, exchange, id));
  }

  private async deliver(
    message: Exclude<ParsedMessage, RejectedMessage>,
    exchange: HttpExchange,
  ): Promise<void> {
    const params = message.kind === 'response' ? undefined : message.params;
    const era = eraOfMessage(params, exchange.header(VERSION_HEADER), this.server.settings.revisions);
    const endpoint = era === 'modern' ? this.modern : this.legacy;
    if (message.kind !== 'request') return endpoint.accept(message, exchange);
    if (this.server.isClosing) return exchange.refuse(shuttingDown({ id: message.id }));
    const acceptance = acceptanceOf(exchange.message.headers.accept);
    if (!acceptance.json && !acceptance.stream) return exchange.refuse(notAcceptable(message.id));
    await endpoint.request(message, exchange, acceptance);
  }

  private async reject({ id, error, answer }: RejectedMessage, exchange: HttpExchange): Promise<void> {
    this.server.log.refused('http', error.code, error.message);
    if (answer) await this.legacy.takeWrong(answer, exchange);
    const nullId = id === undefined && (await this.legacy.wantsNullId(exchange));
    exchange.refuse({ status: 400, error, id }, nullId);
  }
}

import type { ServerResponse } from 'node:http';
import type { McpTransport } from '../../protocol/call-origin.js';
import { rpcError } from '../../protocol/dispatcher.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import type { RequestId } from '../../protocol/json-rpc.js';
import { McpError } from '../../protocol/mcp-error.js';
import type { McpServer } from '../../server/mcp.server.js';
import type { BodyGate } from './body-gate.js';
import { GONE } from './body-reader.js';
import { HttpExchange, type FastifyReply, type FrameworkRequest } from './http-exchange.js';
import { refuse } from './http-refusal.js';
import { hasShortBody } from './media-types.js';

/** What every route does with a request before its own work, and with one that fails. */
export class HttpReception {
  constructor(
    private readonly transport: McpTransport,
    private readonly server: McpServer,
    private readonly bodies: Pick<BodyGate, 'admit' | 'take'>,
    private readonly logger: { error(text: string): void },
  ) {}

  async serve(
    request: FrameworkRequest,
    response: ServerResponse | FastifyReply,
    route: (exchange: HttpExchange) => Promise<void>,
  ): Promise<void> {
    const exchange = new HttpExchange(request, response);
    if (exchange.isAnswered) {
      return this.logger.error(
        'Something answered the MCP request before the endpoint did: nothing more is sent',
      );
    }
    const refusal = this.bodies.admit(exchange.message);
    if (refusal) return exchange.refuse(refusal);
    try {
      await route(exchange);
    } catch (fault) {
      this.fail(fault, exchange, undefined);
    }
  }

  /** The body, which the request has from here on; nothing where there is none, and that is answered already. */
  async bodyOf(exchange: HttpExchange): Promise<Buffer | undefined> {
    const body = await this.bodies.take(exchange);
    if (body === GONE) return undefined;
    if (Buffer.isBuffer(body)) return (exchange.request.rawBody = body);
    this.server.log.refused(this.transport, body.error.code, body.error.message);
    exchange.refuse(body);
    return undefined;
  }

  refuseMethod(exchange: HttpExchange, allow: string): void {
    const closes = !hasShortBody(exchange.message, this.server.settings.limits.body);
    exchange.refuse(refuse(405, `Method not allowed: use ${allow}`, { headers: { allow }, closes }));
  }

  /** What fails here is an application's `caller`, or a store of sessions; what a call throws never gets this far. */
  fail(fault: unknown, exchange: HttpExchange, id: RequestId | undefined): void {
    const error = McpError.is(fault)
      ? rpcError(fault)
      : { code: ErrorCode.InternalError, message: 'Internal error' };
    this.logger.error(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    if (!exchange.isAnswered) exchange.refuse({ status: 500, error, id });
  }
}

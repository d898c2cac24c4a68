import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { LOG_CONTEXT } from '../../mcp.constants.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import { HttpExchange, type FastifyReply, type FrameworkRequest } from './http-exchange.js';
import { refuse, type HttpRefusal } from './http-refusal.js';
import { hasShortBody } from './media-types.js';

/** Bytes of an unread body that may be thrown away to keep the connection. */
const SHORT = 64 * 1024;

interface HttpExceptionLike {
  getStatus(): number;
  message: string;
}

/** What the endpoint's guards throw, in the form of every other refusal. The body is unread then. */
@Catch()
export class EndpointExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(LOG_CONTEXT);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const exchange = new HttpExchange(
      http.getRequest<FrameworkRequest>(),
      http.getResponse<ServerResponse | FastifyReply>(),
    );
    if (exchange.isAnswered) return;
    const refusal = this.refusalOf(thrown, exchange);
    exchange.refuse({ ...refusal, closes: !hasShortBody(exchange.message, SHORT) });
  }

  private refusalOf(thrown: unknown, exchange: HttpExchange): HttpRefusal {
    const status = statusOf(thrown);
    if (status === undefined || status >= 500) {
      this.logger.error(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
      return { status: status ?? 500, error: { code: ErrorCode.InternalError, message: 'Internal error' } };
    }
    const needsChallenge = status === 401 && !hasChallenge(exchange);
    return refuse(
      status,
      (thrown as HttpExceptionLike).message,
      needsChallenge ? { headers: { 'www-authenticate': 'Bearer' } } : {},
    );
  }
}

function statusOf(thrown: unknown): number | undefined {
  const { getStatus } = (thrown ?? {}) as Partial<HttpExceptionLike>;
  return typeof getStatus === 'function' ? (getStatus.call(thrown) as number) : undefined;
}

function hasChallenge({ raw, response }: HttpExchange): boolean {
  return (
    raw.hasHeader('www-authenticate') || ('raw' in response && 'www-authenticate' in response.getHeaders())
  );
}

import type { McpServer } from '../../server/mcp.server.js';
import type { CallOrigin } from '../../protocol/call-origin.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { unsupportedVersion } from '../../protocol/era.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import type {
  JsonObject,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  RpcError,
} from '../../protocol/json-rpc.js';
import { claimsEnvelope, readEnvelope, type Envelope } from '../../protocol/request-meta.js';
import type { McpRevision } from '../../protocol/versions.js';
import { endOnDisconnect } from './disconnects.js';
import { checkAgreement, checkMirrored, checkPresence, type MirroredHeaders } from './header-check.js';
import type { HttpExchange } from './http-exchange.js';
import { refuse } from './http-refusal.js';
import type { Acceptance } from './media-types.js';
import { ReplyStream } from './reply-stream.js';
import { SseWriter } from './sse-writer.js';
import { statusOf } from './status-map.js';

/** 2026-07-28 over HTTP: every request stands alone and says by itself what it needs. */
export class ModernEndpoint {
  constructor(private readonly server: McpServer) {}

  async request(request: RequestMessage, exchange: HttpExchange, acceptance: Acceptance): Promise<void> {
    const { id, params } = request;
    const envelope = readEnvelope(params);
    if ('code' in envelope)
      return exchange.refuse({ status: 400, error: this.misread(request, envelope), id });
    const revision = this.revision(request, envelope, exchange);
    if (typeof revision === 'object') return exchange.refuse({ status: 400, error: revision, id });

    const lifetime = new CallLifetime();
    const { settings } = this.server;
    const reply = new ReplyStream(exchange, acceptance, new SseWriter(exchange, settings.streams), settings);
    const origin = this.origin(envelope, revision, exchange, reply);
    const unwatch = endOnDisconnect(lifetime, exchange);
    try {
      const outcome = await this.server.dispatch({ request, origin, lifetime, channel: undefined });
      if (outcome) reply.answer(outcome.message, statusOf(outcome, 'modern'));
      else reply.endUnanswered();
    } finally {
      unwatch();
    }
  }

  /** Over HTTP no notification of this revision has anything to do; it is accepted when it is well formed. */
  accept(message: NotificationMessage | ResponseMessage, exchange: HttpExchange): void {
    if (message.kind === 'response')
      return exchange.refuse(refuse(400, 'Invalid request: this revision has no responses to a server'));
    const envelope = claimsEnvelope(message.params) ? readEnvelope(message.params) : undefined;
    const error =
      envelope && 'code' in envelope
        ? envelope
        : checkAgreement(headersOf(exchange), envelope, message.method);
    if (error) exchange.refuse({ status: 400, error });
    else exchange.send(202, undefined);
  }

  /** In the order of the specification: agreement, then whether the version is served, then presence. */
  private revision(
    { method, params }: RequestMessage,
    envelope: Envelope,
    exchange: HttpExchange,
  ): McpRevision | RpcError {
    const headers = headersOf(exchange);
    const disagreement = checkAgreement(headers, envelope, method);
    if (disagreement) return disagreement;
    const { revisions } = this.server.settings;
    const revision = revisions.findModern(envelope.version);
    if (!revision) return unsupportedVersion(envelope.version, revisions);
    return (
      checkPresence(headers, method, params) ?? this.checkArguments(method, params, exchange) ?? revision
    );
  }

  /** The headers that mirror arguments of the tool that is called. */
  private checkArguments(
    method: string,
    params: JsonObject | undefined,
    exchange: HttpExchange,
  ): RpcError | undefined {
    const name = params?.['name'];
    if (method !== 'tools/call' || typeof name !== 'string') return undefined;
    const mirrored = this.server.mirroredArguments(name);
    if (mirrored.length === 0) return undefined;
    return checkMirrored(
      mirrored,
      params!['arguments'],
      (header) => exchange.header(header),
      (header) => exchange.isRepeated(header),
    );
  }

  /** A handshake under a modern version header is a contradiction, not a missing envelope. */
  private misread({ method, params }: RequestMessage, error: RpcError): RpcError {
    if (method !== 'initialize' || claimsEnvelope(params)) return error;
    return {
      code: ErrorCode.HeaderMismatch,
      message: 'Header mismatch: initialize belongs to revisions before the one in MCP-Protocol-Version',
    };
  }

  private origin(
    envelope: Envelope,
    revision: McpRevision,
    exchange: HttpExchange,
    reply: ReplyStream,
  ): CallOrigin {
    const { settings } = this.server;
    return {
      transport: 'http',
      era: 'modern',
      revision,
      client: envelope.client,
      sessionId: undefined,
      peer: undefined,
      request: exchange.request,
      response: exchange.response,
      callerOf: () => settings.callerOf(exchange.request),
      stream: reply.early,
      outlet: reply.changes,
    };
  }
}

function headersOf(exchange: HttpExchange): MirroredHeaders {
  return {
    version: exchange.header('mcp-protocol-version'),
    method: exchange.header('mcp-method'),
    name: exchange.header('mcp-name'),
  };
}

import type { McpServer } from '../../server/mcp.server.js';
import type { CallOrigin } from '../../protocol/call-context.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { unsupportedVersion } from '../../protocol/era.js';
import {
  resultMessage,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '../../protocol/json-rpc.js';
import { readHandshake } from '../../protocol/legacy/handshake.js';
import type { Session } from '../../protocol/legacy/session-registry.js';
import { endOnDisconnect } from './disconnects.js';
import type { HttpExchange } from './http-exchange.js';
import { isRefusal, refuse, RETRY, type HttpRefusal } from './http-refusal.js';
import { acceptanceOf } from './media-types.js';
import type { ReplyStream } from './reply-stream.js';
import { SseWriter } from './sse-writer.js';
import { statusOf } from './status-map.js';

export const SESSION_HEADER = 'mcp-session-id';
export const VERSION_HEADER = 'mcp-protocol-version';

/**
 * The revisions with a handshake, over HTTP: `initialize` opens a session, every other message names it.
 * Source: Streamable HTTP, Session Management, 2025-11-25.
 */
export class LegacyEndpoint {
  constructor(private readonly server: McpServer) {}

  async request(request: RequestMessage, exchange: HttpExchange, stream: ReplyStream): Promise<void> {
    if (this.isOff) return exchange.refuse(this.unserved(request, exchange));
    if (request.method === 'initialize') return this.initialize(request, exchange);
    const session = this.session(exchange, request.id);
    if (isRefusal(session)) return exchange.refuse(session);
    const origin = this.origin(session, exchange, stream);
    // A connection that breaks is no cancellation here, unlike in 2026-07-28.
    const lifetime = new CallLifetime();
    const outcome = await this.server.dispatch({ request, origin, lifetime, channel: session });
    if (outcome) stream.answer(outcome.message, statusOf(outcome, 'legacy'));
    else stream.endUnanswered();
  }

  /** Notifications, and answers to requests that this server never made, are accepted and not answered. */
  accept(message: NotificationMessage | ResponseMessage, exchange: HttpExchange): void {
    if (this.isOff) return exchange.send(202, undefined);
    const session = this.session(exchange, undefined);
    if (isRefusal(session)) return exchange.refuse(session);
    if (message.kind === 'notification') {
      if (message.method === 'notifications/cancelled') session.cancel(message.params, message.source.text);
      if (message.method === 'notifications/initialized') session.peer.isReady = true;
    }
    exchange.send(202, undefined);
  }

  /**
   * GET: the session's one standing stream, for messages that belong to no request. It ends with the session.
   * Source: Streamable HTTP, Listening for Messages from the Server, 2025-11-25.
   */
  open(exchange: HttpExchange): void {
    const session = this.session(exchange, undefined);
    if (isRefusal(session)) return exchange.refuse(session);
    if (!acceptanceOf(exchange.message.headers.accept).stream)
      return exchange.refuse(refuse(406, 'Not acceptable: accept text/event-stream'));
    if (session.endStream) return exchange.refuse(refuse(409, 'This session has its stream open already'));
    const { streams, settings } = this.server;
    const full = streams.refusal(session.owner);
    if (full !== undefined) return exchange.refuse(refuse(503, full, { headers: RETRY }));
    const lifetime = new CallLifetime();
    const unwatch = endOnDisconnect(lifetime, exchange);
    // Who hung up while guards ran is told of no more, so nothing may be kept for it.
    if (!lifetime.isOpen) return unwatch();
    const { keepAlive, limits } = settings;
    const writer = new SseWriter(exchange, { keepAlive, streamBuffer: limits.streamBuffer });
    writer.begin();
    const end = () => writer.end(undefined);
    const release = streams.add(session.owner, end);
    session.endStream = end;
    session.peer.send = (message) => writer.send(message);
    lifetime.onEnd = () => {
      unwatch();
      end();
      release();
      session.endStream = undefined;
      session.peer.send = undefined;
    };
  }

  /** DELETE: ends the session and what runs in it. */
  end(exchange: HttpExchange): void {
    const session = this.session(exchange, undefined);
    if (isRefusal(session)) return exchange.refuse(session);
    this.server.sessions.end(session);
    exchange.send(204, undefined);
  }

  get isOff(): boolean {
    return this.server.settings.revisions.legacy.length === 0;
  }

  /** Whether a client whose message cannot be read wants `"id": null` in the error. Never looked up for others. */
  wantsNullId(exchange: HttpExchange): boolean {
    const id = exchange.header(SESSION_HEADER);
    if (id === undefined) return false;
    const session = this.server.sessions.find(id, this.server.settings.callerOf(exchange.request)?.id);
    return session !== undefined && session.revision <= '2025-06-18';
  }

  private initialize(request: RequestMessage, exchange: HttpExchange): void {
    const { server } = this;
    const { settings, sessions } = server;
    const owner = settings.callerOf(exchange.request)?.id;
    const presented = exchange.header(SESSION_HEADER);
    if (presented !== undefined) {
      return exchange.refuse(
        sessions.find(presented, owner)
          ? refuse(400, 'This session is initialized already', { id: request.id })
          : unknownSession(request.id),
      );
    }
    const handshake = readHandshake(request.params, settings.revisions);
    if ('code' in handshake) return exchange.refuse({ status: 200, error: handshake, id: request.id });
    const session = server.openSession(handshake, owner);
    if (!session) {
      return exchange.refuse(
        refuse(503, 'Too many sessions, all of them busy: try again shortly', {
          id: request.id,
          headers: RETRY,
        }),
      );
    }
    const result = server.initializeResult(session.revision);
    exchange.send(200, resultMessage(request.id, result), { [SESSION_HEADER]: session.id });
  }

  /** The session that a message names, if it is the caller's and the version fits. */
  private session(exchange: HttpExchange, id: RequestId | undefined): Session | HttpRefusal {
    const { settings, sessions } = this.server;
    const presented = exchange.header(SESSION_HEADER);
    if (presented === undefined)
      return refuse(400, 'Mcp-Session-Id is missing: send initialize first', { id });
    const session = sessions.find(presented, settings.callerOf(exchange.request)?.id);
    if (!session) return unknownSession(id);
    const version = exchange.header(VERSION_HEADER);
    if (version === undefined || version === session.revision) return session;
    return refuse(400, `MCP-Protocol-Version must be ${session.revision}, as this session negotiated`, {
      id,
    });
  }

  private origin(session: Session, exchange: HttpExchange, stream: ReplyStream): CallOrigin {
    const { settings } = this.server;
    return {
      transport: 'http',
      era: 'legacy',
      revision: session.revision,
      client: session.client,
      sessionId: session.id,
      peer: session.peer,
      request: exchange.request,
      response: exchange.response,
      callerOf: () => settings.callerOf(exchange.request),
      emit: stream.emit,
      outlet: undefined,
    };
  }

  /** Source: Versioning, 2026-07-28: an error to a legacy client names what is served. */
  private unserved(request: RequestMessage, exchange: HttpExchange): HttpRefusal {
    const asked = request.params?.['protocolVersion'] ?? exchange.header(VERSION_HEADER);
    const requested = typeof asked === 'string' ? asked : '2025-03-26';
    return {
      status: 400,
      error: unsupportedVersion(requested, this.server.settings.revisions),
      id: request.id,
    };
  }
}

function unknownSession(id: RequestId | undefined): HttpRefusal {
  return refuse(404, 'Session not found: send initialize again', { id });
}

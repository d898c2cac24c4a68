import type { McpServer } from '../../server/mcp.server.js';
import type { CallOrigin } from '../../protocol/call-origin.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import { unsupportedVersion } from '../../protocol/era.js';
import {
  errorMessage,
  resultMessage,
  type BatchMessage,
  type NotificationMessage,
  type ParsedMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '../../protocol/json-rpc.js';
import { readHandshake } from '../../protocol/legacy/handshake.js';
import type { Session } from '../../protocol/legacy/session.js';
import { BATCH_NOT_SERVED } from '../../protocol/message-parser.js';
import type { ClientInfo } from '../../protocol/request-meta.js';
import type { McpRevision } from '../../protocol/versions.js';
import { BatchReply } from './batch-reply.js';
import { requestWith, type FrameworkRequest, type HttpExchange } from './http-exchange.js';
import { isRefusal, notAcceptable, refuse, RETRY, type HttpRefusal } from './http-refusal.js';
import { acceptanceOf, type Acceptance } from './media-types.js';
import { ReplyStream } from './reply-stream.js';
import { SessionStreams } from './session-streams.js';
import { SseWriter } from './sse-writer.js';
import { statusOf } from './status-map.js';

export const SESSION_HEADER = 'mcp-session-id';
export const VERSION_HEADER = 'mcp-protocol-version';

/** The revision of a client that does not name one. Source: Transports, Protocol Version Header, 2025-11-25. */
const UNNAMED_REVISION = '2025-03-26';
/** The one revision that has batches. */
const BATCH_REVISION = '2025-03-26';
/** The last revision in which an error without a readable id says `"id": null`. */
const LAST_WITH_NULL_ID = '2025-06-18';

/** The client behind a message, as far as it is known. */
interface Party {
  readonly revision: McpRevision;
  readonly client: ClientInfo;
  /** Missing where every request stands alone. */
  readonly session: Session | undefined;
  /** To be called once the message is served. */
  release(): void;
}

/**
 * The revisions with a handshake, over HTTP: `initialize` opens a session, every other message names it; or every
 * request stands alone, where the application wants it so.
 * Source: Streamable HTTP, Session Management, 2025-11-25.
 */
export class LegacyEndpoint {
  /** Whether no legacy client is served here. */
  readonly isOff: boolean;
  /** Whether clients have sessions, which GET and DELETE are for. */
  readonly hasSessions: boolean;
  private readonly streams: SessionStreams;

  constructor(private readonly server: McpServer) {
    const { legacy, revisions } = server.settings;
    this.isOff = legacy === 'off' || revisions.legacy.length === 0;
    this.hasSessions = !this.isOff && legacy === 'sessions';
    this.streams = new SessionStreams(server);
  }

  async request(request: RequestMessage, exchange: HttpExchange, acceptance: Acceptance): Promise<void> {
    if (this.isOff) return exchange.refuse(this.unserved(request, exchange));
    if (request.method === 'initialize') return this.initialize(request, exchange);
    const party = await this.party(exchange, request.id);
    if (isRefusal(party)) return exchange.refuse(party);
    try {
      const reply = this.reply(party, exchange, acceptance, request.id);
      const origin = this.origin(party, exchange, exchange.request, reply);
      const outcome = await this.dispatch(request, origin, party);
      if (outcome) reply.answer(outcome.message, statusOf(outcome, 'legacy'));
      else reply.endUnanswered();
    } finally {
      party.release();
    }
  }

  /** Notifications, and answers to requests of this server, are accepted and not answered. */
  async accept(message: NotificationMessage | ResponseMessage, exchange: HttpExchange): Promise<void> {
    if (this.isOff) return exchange.send(202, undefined);
    const party = await this.party(exchange, undefined);
    if (isRefusal(party)) return exchange.refuse(party);
    try {
      await this.take(message, party.session);
    } finally {
      party.release();
    }
    exchange.send(202, undefined);
  }

  /** Tells whoever waits for it of an answer that is refused. */
  async takeWrong(answer: ResponseMessage, exchange: HttpExchange): Promise<void> {
    const party = this.isOff ? undefined : await this.party(exchange, undefined);
    if (!party || isRefusal(party)) return;
    try {
      await this.take(answer, party.session);
    } finally {
      party.release();
    }
  }

  /**
   * Several messages in one body: each is served by itself, and the answers come together, or one by one on a stream.
   * Source: Base Protocol, Batching, 2025-03-26.
   */
  async batch({ members, source }: BatchMessage, exchange: HttpExchange): Promise<void> {
    const party = this.isOff ? undefined : await this.party(exchange, undefined);
    if (isRefusal(party)) return exchange.refuse(party);
    try {
      if (party?.revision !== BATCH_REVISION) {
        this.server.log.refused('http', BATCH_NOT_SERVED.error.code, BATCH_NOT_SERVED.error.message);
        return exchange.refuse({ status: 400, ...BATCH_NOT_SERVED }, party && hasNullId(party));
      }
      exchange.request.body = source.value;
      if (members.some(({ kind }) => kind === 'request' || kind === 'rejected'))
        return await this.answerAll(members, party, exchange);
      for (const member of members) await this.take(member, party.session);
      exchange.send(202, undefined);
    } finally {
      party?.release();
    }
  }

  /**
   * GET: a standing stream of the session, for messages that belong to no request; or, by the id of an event, what
   * follows that on its stream. It ends with the session.
   * Source: Streamable HTTP, Listening for Messages from the Server; Resumability and Redelivery, 2025-11-25.
   */
  async open(exchange: HttpExchange): Promise<void> {
    const party = await this.party(exchange, undefined);
    if (isRefusal(party)) return exchange.refuse(party);
    try {
      const refusal = await this.streams.open(party.session!, exchange, () => party.release());
      if (!refusal) return;
      exchange.refuse(refusal, hasNullId(party));
    } catch (fault) {
      this.server.sessions.onFault(fault);
      if (!exchange.isAnswered) exchange.refuse(storeFailed(), hasNullId(party));
      else exchange.raw.end();
    }
    party.release();
  }

  /** DELETE: ends the session and what runs in it. */
  async end(exchange: HttpExchange): Promise<void> {
    const party = await this.party(exchange, undefined);
    if (isRefusal(party)) return exchange.refuse(party);
    const isEnded = await this.server.sessions.end(party.session!.id).finally(() => party.release());
    if (isEnded) exchange.send(204, undefined);
    else exchange.refuse(unknownSession(undefined), hasNullId(party));
  }

  /** Whether a client whose message cannot be read wants `"id": null` in the error. Never looked up for others. */
  async wantsNullId(exchange: HttpExchange): Promise<boolean> {
    if (!this.hasSessions) return (exchange.header(VERSION_HEADER) ?? '9') <= LAST_WITH_NULL_ID;
    const id = exchange.header(SESSION_HEADER);
    if (id === undefined) return false;
    const owner = this.server.settings.callerOf(exchange.request)?.id;
    const session = await this.server.sessions.lookUp(id, owner);
    return session !== undefined && hasNullId(session);
  }

  private async initialize(request: RequestMessage, exchange: HttpExchange): Promise<void> {
    const { server } = this;
    const { settings, sessions } = server;
    const handshake = readHandshake(request.params, settings.revisions);
    const owner = settings.callerOf(exchange.request)?.id;
    const presented = this.hasSessions ? exchange.header(SESSION_HEADER) : undefined;
    // An id that is over, or another's, says nothing: its client begins anew.
    if (presented !== undefined && (await sessions.lookUp(presented, owner)))
      return exchange.refuse(refuse(400, 'This session is initialized already', { id: request.id }));
    if ('code' in handshake) return exchange.refuse({ status: 200, error: handshake, id: request.id });
    const result = resultMessage(request.id, server.initializeResult(handshake.revision, this.hasSessions));
    if (!this.hasSessions) return exchange.send(200, result);
    const id = await server.openSession(handshake, owner);
    if (id === undefined) {
      const why = 'Too many sessions, all of them in use: try again later';
      return exchange.refuse(refuse(503, why, { id: request.id, headers: RETRY }));
    }
    // Who hung up knows no id to use it by.
    if (exchange.isGone) await sessions.end(id);
    else exchange.send(200, result, { [SESSION_HEADER]: id });
  }

  /** The session that a message names, if it is the caller's and the version fits. */
  private async party(exchange: HttpExchange, id: RequestId | undefined): Promise<Party | HttpRefusal> {
    const { settings, sessions } = this.server;
    const version = exchange.header(VERSION_HEADER);
    if (!this.hasSessions) return this.stranger(version, id);
    const presented = exchange.header(SESSION_HEADER);
    if (presented === undefined)
      return refuse(400, 'Mcp-Session-Id is missing: send initialize first', { id });
    const found = await sessions.find(presented, settings.callerOf(exchange.request)?.id);
    if (!found) return unknownSession(id);
    const { session, release } = found;
    const { revision, client } = session;
    if (version === undefined || version === revision) return { revision, client, session, release };
    release();
    const problem = `MCP-Protocol-Version must be ${revision}, as this session negotiated`;
    return refuse(400, problem, { id, nullId: hasNullId(session) });
  }

  /** A client of whom nothing is kept. */
  private stranger(version: string | undefined, id: RequestId | undefined): Party | HttpRefusal {
    const { revisions } = this.server.settings;
    const revision = revisions.findLegacy(version ?? UNNAMED_REVISION);
    if (!revision) {
      const what = version === undefined ? 'is missing' : 'is not one that is served';
      return refuse(400, `MCP-Protocol-Version ${what}: use ${revisions.legacy.join(', ')}`, { id });
    }
    return { revision, client: { capabilities: {} }, session: undefined, release: () => undefined };
  }

  private async take(message: ParsedMessage, session: Session | undefined): Promise<void> {
    if (!session || message.kind === 'request') return;
    const { sessions } = this.server;
    const answer = message.kind === 'rejected' ? message.answer : message;
    if (!answer) return;
    if (answer.kind === 'response') await sessions.answer(session, answer);
    else if (answer.method === 'notifications/cancelled') await sessions.cancel(session, answer);
    else if (answer.method === 'notifications/initialized') await session.peer.becomeReady();
  }

  private async answerAll(
    members: readonly ParsedMessage[],
    party: Party,
    exchange: HttpExchange,
  ): Promise<void> {
    const acceptance = acceptanceOf(exchange.message.headers.accept);
    if (!acceptance.json && !acceptance.stream)
      return exchange.refuse(notAcceptable(undefined), hasNullId(party));
    const reply = this.reply(party, exchange, acceptance, undefined);
    const { limits } = this.server.settings;
    const batch = new BatchReply(reply, limits.resultSize, (id) => tooLargeToKeep(id, limits));
    try {
      await Promise.all(members.map((member) => this.answerOne(member, party, exchange, reply, batch)));
    } finally {
      await batch.end();
    }
  }

  private async answerOne(
    member: ParsedMessage,
    party: Party,
    exchange: HttpExchange,
    reply: ReplyStream,
    batch: BatchReply,
  ): Promise<void> {
    if (member.kind !== 'request') {
      // A store that fails takes none of the other messages with it.
      await this.take(member, party.session).catch((fault: unknown) => this.server.sessions.onFault(fault));
      if (member.kind === 'rejected') batch.add(member.id, errorMessage(member.id, member.error, true));
      return;
    }
    const request = requestWith(exchange.request, member.source.value);
    const outcome = await this.dispatch(member, this.origin(party, exchange, request, reply), party);
    if (outcome) batch.add(member.id, outcome.message);
  }

  private dispatch(request: RequestMessage, origin: CallOrigin, { session }: Party) {
    // A connection that breaks is no cancellation here, unlike in 2026-07-28.
    return this.server.dispatch({ request, origin, lifetime: new CallLifetime(), channel: session });
  }

  private reply(
    { session }: Party,
    exchange: HttpExchange,
    acceptance: Acceptance,
    id: RequestId | undefined,
  ): ReplyStream {
    const { settings } = this.server;
    const writer = new SseWriter(exchange, settings.streams);
    const stream = session ? session.answerStream(writer, () => tooLargeToKeep(id, settings.limits)) : writer;
    return new ReplyStream(exchange, acceptance, stream, settings);
  }

  private origin(
    { session, revision, client }: Party,
    exchange: HttpExchange,
    request: FrameworkRequest,
    reply: ReplyStream,
  ): CallOrigin {
    const { settings } = this.server;
    return {
      transport: 'http',
      era: 'legacy',
      revision,
      client,
      sessionId: session?.id,
      peer: session?.peer,
      request,
      response: exchange.response,
      callerOf: () => settings.callerOf(request),
      stream: reply.early,
      outlet: undefined,
    };
  }

  /** Source: Versioning, 2026-07-28: an error to a legacy client names what is served. */
  private unserved(request: RequestMessage, exchange: HttpExchange): HttpRefusal {
    const asked = request.params?.['protocolVersion'] ?? exchange.header(VERSION_HEADER);
    const requested = typeof asked === 'string' ? asked : UNNAMED_REVISION;
    return {
      status: 400,
      error: unsupportedVersion(requested, this.server.settings.revisions),
      id: request.id,
    };
  }
}

/** Whether an error without a readable id says so. */
function hasNullId({ revision }: Pick<Party, 'revision'>): boolean {
  return revision <= LAST_WITH_NULL_ID;
}

function storeFailed(): HttpRefusal {
  return { status: 500, error: { code: ErrorCode.InternalError, message: 'Internal error' } };
}

function unknownSession(id: RequestId | undefined): HttpRefusal {
  return refuse(404, 'Session not found: send initialize again', { id });
}

/** What a client gets in the place of an answer that was too large to wait for it. */
function tooLargeToKeep(id: RequestId | undefined, { replayBytes }: { replayBytes: number }): string {
  const message = `The answer is larger than the ${replayBytes} bytes that are kept for a client whose connection was cut`;
  return errorMessage(id, { code: ErrorCode.InternalError, message });
}

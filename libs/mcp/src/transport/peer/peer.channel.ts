import type {
  CallOrigin,
  CallStream,
  ChangeOutlet,
  McpCaller,
  McpTransport,
} from '../../protocol/call-origin.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { eraOfMessage, unsupportedVersion } from '../../protocol/era.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import { Channel } from '../../protocol/in-flight.js';
import {
  errorMessage,
  readId,
  resultMessage,
  type BatchMessage,
  type JsonObject,
  type NotificationMessage,
  type ParsedInput,
  type RejectedMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type RpcError,
} from '../../protocol/json-rpc.js';
import { scanMessage } from '../../protocol/json-scan.js';
import { readHandshake, type Handshake } from '../../protocol/legacy/handshake.js';
import { BatchAnswers } from '../../protocol/batch-answers.js';
import type { LegacyPeer } from '../../protocol/legacy/legacy-peer.js';
import { BATCH_NOT_SERVED, parseMessage } from '../../protocol/message-parser.js';
import { readEnvelope } from '../../protocol/request-meta.js';
import type { McpServer } from '../../server/mcp.server.js';
import { McpStdioRequest, type McpStdioRequestOptions } from './stand-in.request.js';

/** The ways to the client beside the answers. */
export interface PeerOutlet extends CallStream {
  /** Sends what changed; may be lost to a client that leaves too much unread. */
  notify(message: string): void;
}

/** What brought one message. */
export interface MessageBearer {
  /** What guards see as the request. */
  readonly request: unknown;
  readonly response: unknown;
  callerOf(): McpCaller | undefined;
}

/** Tells what brought a message of that value. */
export type BearerOf = (message: JsonObject) => MessageBearer;

/** Who is at the other end. */
export interface PeerIdentity {
  readonly transport: McpTransport;
  /** The revisions that this transport has. */
  readonly eras: 'both' | 'legacy';
  /** What `ctx.sessionId` tells; nothing where the channel has no name. */
  readonly sessionId?: string;
  readonly bearerOf: BearerOf;
}

/** A peer that has no requests of its own: guards see a stand-in. */
export function standInIdentity(
  transport: McpTransport,
  options: McpStdioRequestOptions,
  callerOf: (request: unknown) => McpCaller | undefined,
): PeerIdentity {
  return {
    transport,
    eras: 'both',
    bearerOf: (message) => {
      const request = new McpStdioRequest(options, message, transport);
      return { request, response: undefined, callerOf: () => callerOf(request) };
    },
  };
}

/** An answer, and what it answers. */
export interface PeerAnswer {
  readonly message: string;
  /** The request that stayed open for changes and is ended by this. */
  readonly ends?: RequestId;
}

/**
 * One channel with one client, whatever carries it. Each message says by itself which era it is of; only `initialize`
 * leaves something behind, for the legacy messages that follow. Source: stdio, 2026-07-28.
 */
export class PeerChannel extends Channel {
  private legacy: { readonly peer: LegacyPeer; readonly leave: () => void } | undefined;
  private isClosed = false;

  private readonly changes: ChangeOutlet = { listen: () => this.subscriptionSender() };

  constructor(
    private readonly server: McpServer,
    private readonly identity: PeerIdentity,
    private readonly outlet: PeerOutlet,
  ) {
    super(server.settings.limits.inFlightPerChannel);
  }

  /** The answer to one message; nothing to what is not answered. Never rejects. */
  async receive(bytes: Uint8Array): Promise<PeerAnswer | undefined> {
    const { limits } = this.server.settings;
    if (bytes.length > limits.line) return this.isClosed ? undefined : { message: this.refuseLong(bytes) };
    return this.take(parseMessage(bytes, limits));
  }

  /** The same of a message that was read already; `bearerOf` tells what brought it, where that is not always the same. */
  async take(message: ParsedInput, bearerOf = this.identity.bearerOf): Promise<PeerAnswer | undefined> {
    // What came late: nothing may be opened for a peer that is gone, since nothing would end it.
    if (this.isClosed) return undefined;
    // A peer would take the refusal of its answer for an answer to a request of its own.
    if (message.kind === 'rejected' && this.takeWrong(message)) return undefined;
    const refusal = this.refuse(message);
    if (refusal !== undefined) return { message: refusal };
    if (message.kind === 'batch') return this.batch(message, bearerOf);
    if (message.kind === 'request') return this.request(message, bearerOf);
    if (message.kind !== 'rejected') this.notice(message);
    return undefined;
  }

  /** The error for what is no message, or none that this client may send; nothing for one that is taken. */
  refuse(message: ParsedInput): string | undefined {
    if (message.kind === 'rejected') return this.reject(message);
    const isUnknown = message.kind === 'batch' && this.legacy?.peer.handshake.revision !== BATCH_REVISION;
    return isUnknown ? this.reject(BATCH_NOT_SERVED) : undefined;
  }

  /** The refusal of a message that is too long, by its head. */
  refuseLong(head: Uint8Array): string {
    const { limits } = this.server.settings;
    const text = Buffer.from(head.subarray(0, HEAD)).toString('utf8');
    const id = readId(scanMessage(text, limits).id);
    const error = {
      code: ErrorCode.InvalidRequest,
      message: `Invalid request: the line is longer than ${limits.line} bytes`,
    };
    this.server.log.refused(this.identity.transport, error.code, error.message);
    return errorMessage(id, error, this.wantsNullId);
  }

  /** Nothing comes from the client any more, though it may still read: what it was asked has no answer. */
  endOfInput(): void {
    this.legacy?.peer.close();
  }

  /** Nobody is there any more. */
  close(): void {
    this.isClosed = true;
    // First, so that nothing is written for what waits for the client itself.
    this.legacy?.leave();
    this.shut('disconnected');
  }

  /** Each message is served by itself, and the answers come together. Source: Base Protocol, Batching, 2025-03-26. */
  private async batch({ members }: BatchMessage, bearerOf: BearerOf): Promise<PeerAnswer | undefined> {
    const answers = new BatchAnswers(this.server.settings.limits.resultSize);
    await Promise.all(
      members.map(async (member) => {
        const answer = await this.take(member, bearerOf);
        const id = member.kind === 'request' || member.kind === 'rejected' ? member.id : undefined;
        if (answer) answers.add(id, answer.message);
      }),
    );
    return answers.isEmpty ? undefined : { message: answers.toArray() };
  }

  /** Tells whoever waits for it of an answer that is refused; false where nobody does. */
  private takeWrong({ answer }: RejectedMessage): boolean {
    return answer !== undefined && this.legacy?.peer.answer(answer) === true;
  }

  private reject(message: RejectedMessage): string {
    const { id, error } = message;
    this.takeWrong(message);
    this.server.log.refused(this.identity.transport, error.code, error.message);
    return errorMessage(id, error, this.wantsNullId);
  }

  private async request(request: RequestMessage, bearerOf: BearerOf): Promise<PeerAnswer | undefined> {
    const { id, params, method } = request;
    const { revisions } = this.server.settings;
    const era = this.identity.eras === 'legacy' ? 'legacy' : eraOfMessage(params, undefined, revisions);
    if (era === 'legacy' && method === 'initialize') return { message: this.initialize(request) };
    const origin =
      era === 'modern' ? this.modernOrigin(request, bearerOf) : this.legacyOrigin(request, bearerOf);
    if ('code' in origin) return { message: errorMessage(id, origin) };
    const outcome = await this.server.dispatch({
      request,
      origin,
      lifetime: new CallLifetime(),
      channel: this,
    });
    if (!outcome) return undefined;
    const { message, error } = outcome;
    return method === 'subscriptions/listen' && !error ? { message, ends: id } : { message };
  }

  private notice(message: NotificationMessage | ResponseMessage): void {
    if (message.kind === 'response') this.legacy?.peer.answer(message);
    else if (message.method === 'notifications/cancelled') this.cancel(message.params, message.source.text);
    // A peer keeps its state itself, so there is nothing to wait for.
    else if (message.method === 'notifications/initialized') void this.legacy?.peer.becomeReady();
  }

  private initialize({ id, params }: RequestMessage): string {
    const { revisions } = this.server.settings;
    if (revisions.legacy.length === 0) {
      const asked = params?.['protocolVersion'];
      return errorMessage(id, unsupportedVersion(typeof asked === 'string' ? asked : '', revisions));
    }
    if (this.legacy) {
      return errorMessage(id, {
        code: ErrorCode.InvalidRequest,
        message: 'This channel is initialized already',
      });
    }
    const handshake = readHandshake(params, revisions);
    if ('code' in handshake) return errorMessage(id, handshake);
    this.legacy = this.server.welcome(handshake);
    this.legacy.peer.send = (message) => this.outlet.notify(message);
    return resultMessage(id, this.server.initializeResult(handshake.revision));
  }

  private modernOrigin(request: RequestMessage, bearerOf: BearerOf): CallOrigin | RpcError {
    const { revisions } = this.server.settings;
    const envelope = readEnvelope(request.params);
    if ('code' in envelope) return envelope;
    const revision = revisions.findModern(envelope.version);
    if (!revision) return unsupportedVersion(envelope.version, revisions);
    return this.origin(request, { revision, client: envelope.client }, 'modern', bearerOf);
  }

  /** Before `initialize` only `ping` is served without the metadata of 2026-07-28. */
  private legacyOrigin(request: RequestMessage, bearerOf: BearerOf): CallOrigin | RpcError {
    const { revisions } = this.server.settings;
    if (this.legacy) return this.origin(request, this.legacy.peer.handshake, 'legacy', bearerOf);
    const [newest] = revisions.legacy;
    if (request.method === 'ping' && newest) {
      return this.origin(request, { revision: newest, client: { capabilities: {} } }, 'legacy', bearerOf);
    }
    const envelope = this.identity.eras === 'both' ? readEnvelope(request.params) : undefined;
    if (envelope && 'code' in envelope) return envelope;
    return { code: ErrorCode.InvalidParams, message: 'Invalid params: send initialize first' };
  }

  private origin(
    request: RequestMessage,
    { revision, client }: Handshake,
    era: CallOrigin['era'],
    bearerOf: BearerOf,
  ): CallOrigin {
    const bearer = bearerOf(request.source.value);
    return {
      transport: this.identity.transport,
      era,
      revision,
      client,
      sessionId: this.identity.sessionId,
      peer: era === 'legacy' ? this.legacy?.peer : undefined,
      request: bearer.request,
      response: bearer.response,
      callerOf: () => bearer.callerOf(),
      stream: this.outlet,
      outlet: era === 'modern' ? this.changes : undefined,
    };
  }

  /** What a subscription sends by: its acknowledgement, which comes first, is never lost. */
  private subscriptionSender(): (message: string) => void {
    let send = (message: string) => {
      send = (next) => this.outlet.notify(next);
      this.outlet.send(message);
    };
    return (message) => send(message);
  }

  private get wantsNullId(): boolean {
    return this.legacy !== undefined && this.legacy.peer.handshake.revision <= '2025-06-18';
  }
}

/** The one revision that has batches. */
const BATCH_REVISION = '2025-03-26';

/** Bytes of a message that is too long in which its id is looked for. */
const HEAD = 4096;

import type { CallOrigin, ChangeOutlet, McpCaller, McpTransport } from '../../protocol/call-context.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { eraOfMessage, unsupportedVersion } from '../../protocol/era.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import { Channel } from '../../protocol/in-flight.js';
import {
  errorMessage,
  readId,
  resultMessage,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type RpcError,
} from '../../protocol/json-rpc.js';
import { scanMessage } from '../../protocol/json-scan.js';
import { readHandshake, type Handshake } from '../../protocol/legacy/handshake.js';
import type { LegacyPeer } from '../../protocol/legacy/legacy-peer.js';
import { parseMessage } from '../../protocol/message-parser.js';
import { readEnvelope } from '../../protocol/request-meta.js';
import type { McpServer } from '../../server/mcp.server.js';
import { McpStdioRequest, type McpStdioRequestOptions } from './stand-in.request.js';

/** The ways to the client beside the answers. */
export interface PeerOutlet {
  /** Sends what may be lost, before an answer: dropped while the client does not read. Resolves when there is room. */
  readonly emit: (message: string) => Promise<void>;
  /** Sends what must not be lost. */
  readonly send: (message: string) => void;
  /** Sends what changed; may be lost to a client that leaves too much unread. */
  readonly notify: (message: string) => void;
}

/** Who is at the other end. */
export interface PeerIdentity {
  readonly transport: McpTransport;
  /** What guards see as the request. */
  readonly request: McpStdioRequestOptions;
  /** Who it is, where the transport knows better than the option `caller`. */
  readonly caller?: McpCaller | undefined;
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
    // What came late: nothing may be opened for a peer that is gone, since nothing would end it.
    if (this.isClosed) return undefined;
    if (bytes.length > limits.line) return { message: this.refuseLong(bytes) };
    const message = parseMessage(bytes, limits);
    if (message.kind === 'response') return undefined;
    if (message.kind === 'rejected') {
      this.server.log.refused(this.identity.transport, message.error.code, message.error.message);
      return { message: errorMessage(message.id, message.error, this.wantsNullId) };
    }
    if (message.kind === 'request') return this.request(message);
    this.notice(message);
    return undefined;
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

  /** Nobody is there any more. */
  close(): void {
    this.isClosed = true;
    this.endAll('disconnected');
    this.legacy?.leave();
  }

  private async request(request: RequestMessage): Promise<PeerAnswer | undefined> {
    const { id, params, method } = request;
    const { revisions } = this.server.settings;
    const era = eraOfMessage(params, undefined, revisions);
    if (era === 'legacy' && method === 'initialize') return { message: this.initialize(request) };
    const origin = era === 'modern' ? this.modernOrigin(request) : this.legacyOrigin(request);
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

  private notice({ method, params, source }: NotificationMessage): void {
    if (method === 'notifications/cancelled') this.cancel(params, source.text);
    else if (method === 'notifications/initialized' && this.legacy) this.legacy.peer.isReady = true;
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
    this.legacy.peer.send = this.outlet.notify;
    return resultMessage(id, this.server.initializeResult(handshake.revision));
  }

  private modernOrigin(request: RequestMessage): CallOrigin | RpcError {
    const { revisions } = this.server.settings;
    const envelope = readEnvelope(request.params);
    if ('code' in envelope) return envelope;
    const revision = revisions.findModern(envelope.version);
    if (!revision) return unsupportedVersion(envelope.version, revisions);
    return this.origin(request, { revision, client: envelope.client }, 'modern');
  }

  /** Before `initialize` only `ping` is served without the metadata of 2026-07-28. */
  private legacyOrigin(request: RequestMessage): CallOrigin | RpcError {
    const { revisions } = this.server.settings;
    if (this.legacy) return this.origin(request, this.legacy.peer.handshake, 'legacy');
    const [newest] = revisions.legacy;
    if (request.method === 'ping' && newest) {
      return this.origin(request, { revision: newest, client: { capabilities: {} } }, 'legacy');
    }
    const error = readEnvelope(request.params);
    return 'code' in error
      ? error
      : { code: ErrorCode.InvalidParams, message: 'Invalid params: send initialize first' };
  }

  private origin(
    request: RequestMessage,
    { revision, client }: Handshake,
    era: CallOrigin['era'],
  ): CallOrigin {
    const { settings } = this.server;
    const { transport, caller, request: options } = this.identity;
    const stand = new McpStdioRequest(options, request.source.value, transport);
    const { emit } = this.outlet;
    return {
      transport,
      era,
      revision,
      client,
      sessionId: undefined,
      peer: era === 'legacy' ? this.legacy?.peer : undefined,
      request: stand,
      response: undefined,
      callerOf: () => caller ?? settings.callerOf(stand),
      emit,
      outlet: era === 'modern' ? this.changes : undefined,
    };
  }

  /** What a subscription sends by: its acknowledgement, which comes first, is never lost. */
  private subscriptionSender(): (message: string) => void {
    let send = (message: string) => {
      send = this.outlet.notify;
      this.outlet.send(message);
    };
    return (message) => send(message);
  }

  private get wantsNullId(): boolean {
    return this.legacy !== undefined && this.legacy.peer.handshake.revision <= '2025-06-18';
  }
}

/** Bytes of a message that is too long in which its id is looked for. */
const HEAD = 4096;

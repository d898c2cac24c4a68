import type { CallOrigin } from '../../protocol/call-context.js';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import { eraOfMessage, unsupportedVersion } from '../../protocol/era.js';
import { ErrorCode } from '../../protocol/error-codes.js';
import { Channel } from '../../protocol/in-flight.js';
import {
  errorMessage,
  readId,
  resultMessage,
  type NotificationMessage,
  type RequestMessage,
  type RpcError,
} from '../../protocol/json-rpc.js';
import { scanMessage } from '../../protocol/json-scan.js';
import { readHandshake, type Handshake } from '../../protocol/legacy/handshake.js';
import { parseMessage } from '../../protocol/message-parser.js';
import { readEnvelope } from '../../protocol/request-meta.js';
import type { McpServer } from '../../server/mcp.server.js';
import type { Line } from './line-reader.js';
import { McpStdioRequest, type McpStdioRequestOptions } from './stdio-request.js';

/** Sends one message; resolves when the reader has room for more. */
export type SendMessage = (message: string) => Promise<void>;

/** The two ways to the client. */
export interface StdioOutlet {
  /** Sends an answer: never dropped. */
  readonly answer: SendMessage;
  /** Sends what may be lost: dropped while the client does not read. */
  readonly emit: SendMessage;
}

/**
 * One pipe with one client. Each message says by itself which era it is of; only `initialize` leaves
 * something behind, for the legacy messages that follow. Source: stdio, 2026-07-28.
 */
export class StdioChannel extends Channel {
  private handshake: Handshake | undefined;

  constructor(
    private readonly server: McpServer,
    private readonly stand: McpStdioRequestOptions,
    private readonly outlet: StdioOutlet,
  ) {
    super(server.settings.limits.inFlightPerChannel);
  }

  /** Answers one line. Never rejects. */
  async receive(line: Line): Promise<void> {
    const { limits } = this.server.settings;
    if ('tooLong' in line) return this.refuseLine(line.tooLong, limits.line);
    const message = parseMessage(line.bytes, limits);
    if (message.kind === 'response') return;
    if (message.kind === 'rejected') {
      this.server.log.refused('stdio', message.error.code, message.error.message);
      await this.outlet.answer(errorMessage(message.id, message.error, this.wantsNullId));
    } else if (message.kind === 'notification') this.notice(message);
    else await this.request(message);
  }

  private async request(request: RequestMessage): Promise<void> {
    const { id, params, method } = request;
    const { revisions } = this.server.settings;
    const era = eraOfMessage(params, undefined, revisions);
    if (era === 'legacy' && method === 'initialize') return this.outlet.answer(this.initialize(request));
    const origin = era === 'modern' ? this.modernOrigin(request) : this.legacyOrigin(request);
    if ('code' in origin) return this.outlet.answer(errorMessage(id, origin));
    const outcome = await this.server.dispatch({
      request,
      origin,
      lifetime: new CallLifetime(),
      channel: this,
    });
    if (outcome) await this.outlet.answer(outcome.message);
  }

  private notice({ method, params, source }: NotificationMessage): void {
    if (method === 'notifications/cancelled') this.cancel(params, source.text);
  }

  private initialize({ id, params }: RequestMessage): string {
    const { revisions } = this.server.settings;
    if (revisions.legacy.length === 0) {
      const asked = params?.['protocolVersion'];
      return errorMessage(id, unsupportedVersion(typeof asked === 'string' ? asked : '', revisions));
    }
    if (this.handshake) {
      return errorMessage(id, {
        code: ErrorCode.InvalidRequest,
        message: 'This channel is initialized already',
      });
    }
    const handshake = readHandshake(params, revisions);
    if ('code' in handshake) return errorMessage(id, handshake);
    this.handshake = handshake;
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
    if (this.handshake) return this.origin(request, this.handshake, 'legacy');
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
    const stand = new McpStdioRequest(this.stand, request.source.value);
    return {
      transport: 'stdio',
      era,
      revision,
      client,
      sessionId: undefined,
      request: stand,
      response: undefined,
      callerOf: () => settings.callerOf(stand),
      emit: this.outlet.emit,
    };
  }

  private async refuseLine(head: Buffer, limit: number): Promise<void> {
    const id = readId(scanMessage(head.toString('utf8'), this.server.settings.limits).id);
    const error = {
      code: ErrorCode.InvalidRequest,
      message: `Invalid request: the line is longer than ${limit} bytes`,
    };
    this.server.log.refused('stdio', error.code, error.message);
    await this.outlet.answer(errorMessage(id, error, this.wantsNullId));
  }

  private get wantsNullId(): boolean {
    return this.handshake !== undefined && this.handshake.revision <= '2025-06-18';
  }
}

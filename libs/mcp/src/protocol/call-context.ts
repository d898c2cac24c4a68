import { McpAskError } from './asking/ask-error.js';
import type { Asking } from './asking/asking.js';
import { unheeded, type CallQuestions } from './asking/call-questions.js';
import { ModernRounds, type RoundVerdict } from './asking/modern-rounds.js';
import type { Question } from './asking/question.js';
import {
  rootsQuestion,
  samplingQuestion,
  urlQuestion,
  type McpSampled,
  type McpSampling,
} from './asking/questions.js';
import type { CallLifetime } from './call-lifetime.js';
import { clientLog, isWanted, logParams, type McpClientLog, type McpLogLevel } from './client-log.js';
import { idValue, notificationMessage, type JsonObject, type RequestId } from './json-rpc.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { ClientInfo } from './request-meta.js';
import type { McpEra, McpRevision } from './versions.js';

/** Who is calling, as the application's guards found out. */
export interface McpCaller {
  /** Sessions and caps are bound to this id. */
  readonly id: string;
  readonly clientId?: string;
  readonly scopes?: string[];
  readonly claims?: unknown;
}

/** Which transport brought a call; `'sse'` is HTTP+SSE of 2024-11-05, `'memory'` one of the application's own, by `McpDispatcher`. */
export type McpTransport = 'http' | 'stdio' | 'sse' | 'memory';

/** What can stay open for changes. */
export interface ChangeOutlet {
  /** Opens the answer as a stream; what it gives sends on it. */
  listen(): (message: string) => void;
}

/** The request's own stream, before its answer. */
export interface CallStream {
  /** Sends a message that may be lost to a client who does not read. Resolves when there is room for more. */
  emit(message: string): void | Promise<void>;
  /**
   * Sends a message that must not be lost.
   *
   * @param instead what is kept of it for a client whose connection is cut, where it is too large to be kept
   */
  send(message: string, instead?: () => string): void;
  /** Closes the connection alone: the client comes back for the answer. Missing where it would not. */
  pause?(): void;
  /** Whether the client is gone and would not come back for what is sent. */
  readonly isLost?: boolean;
}

/** Where a message came from: all that a transport tells the core, made once per message. */
export interface CallOrigin {
  readonly transport: McpTransport;
  readonly era: McpEra;
  readonly revision: McpRevision;
  readonly client: ClientInfo;
  readonly sessionId: string | undefined;
  /** The legacy client behind the message, after its handshake. */
  readonly peer: LegacyPeer | undefined;
  /** What guards see as the request: the framework's own, or the stand-in of stdio. */
  readonly request: unknown;
  /** The framework's response, or nothing on stdio. */
  readonly response: unknown;
  /** Reads the caller from the request as it stands now. */
  callerOf(): McpCaller | undefined;
  /** The way to the client before the answer. Missing where the client or the server wants plain answers. */
  readonly stream: CallStream | undefined;
  /** Gives a stream that stays open for changes; missing where the client takes no stream. */
  readonly outlet: ChangeOutlet | undefined;
}

/** What a call asks for, read from its message. */
export interface CallSubject {
  readonly id: RequestId;
  readonly method: string;
  readonly name: string;
  readonly meta: JsonObject;
  /** JSON token, digits kept. */
  readonly progressToken: string | undefined;
  /** The least level of log messages that the request itself asks for. */
  readonly logLevel: McpLogLevel | undefined;
  /** The request's `params`. */
  readonly params: JsonObject | undefined;
}

/** What a user said to a form. @publicApi */
export type McpElicited<T> =
  { readonly action: 'accept'; readonly content: T } | { readonly action: 'decline' | 'cancel' };

/**
 * A form: a DTO class, a Standard Schema, or a JSON Schema, of fields side by side.
 * @publicApi
 */
export type McpForm<T> =
  | (new (...args: never[]) => T)
  | { readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: T } | undefined } }
  | Readonly<Record<string, unknown>>;

/** How a question is told from others of the same call. @publicApi */
export interface McpAskOptions {
  /** Default: its kind and number, such as `elicitation-1`. */
  readonly key?: string;
}

/**
 * Everything a handler may know about the call it serves. A parameter of this type gets it, in any
 * position; guards and interceptors reach it by `McpExecutionContext`.
 *
 * @example
 * @McpTool({ description: 'Exports all tickets' })
 * async exportTickets(args: ExportDto, ctx: McpContext) {
 *   for (const [done, ticket] of tickets.entries()) {
 *     ctx.signal.throwIfAborted();
 *     await ctx.progress(done, tickets.length);
 *   }
 * }
 * @publicApi
 */
export class McpContext {
  private caught: { readonly caller: McpCaller | undefined } | undefined;
  private reached = Number.NEGATIVE_INFINITY;
  private clientLog: McpClientLog | undefined;
  private asked: CallQuestions | undefined;
  private giveUp: ((why: Error) => void) | undefined;
  /** Whether the handler runs, and not only what stands before it. */
  private hasBegun = false;

  /** @internal */
  constructor(
    private readonly origin: CallOrigin,
    private readonly subject: CallSubject,
    private readonly lifetime: CallLifetime,
    /** Takes out of an instance what is hidden from clients, before it is sent as a log message. */
    private readonly plainOf: (data: unknown) => unknown = (data) => data,
    /** How the call asks its client; missing where it cannot. */
    private readonly asking?: Asking,
  ) {}

  /** The request's id; an integer beyond 2^53 is given as text. */
  get requestId(): string | number {
    return idValue(this.subject.id);
  }

  /** The MCP method, for example `tools/call`. */
  get method(): string {
    return this.subject.method;
  }

  /** The tool's or prompt's name, the resource's address; of a completion, the prompt or the template. */
  get name(): string {
    return this.subject.name;
  }

  /** `modern`: 2026-07-28, every request stands alone. `legacy`: a revision with a handshake. */
  get era(): McpEra {
    return this.origin.era;
  }

  get revision(): McpRevision {
    return this.origin.revision;
  }

  get transport(): McpTransport {
    return this.origin.transport;
  }

  /** What the client says of itself; never a base for decisions about access. */
  get client(): ClientInfo {
    return this.origin.client;
  }

  /** Who is calling: the option `caller`, read after the guards of this handler ran. */
  get caller(): McpCaller | undefined {
    return this.caught ? this.caught.caller : this.origin.callerOf();
  }

  /** The legacy session over HTTP, over HTTP+SSE that of the stream, if there is one. */
  get sessionId(): string | undefined {
    return this.origin.sessionId;
  }

  /** The request's `_meta`, empty where none was sent. */
  get meta(): Readonly<Record<string, unknown>> {
    return this.subject.meta;
  }

  /** The Express or Fastify request; on stdio the stand-in. */
  get request(): unknown {
    return this.origin.request;
  }

  /** Aborts on cancellation, on a closed stream (2026-07-28), at the time limit and at shutdown. */
  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  /**
   * Tells the client how far the call is. Does nothing where the client did not ask for progress, and
   * drops a value that does not exceed the last one. Await it: it waits for a slow reader.
   * Source: Progress, all revisions.
   *
   * @throws TypeError when `progress` or `total` is not a finite number
   */
  async progress(progress: number, total?: number, message?: string): Promise<void> {
    if (!Number.isFinite(progress) || (total !== undefined && !Number.isFinite(total))) {
      throw new TypeError(
        'ctx.progress(progress, total?, message?): progress and total must be finite numbers',
      );
    }
    const { progressToken } = this.subject;
    if (progressToken === undefined || !this.origin.stream || this.isMute || progress <= this.reached) return;
    this.reached = progress;
    const extra = total === undefined ? '' : `,"total":${total}`;
    const text =
      typeof message !== 'string' || this.revision === '2024-11-05'
        ? ''
        : `,"message":${JSON.stringify(message)}`;
    const params = `{"progressToken":${progressToken},"progress":${progress}${extra}${text}}`;
    await this.origin.stream.emit(notificationMessage('notifications/progress', params));
  }

  /**
   * Sends log messages to this client, one function for each of the eight levels. Only what was asked for is sent:
   * by `logging/setLevel` before 2026-07-28, by the request itself since. Dropped after the call, and while the
   * client does not read. Source: Logging, all revisions.
   *
   * @example ctx.log.warning('The index is being rebuilt', 'search');
   */
  get log(): McpClientLog {
    return (this.clientLog ??= clientLog((level, data, logger) => this.sendLog(level, data, logger)));
  }

  /**
   * Closes the connection of this call's stream, so that a slow call holds none: the client comes back after a second
   * and gets what it missed, the answer included. The call goes on. Does nothing where the client could not come back:
   * that takes a session of 2025-11-25 over HTTP. Source: Transports, Sending Messages, 2025-11-25.
   */
  closeStream(): void {
    if (this.lifetime.isOpen) this.origin.stream?.pause?.();
  }

  /**
   * Asks the user to fill in a form, of fields side by side, without secrets.
   *
   * Before 2026-07-28 the client is asked and the handler waits; its time limit stops meanwhile. In 2026-07-28 the call
   * ends here, and the handler runs again from its beginning once the client sends the answer: what must not happen
   * twice goes into `once`. Source: Elicitation, 2025-06-18 on; Multi Round-Trip Requests, 2026-07-28.
   *
   * @param form its class, Standard Schema or JSON Schema; `content` is an instance of it
   * @throws McpAskError where the client cannot be asked, answers an error, or does not answer in time
   */
  elicit<T>(message: string, form: McpForm<T>, { key }: McpAskOptions = {}): Promise<McpElicited<T>> {
    return this.ask('elicitation', key, () => this.ready().form(message, form, this.revision));
  }

  /**
   * Asks the user to open an address, for what must not pass through the client, such as credentials. `accept` says
   * that the user agreed to open it, not that anything was done there. Source: Elicitation, URL Mode, 2025-11-25 on.
   *
   * @throws TypeError for what is no absolute URL; McpAskError as `elicit`
   */
  elicitUrl(
    message: string,
    url: string,
    { key }: McpAskOptions = {},
  ): Promise<{ readonly action: 'accept' | 'decline' | 'cancel' }> {
    return this.ask('elicitation', key, () => urlQuestion(message, url, this.revision));
  }

  /**
   * Asks the client's model. Source: Sampling, all revisions; deprecated since 2026-07-28.
   *
   * @throws TypeError for what is no request; McpAskError as `elicit`
   */
  sample(request: McpSampling, { key }: McpAskOptions = {}): Promise<McpSampled> {
    return this.ask('sampling', key, () => samplingQuestion(request, this.revision));
  }

  /**
   * Asks for the folders or files that the client works on: information, no access control.
   * Source: Roots, all revisions; deprecated since 2026-07-28.
   *
   * @throws McpAskError as `elicit`
   */
  roots({ key }: McpAskOptions = {}): Promise<readonly { readonly uri: string; readonly name?: string }[]> {
    return this.ask('roots', key, rootsQuestion);
  }

  /**
   * Does some work once for this call, also where its handler runs again after a question: the next time its value is
   * there already, as JSON. Work that fails is done again, and so is that of a call which a client makes anew.
   *
   * @param key its name, of this call's own
   */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return unheeded((async () => this.questions().once(key, work))());
  }

  /** @internal Fixes the caller once this handler's guards have run. */
  fixCaller(): void {
    this.caught ??= { caller: this.origin.callerOf() };
  }

  /** @internal This handler begins, perhaps once more. Gives a rejection where it must not, as a state is not valid. */
  enter(): Promise<never> | undefined {
    this.fixCaller();
    this.hasBegun = true;
    const { params } = this.subject;
    const goesOn = params && ('requestState' in params || 'inputResponses' in params) && this.asking;
    return this.asked || goesOn ? this.questions().enter() : undefined;
  }

  /** @internal Rejects where the call waits for its client and whoever runs its handler does not let go of it. */
  whenStuck(): Promise<never> | undefined {
    if (!this.asking || this.era === 'legacy') return undefined;
    return unheeded(new Promise((_, reject) => (this.giveUp = reject)));
  }

  /** @internal How the call comes out, where it asked what is not answered; whatever its handler made of that. */
  verdict(): Promise<RoundVerdict | undefined> | undefined {
    return this.asked instanceof ModernRounds && this.asked.isUndecided ? this.asked.verdict() : undefined;
  }

  /** Whether nothing may be sent any more. */
  private get isMute(): boolean {
    return !this.lifetime.isOpen || this.asked?.isSuspended === true;
  }

  private ready(): Asking {
    if (this.asking) return this.asking;
    throw new McpAskError('unsupported', `Nothing can be asked during ${this.method}`);
  }

  private questions(): CallQuestions {
    const { era, peer, stream, client } = this.origin;
    const { method, name, params } = this.subject;
    if (this.asked) return this.asked;
    const asked = this.ready().open({
      era,
      peer,
      stream,
      capabilities: client.capabilities,
      lifetime: this.lifetime,
      method,
      name,
      params,
      callerId: () => this.caller?.id,
      giveUp: (why) => this.giveUp?.(why),
    });
    this.asked = asked;
    asked.open();
    if (this.hasBegun) void asked.enter();
    return asked;
  }

  private ask<T>(
    kind: Question['kind'],
    key: string | undefined,
    question: () => Question | Promise<Question>,
  ): Promise<T> {
    const answer = (async () => this.questions().ask(kind, key, question()))();
    return unheeded(answer) as Promise<T>;
  }

  /** @internal Whether that was thrown because this call is over: the reason of its signal, or an error caused by it. */
  isStoppedBy(thrown: unknown): boolean {
    if (this.lifetime.endReason === undefined) return false;
    const reason: unknown = this.lifetime.signal.reason;
    return thrown === reason || (thrown as { cause?: unknown } | null | undefined)?.cause === reason;
  }

  private sendLog(level: McpLogLevel, data: unknown, logger: string | undefined): void {
    const { stream, peer, era } = this.origin;
    const threshold = era === 'legacy' ? peer?.logLevel : this.subject.logLevel;
    if (!stream || this.isMute || !isWanted(level, threshold)) return;
    void stream.emit(
      notificationMessage('notifications/message', logParams(level, data, logger, this.plainOf)),
    );
  }
}

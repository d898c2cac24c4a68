import type { Asking, McpAskOptions, McpElicited, McpForm } from './asking/asking.js';
import { ContextQuestions } from './asking/context-questions.js';
import { rootsQuestion, urlQuestion } from './asking/questions.js';
import { samplingQuestion, type McpSampled, type McpSampling } from './asking/sampling.js';
import type { CallLifetime } from './call-lifetime.js';
import type { CallOrigin, CallSubject, McpCaller, McpTransport } from './call-origin.js';
import { clientLog, isWanted, logParams, type McpClientLog, type McpLogLevel } from './client-log.js';
import { idValue, notificationMessage } from './json-rpc.js';
import type { ClientInfo } from './request-meta.js';
import type { McpEra, McpRevision } from './versions.js';

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
  /** @internal What this call asks its client. */
  readonly questions: ContextQuestions;

  /** @internal */
  constructor(
    private readonly origin: CallOrigin,
    private readonly subject: CallSubject,
    private readonly lifetime: CallLifetime,
    /** Takes out of an instance what is hidden from clients, before it is sent as a log message. */
    private readonly plainOf: (data: unknown) => unknown = (data) => data,
    /** How the call asks its client; missing where it cannot. */
    asking?: Asking,
  ) {
    this.questions = new ContextQuestions(origin, subject, lifetime, asking, () => this.caller?.id);
  }

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
    return this.questions.elicit(message, form, key);
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
    return this.questions.ask('elicitation', key, () => urlQuestion(message, url, this.revision));
  }

  /**
   * Asks the client's model. Source: Sampling, all revisions; deprecated since 2026-07-28.
   *
   * @throws TypeError for what is no request; McpAskError as `elicit`
   */
  sample(request: McpSampling, { key }: McpAskOptions = {}): Promise<McpSampled> {
    return this.questions.ask('sampling', key, () => samplingQuestion(request, this.revision));
  }

  /**
   * Asks for the folders or files that the client works on: information, no access control.
   * Source: Roots, all revisions; deprecated since 2026-07-28.
   *
   * @throws McpAskError as `elicit`
   */
  roots({ key }: McpAskOptions = {}): Promise<readonly { readonly uri: string; readonly name?: string }[]> {
    return this.questions.ask('roots', key, rootsQuestion);
  }

  /**
   * Does some work once for this call, also where its handler runs again after a question: the next time its value is
   * there already, as JSON. Work that fails is done again, and so is that of a call which a client makes anew.
   *
   * @param key its name, of this call's own
   */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return this.questions.once(key, work);
  }

  /** @internal Fixes the caller once this handler's guards have run. */
  fixCaller(): void {
    this.caught ??= { caller: this.origin.callerOf() };
  }

  /** @internal This handler begins, perhaps once more. Gives a rejection where it must not. */
  enter(): Promise<void> | undefined {
    this.fixCaller();
    return this.questions.enter();
  }

  /** Whether nothing may be sent any more. */
  private get isMute(): boolean {
    return !this.lifetime.isOpen || this.questions.isSuspended;
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

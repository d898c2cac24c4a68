import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { refusalBody, type HttpRefusal } from './http-refusal.js';

/** The request of either framework, as far as it is read or filled here. */
export interface FrameworkRequest {
  raw?: IncomingMessage;
  /** The address as it was asked for, whatever the application is mounted under. */
  originalUrl?: string;
  body?: unknown;
  rawBody?: Buffer;
}

/** What changes the listeners of an emitter, which Express's request is. */
const LISTENING = [
  'on',
  'once',
  'off',
  'addListener',
  'removeListener',
  'removeAllListeners',
  'prependListener',
  'prependOnceListener',
];

/** The request as the guards of one message of a batch see it: its own body, and what they add stays with it. */
export function requestWith(request: FrameworkRequest, body: unknown): FrameworkRequest {
  const own: FrameworkRequest = Object.create(request, {
    body: { value: body, writable: true, enumerable: true, configurable: true },
  });
  // Listeners are counted on the emitter itself: through another object some would stay for ever.
  for (const name of LISTENING) {
    const method: unknown = Reflect.get(request, name);
    if (typeof method !== 'function') continue;
    const value = (...args: unknown[]): unknown => {
      const result: unknown = Reflect.apply(method, request, args);
      return result === request ? own : result;
    };
    Object.defineProperty(own, name, { value, writable: true, configurable: true });
  }
  return own;
}

/** The few members of Fastify's reply that are used. */
export interface FastifyReply {
  raw: ServerResponse;
  sent: boolean;
  code(status: number): this;
  headers(headers: OutgoingHttpHeaders): this;
  getHeaders(): OutgoingHttpHeaders;
  send(body?: string): unknown;
  hijack(): unknown;
}

/** How long and how much of a refused body is thrown away, so that the client can read its answer. */
const DRAIN_BYTES = 4 * 1024 * 1024;
const DRAIN_TIME = 1_000;

/** One HTTP request and its answer, the same on Express and Fastify. */
export class HttpExchange {
  /** Node's request: the stream and the headers as they came. */
  readonly message: IncomingMessage;
  /** Node's response. */
  readonly raw: ServerResponse;
  private readonly reply: FastifyReply | undefined;

  constructor(
    readonly request: FrameworkRequest,
    readonly response: ServerResponse | FastifyReply,
  ) {
    this.message = request.raw ?? (request as IncomingMessage);
    this.reply = 'raw' in response ? response : undefined;
    this.raw = this.reply ? this.reply.raw : (response as ServerResponse);
  }

  /** A header of the request; several lines of one name come joined by ", ". */
  header(name: string): string | undefined {
    const value = this.message.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Whether a header came in several lines: joined, they may read like one value that has a comma in it. */
  isRepeated(name: string): boolean {
    return (this.message.headersDistinct[name]?.length ?? 0) > 1;
  }

  /** Whether something else, a filter or an interceptor, answered this request already. */
  get isAnswered(): boolean {
    return this.raw.headersSent || this.raw.writableEnded;
  }

  /** Whether the client hung up. */
  get isGone(): boolean {
    return this.raw.destroyed || this.message.socket.destroyed;
  }

  /** Sends a whole answer; through Fastify's hooks where there are some. */
  send(status: number, body: string | undefined, headers: Readonly<Record<string, string>> = {}): void {
    const all: Record<string, string | number> = { ...headers };
    if (body !== undefined) all['content-type'] = 'application/json';
    if (this.reply) {
      this.reply.code(status).headers(all).send(body);
      return;
    }
    all['content-length'] = body === undefined ? 0 : Buffer.byteLength(body);
    this.raw.writeHead(status, status === 204 ? headers : all);
    this.raw.end(body);
  }

  /** Closes the connection once its client has taken nothing for `time` ms of what waits for it. */
  cutWhenStalled(time: number): void {
    const { raw } = this;
    // Node tells of a connection on which nothing moves, also inside a long write.
    raw.setTimeout(time, () => {
      if (raw.writableLength > 0 || raw.writableNeedDrain) raw.destroy();
    });
  }

  refuse(refusal: HttpRefusal, nullId = refusal.nullId): void {
    const body = refusalBody(refusal, nullId);
    if (refusal.closes) this.sendAndClose(refusal.status, body, refusal.headers);
    else this.send(refusal.status, body, refusal.headers);
  }

  /** Opens the answer as a stream; from here on only the raw response is written to. */
  openStream(headers: Readonly<Record<string, string>>): ServerResponse {
    this.raw.writeHead(200, { ...this.takeOver(), ...headers });
    return this.raw;
  }

  /**
   * Answers while the client may still be sending: the whole answer goes out, then what is left of the
   * body is thrown away for a while before the connection ends, or a reset would take the answer with it.
   */
  private sendAndClose(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
    const { message, raw } = this;
    raw.writeHead(status, {
      ...this.takeOver(),
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    });
    raw.write(body);
    let left = DRAIN_BYTES;
    const finish = () => {
      clearTimeout(timer);
      message.off('data', onData).off('end', finish).off('close', finish);
      raw.end();
      message.resume();
    };
    const onData = (chunk: Buffer) => {
      left -= chunk.length;
      if (left <= 0) finish();
    };
    const timer = setTimeout(finish, DRAIN_TIME);
    if (message.complete || message.destroyed) finish();
    else message.on('data', onData).on('end', finish).on('close', finish);
  }

  /** Takes the answer from Fastify, with the headers that its plugins set so far. */
  private takeOver(): OutgoingHttpHeaders {
    if (!this.reply || this.reply.sent) return {};
    const headers = this.reply.getHeaders();
    this.reply.hijack();
    return headers;
  }
}

import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ENDPOINT_METADATA } from '../../decorators/metadata-keys.js';
import { LOG_CONTEXT, MCP_SETTINGS } from '../../mcp.constants.js';
import { McpBootException } from '../../mcp.exceptions.js';
import type { McpSettings } from '../../mcp.settings.js';
import { BodyReader, type GONE } from './body-reader.js';
import { HttpExchange, type FastifyReply, type FrameworkRequest } from './http-exchange.js';
import type { HttpRefusal } from './http-refusal.js';
import { RequestGate } from './request-gate.js';
import { requestPath } from './request-path.js';

/** Headers by which an adapter's parsers see that there is a body, and which of them reads it. */
const EXPRESS_HIDDEN = ['content-length', 'transfer-encoding'];
const FASTIFY_HIDDEN = [...EXPRESS_HIDDEN, 'content-type', 'content-encoding'];

const HIDDEN = Symbol('hidden headers');
const BODY = Symbol('body');
const ADMITTED = Symbol('admitted');
const REFUSAL = Symbol('refusal');

type GatedMessage = IncomingMessage &
  FrameworkRequest & {
    [HIDDEN]?: Record<string, unknown>;
    [BODY]?: Buffer | HttpRefusal | typeof GONE;
    [ADMITTED]?: true;
    [REFUSAL]?: HttpRefusal;
  };

interface ExpressLayer {
  match(path: string): boolean;
  route?: { stack: { handle: object }[] };
}

type ExpressNext = (error?: unknown) => void;
type ExpressMiddleware = (request: GatedMessage, response: ServerResponse, next: ExpressNext) => void;
/** Its four parameters are what Express knows it by. */
type ExpressErrorMiddleware = (
  error: unknown,
  request: GatedMessage,
  response: ServerResponse,
  next: ExpressNext,
) => void;

/** Only what is used of a Fastify instance and of its hooks' arguments. */
interface FastifyInstance {
  addHook(name: string, hook: (...args: never[]) => unknown): void;
}
type FastifyRequest = FrameworkRequest & {
  raw: GatedMessage;
  routeOptions: { config?: Record<string, unknown> };
};

/** The application runs on an HTTP adapter that this library does not know. */
export class UnknownAdapterException extends McpBootException {
  constructor(type: string) {
    super(`McpModule serves Express and Fastify, not the HTTP adapter '${type}'`);
  }
}

/**
 * Keeps the adapter's own parsers from the endpoint's body: while they look, the headers that announce one
 * are off the request. Guards, and the endpoint itself, see all of them. The endpoint is recognised by its
 * route, so prefix, version and mount point need not be known. Foreign hosts and origins are refused here:
 * after the application's middleware and hooks, so that CORS answers preflights and has its headers on the
 * refusal, and before the body, guards and everything after them.
 */
@Injectable()
export class BodyGate implements BeforeApplicationShutdown {
  private readonly gate: RequestGate;
  private readonly bodies: BodyReader;
  private readonly logger = new Logger(LOG_CONTEXT);
  private layers: ExpressLayer[] | undefined;
  private isInstalled = false;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {
    this.gate = new RequestGate(settings.allowedHosts, settings.allowedOrigins);
    this.bodies = new BodyReader(settings.limits);
    // Before the application registers its parsers; a testing module gets its adapter only later.
    this.install();
    if (!this.isInstalled) adapterHost.init$?.subscribe(() => this.install());
  }

  /** Called once the application's parsers are registered and before its routes are. */
  installAfterParsers(): void {
    if (this.adapterHost.httpAdapter?.getType() !== 'express') return;
    const onRequest: ExpressMiddleware = (request, response, next) => {
      if (!request[HIDDEN]) return next();
      show(request);
      if (turnedAway(request, response)) return;
      if (!this.readsEarly(request)) return next();
      void this.readEarly(request, new HttpExchange(request, response), next);
    };
    // A middleware that fails, such as CORS with an origin that it does not know, makes no 500 of a refusal.
    const onError: ExpressErrorMiddleware = (error, request, response, next) => {
      if (!turnedAway(request, response)) next(error);
    };
    this.useExpress(onRequest);
    this.useExpress(onError);
  }

  /**
   * Whether host and origin may call. Asked once, as early as the adapter lets us; a request that found another way to
   * the endpoint, such as a middleware that rewrites addresses, is asked when it gets there.
   */
  admit(message: GatedMessage): HttpRefusal | undefined {
    if (message[ADMITTED]) return undefined;
    const refusal = this.gate.check(message);
    if (!refusal) message[ADMITTED] = true;
    return refusal;
  }

  /** Bodies that are still coming would keep the server open: they are answered and let go. */
  beforeApplicationShutdown(): void {
    this.bodies.close();
  }

  /** The body, read now or before the guards. */
  async take(exchange: HttpExchange): Promise<Buffer | HttpRefusal | typeof GONE> {
    const message: GatedMessage = exchange.message;
    const body = message[BODY] ?? (await this.bodies.read(message));
    if (typeof body === 'object' && 'status' in body && body.status === 500) {
      this.logger.error(
        'The MCP endpoint found its body read already: a body parser on the adapter itself must leave this route out',
      );
    }
    return body;
  }

  private install(): void {
    const adapter = this.adapterHost.httpAdapter;
    if (!adapter || this.isInstalled) return;
    this.isInstalled = true;
    if (adapter.getType() === 'express') this.installExpress();
    else if (adapter.getType() === 'fastify') this.installFastify(adapter.getInstance<FastifyInstance>());
    else throw new UnknownAdapterException(adapter.getType());
  }

  private installExpress(): void {
    const onArrival: ExpressMiddleware = (request, _response, next) => {
      if (!this.isEndpoint(request)) return next();
      request[REFUSAL] = this.admit(request);
      hide(request, EXPRESS_HIDDEN);
      next();
    };
    this.useExpress(onArrival);
  }

  private installFastify(fastify: FastifyInstance): void {
    const isEndpoint = (request: FastifyRequest) => request.routeOptions.config?.[ENDPOINT_METADATA] === true;
    fastify.addHook('onRoute', (route: { handler: object; config?: object }) => {
      if (!Reflect.hasMetadata(ENDPOINT_METADATA, route.handler)) return;
      route.config = { ...route.config, [ENDPOINT_METADATA]: true };
    });
    fastify.addHook(
      'preParsing',
      (
        request: FastifyRequest,
        reply: FastifyReply,
        payload: unknown,
        done: (e: null, p: unknown) => void,
      ) => {
        if (isEndpoint(request)) {
          const refusal = this.admit(request.raw);
          if (refusal) return new HttpExchange(request, reply).refuse(refusal);
          hide(request.raw, FASTIFY_HIDDEN);
        }
        done(null, payload);
      },
    );
    fastify.addHook(
      'preValidation',
      (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
        show(request.raw);
        if (!isEndpoint(request) || !this.readsEarly(request.raw)) return done();
        void this.readEarly(request, new HttpExchange(request, reply), done);
      },
    );
  }

  private readsEarly(message: GatedMessage): boolean {
    return this.settings.readBody === 'before-guards' && message.method === 'POST';
  }

  /** For guards that verify what was sent; what is wrong with the body is answered after they had their say. */
  private async readEarly(
    request: FrameworkRequest,
    exchange: HttpExchange,
    next: () => void,
  ): Promise<void> {
    const message: GatedMessage = exchange.message;
    const body = await this.bodies.read(message);
    message[BODY] = body;
    if (Buffer.isBuffer(body)) {
      request.rawBody = body;
      request.body = parsedOrNothing(body);
    }
    next();
  }

  private useExpress(middleware: ExpressMiddleware | ExpressErrorMiddleware): void {
    this.adapterHost.httpAdapter.use(middleware as never);
  }

  /** Asks the router's own matcher of our routes; they are there once the first request comes. */
  private isEndpoint(request: IncomingMessage): boolean {
    this.layers ??= this.adapterHost.httpAdapter
      .getInstance<{ router: { stack: ExpressLayer[] } }>()
      .router.stack.filter(({ route }) =>
        route?.stack.some(({ handle }) => Reflect.hasMetadata(ENDPOINT_METADATA, handle)),
      );
    const path = requestPath(request.url ?? '/');
    return this.layers.some((layer) => layer.match(path));
  }
}

/** Gives the refusal that was decided when the request came. An application that answered itself keeps its answer. */
function turnedAway(request: GatedMessage, response: ServerResponse): boolean {
  const refusal = request[REFUSAL];
  if (!refusal) return false;
  const exchange = new HttpExchange(request, response);
  if (!exchange.isAnswered) exchange.refuse(refusal);
  return true;
}

function hide(message: GatedMessage, names: readonly string[]): void {
  const hidden: Record<string, unknown> = {};
  for (const name of names) {
    if (message.headers[name] === undefined) continue;
    hidden[name] = message.headers[name];
    // Not deleted: that would turn the headers into a slow dictionary for the rest of the request.
    message.headers[name] = undefined;
  }
  message[HIDDEN] = hidden;
}

function show(message: GatedMessage): void {
  if (!message[HIDDEN]) return;
  Object.assign(message.headers, message[HIDDEN]);
  message[HIDDEN] = undefined;
}

function parsedOrNothing(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

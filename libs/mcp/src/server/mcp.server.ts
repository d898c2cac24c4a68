import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ModuleImportException } from '../discovery/boot.exceptions.js';
import { HandlerExplorer } from '../discovery/handler.explorer.js';
import { McpRegistry } from '../discovery/mcp.registry.js';
import { ExceptionMapper } from '../execution/exception.mapper.js';
import { HandlerFactory } from '../execution/handler.factory.js';
import { LOG_CONTEXT, MCP_SETTINGS, MODULE_CLASS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import { ChangeFeed, LocalEventBus, type McpEventBus } from '../protocol/changes.js';
import type { ServerFeatures } from '../protocol/descriptors.js';
import { Dispatcher, type Delivery, type Outcome } from '../protocol/dispatcher.js';
import { InFlight } from '../protocol/in-flight.js';
import type { Handshake } from '../protocol/legacy/handshake.js';
import { LegacyPeer } from '../protocol/legacy/legacy-peer.js';
import { SessionRegistry, type Session } from '../protocol/legacy/session-registry.js';
import { OpenStreams } from '../protocol/open-streams.js';
import { ResultEncoder } from '../protocol/result-encoder.js';
import type { McpRevision } from '../protocol/versions.js';
import { CallLog } from './call-log.js';
import { CallRunner } from './call.runner.js';
import { MethodTable } from './method.table.js';

/** Joins what was discovered to the protocol, once, and owns start and end of serving. */
@Injectable()
export class McpServer implements OnApplicationBootstrap, OnModuleDestroy {
  readonly log = new CallLog();
  readonly inFlight: InFlight;
  readonly sessions: SessionRegistry;
  readonly streams: OpenStreams;
  private readonly logger = new Logger(LOG_CONTEXT);
  private readonly encoder: ResultEncoder;
  private feed: ChangeFeed | undefined;
  private methods: MethodTable | undefined;
  private dispatcher: Dispatcher | undefined;

  constructor(
    @Inject(MCP_SETTINGS) readonly settings: McpSettings,
    @Inject(MODULE_CLASS) private readonly moduleClass: object,
    private readonly moduleRef: ModuleRef,
    private readonly explorer: HandlerExplorer,
    private readonly registry: McpRegistry,
    private readonly handlers: HandlerFactory,
    private readonly exceptions: ExceptionMapper,
  ) {
    this.inFlight = new InFlight(settings.limits.inFlight);
    this.sessions = new SessionRegistry(settings.sessions);
    this.streams = new OpenStreams(settings.limits);
    this.encoder = new ResultEncoder(settings.server, settings.cache);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.explorer.countModules(this.moduleClass) > 1) {
      throw new ModuleImportException(
        'McpModule.forRoot() is imported more than once with different options: import it once, in the root module',
      );
    }
    const feed = new ChangeFeed(await this.bus(), (fault) => this.busFailed(fault));
    this.feed = feed;
    await this.registry.start(this.handlers, (change) => feed.announce(change));
    await feed.open();
    const runner = new CallRunner(this.inFlight, this.log, this.settings.limits);
    const { registry, encoder, settings, streams } = this;
    this.methods = new MethodTable({ registry, encoder, settings, runner, feed, streams });
    this.dispatcher = new Dispatcher(this.methods, (fault, method) =>
      this.exceptions.toRpcError(fault, method),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await this.finish(this.settings.limits.shutdownGrace);
    this.sessions.close();
    await this.feed?.close();
  }

  /** Takes no further calls, ends what only waits for changes, and gives what runs `grace` ms to be answered. */
  async finish(grace: number): Promise<void> {
    this.streams.close();
    await this.inFlight.close(grace);
  }

  dispatch(delivery: Delivery): Promise<Outcome | undefined> {
    return this.started(this.dispatcher).dispatch(delivery);
  }

  /** The result of `initialize`; the state it opens is the transport's. */
  initializeResult(revision: McpRevision): string {
    return this.encoder.initialize(revision, this.features);
  }

  /** A legacy client after its handshake, told of changes until `leave` is called. */
  welcome(handshake: Handshake): { peer: LegacyPeer; leave: () => void } {
    const peer = new LegacyPeer(handshake, this.features);
    return { peer, leave: this.started(this.feed).add(peer) };
  }

  /** A session over HTTP, where there is room for one. */
  openSession(handshake: Handshake, owner: string | undefined): Session | undefined {
    const { peer, leave } = this.welcome(handshake);
    const session = this.sessions.open(peer, owner, leave);
    if (!session) leave();
    return session;
  }

  /** The arguments of a tool that clients of 2026-07-28 repeat in headers. */
  mirroredArguments(tool: string) {
    return this.registry.tools.find(tool)?.registration.mirrored ?? [];
  }

  private get features(): ServerFeatures {
    return this.started(this.methods).features;
  }

  private async bus(): Promise<McpEventBus> {
    const { bus } = this.settings;
    if (!bus) return new LocalEventBus();
    try {
      return this.moduleRef.get(bus, { strict: false });
    } catch {
      return this.moduleRef.create(bus);
    }
  }

  private busFailed(fault: unknown): void {
    this.logger.error(
      `The event bus failed: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`,
    );
  }

  private started<T>(part: T | undefined): T {
    if (part === undefined)
      throw new ModuleImportException(
        'The application is not initialised yet: await app.init() or app.listen() first',
      );
    return part;
  }
}

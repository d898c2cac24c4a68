import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ModuleImportException } from '../discovery/boot.exceptions.js';
import { HandlerExplorer } from '../discovery/handler.explorer.js';
import { McpRegistry } from '../discovery/mcp.registry.js';
import { ExceptionMapper } from '../execution/exception.mapper.js';
import { HandlerFactory } from '../execution/handler.factory.js';
import { LOG_CONTEXT, MCP_SETTINGS, MODULE_CLASS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import { ChangeFeed, LISTS, type ListKind } from '../protocol/changes.js';
import { LocalEventBus, type McpEventBus } from '../protocol/event-bus.js';
import type { ServerFeatures } from '../protocol/descriptors.js';
import { Dispatcher, type Delivery, type Outcome } from '../protocol/dispatcher.js';
import { InFlight } from '../protocol/in-flight.js';
import type { Handshake } from '../protocol/legacy/handshake.js';
import { LegacyPeer } from '../protocol/legacy/legacy-peer.js';
import { LocalEventStore } from '../protocol/legacy/local-event-store.js';
import { LocalSessionStore } from '../protocol/legacy/local-session-store.js';
import { SessionRegistry } from '../protocol/legacy/session-registry.js';
import { SessionSignals } from '../protocol/legacy/session-signals.js';
import { OpenStreams } from '../protocol/open-streams.js';
import { ResultEncoder } from '../protocol/result-encoder.js';
import type { McpRevision } from '../protocol/versions.js';
import { CallLog } from './call-log.js';
import { ClientAsking } from './client.asking.js';
import { CallRunner } from './call.runner.js';
import { MethodTable } from './method.table.js';

/** ms for which a stream is kept at least that is not told to be at work. */
const STREAM_LEASE = 60_000;

/** Joins what was discovered to the protocol, once, and owns start and end of serving. */
@Injectable()
export class McpServer implements OnApplicationBootstrap, OnModuleDestroy {
  readonly log = new CallLog();
  readonly inFlight: InFlight;
  readonly streams: OpenStreams;
  private readonly logger = new Logger(LOG_CONTEXT);
  private readonly encoder: ResultEncoder;
  private feed: ChangeFeed | undefined;
  private registryOfSessions: SessionRegistry | undefined;
  private readonly closers: (() => void)[] = [];
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
    this.streams = new OpenStreams(settings.limits);
    this.encoder = new ResultEncoder(settings.server, settings.cache);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.explorer.countModules(this.moduleClass) > 1) {
      throw new ModuleImportException(
        'McpModule.forRoot() is imported more than once with different options: import it once, in the root module',
      );
    }
    const bus = await this.made(this.settings.bus, () => new LocalEventBus());
    const feed = new ChangeFeed(bus, (fault) => this.failed('The event bus', fault));
    this.feed = feed;
    await this.registry.start(this.handlers, (change) => feed.announce(change));
    await feed.open();
    this.registryOfSessions = await this.openSessions(feed, bus);
    const { bus: ownBus, sessionStore, stateKeys, legacy } = this.settings;
    if (stateKeys.length === 0 && (ownBus || sessionStore || legacy !== 'sessions'))
      this.logger.log(
        'Calls of 2026-07-28 that ask their client can only go on in the process where they began: give all processes the same stateKeys',
      );
    const runner = new CallRunner(this.inFlight, this.log, {
      ...this.settings.limits,
      asking: new ClientAsking(this.settings),
      inputRequired: (requests, state) => this.encoder.inputRequired(requests, state),
    });
    const { registry, encoder, settings, streams } = this;
    this.methods = new MethodTable({ registry, encoder, settings, runner, feed, streams });
    this.dispatcher = new Dispatcher(this.methods, (fault, method) =>
      this.exceptions.toRpcError(fault, method),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await this.finish(this.settings.limits.shutdownGrace);
    await this.registryOfSessions?.close();
    await this.feed?.close();
    for (const close of this.closers) close();
  }

  /** Whether the application is closing: requests are refused, what concerns running ones is taken. */
  get isClosing(): boolean {
    return this.inFlight.isClosing;
  }

  /** Takes no further calls, ends what only waits for changes, and gives what runs `grace` ms to be answered. */
  async finish(grace: number): Promise<void> {
    this.streams.close();
    await this.inFlight.close(grace);
  }

  dispatch(delivery: Delivery): Promise<Outcome | undefined> {
    return this.started(this.dispatcher).dispatch(delivery);
  }

  /** The legacy sessions over HTTP. */
  get sessions(): SessionRegistry {
    return this.started(this.registryOfSessions);
  }

  /**
   * The result of `initialize`; the state it opens is the transport's.
   *
   * @param remembers whether there is such a state
   */
  initializeResult(revision: McpRevision, remembers = true): string {
    return this.encoder.initialize(revision, this.features, remembers);
  }

  /** A legacy client after its handshake, told of changes until `leave` is called. */
  welcome(handshake: Handshake): { peer: LegacyPeer; leave: () => void } {
    const peer = new LegacyPeer(handshake, this.lists);
    const leave = this.started(this.feed).add(peer);
    return {
      peer,
      leave: () => {
        peer.close();
        leave();
      },
    };
  }

  /** A session over HTTP, where there is room for one. */
  openSession(handshake: Handshake, owner: string | undefined): Promise<string | undefined> {
    return this.sessions.open(handshake, owner, this.lists);
  }

  /** The arguments of a tool that clients of 2026-07-28 repeat in headers. */
  mirroredArguments(tool: string) {
    return this.registry.tools.find(tool)?.registration.mirrored ?? [];
  }

  private get features(): ServerFeatures {
    return this.started(this.methods).features;
  }

  /** The lists whose changes a handshake promises now. */
  private get lists(): readonly ListKind[] {
    const { features } = this;
    return LISTS.filter((list) => features[list]);
  }

  private async openSessions(feed: ChangeFeed, bus: McpEventBus): Promise<SessionRegistry> {
    const { sessions, sessionStore, eventStore, limits } = this.settings;
    const onFault = (fault: unknown) => this.failed('The store of sessions or of their events', fault);
    const registry = new SessionRegistry({
      store: await this.made(sessionStore, () => this.closing(new LocalSessionStore())),
      events: await this.made(eventStore, () => this.closing(new LocalEventStore(limits.replayTotal))),
      // Renewed as long as the stream is at work here, however silent it is.
      bounds: {
        events: limits.replayEvents,
        bytes: limits.replayBytes,
        time: Math.max(limits.replayTime, STREAM_LEASE),
      },
      replayTime: limits.replayTime,
      caps: sessions,
      idle: sessions.idle,
      signals: new SessionSignals(bus, (fault) => this.failed('The event bus', fault)),
      join: (listener) => feed.add(listener),
      onFault,
    });
    await registry.start();
    return registry;
  }

  /** The application's instance of a class, or one that is made here; of our own where it names none. */
  private async made<T>(type: Type<T> | undefined, make: () => T): Promise<T> {
    if (!type) return make();
    try {
      return this.moduleRef.get(type, { strict: false });
    } catch {
      return this.moduleRef.create(type);
    }
  }

  private closing<T extends { close(): void }>(store: T): T {
    this.closers.push(() => store.close());
    return store;
  }

  /** Logs what nobody foresaw. */
  failed(what: string, fault: unknown): void {
    this.logger.error(
      `${what} failed: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`,
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

import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ModuleImportException } from '../discovery/boot.exceptions.js';
import { HandlerExplorer } from '../discovery/handler.explorer.js';
import { McpRegistry } from '../discovery/mcp.registry.js';
import { ExceptionMapper } from '../execution/exception.mapper.js';
import { HandlerFactory } from '../execution/handler.factory.js';
import { MCP_SETTINGS, MODULE_CLASS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import { Dispatcher, type Delivery, type Method, type Outcome } from '../protocol/dispatcher.js';
import { InFlight } from '../protocol/in-flight.js';
import { SessionRegistry } from '../protocol/legacy/session-registry.js';
import { ResultEncoder } from '../protocol/result-encoder.js';
import { REVISIONS, type McpRevision } from '../protocol/versions.js';
import { CallLog } from './call-log.js';
import { ToolsHandler, type ReadyTool } from './tools.handler.js';

/** Joins what was discovered to the protocol, once, and owns start and end of serving. */
@Injectable()
export class McpServer implements OnApplicationBootstrap, OnModuleDestroy {
  readonly log = new CallLog();
  readonly inFlight: InFlight;
  readonly sessions: SessionRegistry;
  private encoder: ResultEncoder | undefined;
  private dispatcher: Dispatcher | undefined;

  constructor(
    @Inject(MCP_SETTINGS) readonly settings: McpSettings,
    @Inject(MODULE_CLASS) private readonly moduleClass: object,
    private readonly explorer: HandlerExplorer,
    private readonly registry: McpRegistry,
    private readonly handlers: HandlerFactory,
    private readonly exceptions: ExceptionMapper,
  ) {
    this.inFlight = new InFlight(settings.limits.inFlight);
    this.sessions = new SessionRegistry(settings.sessions);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.explorer.countModules(this.moduleClass) > 1) {
      throw new ModuleImportException(
        'McpModule.forRoot() is imported more than once with different options: import it once, in the root module',
      );
    }
    const tools = new Map<string, ReadyTool>();
    for (const [name, registration] of await this.registry.discover()) {
      tools.set(name, { registration, invoke: this.handlers.create(registration) });
    }
    this.encoder = new ResultEncoder(this.settings.server, { tools: tools.size > 0 });
    this.dispatcher = new Dispatcher(this.methodTable(tools, this.encoder), (fault, method) =>
      this.exceptions.toRpcError(fault, method),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await this.inFlight.close(this.settings.limits.shutdownGrace);
    this.sessions.close();
  }

  dispatch(delivery: Delivery): Promise<Outcome | undefined> {
    return this.started(this.dispatcher).dispatch(delivery);
  }

  /** The result of `initialize`; the state it opens is the transport's. */
  initializeResult(revision: McpRevision): string {
    return this.started(this.encoder).initialize(revision);
  }

  private methodTable(tools: ReadonlyMap<string, ReadyTool>, encoder: ResultEncoder): Map<string, Method> {
    const { revisions, limits, pageSize } = this.settings;
    const discovered = { result: encoder.discover(revisions.modern) };
    const pong = { result: '{}' };
    const methods = new Map<string, Method>([
      ['server/discover', { era: 'modern', answer: () => discovered }],
      ['ping', { era: 'legacy', answer: () => pong }],
    ]);
    if (tools.size === 0) return methods;
    const { handlerTime, resultSize } = limits;
    const served = REVISIONS.filter((revision) =>
      [...revisions.modern, ...revisions.legacy].includes(revision),
    );
    const handler = new ToolsHandler(tools, encoder, this.inFlight, this.log, {
      revisions: served,
      pageSize,
      handlerTime,
      resultSize,
    });
    methods.set('tools/list', { era: 'both', answer: (delivery) => handler.list(delivery) });
    methods.set('tools/call', { era: 'both', answer: (delivery) => handler.call(delivery) });
    return methods;
  }

  private started<T>(part: T | undefined): T {
    if (part === undefined)
      throw new ModuleImportException(
        'The application is not initialised yet: await app.init() or app.listen() first',
      );
    return part;
  }
}

import {
  Inject,
  Module,
  Optional,
  type DynamicModule,
  type MiddlewareConsumer,
  type NestModule,
  type OnApplicationBootstrap,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ModuleImportException } from './discovery/boot.exceptions.js';
import { AddedHandlers } from './discovery/added.handlers.js';
import { HandlerBinder } from './discovery/handler.binder.js';
import { HandlerExplorer } from './discovery/handler.explorer.js';
import { McpRegistry } from './discovery/mcp.registry.js';
import { assertEnhancersRegistered } from './discovery/protection.check.js';
import { CompletionRegistrar } from './discovery/registrars/completion.registrar.js';
import { PromptRegistrar } from './discovery/registrars/prompt.registrar.js';
import { ResourceRegistrar } from './discovery/registrars/resource.registrar.js';
import { ToolRegistrar } from './discovery/registrars/tool.registrar.js';
import { ExceptionMapper } from './execution/exception.mapper.js';
import { HandlerFactory } from './execution/handler.factory.js';
import { PipelineFactory } from './execution/pipeline.factory.js';
import { MCP_OPTIONS, MCP_SETTINGS, MODULE_CLASS } from './mcp.constants.js';
import type { McpModuleAsyncOptions, McpModuleOptions, McpServerPlacement } from './mcp.options.js';
import { InvalidOptionException } from './settings/option-checks.js';
import { settingsOf } from './mcp.settings.js';
import { ssePathsOf } from './settings/addresses.js';
import { McpServer } from './server/mcp.server.js';
import { BodyGate } from './transport/http/body-gate.js';
import { HttpTransport } from './transport/http/http.transport.js';
import { McpDispatcher, PeerDispatcher } from './transport/peer/mcp.dispatcher.js';
import { createEndpointController, decorate, undecorator } from './transport/http/mcp-endpoint.controller.js';
import { createSseController } from './transport/sse/sse-endpoint.controller.js';
import { SseTransport } from './transport/sse/sse.transport.js';

const DEFAULT_PATH = 'mcp';
const NO_FACTORY =
  "is required: McpModule.forRootAsync({ useFactory: () => ({ name: 'my-api', version: '1.0.0' }) })";
/** What routes are made of, with an example. */
const PLACEMENT = [
  ['path', "path: 'mcp'"],
  ['sse', 'sse: true'],
] as const;
const ENDPOINTS = Symbol.for('nest-mcp:endpoint-classes');

/**
 * Lets the application speak MCP: finds what is marked `@McpTool()`, `@McpResource()`, `@McpPrompt()` and `@McpCompletion()` in
 * every module, and serves it at `/mcp`.
 *
 * @example
 * @Module({ imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' }), TicketsModule] })
 * export class AppModule {}
 * @publicApi
 */
@Module({})
export class McpModule implements NestModule, OnApplicationBootstrap {
  constructor(
    @Optional() @Inject(ENDPOINTS) private readonly endpoints: readonly Type[] | undefined,
    @Optional() @Inject(BodyGate) private readonly bodies: BodyGate | undefined,
    private readonly modules: ModulesContainer,
  ) {
    if (!endpoints) {
      throw new ModuleImportException(
        "McpModule is imported without options: write imports: [McpModule.forRoot({ name: 'my-api', version: '1.0.0' })]",
      );
    }
  }

  /** With options that are known where the module is declared. */
  static forRoot(options: McpModuleOptions): DynamicModule {
    const endpoints = endpointsAt(options ?? {}, options?.http?.decorators ?? []);
    return moduleWith(endpoints, options?.sse, [{ provide: MCP_OPTIONS, useValue: options ?? {} }]);
  }

  /** With options that a factory makes from other providers, for example a config service. */
  static forRootAsync(given: McpModuleAsyncOptions): DynamicModule {
    const { path, sse, imports, inject, useFactory, ...unknown } = given ?? {};
    const [name] = Object.keys(unknown);
    if (name !== undefined)
      throw new InvalidOptionException(name, 'is unknown; known are path, sse, imports, inject, useFactory');
    const endpoints = endpointsAt({ path, sse }, []);
    const undecorators = endpoints.map(undecorator);
    const make = async (...deps: unknown[]): Promise<McpModuleOptions> => {
      if (typeof useFactory !== 'function') throw new InvalidOptionException('useFactory', NO_FACTORY);
      const options = await useFactory(...(deps as never[]));
      for (const [option, example] of PLACEMENT) {
        if (!(option in (options ?? {}))) continue;
        const mend = `McpModule.forRootAsync({ ${example}, useFactory })`;
        throw new InvalidOptionException(
          option,
          `stands beside the factory, which runs too late for it: ${mend}`,
        );
      }
      for (const undecorate of undecorators) undecorate();
      for (const endpoint of endpoints) decorate(endpoint, options?.http?.decorators ?? []);
      return options;
    };
    const provided = { provide: MCP_OPTIONS, useFactory: make, inject: inject ?? [] };
    return moduleWith(endpoints, sse, [provided], imports);
  }

  /** Between the application's body parsers and its routes; never called where there is no HTTP. */
  configure(_consumer: MiddlewareConsumer): void {
    this.bodies?.installAfterParsers();
  }

  onApplicationBootstrap(): void {
    for (const host of this.modules.values()) {
      const endpoints = this.endpoints!.filter((endpoint) => host.controllers.has(endpoint));
      assertEnhancersRegistered('The option `http.decorators`', host, endpoints);
    }
  }
}

/** The classes of the routes: Streamable HTTP, and HTTP+SSE where it is on. */
function endpointsAt({ path = DEFAULT_PATH, sse }: McpServerPlacement, decorators: ClassDecorator[]): Type[] {
  if (!Array.isArray(decorators))
    throw new InvalidOptionException('http.decorators', 'must be a list, also of one');
  const endpoint = createEndpointController(path, decorators);
  const ssePaths = ssePathsOf(sse, path);
  return ssePaths ? [endpoint, createSseController(ssePaths, decorators)] : [endpoint];
}

function moduleWith(
  endpoints: Type[],
  sse: McpServerPlacement['sse'],
  options: Provider[],
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  return {
    module: McpModule,
    // Whoever adds handlers at run time or brings a transport has them injected, in any module.
    global: true,
    imports,
    controllers: endpoints,
    providers: [
      ...options,
      {
        provide: MCP_SETTINGS,
        useFactory: (given: McpModuleOptions) => settingsOf(given, sse),
        inject: [MCP_OPTIONS],
      },
      { provide: MODULE_CLASS, useValue: McpModule },
      { provide: ENDPOINTS, useValue: endpoints },
      HandlerExplorer,
      HandlerBinder,
      AddedHandlers,
      ToolRegistrar,
      ResourceRegistrar,
      PromptRegistrar,
      CompletionRegistrar,
      McpRegistry,
      ExceptionMapper,
      PipelineFactory,
      HandlerFactory,
      McpServer,
      BodyGate,
      HttpTransport,
      SseTransport,
      { provide: McpDispatcher, useClass: PeerDispatcher },
    ],
    exports: [McpRegistry, McpDispatcher],
  };
}

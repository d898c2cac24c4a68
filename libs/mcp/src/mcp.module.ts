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
import type { McpModuleAsyncOptions, McpModuleOptions } from './mcp.options.js';
import { InvalidOptionException, settingsOf } from './mcp.settings.js';
import { McpServer } from './server/mcp.server.js';
import { BodyGate } from './transport/http/body-gate.js';
import { HttpTransport } from './transport/http/http.transport.js';
import { McpDispatcher, PeerDispatcher } from './transport/peer/mcp.dispatcher.js';
import { createEndpointController, decorate, undecorator } from './transport/http/mcp-endpoint.controller.js';

const DEFAULT_PATH = 'mcp';
const NO_FACTORY =
  "is required: McpModule.forRootAsync({ useFactory: () => ({ name: 'my-api', version: '1.0.0' }) })";
const MISPLACED_PATH =
  "stands beside the factory, which runs too late for it: McpModule.forRootAsync({ path: 'mcp', useFactory })";
const ENDPOINT = Symbol.for('nest-mcp:endpoint-class');

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
    @Optional() @Inject(ENDPOINT) private readonly endpoint: Type | undefined,
    @Optional() @Inject(BodyGate) private readonly bodies: BodyGate | undefined,
    private readonly modules: ModulesContainer,
  ) {
    if (!endpoint) {
      throw new ModuleImportException(
        "McpModule is imported without options: write imports: [McpModule.forRoot({ name: 'my-api', version: '1.0.0' })]",
      );
    }
  }

  /** With options that are known where the module is declared. */
  static forRoot(options: McpModuleOptions): DynamicModule {
    const endpoint = createEndpointController(options?.path ?? DEFAULT_PATH, options?.http?.decorators ?? []);
    return moduleWith(endpoint, [{ provide: MCP_OPTIONS, useValue: options ?? {} }]);
  }

  /** With options that a factory makes from other providers, for example a config service. */
  static forRootAsync(given: McpModuleAsyncOptions): DynamicModule {
    const { path, imports, inject, useFactory, ...unknown } = given ?? {};
    const [name] = Object.keys(unknown);
    if (name !== undefined)
      throw new InvalidOptionException(name, 'is unknown; known are path, imports, inject, useFactory');
    const endpoint = createEndpointController(path ?? DEFAULT_PATH, []);
    const undecorate = undecorator(endpoint);
    const make = async (...deps: unknown[]): Promise<McpModuleOptions> => {
      if (typeof useFactory !== 'function') throw new InvalidOptionException('useFactory', NO_FACTORY);
      const options = await useFactory(...(deps as never[]));
      if ('path' in (options ?? {})) throw new InvalidOptionException('path', MISPLACED_PATH);
      undecorate();
      decorate(endpoint, options?.http?.decorators ?? []);
      return options;
    };
    return moduleWith(endpoint, [{ provide: MCP_OPTIONS, useFactory: make, inject: inject ?? [] }], imports);
  }

  /** Between the application's body parsers and its routes; never called where there is no HTTP. */
  configure(_consumer: MiddlewareConsumer): void {
    this.bodies?.installAfterParsers();
  }

  onApplicationBootstrap(): void {
    for (const host of this.modules.values()) {
      if (host.controllers.has(this.endpoint!))
        assertEnhancersRegistered('The option `http.decorators`', host, [this.endpoint!]);
    }
  }
}

function moduleWith(
  endpoint: Type,
  options: Provider[],
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  return {
    module: McpModule,
    // Whoever adds handlers at run time or brings a transport has them injected, in any module.
    global: true,
    imports,
    controllers: [endpoint],
    providers: [
      ...options,
      { provide: MCP_SETTINGS, useFactory: settingsOf, inject: [MCP_OPTIONS] },
      { provide: MODULE_CLASS, useValue: McpModule },
      { provide: ENDPOINT, useValue: endpoint },
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
      { provide: McpDispatcher, useClass: PeerDispatcher },
    ],
    exports: [McpRegistry, McpDispatcher],
  };
}

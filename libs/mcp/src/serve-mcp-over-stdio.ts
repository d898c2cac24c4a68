import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type INestApplication,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, ModuleRef, NestFactory } from '@nestjs/core';
import { ModuleImportException } from './discovery/boot.exceptions.js';
import { McpServer } from './server/mcp.server.js';
import { guardStdout } from './transport/stdio/stdout-guard.js';
import { serveStreams } from './transport/stdio/stdio.transport.js';
import type { McpStdioRequestOptions } from './transport/peer/stand-in.request.js';

/**
 * What `configure` may use: the part of a Nest application that has a meaning without HTTP and while it starts.
 * @publicApi
 */
export type McpStdioApp = Pick<
  INestApplication,
  'useGlobalGuards' | 'useGlobalPipes' | 'useGlobalInterceptors' | 'useGlobalFilters' | 'useLogger' | 'get'
>;

/** @publicApi */
export interface McpStdioOptions {
  /**
   * The same function that configures the HTTP application: global guards, pipes, interceptors, filters. It may take
   * an `INestApplication`; what only an HTTP application has, such as `enableCors`, throws a TypeError here.
   */
  configure?(app: McpStdioApp): void | Promise<void>;
  /** What guards see as the request: headers, for example a token from the environment, and user. */
  request?: McpStdioRequestOptions;
  /** Default `process.stdin`. */
  input?: NodeJS.ReadableStream;
  /** Default `process.stdout`; then nothing but messages can get there, everything else goes to stderr. */
  output?: NodeJS.WritableStream;
  /** Ends serving, as the end of the input does. */
  signal?: AbortSignal;
}

/** ms that open handles of the application may keep the process once all is answered and closed. */
const LINGER = 1_000;

/**
 * Serves the application's MCP handlers over stdin and stdout, without an HTTP server, until the input
 * ends. Resolves when the application is closed.
 *
 * @example await serveMcpOverStdio(AppModule, { configure: configureApp });
 * @throws ModuleImportException when the application does not import `McpModule.forRoot()`
 * @publicApi
 */
export async function serveMcpOverStdio(
  appModule: Type | DynamicModule,
  options: McpStdioOptions = {},
): Promise<void> {
  const isProcess = options.input === undefined && options.output === undefined;
  const stdout = options.output === undefined ? guardStdout() : undefined;
  const output = stdout ? guardedOutput(stdout.write) : options.output!;
  const root = rootModule(appModule, options);
  try {
    const app = await NestFactory.createApplicationContext(root, { abortOnError: false });
    if (isProcess) app.enableShutdownHooks();
    const server = serverOf(app);
    await serveStreams(
      server,
      { input: options.input ?? process.stdin, output, signal: options.signal },
      options.request ?? {},
    );
    await app.close();
  } finally {
    // A process that serves is about to end; what still logs must not reach the client until then either.
    if (!isProcess) stdout?.release();
  }
  if (isProcess) setTimeout(() => process.exit(), LINGER).unref();
}

/** stdout behind the guard: its events, and the one way to write that reaches it. */
function guardedOutput(write: typeof process.stdout.write): NodeJS.WritableStream {
  return Object.create(process.stdout, { write: { value: write } }) as NodeJS.WritableStream;
}

function serverOf(app: { get(token: typeof McpServer, options: { strict: boolean }): McpServer }): McpServer {
  try {
    return app.get(McpServer, { strict: false });
  } catch {
    throw new ModuleImportException(
      "serveMcpOverStdio(): the application does not import the module, write imports: [McpModule.forRoot({ name: 'my-api', version: '1.0.0' })]",
    );
  }
}

/**
 * Wraps the application so that `configure` runs when every provider is there and before any handler is
 * bound to its guards: a standalone context would be initialised before anyone could configure it.
 */
function rootModule(appModule: Type | DynamicModule, options: McpStdioOptions): Type {
  @Module({ imports: [appModule] })
  class McpStdioRoot implements OnModuleInit {
    constructor(
      @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
      @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    ) {}

    async onModuleInit(): Promise<void> {
      await options.configure?.(stdioApp(this.config, this.moduleRef));
    }
  }
  return McpStdioRoot;
}

/** Stands in for the application, which does not exist yet. */
function stdioApp(config: ApplicationConfig, moduleRef: ModuleRef): McpStdioApp {
  const members: Record<keyof McpStdioApp, (...given: never[]) => unknown> = {
    useGlobalGuards: (...guards) => (config.useGlobalGuards(...guards), app),
    useGlobalPipes: (...pipes) => (config.useGlobalPipes(...pipes), app),
    useGlobalInterceptors: (...interceptors) => (config.useGlobalInterceptors(...interceptors), app),
    useGlobalFilters: (...filters) => (config.useGlobalFilters(...filters), app),
    useLogger: (logger) => Logger.overrideLogger(logger),
    get: (token, options?: object) => moduleRef.get(token, { strict: false, ...options }),
  };
  const app = new Proxy(members, {
    get: (target, name) => {
      // A promise that is resolved with the application looks for its `then`.
      if (name in target || typeof name === 'symbol' || name === 'then')
        return Reflect.get(target, name) as unknown;
      throw new TypeError(
        `serveMcpOverStdio(): configure uses app.${name}, which an application on stdio does not have: keep what ` +
          `only the HTTP application needs out of the function that both share. Here are ${Object.keys(members).join(', ')}`,
      );
    },
  }) as unknown as McpStdioApp;
  return app;
}

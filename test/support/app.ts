import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type {
  INestApplication,
  LoggerService,
  ModuleMetadata,
  NestApplicationOptions,
  Type,
} from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';

/** The two adapters, for `describe.each`. */
export const ADAPTERS = ['express', 'fastify'] as const;
export type AdapterName = (typeof ADAPTERS)[number];

export interface AppOptions extends NestApplicationOptions {
  adapter?: AdapterName;
  /** What `main.ts` would do between creating and listening. */
  configure?: (app: INestApplication) => unknown;
  logger?: LoggerService | false;
  host?: string;
}

export interface RunningApp {
  readonly app: INestApplication;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** The MCP endpoint at its default path. */
  readonly mcp: string;
  close(): Promise<void>;
}

/** Starts a real application on a loopback port of its own. */
export async function startApp(root: Type | ModuleMetadata, options: AppOptions = {}): Promise<RunningApp> {
  const { adapter = 'express', configure, host = '127.0.0.1', ...nest } = options;
  const app = await NestFactory.create(root as Type, adapterOf(adapter, nest.httpsOptions), {
    logger: false,
    abortOnError: false,
    ...nest,
  });
  await configure?.(app);
  await app.listen(0, host);
  const { port } = (app.getHttpServer() as { address(): { port: number } }).address();
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { app, url, mcp: `${url}/mcp`, close: () => app.close() };
}

/** @param https for Fastify, whose server is made before Nest has its options */
export function adapterOf(
  name: AdapterName,
  https?: NestApplicationOptions['httpsOptions'],
): AbstractHttpAdapter {
  if (name === 'express') return new ExpressAdapter();
  return https ? new FastifyAdapter({ https }) : new FastifyAdapter();
}

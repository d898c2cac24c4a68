import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IsBoolean, IsInt, IsOptional, IsString } from 'class-validator';
import type { Server } from 'node:http';
import { McpContext, McpModule, McpRegistry, McpResource, McpTool } from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import type { Counts } from './server.process.js';

class EchoDto {
  @IsString()
  text: string;

  @IsInt()
  delay: number;

  @IsInt()
  steps: number;

  @IsOptional()
  @IsString()
  touches?: string;

  @IsOptional()
  @IsBoolean()
  pause?: boolean;
}

class NoteDto {
  @IsString()
  id: string;
}

@Injectable()
class Desk {
  constructor(private readonly registry: McpRegistry) {}

  @McpTool({ description: 'Says what it was told, after a while' })
  async echo({ text, delay, steps, touches, pause }: EchoDto, ctx: McpContext): Promise<string> {
    for (let step = 1; step <= steps; step++) {
      await ctx.progress(step, steps, text);
      await sleep(delay / (steps + 1), undefined, { signal: ctx.signal });
    }
    if (pause) ctx.closeStream();
    if (touches !== undefined) this.registry.notifyResourceUpdated(touches);
    await sleep(delay / (steps + 1), undefined, { signal: ctx.signal });
    return `${text} for ${ctx.caller?.id ?? 'nobody'}`;
  }

  @McpResource({ uri: 'note://{id}' })
  note({ id }: NoteDto): string {
    return id;
  }
}

@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers: Record<string, string | undefined>; user?: unknown }>();
    const id = request.headers['x-user'];
    if (id !== undefined) request.user = { id };
    return true;
  }
}

@Module({
  imports: [
    McpModule.forRoot({
      name: 'soak',
      version: '1.0.0',
      sse: true,
      limits: {
        bodyTime: Number(process.env['BODY_TIME']),
        replayTime: Number(process.env['REPLAY_TIME']),
      },
    }),
  ],
  providers: [Desk, { provide: APP_GUARD, useClass: UserGuard }],
})
class SoakModule {}

/** The timers that are set by `setTimeout` and `setInterval`; Node tells only of those that keep the process alive. */
function watchTimers(): ReadonlySet<NodeJS.Timeout> {
  const running = new Set<NodeJS.Timeout>();
  const { setTimeout: timeout, setInterval: interval, clearTimeout: clear } = globalThis;
  const clearWatched = (timer: NodeJS.Timeout): void => {
    running.delete(timer);
    clear(timer);
  };
  const timeoutWatched = (work: (...args: unknown[]) => void, time?: number, ...args: unknown[]) => {
    const timer = timeout(() => {
      running.delete(timer);
      work(...args);
    }, time);
    running.add(timer);
    return timer;
  };
  const intervalWatched = (work: () => void, time?: number, ...args: []) => {
    const timer = interval(work, time, ...args);
    running.add(timer);
    return timer;
  };
  Object.assign(globalThis, {
    setTimeout: Object.assign(timeoutWatched, timeout),
    setInterval: intervalWatched,
    clearTimeout: clearWatched,
    clearInterval: clearWatched,
  });
  return running;
}

const timers = watchTimers();
const [adapter = 'express'] = process.argv.slice(2);
const app = await NestFactory.create(
  SoakModule,
  adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
  { logger: ['warn', 'error', 'fatal'] },
);
await app.listen(0, '127.0.0.1');
const http = app.getHttpServer() as Server;
// Clients close their connections themselves, so that none is closed while a request is on its way on it.
http.keepAliveTimeout = 120_000;
const server = app.get(McpServer, { strict: false });
/** What no user of the library sees. */
const hidden = server as unknown as {
  readonly feed: { readonly size: number };
  readonly sessions: { readonly events: { readonly streams: { size(now: number): number } } };
};

async function countsOf(): Promise<Counts> {
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo().sort()) resources[name] = (resources[name] ?? 0) + 1;
  const connections = await new Promise<number>((resolve, reject) =>
    http.getConnections((fault, count) => (fault ? reject(fault) : resolve(count))),
  );
  return {
    resources,
    connections,
    calls: server.inFlight.size,
    streams: server.streams.size,
    listeners: hidden.feed.size,
    sessionsAtWork: server.sessions.size,
    sessionsKept: await server.sessions.store.count(),
    streamsKept: hidden.sessions.events.streams.size(Date.now()),
    timers: timers.size,
  };
}

/** Bytes that are still needed. */
async function heapOf(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc!();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}

process.on('message', (question: 'counts' | 'heap' | 'stop') => {
  if (question === 'stop') void app.close().then(() => process.disconnect());
  else void (question === 'heap' ? heapOf() : countsOf()).then((answer) => process.send!(answer));
});
process.send!((http.address() as { port: number }).port);

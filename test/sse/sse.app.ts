import {
  Injectable,
  Module,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IsInt, IsString } from 'class-validator';
import {
  McpCompletion,
  McpContext,
  McpModule,
  McpPrompt,
  McpRegistry,
  McpResource,
  McpTool,
  type McpModuleOptions,
} from 'nest-mcp';
import { HeldCalls, WireTools } from '../http/wire.app.js';

class CountDto {
  @IsInt()
  to: number;
}

class NoteDto {
  @IsString()
  id: string;
}

class GreetDto {
  @IsString()
  name: string;
}

/** One of each that a legacy client can ask for. */
@Injectable()
export class Desk {
  constructor(
    private readonly registry: McpRegistry,
    private readonly held: HeldCalls,
  ) {}

  /** Answers once it is let go: the v1 client drops progress that comes in one piece with the answer. */
  @McpTool({ description: 'Counts, and tells how far it is' })
  async count({ to }: CountDto, ctx: McpContext): Promise<string> {
    for (let step = 1; step <= to; step++) await ctx.progress(step, to);
    await this.held.of('count').released;
    ctx.log.info(`counted to ${to}`, 'desk');
    return `counted to ${to}`;
  }

  @McpTool({ description: 'Tells who calls by what' })
  who({ transport, era, revision, sessionId, caller, request, requestId }: McpContext) {
    const { method, url, body } = request as { method: string; url: string; body: unknown };
    return { transport, era, revision, sessionId, caller: caller?.id, method, url, body, requestId };
  }

  @McpTool({ description: 'Changes a note' })
  touch({ id }: NoteDto): string {
    this.registry.notifyResourceUpdated(`note://${id}`);
    return 'touched';
  }

  @McpTool({ description: 'Adds a tool' })
  async add({ id }: NoteDto): Promise<string> {
    await this.registry.addTool({ name: id, replace: true }, () => 'added');
    return 'added';
  }

  @McpResource({ uri: 'note://{id}' })
  note({ id }: NoteDto): string {
    return `note ${id}`;
  }

  @McpPrompt({ description: 'Greets' })
  greet({ name }: GreetDto): string {
    return `Say hello to ${name}`;
  }

  @McpCompletion({ prompt: 'greet', argument: 'name' })
  names(value: string): string[] {
    return ['Maya', 'Mats', 'Jonas'].filter((name) => name.startsWith(value));
  }
}

/** Knows a caller by `x-user`; nobody comes in with `x-user: nobody`. */
@Injectable()
export class UserGuard implements CanActivate {
  /** What it was asked on, each with its method and path. */
  readonly seen: string[] = [];

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{
      method: string;
      url: string;
      headers: Record<string, string | undefined>;
      user?: unknown;
    }>();
    const { method, url, headers } = request;
    this.seen.push(`${context.getType<string>()} ${method} ${url.split('?')[0]}`);
    const id = headers['x-user'];
    if (id === 'nobody') throw new UnauthorizedException('Who are you?');
    if (id !== undefined) request.user = { id };
    return true;
  }
}

export const OPTIONS: McpModuleOptions = { name: 'desk', version: '1.0.0', sse: true };

export function rootOf(mcp: ReturnType<typeof McpModule.forRoot>): Type {
  @Module({
    imports: [mcp],
    providers: [Desk, WireTools, HeldCalls, UserGuard, { provide: APP_GUARD, useExisting: UserGuard }],
  })
  class SseModule {}
  return SseModule;
}

/** An application that serves HTTP+SSE beside its endpoint. */
export function sseApp(options: Partial<McpModuleOptions> = {}): Type {
  return rootOf(McpModule.forRoot({ ...OPTIONS, ...options }));
}

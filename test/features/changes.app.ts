import {
  Injectable,
  Module,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type INestApplicationContext,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IsString } from 'class-validator';
import {
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpRegistry,
  McpResource,
  McpTool,
  type McpModuleOptions,
} from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';

export class TicketDto {
  @IsString()
  id: string;
}

/** Who a request says it is. Nobody is refused here. */
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

/** Nobody reads the ticket that is called secret. */
@Injectable()
class SecretGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return McpExecutionContext.create(context).getArgs<TicketDto>().id !== 'secret';
  }
}

/** The calls of `wait`: each is let go by the test. */
export const waiting: (() => void)[] = [];

@Injectable()
class Desk {
  @McpTool({ description: 'Says hello' })
  hello(): string {
    return 'hello';
  }

  @McpTool({ description: 'Waits until it is let go' })
  wait(): Promise<string> {
    return new Promise((resolve) => waiting.push(() => resolve('waited')));
  }

  @McpResource({ uri: 'note://all' })
  notes(): string {
    return 'notes';
  }

  @UseGuards(SecretGuard)
  @McpResource({ uri: 'ticket://{id}' })
  ticket({ id }: TicketDto): string {
    return id;
  }

  @McpPrompt({ description: 'Greets' })
  greet(): string {
    return 'Say hello';
  }
}

/** An application with one of each, for what changes while it runs. */
export function changingApp(options: Partial<McpModuleOptions> = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'desk', version: '1.0.0', ...options })],
    providers: [Desk, { provide: APP_GUARD, useClass: UserGuard }],
  })
  class ChangingModule {}
  return ChangingModule;
}

/** What happens to what is exposed, each of a kind, as one turn of the event loop. */
export class Changes {
  readonly registry: McpRegistry;
  private readonly server: McpServer;
  private added = 0;

  constructor(app: Pick<INestApplicationContext, 'get'>) {
    this.registry = app.get(McpRegistry);
    this.server = app.get(McpServer);
  }

  /** Streams that are open for changes. */
  get streams(): number {
    return this.server.streams.size;
  }

  /** Everyone who is told of changes: streams, legacy sessions and pipes. */
  get listeners(): number {
    return (this.server as unknown as { feed: { size: number } }).feed.size;
  }

  get sessions(): number {
    return this.server.sessions.size;
  }

  /** Adds and takes away a tool again: one change of the list, and nothing left of it. */
  async tools(): Promise<void> {
    const name = `added-${++this.added}`;
    await this.registry.addTool({ name }, () => 'added');
    this.registry.remove('tool', name);
  }

  prompts(): void {
    this.registry.setEnabled('prompt', 'greet', false);
    this.registry.setEnabled('prompt', 'greet', true);
  }

  resources(): void {
    this.registry.setEnabled('resource', 'note://all', false);
    this.registry.setEnabled('resource', 'note://all', true);
  }

  update(...uris: string[]): void {
    uris.forEach((uri) => this.registry.notifyResourceUpdated(uri));
  }
}

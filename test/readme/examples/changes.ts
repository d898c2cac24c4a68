import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { IsNumber } from 'class-validator';
import { InjectMcpRegistry, McpEventBus, McpModule, McpRegistry, type McpBusMessage } from 'nest-mcp';
import { Redis } from './redis.js';
import { StaffGuard } from './staff.guard.js';
import { Tickets } from './tickets.js';

class AddDto {
  @IsNumber()
  a: number;

  @IsNumber()
  b: number;
}

@Injectable()
export class RunTime implements OnModuleInit {
  constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}

  async onModuleInit() {
    await this.registry.addTool(
      { name: 'add', description: 'Adds two numbers', input: AddDto, guards: [StaffGuard] },
      ({ a, b }: AddDto) => a + b,
    );
  }

  async publish(slug: string, text: string) {
    await this.registry.addResource(
      { uri: `kb://articles/${slug}`, name: slug, mimeType: 'text/markdown', replace: true },
      () => text,
    );
  }

  withdraw(slug: string) {
    return this.registry.remove('resource', `kb://articles/${slug}`);
  }

  pause(isPaused: boolean) {
    this.registry.setEnabled('tool', 'add', !isPaused);
  }
}

const localTools = [
  { name: 'ping', description: 'Answers', handler: () => 'pong' },
  { name: 'now', description: 'Tells the time', handler: () => new Date(0).toISOString() },
];

@Injectable()
export class LocalSet implements OnModuleInit {
  constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}

  async onModuleInit() {
    await this.registry.exposeAll(localTools, { guards: [StaffGuard] });
  }
}

@Injectable()
export class TicketDesk {
  constructor(
    private readonly tickets: Tickets,
    @InjectMcpRegistry() private readonly registry: McpRegistry,
  ) {}

  async close(id: string) {
    await this.tickets.close(id);
    this.registry.notifyResourceUpdated(`ticket://${id}`);
  }
}

@Injectable()
export class RedisBus extends McpEventBus {
  constructor(private readonly redis: Redis) {
    super();
  }

  async publish(message: McpBusMessage) {
    await this.redis.publish('mcp', JSON.stringify(message));
  }

  async subscribe(listener: (message: McpBusMessage) => void) {
    const subscriber = await this.redis.duplicate().connect(); // one that subscribes can do nothing else
    await subscriber.subscribe('mcp', (text) => listener(JSON.parse(text) as McpBusMessage));
    return () => subscriber.close();
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0', bus: RedisBus })],
  providers: [Redis, RedisBus, Tickets, TicketDesk, RunTime, LocalSet],
})
export class ChangesModule implements OnModuleInit {
  constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}

  async onModuleInit() {
    await this.registry.addResource({ uri: 'ticket://{id}', name: 'ticket' }, ({ id }: { id: string }) => id);
  }
}

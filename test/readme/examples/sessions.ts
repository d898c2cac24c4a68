import { Injectable, Module } from '@nestjs/common';
import { McpContext, McpEventBus, McpModule, McpTool, type McpBusMessage } from 'nest-mcp';
import { SharedDatabase, SharedEventStore, SharedSessionStore } from '../../stores/shared.store.js';
import { WhoTools } from './who.tools.js';

const database = new SharedDatabase();
const listeners = new Set<(message: McpBusMessage) => void>();

@Injectable()
export class OurSessionStore extends SharedSessionStore {
  constructor() {
    super(database);
  }
}

@Injectable()
export class OurEventStore extends SharedEventStore {
  constructor() {
    super(database);
  }
}

@Injectable()
export class OurBus extends McpEventBus {
  publish(message: McpBusMessage) {
    listeners.forEach((listener) => listener(message));
  }

  subscribe(listener: (message: McpBusMessage) => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }
}

@Injectable()
export class Exports {
  run(): Promise<string> {
    return Promise.resolve('All tickets');
  }
}

@Injectable()
export class ExportTools {
  constructor(private readonly exports: Exports) {}

  @McpTool({ description: 'Exports all tickets' })
  async exportTickets(ctx: McpContext) {
    ctx.closeStream(); // does nothing where the client would not come back
    return this.exports.run();
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [ExportTools, Exports],
})
export class ExportsModule {}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0', legacy: 'stateless' })],
  providers: [WhoTools],
})
export class StatelessModule {}

@Module({
  imports: [
    McpModule.forRoot({
      name: 'helpdesk',
      version: '1.0.0',
      sessions: { store: OurSessionStore, events: OurEventStore },
      bus: OurBus,
    }),
  ],
  providers: [WhoTools],
})
export class SharedModule {}

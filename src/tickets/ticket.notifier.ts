import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMcpRegistry, McpRegistry } from 'nest-mcp';
import type { Subscription } from 'rxjs';
import { TicketsRepository } from '../store/tickets.repository.js';

/** Tells MCP clients that follow a ticket of each change, whether a tool or a route made it. */
@Injectable()
export class TicketNotifier implements OnModuleInit, OnModuleDestroy {
  private following: Subscription | undefined;

  constructor(
    private readonly tickets: TicketsRepository,
    @InjectMcpRegistry() private readonly registry: McpRegistry,
  ) {}

  onModuleInit(): void {
    this.following = this.tickets.changed.subscribe((id) =>
      this.registry.notifyResourceUpdated(`ticket://${id}`),
    );
  }

  onModuleDestroy(): void {
    this.following?.unsubscribe();
  }
}

import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers/customers.module.js';
import { StoreModule } from '../store/store.module.js';
import { TicketExportService } from './ticket-export.service.js';
import { TicketNotifier } from './ticket.notifier.js';
import { TicketPrompts } from './ticket.prompts.js';
import { TicketResources } from './ticket.resources.js';
import { TicketTools } from './ticket.tools.js';
import { TicketsController } from './tickets.controller.js';
import { TicketsService } from './tickets.service.js';

@Module({
  imports: [StoreModule, CustomersModule],
  controllers: [TicketsController],
  providers: [
    TicketsService,
    TicketExportService,
    TicketTools,
    TicketResources,
    TicketPrompts,
    TicketNotifier,
  ],
  exports: [TicketsService],
})
export class TicketsModule {}

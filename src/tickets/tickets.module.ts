import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers/customers.module.js';
import { StoreModule } from '../store/store.module.js';
import { TicketExportService } from './ticket-export.service.js';
import { TicketTools } from './ticket.tools.js';
import { TicketsController } from './tickets.controller.js';
import { TicketsService } from './tickets.service.js';

@Module({
  imports: [StoreModule, CustomersModule],
  controllers: [TicketsController],
  providers: [TicketsService, TicketExportService, TicketTools],
})
export class TicketsModule {}

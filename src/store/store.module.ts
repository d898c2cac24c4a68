import { Module } from '@nestjs/common';
import { AttachmentsRepository } from './attachments.repository.js';
import { CustomersRepository } from './customers.repository.js';
import { TicketsRepository } from './tickets.repository.js';

/** Keeps everything in memory: each start begins with the same seed. */
@Module({
  providers: [CustomersRepository, TicketsRepository, AttachmentsRepository],
  exports: [CustomersRepository, TicketsRepository, AttachmentsRepository],
})
export class StoreModule {}

import { Module } from '@nestjs/common';
import { CustomersRepository } from './customers.repository.js';
import { TicketsRepository } from './tickets.repository.js';

/** Keeps everything in memory: each start begins with the same seed. */
@Module({
  providers: [CustomersRepository, TicketsRepository],
  exports: [CustomersRepository, TicketsRepository],
})
export class StoreModule {}

import { Module } from '@nestjs/common';
import { McpModule } from 'nest-mcp';
import { AuthModule } from './auth/auth.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { HealthModule } from './health/health.module.js';
import { TicketsModule } from './tickets/tickets.module.js';

@Module({
  imports: [
    AuthModule,
    HealthModule,
    CustomersModule,
    TicketsModule,
    McpModule.forRoot({
      name: 'helpdesk',
      version: '1.0.0',
      title: 'Helpdesk',
      instructions:
        'The support desk: customers, their tickets and the comments on them. ' +
        'Search before you read: ticket ids look like T-1001, customer ids like C-101. ' +
        'Comments are sent to the customer unless they are marked as internal.',
    }),
  ],
})
export class AppModule {}

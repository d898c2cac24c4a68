import { Module } from '@nestjs/common';
import { McpModule } from 'nest-mcp';
import { AttachmentsModule } from './attachments/attachments.module.js';
import { AuthModule } from './auth/auth.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { HealthModule } from './health/health.module.js';
import { KnowledgeModule } from './knowledge/knowledge.module.js';
import { TicketsModule } from './tickets/tickets.module.js';

@Module({
  imports: [
    AuthModule,
    HealthModule,
    CustomersModule,
    TicketsModule,
    AttachmentsModule,
    KnowledgeModule,
    McpModule.forRoot({
      name: 'helpdesk',
      version: '1.0.0',
      title: 'Helpdesk',
      instructions:
        'The support desk: customers, their tickets and the comments on them. ' +
        'Search before you read: ticket ids look like T-1001, customer ids like C-101. ' +
        'Comments are sent to the customer unless they are marked as internal. ' +
        'The articles at kb://articles/ say how usual problems are solved.',
    }),
  ],
})
export class AppModule {}

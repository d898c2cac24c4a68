import { Module } from '@nestjs/common';
import { McpModule } from 'nest-mcp';
import { WhoTools } from './who.tools.js';

@Module({
  imports: [
    McpModule.forRoot({
      name: 'helpdesk',
      version: '1.0.0',
      sse: true, // GET /sse, POST /messages; or { path, messagesPath }
      http: { publicUrl: 'https://example.com/helpdesk' }, // only behind a proxy that rewrites paths
    }),
  ],
  providers: [WhoTools],
})
export class OldClientsModule {}

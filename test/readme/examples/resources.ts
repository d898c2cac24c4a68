import { Injectable, Module, StreamableFile, UseGuards } from '@nestjs/common';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max } from 'class-validator';
import { McpArgs, McpCompletion, McpModule, McpResource } from 'nest-mcp';
import { StaffGuard } from './staff.guard.js';
import { Tickets } from './tickets.js';

class TicketIdDto {
  @IsString()
  @Matches(/^T-\d{1,6}$/)
  id: string;
}

@Injectable()
class TicketResources {
  constructor(private readonly tickets: Tickets) {}

  @McpResource({
    uri: 'ticket://{id}',
    title: 'Ticket',
    description: 'One ticket with its comments',
    mimeType: 'application/json',
  })
  ticket({ id }: TicketIdDto) {
    return this.tickets.find(id); // undefined: there is no such ticket
  }

  @McpCompletion({ resource: 'ticket://{id}', argument: 'id' })
  ticketIds(typed: string) {
    return this.tickets.ids().filter((id) => id.startsWith(typed));
  }

  @McpResource({ uri: 'ticket://{id}/files/{name}', description: 'A file that came with a ticket' })
  @UseGuards(StaffGuard) // as on a route
  file(@McpArgs() { id, name }: { id: string; name: string }) {
    const file = this.tickets.file(id, name);
    return file && new StreamableFile(file.bytes, { type: file.type });
  }

  @McpResource('ticket://{id}/thread')
  thread({ id }: TicketIdDto) {
    const ticket = this.tickets.find(id);
    return ticket?.comments.map((text, index) => ({ uri: `ticket://${id}/comments/${index}`, text }));
  }
}

class LogsDto {
  @IsString()
  service: string;

  @IsOptional()
  @IsIn(['info', 'error'])
  level?: 'info' | 'error';

  @IsOptional()
  @IsInt()
  @Max(500)
  limit?: number = 100;
}

@Injectable()
class OtherResources {
  @McpResource({
    uri: 'docs://handbook',
    title: 'Handbook',
    description: 'How we answer',
    mimeType: 'text/markdown',
    annotations: { audience: ['assistant'], priority: 0.8 },
    cache: { ttlMs: 60_000, scope: 'public' },
  })
  handbook() {
    return '# Handbook\n\nBe kind first.\n';
  }

  @McpResource('logs://{service}{?level,limit}')
  logs({ service, level, limit }: LogsDto) {
    return `the last ${limit} lines of ${service}, level ${level ?? 'any'}`;
  }

  @McpResource('docs://pages/{+path}')
  page(@McpArgs() { path }: { path: string }) {
    return `the page at ${path}`;
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [Tickets, TicketResources, OtherResources],
})
export class ResourcesModule {}

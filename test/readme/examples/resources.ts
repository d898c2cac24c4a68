import {
  Injectable,
  Module,
  StreamableFile,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max } from 'class-validator';
import { McpArgs, McpCompletion, McpExecutionContext, McpModule, McpResource } from 'nest-mcp';
import { StaffGuard } from './staff.guard.js';
import { Tickets } from './tickets.js';

class TicketIdDto {
  @IsString()
  @Matches(/^T-\d{1,6}$/)
  id: string;
}

/** A customer reads what is theirs alone. */
@Injectable()
class OwnTicketsGuard implements CanActivate {
  constructor(private readonly tickets: Tickets) {}

  canActivate(context: ExecutionContext) {
    const call = McpExecutionContext.create(context); // getType() is 'mcp' here
    if (call.kind === 'completion') return true; // the id is still being typed
    const { id } = call.getArgs<{ id: string }>(); // the variables of the address
    return this.tickets.ownerOf(id) === call.getContext().caller?.id;
  }
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

  @McpResource('ticket://{id}/invoice')
  @UseGuards(OwnTicketsGuard)
  invoice({ id }: TicketIdDto) {
    return `The invoice of ${id}`;
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

/** Stands for what an application does with a token. */
function callerOf(request: unknown) {
  const id = (request as { headers: Record<string, string | undefined> }).headers['x-user'];
  return id === undefined ? undefined : { id };
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0', caller: callerOf })],
  providers: [Tickets, TicketResources, OtherResources],
})
export class ResourcesModule {}

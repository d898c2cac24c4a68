import { Injectable } from '@nestjs/common';
import { McpCompletion, McpResource } from 'nest-mcp';
import { TicketIdDto } from './dto/ticket-id.dto.js';
import { TicketsService } from './tickets.service.js';

@Injectable()
export class TicketResources {
  constructor(private readonly tickets: TicketsService) {}

  @McpResource({
    uri: 'ticket://{id}',
    title: 'Ticket',
    description: 'One ticket by id (like T-1001) with its description, comments and customer',
    mimeType: 'application/json',
  })
  ticket({ id }: TicketIdDto) {
    return this.tickets.get(id);
  }

  @McpCompletion({ resource: 'ticket://{id}', argument: 'id' })
  ticketIds(typed: string) {
    return this.tickets.idsStartingWith(typed);
  }
}

import { Injectable } from '@nestjs/common';
import { content, McpCompletion, McpPrompt } from 'nest-mcp';
import { TriageTicketDto } from './dto/triage-ticket.dto.js';
import { TicketsService } from './tickets.service.js';

@Injectable()
export class TicketPrompts {
  constructor(private readonly tickets: TicketsService) {}

  @McpPrompt({
    title: 'Triage a ticket',
    description: 'Judges how urgent a ticket is, who should work on it, and drafts the first reply',
  })
  async triageTicket({ id, tone }: TriageTicketDto) {
    const ticket = await this.tickets.get(id);
    return {
      description: `Triage of ${id}: ${ticket.subject}`,
      messages: [
        content.resource(`ticket://${id}`, JSON.stringify(ticket), 'application/json'),
        'Read this ticket. Say how urgent it is and why, and which of the team should take it. ' +
          `Then draft a ${tone} reply to ${ticket.customer.name}; do not send it.`,
      ],
    };
  }

  @McpCompletion({ prompt: 'triageTicket', argument: 'id' })
  ticketIds(typed: string) {
    return this.tickets.idsStartingWith(typed);
  }
}

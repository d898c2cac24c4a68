import { Injectable } from '@nestjs/common';
import { McpContext, McpTool } from 'nest-mcp';
import { CurrentUser } from '../auth/current-user.decorator.js';
import { Roles } from '../auth/roles.decorator.js';
import type { User } from '../auth/user.js';
import { CloseTicketDto, CloseTicketsDto, ConfirmationDto, ResolutionDto } from './dto/close-ticket.dto.js';
import { CommentTicketDto } from './dto/comment-ticket.dto.js';
import { ExportTicketsDto } from './dto/export-tickets.dto.js';
import { SearchTicketsDto } from './dto/search-tickets.dto.js';
import { TicketIdDto } from './dto/ticket-id.dto.js';
import { TicketPageDto } from './dto/ticket-page.dto.js';
import { TicketExportService } from './ticket-export.service.js';
import { TicketsService } from './tickets.service.js';

@Injectable()
export class TicketTools {
  constructor(
    private readonly tickets: TicketsService,
    private readonly exports: TicketExportService,
  ) {}

  @McpTool({
    description:
      'Finds tickets, the latest updated first. All filters are optional and narrow the result together. ' +
      'Returns one page of summaries and the total: raise offset for more, use getTicket for description and comments.',
    readOnly: true,
    output: TicketPageDto,
  })
  searchTickets(query: SearchTicketsDto): Promise<TicketPageDto> {
    return this.tickets.search(query);
  }

  @McpTool({
    description: 'Reads one ticket by id (like T-1001) with its description, comments and customer.',
    readOnly: true,
  })
  getTicket({ id }: TicketIdDto) {
    return this.tickets.get(id);
  }

  @McpTool({
    description: 'Adds a comment to a ticket. It is sent to the customer unless internal is true.',
    annotations: { destructiveHint: false },
  })
  @Roles('agent', 'admin')
  commentTicket({ id, ...comment }: CommentTicketDto, @CurrentUser() user: User) {
    return this.tickets.addComment(id, comment, user);
  }

  @McpTool({
    description:
      'Closes a ticket. The resolution says in one or two sentences what solved it; without it the user is asked.',
    annotations: { destructiveHint: false, idempotentHint: true },
  })
  @Roles('agent', 'admin')
  async closeTicket({ id, resolution }: CloseTicketDto, ctx: McpContext) {
    if (resolution !== undefined) return this.tickets.close(id, resolution);
    await this.tickets.assertOpen(id);
    const answer = await ctx.elicit(`What solved ticket ${id}?`, ResolutionDto, { key: 'resolution' });
    if (answer.action !== 'accept') return `Ticket ${id} stays open: the user did not say what solved it`;
    return this.tickets.close(id, answer.content.resolution);
  }

  @McpTool({
    description: 'Closes several tickets with one resolution. The user is asked for it, and then to confirm.',
    annotations: { destructiveHint: false, idempotentHint: true },
  })
  @Roles('agent', 'admin')
  async closeTickets({ ids }: CloseTicketsDto, ctx: McpContext) {
    for (const id of ids) await this.tickets.assertOpen(id);
    const reason = await ctx.elicit(`What solved these ${ids.length} tickets?`, ResolutionDto, {
      key: 'resolution',
    });
    if (reason.action !== 'accept') return 'No ticket is closed: the user did not say what solved them';
    const { resolution } = reason.content;
    const question = `Close ${ids.join(', ')} as "${resolution}"?`;
    const yes = await ctx.elicit(question, ConfirmationDto, { key: 'confirm' });
    if (yes.action !== 'accept' || !yes.content.confirmed)
      return 'No ticket is closed: the user did not confirm';
    for (const id of ids) await this.tickets.close(id, resolution);
    return `Closed ${ids.join(', ')}`;
  }

  @McpTool({
    description: 'Deletes a ticket and its comments for good. To end a solved ticket, close it instead.',
    annotations: { destructiveHint: true },
  })
  @Roles('admin')
  async deleteTicket({ id }: TicketIdDto) {
    await this.tickets.delete(id);
    return `Ticket ${id} is deleted`;
  }

  @McpTool({
    description:
      'Exports all tickets, or those of one status, as CSV text or as JSON, without their comments.',
    readOnly: true,
    timeout: 120_000,
  })
  exportTickets(args: ExportTicketsDto, ctx: McpContext) {
    return this.exports.export(args, async (done, total) => {
      ctx.signal.throwIfAborted();
      ctx.log.info({ done, total }, 'export');
      await ctx.progress(done, total, `${done} of ${total} tickets`);
    });
  }
}

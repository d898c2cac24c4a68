import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import type { User } from '../auth/user.js';
import { type Page, pageOf } from '../common/page.js';
import { startingWith } from '../common/text-search.js';
import { CustomersService } from '../customers/customers.service.js';
import type { Customer } from '../store/customer.js';
import { type Ticket, type TicketComment, TicketStatus } from '../store/ticket.js';
import { TicketsRepository } from '../store/tickets.repository.js';
import type { AddCommentDto } from './dto/comment-ticket.dto.js';
import type { SearchTicketsDto } from './dto/search-tickets.dto.js';
import { summaryOf, type TicketSummary } from './ticket-summary.js';

@Injectable()
export class TicketsService {
  constructor(
    private readonly tickets: TicketsRepository,
    private readonly customers: CustomersService,
  ) {}

  async search(query: SearchTicketsDto): Promise<Page<TicketSummary>> {
    const page = pageOf(await this.tickets.find(query), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  async get(id: string): Promise<Ticket & { customer: Customer }> {
    const ticket = found(id, await this.tickets.findById(id));
    return { ...ticket, customer: await this.customers.get(ticket.customerId) };
  }

  /** The latest updated first. */
  async idsStartingWith(typed: string): Promise<string[]> {
    const all = await this.tickets.find();
    return startingWith(
      typed,
      all.map(({ id }) => id),
    );
  }

  async addComment(id: string, { body, internal }: AddCommentDto, author: User): Promise<TicketComment> {
    const createdAt = new Date().toISOString();
    const ticket = await this.tickets.update(id, ({ comments }) => ({
      updatedAt: createdAt,
      comments: [
        ...comments,
        {
          id: `${id}-${comments.length + 1}`,
          author: author.name,
          body,
          internal: internal ?? false,
          createdAt,
        },
      ],
    }));
    return found(id, ticket).comments.at(-1)!;
  }

  /** Refuses where there is nothing to close, before anybody is asked what solved it. */
  async assertOpen(id: string): Promise<void> {
    const { status, resolution } = found(id, await this.tickets.findById(id));
    if (status === TicketStatus.Closed) throw alreadyClosed(id, resolution);
  }

  /** Closing twice with the same resolution changes nothing; another resolution is refused. */
  async close(id: string, resolution: string): Promise<TicketSummary> {
    const ticket = await this.tickets.update(id, (current) => {
      if (current.status !== TicketStatus.Closed) {
        return { status: TicketStatus.Closed, resolution, updatedAt: new Date().toISOString() };
      }
      if (current.resolution !== resolution) {
        throw alreadyClosed(id, current.resolution);
      }
      return {};
    });
    return summaryOf(found(id, ticket));
  }

  async delete(id: string): Promise<void> {
    if (!(await this.tickets.delete(id))) {
      throw notFound(id);
    }
  }
}

function found(id: string, ticket: Ticket | undefined): Ticket {
  if (!ticket) {
    throw notFound(id);
  }
  return ticket;
}

function notFound(id: string): NotFoundException {
  return new NotFoundException(`There is no ticket ${id}. Search the tickets to find the right id.`);
}

function alreadyClosed(id: string, resolution: string | null): ConflictException {
  return new ConflictException(`Ticket ${id} is already closed: ${resolution}`);
}

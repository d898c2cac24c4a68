import { Injectable } from '@nestjs/common';
import { seedCustomers } from './seed/customers.js';
import { seedTickets } from './seed/tickets.js';
import type { Ticket } from './ticket.js';
import { matchesFilter, type TicketFilter } from './ticket-filter.js';

@Injectable()
export class TicketsRepository {
  private readonly tickets = new Map(seedTickets(seedCustomers()).map((ticket) => [ticket.id, ticket]));

  /** The latest updated first. */
  async find(filter: TicketFilter = {}): Promise<Ticket[]> {
    return [...this.tickets.values()]
      .filter((ticket) => matchesFilter(ticket, filter))
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id));
  }

  async findById(id: string): Promise<Ticket | undefined> {
    return this.tickets.get(id);
  }

  /** Reads and writes in one step, so that two updates at the same time do not lose one another. */
  async update(id: string, change: (ticket: Ticket) => Partial<Ticket>): Promise<Ticket | undefined> {
    const ticket = this.tickets.get(id);
    if (!ticket) {
      return undefined;
    }
    const updated = { ...ticket, ...change(ticket) };
    this.tickets.set(id, updated);
    return updated;
  }

  async delete(id: string): Promise<boolean> {
    return this.tickets.delete(id);
  }
}

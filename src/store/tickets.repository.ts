import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { seedCustomers } from './seed/customers.js';
import { seedTickets } from './seed/tickets.js';
import type { Ticket } from './ticket.js';
import { matchesFilter, type TicketFilter } from './ticket-filter.js';

@Injectable()
export class TicketsRepository {
  private readonly tickets = new Map(seedTickets(seedCustomers()).map((ticket) => [ticket.id, ticket]));
  private readonly changes = new Subject<string>();
  /** The id of each ticket that is changed or deleted, whoever does it. */
  readonly changed = this.changes.asObservable();

  /** The latest updated first. */
  async find(filter: TicketFilter = {}): Promise<Ticket[]> {
    return [...this.tickets.values()]
      .filter((ticket) => matchesFilter(ticket, filter))
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id));
  }

  async findById(id: string): Promise<Ticket | undefined> {
    return this.tickets.get(id);
  }

  /**
   * Reads and writes in one step, so that two updates at the same time do not lose one another. An empty change is
   * none.
   */
  async update(id: string, change: (ticket: Ticket) => Partial<Ticket>): Promise<Ticket | undefined> {
    const ticket = this.tickets.get(id);
    if (!ticket) {
      return undefined;
    }
    const members = change(ticket);
    if (Object.keys(members).length === 0) {
      return ticket;
    }
    const updated = { ...ticket, ...members };
    this.tickets.set(id, updated);
    this.changes.next(id);
    return updated;
  }

  async delete(id: string): Promise<boolean> {
    const isDeleted = this.tickets.delete(id);
    if (isDeleted) {
      this.changes.next(id);
    }
    return isDeleted;
  }
}

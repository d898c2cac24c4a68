import { matchesText } from '../common/text-search.js';
import type { Ticket, TicketPriority, TicketStatus } from './ticket.js';

export interface TicketFilter {
  text?: string;
  status?: TicketStatus;
  priority?: TicketPriority;
  customerId?: string;
  assignee?: string;
}

/** A member that is missing, null or empty does not narrow the search. */
export function matchesFilter(ticket: Ticket, filter: TicketFilter): boolean {
  return (
    (!filter.status || ticket.status === filter.status) &&
    (!filter.priority || ticket.priority === filter.priority) &&
    (!filter.customerId || ticket.customerId === filter.customerId) &&
    (!filter.assignee || ticket.assignee?.toLowerCase() === filter.assignee.toLowerCase()) &&
    matchesText(filter.text, [ticket.id, ticket.subject, ticket.description])
  );
}

import type { Ticket } from '../store/ticket.js';

/** A ticket as lists show it. */
export type TicketSummary = Omit<Ticket, 'description' | 'comments'> & { commentCount: number };

export function summaryOf({ description: _description, comments, ...rest }: Ticket): TicketSummary {
  return { ...rest, commentCount: comments.length };
}

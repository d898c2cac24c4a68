export enum TicketStatus {
  Open = 'open',
  Pending = 'pending',
  Closed = 'closed',
}

export enum TicketPriority {
  Low = 'low',
  Normal = 'normal',
  High = 'high',
  Urgent = 'urgent',
}

export interface TicketComment {
  readonly id: string;
  readonly author: string;
  readonly body: string;
  /** Seen by the team only. */
  readonly internal: boolean;
  readonly createdAt: string;
}

/** Never changed in place: the repository replaces the whole record. */
export interface Ticket {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: TicketStatus;
  readonly priority: TicketPriority;
  readonly customerId: string;
  readonly assignee: string | null;
  readonly resolution: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly comments: readonly TicketComment[];
}

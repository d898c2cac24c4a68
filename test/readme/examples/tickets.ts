import { Injectable } from '@nestjs/common';

export interface Ticket {
  id: string;
  subject: string;
  comments: string[];
}

/** Stands for the services that an application has. */
@Injectable()
export class Tickets {
  private readonly tickets = new Map<string, Ticket>([
    ['T-1', { id: 'T-1', subject: 'Cannot log in', comments: ['Which browser?', 'Firefox'] }],
    ['T-2', { id: 'T-2', subject: 'Invoice is missing', comments: [] }],
  ]);

  ids(): string[] {
    return [...this.tickets.keys()];
  }

  find(id: string): Ticket | undefined {
    return this.tickets.get(id);
  }

  ownerOf(id: string): string | undefined {
    return id === 'T-1' ? 'ada' : undefined;
  }

  file(id: string, name: string): { bytes: Buffer; type: string } | undefined {
    return id === 'T-1' && name === 'dot.png' ? { bytes: DOT, type: 'image/png' } : undefined;
  }

  async close(id: string): Promise<void> {
    this.tickets.set(id, { ...this.tickets.get(id)!, comments: ['Closed'] });
  }
}

/** A picture of one pixel. */
export const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

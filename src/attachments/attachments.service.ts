import { Injectable, NotFoundException, StreamableFile } from '@nestjs/common';
import type { Attachment } from '../store/attachment.js';
import { AttachmentsRepository } from '../store/attachments.repository.js';
import { TicketsService } from '../tickets/tickets.service.js';

/** An attachment as lists show it. */
export type AttachmentSummary = Pick<Attachment, 'name' | 'mimeType'> & { size: number };

@Injectable()
export class AttachmentsService {
  constructor(
    private readonly attachments: AttachmentsRepository,
    private readonly tickets: TicketsService,
  ) {}

  async list(ticketId: string): Promise<AttachmentSummary[]> {
    await this.tickets.get(ticketId);
    const found = await this.attachments.ofTicket(ticketId);
    return found.map(({ name, mimeType, bytes }) => ({ name, mimeType, size: bytes.length }));
  }

  async open(ticketId: string, name: string): Promise<StreamableFile> {
    await this.tickets.get(ticketId);
    const found = await this.attachments.find(ticketId, name);
    if (!found) {
      throw new NotFoundException(`Ticket ${ticketId} has no attachment ${name}`);
    }
    return new StreamableFile(found.bytes, { type: found.mimeType, length: found.bytes.length });
  }
}

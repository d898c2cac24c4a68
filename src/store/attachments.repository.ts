import { Injectable } from '@nestjs/common';
import type { Attachment } from './attachment.js';
import { seedAttachments } from './seed/attachments.js';

@Injectable()
export class AttachmentsRepository {
  private readonly attachments = seedAttachments();

  async ofTicket(ticketId: string): Promise<Attachment[]> {
    return this.attachments.filter((attachment) => attachment.ticketId === ticketId);
  }

  async find(ticketId: string, name: string): Promise<Attachment | undefined> {
    return (await this.ofTicket(ticketId)).find((attachment) => attachment.name === name);
  }
}

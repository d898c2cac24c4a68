import { Injectable } from '@nestjs/common';
import { content, McpTool } from 'nest-mcp';
import { Roles } from '../auth/roles.decorator.js';
import { TicketIdDto } from '../tickets/dto/ticket-id.dto.js';
import { AttachmentsService } from './attachments.service.js';

@Injectable()
@Roles('agent', 'admin')
export class AttachmentTools {
  constructor(private readonly attachments: AttachmentsService) {}

  @McpTool({
    description: 'Lists the files that came with a ticket, as links to resources that can be read.',
    readOnly: true,
  })
  async listAttachments({ id }: TicketIdDto) {
    const found = await this.attachments.list(id);
    const links = found.map(({ name, ...file }) =>
      content.link(`ticket://${id}/attachments/${name}`, name, file),
    );
    return [content.text(`Ticket ${id} has ${found.length} attachments`), ...links];
  }
}

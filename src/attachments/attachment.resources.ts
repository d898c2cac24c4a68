import { Injectable } from '@nestjs/common';
import { McpArgs, McpCompletion, McpResource } from 'nest-mcp';
import { Roles } from '../auth/roles.decorator.js';
import { startingWith } from '../common/text-search.js';
import { TicketsService } from '../tickets/tickets.service.js';
import { AttachmentsService } from './attachments.service.js';
import { AttachmentNameDto } from './dto/attachment-name.dto.js';

const ATTACHMENT = 'ticket://{id}/attachments/{name}';

@Injectable()
@Roles('agent', 'admin')
export class AttachmentResources {
  constructor(
    private readonly attachments: AttachmentsService,
    private readonly tickets: TicketsService,
  ) {}

  @McpResource({ uri: ATTACHMENT, title: 'Attachment', description: 'A file that came with a ticket' })
  attachment({ id, name }: AttachmentNameDto) {
    return this.attachments.open(id, name);
  }

  @McpCompletion({ resource: ATTACHMENT, argument: 'id' })
  ticketIds(typed: string) {
    return this.tickets.idsStartingWith(typed);
  }

  @McpCompletion({ resource: ATTACHMENT, argument: 'name' })
  async attachmentNames(typed: string, @McpArgs() { id }: { id?: string }) {
    const found = id ? await this.attachments.list(id) : [];
    return startingWith(
      typed,
      found.map(({ name }) => name),
    );
  }
}

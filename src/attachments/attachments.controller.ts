import { Controller, Get, Param } from '@nestjs/common';
import { Roles } from '../auth/roles.decorator.js';
import { TicketIdDto } from '../tickets/dto/ticket-id.dto.js';
import { AttachmentsService } from './attachments.service.js';
import { AttachmentNameDto } from './dto/attachment-name.dto.js';

@Controller('tickets/:id/attachments')
@Roles('agent', 'admin')
export class AttachmentsController {
  constructor(private readonly attachments: AttachmentsService) {}

  @Get()
  list(@Param() { id }: TicketIdDto) {
    return this.attachments.list(id);
  }

  @Get(':name')
  open(@Param() { id, name }: AttachmentNameDto) {
    return this.attachments.open(id, name);
  }
}

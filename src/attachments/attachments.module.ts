import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { AttachmentResources } from './attachment.resources.js';
import { AttachmentTools } from './attachment.tools.js';
import { AttachmentsController } from './attachments.controller.js';
import { AttachmentsService } from './attachments.service.js';

@Module({
  imports: [StoreModule, TicketsModule],
  controllers: [AttachmentsController],
  providers: [AttachmentsService, AttachmentTools, AttachmentResources],
})
export class AttachmentsModule {}

import { IsString, Matches } from 'class-validator';
import { TicketIdDto } from '../../tickets/dto/ticket-id.dto.js';

export class AttachmentNameDto extends TicketIdDto {
  @IsString()
  @Matches(/^[\w-][\w.-]{0,99}$/, { message: 'name must look like screenshot.png' })
  name: string;
}

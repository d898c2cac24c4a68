import { IsEnum, IsOptional, IsString, MaxLength } from 'class-validator';
import { PageDto } from '../../common/page.dto.js';
import { TicketPriority, TicketStatus } from '../../store/ticket.js';

export class SearchTicketsDto extends PageDto {
  @IsOptional()
  @IsString()
  @MaxLength(200)
  text?: string;

  @IsOptional()
  @IsEnum(TicketStatus)
  status?: TicketStatus;

  @IsOptional()
  @IsEnum(TicketPriority)
  priority?: TicketPriority;

  @IsOptional()
  @IsString()
  customerId?: string;

  @IsOptional()
  @IsString()
  assignee?: string;
}

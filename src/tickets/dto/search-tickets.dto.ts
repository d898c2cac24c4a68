import { IsEnum, IsOptional, IsString, MaxLength } from 'class-validator';
import { McpProperty } from 'nest-mcp';
import { PageDto } from '../../common/page.dto.js';
import { TicketPriority, TicketStatus } from '../../store/ticket.js';

export class SearchTicketsDto extends PageDto {
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @McpProperty({ description: 'Words to look for in subject, description and id' })
  text?: string;

  @IsOptional()
  @IsEnum(TicketStatus)
  status?: TicketStatus;

  @IsOptional()
  @IsEnum(TicketPriority)
  priority?: TicketPriority;

  @IsOptional()
  @IsString()
  @McpProperty({ description: 'Id of the customer, like C-101' })
  customerId?: string;

  @IsOptional()
  @IsString()
  @McpProperty({ description: 'Name of the agent who works on it' })
  assignee?: string;
}

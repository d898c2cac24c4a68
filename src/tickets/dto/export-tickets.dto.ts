import { IsEnum, IsIn, IsOptional } from 'class-validator';
import { TicketStatus } from '../../store/ticket.js';

export class ExportTicketsDto {
  @IsOptional()
  @IsEnum(TicketStatus)
  status?: TicketStatus;

  @IsOptional()
  @IsIn(['csv', 'json'])
  format?: 'csv' | 'json' = 'csv';
}

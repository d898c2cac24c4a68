import { Type } from 'class-transformer';
import { IsArray, IsDateString, IsEnum, IsInt, IsString, ValidateIf, ValidateNested } from 'class-validator';
import { TicketPriority, TicketStatus } from '../../store/ticket.js';

const isNotNull = (_: object, value: unknown) => value !== null;

export class TicketSummaryDto {
  @IsString()
  id: string;

  @IsString()
  subject: string;

  @IsEnum(TicketStatus)
  status: TicketStatus;

  @IsEnum(TicketPriority)
  priority: TicketPriority;

  @IsString()
  customerId: string;

  @ValidateIf(isNotNull)
  @IsString()
  assignee: string | null;

  @ValidateIf(isNotNull)
  @IsString()
  resolution: string | null;

  @IsDateString()
  createdAt: string;

  @IsDateString()
  updatedAt: string;

  @IsInt()
  commentCount: number;
}

/** What a search returns: one page of summaries, and how many there are in all. */
export class TicketPageDto {
  @IsInt()
  total: number;

  @IsInt()
  limit: number;

  @IsInt()
  offset: number;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => TicketSummaryDto)
  items: TicketSummaryDto[];
}

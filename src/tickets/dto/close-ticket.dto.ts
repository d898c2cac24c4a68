import { IntersectionType, PartialType } from '@nestjs/mapped-types';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsString,
  Length,
  Matches,
} from 'class-validator';
import { McpProperty } from 'nest-mcp';
import { TicketIdDto } from './ticket-id.dto.js';

export class ResolutionDto {
  @IsString()
  @Length(1, 500)
  resolution: string;
}

/** Of a tool: without a resolution the user is asked for it. */
export class CloseTicketDto extends IntersectionType(TicketIdDto, PartialType(ResolutionDto)) {}

export class CloseTicketsDto {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @ArrayUnique()
  @Matches(/^T-\d{1,6}$/, { each: true, message: 'each id must look like T-1001' })
  @McpProperty({ description: 'Ids of the tickets, like T-1001' })
  ids: string[];
}

export class ConfirmationDto {
  @IsBoolean()
  @McpProperty({ description: 'Whether to go on' })
  confirmed: boolean;
}

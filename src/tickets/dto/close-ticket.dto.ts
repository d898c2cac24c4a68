import { IntersectionType } from '@nestjs/mapped-types';
import { IsString, Length } from 'class-validator';
import { TicketIdDto } from './ticket-id.dto.js';

export class ResolutionDto {
  @IsString()
  @Length(1, 500)
  resolution: string;
}

export class CloseTicketDto extends IntersectionType(TicketIdDto, ResolutionDto) {}

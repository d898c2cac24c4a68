import { IntersectionType } from '@nestjs/mapped-types';
import { IsEnum, IsOptional } from 'class-validator';
import { McpProperty } from 'nest-mcp';
import { TicketIdDto } from './ticket-id.dto.js';

export enum Tone {
  Friendly = 'friendly',
  Formal = 'formal',
  Brief = 'brief',
}

class ToneDto {
  @IsOptional()
  @IsEnum(Tone)
  @McpProperty({ description: 'How the reply to the customer should sound' })
  tone?: Tone = Tone.Friendly;
}

export class TriageTicketDto extends IntersectionType(TicketIdDto, ToneDto) {}

import { IntersectionType } from '@nestjs/mapped-types';
import { IsBoolean, IsOptional, IsString, Length } from 'class-validator';
import { TicketIdDto } from './ticket-id.dto.js';

export class AddCommentDto {
  @IsString()
  @Length(1, 2000)
  body: string;

  /** Seen by the team only, not sent to the customer. */
  @IsOptional()
  @IsBoolean()
  internal?: boolean;
}

export class CommentTicketDto extends IntersectionType(TicketIdDto, AddCommentDto) {}

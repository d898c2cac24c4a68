import { Body, Controller, Delete, Get, HttpCode, HttpStatus, Param, Post, Query } from '@nestjs/common';
import { CurrentUser } from '../auth/current-user.decorator.js';
import { Roles } from '../auth/roles.decorator.js';
import type { User } from '../auth/user.js';
import { ResolutionDto } from './dto/close-ticket.dto.js';
import { AddCommentDto } from './dto/comment-ticket.dto.js';
import { SearchTicketsDto } from './dto/search-tickets.dto.js';
import { TicketIdDto } from './dto/ticket-id.dto.js';
import { TicketsService } from './tickets.service.js';

@Controller('tickets')
export class TicketsController {
  constructor(private readonly tickets: TicketsService) {}

  @Get()
  search(@Query() query: SearchTicketsDto) {
    return this.tickets.search(query);
  }

  @Get(':id')
  get(@Param() { id }: TicketIdDto) {
    return this.tickets.get(id);
  }

  @Post(':id/comments')
  @Roles('agent', 'admin')
  comment(@Param() { id }: TicketIdDto, @Body() comment: AddCommentDto, @CurrentUser() user: User) {
    return this.tickets.addComment(id, comment, user);
  }

  @Post(':id/close')
  @HttpCode(HttpStatus.OK)
  @Roles('agent', 'admin')
  close(@Param() { id }: TicketIdDto, @Body() { resolution }: ResolutionDto) {
    return this.tickets.close(id, resolution);
  }

  @Delete(':id')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Roles('admin')
  delete(@Param() { id }: TicketIdDto) {
    return this.tickets.delete(id);
  }
}

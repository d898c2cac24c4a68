import { Injectable, Module } from '@nestjs/common';
import { IsIn, IsOptional } from 'class-validator';
import { McpModule, McpTool } from 'nest-mcp';

class SearchTicketsDto {
  @IsOptional()
  @IsIn(['open', 'closed'])
  status?: string;
}

@Injectable()
class TicketTools {
  @McpTool({ description: 'Finds tickets by status', readOnly: true })
  searchTickets(query: SearchTicketsDto) {
    return { tickets: [{ id: 'T-1', subject: 'Cannot log in', status: query.status ?? 'open' }] };
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [TicketTools],
})
export class AppModule {}

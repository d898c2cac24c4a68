import { IsString, Matches } from 'class-validator';
import { McpProperty } from 'nest-mcp';

export class TicketIdDto {
  @IsString()
  @Matches(/^T-\d{1,6}$/, { message: 'id must look like T-1001' })
  @McpProperty({ description: 'Id of the ticket, like T-1001' })
  id: string;
}

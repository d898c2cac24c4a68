import { IsString, Matches } from 'class-validator';

export class TicketIdDto {
  @IsString()
  @Matches(/^T-\d{1,6}$/, { message: 'id must look like T-1001' })
  id: string;
}

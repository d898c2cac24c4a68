import { IsString, Matches } from 'class-validator';

export class CustomerIdDto {
  @IsString()
  @Matches(/^C-\d{1,6}$/, { message: 'id must look like C-101' })
  id: string;
}

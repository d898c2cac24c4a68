import { IsOptional, IsString, MaxLength } from 'class-validator';
import { PageDto } from '../../common/page.dto.js';

export class SearchCustomersDto extends PageDto {
  @IsOptional()
  @IsString()
  @MaxLength(200)
  text?: string;
}

import { Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
// oxlint-disable-next-line import/no-cycle -- two files of a user do so, and it has to work
import { AuthorDto } from './files.dto.js';

/** The two files import each other. */
export class BookDto {
  @IsString()
  title: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => AuthorDto)
  authors?: AuthorDto[];
}

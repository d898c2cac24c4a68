import { IsInt, IsOptional } from 'class-validator';

/** Has the name of another class in another file, and other members. */
export class TwinDto {
  @IsInt()
  count: number;

  @IsOptional()
  @IsInt()
  limit?: number;
}

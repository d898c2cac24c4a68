import { Type } from 'class-transformer';
import { IsArray, IsOptional, IsString, ValidateNested } from 'class-validator';
import { whole, type CorpusEntry } from './entry.js';
// oxlint-disable-next-line import/no-cycle -- two files of a user do so, and it has to work
import { BookDto } from './mutual.js';
import { TwinDto as OtherTwinDto } from './twins.js';

class TwinDto {
  @IsString()
  name: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => TwinDto)
  twins?: TwinDto[];
}

/** Two classes of one name side by side. */
export class TwinsDto {
  @ValidateNested()
  @Type(() => TwinDto)
  mine: TwinDto;

  @ValidateNested()
  @Type(() => OtherTwinDto)
  theirs: OtherTwinDto;
}

export class AuthorDto {
  @IsString()
  name: string;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => BookDto)
  books: BookDto[];
}

class LeftTwin {
  @IsString()
  left: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => LeftTwin)
  next?: LeftTwin;
}

class RightTwin {
  @IsString()
  right: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => RightTwin)
  next?: RightTwin;
}

for (const twin of [LeftTwin, RightTwin]) Object.defineProperty(twin, 'name', { value: 'ItemDto' });

/** Both recursive, so that each needs a definition under a name of its own. */
export class RecursiveTwinsDto {
  @ValidateNested()
  @Type(() => LeftTwin)
  left: LeftTwin;

  @ValidateNested()
  @Type(() => RightTwin)
  right: RightTwin;
}

export const entries: readonly CorpusEntry[] = [
  whole(TwinsDto, {
    accepts: [{ mine: { name: 'a', twins: [{ name: 'b' }] }, theirs: { count: 1, limit: 2 } }],
    refuses: [{ mine: { count: 1 }, theirs: { name: 'a' } }],
  }),
  whole(AuthorDto, {
    accepts: [{ name: 'a', books: [{ title: 'b', authors: [{ name: 'c', books: [] }] }] }],
    refuses: [{ name: 'a', books: [{ title: 'b', authors: [{ name: 'c' }] }] }],
  }),
  whole(RecursiveTwinsDto, {
    accepts: [{ left: { left: 'a', next: { left: 'b' } }, right: { right: 'a', next: { right: 'b' } } }],
    refuses: [{ left: { left: 'a', next: { right: 'b' } }, right: { right: 'a' } }],
  }),
];

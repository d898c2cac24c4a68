import { Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import { whole, type CorpusEntry } from './entry.js';

export class NothingDto {}

export class UndecoratedDto {
  name: string;
}

export class PartlyDecoratedDto {
  @IsString()
  a: string;

  b?: string;
}

class InnerDto {
  @IsOptional()
  @IsString()
  name?: string;
}

/** Only the nested member is decorated. */
export class NestedOnlyDto {
  @ValidateNested()
  @Type(() => InnerDto)
  inner: InnerDto;

  other?: string;
}

export const entries: readonly CorpusEntry[] = [
  whole(NothingDto, { accepts: [{}], refuses: [{ a: 1 }] }),
  whole(UndecoratedDto, { accepts: [{}], refuses: [{ name: 'a' }] }),
  whole(PartlyDecoratedDto, { accepts: [{ a: 'a' }], refuses: [{ a: 'a', b: 'b' }] }),
  whole(NestedOnlyDto, {
    accepts: [{ inner: { name: 'a' } }, { inner: {} }],
    refuses: [{ inner: { name: 1 } }],
  }),
];

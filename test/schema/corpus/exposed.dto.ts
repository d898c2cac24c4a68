import { Exclude, Expose, Type } from 'class-transformer';
import { Allow, IsBoolean, IsInt, IsOptional, IsString, MinLength, ValidateNested } from 'class-validator';
import { whole, type CorpusEntry } from './entry.js';

export class NamedDto {
  @Expose({ name: 'first_name' })
  @IsString()
  firstName: string;

  @Expose()
  @IsOptional()
  @IsInt()
  age?: number;
}

export class ExcludedDto {
  @IsString()
  name: string;

  @Exclude()
  @IsOptional()
  @IsString()
  secret?: string;
}

export class ExcludedOneWayDto {
  @IsString()
  name: string;

  @Exclude({ toPlainOnly: true })
  @IsString()
  password: string;

  @Exclude({ toClassOnly: true })
  @IsOptional()
  @IsInt()
  id?: number;
}

export class ExposedOneWayDto {
  @Expose({ name: 'in_name', toClassOnly: true })
  @IsString()
  name: string;

  @Expose({ name: 'out_count', toPlainOnly: true })
  @IsOptional()
  @IsInt()
  count?: number;
}

@Exclude()
export class ExcludedClassDto {
  @Expose()
  @IsString()
  shown: string;

  @IsOptional()
  @IsString()
  hidden?: string;
}

@Expose()
export class ExposedClassDto {
  @IsString()
  name: string;

  @IsOptional()
  @IsInt()
  count?: number;
}

export class ExposedOnlyDto {
  @Expose()
  name: string;

  @Expose({ name: 'item_count' })
  count: number;
}

export class ExposedDefaultDto {
  @Expose()
  @IsInt()
  limit: number = 20;
}

class InnerDto {
  @Expose({ name: 'inner_value' })
  @IsInt()
  value: number;
}

export class NamedNestedDto {
  @Expose({ name: 'the_inner' })
  @ValidateNested()
  @Type(() => InnerDto)
  inner: InnerDto;
}

export class GroupedDto {
  @IsString({ groups: ['create'] })
  @MinLength(3, { groups: ['update'] })
  name: string;

  @IsInt({ always: true })
  id: number;

  @IsBoolean()
  active: boolean;
}

export class ExposedGroupsDto {
  @IsString()
  name: string;

  @Expose({ groups: ['admin'] })
  @IsOptional()
  @IsString()
  role?: string;
}

export class ExposedSinceDto {
  @IsString()
  name: string;

  @Expose({ since: 2 })
  @IsOptional()
  @IsString()
  nick?: string;

  @Expose({ until: 2 })
  @IsOptional()
  @IsString()
  alias?: string;
}

/** One property takes the name that another one has. */
export class SwappedNamesDto {
  @Expose({ name: 'b' })
  @IsString()
  a: string;

  @Expose({ name: 'a' })
  @IsInt()
  b: number;
}

export class OddNamesDto {
  @IsString()
  'content-type': string;

  @IsOptional()
  @IsInt()
  'größe'?: number;

  @IsOptional()
  @IsInt()
  'a/b~c'?: number;

  @Allow()
  toString2?: string;
}

const defaults = { exposeDefaultValues: true };

export const entries: readonly CorpusEntry[] = [
  whole(NamedDto, {
    accepts: [{ first_name: 'Ann', age: 1 }, { first_name: 'a' }],
    refuses: [{ firstName: 'Ann' }],
  }),
  whole(ExcludedDto, { accepts: [{ name: 'a' }], refuses: [{ name: 1 }, { name: 'a', secret: 'b' }] }),
  whole(ExcludedOneWayDto, {
    accepts: [{ name: 'a', password: 'b' }],
    refuses: [{ name: 'a' }, { name: 'a', password: 'b', id: 1 }],
  }),
  whole(ExposedOneWayDto, {
    accepts: [{ in_name: 'a', count: 1 }],
    refuses: [{ name: 'a' }, { in_name: 'a', out_count: 1 }],
  }),
  whole(ExcludedClassDto, { accepts: [{ shown: 'a' }], refuses: [{}, { shown: 'a', hidden: 'b' }] }),
  whole(ExposedClassDto, { accepts: [{ name: 'a', count: 1 }], refuses: [{ count: 1 }, { name: 1 }] }),
  whole(ExposedOnlyDto, { accepts: [{ name: 'a', item_count: 1 }, {}], refuses: [{ count: 1 }] }),
  whole(ExposedDefaultDto, { accepts: [{ limit: 1 }, {}], refuses: [{ limit: 'a' }], assuming: defaults }),
  whole(NamedNestedDto, {
    accepts: [{ the_inner: { inner_value: 1 } }],
    refuses: [
      { the_inner: { value: 1 } },
      { inner: { inner_value: 1 } },
      { the_inner: { inner_value: 'a' } },
    ],
  }),
  whole(GroupedDto, {
    accepts: [{ name: 'abc', id: 1, active: true }],
    refuses: [{ name: 'ab', id: 1, active: true }, { name: 'abc', id: '1', active: true }, { name: 'abc' }],
  }),
  whole(ExposedGroupsDto, {
    accepts: [{ name: 'a' }],
    refuses: [{ name: 1 }],
    edges: [{ name: 'a', role: 'b' }],
  }),
  whole(ExposedSinceDto, {
    accepts: [{ name: 'a' }],
    refuses: [{ name: 1 }],
    edges: [
      { name: 'a', nick: 'b' },
      { name: 'a', nick: 1 },
      { name: 'a', alias: 'b' },
      { name: 'a', alias: 1 },
    ],
  }),
  whole(SwappedNamesDto, { accepts: [{ a: 1, b: 'text' }], refuses: [{ a: 'text', b: 1 }] }),
  whole(OddNamesDto, {
    accepts: [{ 'content-type': 'a', größe: 1, 'a/b~c': 1 }, { 'content-type': 'a' }],
    refuses: [{ 'content-type': 'a', 'a/b~c': 'x' }, {}],
  }),
];

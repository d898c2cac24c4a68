import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/mapped-types';
import { Expose, Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, MaxLength, Min, ValidateNested } from 'class-validator';
import { McpProperty } from 'nest-mcp';
import { whole, type CorpusEntry } from './entry.js';

class AddressDto {
  @IsString()
  city: string;
}

class UserDto {
  @McpProperty({ description: 'How the user is called', examples: ['Ann'] })
  @IsString()
  @MaxLength(10)
  name: string;

  @IsEmail()
  email: string;

  @McpProperty({ description: 'Age in years' })
  @IsInt()
  @Min(0)
  age: number;

  @ValidateNested()
  @Type(() => AddressDto)
  address: AddressDto;

  @Expose({ name: 'nick_name' })
  @IsOptional()
  @IsString()
  nickName?: string;
}

class AuditDto {
  @McpProperty({ title: 'Reason', description: 'Why this is done' })
  @IsString()
  reason: string;
}

class DefaultsDto {
  @IsInt()
  limit: number = 10;
}

export class PartialUserDto extends PartialType(UserDto) {}

export class PickedUserDto extends PickType(UserDto, ['name', 'address'] as const) {}

export class OmittedUserDto extends OmitType(UserDto, ['address', 'nickName'] as const) {}

export class AuditedUserDto extends IntersectionType(PickType(UserDto, ['age'] as const), AuditDto) {}

export class PartialPickedDto extends PartialType(PickType(UserDto, ['name', 'age'] as const)) {
  @IsInt()
  id: number;
}

export class OverriddenPartialDto extends PartialType(OmitType(UserDto, ['address'] as const)) {
  @IsString()
  @MaxLength(3)
  declare name: string;
}

export class PartialWithoutNullDto extends PartialType(PickType(UserDto, ['name', 'age'] as const), {
  skipNullProperties: false,
}) {}

export class PartialDefaultsDto extends PartialType(DefaultsDto) {}

export class DeepMappedDto {
  @ValidateNested()
  @Type(() => PartialUserDto)
  changes: PartialUserDto;

  @ValidateNested({ each: true })
  @Type(() => PickedUserDto)
  users: PickedUserDto[];
}

const address = { city: 'Bern' };
const user = { name: 'Ann', email: 'ann@example.com', age: 3, address, nick_name: 'a' };

export const entries: readonly CorpusEntry[] = [
  whole(PartialUserDto, { accepts: [user, {}, { age: 1 }], refuses: [{ age: -1 }, { address: {} }] }),
  whole(PickedUserDto, { accepts: [{ name: 'Ann', address }], refuses: [{ name: 'Ann' }, user] }),
  whole(OmittedUserDto, {
    accepts: [{ name: 'Ann', email: 'ann@example.com', age: 3 }],
    refuses: [
      { name: 'Ann', age: 3 },
      { name: 'Ann', email: 'ann@example.com', age: 3, address },
    ],
  }),
  whole(AuditedUserDto, { accepts: [{ age: 1, reason: 'a' }], refuses: [{ age: 1 }, { reason: 'a' }] }),
  whole(PartialPickedDto, {
    accepts: [{ id: 1, name: 'Ann', age: 1 }, { id: 1 }],
    refuses: [{ name: 'Ann' }],
  }),
  whole(OverriddenPartialDto, {
    accepts: [{ name: 'Ann', email: 'ann@example.com', age: 3 }],
    refuses: [{ name: 'Anna' }],
    edges: [{}],
  }),
  whole(PartialWithoutNullDto, {
    accepts: [{ name: 'Ann', age: 1 }, {}],
    refuses: [{ name: 1 }, { age: null }],
  }),
  whole(PartialDefaultsDto, { accepts: [{ limit: 1 }, {}], refuses: [{ limit: 'a' }] }),
  whole(DeepMappedDto, {
    accepts: [{ changes: { age: 1 }, users: [{ name: 'Ann', address }] }],
    refuses: [
      { changes: { age: -1 }, users: [] },
      { changes: {}, users: [{ name: 'Ann' }] },
    ],
  }),
];

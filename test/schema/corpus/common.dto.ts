import {
  Allow,
  Equals,
  IsBoolean,
  IsDefined,
  IsEmpty,
  IsIn,
  IsInstance,
  IsInt,
  IsNotEmpty,
  IsNotIn,
  IsObject,
  IsString,
  NotEquals,
  ValidateBy,
  ValidatePromise,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

export class BooleanDto {
  @IsBoolean()
  flag: boolean;
}

export class AllowedDto {
  @Allow()
  anything: unknown;
}

export class AllowedTextDto {
  @Allow()
  note: string;
}

export class DefinedDto {
  @IsDefined()
  anything: unknown;
}

export class DefinedNumberDto {
  @IsDefined()
  @IsInt()
  count: number;
}

export class NotEmptyDto {
  @IsNotEmpty()
  anything: unknown;
}

export class NotEmptyFlagDto {
  @IsNotEmpty()
  @IsBoolean()
  flag: boolean;
}

export class EmptyDto {
  @IsEmpty()
  nothing: unknown;
}

export class EqualsTextDto {
  @Equals('circle')
  kind: string;
}

export class EqualsZeroDto {
  @Equals(0)
  radius: number;
}

export class EqualsTrueDto {
  @Equals(true)
  accepted: boolean;
}

export class EqualsNullDto {
  @Equals(null)
  nothing: null;
}

export class EqualsObjectDto {
  @Equals({ a: 1 })
  value: object;
}

export class NotEqualsDto {
  @NotEquals('root')
  user: string;
}

export class NotEqualsTextDto {
  @IsString()
  @NotEquals('root')
  user: string;
}

export class NotEqualsNullDto {
  @NotEquals(null)
  value: unknown;
}

export class InTextsDto {
  @IsIn(['open', 'closed'])
  status: string;
}

export class InNumbersDto {
  @IsIn([1, 2, 3.5])
  level: number;
}

export class InMixedDto {
  @IsIn(['auto', 1, true])
  mode: string | number | boolean;
}

export class InWithNullDto {
  @IsIn(['open', null])
  status: string | null;
}

export class InFlagsDto {
  @IsIn([true])
  yes: boolean;
}

export class InWithUndefinedDto {
  @IsIn(['a', undefined])
  letter?: string;
}

export class InObjectsDto {
  @IsIn([{ a: 1 }, 'a'])
  value: unknown;
}

export class InTwiceDto {
  @IsIn(['a', 'b', 'c'])
  @IsIn(['b', 'c', 'd'])
  letter: string;
}

export class NotInDto {
  @IsNotIn(['admin', 'root'])
  user: string;
}

export class NotInNumbersDto {
  @IsInt()
  @IsNotIn([13, 17])
  seat: number;
}

export class InstanceDto {
  @IsInstance(Map)
  map: unknown;
}

export class PromiseDto {
  @ValidatePromise()
  @IsString()
  later: string;
}

export class ValidateByDto {
  @ValidateBy({ name: 'isLucky', validator: { validate: (value) => value === 7 } })
  lucky: number;
}

export class AnyObjectDto {
  @IsObject()
  meta: object;
}

/** Rules of nearly every kind side by side. */
export class SearchDto {
  @IsString()
  @IsNotEmpty()
  query: string;

  @IsIn(['asc', 'desc'])
  order: string;

  @IsBoolean()
  archived: boolean;

  @Allow()
  trace?: string;
}

export const entries: readonly CorpusEntry[] = [
  property(BooleanDto, 'flag', [true, false], ['true', 'false', 0, '']),
  property(AllowedDto, 'anything', [1, null, {}, undefined], []),
  property(AllowedTextDto, 'note', ['text', undefined], []),
  property(DefinedDto, 'anything', [0, '', {}, []], [null, undefined]),
  property(DefinedNumberDto, 'count', [1], [null, undefined, 'x']),
  property(NotEmptyDto, 'anything', [0, false, {}, []], ['', null, undefined]),
  property(NotEmptyFlagDto, 'flag', [false], ['', null]),
  property(EmptyDto, 'nothing', [undefined, '', null], ['text', 0, []]),
  property(EqualsTextDto, 'kind', ['circle'], ['square', undefined, null]),
  property(EqualsZeroDto, 'radius', [0, -0], ['0', 1, null]),
  property(EqualsTrueDto, 'accepted', [true], [false, 'true']),
  property(EqualsNullDto, 'nothing', [null], [0, undefined]),
  property(EqualsObjectDto, 'value', [], [{ b: 1 }, { a: 1 }, undefined]),
  property(NotEqualsDto, 'user', ['ann', undefined], ['root']),
  property(NotEqualsTextDto, 'user', ['ann'], ['root', 1, undefined]),
  property(NotEqualsNullDto, 'value', ['a', 0, undefined], [null]),
  property(InTextsDto, 'status', ['open'], ['Open', undefined, null]),
  property(InNumbersDto, 'level', [1, 3.5], ['1', 4]),
  property(InMixedDto, 'mode', ['auto', 1, true], ['1', false]),
  property(InWithNullDto, 'status', ['open', null], ['closed', undefined]),
  property(InFlagsDto, 'yes', [true], [false]),
  property(InWithUndefinedDto, 'letter', ['a'], ['b']),
  property(InObjectsDto, 'value', ['a'], [{ b: 1 }, { a: 1 }]),
  property(InTwiceDto, 'letter', ['b', 'c'], ['a', 'd']),
  property(NotInDto, 'user', ['ann', undefined], ['admin']),
  property(NotInNumbersDto, 'seat', [12], [13, undefined]),
  property(InstanceDto, 'map', [], ['text', {}]),
  property(PromiseDto, 'later', ['text'], [1]),
  property(ValidateByDto, 'lucky', [7], [8, '7']),
  property(AnyObjectDto, 'meta', [{}, { a: [1] }], ['{}', [], null]),
  whole(SearchDto, {
    accepts: [
      { query: 'a', order: 'asc', archived: false, trace: 't' },
      { query: 'a', order: 'desc', archived: true },
    ],
    refuses: [{ query: '', order: 'asc', archived: false }, { query: 'a', order: 'up', archived: false }, {}],
  }),
];

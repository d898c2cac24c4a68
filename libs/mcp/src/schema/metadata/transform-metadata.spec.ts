import 'reflect-metadata';
import { Exclude, Expose, instanceToPlain, plainToInstance, Transform, Type } from 'class-transformer';
import * as v from 'class-validator';
import { dtoSchemaPlan, jsonSchemaOf } from '../dto/dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';

const names = (dto: Class, direction: 'input' | 'output') =>
  Object.keys((dtoSchemaPlan(dto, { direction }).schema.properties ?? {}) as object).toSorted();

class AccountDto {
  @v.IsOptional() @v.IsString() @Expose({ name: 'first_name' }) firstName?: string;
  @v.IsOptional() @v.IsString() @Expose({ name: 'in_name', toClassOnly: true }) taken?: string;
  @v.IsOptional() @v.IsString() @Expose({ name: 'out_name', toPlainOnly: true }) given?: string;
  @v.IsOptional() @v.IsString() @Exclude() hidden?: string;
  @v.IsOptional() @v.IsString() @Exclude({ toPlainOnly: true }) password?: string;
  @v.IsOptional() @v.IsString() @Exclude({ toClassOnly: true }) id?: string;
  @v.IsOptional() @v.IsString() @Expose({ groups: ['admin'] }) note?: string;
  @v.IsOptional() @v.IsString() @Expose({ since: 2 }) later?: string;
  @v.IsOptional() @v.IsString() plain?: string;
}

@Exclude()
class StrictDto {
  @v.IsOptional() @v.IsString() @Expose() shown?: string;
  @v.IsOptional() @v.IsString() unseen?: string;
  @v.IsOptional() @v.IsString() @Expose({ toPlainOnly: true }) out?: string;
}

@Expose()
class OpenDto {
  @v.IsOptional() @v.IsString() shown?: string;
  @v.IsOptional() @v.IsString() @Exclude() unseen?: string;
}

class PersonDto {
  #secret = 1;
  static readonly kinds = ['a'];
  @v.IsString() first: string;
  @v.IsString() @Expose() get whole(): string {
    return `${this.first}${this.#secret}`;
  }
  @v.IsOptional() @v.IsInt() get size(): number {
    return this.first.length;
  }
  @v.IsOptional() @v.IsInt() set age(value: number) {
    this.years = value;
  }
  @v.Allow() greet(): string {
    return this.first;
  }
  @v.IsOptional() @v.Allow() call = () => this.first;
  @v.IsOptional() @v.IsInt() protected years?: number;
}

describe('the properties that are published', () => {
  it('are those that come in, by the names they come in with', () => {
    expect(names(AccountDto, 'input')).toEqual([
      'first_name',
      'given',
      'in_name',
      'later',
      'password',
      'plain',
    ]);
    expect(names(StrictDto, 'input')).toEqual(['shown']);
    expect(names(OpenDto, 'input')).toEqual(['shown']);
  });

  it('are those that go out, by the names they go out with', () => {
    expect(names(AccountDto, 'output')).toEqual([
      'first_name',
      'id',
      'in_name',
      'later',
      'out_name',
      'plain',
    ]);
    expect(names(StrictDto, 'output')).toEqual(['out', 'shown']);
    expect(names(OpenDto, 'output')).toEqual(['shown']);
  });

  it.each([AccountDto, StrictDto, OpenDto])(
    'are what class-transformer itself reads and writes: %p',
    (dto) => {
      const given = Object.fromEntries(names(dto, 'input').map((name) => [name, name]));
      const instance = plainToInstance(dto as new () => object, given, { exposeDefaultValues: true });
      const filled = Object.values(instance as Record<string, string | undefined>).filter(
        (value) => value !== undefined,
      );
      expect(filled.map(String).toSorted()).toEqual(names(dto, 'input'));
      const own = ['firstName', 'taken', 'given', 'hidden', 'password', 'id', 'note', 'later', 'plain'];
      const members = [...own, 'shown', 'unseen', 'out'].map((name) => [name, 1] as const);
      const all = Object.assign(new (dto as new () => object)(), Object.fromEntries(members));
      const known = names(dto, 'output');
      expect(
        Object.keys(instanceToPlain(all))
          .filter((name) => known.includes(name))
          .toSorted(),
      ).toEqual(known);
    },
  );

  it('leave out what a class computes itself, coming in', () => {
    expect(names(PersonDto, 'input')).toEqual(['age', 'first', 'years']);
    expect(jsonSchemaOf(PersonDto).required).toEqual(['first']);
  });

  it('have what a class computes, going out, and ask only for what is exposed', () => {
    const { properties, required } = dtoSchemaPlan(PersonDto, { direction: 'output' }).schema;
    expect(Object.keys(properties as object).toSorted()).toEqual(['age', 'first', 'size', 'whole', 'years']);
    expect(required).toEqual(['first', 'whole']);
  });

  it('say no more and no less under @Transform', () => {
    class TrimDto {
      @Transform(({ value }) => String(value).trim()) @v.IsString() @v.MaxLength(5) text: string;
      @Transform(({ value }) => JSON.parse(String(value)) as unknown) @v.ValidateNested() parsed: object;
    }
    expect(jsonSchemaOf(TrimDto).properties).toEqual({
      text: { type: 'string', maxLength: 5 },
      parsed: { not: { enum: [null] } },
    });
  });

  it('are text for bytes and large integers that go out', () => {
    class FileDto {
      @Expose() data: Buffer;
      @Expose() @Type(() => BigInt as unknown as Class) size: bigint;
    }
    const { properties } = dtoSchemaPlan(FileDto, { direction: 'output' }).schema;
    const textOrNull = { anyOf: [{ type: 'string' }, { type: 'null' }] };
    expect(properties).toEqual({ data: textOrNull, size: textOrNull });
    class UploadDto {
      @Type(() => Buffer) data: Buffer;
      @v.Allow() other: Buffer;
    }
    expect(jsonSchemaOf(UploadDto).properties as Record<string, JsonSchema>).toEqual({
      data: { type: 'string' },
      other: {},
    });
  });
});

describe('the groups of a view', () => {
  class GroupedDto {
    @v.IsString({ groups: ['create'] }) title: string;
    @v.IsInt({ groups: ['update'] }) id: number;
    @v.IsBoolean() flag: boolean;
    @v.IsString({ always: true }) always: string;
  }
  const required = (view: Parameters<typeof dtoSchemaPlan>[1]) =>
    dtoSchemaPlan(GroupedDto, view).schema.required;

  it('choose the rules just as class-validator chooses them', () => {
    expect(required({})).toEqual(['title', 'id', 'flag', 'always']);
    expect(required({ groups: ['create'] })).toEqual(['title', 'always']);
    expect(required({ groups: ['create'], always: true })).toEqual(['title', 'flag', 'always']);
    expect(required({ strictGroups: true })).toEqual(['flag', 'always']);
  });

  it('are part of what a schema is kept by', () => {
    expect(dtoSchemaPlan(GroupedDto, { groups: ['a', 'b'] })).toBe(
      dtoSchemaPlan(GroupedDto, { groups: ['b', 'a'] }),
    );
    expect(dtoSchemaPlan(GroupedDto, { groups: ['a'] })).not.toBe(dtoSchemaPlan(GroupedDto));
    expect(dtoSchemaPlan(GroupedDto, { direction: 'input' }).schema).toBe(jsonSchemaOf(GroupedDto));
  });
});

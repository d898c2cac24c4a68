import 'reflect-metadata';
import * as v from 'class-validator';
import { dtoContract } from '../dto/dto.contract.js';
import type { Class } from '../json-schema.js';

type Raw = Record<string, unknown>;

class PlainDto {}

const parsed = (text: string) => JSON.parse(text) as Raw;

async function check(dto: Class, raw: Raw): Promise<unknown> {
  const issues = await dtoContract(dto).checkRaw(raw);
  return issues.length > 0 ? issues : await dtoContract(dto).instantiate(raw);
}

describe('hostile arguments', () => {
  class OpenDto {
    @v.IsOptional() @v.IsNotEmptyObject() meta?: object;
    @v.IsOptional() @v.IsArray() list?: unknown[];
  }

  it.each([
    ['{"__proto__":{"polluted":1}}', '__proto__: is not an allowed member name'],
    ['{"constructor":{"prototype":{"polluted":1}}}', 'constructor: is not an allowed member name'],
    ['{"prototype":1}', 'prototype: is not a known member (known: meta, list)'],
    ['{"meta":{"a":[{"__proto__":{"polluted":1}}]}}', 'meta.a[0].__proto__: is not an allowed member name'],
    ['{"meta":{"constructor":5}}', 'meta.constructor: is not an allowed member name'],
    ['{"meta":{"hasOwnProperty":5}}', 'meta.hasOwnProperty: is not an allowed member name'],
    ['{"toString":1,"meta":{"then":1,"toString":2}}', 'toString: is not an allowed member name'],
  ])('refuses %s by name and pollutes nothing', async (text, issue) => {
    expect(await check(OpenDto, parsed(text))).toEqual([issue]);
    expect((await check(PlainDto, parsed(text))) as string[]).toHaveLength(1);
    expect(({} as Raw).polluted).toBeUndefined();
  });

  it('takes free-form data whose names only look odd', async () => {
    const raw = parsed('{"meta":{"then":1,"length":3,"prototype":{},"":null}}');
    expect(await check(OpenDto, raw)).toEqual({ value: raw });
  });

  it('refuses nesting that would exhaust the stack', async () => {
    let list: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) list = [list];
    const issues = (await check(OpenDto, { list: [list] })) as string[];
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(/^list(\[0\])+: is nested deeper than 64 levels$/);
  });

  it('stays short and quick on a long list of wrong entries', async () => {
    class NumbersDto {
      @v.IsInt({ each: true }) @v.ArrayMaxSize(5) numbers: number[];
    }
    await check(NumbersDto, { numbers: [1] });
    const started = performance.now();
    expect(await check(NumbersDto, { numbers: Array(100_000).fill('x') })).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(500);
    const some = (await check(NumbersDto, { numbers: Array(100).fill('x') })) as string[];
    expect(some).toHaveLength(21);
    expect(some[20]).toBe('… and 81 more');
  });
});

import v8 from 'node:v8';
import vm from 'node:vm';
import { assertValidSchema, compileProblem, compileSchema } from './schema-compiler.js';

describe('compileSchema', () => {
  it('finds all errors of a small value, and the first of a large one', async () => {
    const check = await compileSchema({ type: 'array', items: { type: 'string' } });
    expect(check(['a'])).toBeNull();
    expect(check([1, 2, 3])).toHaveLength(3);
    expect(check(Array(5_000).fill(1))).toHaveLength(1);
    expect(check(Array(500_000).fill(1))).toHaveLength(1);
    expect(check(Array(1_999).fill(1))).toHaveLength(1_999);
    expect(check(Array(2_000).fill(1))).toHaveLength(1);
  });

  it('tells multiples exactly, of integers as of fractions', async () => {
    const takes = async (value: number, multipleOf: number) =>
      (await compileSchema({ multipleOf }))(value) === null;
    expect(await takes(19.99, 0.01)).toBe(true);
    expect(await takes(19.995, 0.01)).toBe(false);
    expect(await takes(9_007_199_254_740_991, 2)).toBe(false);
    expect(await takes(86_400_000_001, 86_400_000)).toBe(false);
    expect(await takes(172_800_000, 86_400_000)).toBe(true);
    expect(await takes(5.000000000000001, 5)).toBe(false);
  });

  it.each([
    [
      'anyOf',
      {
        anyOf: [
          { const: 'a', title: 'A' },
          { const: 'b', type: 'string' },
        ],
      },
      ['a', 'b'],
      ['c', 5, null],
    ],
    ['oneOf', { oneOf: [{ const: 'a' }, { const: 1 }, { const: null }] }, ['a', 1, 1.0, null], ['1', true]],
    ['enum', { enum: ['a', 1, null, true] }, ['a', 1, null, true], ['b', false, '1', undefined]],
    // Not choices alone, which is judged one by one.
    ['oneOf twice', { oneOf: [{ const: 'a' }, { const: 'a' }, { const: 'b' }] }, ['b'], ['a', 'c']],
    ['more than a value', { anyOf: [{ const: 'a', minLength: 2 }, { const: 'b' }] }, ['b'], ['a']],
    ['another type', { anyOf: [{ const: 'a', type: 'number' }, { const: 'b' }] }, ['b'], ['a']],
    ['objects', { enum: [{ a: 1 }, 'b'] }, [{ a: 1 }, 'b'], [{ a: 2 }, 'a']],
    ['none', { anyOf: [false, { const: 'a' }] }, ['a'], ['b']],
  ])('finds a value among choices: %s', async (_, schema, good, bad) => {
    const check = await compileSchema(schema);
    expect(good.map((value) => check(value))).toEqual(good.map(() => null));
    expect(bad.filter((value) => check(value) === null)).toEqual([]);
  });

  it('asserts no format and does not follow what it can not find', async () => {
    expect((await compileSchema({ format: 'email' }))('x')).toBeNull();
    await expect(compileSchema({ $ref: 'https://example.com' })).rejects.toThrow(/can't resolve reference/);
  });

  it('keeps nothing of schemas that nobody holds any more', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    const held = await compileSchema({ type: 'string' });
    const schemas: WeakRef<object>[] = [];
    for (let number = 0; number < 600; number++) {
      const schema = { enum: [`${number}`] };
      schemas.push(new WeakRef(schema));
      expect((await compileSchema(schema))(`${number}`)).toBeNull();
    }
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(schemas.filter((schema) => schema.deref()).length).toBeLessThanOrEqual(400);
    expect(held(5)).toHaveLength(1);
  });

  it('keeps apart two schemas with the same identifiers', async () => {
    const schema = (type: string) => ({
      $id: 'urn:x:a',
      items: { $ref: 'urn:x:b' },
      $defs: { b: { $id: 'urn:x:b', type } },
    });
    const [text, number] = await Promise.all([
      compileSchema(schema('string')),
      compileSchema(schema('number')),
    ]);
    expect([text(['a']), text([1])?.length, number([1]), number(['a'])?.length]).toEqual([null, 1, null, 1]);
  });

  it('gives up a check that grows beyond what the value holds, and is well again afterwards', async () => {
    const node = { $ref: '#/$defs/node' };
    const list = { type: 'array', items: node };
    const schema = {
      ...node,
      $defs: { node: { anyOf: [list, { ...list, maxItems: 9 }, { type: 'null' }] } },
    };
    const check = await compileSchema(schema);
    const nested = (depth: number, leaf: unknown): unknown =>
      depth === 0 ? leaf : [nested(depth - 1, leaf)];
    expect(check(nested(60, null))).toBeNull();
    expect(check(nested(60, 1))).toEqual([expect.objectContaining({ keyword: 'budget' })]);
    expect(check(nested(3, 1))).not.toBeNull();
    expect(check(nested(3, null))).toBeNull();
    const wide = Array.from({ length: 40_000 }, () => [null]);
    expect(check(wide)).toBeNull();
  });
});

describe('assertValidSchema', () => {
  const describe_ = (problem: string) => new Error(problem);

  it('takes sound fragments, also with references that only the whole schema has', async () => {
    await expect(
      assertValidSchema({ $ref: '#/$defs/elsewhere', minLength: 1 }, describe_),
    ).resolves.toBeUndefined();
  });

  it.each([
    [{ minLength: -1 }, '/minLength must be >= 0'],
    [
      { type: 'text' },
      '/type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
    ],
    [{ properties: { a: 5 } }, '/properties/a must be object,boolean'],
    [{ required: 'a' }, '/required must be array'],
  ])('says what is wrong with %j', async (schema, problem) => {
    await expect(assertValidSchema(schema, describe_)).rejects.toThrow(new Error(problem));
  });
});

it('tells a compiler problem without line breaks and within bounds', () => {
  expect(compileProblem(new Error(`a\n${'x'.repeat(500)}`))).toMatch(/^a\\u000ax+…$/);
});

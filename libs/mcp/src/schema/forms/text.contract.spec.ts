import 'reflect-metadata';
import * as v from 'class-validator';
import type { ArgumentsContract } from '../arguments.contract.js';
import { argumentsContract, emptyContract } from '../contract.factory.js';
import { textContract } from './text.contract.js';

class ReviewDto {
  @v.IsInt() @v.Min(1) depth: number;
  @v.IsOptional() @v.IsBoolean() strict?: boolean;
  @v.IsOptional() @v.IsInt({ each: true }) lines?: number[];
}

async function pass(contract: ArgumentsContract, sent: Record<string, unknown>): Promise<unknown> {
  const raw = contract.withoutUnknown!(sent);
  const issues = await contract.checkRaw(raw);
  return issues.length > 0 ? issues : await contract.instantiate(raw);
}

describe('textContract', () => {
  it('makes values of texts before they are checked', async () => {
    const contract = textContract(await argumentsContract(ReviewDto));
    const sent = Object.freeze({ depth: '2', strict: 'true', lines: Object.freeze(['1', '5']) });
    const { value } = (await pass(contract, sent)) as { value: ReviewDto };
    expect(value).toBeInstanceOf(ReviewDto);
    expect(value).toEqual({ depth: 2, strict: true, lines: [1, 5] });
    expect(sent.depth).toBe('2');
    expect(await pass(contract, { depth: 'two', more: '1' })).toEqual([
      expect.stringMatching(/^more: /),
      'depth: must be an integer',
    ]);
    expect(contract.schema).toBe((await argumentsContract(ReviewDto)).schema);
    expect(contract.dto).toBe(ReviewDto);
    expect(contract.prepare()).toBeUndefined();
  });

  it('drops what is unknown where its contract does', async () => {
    const contract = textContract(await argumentsContract(ReviewDto, { unknownMembers: 'drop' }));
    expect(await pass(contract, { depth: '2', more: '1' })).toEqual({ value: { depth: 2 } });
  });

  it('gives a raw schema its values, and pollutes nothing', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const contract = textContract(await argumentsContract(schema));
    await contract.prepare();
    expect(contract).not.toHaveProperty('dto');
    expect(await pass(contract, { a: '1', b: '2' })).toEqual({ value: { a: 1, b: '2' } });
    const sent = JSON.parse('{"__proto__":"x"}') as Record<string, unknown>;
    expect(Object.entries(contract.withoutUnknown!(sent))).toEqual([['__proto__', 'x']]);
    expect(await pass(contract, sent)).toEqual([expect.stringContaining('__proto__')]);
    expect(await pass(textContract(emptyContract), { a: '1' })).toEqual([expect.stringMatching(/^a: /)]);
  });
});

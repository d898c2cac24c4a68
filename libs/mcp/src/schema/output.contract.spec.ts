import 'reflect-metadata';
import { type } from 'arktype';
import { IsInt, IsString } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import { outputContract } from './output.contract.js';
import type { McpSchema } from './schema-kind.js';

class TicketDto {
  @IsInt() id: number;
  @IsString() title: string;
}

/** What is sent of a value that a handler returned. */
async function send(schema: McpSchema, value: unknown): Promise<unknown> {
  const contract = await outputContract(schema);
  await contract.prepare();
  const parsed = (await contract.parse?.(value)) ?? { value };
  return 'issues' in parsed ? parsed : await contract.check(parsed.value);
}

describe('the output contract', () => {
  it('of a DTO removes what the DTO does not show, and names what is wrong', async () => {
    expect(await send(TicketDto, { id: 1, title: 'a', secret: 's' })).toEqual({
      json: { id: 1, title: 'a' },
    });
    expect(await send(TicketDto, { id: 'x' })).toEqual({
      issues: ['title: is required', 'id: must be an integer'],
    });
    expect(await send(TicketDto, null)).toEqual({ issues: ['result: must be an object'] });
    expect(await outputContract(TicketDto)).not.toHaveProperty('parse');
  });

  it.each<[string, McpSchema]>([
    ['zod', z.object({ id: z.int(), title: z.string().default('none') })],
    ['valibot', v.object({ id: v.pipe(v.number(), v.integer()), title: v.optional(v.string(), 'none') })],
    ['arktype', type({ id: 'number.integer', title: "string='none'", '+': 'delete' })],
  ])('of %s parses first', async (_, schema) => {
    expect(await send(schema, { id: 1, secret: 's' })).toEqual({ json: { id: 1, title: 'none' } });
    expect(await send(schema, { id: 'x' })).toEqual({ issues: [expect.stringMatching(/^id: /)] });
    const { schema: published } = await outputContract(schema);
    expect(published).toMatchObject({ type: 'object', properties: { id: { type: 'integer' } } });
    expect(Object.isFrozen(published)).toBe(true);
  });

  it('is that of the output, not of the input', async () => {
    const schema = z.object({ n: z.string().transform(Number).pipe(z.number()) });
    expect(await send(schema, { n: '5' })).toEqual({ json: { n: 5 } });
  });

  it('of a raw schema is as it stands, of any type', async () => {
    const list = {
      type: 'array',
      items: { type: 'object', properties: { a: {} }, additionalProperties: false },
    };
    expect((await outputContract(list)).schema).toEqual(list);
    expect(await send(list, [{ a: 1, b: 2 }])).toEqual({ json: [{ a: 1 }] });
    expect(await send({ type: 'object', properties: { a: {} } }, { b: 2 })).toEqual({ json: { b: 2 } });
    expect(await send({ type: 'integer' }, 'x')).toEqual({ issues: ['result: must be an integer'] });
    expect(await send(z.array(z.string()), ['a'])).toEqual({ json: ['a'] });
  });

  it('sends what the schema takes as it is, also where one of its alternatives would drop members', async () => {
    const bounded = z.union([z.object({ n: z.string().min(5) }), z.object({ n: z.string(), b: z.number() })]);
    expect(await send(bounded, { n: 'abc', b: 1 })).toEqual({ json: { n: 'abc', b: 1 } });
    const scores = z.union([z.object({ error: z.string() }).partial(), z.record(z.string(), z.number())]);
    const contract = await outputContract(scores);
    expect(await contract.check({ x: 1, y: 2 })).toEqual({ json: { x: 1, y: 2 } });
    const raw = { oneOf: [{ type: 'object', additionalProperties: false }, {}] };
    expect(await send(raw, { a: 1 })).toEqual({ json: { a: 1 } });
    const unevaluated = {
      anyOf: [{ type: 'object', additionalProperties: false }, { $ref: '#/$defs/a' }],
      $defs: { a: { properties: { a: {} }, unevaluatedProperties: false } },
    };
    expect(await send(unevaluated, { a: 1 })).toEqual({ json: { a: 1 } });
  });

  it('refuses a result whose members are named like inherited ones beside listed objects', async () => {
    for (const name of ['toString', 'valueOf']) {
      const issues = [`a.${name}: is not an allowed member name`];
      for (const listed of [{ enum: [{ x: 1 }] }, { const: { x: 1 } }]) {
        const schema = { type: 'object', properties: { a: listed } };
        expect(await send(schema, { a: { [name]: 1 } })).toEqual({ issues });
        const contract = await outputContract(schema);
        expect(await contract.check({ a: { [name]: 1 } })).toEqual({ issues });
      }
    }
    expect(await send({ type: 'object' }, { toString: 1 })).toEqual({ json: { toString: 1 } });
  });

  it('has an object as root for revisions that want one', async () => {
    const dto = await outputContract(TicketDto);
    expect(dto.legacySchema).toBe(dto.schema);
    const open = await outputContract({ type: 'object', $defs: {} });
    expect(open.legacySchema).toBe(open.schema);
    const list = await outputContract(z.array(z.string()));
    expect(list.schema).toEqual({ type: 'array', items: { type: 'string' } });
    expect(list.legacySchema).toEqual({
      type: 'object',
      properties: { result: { type: 'array', items: { type: 'string' } } },
      required: ['result'],
    });
    expect(Object.isFrozen(list.legacySchema['properties'])).toBe(true);
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]);
    const { schema, legacySchema } = await outputContract(either);
    expect(legacySchema['properties']).toEqual({ result: schema });
  });

  it('of a schema that is not sound is refused at boot', async () => {
    const boot = async (schema: unknown) => (await outputContract(schema as McpSchema)).prepare();
    await expect(boot({ type: 'strnig' })).rejects.toMatchObject({ name: 'InvalidSchemaException' });
    await expect(boot({ $schema: 'x' })).rejects.toMatchObject({ name: 'UnknownDialectException' });
    await expect(boot(z.object({ when: z.date() }))).rejects.toMatchObject({
      name: 'UnrepresentableSchemaException',
      message: expect.stringContaining('the output of the zod schema') as string,
    });
    await expect(boot(z.object({ n: z.string().transform(Number) }))).rejects.toMatchObject({
      message: expect.stringContaining('.pipe(') as string,
    });
    await expect(boot(5)).rejects.toMatchObject({ name: 'UnknownSchemaKindException' });
  });
});

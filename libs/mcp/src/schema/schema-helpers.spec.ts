import { argumentsContract } from './contract.factory.js';
import { schema } from './schema-helpers.js';

describe('the schema helpers', () => {
  it('write closed objects and properties', async () => {
    const written = schema.object(
      {
        city: schema.property('string', 'Where'),
        days: schema.property('integer', undefined, { minimum: 1 }),
        note: schema.property(['string', 'null']),
      },
      ['city'],
    );
    expect(written).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        days: { type: 'integer', minimum: 1 },
        note: { type: ['string', 'null'] },
      },
      required: ['city'],
      additionalProperties: false,
    });
    expect(schema.object({})).toEqual({ type: 'object', properties: {}, additionalProperties: false });
    const contract = await argumentsContract(written);
    await contract.prepare();
    expect(await contract.checkRaw({ city: 'Bern', dasy: 1 })).toEqual([
      'dasy: is not a known member (known: city, days, note)',
    ]);
  });

  it('nest', () => {
    expect(schema.object({ at: schema.object({ x: schema.property('number') }) }).properties).toMatchObject({
      at: { additionalProperties: false },
    });
  });

  it.each<[() => unknown, RegExp]>([
    [() => schema.object({ a: {} }, ['b']), /"b" is required, but it is none/],
    [() => schema.object({ a: 'string' as never }), /"a" is no schema/],
    [() => schema.object([] as never), /an object of properties/],
    [() => schema.object({}, 'a' as never), /a list/],
    [() => schema.object({}, ['toString']), /"toString" is required/],
    [() => schema.property('strnig'), /one of array, boolean/],
    [() => schema.property([]), /one of array, boolean/],
    [() => schema.property('string', {} as never), /further keywords come third/],
    [() => schema.property('string', 'a', { type: 'null' }), /"type" is given twice/],
    [() => schema.property('string', 'a', { description: 'b' }), /"description" is given twice/],
  ])('refuse a mistake: %s', (mistake, message) => {
    expect(mistake).toThrow(TypeError);
    expect(mistake).toThrow(message);
  });
});

import type { JsonSchema } from '../json-schema.js';
import { closeObjects, dropUnknown, openObjects } from './unknown-members.js';

const closed = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
});
const text = { type: 'string' };

describe('dropUnknown', () => {
  it.each<[string, JsonSchema, unknown, unknown]>([
    ['a member', closed({ a: text }), { a: 'x', b: 1 }, { a: 'x' }],
    ['all of an object without properties', { additionalProperties: false }, { b: 1 }, {}],
    ['inside members', closed({ a: closed({ b: text }) }), { a: { b: 'x', c: 1 } }, { a: { b: 'x' } }],
    ['inside items', { items: closed({ a: text }) }, [{ a: 'x' }, { b: 1 }], [{ a: 'x' }, {}]],
    [
      'inside tuples',
      { prefixItems: [closed({})], items: closed({ a: text }) },
      [{ b: 1 }, { a: 'x', b: 1 }],
      [{}, { a: 'x' }],
    ],
    [
      'inside tuples of draft-07',
      { items: [closed({})], additionalItems: closed({}) },
      [{ b: 1 }, { b: 1 }],
      [{}, {}],
    ],
    ['inside maps', { additionalProperties: closed({}) }, { m: { b: 1 } }, { m: {} }],
    [
      'but what a pattern knows',
      closed({}, { patternProperties: { '^x-': closed({}) } }),
      { 'x-a': { b: 1 }, b: 1 },
      { 'x-a': {} },
    ],
    [
      'behind a reference',
      { $ref: '#/$defs/n', $defs: { n: closed({ next: { $ref: '#/$defs/n' } }) } },
      { next: { next: {}, b: 1 } },
      { next: { next: {} } },
    ],
    ['behind an anchor', { $ref: '#n', $defs: { n: closed({}, { $anchor: 'n' }) } }, { b: 1 }, {}],
    ['of x or null', { anyOf: [closed({ a: text }), { type: 'null' }] }, { a: 'x', b: 1 }, { a: 'x' }],
    [
      'of the variant that is told',
      { oneOf: [closed({ kind: { enum: ['p'] }, p: text }), closed({ kind: { const: 'q' }, q: text })] },
      { kind: 'q', p: 'x', q: 'y' },
      { kind: 'q', q: 'y' },
    ],
    [
      'of the first variant whose required members are there',
      { anyOf: [closed({ a: text }, { required: ['a'] }), closed({ b: text }, { required: ['b'] })] },
      { b: 'x', c: 1 },
      { b: 'x' },
    ],
    [
      'by every part of allOf',
      { allOf: [closed({ a: text, b: text }), closed({ a: text })] },
      { a: 'x', b: 'y' },
      { a: 'x' },
    ],
    [
      'nothing where no variant fits',
      { anyOf: [closed({ a: text }, { required: ['a'] })] },
      { b: 1 },
      { b: 1 },
    ],
    [
      'nothing for a variant that a bound rules out',
      { anyOf: [closed({ n: { ...text, minLength: 5 } }), closed({ n: text, b: {} })] },
      { n: 'abc', b: 1 },
      { n: 'abc', b: 1 },
    ],
    [
      'what the variant does not know whose bounds are met',
      { anyOf: [closed({ n: { ...text, minLength: 5 } }), closed({ n: text, b: {} })] },
      { n: 'abc', b: 1, c: 1 },
      { n: 'abc', b: 1 },
    ],
    [
      'least where several variants would take what is left',
      { oneOf: [closed({ r: {} }), closed({ w: {} }), closed({})] },
      { w: 1, x: 2 },
      { w: 1 },
    ],
    ['nothing where a later variant takes all', { anyOf: [closed({}), {}] }, { a: 1 }, { a: 1 }],
    ['nothing where a later variant is `true`', { anyOf: [closed({}), true] }, { a: 1 }, { a: 1 }],
    [
      'nothing where only one of overlapping variants takes all',
      { oneOf: [{ additionalProperties: false }, {}] },
      { a: 1 },
      { a: 1 },
    ],
    [
      'nothing where a map beside a closed object takes all',
      { anyOf: [closed({ error: text }), { additionalProperties: { type: 'number' } }] },
      { x: 1, y: 2 },
      { x: 1, y: 2 },
    ],
    [
      'behind a dynamic reference',
      { $dynamicRef: '#n', $defs: { n: closed({}, { $dynamicAnchor: 'n' }) } },
      { b: 1 },
      {},
    ],
    [
      'nothing for what stands beside a reference in draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/o',
        additionalProperties: false,
        definitions: { o: { properties: { a: text } } },
      },
      { a: 'x', b: 1 },
      { a: 'x', b: 1 },
    ],
    ['nothing of another type', closed({}), 'text', 'text'],
    ['nothing of an open object', { properties: { a: text } }, { a: 'x', b: 1 }, { a: 'x', b: 1 }],
  ])('removes %s', (_, schema, value, expected) => {
    const before = JSON.stringify(value);
    expect(dropUnknown(schema, value)).toEqual(expected);
    expect(JSON.stringify(value)).toBe(before);
  });

  it('gives back the same value where nothing is unknown, and the same parts where something is', () => {
    const schema = closed({ a: closed({ b: text }), list: { items: closed({}) } });
    const whole = { a: { b: 'x' }, list: [{}] };
    expect(dropUnknown(schema, whole)).toBe(whole);
    const changed = dropUnknown(schema, { ...whole, c: 1 }) as typeof whole;
    expect(changed.a).toBe(whole.a);
    expect(changed.list).toBe(whole.list);
  });

  it('pollutes nothing', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"a":1}') as object;
    expect(Object.keys(dropUnknown(closed({ a: {} }), value) as object)).toEqual(['a']);
    const kept = dropUnknown({ properties: { b: closed({}) } }, { b: { c: 1 }, ['__proto__']: {} });
    expect(kept).toEqual({ b: {}, ['__proto__']: {} });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('ends for references that lead to themselves', () => {
    expect(dropUnknown({ $ref: '#' }, { a: 1 })).toEqual({ a: 1 });
    expect(dropUnknown({ allOf: [{ $ref: '#' }] }, { a: 1 })).toEqual({ a: 1 });
    expect(dropUnknown({ anyOf: [{ $ref: '#' }, closed({})] }, { a: 1 })).toBeDefined();
  });
});

describe('openObjects', () => {
  it('opens every object that is closed, and keeps what is said of other members', () => {
    const schema = closed(
      { a: closed({}), map: { additionalProperties: text }, ref: { $ref: '#/$defs/d' } },
      { $defs: { d: closed({}) } },
    );
    expect(openObjects(schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'object', properties: {} },
        map: { additionalProperties: text },
        ref: { $ref: '#/$defs/d' },
      },
      $defs: { d: { type: 'object', properties: {} } },
    });
    expect(schema.additionalProperties).toBe(false);
  });

  it.each(['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedProperties'])(
    'leaves alone what stands under %s, also by a reference',
    (keyword) => {
      expect(openObjects({ [keyword]: closed({}) })).toEqual({ [keyword]: closed({}) });
      const referring = { [keyword]: { $ref: '#/$defs/d' }, $defs: { d: closed({}) } };
      expect(openObjects({ ...referring, allOf: [{ $ref: '#/$defs/d' }] })).toMatchObject(referring);
    },
  );

  it('leaves alone what depends on a member', () => {
    const schema = { dependentSchemas: { a: closed({}) }, dependencies: { a: closed({}) } };
    expect(openObjects(schema)).toBe(schema);
  });

  it('lets alternatives overlap that are open', () => {
    const open = (name: string) => ({ type: 'object', properties: { [name]: text } });
    const oneOf = [closed({ r: text }), { $ref: '#/$defs/w' }];
    const $defs = { w: closed({ w: text }) };
    const anyOf = [open('r'), { $ref: '#/$defs/w' }];
    expect(openObjects({ oneOf, $defs })).toEqual({ anyOf, $defs: { w: open('w') } });
    expect(openObjects({ oneOf, $defs, anyOf: [{}], allOf: [{}] })).toEqual({
      anyOf: [{}],
      allOf: [{}, { anyOf }],
      $defs: { w: open('w') },
    });
    const texts = { oneOf: [{ const: 'a' }, { const: 'b' }] };
    expect(openObjects(closed({ texts }))).toEqual({ type: 'object', properties: { texts } });
  });
});

describe('closeObjects', () => {
  const open = { type: 'object', properties: { a: text } };
  const shut = { ...open, additionalProperties: false };

  it.each<[string, JsonSchema, JsonSchema]>([
    ['an object', open, shut],
    ['an object in an object', { items: open }, { items: shut }],
    ['alternatives', { anyOf: [open, { type: 'null' }] }, { anyOf: [shut, { type: 'null' }] }],
    ['definitions', { $ref: '#/$defs/o', $defs: { o: open } }, { $ref: '#/$defs/o', $defs: { o: shut } }],
    [
      'what requires a member that a pattern lists',
      { ...open, required: ['x-b'], patternProperties: { '^x-': text } },
      { ...shut, required: ['x-b'], patternProperties: { '^x-': text } },
    ],
    [
      'a recursion',
      { ...open, properties: { next: { $ref: '#' } } },
      { ...shut, properties: { next: { $ref: '#' } } },
    ],
  ])('closes %s', (_, schema, expected) => {
    expect(closeObjects(schema)).toEqual(expected);
  });

  it.each<[string, JsonSchema]>([
    ['what takes more', { ...open, additionalProperties: {} }],
    ['a map', { type: 'object', additionalProperties: text }],
    ['an object that lists nothing', { type: 'object' }],
    ['what requires a member that it does not list', { ...open, required: ['a', 'b'] }],
    ['what may require one', { ...open, dependentRequired: { a: ['b'] } }],
    ['unevaluated members', { ...open, unevaluatedProperties: false }],
    ['the parts of allOf', { allOf: [open, { properties: { b: text } }] }],
    [
      'what parts of allOf refer to',
      {
        allOf: [{ $ref: '#/$defs/o' }, { $ref: '#/$defs/p' }],
        $defs: { o: open, p: { anyOf: [open, open] } },
      },
    ],
    ['alternatives beside properties', { ...open, anyOf: [{ properties: { b: text } }] }],
    [
      'a reference beside properties',
      { ...open, $ref: '#/$defs/o', $defs: { o: { properties: { b: text } } } },
    ],
    ['conditions', { if: open, else: open }],
    ['negations', { not: open }],
  ])('leaves alone %s', (_, schema) => {
    expect(closeObjects(schema)).toBe(schema);
  });
});

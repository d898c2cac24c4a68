import 'reflect-metadata';
import { types } from 'node:util';
import vm from 'node:vm';
import { Exclude, Expose, Transform, Type, type TransformFnParams } from 'class-transformer';
import { of } from 'rxjs';
import { MAX_DEPTH, ResultTooLargeException, toPlain, UnserialisableResultException } from './plain-value.js';

const DAY = new Date('2026-07-28T10:00:00.000Z');
const DAY_TEXT = '2026-07-28T10:00:00.000Z';

class Secret {
  id = 1;

  @Exclude()
  password = 'hunter2';
}

class SubSecret extends Secret {
  more = 'x';
}

class Item {
  name: string;

  @Exclude()
  cost: number;
}

class Page {
  @Type(() => Item)
  items: unknown[];
}

@Exclude()
class Shown {
  hidden = 'h';

  @Expose({ name: 'full_name' })
  fullName = 'Ada';

  @Expose()
  get initial(): string {
    return this.fullName.charAt(0);
  }

  @Expose()
  at = DAY;

  @Expose()
  nested: unknown = undefined;
}

class Shouting {
  @Transform(({ value }: TransformFnParams) => String(value).toUpperCase())
  word = 'loud';

  @Transform(() => new Map([['a', 1n]]))
  map = 0;
}

class Money {
  constructor(private readonly cents: bigint) {}

  toJSON(): unknown {
    return { amount: this.cents };
  }
}

class Plain {
  own = 1;
  #hidden = 2;

  get computed(): number {
    return this.#hidden;
  }
}

describe('toPlain', () => {
  it.each([
    ['a date', DAY, DAY_TEXT],
    [
      'a Map',
      new Map<unknown, unknown>([
        [1, DAY],
        ['b', undefined],
      ]),
      { '1': DAY_TEXT },
    ],
    ['a Set', new Set([1n, undefined, 'a']), ['1', null, 'a']],
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['a Buffer', Buffer.from([1, 2, 3]), 'AQID'],
    ['a view into a larger buffer', new Uint8Array(Uint8Array.of(9, 1, 2, 3, 9).buffer, 1, 3), 'AQID'],
    ['a DataView', new DataView(Uint8Array.of(9, 1, 2, 3).buffer, 1), 'AQID'],
    ['numbers in a view', Uint16Array.of(1, 2), 'AQACAA=='],
    ['an ArrayBuffer', Uint8Array.of(1, 2, 3).buffer, 'AQID'],
    ['a boxed text', Object('a'), 'a'],
    ['a boxed bigint', Object(5n), '5'],
    ['a boxed symbol', Object(Symbol('a')), {}],
    ['NaN', Number.NaN, null],
    ['minus infinity', -Infinity, null],
    ['an object with toJSON', new Money(5n), { amount: '5' }],
    ['toJSON that gives a date', { toJSON: () => DAY }, DAY_TEXT],
    ['toJSON that gives nothing', { toJSON: () => undefined }, null],
    ['an instance', new Plain(), { own: 1 }],
    ['a regular expression', /a/, {}],
    ['a URL', new URL('https://example.com/a'), 'https://example.com/a'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1n }), { a: '1' }],
    ['an instance with @Exclude', new Secret(), { id: 1 }],
    ['an instance below one with @Exclude', new SubSecret(), { id: 1, more: 'x' }],
    ['an instance with @Expose', new Shown(), { full_name: 'Ada', initial: 'A', at: DAY_TEXT }],
    ['an instance with @Transform', new Shouting(), { word: 'LOUD', map: { a: '1' } }],
  ])('gives %s its meaning, in an object, an array, a Map and alone', (_, value, plain) => {
    expect(toPlain([value])).toEqual([plain]);
    expect(toPlain([[value]])).toEqual([[plain]]);
    if (plain === null) return;
    expect(toPlain(value)).toEqual(plain);
    expect(toPlain({ before: 1, value, after: 'x' })).toEqual({ before: 1, value: plain, after: 'x' });
    expect(toPlain(new Map([['key', { value }]]))).toEqual({ key: { value: plain } });
  });

  it.each([
    { a: 1, b: 'x', c: true, d: null, e: [1, { f: [] }], g: {} },
    [],
    {},
    [[{ a: 'x' }], null, false],
    Object.assign(Object.create(null), { a: 1 }),
    JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1},"toJSON":5}'),
  ])('gives back what is plain already as it is: %j', (value: unknown) => {
    expect(toPlain(value)).toBe(value);
  });

  it.each(['', 'a', 0, -1.5, true, false, null])('keeps the primitive %j', (value) => {
    expect(toPlain(value)).toBe(value);
  });

  it('has nothing for undefined, a function and a symbol', () => {
    for (const value of [undefined, () => 1, Symbol('a')]) expect(toPlain(value)).toBeUndefined();
    const value = { a: undefined, b: () => 1, c: Symbol('c'), [Symbol('d')]: 1, e: [undefined, () => 1] };
    expect(Object.keys(toPlain(value) as object)).toEqual(['e']);
    expect(toPlain(value)).toEqual({ e: [null, null] });
  });

  it('copies only what it changes, and never changes the value', () => {
    const same = { a: 1 };
    const value = Object.freeze({ same, dates: Object.freeze([same, DAY]) });
    const plain = toPlain(value) as typeof value;
    expect(plain).toEqual({ same, dates: [same, DAY_TEXT] });
    expect(plain.same).toBe(same);
    expect(plain.dates[0]).toBe(same);
    expect(value.dates[1]).toBe(DAY);
  });

  it('gives an instance its own members only, so that no getter of its class is taken for data', () => {
    const plain = toPlain(new Plain()) as object;
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect('computed' in plain).toBe(false);
  });

  it('writes what JSON.stringify writes, where both have a meaning', () => {
    const sparse: unknown[] = [1];
    sparse[3] = 'x';
    for (const value of [
      sparse,
      { a: [undefined], b: { toJSON: (key: string) => key }, c: [{ toJSON: (key: string) => key }] },
      { a: new Date(5), b: Object(1), c: Object(false), d: -0, e: Infinity },
      { a: { toJSON: () => ({ toJSON: () => 1, b: 2 }) } },
      Object.create({ inherited: 1 }),
      [new Error('a')],
      (() => 1) as unknown,
    ])
      expect(JSON.stringify(toPlain(value))).toBe(JSON.stringify(value));
  });

  it('takes values of another realm for what they are', () => {
    const value = vm.runInNewContext(
      '({ d: new Date(0), m: new Map([[1, new Set([2])]]), b: new Uint8Array([1, 2, 3]), o: { a: [1n] } })',
    ) as unknown;
    expect(toPlain(value)).toEqual({
      d: '1970-01-01T00:00:00.000Z',
      m: { '1': [2] },
      b: 'AQID',
      o: { a: ['1'] },
    });
  });

  describe('with class-transformer', () => {
    it('I2: honours its decorators in whatever an instance lies', () => {
      const secret = new Secret();
      expect(
        toPlain({
          list: [secret],
          map: new Map([['a', secret]]),
          set: new Set([secret]),
          in: { deep: secret },
        }),
      ).toEqual({ list: [{ id: 1 }], map: { a: { id: 1 } }, set: [{ id: 1 }], in: { deep: { id: 1 } } });
    });

    it('I2: honours the class that @Type gives to plain members', () => {
      const page = Object.assign(new Page(), { items: [{ name: 'a', cost: 1 }], total: 5n });
      expect(toPlain(page)).toEqual({ items: [{ name: 'a' }], total: '5' });
    });

    it('knows toJSON, bytes, Maps and dates inside an instance, as anywhere', () => {
      const shown = new Shown();
      shown.nested = {
        money: new Money(7n),
        bytes: Buffer.from('a'),
        map: new Map([[1, DAY]]),
        p: new Secret(),
      };
      expect(toPlain(shown)).toMatchObject({
        nested: { money: { amount: '7' }, bytes: 'YQ==', map: { '1': DAY_TEXT }, p: { id: 1 } },
      });
    });

    it('prefers it to a toJSON, which would show what is excluded', () => {
      class Both extends Secret {
        toJSON(): unknown {
          return Object.fromEntries(Object.entries(this));
        }
      }
      expect(toPlain(new Both())).toEqual({ id: 1 });
    });

    it('refuses entities that refer to each other', () => {
      const author = Object.assign(new Secret(), { books: [] as unknown[] });
      author.books.push(Object.assign(new Secret(), { author }));
      expect(() => toPlain({ author })).toThrow(/a cycle at result\["author"\]/);
    });

    it('is not misled by an own member named constructor', () => {
      const secret = Object.assign(new Secret(), { constructor: { name: 'x' } });
      expect(toPlain(secret)).not.toHaveProperty('password');
    });
  });

  describe('of errors', () => {
    it('I8: never gives a stack, by whatever name', () => {
      class AxiosLike extends Error {
        code = 'E';
        toJSON(): unknown {
          return { stack: this.stack };
        }
      }
      const shown = Object.defineProperty(new Error('a'), 'stack', { value: 'at x.js', enumerable: true });
      expect(toPlain({ a: new AxiosLike('secret'), b: shown })).toEqual({ a: { code: 'E' }, b: {} });
    });
  });

  describe('of what is broken or hostile', () => {
    const cycle: Record<string, unknown> = { a: [1] };
    (cycle['a'] as unknown[]).push({ cycle });
    const mapCycle = new Map<string, unknown>();
    mapCycle.set('self', mapCycle);
    const growing = { toJSON: (): unknown => ({ growing, twin: growing }) };
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ['a', 'b'],
          get: (_, key) => (key === 'toJSON' ? undefined : endless()),
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        },
      );
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };

    it.each([
      ['a cycle', cycle, 'a cycle at result["a"][1]["cycle"]'],
      ['a cycle of Maps', mapCycle, 'a cycle at result["self"]'],
      ['a toJSON that gives itself again', growing, 'a cycle at result["growing"]'],
      ['too many levels', deep, 'more than 1000 levels at result["deep"]["deep"]'],
      ['a proxy without end', endless(), 'more than 1000 levels at result["a"]["a"]'],
      ['an invalid date', { at: [new Date('x')] }, 'an invalid date at result["at"][0]'],
      [
        'a promise',
        { user: Promise.resolve(1) },
        'a promise, stream, generator or Observable at result["user"]',
      ],
      ['an Observable', [of(1)], 'a promise, stream, generator or Observable at result[0]'],
      [
        'a stream',
        { s: new Blob(['a']).stream() },
        'a promise, stream, generator or Observable at result["s"]',
      ],
      [
        'a getter that throws',
        {
          get a() {
            return JSON.parse('{') as unknown;
          },
        },
        'JSON cannot carry the result',
      ],
      ['a toJSON that throws', { toJSON: () => JSON.parse('{') as unknown }, 'JSON cannot carry the result'],
      [
        'a proxy that throws',
        new Proxy({}, { getPrototypeOf: () => JSON.parse('{') as object }),
        'JSON cannot carry the result',
      ],
      [
        'a revoked proxy',
        (() => {
          const { proxy, revoke } = Proxy.revocable({}, {});
          revoke();
          return [proxy];
        })(),
        'JSON cannot carry the result',
      ],
      ['a key that is no text', new Map([[Object.create(null), 1]]), 'JSON cannot carry the result'],
    ])('refuses %s by name', (_, value, message) => {
      let thrown: unknown;
      try {
        toPlain(value);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(UnserialisableResultException);
      expect((thrown as Error).message.startsWith(message)).toBe(true);
    });

    it(`takes ${MAX_DEPTH} levels, and refuses one more`, () => {
      const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);
      const most = nested(MAX_DEPTH);
      expect(toPlain(most)).toBe(most);
      expect(() => toPlain([most])).toThrow('more than 1000 levels');
    });

    it('takes the same part twice, which is no cycle', () => {
      const part = { at: DAY };
      expect(toPlain([part, { part }])).toEqual([{ at: DAY_TEXT }, { part: { at: DAY_TEXT } }]);
    });

    it('keeps a member named __proto__ as data, and touches no prototype', () => {
      const value = JSON.parse('{"a":1,"__proto__":{"polluted":1}}') as Record<string, unknown>;
      value['at'] = DAY;
      const plain = toPlain(value) as object;
      expect(JSON.stringify(plain)).toBe(`{"a":1,"__proto__":{"polluted":1},"at":"${DAY_TEXT}"}`);
      expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
      expect(JSON.stringify(toPlain(new Map([['__proto__', { polluted: 1 }]])))).toBe(
        '{"__proto__":{"polluted":1}}',
      );
      expect('polluted' in {}).toBe(false);
    });

    it('refuses what repeats its parts over and over before it has grown', () => {
      let doubled: unknown = { at: 'x' };
      for (let level = 0; level < 200; level++) doubled = [doubled, doubled];
      expect(() => toPlain(doubled, 10_000)).toThrow(ResultTooLargeException);
    });

    it('refuses bytes and lengths that are too much before it writes them', () => {
      expect(() => toPlain({ file: Buffer.alloc(751) }, 1000)).toThrow(
        'The result is larger than 1000 bytes: ask for less',
      );
      expect(toPlain(Buffer.alloc(750), 1000)).toHaveLength(1000);
      expect(() => toPlain(Object.assign([], { length: 1e9 }), 1000)).toThrow(ResultTooLargeException);
    });
  });

  it('tells proxies of plain objects from nothing else', () => {
    const proxy = new Proxy({ at: DAY }, {});
    expect(types.isProxy(proxy)).toBe(true);
    expect(toPlain(proxy)).toEqual({ at: DAY_TEXT });
  });
});

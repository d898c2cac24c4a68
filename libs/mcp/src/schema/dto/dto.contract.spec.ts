import 'reflect-metadata';
import { Expose, Transform, Type } from 'class-transformer';
import * as v from 'class-validator';
import { McpProperty } from '../../decorators/property.decorator.js';
import type { ArgumentsContract } from '../arguments.contract.js';
import { emptyContract } from '../contract.factory.js';
import { dtoContract } from './dto.contract.js';
import { dtoSchemaPlan } from './dto-schema.factory.js';
import { InvalidDates } from './invalid-dates.js';
import type { Class } from '../json-schema.js';

type Raw = Record<string, unknown>;

class ItemDto {
  @v.IsInt() ok: number;
  @v.IsOptional() @v.MaxLength(3) @v.Matches(/^A$/i) code?: string;
}
class NodeDto {
  @v.IsString() name: string;
  @v.ValidateNested({ each: true }) @Type(() => NodeDto) children: NodeDto[];
}
class PlainDto {}

/** Both steps of a call: the issues, or the object a handler is given. */
async function call(of: ArgumentsContract | Class, raw: Raw): Promise<unknown> {
  const contract = typeof of === 'function' ? dtoContract(of) : of;
  const issues = await contract.checkRaw(raw);
  if (issues.length > 0) return issues;
  const outcome = await contract.instantiate(raw);
  return 'issues' in outcome ? outcome.issues : outcome.value;
}

const parsed = (text: string) => JSON.parse(text) as Raw;

describe('the arguments of a DTO', () => {
  it('B3: refuses null for an optional member by name, and takes its absence', async () => {
    class NickDto {
      @v.IsOptional() @v.IsString() nick?: string | null;
    }
    expect(await call(NickDto, { nick: null })).toEqual(['nick: must be a string']);
    expect(await call(NickDto, {})).toBeInstanceOf(NickDto);
  });

  it('B9: reaches the third level of a recursive DTO and names the path', async () => {
    const leaf = (name: unknown) => ({ name, children: [] });
    const tree = (name: unknown) => ({
      name: 'a',
      children: [leaf('b'), { name: 'c', children: [leaf(name)] }],
    });
    expect(await call(NodeDto, tree(4))).toEqual(['children[1].children[0].name: must be a string']);
    expect(await call(NodeDto, tree('d'))).toMatchObject({ children: [{}, { children: [{ name: 'd' }] }] });
  });

  it('B13: gives a Date for date text, and refuses other text and numbers by name', async () => {
    class WhenDto {
      @v.IsDate() @Type(() => Date) when: Date;
      @v.IsOptional() @v.IsDate() until?: Date;
    }
    expect(await call(WhenDto, { when: '2024-01-02T03:04:05Z', until: '2024-01-02' })).toEqual({
      when: new Date('2024-01-02T03:04:05Z'),
      until: new Date('2024-01-02'),
    });
    expect(await call(WhenDto, { when: 'banana' })).toEqual(['when: must be an ISO 8601 date and time']);
    expect(await call(WhenDto, { when: 5 })).toEqual(['when: must be a string']);
  });

  it('B13: refuses text that is no date wherever a Date is made of it, also without @IsDate()', async () => {
    class MomentDto {
      @McpProperty({}) at: Date;
    }
    class EventDto {
      @McpProperty({}) when: Date;
      @v.IsOptional() @Type(() => Date) @Expose({ name: 'ends_at' }) until?: Date;
      @v.IsOptional() @v.IsArray() @Type(() => Date) days?: Date[];
      @v.IsOptional() @v.ValidateNested({ each: true }) @Type(() => MomentDto) moments?: MomentDto[];
      @v.IsOptional() @Type(() => Date) named?: Map<string, Date>;
      @v.IsOptional() @v.ValidateNested() @Type(() => MomentDto) keyed?: Map<string, MomentDto>;
      @v.ValidateIf(({ until }: EventDto) => until !== undefined) @v.IsDate() checked?: Date;
      @v.IsOptional() @v.ValidateNested() @Type(() => EventDto) next?: object;
    }
    const when = '2024-01-02T03:04:05Z';
    const date = new Date(when);
    expect(await call(EventDto, { when, days: [when], named: { a: when }, next: { when } })).toEqual({
      when: date,
      days: [date],
      named: new Map([['a', date]]),
      next: { when: date },
    });
    const wrong = {
      when: 'banana',
      ends_at: 'banana',
      days: [when, 'banana'],
      moments: [{ at: when }, { at: 'banana' }],
      named: { a: when, 'b c': 'banana' },
      keyed: { x: { at: 'banana' } },
      checked: 'banana',
      next: { when: 'banana' },
    };
    const paths = [
      'when',
      'ends_at',
      'days[1]',
      'moments[1].at',
      'named["b c"]',
      'keyed.x.at',
      'checked',
      'next.when',
    ];
    const issues = (await call(EventDto, wrong)) as string[];
    expect(issues.toSorted()).toEqual(
      paths.map((path) => `${path}: must be an ISO 8601 date and time`).toSorted(),
    );
    expect(await call(EventDto, { when, checked: 'banana' })).toEqual([
      'checked: must be an ISO 8601 date and time',
    ]);
  });

  it('B13: finds them also where a rule looks for them that nothing runs, and says so once', async () => {
    class DayDto {
      @v.IsDate() @Type(() => Date) when: Date;
    }
    class TripDto {
      @v.IsOptional() @v.ValidateNested() @Type(() => DayDto) judged?: DayDto;
      @v.IsOptional() @Type(() => DayDto) typed?: DayDto;
      @v.IsOptional() @v.IsArray() @Type(() => DayDto) list?: DayDto[];
    }
    const day = { when: 'banana' };
    expect(await call(TripDto, { judged: day })).toEqual(['judged.when: must be an ISO 8601 date and time']);
    expect(await call(TripDto, { typed: day })).toEqual(['typed.when: must be an ISO 8601 date and time']);
    expect(await call(TripDto, { list: [day] })).toEqual(['list[0].when: must be an ISO 8601 date and time']);
    class TextDto {
      @v.IsDateString() when: string;
    }
    expect(InvalidDates.of(dtoSchemaPlan(TextDto).graph)).toBeUndefined();
  });

  it('C1: names the entry of a list that is wrong', async () => {
    class TagsDto {
      @v.IsOptional() @v.IsString({ each: true }) tags?: string[];
    }
    expect(await call(TagsDto, { tags: [1] })).toEqual(['tags[0]: must be a string']);
    expect(await call(TagsDto, { tags: 'one' })).toEqual(['tags: must be an array']);
  });

  it.each(['false', 'true', 0, ''])('C2: never takes %j for a flag', async (flag) => {
    class FlagDto {
      @v.IsBoolean() @Type(() => Boolean) flag: boolean;
    }
    expect(await call(FlagDto, { flag })).toEqual(['flag: must be a boolean']);
    expect(await call(FlagDto, { flag: false })).toEqual({ flag: false });
  });

  it('C3: refuses null among nested DTOs by its index', async () => {
    class ItemsDto {
      @v.ValidateNested({ each: true }) @Type(() => ItemDto) items: ItemDto[];
    }
    expect(await call(ItemsDto, { items: [null] })).toEqual(['items[0]: must be an object']);
    expect(await call(ItemsDto, { items: [{ ok: 1 }, null] })).toEqual(['items[1]: must be an object']);
    expect(await dtoContract(ItemsDto).instantiate({ items: [null] })).toEqual({
      issues: ['items[0]: each value in nested property items must be either object or array'],
    });
  });

  it('C4: refuses a list where one nested DTO is meant', async () => {
    class ScoreDto {
      @v.ValidateNested() @Type(() => ItemDto) score: ItemDto;
    }
    expect(await call(ScoreDto, { score: [{ ok: 1 }] })).toEqual(['score: must be an object']);
  });

  it('C5: takes no arguments for a class without decorators, and nested ones without @Type', async () => {
    class OuterDto {
      @v.ValidateNested() item: ItemDto;
      @v.IsOptional() @v.ValidateNested() @Type(() => PlainDto) plain?: PlainDto;
    }
    expect(await call(PlainDto, {})).toBeInstanceOf(PlainDto);
    const outer = (await call(OuterDto, { item: { ok: 1 }, plain: {} })) as OuterDto;
    expect(outer.item).toBeInstanceOf(ItemDto);
    expect(outer.plain).toBeInstanceOf(PlainDto);
    expect(await call(OuterDto, { item: { ok: 1, code: 'B' } })).toEqual([
      'item.code: must match /^A$/i regular expression',
    ]);
  });

  it('C6: refuses members that are not decorated or not known, by name', async () => {
    class KnownDto {
      @v.IsOptional() @v.IsInt() a?: number;
      b?: number = 1;
    }
    expect(await call(KnownDto, { a: 1, b: 2, c: 3 })).toEqual([
      'b: is not a known member (known: a)',
      'c: is not a known member (known: a)',
    ]);
  });

  it('C7: requires a nested DTO that is not optional', async () => {
    class FilterDto {
      @v.ValidateNested() @Type(() => ItemDto) filter: ItemDto;
    }
    expect(await call(FilterDto, {})).toEqual(['filter: is required']);
  });

  it('C8: fills defaults from initialisers, also under @Expose, and names what is missing', async () => {
    class PageDto {
      @v.IsInt() @Expose() limit = 20;
      @v.IsString({ each: true }) tags: string[] = ['new'];
    }
    class QueryDto extends PageDto {
      @v.IsString() text: string;
    }
    expect(await call(PageDto, {})).toEqual({ limit: 20, tags: ['new'] });
    expect(await call(QueryDto, { limit: 5 })).toEqual(['text: is required']);
    expect(await dtoContract(PageDto).checkRaw(null as unknown as Raw)).toEqual([
      'arguments: must be an object',
    ]);
  });

  it('C9: names path and reason for every issue, and no class', async () => {
    class FormDto {
      @v.ValidateNested() @Type(() => ItemDto) item: ItemDto;
      @v.IsIn(['low', 'high']) priority: string;
      @v.IsString() title: string;
    }
    expect(await call(FormDto, { item: { ok: 'no' }, priority: 7 })).toEqual([
      'title: is required',
      'item.ok: must be an integer',
      'priority: must be one of "low", "high"',
    ]);
  });

  it('reads and names members as @Expose publishes them', async () => {
    class NamedDto {
      @v.MinLength(2) @v.Matches(/^A/i) @Expose({ name: 'first_name' }) firstName: string;
    }
    expect(await call(NamedDto, { first_name: 'Ada' })).toEqual({ firstName: 'Ada' });
    expect(await call(NamedDto, { first_name: 'Bob' })).toEqual([
      'first_name: must match /^A/i regular expression',
    ]);
    expect(await call(NamedDto, { firstName: 'Ada' })).toContain(
      'firstName: is not a known member (known: first_name)',
    );
  });

  it('checks before @Transform and validates after it, once', async () => {
    let runs = 0;
    class TrimDto {
      @Transform(({ value }) => String((runs += 1) && value).trim())
      @v.IsString()
      @v.IsNotEmpty()
      text: string;
    }
    expect(await call(TrimDto, { text: ' a ' })).toEqual({ text: 'a' });
    expect(await call(TrimDto, { text: '  ' })).toEqual(['text: should not be empty']);
    expect(runs).toBe(2);
  });

  it('leaves the arguments as they were, frozen ones too', async () => {
    class CatDto {
      @v.IsInt() lives: number;
    }
    class ZooDto {
      @v.ValidateNested({ each: true })
      @Type(() => CatDto, { discriminator: { property: 'kind', subTypes: [{ name: 'cat', value: CatDto }] } })
      animals: CatDto[];
    }
    const raw = { animals: [Object.freeze({ kind: 'cat', lives: 9 })] };
    expect(await call(ZooDto, Object.freeze(raw))).toEqual({ animals: [{ lives: 9 }] });
    expect(raw.animals).toEqual([{ kind: 'cat', lives: 9 }]);
    expect(await call(ZooDto, { animals: [null] })).toEqual(['animals[0]: must be an object']);
  });

  it('answers at once after the first check, and is made once for a class', async () => {
    class OnceDto {
      @v.IsInt() a: number;
    }
    const contract = dtoContract(OnceDto);
    const first = contract.checkRaw({ a: 1 });
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual([]);
    expect(contract.checkRaw({ a: 1 })).toEqual([]);
    expect(dtoContract(OnceDto)).toBe(contract);
  });
});

describe('unknown members', () => {
  class PlaceDto {
    @v.IsString() street: string;
  }
  class OrderDto {
    @v.ValidateNested({ each: true }) @Type(() => PlaceDto) places: PlaceDto[];
    @v.IsOptional() @v.IsObject() labels?: object;
  }
  const raw = { places: [{ street: 'a', x: 1 }], labels: { free: 1 }, y: 2 };

  it('C6: are dropped at every level where they are to be dropped, and the schema says so', async () => {
    const contract = dtoContract(OrderDto, { unknownMembers: 'drop' });
    expect(JSON.stringify(contract.schema)).not.toContain('additionalProperties');
    const known = contract.withoutUnknown!(raw);
    expect(known).toEqual({ places: [{ street: 'a' }], labels: { free: 1 } });
    expect(raw.places[0]).toEqual({ street: 'a', x: 1 });
    expect(await contract.checkRaw(known)).toEqual([]);
    expect(await contract.instantiate(known)).toEqual({ value: known });
  });

  it('are refused by name where they are not', async () => {
    const contract = dtoContract(OrderDto);
    expect('withoutUnknown' in contract).toBe(false);
    expect(await contract.checkRaw(raw)).toEqual([
      'y: is not a known member (known: places, labels)',
      'places[0].x: is not a known member (known: street)',
    ]);
    expect(dtoContract(OrderDto, { unknownMembers: 'refuse' })).toBe(contract);
  });
});

describe("class-validator's run", () => {
  it('C10: awaits constraints of the application, those for entries too, once', async () => {
    let runs = 0;
    @v.ValidatorConstraint({ async: true })
    class Free implements v.ValidatorConstraintInterface {
      async validate(value: unknown): Promise<boolean> {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return value !== 'taken';
      }
      defaultMessage = () => 'is taken';
    }
    class NamesDto {
      @v.Validate(Free) @v.IsString() name: string;
      @v.Validate(Free, { each: true }) @v.IsString({ each: true }) others: string[];
    }
    expect(await call(NamesDto, { name: 'taken', others: ['a', 'taken'] })).toEqual([
      'name: is taken',
      'others: is taken',
    ]);
    expect(runs).toBe(3);
    expect(await call(NamesDto, { name: 'a', others: [] })).toBeInstanceOf(NamesDto);
  });

  it('is made in the groups of the view', async () => {
    class GroupedDto {
      @v.MinLength(3, { groups: ['create'] }) title: string;
      @v.IsOptional({ always: true })
      @v.IsInt({ groups: ['update'] })
      @v.Max(5, { groups: ['update'] })
      id?: number;
    }
    const contract = dtoContract(GroupedDto, { view: { groups: ['create'] } });
    expect(await contract.checkRaw({ title: 'abc', id: 9 })).toEqual([]);
    expect(await contract.instantiate({ title: 'a', id: 9 })).toEqual({
      issues: ['title: must be longer than or equal to 3 characters'],
    });
    expect(await dtoContract(GroupedDto).checkRaw({ title: 'abc', id: 9 })).toEqual([
      'id: must be at most 5',
    ]);
  });

  it('turns what its own rules throw at a value into a refusal that names the place', async () => {
    class PriceDto {
      @v.IsNumber({ maxDecimalPlaces: 2 }) amount: number;
    }
    class CartDto {
      @v.ValidateNested({ each: true }) @Type(() => PriceDto) prices: PriceDto[];
      @v.IsNumber({ maxDecimalPlaces: 2 }, { each: true }) sums: number[];
      @v.IsOptional() @v.IsByteLength(1, 4) code?: string;
      @v.IsOptional() @v.ArrayUnique((entry: { id: string }) => entry.id.trim()) items?: { id: string }[];
    }
    const amount = 'must be a number conforming to the specified constraints';
    expect(await call(CartDto, parsed('{"prices":[{"amount":1},{"amount":1e-7}],"sums":[1e-7]}'))).toEqual([
      `prices[1].amount: ${amount}`,
      `sums: each value in sums ${amount}`,
    ]);
    expect(await call(CartDto, parsed('{"prices":[],"sums":[],"code":"\\ud800"}'))).toEqual([
      'code: byte length must fall into (1, 4) range',
    ]);
    expect(await call(CartDto, { prices: [], sums: [], items: [{ id: 'a' }, 5] })).toEqual([
      "items: All items's elements must be unique",
    ]);
    expect(await call(CartDto, { prices: [{ amount: 1.25 }], sums: [0] })).toBeInstanceOf(CartDto);
  });

  it('lets through what a constraint of the application throws', async () => {
    class DownDto {
      @v.IsString()
      @v.ValidateBy({
        name: 'isKnown',
        validator: {
          validate: () => {
            throw new Error('the database is down');
          },
        },
      })
      name: string;
      @v.IsOptional() @v.IsNumber({ maxDecimalPlaces: 2 }) amount?: number;
    }
    await expect(dtoContract(DownDto).instantiate({ name: 'a', amount: 1 })).rejects.toThrow(
      'the database is down',
    );
  });

  it('is not stalled by a long list that has to be unique', async () => {
    class TagsDto {
      @v.ArrayUnique() @v.IsString({ each: true }) tags: string[];
      @v.IsOptional() @v.ArrayUnique() others?: object[];
    }
    const texts = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`);
    expect(await call(TagsDto, { tags: texts(10_000) })).toBeInstanceOf(TagsDto);
    expect(await call(TagsDto, { tags: texts(10_001) })).toEqual(['tags: must have at most 10000 items']);
    expect(await call(TagsDto, { tags: [], others: texts(10_001).map((id) => ({ id })) })).toEqual([
      'others: must have at most 10000 items',
    ]);
    expect(await call(TagsDto, { tags: ['a', 'b', 'a'] })).toEqual([
      'tags: must not contain the same item twice',
    ]);
  });
});

describe('the variants of a discriminated property', () => {
  class CircleDto {
    @v.IsPositive() radius: number;
  }
  class SquareDto {
    @v.IsPositive() side: number;
    @v.IsIn(['square']) kind: string;
  }
  class CanvasDto {
    @v.ValidateNested()
    @Type(() => Object, {
      discriminator: { property: 'kind', subTypes: [{ name: 'circle', value: CircleDto }] },
    })
    round: object;
    @v.ValidateNested({ each: true })
    @Type(() => Object, {
      discriminator: { property: 'kind', subTypes: [{ name: 'square', value: SquareDto }] },
      keepDiscriminatorProperty: true,
    })
    shapes: object[];
  }

  it('are instances of their classes, and arguments stay as they were', async () => {
    const raw = Object.freeze({
      round: Object.freeze({ kind: 'circle', radius: 1 }),
      shapes: Object.freeze([Object.freeze({ kind: 'square', side: 2 })]),
    });
    const canvas = (await call(CanvasDto, raw)) as CanvasDto;
    expect([canvas.round, canvas.shapes[0]].map((shape) => shape?.constructor)).toEqual([
      CircleDto,
      SquareDto,
    ]);
    expect(canvas).toEqual({ round: { radius: 1 }, shapes: [{ kind: 'square', side: 2 }] });
  });

  it('are refused by the path of what is wrong with them', async () => {
    const issues = await call(CanvasDto, { round: { kind: 'oval' }, shapes: [{ kind: 'square', side: -1 }] });
    expect(issues).toContain('shapes[0].side: must be greater than 0');
    expect(issues).toContain('round.kind: must be one of "circle"');
  });
});

describe('the arguments of a handler that takes none', () => {
  it('takes an empty object and refuses any member by name', async () => {
    expect(emptyContract.schema).toEqual({ type: 'object', additionalProperties: false });
    expect(await call(emptyContract, {})).toEqual({});
    expect(await call(emptyContract, parsed('{"a":1,"__proto__":2}'))).toEqual([
      'a: is not a known member (none is known here)',
      '__proto__: is not a known member (none is known here)',
    ]);
  });
});

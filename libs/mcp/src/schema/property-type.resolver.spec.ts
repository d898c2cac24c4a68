import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import * as v from 'class-validator';
import { dtoSchema } from './dto-schema.factory.js';
import type { Class, JsonSchema } from './json-schema.js';
import { MAX_CLASSES, MAX_NESTING } from './schema-bounds.js';
import { SchemaException, UnknownNestedTypeException } from './schema.exception.js';

const propertiesOf = (dto: Class) => dtoSchema(dto).properties as Record<string, JsonSchema>;

class ItemDto {
  @v.IsString() name: string;
}

/** A chain of classes, each nested in the one before it as often as asked. */
function chain(length: number, uses = 1): Class {
  let inner: Class = ItemDto;
  for (let index = 1; index < length; index += 1) {
    const nested = inner;
    class LinkDto {}
    for (let use = 0; use < uses; use += 1) {
      v.ValidateNested()(LinkDto.prototype, `next${use}`);
      Type(() => nested)(LinkDto.prototype, `next${use}`);
    }
    inner = LinkDto;
  }
  return inner;
}

describe('the type of a property', () => {
  it('asks for @Type where only the compiler knows the class of the elements', () => {
    class TicketDto {
      @v.ValidateNested({ each: true }) items: ItemDto[];
    }
    expect(() => dtoSchema(TicketDto)).toThrow(UnknownNestedTypeException);
    expect(() => dtoSchema(TicketDto)).toThrow(
      /^TicketDto\.items: .*array elements.*@Type\(\(\) => ItemDto\)/,
    );
  });

  it('asks for @Type where a nested property has no class', () => {
    class OrderDto {
      @v.ValidateNested() place: { street: string };
    }
    expect(() => dtoSchema(OrderDto)).toThrow(/^OrderDto\.place: the nested class .*@Type/);
  });

  it('does not take the type of a property from its own class, which compilers write differently', () => {
    class SelfDto {
      @v.ValidateNested() self: unknown;
    }
    Reflect.defineMetadata('design:type', SelfDto, SelfDto.prototype, 'self');
    expect(() => dtoSchema(SelfDto)).toThrow(SchemaException);
  });

  it('names a @Type that gives nothing or throws', () => {
    class NothingDto {
      @Type(() => undefined as unknown as Class) gap: unknown;
    }
    class ThrowingDto {
      @Type(() => {
        throw new ReferenceError('not yet');
      })
      gap: unknown;
    }
    expect(() => dtoSchema(NothingDto)).toThrow(/^NothingDto\.gap: @Type\(\) gave no class/);
    expect(() => dtoSchema(ThrowingDto)).toThrow(/^ThrowingDto\.gap: @Type\(\) gave no class/);
  });

  it('refuses @IsDate where nothing makes a Date, and allows it behind @Transform', () => {
    class TextDto {
      @v.IsDate() when: string;
    }
    class MadeDto {
      @v.IsDate() @Transform(({ value }) => new Date(String(value))) when: unknown;
    }
    expect(() => dtoSchema(TextDto)).toThrow(/^TextDto\.when: .*@Type\(\(\) => Date\)/);
    expect(propertiesOf(MadeDto).when).toEqual({ type: 'string', format: 'date-time' });
  });

  it('refuses a property whose name is never read', () => {
    class OddDto {}
    Type(() => String)(OddDto.prototype, '__proto__');
    expect(() => dtoSchema(OddDto)).toThrow(/^OddDto\.__proto__: .*rename/);
  });

  it('takes the declared type only where the rules leave the type open', () => {
    class DeclaredDto {
      @v.Allow() text: string;
      @v.IsOptional() count?: number;
      @v.Min(1) amount: string;
      @v.IsNumberString() id: number;
      @v.IsObject() free: ItemDto & { more: string };
      @v.IsDefined() item: ItemDto;
      @v.IsOptional() seen: Set<string>;
      @v.IsOptional() buffer: Buffer;
      @v.IsInt({ each: true }) @Type(() => Number) byName: Map<string, number>;
    }
    expect(propertiesOf(DeclaredDto)).toEqual({
      text: { type: 'string' },
      count: { type: 'number' },
      amount: { type: 'number', minimum: 1 },
      id: { type: 'string' },
      free: { type: 'object' },
      item: dtoSchema(ItemDto),
      seen: { type: 'array', items: {} },
      buffer: {},
      byName: { type: 'object', additionalProperties: { type: 'integer' } },
    });
  });

  it('publishes the allowed names of a discriminator', () => {
    class CatDto extends ItemDto {}
    class ZooDto {
      @v.ValidateNested({ each: true })
      @Type(() => ItemDto, {
        discriminator: { property: 'kind', subTypes: [{ name: 'cat', value: CatDto }] },
      })
      animals: ItemDto[];
    }
    expect(propertiesOf(ZooDto).animals).toEqual({
      type: 'array',
      items: {
        type: 'object',
        properties: { kind: { type: 'string', enum: ['cat'] } },
        required: ['kind'],
      },
    });
  });
});

describe('what makes a property required', () => {
  it('requires what some rule refuses to miss', () => {
    class PresenceDto {
      @v.IsString() text: string;
      @v.ValidateNested() item: ItemDto;
      @v.IsOptional() @v.IsDefined() @v.IsInt() optional?: number;
      @v.ValidateIf((dto: PresenceDto) => dto.text === 'a') @v.IsInt() conditional?: number;
      @v.IsInt({ validateIf: () => false }) ruleCondition?: number;
      @v.Allow() allowed?: number;
      @v.NotEquals(3) notThree?: number;
      @v.IsInt({ groups: ['admin'] }) grouped: number;
      @Type(() => Number) typed?: number;
    }
    expect(dtoSchema(PresenceDto).required).toEqual(['text', 'item', 'grouped']);
    expect(propertiesOf(PresenceDto).ruleCondition).toEqual({ type: 'number' });
  });

  it('publishes initialisers as defaults, and requires nothing that has one', () => {
    let made = 0;
    class DefaultsDto {
      @v.IsInt() limit = 20;
      @v.IsString({ each: true }) tags: string[] = ['new'];
      @v.IsDate() since = new Date(0);
      @v.IsInt() serial = (made += 1);
      @v.ValidateNested() @Type(() => ItemDto) item = new ItemDto();
      @v.IsString() nothing: string | null = null;
      @v.IsString() declared: string | undefined = undefined;
    }
    Type(() => Date)(DefaultsDto.prototype, 'since');
    const { limit, tags, ...others } = propertiesOf(DefaultsDto);
    expect(limit).toEqual({ type: 'integer', default: 20 });
    expect(tags).toEqual({ type: 'array', items: { type: 'string' }, default: ['new'] });
    expect(Object.values(others).some((schema) => 'default' in schema)).toBe(false);
    expect(dtoSchema(DefaultsDto).required).toEqual(['nothing', 'declared']);
    expect(Object.isFrozen(new DefaultsDto().tags)).toBe(false);
  });

  it('copies defaults that JSON holds without loss, and publishes no others', () => {
    const shared = { sort: ['name'], deep: { on: true } };
    class OptionsDto {
      @v.IsObject() options = shared;
      @v.IsObject() partly = { at: new Date(0) };
      @v.IsArray() gaps = [undefined];
      @v.IsNumber() ratio = NaN;
    }
    expect(propertiesOf(OptionsDto)).toEqual({
      options: { type: 'object', default: shared },
      partly: { type: 'object' },
      gaps: { type: 'array', items: {} },
      ratio: { type: 'number' },
    });
    expect(Object.isFrozen(shared)).toBe(false);
  });

  it('survives a constructor that throws', () => {
    class StrictDto {
      @v.IsInt() limit: number;
      constructor() {
        throw new Error('needs arguments');
      }
    }
    expect(dtoSchema(StrictDto).required).toEqual(['limit']);
  });
});

describe('the bounds of a schema', () => {
  it('stays small and quick for a deep graph in which each class is used twice', () => {
    const started = performance.now();
    const text = JSON.stringify(dtoSchema(chain(50, 2)));
    expect(performance.now() - started).toBeLessThan(500);
    expect(text.length).toBeLessThan(64 * 1024);
    expect(text).toContain('#/$defs/LinkDto_2');
  });

  it('writes a chain at the nesting bound and refuses one beyond it', () => {
    expect(() => dtoSchema(chain(MAX_NESTING))).not.toThrow();
    expect(() => dtoSchema(chain(MAX_NESTING + 1))).toThrow(/LinkDto: its DTOs nest deeper than 64/);
    expect(() => dtoSchema(chain(MAX_CLASSES + 1))).toThrow(/more than 256 classes/);
  });
});

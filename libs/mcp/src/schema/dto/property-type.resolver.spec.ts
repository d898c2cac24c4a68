import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import * as v from 'class-validator';
import { jsonSchemaOf } from './dto-schema.factory.js';
import type { Class, JsonSchema } from '../json-schema.js';
import { MAX_CLASSES, MAX_NESTING } from '../schema-bounds.js';
import { SchemaException, UnknownNestedTypeException } from '../schema.exception.js';

const propertiesOf = (dto: Class) => jsonSchemaOf(dto).properties as Record<string, JsonSchema>;

class ItemDto {
  @v.IsString() name: string;
}

@v.ValidatorConstraint()
class Refusing implements v.ValidatorConstraintInterface {
  validate(): boolean {
    throw new Error('asked too early');
  }
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
    expect(() => jsonSchemaOf(TicketDto)).toThrow(UnknownNestedTypeException);
    expect(() => jsonSchemaOf(TicketDto)).toThrow(
      /^TicketDto\.items: .*array elements.*@Type\(\(\) => ItemDto\)/,
    );
  });

  it('asks for @Type where a nested property has no class', () => {
    class OrderDto {
      @v.ValidateNested() place: { street: string };
    }
    expect(() => jsonSchemaOf(OrderDto)).toThrow(/^OrderDto\.place: the nested class .*@Type/);
  });

  it('does not take the type of a property from its own class, which compilers write differently', () => {
    class SelfDto {
      @v.ValidateNested() self: unknown;
    }
    Reflect.defineMetadata('design:type', SelfDto, SelfDto.prototype, 'self');
    expect(() => jsonSchemaOf(SelfDto)).toThrow(SchemaException);
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
    expect(() => jsonSchemaOf(NothingDto)).toThrow(/^NothingDto\.gap: @Type\(\) gave no class/);
    expect(() => jsonSchemaOf(ThrowingDto)).toThrow(/^ThrowingDto\.gap: @Type\(\) gave no class/);
  });

  it('refuses @IsDate where nothing makes a Date, and allows it behind @Transform', () => {
    class TextDto {
      @v.IsDate() when: string;
    }
    class MadeDto {
      @v.IsDate() @Transform(({ value }) => new Date(String(value))) when: unknown;
    }
    expect(() => jsonSchemaOf(TextDto)).toThrow(/^TextDto\.when: .*@Type\(\(\) => Date\)/);
    expect(propertiesOf(MadeDto).when).toEqual({ type: 'string', format: 'date-time' });
  });

  it('refuses a property whose name is never read', () => {
    class OddDto {}
    Type(() => String)(OddDto.prototype, '__proto__');
    expect(() => jsonSchemaOf(OddDto)).toThrow(/^OddDto\.__proto__: .*rename/);
  });

  it('takes the declared type only where the rules leave the type open', () => {
    class DeclaredDto {
      @v.Allow() text: string;
      @v.IsOptional() count?: number;
      @v.Min(1) amount: string;
      @v.IsNumberString() id: number;
      @v.IsObject() free: ItemDto & { more: string };
      @v.IsDefined() item: ItemDto;
      @v.IsOptional() @Type(() => String) seen: Set<string>;
      @v.IsOptional() buffer: Buffer;
      @v.IsInt({ each: true }) @Type(() => Number) byName: Map<string, number>;
    }
    expect(propertiesOf(DeclaredDto)).toEqual({
      text: { type: 'string' },
      count: { type: 'number' },
      amount: { type: 'number', minimum: 1 },
      id: { type: 'string' },
      free: { type: 'object' },
      item: jsonSchemaOf(ItemDto),
      seen: { type: 'array', items: { type: 'string' } },
      buffer: {},
      byName: { type: 'object', additionalProperties: { type: 'integer' } },
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
    expect(jsonSchemaOf(PresenceDto).required).toEqual(['text', 'item', 'grouped']);
    expect(propertiesOf(PresenceDto).ruleCondition).toEqual({ type: 'number' });
  });

  it('publishes initialisers as defaults, and requires nothing that has one', () => {
    let made = 0;
    class DefaultsDto {
      @v.IsInt() limit = 20;
      @v.IsString({ each: true }) tags: string[] = ['new'];
      @v.IsDate() since = new Date(0);
      @v.IsInt() serial = (made += 1);
      // An item without a name is refused, and so is a call that leaves it to this.
      @v.ValidateNested() @Type(() => ItemDto) item = new ItemDto();
      @v.IsString() nothing: string | null = null;
      @v.IsString() declared: string | undefined = undefined;
    }
    Type(() => Date)(DefaultsDto.prototype, 'since');
    const { limit, tags, since, ...others } = propertiesOf(DefaultsDto);
    expect(limit).toEqual({ type: 'integer', default: 20 });
    expect(tags).toEqual({ type: 'array', items: { type: 'string' }, default: ['new'] });
    expect(since).toEqual({ type: 'string', format: 'date-time', default: '1970-01-01T00:00:00.000Z' });
    expect(Object.values(others).some((schema) => 'default' in schema)).toBe(false);
    expect(jsonSchemaOf(DefaultsDto).required).toEqual(['item', 'nothing', 'declared']);
    expect(Object.isFrozen(new DefaultsDto().tags)).toBe(false);
  });

  it('copies defaults that JSON holds without loss, and publishes no others', () => {
    const shared = { sort: ['name'], deep: { on: true } };
    class OptionsDto {
      @v.IsObject() options = shared;
      @v.IsObject() partly = { at: new Date(0) };
      @v.IsArray() gaps = [undefined];
      @v.IsNumber() ratio = NaN;
      @v.IsObject() made = new ItemDto();
    }
    expect(propertiesOf(OptionsDto)).toEqual({
      options: { type: 'object', default: shared },
      partly: { type: 'object', default: { at: '1970-01-01T00:00:00.000Z' } },
      gaps: { type: 'array', items: {} },
      ratio: { type: 'number' },
      made: { type: 'object' },
    });
    expect(Object.isFrozen(shared)).toBe(false);
  });

  it('takes no mark for a rule about entries, and every size for a whole number', () => {
    class MarkedDto {
      @v.IsOptional({ each: true }) @v.IsString() nick?: string;
      @v.Allow({ each: true }) any: unknown;
      @v.MinLength(1.5) @v.MaxLength(2.5) text: string;
      @v.ArrayMinSize(-1) list: unknown[];
    }
    expect(propertiesOf(MarkedDto)).toEqual({
      nick: { type: 'string' },
      any: {},
      text: { type: 'string', minLength: 2, maxLength: 2 },
      list: { type: 'array', items: {} },
    });
  });

  it('takes an initialiser for none where the rules refuse it', () => {
    class DraftDto {
      @v.IsNotEmpty() @v.IsString() title = '';
      @v.Min(1) page = 0;
      @v.IsInt({ each: true }) sizes = [1.5];
      @v.IsOptional() @v.Min(1) size = 0;
      @v.ValidateIf((_, value) => value !== null) @v.IsInt() limit: number | null = null;
      @v.Validate(Refusing) code = 'x';
    }
    const { title, page, sizes, size, limit, code } = propertiesOf(DraftDto);
    // Also where its absence would be spared: the initialiser stands in, and is refused.
    expect(jsonSchemaOf(DraftDto).required).toEqual(['title', 'page', 'sizes', 'size']);
    expect([title, page, sizes, size].filter((schema) => schema && 'default' in schema)).toEqual([]);
    expect(limit).toEqual({ anyOf: [{ type: 'integer' }, { type: 'null' }], default: null });
    // A constraint of the application is not asked while the application starts.
    expect(code).toEqual({ default: 'x' });
  });
});

describe('the bounds of a schema', () => {
  it('stays small and quick for a deep graph in which each class is used twice', () => {
    const started = performance.now();
    const text = JSON.stringify(jsonSchemaOf(chain(50, 2)));
    expect(performance.now() - started).toBeLessThan(500);
    expect(text.length).toBeLessThan(64 * 1024);
    expect(text).toContain('#/$defs/LinkDto_2');
  });

  it('writes a chain at the nesting bound and refuses one beyond it', () => {
    expect(() => jsonSchemaOf(chain(MAX_NESTING))).not.toThrow();
    expect(() => jsonSchemaOf(chain(MAX_NESTING + 1))).toThrow(/LinkDto: its DTOs nest deeper than 64/);
    expect(() => jsonSchemaOf(chain(MAX_CLASSES + 1))).toThrow(/more than 256 classes/);
  });
});

import { Module, type Type as Constructor } from '@nestjs/common';
import { Exclude, Expose, Type } from 'class-transformer';
import {
  IsArray,
  IsDate,
  IsEnum,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  ValidateNested,
} from 'class-validator';
import {
  McpArgs,
  McpBootException,
  McpModule,
  McpProperty,
  McpTool,
  type McpModuleOptions,
  type McpToolOptions,
} from 'nest-mcp';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { CapturedLog } from '../nest/captured-log.js';
import { startApp } from '../support/app.js';

class ItemDto {
  @IsString()
  name: string;
}
class CatDto {
  @IsIn(['cat'])
  kind: string;
}

class UnnamedListDto {
  @IsArray()
  @ValidateNested({ each: true })
  items: ItemDto[];
}
class CircularDto {
  @ValidateNested()
  @Type(() => undefined as unknown as Constructor)
  item: unknown;
}
class DateDto {
  @IsDate()
  when: string;
}
class MapDto {
  @IsObject()
  counts: Map<string, number>;
}
class SetDto {
  @IsArray()
  @Type(() => String)
  tags: Set<string>;
}
class ReservedDto {
  @IsString()
  hasOwnProperty: never;
}
class SharedNameDto {
  @IsString()
  @Expose({ name: 'title' })
  name: string;

  @IsString()
  title: string;
}
class ExcludedDto {
  @IsString()
  @Exclude()
  secret: string;
}
class NeedyDto {
  @IsString()
  text: string;

  constructor(source: { text: string }) {
    this.text = source.text;
  }
}
class PetDto {
  @ValidateNested()
  @Type(() => CatDto, { discriminator: { property: 'kind', subTypes: [{ name: 'cat', value: CatDto }] } })
  pet: CatDto;
}
class StatedDefaultDto {
  @IsOptional()
  @IsInt()
  @McpProperty({ default: 20 })
  limit?: number;
}
class ContradictionDto {
  @IsString()
  @IsInt()
  never: unknown;
}
class ContradictionInListDto {
  @IsOptional()
  @IsIn(['a'])
  @IsIn(['b'])
  never?: string;
}
class ContradictingContainersDto {
  @IsString()
  @IsString({ each: true })
  value: unknown;
}
class OwnContradictionDto {
  @IsInt()
  @McpProperty({ schema: { type: 'string' } })
  never: unknown;
}
enum Level {
  Low = 1,
  High = 2,
}
class TitlesDto {
  @IsEnum(Level)
  @McpProperty({ enumTitles: { Low: 'Can wait' } })
  level: Level;
}
class FragmentDto {
  @IsObject()
  @McpProperty({ schema: { minProperties: 'one' } })
  filter: object;
}
class BareDto {
  total: number;
}

/** A chain of DTOs, each nested in the one before. */
function chain(length: number): Constructor {
  let inner: Constructor = ItemDto;
  for (let left = length; left > 1; left--) {
    const nested = inner;
    class LinkDto {
      @ValidateNested()
      @Type(() => nested)
      next: object;
    }
    inner = LinkDto;
  }
  return inner;
}

/** A DTO of so many others, side by side. */
function crowd(size: number): Constructor {
  class CrowdDto {}
  for (let index = 0; index < size; index++) {
    class MemberDto {
      @IsString()
      name: string;
    }
    ValidateNested()(CrowdDto.prototype, `member${index}`);
    Type(() => MemberDto)(CrowdDto.prototype, `member${index}`);
  }
  return CrowdDto;
}

const input = (schema: McpToolOptions['input']): McpToolOptions => ({ input: schema });
const output = (schema: McpToolOptions['output']): McpToolOptions => ({ output: schema });

/** Startup problem, tool options that have it, and what the message has to say: where, what, and what to write. */
const REFUSALS: [string, McpToolOptions, ...string[]][] = [
  [
    'UnknownNestedTypeException',
    input(UnnamedListDto),
    'UnnamedListDto.items: the class of the array elements',
    'add @Type(() => ItemDto)',
  ],
  [
    'UnresolvedTypeException',
    input(CircularDto),
    'CircularDto.item: @Type() gave no class',
    'return it from the function',
  ],
  [
    'DateWithoutTypeException',
    input(DateDto),
    'DateDto.when: @IsDate() refuses every JSON value',
    'add @Type(() => Date)',
  ],
  [
    'ContradictoryRulesException',
    input(ContradictionDto),
    'ContradictionDto.never: the rule isInt and the rule isString exclude each other',
    'no value is both an integer and a string; correct one of them, or leave it out',
  ],
  [
    'ContradictoryRulesException',
    input(ContradictionInListDto),
    'ContradictionInListDto.never: the rule isIn and another one exclude each other',
    'their lists of values have none in common',
  ],
  [
    'ContradictoryRulesException',
    input(ContradictingContainersDto),
    'ContradictingContainersDto.value: the rule isString',
    'no value is both a string and an array',
  ],
  [
    'ContradictoryRulesException',
    input(OwnContradictionDto),
    'OwnContradictionDto.never: the rule isInt and the schema of @McpProperty() exclude each other',
  ],
  ['CollectionWithoutTypeException', input(MapDto), 'MapDto.counts: ', 'add @Type(() => String)'],
  [
    'ArrayRuleOnSetException',
    input(SetDto),
    'SetDto.tags: the rule isArray refuses every Set',
    'take an array',
  ],
  ['ReservedPropertyException', input(ReservedDto), 'ReservedDto.hasOwnProperty: ', 'rename the property'],
  [
    'SharedNameException',
    input(SharedNameDto),
    'SharedNameDto.',
    'published as "title"',
    '@Expose({ name })',
  ],
  [
    'ExcludedPropertyException',
    input(ExcludedDto),
    'ExcludedDto.secret: @Exclude()',
    '@Exclude({ toPlainOnly: true })',
  ],
  ['ConstructorException', input(NeedyDto), 'NeedyDto: its constructor throws', 'let it take none'],
  ['RemovedDiscriminatorException', input(PetDto), 'CatDto.kind: ', 'keepDiscriminatorProperty: true'],
  ['StatedDefaultException', input(StatedDefaultDto), 'StatedDefaultDto.limit: ', 'write `limit = 20`'],
  [
    'EnumTitlesException',
    input(TitlesDto),
    'TitlesDto.level: enumTitles name "Low"',
    'use the values themselves',
  ],
  [
    'InvalidFragmentException',
    input(FragmentDto),
    'FragmentDto.filter: the schema of @McpProperty()',
    'minProperties',
    'correct it',
  ],
  ['SchemaTooLargeException', input(chain(70)), 'nest deeper than 64 classes', 'flatten them'],
  [
    'SchemaTooLargeException',
    input(crowd(260)),
    'CrowdDto: its DTOs reach more than 256 classes',
    'split the tool',
  ],
  [
    'NoJsonSchemaException',
    input(z3.object({ a: z3.string() }) as never),
    'zod schema is of version 3',
    'import z from zod 4',
  ],
  [
    'UnrepresentableSchemaException',
    input(z.object({ when: z.date() })),
    "the input of the zod schema can't be written",
    'convert it in the schema',
  ],
  [
    'UnrepresentableSchemaException',
    output(v.object({ when: v.date() })),
    "the output of the valibot schema can't be written",
    'end with a type that JSON has',
  ],
  ['SchemaRootException', input(z.array(z.string())), "the schema's root", 'z.object('],
  [
    'SchemaRootException',
    input(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])),
    "the schema's root",
    'z.object(',
  ],
  ['SchemaRootException', input({ properties: {} }), "the schema's root", '"type": "object"'],
  [
    'UnknownDialectException',
    input({ $schema: 'https://json-schema.org/draft/2019-09/schema', type: 'object' }),
    'the dialect "$schema": "https://json-schema.org/draft/2019-09/schema" is not known',
    'known are',
  ],
  [
    'InvalidSchemaException',
    input({ type: 'object', properties: { a: { type: 'text' } } }),
    'the JSON Schema is not valid',
    '/properties/a',
  ],
  [
    'InvalidSchemaException',
    input({ type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }),
    'the JSON Schema is not valid',
    'https://example.com/a.json',
  ],
  [
    'InvalidSchemaException',
    input({ type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 1 } } }),
    'the JSON Schema is not valid',
    'x-mcp-header',
  ],
  [
    'EmptyOutputException',
    output(BareDto),
    'BareDto: it has no known property',
    'decorate what is to be sent',
  ],
];

function toolsOf(options: McpToolOptions): Constructor {
  class RefusedTools {
    @McpTool(options)
    run(@McpArgs() _args: unknown): void {}
  }
  class OutputTools {
    @McpTool(options)
    run(): void {}
  }
  return options.input === undefined ? OutputTools : RefusedTools;
}

async function refusal(provider: Constructor, options: Partial<McpModuleOptions> = {}): Promise<Error> {
  @Module({
    imports: [McpModule.forRoot({ name: 'refused', version: '1.0.0', ...options })],
    providers: [provider],
  })
  class RootModule {}
  let running;
  try {
    running = await startApp(RootModule, { logger: new CapturedLog() });
  } catch (error) {
    return error as Error;
  }
  await running.close();
  throw new Error('the application started');
}

describe('schemas that cannot be published', () => {
  it.each(REFUSALS)('refuse the start: %s (%#)', async (name, options, ...parts) => {
    const error = await refusal(toolsOf(options));
    const isInput = options.input !== undefined;
    expect(error).toBeInstanceOf(McpBootException);
    expect(error.name).toBe(isInput ? 'UnusableArgumentsException' : 'UnusableOutputException');
    expect((error.cause as Error).name).toBe(name);
    expect(error.message).toContain(isInput ? 'RefusedTools.run: ' : 'OutputTools.run, output: ');
    for (const part of parts) expect(error.message).toContain(part);
  });

  it('B18: a dialect that nobody knows is refused at start, not at the first call', async () => {
    const error = await refusal(toolsOf(input({ $schema: 'urn:my-dialect', type: 'object' })));
    expect(error.message).toBe(
      'RefusedTools.run: the dialect "$schema": "urn:my-dialect" is not known; known are ' +
        'https://json-schema.org/draft/2020-12/schema and http://json-schema.org/draft-07/schema#',
    );
  });
});

describe('options of schemas that cannot be meant', () => {
  it.each([
    ['input', 'text', 'a value of type string is no schema; give a DTO class, a Standard Schema'],
    ['input', String, 'the function String is no schema'],
    ['output', null, 'null is no schema'],
    ['output', [ItemDto], 'an array is no schema'],
    ['input', { name: z.string() }, 'wrap it: z.object({ … })'],
    ['input', new ItemDto(), 'an instance of ItemDto is no schema'],
    ['unknownMembers', 'ignore', "must be 'refuse' or 'drop'"],
  ])('%s: %p is refused', async (option, value, part) => {
    const error = await refusal(toolsOf({ input: ItemDto, [option]: value } as McpToolOptions));
    expect(error.name).toBe('InvalidHandlerOptionException');
    expect(error.message).toContain(`RefusedTools.run: @McpTool() option \`${option}\` `);
    expect(error.message).toContain(part);
  });

  it('a parameter of a class next to a schema that makes no instance of it', async () => {
    class TypedTools {
      @McpTool({ input: z.object({ name: z.string() }) })
      run(_args: ItemDto): void {}
    }
    const error = await refusal(TypedTools);
    expect(error.name).toBe('UnusableParameterException');
    expect(error.message).toContain('TypedTools.run, parameter 1: it is typed as the class ItemDto');
    expect(error.message).toContain('mark the parameter @McpArgs()');
  });

  it("validation: 'app' where no pipe of the application is bound", async () => {
    const error = await refusal(toolsOf({ input: ItemDto }), { validation: 'app' });
    expect(error.name).toBe('UnvalidatedHandlerException');
    expect(error.message).toBe(
      "RefusedTools.run: McpModule has validation: 'app', but no pipe of the application reaches this handler. " +
        "Bind one, app.useGlobalPipes(new ValidationPipe({ transform: true })), or write validation: 'auto'.",
    );
  });

  it.each([
    ['a Standard Schema', { input: z.object({ name: z.string() }) }],
    ['a JSON Schema', { input: { type: 'object' } }],
    ['no arguments', {}],
  ])("validation: 'app' says nothing of a tool with %s, which no pipe validates", async (_, options) => {
    await expect(refusal(toolsOf(options), { validation: 'app' })).rejects.toThrow('the application started');
  });

  it('validation that is none of the three', async () => {
    const error = await refusal(toolsOf({ input: ItemDto }), { validation: 'always' as never });
    expect(error.name).toBe('InvalidOptionException');
    expect(error.message).toContain("option `validation` must be one of 'auto', 'own', 'app'");
  });

  it('of @McpProperty(), as soon as the class is read', () => {
    expect(() => McpProperty({ descripton: 'x' } as never)(ItemDto.prototype, 'name')).toThrow(TypeError);
    expect(() => McpProperty({ descripton: 'x' } as never)(ItemDto.prototype, 'name')).toThrow(/descripton/);
  });
});

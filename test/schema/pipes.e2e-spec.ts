import 'reflect-metadata';
import { Injectable, Module, ValidationPipe, type Type, type ValidationPipeOptions } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Expose, Transform, Type as Typed } from 'class-transformer';
import { IsBoolean, IsDate, IsInt, IsOptional, IsString, MaxLength, Min } from 'class-validator';
import { McpModule, McpProperty, McpTool } from 'nest-mcp';
import { startApp, type RunningApp } from '../support/app.js';
import { callTool, modern, textOf, type Json } from '../support/wire.js';

class TrimmedDto {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  @IsString()
  @MaxLength(5)
  name: string;
}

class SplitDto {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  @IsString({ each: true })
  tags: string[];
}

class FlagDto {
  @IsBoolean()
  flag: boolean;

  @IsOptional()
  @IsInt()
  @Min(1)
  count?: number;
}

class DatedDto {
  @IsDate()
  @Typed(() => Date)
  when: Date;
}

class PartlyDecoratedDto {
  @IsString()
  a: string;

  b?: string;
}

class DescribedDto {
  @IsString()
  kept: string;

  @McpProperty({ description: 'Has no rule, and is kept all the same' })
  described?: string;

  @ApiProperty({ required: false })
  shown?: string;

  @Typed(() => Number)
  typed?: number;
}

class ExposedDto {
  @Expose()
  @IsString()
  shown: string;

  @Expose({ groups: ['staff'] })
  @IsOptional()
  @IsString()
  staff?: string;

  @IsOptional()
  @IsString()
  other?: string;
}

@Injectable()
class PipeTools {
  @McpTool()
  trimmed(args: TrimmedDto) {
    return { seen: args.name };
  }

  @McpTool()
  split(args: SplitDto) {
    return { seen: args.tags };
  }

  @McpTool()
  flag(args: FlagDto) {
    return { seen: args.flag };
  }

  @McpTool()
  dated(args: DatedDto) {
    return { seen: args.when instanceof Date ? args.when.toISOString() : typeof args.when };
  }

  @McpTool()
  partly(args: PartlyDecoratedDto) {
    return { seen: args };
  }

  @McpTool({ unknownMembers: 'drop' })
  dropping(args: PartlyDecoratedDto) {
    return { seen: args };
  }

  @McpTool()
  described(args: DescribedDto) {
    return { seen: args };
  }
}

@Injectable()
class ExposedTools {
  @McpTool()
  exposed({ shown, staff, other }: ExposedDto) {
    return { seen: { shown, staff, other } };
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'pipes', version: '1.0.0' })], providers: [PipeTools] })
class PipesModule {}

@Module({ imports: [McpModule.forRoot({ name: 'exposed', version: '1.0.0' })], providers: [ExposedTools] })
class ExposedModule {}

/** What the handler saw, or the refusal. */
type Call = (name: string, args: Json) => Promise<unknown>;

async function withApp(
  options: ValidationPipeOptions | undefined,
  work: (call: Call, app: RunningApp) => Promise<void>,
  root: Type = PipesModule,
) {
  const running = await startApp(root, {
    configure: (app) => options && app.useGlobalPipes(new ValidationPipe(options)),
  });
  try {
    await work(async (name, args) => {
      const { result } = await callTool(running.mcp, name, args);
      return result['isError'] ? textOf(result) : (result['structuredContent'] as Json)['seen'];
    }, running);
  } finally {
    await running.close();
  }
}

const refused = (tool: string, ...issues: string[]) =>
  [`Invalid arguments for ${tool}:`, ...issues.map((issue) => `- ${issue}`)].join('\n');

describe('a pipe', () => {
  it.each([
    ['ours', undefined],
    ["the application's", { transform: true }],
  ])(
    '%s: @Transform() changes what has passed the schema, and not what the schema sees',
    async (_, options) => {
      await withApp(options, async (call) => {
        expect(await call('trimmed', { name: ' abc ' })).toBe('abc');
        expect(await call('trimmed', { name: '  abc  ' })).toMatch(
          /^Invalid arguments for trimmed:\n- name: /,
        );
        expect(await call('split', { tags: ['a', 'b'] })).toEqual(['a', 'b']);
        expect(await call('split', { tags: 'a,b' })).toMatch(/^Invalid arguments for split:\n- tags: /);
      });
    },
  );

  it.each([
    ['ours', undefined],
    ["the application's", { transform: true }],
    [
      "the application's, with implicit conversion",
      { transform: true, transformOptions: { enableImplicitConversion: true } },
    ],
  ])('C2: %s: no text is ever taken for true', async (_, options) => {
    await withApp(options, async (call) => {
      expect(await call('flag', { flag: true })).toBe(true);
      expect(await call('flag', { flag: false })).toBe(false);
      for (const flag of ['false', 'true', '', 0, 1, null, [], {}])
        expect(await call('flag', { flag })).toMatch(/^Invalid arguments for flag:\n- flag: /);
      expect(await call('flag', { flag: true, count: '5' })).toMatch(
        /^Invalid arguments for flag:\n- count: /,
      );
    });
  });

  it.each([
    ['ours', undefined],
    ["the application's", { transform: true }],
    [
      "the application's, with implicit conversion",
      { transform: true, transformOptions: { enableImplicitConversion: true } },
    ],
  ])('B13: %s: a date is a text that becomes a Date', async (_, options) => {
    await withApp(options, async (call) => {
      expect(await call('dated', { when: '2024-01-01T10:00:00Z' })).toBe('2024-01-01T10:00:00.000Z');
      expect(await call('dated', { when: '2024-01-01' })).toBe('2024-01-01T00:00:00.000Z');
      for (const when of ['banana', '', 1704067200000, null])
        expect(await call('dated', { when })).toMatch(/^- when\b/m);
    });
  });

  it.each([
    ['ours', undefined],
    ["the application's", { transform: true }],
    ["the application's, with whitelist", { transform: true, whitelist: true }],
    [
      "the application's, with forbidNonWhitelisted",
      { transform: true, whitelist: true, forbidNonWhitelisted: true },
    ],
  ])('C6: %s: unknown members are refused by name, or dropped, as the tool says', async (_, options) => {
    await withApp(options, async (call, { mcp }) => {
      expect(await call('partly', { a: 'x' })).toEqual({ a: 'x' });
      const issues = (await call('partly', { a: 'x', b: 'y', c: 'z' })) as string;
      expect(issues.split('\n')).toEqual([
        'Invalid arguments for partly:',
        expect.stringMatching(/^- b: /),
        expect.stringMatching(/^- c: /),
      ]);
      expect(await call('dropping', { a: 'x', b: 'y', c: 'z' })).toEqual({ a: 'x' });
      const { result } = await modern(mcp, 'tools/list');
      const tools = result['tools'] as { name: string; inputSchema: Json }[];
      const schemaOf = (name: string) => tools.find((tool) => tool.name === name)!.inputSchema;
      expect(schemaOf('partly')).toMatchObject({
        properties: { a: { type: 'string' } },
        additionalProperties: false,
      });
      expect(schemaOf('partly')['properties']).not.toHaveProperty('b');
      expect(schemaOf('dropping')).not.toHaveProperty('additionalProperties');
    });
  });

  it('C6: what a whitelist would take away is not listed; @McpProperty() counts as a rule, Swagger and @Type() do not', async () => {
    const args = { kept: 'a', described: 'b', shown: 'c', typed: 1 };
    await withApp(undefined, async (call) => expect(await call('described', args)).toEqual(args));
    for (const forbidNonWhitelisted of [false, true]) {
      await withApp({ transform: true, whitelist: true, forbidNonWhitelisted }, async (call) => {
        expect(await call('described', { kept: 'a', described: 'b' })).toEqual({ kept: 'a', described: 'b' });
        expect(((await call('described', args)) as string).split('\n')).toEqual([
          'Invalid arguments for described:',
          '- shown: is not a known member (known: kept, described)',
          '- typed: is not a known member (known: kept, described)',
        ]);
      });
    }
  });

  it('C6: what only @Expose() lets through, and for which groups, is what is listed', async () => {
    const strict = {
      transform: true,
      transformOptions: { excludeExtraneousValues: true, groups: ['staff'] },
    };
    await withApp(
      strict,
      async (call) => {
        expect(await call('exposed', { shown: 'a', staff: 'b' })).toEqual({ shown: 'a', staff: 'b' });
        expect(await call('exposed', { shown: 'a', staff: 'b', other: 'c' })).toBe(
          refused('exposed', 'other: is not a known member (known: shown, staff)'),
        );
      },
      ExposedModule,
    );
    await withApp(
      { transform: true },
      async (call) =>
        expect(await call('exposed', { shown: 'a', other: 'c' })).toEqual({ shown: 'a', other: 'c' }),
      ExposedModule,
    );
  });

  it('names the field in our words where our own validation refuses', async () => {
    await withApp(undefined, async (call) => {
      expect(await call('flag', { flag: true, count: 0 })).toBe(refused('flag', 'count: must be at least 1'));
    });
  });
});

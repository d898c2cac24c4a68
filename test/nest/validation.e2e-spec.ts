import {
  Injectable,
  Module,
  UsePipes,
  ValidationPipe,
  type ArgumentMetadata,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import {
  useContainer,
  IsDate,
  IsInt,
  IsOptional,
  IsString,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { McpModule, McpProperty, McpTool, type McpModuleOptions } from 'nest-mcp';
import { z } from 'zod';
import { ADAPTERS, startApp, type AppOptions, type RunningApp } from '../support/app.js';
import { callTool, modern, textOf, type Json } from '../support/wire.js';
import { CapturedLog } from './captured-log.js';
import { counts, WordDto } from './counted-word.dto.js';

const seen: unknown[] = [];

class WatchingPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type === 'body') seen.push(metatype, value instanceof WordDto);
    return value;
  }
}

class WordTools {
  @McpTool()
  @UsePipes(WatchingPipe)
  say(args: WordDto): string {
    return `${args.constructor.name} ${args.word}`;
  }

  @McpTool({ input: z.object({ word: z.string() }) })
  zod(args: { word: string }): string {
    return args.word;
  }
}

const rootOf = (options: Partial<McpModuleOptions>, ...providers: Type[]): Type => {
  @Module({ imports: [McpModule.forRoot({ name: 'validation', version: '1.0.0', ...options })], providers })
  class RootModule {}
  return RootModule;
};

async function within(
  root: Type,
  options: AppOptions,
  use: (app: RunningApp) => Promise<void>,
): Promise<void> {
  const running = await startApp(root, options);
  try {
    await use(running);
  } finally {
    await running.close();
  }
}

const withPipe = (pipe: PipeTransform): AppOptions => ({ configure: (app) => void app.useGlobalPipes(pipe) });

describe.each(ADAPTERS)('the option `validation` on %s', (adapter) => {
  it.each([
    ['auto', "the application's pipe", '- word must not be bad'],
    ['own', 'the library, whatever pipe is bound', 'Invalid arguments for say:\n- word: must not be bad'],
    ['app', "the application's pipe", '- word must not be bad'],
  ] as const)('%s: it is %s that makes and validates the DTO, once', async (validation, _who, refusal) => {
    const options = { ...withPipe(new ValidationPipe({ transform: true })), adapter };
    await within(rootOf({ validation }, WordTools), options, async ({ mcp }) => {
      counts.made = counts.judged = seen.length = 0;
      const { result } = await callTool(mcp, 'say', { word: 'good' });
      expect(textOf(result)).toBe('WordDto good');
      expect([counts.made, counts.judged, seen]).toEqual([1, 1, [WordDto, true]]);
      counts.made = counts.judged = 0;
      expect(textOf((await callTool(mcp, 'say', { word: 'bad' })).result)).toBe(refusal);
      expect([counts.made, counts.judged]).toEqual([1, 1]);
      expect(textOf((await callTool(mcp, 'say', { word: 1 })).result)).toBe(
        'Invalid arguments for say:\n- word: must be a string',
      );
      expect(textOf((await callTool(mcp, 'zod', { word: 'x' })).result)).toBe('x');
    });
  });

  it('own: a pipe of the application that is bound by APP_PIPE passes by as well', async () => {
    @Module({
      imports: [McpModule.forRoot({ name: 'validation', version: '1.0.0', validation: 'own' })],
      providers: [WordTools, { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true }) }],
    })
    class RootModule {}
    await within(RootModule, { adapter }, async ({ mcp }) => {
      counts.made = counts.judged = 0;
      expect(textOf((await callTool(mcp, 'say', { word: 'good' })).result)).toBe('WordDto good');
      expect([counts.made, counts.judged]).toEqual([1, 1]);
    });
  });

  it("app: any pipe of the application's own counts, and the library stands back", async () => {
    const handMade: PipeTransform = {
      transform: (value: Json, { type }: ArgumentMetadata) =>
        type === 'body' ? Object.assign(new WordDto(), value) : value,
    };
    const options = { ...withPipe(handMade), adapter };
    await within(rootOf({ validation: 'app' }, WordTools), options, async ({ mcp }) => {
      counts.judged = 0;
      expect(textOf((await callTool(mcp, 'say', { word: 'bad' })).result)).toBe('WordDto bad');
      expect(counts.judged).toBe(0);
    });
  });
});

describe("groups of the application's ValidationPipe", () => {
  class GroupedDto {
    @IsString({ always: true })
    name: string;

    @IsInt({ groups: ['create'] })
    size: number;

    @IsString({ groups: ['update'] })
    reason: string;
  }
  class GroupedTools {
    @McpTool()
    save(args: GroupedDto): GroupedDto {
      return args;
    }
  }
  class CreatePipe extends ValidationPipe {
    constructor() {
      super({ transform: true, groups: ['create'] });
    }
  }
  class PipedTools {
    @McpTool()
    @UsePipes(CreatePipe)
    save(args: GroupedDto): GroupedDto {
      return args;
    }
  }

  it.each([
    ['bound to the application', GroupedTools, withPipe(new CreatePipe())],
    ['bound to the method as a class', PipedTools, {}],
  ])('choose the rules that are published: %s', async (_where, tools, options) => {
    await within(rootOf({}, tools), options, async ({ mcp }) => {
      const { result } = await modern(mcp, 'tools/list');
      const [tool] = result['tools'] as [{ inputSchema: Json }];
      expect(tool.inputSchema).toMatchObject({
        properties: { name: { type: 'string' }, size: { type: 'integer' } },
        required: ['name', 'size'],
      });
      const saved = await callTool(mcp, 'save', { name: 'a', size: 1 });
      expect(saved.result['structuredContent']).toEqual({ name: 'a', size: 1 });
      const wrong = await callTool(mcp, 'save', { name: 'a', size: 'x' });
      expect(textOf(wrong.result)).toBe('Invalid arguments for save:\n- size: must be an integer');
    });
  });

  it('every rule is published and run where nothing chooses', async () => {
    await within(rootOf({}, GroupedTools), {}, async ({ mcp }) => {
      const wrong = await callTool(mcp, 'save', { name: 'a' });
      expect(textOf(wrong.result).split('\n').toSorted()).toEqual([
        '- reason: is required',
        '- size: is required',
        'Invalid arguments for save:',
      ]);
    });
  });
});

describe("a Date without @Type() under the application's ValidationPipe", () => {
  class DatedDto {
    @IsDate()
    when: Date;
  }
  class DatedTools {
    @McpTool()
    at({ when }: DatedDto): string {
      return when.toISOString();
    }
  }
  const args = { when: '2024-01-02T03:04:05Z' };

  it('refuses the start, as no call could succeed', async () => {
    for (const options of [{ transform: true }, { whitelist: true }]) {
      await expect(
        within(rootOf({}, DatedTools), withPipe(new ValidationPipe(options)), async () => undefined),
      ).rejects.toThrow(
        'DatedTools.at: DatedDto.when: @IsDate() refuses every JSON value here; add @Type(() => Date), or use @IsDateString()',
      );
    }
  });

  it.each<[string, Partial<McpModuleOptions>, AppOptions]>([
    ['the library validates', {}, {}],
    [
      'the library validates beside the pipe',
      { validation: 'own' },
      withPipe(new ValidationPipe({ transform: true })),
    ],
    [
      'the pipe converts to declared types',
      {},
      withPipe(new ValidationPipe({ transform: true, transformOptions: { enableImplicitConversion: true } })),
    ],
  ])('works where %s', async (_, options, app) => {
    await within(rootOf(options, DatedTools), app, async ({ mcp }) => {
      expect(textOf((await callTool(mcp, 'at', args)).result)).toBe('2024-01-02T03:04:05.000Z');
    });
  });
});

describe('the default of a property', () => {
  class PageDto {
    @IsInt()
    limit = 20;
  }
  class StatedDto {
    @IsOptional()
    @IsInt()
    @McpProperty({ default: 20 })
    limit?: number;
  }
  class PageTools {
    @McpTool()
    page(args: PageDto): { limit: number } {
      return { limit: args.limit };
    }
  }
  class StatedTools {
    @McpTool()
    page(args: StatedDto): { limit?: number } {
      return { limit: args.limit };
    }
  }
  const published = { type: 'integer', default: 20 };

  it.each<[string, Type, AppOptions, Json, Json]>([
    ['is published where it is given', PageTools, {}, published, { limit: 20 }],
    [
      'is published where the pipe makes an instance',
      PageTools,
      withPipe(new ValidationPipe({ transform: true })),
      published,
      { limit: 20 },
    ],
    [
      'is published where the pipe writes its instance back as a plain object',
      PageTools,
      withPipe(new ValidationPipe({ whitelist: true })),
      published,
      { limit: 20 },
    ],
    [
      'is not published where the pipe hands on what was sent',
      PageTools,
      withPipe(new ValidationPipe()),
      { type: 'integer' },
      {},
    ],
    [
      'is not published there where it is only stated, and the application starts',
      StatedTools,
      withPipe(new ValidationPipe()),
      { type: 'integer' },
      {},
    ],
  ])('%s', async (_, tools, options, limit, seen) => {
    await within(rootOf({}, tools), options, async ({ mcp }) => {
      const { result } = await modern(mcp, 'tools/list');
      const [tool] = result['tools'] as [{ inputSchema: Json }];
      expect(tool.inputSchema).toEqual({
        type: 'object',
        properties: { limit },
        additionalProperties: false,
      });
      expect((await callTool(mcp, 'page', {})).result['structuredContent']).toEqual(seen);
    });
  });
});

describe('a DTO that no decorator describes', () => {
  class BareDto {
    query?: string;
  }
  class BareTools {
    @McpTool()
    find(_args: BareDto): string {
      return 'found';
    }
  }

  it('is warned of at start, and its tool takes no arguments', async () => {
    const logger = new CapturedLog();
    await within(rootOf({}, BareTools, WordTools), { logger }, async ({ mcp }) => {
      const warnings = logger.of('warn').filter((line) => line.includes('decorated'));
      expect(warnings).toEqual([
        expect.stringContaining(
          'BareTools.find: BareDto has no decorated property, so the tool takes no arguments',
        ),
      ]);
      expect(textOf((await callTool(mcp, 'find', {})).result)).toBe('found');
      expect(textOf((await callTool(mcp, 'find', { query: 'a' })).result)).toBe(
        'Invalid arguments for find:\n- query: is not a known member (none is known here)',
      );
    });
  });
});

describe('C10: a custom constraint', () => {
  const started: string[] = [];

  @Injectable()
  class NameService {
    async isFree(name: string): Promise<boolean> {
      started.push(name);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return name !== 'taken';
    }
  }

  @Injectable()
  @ValidatorConstraint({ async: true })
  class IsFree implements ValidatorConstraintInterface {
    constructor(private readonly names: NameService) {}
    validate(name: string): Promise<boolean> {
      return this.names.isFree(name);
    }
    defaultMessage(): string {
      return '$property is taken';
    }
  }

  class NamesDto {
    @Validate(IsFree)
    name: string;

    @IsString({ each: true })
    @Validate(IsFree, { each: true })
    others: string[];
  }

  class NameTools {
    @McpTool()
    take(args: NamesDto): string {
      return args.name;
    }
  }

  it('is awaited, has its service injected, and names the field, for each entry too', async () => {
    const options: AppOptions = {
      configure: (app) => useContainer(app.select(RootModule), { fallbackOnErrors: true }),
    };
    @Module({
      imports: [McpModule.forRoot({ name: 'names', version: '1.0.0' })],
      providers: [NameTools, NameService, IsFree],
    })
    class RootModule {}
    await within(RootModule, options, async ({ mcp }) => {
      expect(textOf((await callTool(mcp, 'take', { name: 'a', others: ['b'] })).result)).toBe('a');
      expect(started).toEqual(['a', 'b']);
      const taken = await callTool(mcp, 'take', { name: 'taken', others: ['b', 'taken'] });
      expect(taken.result).toMatchObject({ isError: true });
      expect(textOf(taken.result).split('\n').toSorted()).toEqual([
        '- name: is taken',
        '- others: is taken',
        'Invalid arguments for take:',
      ]);
    });
    useContainer({ get: <T>(type: new () => T) => new type() } as never);
  });
});

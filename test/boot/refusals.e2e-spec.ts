import {
  Body,
  Controller,
  Injectable,
  createParamDecorator,
  Module,
  Post,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type ModuleMetadata,
  type OnModuleInit,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { IsArray, IsDate, IsString, ValidateNested } from 'class-validator';
import { PassThrough } from 'node:stream';
import {
  McpArgs,
  McpBootException,
  McpContext,
  McpCtx,
  McpModule,
  McpRegistry,
  McpTool,
  serveMcpOverStdio,
  type McpModuleOptions,
} from 'nest-mcp';
import { startApp } from '../support/app.js';
import { CapturedLog } from '../nest/captured-log.js';

const REQUIRED = { name: 'refused', version: '1.0.0' };

function rootOf(metadata: ModuleMetadata, mcp: DynamicModule | Type = McpModule.forRoot(REQUIRED)): Type {
  @Module({ ...metadata, imports: [mcp, ...(metadata.imports ?? [])] })
  class RootModule {}
  return RootModule;
}

/** The error by which an application refuses to start. */
async function refusal(root: Type, logger = new CapturedLog()): Promise<Error> {
  let running;
  try {
    running = await startApp(root, { logger });
  } catch (error) {
    return error as Error;
  }
  await running.close();
  throw new Error('the application started');
}

/** Starts, gives what is exposed and what was warned of, and stops. */
async function started(root: Type): Promise<{ names: string[]; warnings: string[] }> {
  const log = new CapturedLog();
  const running = await startApp(root, { logger: log });
  const names = running.app
    .get(McpRegistry)
    .describe()
    .map(({ name }) => name);
  await running.close();
  return { names, warnings: log.of('warn') };
}

const tools = (...providers: Type[]) => rootOf({ providers });

class PageDto {
  @IsString()
  page: string;
}
class OtherDto {
  @IsString()
  other: string;
}

describe('names of tools', () => {
  const named = (name: string): Type => {
    class NamedTools {
      @McpTool({ name })
      run(): void {}
    }
    return NamedTools;
  };

  it('N2: refuses two tools of one name, naming both places', async () => {
    class FirstTools {
      @McpTool()
      search(): void {}
    }
    class SecondTools {
      @McpTool('search')
      find(): void {}
    }
    @Module({ providers: [SecondTools] })
    class SecondModule {}
    const error = await refusal(rootOf({ providers: [FirstTools], imports: [SecondModule] }));
    expect(error.name).toBe('DuplicateHandlerException');
    expect(error).toBeInstanceOf(McpBootException);
    expect(error.message).toContain('Tool "search" is declared twice: by ');
    expect(error.message).toContain('FirstTools.search (RootModule)');
    expect(error.message).toContain('SecondTools.find (SecondModule)');
    expect(error.message).toContain("@McpTool({ name: '…' })");
  });

  it('N2: refuses a class that two modules provide, saying what to do', async () => {
    class SharedTools {
      @McpTool()
      search(): void {}
    }
    @Module({ providers: [SharedTools] })
    class OneModule {}
    @Module({ providers: [SharedTools] })
    class TwoModule {}
    const error = await refusal(rootOf({ imports: [OneModule, TwoModule] }));
    expect(error.name).toBe('DuplicateHandlerException');
    expect(error.message).toBe(
      'Tool "search" is declared twice: by SharedTools.search (OneModule) and by SharedTools.search (TwoModule). ' +
        "Give one of them another name, @McpTool({ name: '…' }); a class provided by two modules counts twice, " +
        'provide it in one and export it.',
    );
  });

  it('a class that one module provides and another takes by an alias or an export counts once', async () => {
    class SharedTools {
      @McpTool()
      search(): void {}
    }
    @Module({ providers: [SharedTools], exports: [SharedTools] })
    class OwnerModule {}
    @Module({ imports: [OwnerModule], providers: [{ provide: 'ALIAS', useExisting: SharedTools }] })
    class UserModule {}
    const { names } = await started(rootOf({ imports: [OwnerModule, UserModule] }));
    expect(names).toEqual(['search']);
  });

  it.each(['search_tickets', 'a', 'get-Ticket_2', 'x'.repeat(64)])(
    'N1: takes %j without a word',
    async (name) => {
      const { names, warnings } = await started(tools(named(name)));
      expect([names, warnings]).toEqual([[name], []]);
    },
  );

  it.each(['calendar.read', 'x'.repeat(70), 'x'.repeat(128)])('N1: takes %j with a warning', async (name) => {
    const { names, warnings } = await started(tools(named(name)));
    expect(names).toEqual([name]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(
      `NamedTools.run: tool name "${name}" is legal, but some clients take only 1 to 64`,
    );
  });

  it.each(['Create Share', 'a/b', '', 'x'.repeat(129), 'x'.repeat(130), 'é', 'a\nb', 'a\u202eb'])(
    'N1: refuses %j, naming class and method',
    async (name) => {
      const error = await refusal(tools(named(name)));
      expect(error.name).toBe('InvalidNameException');
      expect(error.message).toBe(
        `NamedTools.run: ${JSON.stringify(name)} cannot be a tool's name. ` +
          `Write 1 to 128 letters, digits, "_", "-" or ".", @McpTool({ name: '…' }).`,
      );
    },
  );

  it('N1: refuses a method whose own name is none', async () => {
    class DollarTools {
      @McpTool()
      $x(): void {}
    }
    const error = await refusal(tools(DollarTools));
    expect(error.name).toBe('InvalidNameException');
    expect(error.message).toContain('DollarTools.$x: "$x" cannot be a tool\'s name.');
  });
});

describe('parameters of tools', () => {
  class TextTools {
    @McpTool()
    text(_text: string): void {}
  }
  class ListTools {
    @McpTool()
    list(_items: PageDto[]): void {}
  }
  class TwiceTools {
    @McpTool()
    twice(_one: PageDto, _context: McpContext, _two: OtherDto): void {}
  }
  interface Page {
    page: string;
  }
  class UntypedTools {
    @McpTool()
    untyped(_args: Page): void {}
  }
  class ExtraTools {
    @McpTool({ input: PageDto })
    extra(@McpArgs() _args: Page, _more: Page): void {}
  }

  it.each([
    [TextTools, 'TextTools.text, parameter 1: String is no class of arguments.'],
    [ListTools, 'ListTools.list, parameter 1: Array is no class of arguments.'],
    [TwiceTools, 'TwiceTools.twice, parameter 3: the arguments are parameter 1 already.'],
    [UntypedTools, 'UntypedTools.untyped, parameter 1: its type is not there at run time (an interface,'],
    [ExtraTools, 'ExtraTools.extra, parameter 2: the arguments are parameter 1 already.'],
  ])('refuses %p', async (provider: Type, text) => {
    const error = await refusal(tools(provider));
    expect(error.name).toBe('UnusableParameterException');
    expect(error.message).toContain(text);
    expect(error.message).toContain('method(args: SomeDto, ctx: McpContext)');
  });

  it('tells where the types are missing how to name the DTO', async () => {
    const { message } = await refusal(tools(UntypedTools));
    expect(message).toContain('@McpTool({ input: SomeDto }), and mark the parameter @McpArgs()');
  });

  it('refuses marks that stand twice or on a constructor, as soon as the class is read', () => {
    const declare = () => {
      class TwiceMarked {
        @McpTool()
        run(@McpCtx() _one: unknown, @McpCtx() _two: unknown): void {}
      }
      return TwiceMarked;
    };
    expect(declare).toThrow(new TypeError('@McpCtx() stands twice on TwiceMarked.run: keep one'));
    const onConstructor = () => {
      class Constructed {
        constructor(@McpArgs() readonly args: unknown) {}
      }
      return Constructed;
    };
    expect(onConstructor).toThrow(
      new TypeError("@McpArgs() belongs on a method's parameter, not on a constructor's"),
    );
  });

  it('refuses @McpTool() on a static method, as soon as the class is read', () => {
    const declare = () => {
      class StaticTools {
        @McpTool()
        static run(): void {}
      }
      return StaticTools;
    };
    expect(declare).toThrow(
      '@McpTool() on StaticTools.run: only an instance method can be a tool, not a property, an accessor, a static method',
    );
  });

  it('refuses @McpTool() on a property and on a symbol, as soon as the class is read', () => {
    const onProperty = () => {
      class PropertyTools {
        @(McpTool() as PropertyDecorator)
        run = () => 'x';
      }
      return PropertyTools;
    };
    expect(onProperty).toThrow('@McpTool() on PropertyTools.run: only an instance method can be a tool');
    const key = Symbol('run');
    const onSymbol = () => {
      class SymbolTools {
        @McpTool()
        [key](): void {}
      }
      return SymbolTools;
    };
    expect(onSymbol).toThrow('@McpTool() on SymbolTools.Symbol(run): only an instance method can be a tool');
  });
});

describe('instances that hide what is guarded', () => {
  class ShutGuard implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }

  @Injectable()
  class Bound {
    constructor() {
      this.run = this.run.bind(this);
    }

    @McpTool()
    @UseGuards(ShutGuard)
    run(): string {
      return 'ran';
    }
  }

  @Injectable()
  class Patched implements OnModuleInit {
    onModuleInit(): void {
      const original = this.run.bind(this);
      this.run = () => original();
    }

    @McpTool()
    @UseGuards(ShutGuard)
    run(): string {
      return 'ran';
    }
  }

  @Injectable()
  class Proxied {
    @McpTool()
    @UseGuards(new ShutGuard())
    run(): string {
      return 'ran';
    }
  }
  const bindAll = {
    get(target: object, name: string): unknown {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  };

  it.each([
    ['Bound', { providers: [Bound] }, 'Bound.run'],
    ['Patched', { providers: [Patched] }, 'Patched.run'],
    [
      'Proxied',
      { providers: [{ provide: Proxied, useFactory: () => new Proxy(new Proxied(), bindAll) }] },
      'Proxied.run',
    ],
  ])('are refused: %s', async (_name, metadata, where) => {
    const error = await refusal(rootOf(metadata));
    expect(error.name).toBe('UnprotectedHandlerException');
    expect(error.message).toContain(`${where} cannot be protected as declared: its instance`);
  });
});

describe('pipes of parameters', () => {
  @Injectable()
  class UpperPipe implements PipeTransform {
    transform(value: unknown): unknown {
      return value;
    }
  }
  const Up = createParamDecorator(() => 'x');

  @Injectable()
  class Piped {
    @McpTool()
    run(@Up(UpperPipe) value: string): string {
      return value;
    }
  }

  it('are refused where Nest would leave them out: a class on a handler that a factory makes', async () => {
    const error = await refusal(rootOf({ providers: [{ provide: Piped, useFactory: () => new Piped() }] }));
    expect(error.name).toBe('UnprotectedHandlerException');
    expect(error.message).toContain(
      'Piped.run cannot be protected as declared: the pipe UpperPipe of a parameter',
    );
  });

  it('boot where the class itself is provided', async () => {
    expect((await started(rootOf({ providers: [Piped] }))).names).toEqual(['run']);
  });
});

describe('options that nothing reads', () => {
  it.each([
    [{ pagesize: 5 }, 'pagesize'],
    [{ http: { alowedHosts: ['a.example'] } }, 'http.alowedHosts'],
  ])('of the module are refused: %j', async (more, option) => {
    const options = { ...REQUIRED, ...more } as McpModuleOptions;
    const error = await refusal(rootOf({}, McpModule.forRoot(options)));
    expect([error.name, error.message]).toEqual([
      'InvalidOptionException',
      expect.stringContaining(`McpModule: option \`${option}\` is unknown; known are `),
    ]);
  });

  it.each([
    [{ permission: 'deny' }, 'permission'],
    [{ annotations: { readonlyHint: true } }, 'annotations.readonlyHint'],
  ])('of a tool are refused: %j', async (options, option) => {
    @Injectable()
    class Typo {
      @McpTool(options as object)
      run(): void {}
    }
    const error = await refusal(rootOf({ providers: [Typo] }));
    expect([error.name, error.message]).toEqual([
      'InvalidHandlerOptionException',
      expect.stringContaining(`Typo.run: @McpTool() option \`${option}\` is unknown; known are `),
    ]);
  });

  it('are missed by name when a factory gives none at all', async () => {
    const none = McpModule.forRootAsync({ useFactory: () => undefined as never });
    expect((await refusal(rootOf({}, none))).message).toContain('the factory gave no options');
  });

  it('are missed by name when none are given at all', async () => {
    const error = await refusal(rootOf({}, McpModule.forRoot(undefined as never)));
    expect([error.name, error.message]).toEqual([
      'InvalidOptionException',
      "McpModule: option `name` is required: McpModule.forRoot({ name: 'my-api', version: '1.0.0' })",
    ]);
  });

  it.each([undefined, {}])('are missed by name when no factory is given: %j', async (given) => {
    const error = await refusal(rootOf({}, McpModule.forRootAsync(given as never)));
    expect([error.name, error.message]).toEqual([
      'InvalidOptionException',
      'McpModule: option `useFactory` is required: ' +
        "McpModule.forRootAsync({ useFactory: () => ({ name: 'my-api', version: '1.0.0' }) })",
    ]);
  });
});

describe('DTOs that cannot be published', () => {
  class NestedDto {
    @IsArray()
    @ValidateNested({ each: true })
    items: PageDto[];
  }
  class DateDto {
    @IsDate()
    when: Date | string;
  }
  class ReservedDto {
    @IsString()
    hasOwnProperty: never;
  }
  const toolsOf = (input: new () => object): Type => {
    class DtoTools {
      @McpTool({ input })
      run(@McpArgs() _args: unknown): void {}
    }
    return DtoTools;
  };

  it('names class, method, property and what to write', async () => {
    const error = await refusal(tools(toolsOf(NestedDto)));
    expect(error.name).toBe('UnusableArgumentsException');
    expect(error.message).toContain(
      'DtoTools.run: NestedDto.items: the class of the array elements is not known',
    );
    expect(error.message).toContain('add @Type(() => ItemDto)');
    expect((error.cause as Error).name).toBe('UnknownNestedTypeException');
  });

  it('refuses a member that is never read', async () => {
    const error = await refusal(tools(toolsOf(ReservedDto)));
    expect(error.name).toBe('UnusableArgumentsException');
    expect(error.message).toContain('DtoTools.run: ReservedDto.hasOwnProperty: this name is never read');
  });

  it('refuses a date that no JSON can fill', async () => {
    const error = await refusal(tools(toolsOf(DateDto)));
    expect(error.name).toBe('UnusableArgumentsException');
    expect(error.message).toContain('DtoTools.run: DateDto.when: @IsDate() refuses every JSON value here');
  });
});

describe('places and options of tools', () => {
  it('refuses @McpTool() on a route', async () => {
    @Controller('pages')
    class PagesController {
      @Post()
      @McpTool()
      create(@Body() _body: PageDto): void {}
    }
    const error = await refusal(rootOf({ controllers: [PagesController] }));
    expect(error.name).toBe('RouteHandlerException');
    expect(error.message).toBe(
      'PagesController.create is a route: a route cannot be a tool. Move @McpTool() to a method of its own, ' +
        'in this class or in a provider, that calls the same service.',
    );
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'refuses a timeout of %p',
    async (timeout) => {
      class TimedTools {
        @McpTool({ timeout })
        run(): void {}
      }
      const error = await refusal(tools(TimedTools));
      expect(error.name).toBe('InvalidHandlerOptionException');
      expect(error.message).toBe(
        'TimedTools.run: @McpTool() option `timeout` must be an integer from 1 to 2147483647, in milliseconds',
      );
    },
  );

  it.each(['javascript:alert(1)', 'http://example.com/i.png', 'icon.png', ' https://example.com'])(
    'refuses the icon %j',
    async (src) => {
      class IconTools {
        @McpTool({ icons: [{ src: 'https://example.com/ok.png' }, { src }] })
        run(): void {}
      }
      const error = await refusal(tools(IconTools));
      expect(error.name).toBe('InvalidHandlerOptionException');
      expect(error.message).toBe(
        `IconTools.run: @McpTool() option \`icons\` has ${JSON.stringify(src)}: clients load only https: and data: addresses`,
      );
    },
  );
});

describe('the import of the module', () => {
  it('refuses it without options', async () => {
    const error = await refusal(rootOf({}, McpModule));
    expect(error.name).toBe('ModuleImportException');
    expect(error.message).toContain(
      "write imports: [McpModule.forRoot({ name: 'my-api', version: '1.0.0' })]",
    );
  });

  it('refuses two with different options', async () => {
    const other = McpModule.forRoot({ name: 'other', version: '1.0.0', path: 'other' });
    const error = await refusal(rootOf({ imports: [other] }));
    expect(error.name).toBe('ModuleImportException');
    expect(error.message).toBe(
      'McpModule.forRoot() is imported more than once with different options: import it once, in the root module',
    );
  });

  it('takes one that two modules share', async () => {
    const shared = McpModule.forRoot(REQUIRED);
    @Module({ imports: [shared] })
    class FeatureModule {}
    class OneTools {
      @McpTool()
      one(): void {}
    }
    const { names } = await started(rootOf({ imports: [FeatureModule], providers: [OneTools] }, shared));
    expect(names).toEqual(['one']);
  });

  it('serveMcpOverStdio() refuses an application without it', async () => {
    @Module({})
    class BareModule {}
    const serving = serveMcpOverStdio(BareModule, { input: new PassThrough(), output: new PassThrough() });
    const error = await serving.catch((thrown: Error) => thrown);
    expect((error as Error).name).toBe('ModuleImportException');
    expect((error as Error).message).toContain(
      'serveMcpOverStdio(): the application does not import the module',
    );
  });

  it('refuses an HTTP adapter that it does not know', async () => {
    class OtherAdapter extends ExpressAdapter {
      override getType(): string {
        return 'other';
      }
    }
    const creating = NestFactory.create(rootOf({}), new OtherAdapter(), {
      logger: false,
      abortOnError: false,
    });
    const error = await creating.catch((thrown: Error) => thrown);
    expect((error as Error).name).toBe('UnknownAdapterException');
    expect((error as Error).message).toBe(
      "McpModule serves Express and Fastify, not the HTTP adapter 'other'",
    );
  });
});

describe('options of the module', () => {
  const count = 'must be an integer from 1 to 2147483647';
  const BAD: [string, Record<string, unknown>, string][] = [
    ['name', { name: undefined }, 'is required: McpModule.forRoot({'],
    ['name', { name: '' }, 'is required: McpModule.forRoot({'],
    ['version', { version: undefined }, 'is required: McpModule.forRoot({'],
    ['version', { version: 1 }, 'is required: McpModule.forRoot({'],
    [
      'icons',
      { icons: [{ src: 'javascript:alert(1)' }] },
      'has "javascript:alert(1)": clients load only https:',
    ],
    ['revisions', { revisions: ['2025-01-01'] }, 'has "2025-01-01"; known are 2026-07-28'],
    ['revisions', { revisions: [] }, 'is empty: leave it out to serve all'],
    ['limits.body', { limits: { body: 0 } }, count],
    ['limits.line', { limits: { line: 1.5 } }, count],
    ['limits.depth', { limits: { depth: '64' } }, count],
    ['limits.handlerTime', { limits: { handlerTime: 2 ** 31 } }, count],
    ['limits.inFlight', { limits: { inFlight: Number.POSITIVE_INFINITY } }, count],
    ['limits.bodySize', { limits: { bodySize: 1 } }, 'is unknown; known are body, line, depth,'],
    ['limits.toString', { limits: { toString: 1 } }, 'is unknown; known are body, line, depth,'],
    ['sessions.idle', { sessions: { idle: -1 } }, count],
    ['sessions.maximum', { sessions: { maximum: 1 } }, 'is unknown; known are idle, max, maxPerCaller'],
    ['pageSize', { pageSize: 0 }, count],
    ['http.readBody', { http: { readBody: 'never' } }, 'after-guards'],
    ['http.responses', { http: { responses: 'sse' } }, 'auto'],
    [
      'http.allowedHosts',
      { http: { allowedHosts: ['https://api.example.com'] } },
      'has "https://api.example.com"',
    ],
    [
      'http.allowedOrigins',
      { http: { allowedOrigins: ['app.example.com'] } },
      'has "app.example.com": write scheme',
    ],
    [
      'http.allowedOrigins',
      { http: { allowedOrigins: ['https://a.example/path'] } },
      'write scheme and host',
    ],
    ['http.allowedOrigins', { http: { allowedOrigins: ['*'] } }, 'has "*": write scheme and host'],
  ];

  it.each(BAD)('refuses %s: %j', async (option, given, text) => {
    const options = { ...REQUIRED, ...given } as unknown as McpModuleOptions;
    for (const mcp of [
      McpModule.forRoot(options),
      McpModule.forRootAsync({ useFactory: () => Promise.resolve(options) }),
    ]) {
      const error = await refusal(rootOf({}, mcp));
      expect(error.name).toBe('InvalidOptionException');
      expect(error).toBeInstanceOf(McpBootException);
      expect(error.message.startsWith(`McpModule: option \`${option}\` `)).toBe(true);
      expect(error.message).toContain(text);
    }
  });

  @Injectable()
  class ShutGuard implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }

  it.each(['mcp', undefined])(
    'refuses the path %j that the factory of forRootAsync() gives, which comes too late',
    async (path) => {
      const error = await refusal(
        rootOf({}, McpModule.forRootAsync({ useFactory: () => ({ ...REQUIRED, path }) as McpModuleOptions })),
      );
      expect([error.name, error.message]).toEqual([
        'InvalidOptionException',
        'McpModule: option `path` stands beside the factory, which runs too late for it: ' +
          "McpModule.forRootAsync({ path: 'mcp', useFactory })",
      ]);
    },
  );

  it('refuses what nothing reads beside the factory, where it is declared', () => {
    const given = { useFactory: () => REQUIRED, useClass: ShutGuard, http: {} };
    const declare = () => McpModule.forRootAsync(given as never);
    expect(declare).toThrow(
      'McpModule: option `useClass` is unknown; known are path, sse, imports, inject, useFactory',
    );
    expect(declare).toThrow(expect.objectContaining({ name: 'InvalidOptionException' }) as Error);
  });

  it('refuses a guard class among http.decorators of forRootAsync(), which would never run', async () => {
    const mcp = McpModule.forRootAsync({
      useFactory: () => ({ ...REQUIRED, http: { decorators: [UseGuards(ShutGuard)] } }),
    });
    const error = await refusal(rootOf({}, mcp));
    expect(error.name).toBe('UnprotectedHandlerException');
    expect(error.message).toContain(
      'The option `http.decorators` cannot be protected as declared: @UseGuards(ShutGuard) is unknown to its module.',
    );
  });

  it('lets forRoot() have one, and it guards the endpoint', async () => {
    const mcp = McpModule.forRoot({ ...REQUIRED, http: { decorators: [UseGuards(ShutGuard)] } });
    const running = await startApp(rootOf({}, mcp));
    const { status } = await fetch(running.mcp, { method: 'POST', body: '{}' });
    await running.close();
    expect(status).toBe(403);
  });
});

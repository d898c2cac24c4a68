import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  UseGuards,
  UsePipes,
  type CanActivate,
  type DynamicModule,
  type ModuleMetadata,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { IsArray, IsBoolean, IsInt, IsNumber, IsOptional, IsString, ValidateIf } from 'class-validator';
import {
  McpArgs,
  McpBootException,
  McpCompletion,
  McpContext,
  McpModule,
  McpPrompt,
  McpProperty,
  McpRegistry,
  McpResource,
  McpTool,
  type McpCompletionOf,
  type McpModuleOptions,
  type McpPromptOptions,
  type McpResourceOptions,
  type McpToolOptions,
} from 'nest-mcp';
import { startApp } from '../support/app.js';
import { CapturedLog } from '../nest/captured-log.js';

const REQUIRED = { name: 'refused', version: '1.0.0' };

function rootOf(metadata: ModuleMetadata, mcp: DynamicModule = McpModule.forRoot(REQUIRED)): Type {
  @Module({ ...metadata, imports: [mcp, ...(metadata.imports ?? [])] })
  class RootModule {}
  return RootModule;
}

/** The error by which an application refuses to start, as its name and message. */
async function refusal(root: Type): Promise<[name: string, message: string]> {
  let running;
  try {
    running = await startApp(root, { logger: new CapturedLog() });
  } catch (error) {
    expect(error).toBeInstanceOf(McpBootException);
    return [(error as Error).name, (error as Error).message];
  }
  await running.close();
  throw new Error('the application started');
}

const providing = (...providers: Type[]) => rootOf({ providers });

/** Starts, gives what is exposed and what was warned of, and stops. */
async function started(root: Type): Promise<{ exposed: string[]; warnings: string[] }> {
  const log = new CapturedLog();
  const running = await startApp(root, { logger: log });
  const exposed = running.app
    .get(McpRegistry)
    .describe()
    .map(({ kind, name, uri }) => `${kind} ${uri ?? name}`);
  await running.close();
  return { exposed, warnings: log.of('warn') };
}

class IdDto {
  @IsString()
  id: string;
}

/** One resource with these options. */
function resource(options: unknown, params?: Type): Type {
  class Docs {
    @McpResource(options as McpResourceOptions)
    read(@McpArgs() _params: unknown): string {
      return '';
    }
  }
  class Fixed {
    @McpResource(options as McpResourceOptions)
    read(): string {
      return '';
    }
  }
  Object.defineProperty(Fixed, 'name', { value: 'Docs' });
  const uri = typeof options === 'string' ? options : (options as McpResourceOptions).uri;
  const isTemplate = typeof uri === 'string' && /[{}]/.test(uri);
  if (!isTemplate) return Fixed;
  if (params) Reflect.defineMetadata('design:paramtypes', [params], Docs.prototype, 'read');
  return Docs;
}

function prompt(options: unknown): Type {
  class Prompts {
    @McpPrompt(options as McpPromptOptions)
    ask(): string {
      return '';
    }
  }
  return Prompts;
}

function tool(options: unknown): Type {
  class Tools {
    @McpTool(options as McpToolOptions)
    run(): string {
      return '';
    }
  }
  return Tools;
}

const OPTION = 'InvalidHandlerOptionException';

describe('addresses of resources', () => {
  it.each([
    ['all', 'has no scheme: begin it with a name and a colon, such as "docs://"'],
    ['no scheme://x', 'has no scheme: begin it with a name and a colon, such as "docs://"'],
    ['docs://a b', 'has " " at 8, which no URI may hold: write "%20"'],
    ['docs://%zz', 'has a "%" at 7 without two hex digits: write "%25" for a percent sign'],
    [
      'http://[',
      'has no well-formed authority between "//" and the next "/": write a name, an address such as "[::1]", or either with ":" and a port number (a colon that belongs to a name is "%3A")',
    ],
  ])('J4: refuses %j, which is no URI', async (uri, problem) => {
    expect(await refusal(providing(resource(uri)))).toEqual([
      OPTION,
      `Docs.read: @McpResource() option \`uri\` has ${JSON.stringify(uri)}: it ${problem}`,
    ]);
  });

  it.each([[''], [undefined], [5]])('refuses the address %p', async (uri) => {
    expect(await refusal(providing(resource({ uri })))).toEqual([
      OPTION,
      "Docs.read: @McpResource() option `uri` is required: write @McpResource({ uri: 'ticket://{id}' })",
    ]);
  });

  it.each([
    ['{scheme}://x', 'it has no scheme: begin it with a fixed name and a colon, such as "docs://{id}"'],
    ['docs://{id', 'the "{" at 7 is not closed: write "}" behind the name, or "%7B" for a brace'],
    ['docs://id}', 'a "}" has no "{" before it: write "%7D" for a brace'],
    ['docs://{}', '"{}" lacks a name: write one, such as "{id}"'],
    [
      'docs://{a}{b}',
      'nothing stands between "{a}" and "{b}" to tell their values apart: write a fixed text between them, such as "/"',
    ],
    [
      'docs://{id:3}',
      '"{id:3}" takes the beginning of a value only, which cannot be read back: write "id" without ":"',
    ],
    [
      'docs://{id*}',
      '"{id*}" makes a list with "*", which can be read in "{/id*}", "{?id*}" and "{&id*}" only: write one of these, or "id" without "*"',
    ],
    [
      'docs://{+a}/{+b}',
      '"a" and "b" may both hold separators, so nothing tells where the first ends: write one of them as "{name}"',
    ],
    ['docs://{id}/{id}', 'it has "id" twice: write two names'],
    ['docs://{a-b}', '"a-b" in "{a-b}" is no name: write letters, digits and "_", such as "ticketId"'],
    ['docs://{__proto__}', '"__proto__" cannot be the name of a variable: write another one'],
    ['docs://{=id}', '"{=id}" begins with "=", which means nothing: write "{id}"'],
    [
      'docs://x{?a}/y',
      '"/y" stands behind "{?a}", whose values come in any order: write what is fixed first, such as "?x=1{&a}"',
    ],
    ['docs://x{&a}', '"{&a}" continues no fixed query such as "?x=1": write "{?a}"'],
    ['docs://a b/{id}', 'its fixed part "//a b/" has " " at 3, which no URI may hold: write "%20"'],
    ['docs://x{?a}{?b}', '"{?a}" and "{?b}" are two queries: write their names into one, "{?a,b}"'],
    [
      'docs://[{id}',
      'the uri "docs://[1", which it would give, has no well-formed authority between "//" and the next "/": write a name, an address such as "[::1]", or either with ":" and a port number (a colon that belongs to a name is "%3A")',
    ],
    [`docs://${'{a}/'.repeat(300)}`, 'it has 1207 characters: write a template of at most 1000'],
  ])('refuses the template %j, saying what to write', async (uri, problem) => {
    expect(await refusal(providing(resource(uri)))).toEqual([
      OPTION,
      `Docs.read: @McpResource() option \`uri\` has ${JSON.stringify(uri)}: ${problem}`,
    ]);
  });

  it('N2: refuses one address that two methods claim, naming both places', async () => {
    class First {
      @McpResource('docs://all')
      first(): string {
        return '';
      }
    }
    class Second {
      @McpResource('docs://all')
      second(): string {
        return '';
      }
    }
    @Module({ providers: [Second] })
    class SecondModule {}
    const [name, message] = await refusal(rootOf({ providers: [First], imports: [SecondModule] }));
    expect(name).toBe('DuplicateHandlerException');
    expect(message).toBe(
      'Resource "docs://all" is declared twice: by First.first (RootModule) and by Second.second (SecondModule). Give one of them another address, @McpResource({ uri: \'…\' }); a class provided by two modules counts twice, provide it in one and export it.',
    );
  });

  it('refuses templates that match the same addresses, naming both', async () => {
    class Docs {
      @McpResource('docs://{a}/x')
      first(@McpArgs() _params: unknown): string {
        return '';
      }

      @McpResource('docs://{b}/x')
      second(@McpArgs() _params: unknown): string {
        return '';
      }
    }
    expect(await refusal(providing(Docs))).toEqual([
      'DuplicateHandlerException',
      'Resource "docs://{b}/x" of Docs.second (RootModule) matches the same addresses as "docs://{a}/x" of Docs.first (RootModule), and would never be read. Give one of them another address, @McpResource({ uri: \'…\' }); a class provided by two modules counts twice, provide it in one and export it.',
    ]);
  });

  it('takes addresses that differ, fixed ones that a template matches as well', async () => {
    class Docs {
      @McpResource('docs://{a}')
      one(@McpArgs() _params: unknown): void {}
      @McpResource('docs://{+a}/x')
      wide(@McpArgs() _params: unknown): void {}
      @McpResource('docs://all')
      all(): void {}
      @McpResource('other://{a}')
      other(@McpArgs() _params: unknown): void {}
    }
    expect(await started(providing(Docs))).toEqual({
      exposed: [
        'resource docs://{a}',
        'resource docs://{+a}/x',
        'resource docs://all',
        'resource other://{a}',
      ],
      warnings: [],
    });
  });
});

describe('variables of templates', () => {
  class MoreDto extends IdDto {
    @IsString()
    name: string;
  }
  class EmptyDto {
    @IsOptional()
    @IsString()
    other?: string;
  }

  it.each([
    [
      'docs://{id}',
      MoreDto,
      '"name" is required, and the template has no such variable; add {name} to the template, or make the member optional',
    ],
    [
      'docs://{id}/{name}',
      IdDto,
      'the schema takes no member for the variable {name}; declare "name", or rename the variable',
    ],
    [
      'docs://{id}',
      EmptyDto,
      'the schema takes no member for the variable {id}; declare "id", or rename the variable',
    ],
    [
      'docs://x{/id*}',
      IdDto,
      'the variable {id*} gives a list, and "id" is none; declare a list of texts, or leave the asterisk out',
    ],
  ])('refuses %s with a DTO that does not fit', async (uri, dto, problem) => {
    expect(await refusal(providing(resource(uri, dto)))).toEqual([
      'UnusableArgumentsException',
      `Docs.read: ${problem}`,
    ]);
  });

  it('refuses a schema that is none', async () => {
    expect(await refusal(providing(resource({ uri: 'docs://{id}', params: 5 })))).toEqual([
      OPTION,
      'Docs.read: @McpResource() option `params` is of no use: a value of type number is no schema; give a DTO class, a Standard Schema (zod 4, valibot, arktype) or a JSON Schema object',
    ]);
    const [name, message] = await refusal(
      providing(
        resource({ uri: 'docs://{id}', params: { type: 'object', properties: { id: { type: 'text' } } } }),
      ),
    );
    expect(name).toBe('UnusableArgumentsException');
    expect(message).toBe(
      'Docs.read: the JSON Schema is not valid: /properties/id/type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
    );
  });

  it('refuses arguments of a fixed address, typed or marked', async () => {
    class Typed {
      @McpResource('docs://all')
      all(_params: IdDto): void {}
    }
    class Marked {
      @McpResource('docs://all')
      all(_ctx: McpContext, @McpArgs() _params: unknown): void {}
    }
    expect(await refusal(providing(Typed))).toEqual([
      'UnusableParameterException',
      'Typed.all, parameter 1: A resource with a fixed address has no arguments: it takes the context, if it wants, method(ctx: McpContext).',
    ]);
    expect(await refusal(providing(Marked))).toEqual([
      'UnusableParameterException',
      'Marked.all, parameter 2: A resource with a fixed address has no arguments: it takes the context, if it wants, method(ctx: McpContext).',
    ]);
  });

  it('refuses what cannot be bound', async () => {
    class Text {
      @McpResource('docs://{id}')
      one(_id: string): void {}
    }
    class Twice {
      @McpResource('docs://{id}')
      one(_id: IdDto, _more: IdDto): void {}
    }
    expect(await refusal(providing(Text))).toEqual([
      'UnusableParameterException',
      'Text.one, parameter 1: String is no class of arguments. A resource takes the variables of its address as one DTO class and, if it wants, the context: method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator().',
    ]);
    expect(await refusal(providing(Twice))).toEqual([
      'UnusableParameterException',
      'Twice.one, parameter 2: the arguments are parameter 1 already. A resource takes the variables of its address as one DTO class and, if it wants, the context: method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator().',
    ]);
  });

  it('takes an interface without a mark: the template says what its variables are', async () => {
    class Untyped {
      @McpResource('docs://{id}')
      one(_params: { id: string }): void {}
    }
    expect((await started(providing(Untyped))).exposed).toEqual(['resource docs://{id}']);
  });
});

describe('options of resources', () => {
  const fixed = { uri: 'docs://all' };
  const template = { uri: 'docs://{id}' };

  it.each([
    [{ ...fixed, title: 5 }, 'title', 'must be a text'],
    [{ ...fixed, description: {} }, 'description', 'must be a text'],
    [{ ...fixed, name: '' }, 'name', 'must be a text that is not empty'],
    [{ ...fixed, mimeType: 5 }, 'mimeType', "must be a media type, such as 'text/markdown'"],
    [{ ...fixed, mimeType: '' }, 'mimeType', "must be a media type, such as 'text/markdown'"],
    [{ ...fixed, size: -1 }, 'size', 'must be a number of bytes, 0 or more'],
    [{ ...fixed, size: 1.5 }, 'size', 'must be a number of bytes, 0 or more'],
    [{ ...fixed, size: '5' }, 'size', 'must be a number of bytes, 0 or more'],
    [
      { ...template, size: 5 },
      'size',
      'is for a fixed address: the resources of a template each have their own',
    ],
    [
      { ...fixed, params: IdDto },
      'params',
      'is for a template: a fixed address has no variables, write them in braces',
    ],
    [{ ...fixed, annotations: 'x' }, 'annotations', 'must be an object'],
    [
      { ...fixed, annotations: { readOnlyHint: true } },
      'annotations.readOnlyHint',
      'is unknown; known are audience, priority, lastModified',
    ],
    [{ ...fixed, annotations: { priority: 2 } }, 'annotations.priority', 'must be a number from 0 to 1'],
    [{ ...fixed, annotations: { priority: NaN } }, 'annotations.priority', 'must be a number from 0 to 1'],
    [
      { ...fixed, annotations: { audience: 'user' } },
      'annotations.audience',
      "must be a list of 'user' and 'assistant'",
    ],
    [
      { ...fixed, annotations: { audience: ['all'] } },
      'annotations.audience',
      "must be a list of 'user' and 'assistant'",
    ],
    [
      { ...fixed, annotations: { lastModified: 'today' } },
      'annotations.lastModified',
      "must be a date and time by ISO 8601, such as '2026-07-28T09:00:00Z'",
    ],
    [
      { ...fixed, annotations: { lastModified: 5 } },
      'annotations.lastModified',
      "must be a date and time by ISO 8601, such as '2026-07-28T09:00:00Z'",
    ],
    [
      { ...fixed, annotations: { lastModified: '2026' } },
      'annotations.lastModified',
      "must be a date and time by ISO 8601, such as '2026-07-28T09:00:00Z'",
    ],
    [{ ...fixed, cache: 5 }, 'cache', 'must be an object'],
    [{ ...fixed, cache: { ttl: 5 } }, 'cache.ttl', 'is unknown; known are ttlMs, scope'],
    [{ ...fixed, cache: { ttlMs: -1 } }, 'cache.ttlMs', 'must be an integer of milliseconds, 0 or more'],
    [{ ...fixed, cache: { ttlMs: 1.5 } }, 'cache.ttlMs', 'must be an integer of milliseconds, 0 or more'],
    [{ ...fixed, cache: { scope: 'shared' } }, 'cache.scope', "must be 'public' or 'private'"],
    [
      { ...fixed, icons: [{ src: 'http://a.example/i.png' }] },
      'icons',
      'has "http://a.example/i.png": clients load only https: and data: addresses',
    ],
    [{ ...fixed, icons: 'x' }, 'icons', "must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    [{ ...fixed, icons: [5] }, 'icons', "must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    [{ ...fixed, meta: 5 }, 'meta', 'must be an object'],
    [{ ...fixed, timeout: 0 }, 'timeout', 'must be an integer from 1 to 2147483647, in milliseconds'],
    [
      { ...fixed, mimetype: 'text/plain' },
      'mimetype',
      'is unknown; known are name, title, description, icons, meta, uri, mimeType, size, params, cache, annotations, timeout',
    ],
    [
      { ...fixed, args: IdDto },
      'args',
      'is unknown; known are name, title, description, icons, meta, uri, mimeType, size, params, cache, annotations, timeout',
    ],
  ])('are refused: %j', async (options, option, problem) => {
    expect(await refusal(providing(resource(options)))).toEqual([
      OPTION,
      `Docs.read: @McpResource() option \`${option}\` ${problem}`,
    ]);
  });
});

describe('prompts', () => {
  it.each([['with space'], ['a/b'], [''], ['é'], ['x'.repeat(129)]])(
    'N1: refuses the name %j',
    async (name) => {
      expect(await refusal(providing(prompt({ name })))).toEqual([
        'InvalidNameException',
        `Prompts.ask: ${JSON.stringify(name)} cannot be a prompt's name. ` +
          `Write 1 to 128 letters, digits, "_", "-" or ".", @McpPrompt({ name: '…' }).`,
      ]);
    },
  );

  it('N1: takes a name that some clients refuse, with a warning', async () => {
    const { exposed, warnings } = await started(providing(prompt('notes.triage')));
    expect(exposed).toEqual(['prompt notes.triage']);
    expect(warnings).toEqual([
      'Prompts.ask: prompt name "notes.triage" is legal, but some clients take only 1 to 64 letters, digits, "_" and "-" Mcp',
    ]);
  });

  it('N2: refuses one name that two methods claim; another kind may have it', async () => {
    class Mixed {
      @McpTool('triage')
      one(): void {}
      @McpPrompt('triage')
      two(): string {
        return '';
      }
      @McpResource({ uri: 'docs://triage', name: 'triage' })
      three(): void {}
    }
    expect((await started(providing(Mixed))).exposed).toEqual([
      'tool triage',
      'resource docs://triage',
      'prompt triage',
    ]);
    class Other {
      @McpPrompt()
      triage(): string {
        return '';
      }
    }
    expect(await refusal(providing(Mixed, Other))).toEqual([
      'DuplicateHandlerException',
      'Prompt "triage" is declared twice: by Mixed.two (RootModule) and by Other.triage (RootModule). Give one of them another name, @McpPrompt({ name: \'…\' }); a class provided by two modules counts twice, provide it in one and export it.',
    ]);
  });

  const KNOWN = 'is unknown; known are name, title, description, icons, meta, args, timeout';
  it.each([
    [{ input: IdDto }, 'input', KNOWN],
    [{ annotations: {} }, 'annotations', KNOWN],
    [{ timeout: 1.5 }, 'timeout', 'must be an integer from 1 to 2147483647, in milliseconds'],
    [
      { icons: [{ src: 'icon.png' }] },
      'icons',
      'has "icon.png": clients load only https: and data: addresses',
    ],
    [
      { args: 'IdDto' },
      'args',
      'is of no use: a value of type string is no schema; give a DTO class, a Standard Schema (zod 4, valibot, arktype) or a JSON Schema object',
    ],
    [{ title: 5 }, 'title', 'must be a text'],
  ])('refuses the options %j', async (options, option, problem) => {
    expect(await refusal(providing(prompt(options)))).toEqual([
      OPTION,
      `Prompts.ask: @McpPrompt() option \`${option}\` ${problem}`,
    ]);
  });

  it('refuses parameters that nothing can be bound to', async () => {
    class Text {
      @McpPrompt()
      ask(_topic: string): string {
        return '';
      }
    }
    interface Topic {
      topic: string;
    }
    class Untyped {
      @McpPrompt()
      ask(_topic: Topic): string {
        return '';
      }
    }
    expect(await refusal(providing(Text))).toEqual([
      'UnusableParameterException',
      'Text.ask, parameter 1: String is no class of arguments. A prompt takes its arguments as one DTO class and, if it wants, the context: method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator().',
    ]);
    expect(await refusal(providing(Untyped))).toEqual([
      'UnusableParameterException',
      'Untyped.ask, parameter 1: its type is not there at run time (an interface, a type, `import type`, or a compiler without decorator metadata). A prompt takes its arguments as one DTO class and, if it wants, the context: method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator(). Name the DTO or schema: @McpPrompt({ args: SomeDto }), and mark the parameter @McpArgs().',
    ]);
  });
});

describe('completions', () => {
  class Owners {
    @McpPrompt()
    triage(_args: IdDto): string {
      return '';
    }
    @McpPrompt()
    bare(): string {
      return '';
    }
    @McpResource('docs://{id}')
    one(_params: IdDto): void {}
    @McpResource('docs://all')
    all(): void {}
  }
  const completing = (of: unknown): Type => {
    class Completions {
      @McpCompletion(of as McpCompletionOf)
      complete(): string[] {
        return [];
      }
    }
    return Completions;
  };
  const NEEDS =
    "needs what it completes: { prompt: 'triage', argument: 'id' } or { resource: 'ticket://{id}', argument: 'id' }";

  it.each([
    [undefined, NEEDS],
    [{}, NEEDS],
    [{ prompt: 'triage' }, NEEDS],
    [{ argument: 'id' }, NEEDS],
    [{ prompt: 'triage', resource: 'docs://{id}', argument: 'id' }, NEEDS],
    [{ prompt: 5, argument: 'id' }, NEEDS],
    [{ prompt: 'triage', argument: 'id', timeout: 5 }, NEEDS],
    [
      { prompt: 'none', argument: 'id' },
      'names the prompt "none", which is not there: write it as it is declared',
    ],
    [
      { resource: 'docs://{other}', argument: 'id' },
      'names the resource template "docs://{other}", which is not there: write it as it is declared',
    ],
    [
      { resource: 'docs://all', argument: 'id' },
      'names "docs://all", a fixed address, which has no variables: a template has, with names in braces',
    ],
    [
      { prompt: 'triage', argument: 'other' },
      'names the argument "other", but "triage" has id: write one of these',
    ],
    [
      { prompt: 'bare', argument: 'id' },
      'names the argument "id", but "bare" has none: declare it there first',
    ],
    [
      { resource: 'docs://{id}', argument: 'other' },
      'names the argument "other", but "docs://{id}" has id: write one of these',
    ],
  ])('J11: refuses %j', async (of, problem) => {
    expect(await refusal(providing(Owners, completing(of)))).toEqual([
      'UnknownCompletionTargetException',
      `Completions.complete: @McpCompletion() ${problem}`,
    ]);
  });

  it('N2: refuses two for one argument', async () => {
    class Twice {
      @McpCompletion({ prompt: 'triage', argument: 'id' })
      first(): string[] {
        return [];
      }
      @McpCompletion({ prompt: 'triage', argument: 'id' })
      second(): string[] {
        return [];
      }
    }
    expect(await refusal(providing(Owners, Twice))).toEqual([
      'DuplicateHandlerException',
      'Completion "id of triage" is declared twice: by Twice.first (RootModule) and by Twice.second (RootModule). Leave one of them out; a class provided by two modules counts twice, provide it in one and export it.',
    ]);
  });

  it('refuses parameters that it has nothing for', async () => {
    class Numbered {
      @McpCompletion({ prompt: 'triage', argument: 'id' })
      complete(_typed: string, _limit: number): string[] {
        return [];
      }
    }
    class Twice {
      @McpCompletion({ prompt: 'triage', argument: 'id' })
      complete(_typed: string, _again: string): string[] {
        return [];
      }
    }
    for (const [provider, index] of [
      [Numbered, 2],
      [Twice, 2],
    ] as const)
      expect(await refusal(providing(Owners, provider))).toEqual([
        'UnusableParameterException',
        `${provider.name}.complete, parameter ${index}: a completion takes the text so far, the other arguments and the context: ` +
          'method(typed: string, @McpArgs() filled: Record<string, string>, ctx: McpContext). ' +
          'Other parameters need a decorator made with createParamDecorator().',
      ]);
  });
});

const KINDS = [
  ['resource', '@McpResource()', () => McpResource('docs://all')],
  ['prompt', '@McpPrompt()', () => McpPrompt()],
  ['completion', '@McpCompletion()', () => McpCompletion({ prompt: 'ask', argument: 'topic' })],
] as const;

describe.each(KINDS)('where a %s may stand', (kind, decorator, mark) => {
  const RULE =
    `only an instance method can be a ${kind}, ` +
    'not a property, an accessor, a static method or one that is named by a symbol';

  it('refuses a static method, a property, an accessor and a symbol, as soon as the class is read', () => {
    const key = Symbol('run');
    const declared = [
      [
        () => {
          class Placed {
            @mark()
            static run(): void {}
          }
          return Placed;
        },
        'run',
      ],
      [
        () => {
          class Placed {
            @(mark() as PropertyDecorator)
            run = () => 'x';
          }
          return Placed;
        },
        'run',
      ],
      [
        () => {
          class Placed {
            @mark()
            get run(): string {
              return 'x';
            }
          }
          return Placed;
        },
        'run',
      ],
      [
        () => {
          class Placed {
            @mark()
            [key](): void {}
          }
          return Placed;
        },
        'Symbol(run)',
      ],
    ] as const;
    for (const [declare, name] of declared)
      expect(declare).toThrow(new TypeError(`${decorator} on Placed.${name}: ${RULE}`));
  });

  it('refuses a second mark on one method, as soon as the class is read', () => {
    const declare = () => {
      class Placed {
        @mark()
        @McpTool()
        run(): void {}
      }
      return Placed;
    };
    expect(declare).toThrow(
      new TypeError(
        `${decorator} on Placed.run: it is marked @McpTool() already. ` +
          'Give each a method of its own that calls the same service.',
      ),
    );
  });

  it('refuses a route', async () => {
    @Controller('pages')
    class Pages {
      @Get()
      @mark()
      read(): void {}
    }
    expect(await refusal(rootOf({ controllers: [Pages] }))).toEqual([
      'RouteHandlerException',
      `Pages.read is a route: a route cannot be a ${kind}. Move ${decorator} to a method of its own, ` +
        'in this class or in a provider, that calls the same service.',
    ]);
  });

  it('refuses a decorator above it that replaces the method', async () => {
    const replace: MethodDecorator = (_target, _key, descriptor) => {
      descriptor.value = (() => undefined) as never;
    };
    class Replaced {
      @replace
      @mark()
      @UseGuards(Shut)
      run(): void {}
    }
    expect(await refusal(providing(Replaced))).toEqual([
      'UnprotectedHandlerException',
      `Replaced.run cannot be protected as declared: a decorator above ${decorator} replaced the method, ` +
        'so what @UseGuards() and its kind stored is lost. Put that decorator last, directly above the method.',
    ]);
  });

  it('refuses guards and pipes that Nest would leave out', async () => {
    class Guarded {
      @mark()
      @UseGuards(Shut)
      run(): void {}
    }
    class Piped {
      @mark()
      @UsePipes(Piper)
      run(): void {}
    }
    for (const [given, enhancer] of [
      [Guarded, '@UseGuards(Shut)'],
      [Piped, '@UsePipes(Piper)'],
    ] as const)
      expect(
        await refusal(rootOf({ providers: [{ provide: given, useFactory: () => new given() }] })),
      ).toEqual([
        'UnprotectedHandlerException',
        `${given.name}.run cannot be protected as declared: ${enhancer} is unknown to its module. ` +
          'Provide the decorated class itself (`providers: [TheClass]`) instead of `useClass`, a value or a factory, ' +
          'or give the enhancer as an instance.',
      ]);
  });

  it('refuses an instance with a method of its own', async () => {
    @Injectable()
    class Bound {
      constructor() {
        this.run = this.run.bind(this);
      }

      @mark()
      @UseGuards(Shut)
      run(): void {}
    }
    const owner = kind === 'completion' ? [Asking] : [];
    expect(await refusal(providing(Bound, ...owner))).toEqual([
      'UnprotectedHandlerException',
      'Bound.run cannot be protected as declared: its instance has a run of its own, bound or patched, which guards on the method do not reach. Leave the method on the class: it is called with its instance as `this`.',
    ]);
  });
});

class TopicDto {
  @IsString()
  topic: string;
}
class Asking {
  @McpPrompt()
  ask(_args: TopicDto): string {
    return '';
  }
}
class Shut implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}
class Piper implements PipeTransform {
  transform(value: unknown): unknown {
    return value;
  }
}

it('refuses decorators of routes on what is no route, which would bind nothing', async () => {
  class Routed {
    @McpPrompt()
    ask(@Body() _body: unknown): string {
      return '';
    }
  }
  @Controller()
  class Pages {
    @Post()
    create(): void {}
  }
  expect(await refusal(rootOf({ providers: [Routed], controllers: [Pages] }))).toEqual([
    'UnusableParameterException',
    'Routed.ask, parameter 1: its type is not there at run time (an interface, a type, `import type`, or a compiler without decorator metadata). A prompt takes its arguments as one DTO class and, if it wants, the context: method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator(). Name the DTO or schema: @McpPrompt({ args: SomeDto }), and mark the parameter @McpArgs().',
  ]);
});

describe('options of tools', () => {
  it.each([
    [{ title: 5 }, 'title', 'must be a text'],
    [{ meta: 'x' }, 'meta', 'must be an object'],
    [{ icons: [{}] }, 'icons', "must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    [{ annotations: 'x' }, 'annotations', 'must be an object'],
    [{ annotations: { readOnlyHint: 'yes' } }, 'annotations.readOnlyHint', 'must be true or false'],
    [{ readOnly: 1 }, 'readOnly', 'must be true or false'],
  ])('are refused: %j', async (options, option, problem) => {
    expect(await refusal(providing(tool(options)))).toEqual([
      OPTION,
      `Tools.run: @McpTool() option \`${option}\` ${problem}`,
    ]);
  });
});

describe('B17: headers of arguments', () => {
  class NumberDto {
    @IsNumber()
    @McpProperty({ header: 'Limit' })
    limit: number;
  }
  class ElementDto {
    @IsArray()
    @IsString({ each: true })
    @McpProperty({ header: 'Tags' })
    tags: string[];
  }
  class TwinDto {
    @IsString()
    @McpProperty({ header: 'Region' })
    region: string;
    @IsString()
    @McpProperty({ header: 'REGION' })
    other: string;
  }
  class EmptyDto {
    @IsString()
    @McpProperty({ header: '' })
    region: string;
  }
  class SpaceDto {
    @IsString()
    @McpProperty({ header: 'My Region' })
    region: string;
  }
  class NullableDto {
    @ValidateIf((_dto, value) => value !== null)
    @IsString()
    @McpProperty({ header: 'Region' })
    region: string | null;
  }
  const ELEMENT = {
    type: 'object',
    properties: { tags: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Tag' } } },
  };

  it.each([
    [
      'a number',
      NumberDto,
      'limit: a header is for one text, integer or boolean, and this argument has "type": "number"; declare one of these alone, as by @IsString(), @IsInt() or @IsBoolean(), or take the header off',
    ],
    [
      'a list',
      ElementDto,
      'tags: a header is for one text, integer or boolean, and this argument has "type": "array"; declare one of these alone, as by @IsString(), @IsInt() or @IsBoolean(), or take the header off',
    ],
    [
      'an element of a list',
      ELEMENT,
      'tags: a header is for an argument that "properties" alone lead to, and this one stands under "items"; take the header off, or move the argument',
    ],
    [
      'two names equal but for case',
      TwinDto,
      'other: the header "REGION" is that of region too, as case does not count; give one of them another name',
    ],
    ['an empty name', EmptyDto, 'region: a header needs a name; write a text such as "Region"'],
    [
      'a name with a space',
      SpaceDto,
      'region: "My Region" is no name of a header; write letters, digits and hyphens, such as "Region"',
    ],
    [
      'a nullable text',
      NullableDto,
      'region: a header is for one text, integer or boolean, and this argument has no "type"; declare one of these alone, as by @IsString(), @IsInt() or @IsBoolean(), or take the header off',
    ],
  ])('refuses one on %s', async (_what, input, problem) => {
    expect(await refusal(providing(tool({ input })))).toEqual([
      'UnusableArgumentsException',
      `Tools.run: ${problem}`,
    ]);
  });

  it('takes texts, integers and booleans', async () => {
    class GoodDto {
      @IsString()
      @McpProperty({ header: 'Region' })
      region: string;
      @IsInt()
      @McpProperty({ header: 'Limit' })
      limit: number;
      @IsBoolean()
      @McpProperty({ header: 'Dry-Run' })
      dry: boolean;
    }
    expect((await started(providing(tool({ input: GoodDto })))).exposed).toEqual(['tool run']);
  });
});

describe('options of the module', () => {
  class Silent {
    publish(): void {}
  }

  it.each([
    ['cache', { cache: 5 }, 'must be an object'],
    ['cache.ttl', { cache: { ttl: 5 } }, 'is unknown; known are ttlMs, scope'],
    ['cache.ttlMs', { cache: { ttlMs: -1 } }, 'must be an integer of milliseconds, 0 or more'],
    ['cache.ttlMs', { cache: { ttlMs: '5' } }, 'must be an integer of milliseconds, 0 or more'],
    ['cache.scope', { cache: { scope: 'all' } }, "must be one of 'private', 'public'"],
    ['http', { http: 5 }, 'must be an object'],
    ['limits', { limits: [] }, 'must be an object'],
    ['title', { title: 5 }, 'must be a text'],
    ['icons', { icons: 'x' }, "must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    ['bus', { bus: {} }, 'must be a class with the methods publish and subscribe of McpEventBus'],
    ['bus', { bus: 'redis' }, 'must be a class with the methods publish and subscribe of McpEventBus'],
    ['bus', { bus: null }, 'must be a class with the methods publish and subscribe of McpEventBus'],
    ['bus', { bus: Silent }, 'must be a class with the methods publish and subscribe of McpEventBus'],
    ['http.keepAlive', { http: { keepAlive: 0 } }, 'must be an integer from 1 to 2147483'],
    ['http.keepAlive', { http: { keepAlive: 2_147_484 } }, 'must be an integer from 1 to 2147483'],
    ['limits.streams', { limits: { streams: 0 } }, 'must be an integer from 1 to 2147483647'],
    [
      'limits.streamsPerCaller',
      { limits: { streamsPerCaller: '5' } },
      'must be an integer from 1 to 2147483647',
    ],
  ])('refuses %s: %j', async (option, given, problem) => {
    const options = { ...REQUIRED, ...given } as unknown as McpModuleOptions;
    for (const mcp of [
      McpModule.forRoot(options),
      McpModule.forRootAsync({ useFactory: () => Promise.resolve(options) }),
    ])
      expect(await refusal(rootOf({}, mcp))).toEqual([
        'InvalidOptionException',
        `McpModule: option \`${option}\` ${problem}`,
      ]);
  });
});

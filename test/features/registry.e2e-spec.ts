import {
  Injectable,
  Module,
  Scope,
  SetMetadata,
  UseGuards,
  ValidationPipe,
  type CanActivate,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import {
  InjectMcpRegistry,
  McpBootException,
  McpModule,
  McpPrompt,
  McpRegistry,
  McpResource,
  McpTool,
  type McpContext,
  type McpModuleOptions,
} from 'nest-mcp';
import { z } from 'zod';
import { CapturedLog } from '../nest/captured-log.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { modern, openSession, textOf, type Json, type Reply } from '../support/wire.js';
import { listChange, listenOverHttp, resourceChange } from './open-stream.js';
import {
  DenyGuard,
  Door,
  DoorGuard,
  FoundGuard,
  HopelessGuard,
  NotingInterceptor,
  ran,
  Roles,
  RolesGuard,
  ScopedGuard,
  SumDto,
} from './registry.app.js';

/** What is done with the registry before the application serves. */
type Setup = (registry: McpRegistry) => void | Promise<void>;

function registryApp(
  setup: Setup = () => undefined,
  options: Partial<McpModuleOptions> = {},
  more: object[] = [],
): Type {
  @Injectable()
  class Starter implements OnModuleInit {
    constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}

    async onModuleInit(): Promise<void> {
      await setup(this.registry);
    }
  }

  @Injectable()
  class Declared {
    @McpTool({ description: 'Declared' })
    declared(): string {
      return 'declared';
    }
  }

  // A feature module: it does not import McpModule, and has the registry injected all the same.
  @Module({ providers: [Starter, Declared, Door, DoorGuard, ScopedGuard] })
  class FeatureModule {}

  @Module({
    imports: [FeatureModule, McpModule.forRoot({ name: 'registry', version: '1.0.0', ...options })],
    providers: [
      { provide: APP_GUARD, useClass: RolesGuard },
      { provide: APP_INTERCEPTOR, useClass: NotingInterceptor },
      { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true }) },
      ...(more as []),
    ],
  })
  class RootModule {}
  return RootModule;
}

/** An abstract class is none that the matcher takes. */
const REFUSED = McpBootException as unknown as new () => McpBootException;

const names = (items: unknown, key = 'name') => (items as Json[]).map((item) => item[key]);

describe.each(ADAPTERS)('McpRegistry on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let registry: McpRegistry;

  /** One request whose answer is judged. */
  const ask = async (
    method: string,
    params: Json = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const reply = await modern(running.mcp, method, params, headers);
    traffic.observe(reply.body, '2026-07-28', method);
    return reply;
  };
  const callTool = (name: string, args: Json = {}, headers?: Record<string, string>) =>
    ask('tools/call', { name, arguments: args }, headers);
  const said = async (name: string, args?: Json, headers?: Record<string, string>) =>
    textOf((await callTool(name, args, headers)).result);
  const toolNames = async () => names((await ask('tools/list')).result['tools']);

  beforeAll(async () => {
    running = await startApp(
      registryApp(async (early) => {
        await early.addTool(
          { name: 'early', input: SumDto, guards: [DoorGuard] },
          ({ a, b }: SumDto) => a + b,
        );
        await early.addResource({ name: 'early', uri: 'early://all' }, () => 'early');
        await early.addPrompt({ name: 'early' }, () => 'early');
      }),
      { adapter },
    );
    registry = running.app.get(McpRegistry);
  });

  beforeEach(() => {
    ran.length = 0;
  });

  afterEach(() => {
    for (const { kind, name } of registry.describe())
      if (!['declared', 'early'].includes(name)) registry.remove(kind, name);
    running.app.get(Door).isOpen = true;
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  describe('what is added', () => {
    it('before the start is served from the start, in the order in which names were taken', async () => {
      expect(await toolNames()).toEqual(['early', 'declared']);
      expect(await said('early', { a: 1, b: 2 })).toBe('3');
      const { result } = await ask('resources/read', { uri: 'early://all' });
      expect(result['contents']).toEqual([{ uri: 'early://all', mimeType: 'text/plain', text: 'early' }]);
      expect((await ask('prompts/get', { name: 'early' })).result['messages']).toHaveLength(1);
    });

    it.each([
      ['a DTO', SumDto],
      ['a Standard Schema', z.strictObject({ a: z.int().min(0), b: z.int() })],
      [
        'JSON Schema',
        {
          type: 'object',
          properties: { a: { type: 'integer', minimum: 0 }, b: { type: 'integer' } },
          required: ['a', 'b'],
          additionalProperties: false,
        },
      ],
    ])('is a tool whose arguments are checked by %s', async (_kind, input) => {
      const given: unknown[] = [];
      await registry.addTool({ name: 'sum', input }, (args: SumDto, ctx) => {
        given.push(args, ctx.name);
        return args.a + args.b;
      });
      expect(await said('sum', { a: 1, b: 2 })).toBe('3');
      expect(given).toEqual([{ a: 1, b: 2 }, 'sum']);
      expect(given[0] instanceof SumDto).toBe(input === SumDto);
      for (const args of [{ a: -1, b: 2 }, { a: 1 }, { a: 1, b: 2, c: 3 }, { a: '1', b: 2 }])
        expect((await callTool('sum', args)).result).toMatchObject({ isError: true });
      expect(given).toHaveLength(2);
    });

    it('is a tool without arguments where it has no schema, and its handler gets an empty object', async () => {
      const given: unknown[] = [];
      await registry.addTool(
        { name: 'bare', description: 'Bare', readOnly: true },
        (args: unknown, ctx: McpContext) => {
          given.push(args);
          return ctx.method;
        },
      );
      expect(await said('bare')).toBe('tools/call');
      expect(given).toEqual([{}]);
      expect((await callTool('bare', { a: 1 })).result).toMatchObject({ isError: true });
      const { tools } = (await ask('tools/list')).result as { tools: Json[] };
      expect(tools.at(-1)).toMatchObject({
        name: 'bare',
        description: 'Bare',
        annotations: { readOnlyHint: true },
      });
    });

    it('is a template whose variables are converted by their types, and a prompt likewise', async () => {
      await registry.addResource(
        { name: 'square', uri: 'square://{a}/{b}', params: SumDto },
        ({ a, b }: SumDto) => ({ sum: a + b }),
      );
      const { result } = await ask('resources/read', { uri: 'square://1/2' });
      expect(result['contents']).toMatchObject([{ uri: 'square://1/2', text: '{"sum":3}' }]);
      expect((await ask('resources/read', { uri: 'square://x/2' })).error.code).toBe(-32602);
      await registry.addPrompt({ name: 'ask', args: SumDto }, ({ a, b }: SumDto) => `What is ${a + b}?`);
      const prompt = await ask('prompts/get', { name: 'ask', arguments: { a: '1', b: '2' } });
      expect(prompt.result['messages']).toEqual([
        { role: 'user', content: { type: 'text', text: 'What is 3?' } },
      ]);
      expect((await ask('prompts/get', { name: 'ask', arguments: { a: '1' } })).error.code).toBe(-32602);
      const templates = (await ask('resources/templates/list')).result['resourceTemplates'];
      expect(names(templates, 'uriTemplate')).toEqual(['square://{a}/{b}']);
    });

    it('is described in the order it is listed, with the size of its schemas', async () => {
      await registry.addResource({ name: 'one', uri: 'one://{id}' }, () => 'one');
      await registry.addTool({ name: 'last' }, () => 'last');
      const described = registry.describe();
      expect(described.map(({ kind, name, uri }) => [kind, name, uri])).toEqual([
        ['tool', 'early', undefined],
        ['tool', 'declared', undefined],
        ['tool', 'last', undefined],
        ['resource', 'early', 'early://all'],
        ['resource', 'one', 'one://{id}'],
        ['prompt', 'early', undefined],
      ]);
      const { inputSchema } = ((await ask('tools/list')).result['tools'] as Json[])[0]!;
      expect(described[0]!.schemaBytes).toBe(Buffer.byteLength(JSON.stringify(inputSchema)));
      expect(described[3]!.schemaBytes).toBe(0);
    });

    it('is told to clients that were promised changes, and served in legacy revisions too', async () => {
      const session = await openSession(running.mcp, '2025-03-26');
      await registry.addTool({ name: 'later' }, () => 'later');
      const { result } = await session.request('tools/list');
      expect(names(result['tools'])).toEqual(['early', 'declared', 'later']);
      expect(textOf((await session.callTool('later')).result)).toBe('later');
    });
  });

  describe('the pipeline of what is added', () => {
    it('runs global guards, its own in order, then interceptors and pipes', async () => {
      await registry.addTool(
        { name: 'sum', input: SumDto, guards: [DoorGuard, ScopedGuard] },
        ({ a, b }: SumDto) => {
          ran.push('handler');
          return a + b;
        },
      );
      const made = ScopedGuard.made;
      await callTool('sum', { a: 1, b: 2 });
      await callTool('sum', { a: 1, b: 2 });
      const once = (number: number) => [
        'RolesGuard',
        'DoorGuard',
        `ScopedGuard ${number}`,
        'intercepts sum',
        'handler',
      ];
      expect(ran).toEqual([...once(made + 1), ...once(made + 2)]);
    });

    it.each([
      ['a class that no module provides', DenyGuard],
      ['an instance', new DenyGuard()],
    ])('is not reached by whom a guard refuses that is given as %s', async (_how, guard) => {
      const guards = [guard];
      await registry.addTool({ name: 'no', guards }, () => ran.push('handler'));
      await registry.addResource({ name: 'no', uri: 'no://all', guards }, () => ran.push('handler'));
      await registry.addResource({ name: 'no one', uri: 'no://one/{id}', guards }, () => ran.push('handler'));
      await registry.addPrompt({ name: 'no', guards }, () => `${ran.push('handler')}`);
      const { result } = await callTool('no');
      expect(result).toMatchObject({ isError: true, content: [{ text: 'not for you' }] });
      for (const [method, params] of [
        ['resources/read', { uri: 'no://all' }],
        ['resources/read', { uri: 'no://one/1' }],
        ['prompts/get', { name: 'no' }],
      ] as const)
        expect((await ask(method, params)).error).toEqual({ code: 403, message: 'not for you' });
      expect(ran).not.toContain('handler');
      expect(ran.filter((one) => one === 'DenyGuard')).toHaveLength(4);
    });

    it('has guards with what is injected into them', async () => {
      running.app.get(Door).isOpen = false;
      expect((await callTool('early', { a: 1, b: 2 })).result).toMatchObject({ isError: true });
      running.app.get(Door).isOpen = true;
      expect(await said('early', { a: 1, b: 2 })).toBe('3');
      const closed = () => 'never';
      SetMetadata('closed', true)(closed);
      await registry.addTool({ name: 'closed', guards: [FoundGuard] }, closed);
      await registry.addTool({ name: 'open', guards: [FoundGuard] }, () => 'open');
      expect((await callTool('closed')).result).toMatchObject({ isError: true });
      expect(await said('open')).toBe('open');
    });

    it('shows guards what decorators put on the handler', async () => {
      const handler = () => 'for staff';
      Roles('staff')(handler);
      await registry.addTool({ name: 'staff' }, handler);
      expect((await callTool('staff')).result).toMatchObject({ isError: true });
      expect(await said('staff', {}, { 'x-role': 'staff' })).toBe('for staff');
    });
  });

  describe('what stands on the handler itself', () => {
    it.each([
      ['a class that no module provides', DenyGuard],
      ['an instance', new DenyGuard()],
    ])('guards it by @UseGuards() of %s', async (_how, guard) => {
      const handler = () => ran.push('handler');
      UseGuards(guard)(handler);
      await registry.addTool({ name: 'no' }, handler);
      await registry.addResource({ name: 'no', uri: 'no://all' }, handler);
      await registry.addPrompt({ name: 'no' }, handler);
      expect((await callTool('no')).result).toMatchObject({
        isError: true,
        content: [{ text: 'not for you' }],
      });
      expect((await ask('resources/read', { uri: 'no://all' })).error.code).toBe(403);
      expect((await ask('prompts/get', { name: 'no' })).error.code).toBe(403);
      expect(ran).not.toContain('handler');
    });

    it('guards it by @UseGuards() of a class that a module provides, before the guards given beside it', async () => {
      const handler = () => ran.push('handler');
      UseGuards(DoorGuard)(handler);
      await registry.addTool({ name: 'door', guards: [FoundGuard] }, handler);
      await callTool('door');
      expect(ran).toEqual(['RolesGuard', 'DoorGuard', 'FoundGuard', 'intercepts door', 'handler']);
      running.app.get(Door).isOpen = false;
      expect((await callTool('door')).result).toMatchObject({ isError: true });
      expect(ran.filter((one) => one === 'handler')).toHaveLength(1);
    });
  });

  describe('exposeAll', () => {
    /** A set as an application has it: with state, and with members that no tool has. */
    const articles = () => {
      const set = ['one', 'two'].map((name) => ({
        name,
        input: SumDto,
        calls: 0,
        secret: 'kept',
        handler(this: { calls: number }, { a, b }: SumDto, ctx: McpContext) {
          this.calls++;
          return `${ctx.name} ${a + b}`;
        },
      }));
      return set;
    };

    it('is refused by the guard class that is given with it, each item', async () => {
      const set = articles();
      await registry.exposeAll(set, { guards: [DenyGuard] });
      for (const { name } of set)
        expect((await callTool(name, { a: 1, b: 2 })).result).toMatchObject({
          isError: true,
          content: [{ text: 'not for you' }],
        });
      expect(set.map(({ calls }) => calls)).toEqual([0, 0]);
    });

    it('calls each on itself, and changes nothing of it for local use', async () => {
      const set = articles();
      const before = set.map((item) => ({ ...item, keys: Reflect.ownKeys(item) }));
      await registry.exposeAll(set);
      expect(await said('one', { a: 1, b: 2 })).toBe('one 3');
      expect(set.map((item) => ({ ...item, keys: Reflect.ownKeys(item) }))).toEqual([
        { ...before[0], calls: 1 },
        before[1],
      ]);
      expect(set[0]!.handler({ a: 2, b: 2 }, { name: 'local' } as never)).toBe('local 4');
      const listed = ((await ask('tools/list')).result['tools'] as Json[]).slice(-2);
      expect(names(listed)).toEqual(['one', 'two']);
      expect(JSON.stringify(listed)).not.toContain('kept');
    });

    it('shows guards what decorators put on the handler of an item', async () => {
      const set = articles();
      const [first] = set;
      const handler = () => 'for staff';
      Roles('staff')(handler);
      await registry.exposeAll([{ ...first!, handler }]);
      expect((await callTool('one', { a: 1, b: 2 })).result).toMatchObject({ isError: true });
      expect(await said('one', { a: 1, b: 2 }, { 'x-role': 'staff' })).toBe('for staff');
    });

    it("is refused by an item's own guards, and leaves the other items alone", async () => {
      const [one, two] = articles();
      await registry.exposeAll([{ ...one!, guards: [DenyGuard] }, two!], { guards: [DoorGuard] });
      expect((await callTool('one', { a: 1, b: 2 })).result).toMatchObject({
        isError: true,
        content: [{ text: 'not for you' }],
      });
      expect(ran).toEqual(['RolesGuard', 'DoorGuard', 'DenyGuard']);
      expect(one!.calls).toBe(0);
      expect(await said('two', { a: 1, b: 2 })).toBe('two 3');
    });

    it('is refused by the guards that stand on the handler of an item', async () => {
      const [one] = articles();
      let calls = 0;
      const handler = () => ++calls;
      UseGuards(DenyGuard)(handler);
      await registry.exposeAll([{ ...one!, handler }]);
      expect((await callTool('one', { a: 1, b: 2 })).result).toMatchObject({ isError: true });
      expect(calls).toBe(0);
    });

    const set = [{ name: 'misplaced', handler: () => 'never' }];
    it.each<[string, () => unknown, string]>([
      [
        'another name for them',
        () => registry.exposeAll(set, { guard: [DenyGuard] } as never),
        'McpRegistry.exposeAll() cannot be protected as declared: ' +
          'its second argument has guard, which nothing reads: write { guards: [TheGuard] }',
      ],
      [
        'a list of them',
        () => registry.exposeAll(set, [DenyGuard] as never),
        'its second argument has a list, which nothing reads: write { guards: [TheGuard] }',
      ],
      [
        'one that is no list',
        () => registry.exposeAll(set, { guards: DenyGuard as never }),
        '`guards` is no list: write guards: [TheGuard]',
      ],
      [
        'one of an item that is no list',
        () => registry.exposeAll([{ ...set[0]!, guards: DenyGuard as never }]),
        'McpRegistry.exposeAll(), "misplaced" cannot be protected as declared: `guards` is no list',
      ],
      [
        'what is no guard',
        () => registry.exposeAll(set, { guards: ['DenyGuard' as never] }),
        'DenyGuard is given as a guard, but has no method canActivate',
      ],
    ])('throws at once for guards that would be left out: %s', (_how, expose, text) => {
      expect(expose).toThrow(REFUSED);
      expect(expose).toThrow(text);
      expect(registry.describe().map(({ name }) => name)).not.toContain('misplaced');
    });

    it('throws at once for what is no list of tools', () => {
      const text = 'McpRegistry.exposeAll() takes a list of tools';
      for (const items of [{}, undefined, 'tools', new Set(set)])
        expect(() => registry.exposeAll(items as never)).toThrow(new TypeError(text));
    });

    it('exposes all or nothing', async () => {
      const [one, two] = articles();
      const before = await toolNames();
      expect(() => registry.exposeAll([one!, { ...two!, name: 'declared' }])).toThrow(REFUSED);
      expect(() => registry.exposeAll([one!, one!])).toThrow('Tool "one" is declared twice');
      expect(() => registry.exposeAll([one!, { ...two!, timeout: -1 }])).toThrow('option `timeout`');
      const broken = { type: 'object', properties: { a: { type: 'nothing' } } };
      await expect(registry.exposeAll([one!, { ...two!, input: broken }])).rejects.toThrow(REFUSED);
      await expect(registry.exposeAll([one!], { guards: [HopelessGuard] })).rejects.toThrow('HopelessGuard');
      expect(await toolNames()).toEqual(before);
      // Every name is free again.
      await registry.exposeAll([one!, two!]);
      expect(await toolNames()).toEqual([...before, 'one', 'two']);
    });
  });

  describe('what cannot be meant', () => {
    it('throws at once for a name, an address or a template that is taken', () => {
      expect(() => registry.addTool({ name: 'declared' }, () => 1)).toThrow(REFUSED);
      expect(() => registry.addTool({ name: 'early' }, () => 1)).toThrow(/^Tool "early" is declared twice/);
      expect(() => registry.addPrompt({ name: 'early' }, () => '')).toThrow(
        'Prompt "early" is declared twice',
      );
      expect(() => registry.addResource({ name: 'x', uri: 'early://all' }, () => '')).toThrow(
        'Resource "early://all" is declared twice',
      );
    });

    it('takes the name at once, before the promise resolves', async () => {
      const first = registry.addTool({ name: 'same' }, () => 'first');
      expect(() => registry.addTool({ name: 'same' }, () => 'second')).toThrow(
        'Tool "same" is declared twice',
      );
      await first;
      expect(await said('same')).toBe('first');
    });

    it.each<[string, () => unknown, string]>([
      [
        'a name that clients refuse',
        () => registry.addTool({ name: 'no spaces' }, () => 1),
        'cannot be a tool',
      ],
      ['no name', () => registry.addTool({} as never, () => 1), 'McpRegistry.addTool'],
      [
        'an unknown option',
        () => registry.addTool({ name: 'x', inputs: SumDto } as never, () => 1),
        '`inputs` is unknown',
      ],
      ['a timeout of 0', () => registry.addTool({ name: 'x', timeout: 0 }, () => 1), 'option `timeout`'],
      [
        'a schema that is none',
        () => registry.addTool({ name: 'x', input: 'text' as never }, () => 1),
        'option `input`',
      ],
      [
        'an output that is none',
        () => registry.addTool({ name: 'x', output: 1 as never }, () => 1),
        'option `output`',
      ],
      ['no URI', () => registry.addResource({ name: 'x', uri: 'nothing' }, () => 1), 'option `uri`'],
      [
        'a template of no use',
        () => registry.addResource({ name: 'x', uri: 'a://{b}{c}' }, () => 1),
        'option `uri`',
      ],
      [
        'params without a template',
        () => registry.addResource({ name: 'x', uri: 'a://b', params: SumDto }, () => 1),
        'option `params`',
      ],
      [
        'args that are none',
        () => registry.addPrompt({ name: 'x', args: [] as never }, () => ''),
        'option `args`',
      ],
    ])('throws at once for %s', async (_what, add, text) => {
      const before = registry.describe();
      expect(add).toThrow(REFUSED);
      expect(add).toThrow(text);
      expect(registry.describe()).toEqual(before);
    });

    it.each<[string, () => unknown]>([
      ['tool', () => registry.addTool({ name: 'x', guard: [DenyGuard] } as never, () => 1)],
      ['resource', () => registry.addResource({ name: 'x', uri: 'x://1', guard: [] } as never, () => 1)],
      ['prompt', () => registry.addPrompt({ name: 'x', guard: [DenyGuard] } as never, () => '')],
    ])('names `guards` and `replace` among the options that a %s may have', (_kind, add) => {
      expect(add).toThrow(REFUSED);
      expect(add).toThrow(/option `guard` is unknown; known are name, .*guards, replace$/);
    });

    it.each<[string, () => unknown]>([
      ['Tool', () => registry.addTool({ name: 'x', guards: DenyGuard as never }, () => 1)],
      [
        'Resource',
        () => registry.addResource({ name: 'x', uri: 'x://1', guards: DenyGuard as never }, () => 1),
      ],
      ['Prompt', () => registry.addPrompt({ name: 'x', guards: DenyGuard as never }, () => '')],
    ])('throws at once where guards are no list: add%s()', (kind, add) => {
      expect(add).toThrow(REFUSED);
      expect(add).toThrow(
        `McpRegistry.add${kind}("x") cannot be protected as declared: \`guards\` is no list: write guards: [TheGuard]`,
      );
    });

    it('rejects for a schema or a guard that turns out to be of no use, and gives the name back', async () => {
      const input = { type: 'object', properties: { a: { type: 'nothing' } } };
      await expect(registry.addTool({ name: 'x', input }, () => 1)).rejects.toThrow(REFUSED);
      await expect(registry.addTool({ name: 'x', guards: [HopelessGuard] }, () => 1)).rejects.toThrow(
        /McpRegistry\.addTool\("x"\): the guard HopelessGuard cannot be made\. Provide it in a module/,
      );
      await registry.addTool({ name: 'x' }, () => 'at last');
      expect(await said('x')).toBe('at last');
    });

    it.each(['tools', 'completion', '', undefined, '__proto__'])('throws for the kind %j', (kind) => {
      const text = "write 'tool', 'resource' or 'prompt'";
      expect(() => registry.remove(kind as never, 'early')).toThrow(text);
      expect(() => registry.setEnabled(kind as never, 'early', false)).toThrow(text);
    });

    it('throws for a resource that is no URI, and for something unknown that is to be enabled', () => {
      for (const uri of ['no uri', '', 'ticket://\ud800', 7 as never])
        expect(() => registry.notifyResourceUpdated(uri)).toThrow(TypeError);
      expect(() => registry.setEnabled('tool', 'nothing', true)).toThrow('there is no tool "nothing"');
      expect(registry.remove('tool', 'nothing')).toBe(false);
      expect(registry.remove('prompt', 'declared')).toBe(false);
    });
  });

  describe('what is replaced, removed and disabled', () => {
    it('replaces in place, guards and all', async () => {
      await registry.addTool({ name: 'old' }, () => 'old');
      await registry.addTool({ name: 'other' }, () => 'other');
      await registry.addTool({ name: 'old', replace: true, guards: [DenyGuard] }, () => 'new');
      expect(await toolNames()).toEqual(['early', 'declared', 'old', 'other']);
      expect((await callTool('old')).result).toMatchObject({ isError: true });
      await registry.addTool({ name: 'old', replace: true }, () => 'newest');
      expect(await said('old')).toBe('newest');
      await registry.addTool({ name: 'fresh', replace: true }, () => 'fresh');
      expect(await said('fresh')).toBe('fresh');
    });

    it('has the one that was asked for last, in whatever order they are ready', async () => {
      const slow = z.object({}).refine(() => true);
      await registry.addTool({ name: 'raced' }, () => 'first');
      await Promise.all([
        registry.addTool({ name: 'raced', replace: true, input: slow }, () => 'second'),
        registry.addTool({ name: 'raced', replace: true }, () => 'third'),
      ]);
      expect(await said('raced')).toBe('third');
      const failing = registry.addTool({ name: 'new', guards: [HopelessGuard] }, () => 'never');
      const replacing = registry.addTool({ name: 'new', replace: true }, () => 'replaced');
      await expect(failing).rejects.toThrow(REFUSED);
      await replacing;
      expect(await said('new')).toBe('replaced');
    });

    it('leaves the old one where its replacement fails', async () => {
      await registry.addTool({ name: 'kept' }, () => 'old');
      await expect(
        registry.addTool({ name: 'kept', replace: true, guards: [HopelessGuard] }, () => 'new'),
      ).rejects.toThrow(REFUSED);
      expect(await said('kept')).toBe('old');
    });

    it('is unknown once it is removed, by name or by address', async () => {
      await registry.addResource({ name: 'two', uri: 'two://{id}' }, () => 'two');
      await registry.addResource({ name: 'three', uri: 'three://all' }, () => 'three');
      expect(registry.remove('resource', 'two://{id}')).toBe(true);
      expect(registry.remove('resource', 'three')).toBe(true);
      expect(registry.remove('resource', 'three')).toBe(false);
      for (const uri of ['two://1', 'three://all'])
        expect((await ask('resources/read', { uri })).error).toMatchObject({ code: -32602, data: { uri } });
      expect(names((await ask('resources/list')).result['resources'])).toEqual(['early']);
    });

    it('asks for the address where several resources have one name', async () => {
      await registry.addResource({ name: 'twin', uri: 'twin://1' }, () => '1');
      await registry.addResource({ name: 'twin', uri: 'twin://2' }, () => '2');
      expect(() => registry.remove('resource', 'twin')).toThrow('2 resources are named "twin"');
      expect(registry.remove('resource', 'twin://1')).toBe(true);
      expect(registry.remove('resource', 'twin')).toBe(true);
    });

    it('is unlisted and unknown while it is disabled, and is itself again afterwards', async () => {
      const unknown = await callTool('never-there');
      registry.setEnabled('tool', 'declared', false);
      registry.setEnabled('resource', 'early', false);
      registry.setEnabled('prompt', 'early', false);
      expect(await toolNames()).toEqual(['early']);
      const disabled = await callTool('declared');
      expect(disabled.error).toEqual({
        ...unknown.error,
        message: unknown.error.message.replace('never-there', 'declared'),
      });
      expect((await ask('resources/list')).result['resources']).toEqual([]);
      expect((await ask('resources/read', { uri: 'early://all' })).error.code).toBe(-32602);
      expect((await ask('prompts/list')).result['prompts']).toEqual([]);
      expect((await ask('prompts/get', { name: 'early' })).error.code).toBe(-32602);
      // The name stays taken.
      expect(() => registry.addTool({ name: 'declared' }, () => 1)).toThrow(REFUSED);
      registry.setEnabled('tool', 'declared', true);
      registry.setEnabled('resource', 'early://all', true);
      registry.setEnabled('prompt', 'early', true);
      expect(await toolNames()).toEqual(['early', 'declared']);
      expect(await said('declared')).toBe('declared');
    });

    it('S-118: tells of each kind of change, once for one turn, and not of what changes nothing', async () => {
      const asked = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const stream = await listenOverHttp(
        running.mcp,
        { ...asked, resourceSubscriptions: ['early://all'] },
        traffic,
      );
      await stream.count(1);
      registry.setEnabled('tool', 'declared', true);
      expect(registry.remove('tool', 'nothing')).toBe(false);
      await registry.addPrompt({ name: 'p' }, () => 'p');
      await stream.count(2);
      await registry.addResource({ name: 'r', uri: 'r://{id}' }, () => 'r');
      await stream.count(3);
      registry.setEnabled('tool', 'early', false);
      registry.setEnabled('tool', 'early', true);
      registry.remove('prompt', 'p');
      registry.notifyResourceUpdated('early://all');
      expect((await stream.count(6)).slice(1)).toEqual([
        listChange('prompts', 'sub'),
        listChange('resources', 'sub'),
        listChange('tools', 'sub'),
        listChange('prompts', 'sub'),
        resourceChange('early://all', 'sub'),
      ]);
      await stream.close();
    });

    it('tells of an address with characters that no URI has whoever follows it as they are encoded', async () => {
      await registry.addResource({ name: 'ticket', uri: 'ticket://{a}' }, () => 'ticket');
      const resourceSubscriptions = ['ticket://%C3%A4', 'ticket://a'];
      const stream = await listenOverHttp(running.mcp, { resourceSubscriptions }, traffic);
      await stream.count(1);
      registry.notifyResourceUpdated('ticket://ä');
      expect((await stream.count(2)).slice(1)).toEqual([resourceChange('ticket://%C3%A4', 'sub')]);
      // What is encoded already is not encoded again.
      registry.notifyResourceUpdated('ticket://%C3%A4');
      expect((await stream.count(3)).slice(2)).toEqual([resourceChange('ticket://%C3%A4', 'sub')]);
      await stream.close();
    });
  });
});

describe('McpRegistry and the start', () => {
  const noted: string[] = [];

  @Injectable({ scope: Scope.REQUEST })
  class ScopedGlobalGuard implements CanActivate {
    canActivate(): boolean {
      noted.push('guard');
      return false;
    }
  }

  it('refuses to start where a request-scoped global guard would be skipped', async () => {
    const setup: Setup = (registry) => registry.addTool({ name: 'open' }, () => noted.push('handler'));
    const more = [{ provide: APP_GUARD, useClass: ScopedGlobalGuard }];
    await expect(startApp(registryApp(setup, {}, more))).rejects.toThrow(
      /^McpRegistry\.addTool\("open"\) cannot be protected as declared: the request-scoped global enhancer ScopedGlobalGuard/,
    );
    expect(noted).toEqual([]);
  });

  it('refuses to start where one that was added takes the name of one that is decorated', async () => {
    const setup: Setup = (registry) => registry.addTool({ name: 'declared' }, () => 'added');
    await expect(startApp(registryApp(setup))).rejects.toThrow('Tool "declared" is declared twice');
  });

  @Injectable()
  class OneOfEach {
    @McpTool({ name: 'own' })
    tool(): string {
      return 'declared';
    }

    @McpResource({ name: 'own', uri: 'own://all' })
    resource(): string {
      return 'declared';
    }

    @McpPrompt({ name: 'own' })
    prompt(): string {
      return 'declared';
    }
  }

  it.each<[string, (registry: McpRegistry, replace: boolean) => Promise<void>, string, Json, string]>([
    [
      'tool',
      (registry, replace) => registry.addTool({ name: 'own', replace }, () => 'added'),
      'tools/call',
      { name: 'own' },
      'Tool "own" is declared twice',
    ],
    [
      'resource',
      (registry, replace) => registry.addResource({ name: 'own', uri: 'own://all', replace }, () => 'added'),
      'resources/read',
      { uri: 'own://all' },
      'Resource "own://all" is declared twice',
    ],
    [
      'prompt',
      (registry, replace) => registry.addPrompt({ name: 'own', replace }, () => 'added'),
      'prompts/get',
      { name: 'own' },
      'Prompt "own" is declared twice',
    ],
  ])(
    'replaces a decorated %s before the start where it is asked to',
    async (kind, add, method, params, text) => {
      const running = await startApp(registryApp((registry) => add(registry, true), {}, [OneOfEach]));
      const { result } = await modern(running.mcp, method, params);
      const own = running.app
        .get(McpRegistry)
        .describe()
        .filter((one) => one.kind === kind && one.name === 'own');
      await running.close();
      expect(JSON.stringify(result)).toContain('"text":"added"');
      expect(own).toHaveLength(1);
      await expect(
        startApp(registryApp((registry) => add(registry, false), {}, [OneOfEach])),
      ).rejects.toThrow(text);
    },
  );

  it('hides what is decorated where it is disabled before the start, until it is enabled', async () => {
    const setup: Setup = (registry) => {
      registry.setEnabled('tool', 'own', false);
      registry.setEnabled('resource', 'own://all', false);
      registry.setEnabled('prompt', 'own', false);
      registry.setEnabled('tool', 'declared', false);
      registry.setEnabled('tool', 'declared', true);
    };
    const running = await startApp(registryApp(setup, {}, [OneOfEach]));
    const registry = running.app.get(McpRegistry);
    const exposed = () => registry.describe().map(({ kind, name }) => `${kind} ${name}`);
    const before = exposed();
    const hidden = await modern(running.mcp, 'tools/call', { name: 'own' });
    registry.setEnabled('tool', 'own', true);
    const shown = await modern(running.mcp, 'tools/call', { name: 'own' });
    await running.close();
    expect(before).toEqual(['tool declared']);
    expect(hidden.error.code).toBe(-32602);
    expect(textOf(shown.result)).toBe('declared');
  });

  it.each(['tool', 'resource', 'prompt'] as const)(
    'refuses to start where a %s is disabled that is not there',
    async (kind) => {
      const setup: Setup = (registry) => registry.setEnabled(kind, 'nothing', false);
      await expect(startApp(registryApp(setup))).rejects.toThrow(
        new TypeError(`McpRegistry.setEnabled(): there is no ${kind} "nothing"`),
      );
    },
  );

  it('warns of nothing for handlers without arguments behind a ValidationPipe', async () => {
    const log = new CapturedLog();
    const setup: Setup = async (registry) => {
      await registry.addTool({ name: 'bare' }, () => 'bare');
      await registry.addResource({ name: 'bare', uri: 'bare://all' }, () => 'bare');
      await registry.addPrompt({ name: 'bare' }, () => 'bare');
      await registry.addTool({ name: 'sum', input: SumDto }, ({ a, b }: SumDto) => a + b);
    };
    const running = await startApp(registryApp(setup), { logger: log });
    await running.app.get(McpRegistry).addTool({ name: 'later' }, () => 'later');
    const { result } = await modern(running.mcp, 'tools/call', { name: 'later' });
    await running.close();
    expect(textOf(result)).toBe('later');
    expect([...log.of('warn'), ...log.of('error')]).toEqual([]);
  });

  it('serves what is added on stdio, and offers a feature that only the registry brings', async () => {
    const traffic = new Traffic();
    let registry!: McpRegistry;
    const client = new StdioClient(
      openPipe(registryApp(), { configure: (app) => void (registry = app.get(McpRegistry)) }),
      traffic,
    );
    const before = await client.modern(1, 'server/discover');
    expect((before['result'] as Json)['capabilities']).toEqual({ tools: { listChanged: true }, logging: {} });
    expect((await client.modern(2, 'prompts/list'))['error']).toMatchObject({ code: -32601 });
    await registry.addPrompt({ name: 'later' }, () => 'later');
    expect((await client.modern(3, 'prompts/list'))['result']).toMatchObject({
      prompts: [{ name: 'later' }],
    });
    registry.remove('prompt', 'later');
    // What was offered stays offered.
    expect((await client.modern(4, 'prompts/list'))['result']).toMatchObject({ prompts: [] });
    await registry.addTool({ name: 'denied', guards: [DenyGuard] }, () => 'never');
    const denied = await client.modern(5, 'tools/call', { name: 'denied' });
    expect(denied['result']).toMatchObject({ isError: true });
    await client.end();
    await traffic.verify();
  });
});

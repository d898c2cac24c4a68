import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Scope,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  Logger,
  type LoggerService,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import {
  APP_GUARD,
  ContextIdFactory,
  REQUEST,
  type ContextId,
  type ContextIdStrategy,
  type HostComponentInfo,
} from '@nestjs/core';
import { IsInt, IsString } from 'class-validator';
import {
  McpArgs,
  McpContext,
  McpCtx,
  McpError,
  McpModule,
  McpRegistry,
  McpStdioRequest,
  McpTool,
  type McpModuleOptions,
} from 'nest-mcp';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { openPipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  modern,
  modernMessage,
  openSession,
  textOf,
  type Json,
  type Reply,
} from '../support/wire.js';
import { CapturedLog } from './captured-log.js';

const traffic = new Traffic();
afterAll(() => traffic.verify());

function rootOf(metadata: ModuleMetadata, options: Partial<McpModuleOptions> = {}): Type {
  @Module({
    ...metadata,
    imports: [
      McpModule.forRoot({ name: 'scopes', version: '1.0.0', ...options }),
      ...(metadata.imports ?? []),
    ],
  })
  class RootModule {}
  return RootModule;
}

async function within<T>(
  root: Type,
  work: (running: RunningApp) => Promise<T>,
  adapter: AdapterName = 'express',
  logger: LoggerService | false = false,
): Promise<T> {
  const running = await startApp(root, { adapter, logger });
  try {
    return await work(running);
  } finally {
    await running.close();
  }
}

/** Keeps whoever arrives until all are there, so that calls are sure to overlap. */
class Meeting {
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly size: number) {}

  join(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === this.size) this.waiting.splice(0).forEach((go) => go());
    });
  }
}

interface HeaderRequest {
  headers: Record<string, string>;
}

function observed(reply: Reply): Json {
  traffic.observe(reply.body, '2026-07-28', 'tools/call');
  return reply.result['structuredContent'] as Json;
}

describe.each(ADAPTERS)('request-scoped tools on %s', (adapter) => {
  let made = 0;
  const meeting = new Meeting(2);

  @Injectable({ scope: Scope.REQUEST })
  class TenantTools {
    private readonly instance = ++made;

    constructor(@Inject(REQUEST) private readonly request: HeaderRequest) {}

    @McpTool()
    async direct(context: McpContext) {
      await meeting.join();
      const isSame = context.request === this.request;
      return { tenant: this.request.headers['x-tenant'], instance: this.instance, isSame };
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class TenantService {
    constructor(@Inject(REQUEST) readonly request: HeaderRequest) {}
  }

  @Injectable()
  class BubbledTools {
    private readonly instance = ++made;

    constructor(private readonly tenants: TenantService) {}

    @McpTool()
    async bubbled() {
      await meeting.join();
      return { tenant: this.tenants.request.headers['x-tenant'], instance: this.instance };
    }
  }

  @Controller('tenants')
  class TenantController {
    private readonly instance = ++made;

    constructor(private readonly tenants: TenantService) {}

    @McpTool()
    async onController() {
      await meeting.join();
      return { tenant: this.tenants.request.headers['x-tenant'], instance: this.instance };
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    const providers = [TenantTools, TenantService, BubbledTools];
    running = await startApp(rootOf({ providers, controllers: [TenantController] }), { adapter });
  });
  afterAll(() => running.close());

  it('A7: are listed', async () => {
    const { result } = await modern(running.mcp, 'tools/list');
    expect((result['tools'] as Json[]).map(({ name }) => name)).toEqual([
      'direct',
      'bubbled',
      'onController',
    ]);
  });

  it.each(['direct', 'bubbled', 'onController'])(
    'A7: are made anew for each of two concurrent calls, each with its own headers (%s)',
    async (tool) => {
      const before = made;
      const [one, two] = await Promise.all([
        callTool(running.mcp, tool, {}, { 'x-tenant': 'one' }),
        callTool(running.mcp, tool, {}, { 'x-tenant': 'two' }),
      ]);
      const results = [observed(one), observed(two)];
      expect(results.map(({ tenant }) => tenant)).toEqual(['one', 'two']);
      expect(new Set(results.map(({ instance }) => instance))).toEqual(new Set([before + 1, before + 2]));
      expect(made).toBe(before + 2);
      if (tool === 'direct') expect(results.map(({ isSame }) => isSame)).toEqual([true, true]);
    },
  );

  it('A7: in one session as well', async () => {
    const session = await openSession(running.mcp);
    const call = (id: number, tenant: string) =>
      session.request('tools/call', { name: 'direct', arguments: {} }, id, { 'x-tenant': tenant });
    const replies = await Promise.all([call(1, 'one'), call(2, 'two')]);
    const results = replies.map(({ result }) => result['structuredContent'] as Json);
    expect(results.map(({ tenant }) => tenant)).toEqual(['one', 'two']);
    expect(results[0]!['instance']).not.toBe(results[1]!['instance']);
  });
});

describe('A8: a tool that depends on a request-scoped service', () => {
  const seen: unknown[] = [];

  @Injectable({ scope: Scope.REQUEST })
  class RequestService {
    constructor(@Inject(REQUEST) readonly request: HeaderRequest) {}
  }

  @Injectable()
  class PlainTools {
    constructor(private readonly service: RequestService) {}

    @McpTool()
    look(context: McpContext): string {
      const { request } = this.service;
      seen.push(request);
      return `${context.transport} ${request === context.request} ${request.headers['x-tenant']}`;
    }
  }
  const root = rootOf({ providers: [RequestService, PlainTools] });

  it.each(ADAPTERS)("sees the framework's request over HTTP on %s", (adapter) =>
    within(
      root,
      async ({ mcp }) => {
        const { result } = await callTool(mcp, 'look', {}, { 'x-tenant': 'acme' });
        expect(textOf(result)).toBe('http true acme');
        expect(seen.at(-1)).toMatchObject({ method: 'POST', body: { method: 'tools/call' } });
      },
      adapter,
    ),
  );

  it('sees the stand-in over stdio, a new one for each call', async () => {
    const pipe = openPipe(root, { request: { headers: { 'X-Tenant': 'pipe' }, user: { id: 'ann' } } });
    for (const id of [1, 2]) {
      pipe.send(modernMessage('tools/call', { name: 'look', arguments: {} }, id));
      const answer = await pipe.answer(id);
      traffic.observe(answer, '2026-07-28', 'tools/call');
      expect(textOf(answer['result'] as Json)).toBe('stdio true pipe');
    }
    const [first, second] = seen.slice(-2);
    expect(first).toBeInstanceOf(McpStdioRequest);
    expect(first).toMatchObject({
      method: 'POST',
      url: '/',
      ip: 'stdio',
      params: {},
      query: {},
      user: { id: 'ann' },
      body: { id: 1, method: 'tools/call' },
    });
    expect(second).not.toBe(first);
    await pipe.end();
  });
});

describe('transient tools', () => {
  let made = 0;

  @Injectable()
  class GreetingService {
    readonly greeting = 'hello';
  }

  @Injectable({ scope: Scope.TRANSIENT })
  class TransientGuard implements CanActivate {
    constructor(private readonly service: GreetingService) {}
    canActivate(): boolean {
      return this.service.greeting === 'hello';
    }
  }

  @Injectable({ scope: Scope.TRANSIENT })
  @UseGuards(TransientGuard)
  class TransientTools {
    private readonly instance = ++made;

    constructor(private readonly service: GreetingService) {}

    @McpTool()
    greet(): string {
      return `${this.service.greeting} from ${this.instance}`;
    }
  }

  class FactoryTools {
    constructor(private readonly service: GreetingService) {}

    @McpTool()
    made(): string {
      return `${this.service.greeting} from a factory`;
    }
  }

  const factory = (scope: Scope): Provider => ({
    provide: FactoryTools,
    scope,
    inject: [GreetingService],
    useFactory: (service: GreetingService) => new FactoryTools(service),
  });

  it('are made, with what they inject, for each call', () =>
    within(rootOf({ providers: [GreetingService, TransientTools] }), async ({ mcp }) => {
      const before = made;
      expect(textOf((await callTool(mcp, 'greet')).result)).toBe(`hello from ${before + 1}`);
      expect(textOf((await callTool(mcp, 'greet')).result)).toBe(`hello from ${before + 2}`);
    }));

  it.each([
    ['singleton', Scope.DEFAULT],
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('are found also where a %s factory makes them', (_title, scope) =>
    within(rootOf({ providers: [GreetingService, factory(scope)] }), async ({ mcp }) => {
      expect(textOf((await callTool(mcp, 'made')).result)).toBe('hello from a factory');
    }),
  );
});

describe('durable tools', () => {
  let made = 0;

  /** One sub-tree for each tenant. */
  class TenantStrategy implements ContextIdStrategy {
    private readonly tenants = new Map<string, ContextId>();

    attach(contextId: ContextId, request: HeaderRequest) {
      const tenant = request.headers['x-tenant'] ?? '';
      const tree = this.tenants.get(tenant) ?? { id: this.tenants.size + 1 };
      this.tenants.set(tenant, tree);
      return {
        resolve: (info: HostComponentInfo) => (info.isTreeDurable ? tree : contextId),
        payload: { tenant },
      };
    }
  }

  @Injectable({ scope: Scope.REQUEST, durable: true })
  class DurableTools {
    private readonly instance = ++made;

    constructor(@Inject(REQUEST) private readonly payload: { tenant?: string }) {}

    @McpTool()
    tenant(): string {
      return `${this.payload.tenant} ${this.instance}`;
    }
  }
  const root = rootOf({ providers: [DurableTools] });

  afterEach(() => {
    (ContextIdFactory as unknown as { strategy: unknown }).strategy = undefined;
  });

  it.each(ADAPTERS)('are one for each tenant under a strategy, with its payload, on %s', async (adapter) => {
    made = 0;
    ContextIdFactory.apply(new TenantStrategy());
    await within(
      root,
      async ({ mcp }) => {
        const say = async (tenant: string) =>
          textOf((await callTool(mcp, 'tenant', {}, { 'x-tenant': tenant })).result);
        expect(await say('one')).toBe('one 1');
        expect(await say('two')).toBe('two 2');
        expect(await say('one')).toBe('one 1');
      },
      adapter,
    );
  });

  it('are made for each call without one', async () => {
    made = 0;
    await within(root, async ({ mcp }) => {
      await callTool(mcp, 'tenant');
      expect(textOf((await callTool(mcp, 'tenant')).result)).toBe('undefined 2');
    });
  });
});

describe('A9: an application without tools, with providers of every kind', () => {
  const bare = Object.create(null) as object;
  const providers: Provider[] = [
    { provide: 'NULL', useValue: null },
    { provide: 'UNDEFINED', useFactory: () => undefined },
    { provide: 'NUMBER', useValue: 5 },
    { provide: 'TEXT', useValue: 'text' },
    { provide: 'FROZEN', useValue: Object.freeze({ a: 1 }) },
    { provide: 'BARE', useValue: bare },
    { provide: 'CHILD OF BARE', useValue: Object.create(bare) },
    { provide: 'FUNCTION', useValue: () => 1 },
    { provide: 'CLASS', useValue: class Unused {} },
    { provide: Symbol('token'), useValue: new Map() },
    { provide: 'ALIAS', useExisting: 'NUMBER' },
    {
      provide: 'TRAPPED',
      useValue: Object.defineProperty({}, 'boom', {
        enumerable: true,
        get: () => {
          throw new Error('getter');
        },
      }),
    },
  ];
  const root = rootOf({ providers });

  it.each(ADAPTERS)('serves both eras and declares no tools, on %s', (adapter) =>
    within(
      root,
      async ({ app, mcp }) => {
        const discovered = await modern(mcp, 'server/discover');
        traffic.observe(discovered.body, '2026-07-28', 'server/discover');
        expect(discovered.result['capabilities']).toEqual({});
        const list = await modern(mcp, 'tools/list', {}, {}, 5);
        expect([list.status, list.body['id'], list.error.code]).toEqual([404, 5, -32601]);
        const session = await openSession(mcp);
        traffic.observe(session.initialized.body, '2025-11-25', 'initialize');
        expect(session.initialized.result['capabilities']).toEqual({});
        const legacyList = await session.request('tools/list', {}, 6);
        expect([legacyList.status, legacyList.body['id'], legacyList.error.code]).toEqual([200, 6, -32601]);
        expect(app.get(McpRegistry).describe()).toEqual([]);
      },
      adapter,
    ),
  );

  it('serves stdio', async () => {
    const pipe = openPipe(root);
    pipe.send(modernMessage('tools/list', {}, 1));
    expect((await pipe.answer(1))['error']).toMatchObject({ code: -32601 });
    await pipe.end();
  });
});

describe('A19: a tool without parameters', () => {
  class PingTools {
    @McpTool('ping')
    ping(): string {
      return 'pong';
    }
  }

  it.each(ADAPTERS)('has an object schema, and is called with no arguments or {}, on %s', (adapter) =>
    within(
      rootOf({ providers: [PingTools] }),
      async ({ mcp }) => {
        const list = await modern(mcp, 'tools/list');
        traffic.observe(list.body, '2026-07-28', 'tools/list');
        expect(list.result['tools']).toMatchObject([
          { name: 'ping', inputSchema: { type: 'object', additionalProperties: false } },
        ]);
        const [tool] = list.result['tools'] as [{ inputSchema: Json }];
        expect(tool.inputSchema['properties'] ?? {}).toEqual({});
        const session = await openSession(mcp);
        for (const params of [{ name: 'ping' }, { name: 'ping', arguments: {} }]) {
          expect(textOf((await modern(mcp, 'tools/call', params)).result)).toBe('pong');
          expect(textOf((await session.request('tools/call', params)).result)).toBe('pong');
        }
        const unknown = await callTool(mcp, 'ping', { speed: 1 });
        expect(unknown.result).toMatchObject({
          isError: true,
          content: [
            {
              type: 'text',
              text: 'Invalid arguments for ping:\n- speed: is not a known member (none is known here)',
            },
          ],
        });
        const nothing = await modern(mcp, 'tools/call', { name: 'ping', arguments: null });
        expect([nothing.status, nothing.error.code]).toEqual([200, -32602]);
      },
      adapter,
    ),
  );
});

describe('where tools may stand', () => {
  class PageDto {
    @IsInt()
    page: number;
  }

  @Controller('pages')
  class PagesController {
    @Get()
    route(): string {
      return 'route';
    }

    @McpTool()
    readPage({ page }: PageDto): string {
      return `page ${page}, ${this.route()}`;
    }
  }

  it("on a controller's method that is no route, while its routes stay as they are", () =>
    within(rootOf({ controllers: [PagesController] }), async ({ mcp, url }) => {
      expect(textOf((await callTool(mcp, 'readPage', { page: 2 })).result)).toBe('page 2, route');
      expect(await (await fetch(`${url}/pages`)).text()).toBe('route');
    }));

  interface Page {
    page: number;
  }
  type Context = { readonly requestId: string | number };

  class InterfaceTools {
    @McpTool({ input: PageDto })
    marked(@McpCtx() context: Context, @McpArgs() args: Page) {
      return { isDto: args instanceof PageDto, page: args.page, id: context.requestId };
    }

    @McpTool({ input: PageDto })
    unmarked(args: Page, context: McpContext) {
      return { isDto: args instanceof PageDto, page: args.page, id: context.requestId };
    }

    @McpTool({ input: PageDto })
    contextOnly(context: McpContext) {
      return { isDto: false, page: 3, id: context.requestId };
    }
  }

  it.each(['marked', 'unmarked', 'contextOnly'])(
    'with interfaces for types, where the options and marks say it (%s)',
    (tool) =>
      within(rootOf({ providers: [InterfaceTools] }), async ({ mcp }) => {
        const { result } = await callTool(mcp, tool, { page: 3 });
        expect(result['structuredContent']).toEqual({ isDto: tool !== 'contextOnly', page: 3, id: 1 });
        const wrong = await callTool(mcp, tool, { page: 'x' });
        expect(textOf(wrong.result)).toBe(`Invalid arguments for ${tool}:\n- page: must be an integer`);
      }),
  );

  class BaseTools {
    protected readonly who: string = 'base';

    @McpTool()
    inherited({ page }: PageDto): string {
      return `${this.who} ${page}`;
    }

    @McpTool({ description: 'of the base' })
    redeclared(): string {
      return 'base';
    }

    @McpTool()
    withdrawn(): string {
      return 'base';
    }
  }

  @Injectable()
  class SubTools extends BaseTools {
    protected override readonly who = 'sub';

    @McpTool({ description: 'of the sub' })
    override redeclared(): string {
      return 'sub';
    }

    override withdrawn(): string {
      return 'sub';
    }
  }

  it('in a base class, where an override counts instead, and without the mark is no tool', () =>
    within(rootOf({ providers: [SubTools] }), async ({ mcp }) => {
      const { result } = await modern(mcp, 'tools/list');
      const tools = result['tools'] as Json[];
      expect(tools.map(({ name, description }) => [name, description])).toEqual([
        ['redeclared', 'of the sub'],
        ['inherited', undefined],
      ]);
      expect(textOf((await callTool(mcp, 'inherited', { page: 4 })).result)).toBe('sub 4');
      expect(textOf((await callTool(mcp, 'redeclared')).result)).toBe('sub');
      expect((await callTool(mcp, 'withdrawn')).error.code).toBe(-32602);
    }));

  it('in two subclasses of one base under names of their own', () => {
    abstract class Reader {
      protected abstract readonly what: string;
      protected say(): string {
        return this.what;
      }
    }
    class CatReader extends Reader {
      protected override readonly what = 'cat';
      @McpTool()
      readCat(): string {
        return this.say();
      }
    }
    class DogReader extends Reader {
      protected override readonly what = 'dog';
      @McpTool()
      readDog(): string {
        return this.say();
      }
    }
    return within(rootOf({ providers: [CatReader, DogReader] }), async ({ mcp }) => {
      expect(textOf((await callTool(mcp, 'readCat')).result)).toBe('cat');
      expect(textOf((await callTool(mcp, 'readDog')).result)).toBe('dog');
    });
  });
});

describe('forRootAsync()', () => {
  @Injectable()
  class Config {
    readonly name = 'from-config';
  }
  @Module({ providers: [Config], exports: [Config] })
  class ConfigModule {}
  class HelloTools {
    @McpTool()
    hello(): string {
      return 'hello';
    }
  }
  const seen: unknown[] = [];
  @Injectable()
  class PublicGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      if (context.getType<string>() === 'http') seen.push(Reflect.getMetadata('public', context.getClass()));
      return true;
    }
  }
  let calls = 0;

  it.each(ADAPTERS)('takes its options from what it imports and injects, once, on %s', async (adapter) => {
    calls = 0;
    seen.length = 0;
    @Module({
      imports: [
        McpModule.forRootAsync({
          path: 'ai',
          imports: [ConfigModule],
          inject: [Config],
          useFactory: async (config: Config) => {
            calls++;
            await Promise.resolve();
            return {
              name: config.name,
              version: '2.0.0',
              http: { decorators: [SetMetadata('public', true)] },
            };
          },
        }),
      ],
      providers: [HelloTools, { provide: APP_GUARD, useClass: PublicGuard }],
    })
    class AsyncModule {}
    await within(
      AsyncModule,
      async ({ url, mcp }) => {
        const discovered = await modern(`${url}/ai`, 'server/discover');
        expect((discovered.result['_meta'] as Json)['io.modelcontextprotocol/serverInfo']).toEqual({
          name: 'from-config',
          version: '2.0.0',
        });
        expect(textOf((await callTool(`${url}/ai`, 'hello')).result)).toBe('hello');
        expect((await callTool(mcp, 'hello').catch(() => ({ status: 404 }))).status).toBe(404);
        expect([calls, seen]).toEqual([1, [true, true]]);
      },
      adapter,
    );
  });
});

describe('who is calling', () => {
  const user: { value: unknown } = { value: undefined };
  @Injectable()
  class UserGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      context.switchToHttp().getRequest<Json>()['user'] = user.value;
      return true;
    }
  }
  let runs = 0;
  class CallerTools {
    @McpTool()
    who(context: McpContext) {
      runs++;
      return { caller: context.caller ?? 'nobody' };
    }

    @McpTool()
    blind(): string {
      runs++;
      return 'ran';
    }
  }
  const root = (options: Partial<McpModuleOptions> = {}) =>
    rootOf({ providers: [CallerTools, { provide: APP_GUARD, useClass: UserGuard }] }, options);

  it.each([
    ['sub before id and userId', { sub: 'a', id: 'b', userId: 'c' }, { id: 'a' }],
    ['id before userId', { id: 'b', userId: 'c' }, { id: 'b' }],
    ['userId', { userId: 'c' }, { id: 'c' }],
    ['a number as text', { id: 42 }, { id: '42' }],
    ['a bigint as text', { id: 2n ** 60n }, { id: '1152921504606846976' }],
    ['nobody without a user', undefined, 'nobody'],
    ['nobody for null', null, 'nobody'],
  ])('is by default %s', async (_title, value, caller) => {
    user.value = value;
    await within(root(), async ({ mcp }) => {
      expect((await callTool(mcp, 'who')).result['structuredContent']).toEqual({ caller });
      const session = await openSession(mcp);
      expect((await session.callTool('who')).result['structuredContent']).toEqual({ caller });
    });
  });

  describe.each(ADAPTERS)('on %s', (adapter) => {
    it.each([
      ['none of the three', { name: 'ann' }],
      ['an object for an id', { id: { $oid: 'x' } }],
      ['a text for a user', 'ann'],
    ])('refuses the call of a user with %s, and names the option', async (_title, value) => {
      user.value = value;
      runs = 0;
      await within(
        root(),
        async ({ mcp }) => {
          for (const tool of ['who', 'blind']) {
            const { status, body } = await callTool(mcp, tool);
            expect([status, body]).toEqual([
              200,
              {
                jsonrpc: '2.0',
                id: 1,
                error: {
                  code: -32603,
                  message:
                    'Cannot tell who is calling: request.user has none of sub, id and userId. Set the option `caller` of McpModule.',
                },
              },
            ]);
          }
          const { initialized } = await openSession(mcp);
          expect([initialized.body['id'], initialized.error.code]).toEqual([0, -32603]);
          expect(initialized.error.message).toContain('the option `caller`');
          expect(runs).toBe(0);
        },
        adapter,
      );
    });
  });

  it('is what the option `caller` reads from the request, after guards ran', async () => {
    user.value = { name: 'ann', scopes: ['read'] };
    const caller = (request: unknown) => {
      const { name, scopes } = (request as { user: { name: string; scopes: string[] } }).user;
      return { id: `user:${name}`, scopes };
    };
    await within(root({ caller }), async ({ mcp }) => {
      expect((await callTool(mcp, 'who')).result['structuredContent']).toEqual({
        caller: { id: 'user:ann', scopes: ['read'] },
      });
    });
  });

  it("is known to a guard's successor when a guard of the tool itself finds out", async () => {
    class LateTools {
      @McpTool()
      @UseGuards({
        canActivate: (context: ExecutionContext) => {
          context.switchToHttp().getRequest<Json>()['user'] = { id: 'late' };
          return true;
        },
      })
      late(context: McpContext): string {
        return context.caller?.id ?? 'nobody';
      }
    }
    await within(rootOf({ providers: [LateTools] }), async ({ mcp }) => {
      expect(textOf((await callTool(mcp, 'late')).result)).toBe('late');
    });
  });
});

describe('the log of calls', () => {
  const TOKEN = 'token-canary';
  const SECRET = 'argument-canary';
  class SecretDto {
    @IsString()
    secret: string;
  }
  class LoggedTools {
    @McpTool()
    fine({ secret }: SecretDto): string {
      return `got ${secret}`;
    }

    @McpTool()
    refused(_args: SecretDto): never {
      throw new McpError(4001, 'no');
    }

    @McpTool()
    @UseGuards({ canActivate: () => false })
    shut(_args: SecretDto): void {}

    @McpTool({ timeout: 10 })
    slow(_args: SecretDto): Promise<never> {
      return new Promise(() => undefined);
    }
  }
  @Injectable()
  class UserGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      context.switchToHttp().getRequest<Json>()['user'] = { id: 'ann\r\nforged line' };
      return true;
    }
  }
  const root = rootOf({ providers: [LoggedTools, { provide: APP_GUARD, useClass: UserGuard }] });
  const CALLS = [
    ['fine', 'ok'],
    ['refused', 'error'],
    ['shut', 'tool error'],
    ['slow', 'timeout'],
  ] as const;

  function check(log: CapturedLog, tool: string, outcome: string): void {
    const lines = log.with('tools/call');
    expect(lines).toHaveLength(1);
    expect(lines).toEqual(log.of('debug'));
    expect(lines[0]).toMatch(/^tools\/call "\w+" caller="[^\r\n]*" \d+\.\d ms [a-z ]+ Mcp$/);
    expect(lines[0]).toContain(`"${tool}" caller="ann\\`);
    expect(lines[0]!.endsWith(` ms ${outcome} Mcp`)).toBe(true);
    expect(JSON.stringify(log.lines)).not.toMatch(new RegExp(`${TOKEN}|${SECRET}`));
  }

  it.each(ADAPTERS)(
    'has one line at debug level for each call, without arguments or tokens, on %s',
    async (adapter) => {
      const log = new CapturedLog();
      await within(
        root,
        async ({ mcp }) => {
          for (const [tool, outcome] of CALLS) {
            log.clear();
            await callTool(mcp, tool, { secret: SECRET }, { authorization: `Bearer ${TOKEN}` });
            check(log, tool, outcome);
          }
        },
        adapter,
        log,
      );
    },
  );

  it('has the same line over stdio', async () => {
    const log = new CapturedLog();
    const pipe = openPipe(root, { request: { headers: { authorization: `Bearer ${TOKEN}` } } });
    Logger.overrideLogger(log);
    for (const [index, [tool, outcome]] of CALLS.entries()) {
      const message = modernMessage('tools/call', { name: tool, arguments: { secret: SECRET } }, index);
      pipe.send(message);
      await pipe.answer(index);
      if (index === 0)
        log.lines.splice(
          0,
          log.lines.findIndex(({ text }) => text.includes('tools/call')),
        );
      check(log, tool, outcome);
      log.clear();
    }
    Logger.overrideLogger(false);
    await pipe.end();
  });
});

import { jest } from '@jest/globals';
import {
  Controller,
  ForbiddenException,
  GoneException,
  HttpException,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Scope,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, Reflector, REQUEST } from '@nestjs/core';
import { IsIn, IsOptional, IsString } from 'class-validator';
import {
  McpCompletion,
  McpError,
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpResource,
  McpTool,
  type McpStdioApp,
} from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe } from '../support/stdio.js';
import { CapturedLog } from './captured-log.js';
import { Traffic } from '../support/traffic.js';
import { modern, openSession, type Json, type LegacySession } from '../support/wire.js';
import { httpCallers, listenersOf, memoryCallers, stdioCallers, type Caller } from './feature-callers.js';
import {
  GLOBAL,
  guardsOf,
  moduleOf,
  nothing,
  PLACEMENTS,
  rootOf,
  Witness,
  type Placement,
} from './witness.js';

class ItemDto {
  @IsString()
  id: string;
}

class AskDto {
  @IsString()
  topic: string;

  @IsOptional()
  @IsIn(['kind', 'keen', 'short'])
  tone?: string;
}

/** Every kind of handler in one class. All of these classes have one name, as two modules of an application may. */
function featuresOf(
  home: string,
  witness: Witness,
  { onClass = nothing, onMethod = nothing }: Placement,
  host: ClassDecorator = Injectable(),
): Type {
  @host
  @onClass
  @SetMetadata('home', home)
  class Features {
    @McpResource(`${home}://all`)
    @onMethod
    all(): string {
      return witness.ran();
    }

    @onMethod
    @McpResource(`${home}://item/{id}`)
    item(_params: ItemDto): string {
      return witness.ran();
    }

    @McpPrompt(home)
    @onMethod
    ask(_args: AskDto): string {
      return witness.ran();
    }

    @McpCompletion({ resource: `${home}://item/{id}`, argument: 'id' })
    @onMethod
    ids(_typed: string): string[] {
      return [witness.ran()];
    }

    @onMethod
    @McpCompletion({ prompt: home, argument: 'topic' })
    topics(_typed: string): string[] {
      return [witness.ran()];
    }
  }
  return Features;
}

/** Three homes of the handlers, each in a module of its own so that none gets another's guard by chance. */
const HOMES = ['provider', 'controller', 'token'] as const;

function hostModules(witness: Witness, placement: Placement): DynamicModule[] {
  const [onProvider, onController, onToken] = HOMES;
  return [
    moduleOf({ providers: [featuresOf(onProvider, witness, placement)] }),
    moduleOf({ controllers: [featuresOf(onController, witness, placement, Controller('unrelated'))] }),
    moduleOf({ providers: [{ provide: 'FEATURES', useClass: featuresOf(onToken, witness, placement) }] }),
  ];
}

/** One request, what its guards are told one after the other, and what it gives once they allow it. */
interface Operation {
  readonly method: string;
  readonly params: Json;
  readonly kind: string;
  readonly handlers: readonly string[];
  readonly args: unknown;
  readonly result: Json;
  readonly runs: number;
}

function operationsOf(home: string, era: Caller['era']): Operation[] {
  const completes = (ref: Json, name: string, value: string) => ({ ref, argument: { name, value } });
  const template = { type: 'ref/resource', uri: `${home}://item/{id}` };
  const prompt = { type: 'ref/prompt', name: home };
  const ran = { values: ['ran'], total: 1, hasMore: false };
  const subscribe = (path: string, handler: string, args: unknown): Operation => ({
    method: 'resources/subscribe',
    params: { uri: `${home}://${path}` },
    kind: 'resource',
    handlers: [handler],
    args,
    result: {},
    runs: 0,
  });
  return [
    {
      method: 'resources/read',
      params: { uri: `${home}://all` },
      kind: 'resource',
      handlers: ['all'],
      args: {},
      result: { contents: [{ uri: `${home}://all`, mimeType: 'text/plain', text: 'ran' }] },
      runs: 1,
    },
    {
      method: 'resources/read',
      params: { uri: `${home}://item/a%20b` },
      kind: 'resource',
      handlers: ['item'],
      args: { id: 'a b' },
      result: { contents: [{ uri: `${home}://item/a%20b`, mimeType: 'text/plain', text: 'ran' }] },
      runs: 1,
    },
    {
      method: 'prompts/get',
      params: { name: home, arguments: { topic: 'rain' } },
      kind: 'prompt',
      handlers: ['ask'],
      args: { topic: 'rain' },
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'ran' } }] },
      runs: 1,
    },
    {
      method: 'completion/complete',
      params: completes(template, 'id', 'a'),
      kind: 'completion',
      handlers: ['item', 'ids'],
      args: { id: 'a' },
      result: { completion: ran },
      runs: 1,
    },
    {
      method: 'completion/complete',
      params: { ...completes(prompt, 'topic', 'ra'), context: { arguments: { tone: 'kind' } } },
      kind: 'completion',
      handlers: ['ask', 'topics'],
      args: { tone: 'kind', topic: 'ra' },
      result: { completion: ran },
      runs: 1,
    },
    {
      method: 'completion/complete',
      params: completes(prompt, 'tone', 'K'),
      kind: 'completion',
      handlers: ['ask'],
      args: { tone: 'K' },
      result: { completion: { values: ['kind', 'keen'], total: 2, hasMore: false } },
      runs: 0,
    },
    ...(era === 'legacy' ? [subscribe('all', 'all', {}), subscribe('item/7', 'item', { id: '7' })] : []),
  ];
}

const FORBIDDEN = { code: 403, message: 'Forbidden resource' };
const addressesOf = (homes: readonly string[]) =>
  homes.flatMap((home) => [`${home}://all`, `${home}://item/7`]);

/** Every request of one caller is refused, and no handler runs. */
async function expectRefused(
  caller: Caller,
  witness: Witness,
  homes: readonly string[],
  tag?: string,
): Promise<void> {
  for (const home of homes) {
    for (const { method, params, kind, handlers, args } of operationsOf(home, caller.era)) {
      witness.seen.length = 0;
      const { error, result } = await caller.ask(method, params);
      expect({ params, error, result }).toEqual({ params, error: FORBIDDEN, result: undefined });
      expect(witness.seen.filter(({ type }) => type === 'mcp')).toEqual([
        { type: 'mcp', kind, target: `Features.${handlers[0]}`, home, tag, args },
      ]);
    }
  }
  for (const listener of listenersOf([caller])) {
    witness.seen.length = 0;
    expect(await listener.listen(addressesOf(homes))).toEqual({});
    const judged = witness.seen.filter(({ type }) => type === 'mcp');
    expect(judged.map(({ target, kind }) => [target, kind])).toEqual(
      homes.flatMap(() => [
        ['Features.all', 'resource'],
        ['Features.item', 'resource'],
      ]),
    );
  }
  expect(witness.runs).toBe(0);
}

/** The same requests are served once the guards allow them, each of the chain having been asked in order. */
async function expectServed(
  caller: Caller,
  witness: Witness,
  homes: readonly string[],
  isTold = true,
): Promise<void> {
  witness.allows = true;
  for (const home of homes) {
    for (const { method, params, handlers, result, runs } of operationsOf(home, caller.era)) {
      witness.runs = 0;
      witness.seen.length = 0;
      const answer = await caller.ask(method, params);
      expect([params, answer['error'], answer['result']]).toEqual([
        params,
        undefined,
        expect.objectContaining(result),
      ]);
      expect(witness.runs).toBe(runs);
      if (!isTold) continue;
      const judged = witness.seen.filter(({ type }) => type === 'mcp').map(({ target }) => target);
      expect(judged).toEqual(handlers.map((handler) => `Features.${handler}`));
    }
  }
  for (const listener of listenersOf([caller])) {
    const uris = addressesOf(homes);
    expect(await listener.listen(uris)).toEqual({ resourceSubscriptions: uris });
  }
}

// Dozens of requests in one test; what judges their answers is compiled with the first.
jest.setTimeout(30_000);
const traffic = new Traffic();
afterAll(() => traffic.verify());

describe.each(ADAPTERS)('A2: a guard that refuses, over HTTP on %s', (adapter) => {
  describe.each(PLACEMENTS)('%s', (_title, place) => {
    const witness = new Witness();
    let running: RunningApp;
    const callers = [
      ...httpCallers(() => running.mcp, traffic, { 'x-tag': 'wire' }),
      // No adapter takes part in it, so one of them is enough.
      ...(adapter === 'express'
        ? memoryCallers(() => running.app, traffic, { headers: { 'X-Tag': 'wire' } })
        : []),
    ];

    beforeAll(async () => {
      const placement = place(witness);
      running = await startApp(rootOf(hostModules(witness, placement), placement.providers), {
        adapter,
        configure: (app) => placement.configure?.(app as unknown as McpStdioApp),
      });
    });
    beforeEach(() => witness.reset());
    afterAll(() => running.close());

    it.each(callers.map((caller) => [caller.title, caller] as const))(
      'keeps every feature from running, and lets it once it allows: %s',
      async (_caller, caller) => {
        expect.hasAssertions();
        await expectRefused(caller, witness, HOMES, 'wire');
        await expectServed(caller, witness, caller.title.startsWith('HTTP') ? ['provider'] : HOMES);
      },
    );
  });

  describe.each(GLOBAL)('A3: %s at the endpoint', (_title, place) => {
    const witness = new Witness();
    let running: RunningApp;
    let session: LegacySession;

    beforeAll(async () => {
      const placement = place(witness);
      running = await startApp(rootOf(hostModules(witness, placement), placement.providers), {
        adapter,
        configure: (app) => placement.configure?.(app as unknown as McpStdioApp),
      });
      session = await openSession(running.mcp);
    });
    beforeEach(() => {
      witness.reset();
      witness.refusesHttp = true;
    });
    afterAll(() => running.close());

    it('answers 403 to every request of either era, before any handler is looked at', async () => {
      for (const { method, params } of operationsOf('provider', 'modern')) {
        const { status, body } = await modern(running.mcp, method, params);
        expect([status, body]).toEqual([
          403,
          { jsonrpc: '2.0', error: { code: -32600, message: 'Forbidden resource' } },
        ]);
      }
      for (const { method, params } of operationsOf('provider', 'legacy'))
        expect((await session.request(method, params)).status).toBe(403);
      const listening = { notifications: { resourceSubscriptions: ['provider://all'] } };
      expect((await modern(running.mcp, 'subscriptions/listen', listening)).status).toBe(403);
      for (const method of ['resources/list', 'resources/templates/list', 'prompts/list'])
        expect((await modern(running.mcp, method)).status).toBe(403);
      expect(witness.runs).toBe(0);
      expect(new Set(witness.seen.map(({ type }) => type))).toEqual(new Set(['http']));
    });
  });

  it('on http.decorators keeps every request out, and says what it does without', async () => {
    const witness = new Witness();
    const { PlainGuard } = guardsOf(witness);
    @Module({
      imports: [
        McpModule.forRoot({
          name: 'guarded',
          version: '1.0.0',
          http: { decorators: [UseGuards(PlainGuard)] },
        }),
        ...hostModules(witness, {}),
      ],
    })
    class RootModule {}
    const running = await startApp(RootModule, { adapter });
    try {
      witness.refusesHttp = true;
      for (const { method, params } of operationsOf('controller', 'modern'))
        expect((await modern(running.mcp, method, params)).status).toBe(403);
      expect((await openSession(running.mcp)).initialized.status).toBe(403);
      expect(witness.runs).toBe(0);
      witness.reset();
      const { result } = await modern(running.mcp, 'resources/read', { uri: 'controller://all' });
      expect(result['contents']).toMatchObject([{ text: 'ran' }]);
      expect(new Set(witness.seen.map(({ type }) => type))).toEqual(new Set(['http']));
    } finally {
      await running.close();
    }
  });
});

describe('A2: a guard that refuses, over stdio', () => {
  describe.each(PLACEMENTS)('%s', (_title, place) => {
    const witness = new Witness();
    let callers: ReturnType<typeof stdioCallers>;

    beforeAll(() => {
      const placement = place(witness);
      const root = rootOf(hostModules(witness, placement), placement.providers);
      const { configure } = placement;
      const pipe = openPipe(root, { configure, request: { headers: { 'X-Tag': 'pipe' } } });
      callers = stdioCallers(pipe, traffic);
    });
    beforeEach(() => witness.reset());
    afterAll(() => callers.end());

    it.each(['modern', 'legacy'])(
      'keeps every feature from running, and lets it once it allows: %s',
      async (era) => {
        expect.hasAssertions();
        const caller = callers.find((one) => one.era === era)!;
        await expectRefused(caller, witness, HOMES, 'pipe');
        await expectServed(caller, witness, HOMES);
      },
    );
  });
});

describe('handlers that are made for each call', () => {
  /** Request scope that comes from a dependency alone. */
  @Injectable({ scope: Scope.REQUEST })
  class RequestService {
    constructor(@Inject(REQUEST) readonly request: unknown) {}
  }
  const MADE = ['scoped', 'transient', 'durable', 'bubbled'] as const;

  function madeModules(witness: Witness, placement: Placement): DynamicModule[] {
    const [scoped, transient, durable, bubbled] = MADE;
    const bubbling = featuresOf(bubbled, witness, placement);
    @Injectable()
    class Bubbled extends bubbling {
      constructor(readonly service: RequestService) {
        super();
      }
    }
    Object.defineProperty(Bubbled, 'name', { value: 'Features' });
    return [
      moduleOf({
        providers: [featuresOf(scoped, witness, placement, Injectable({ scope: Scope.REQUEST }))],
      }),
      moduleOf({
        providers: [featuresOf(transient, witness, placement, Injectable({ scope: Scope.TRANSIENT }))],
      }),
      moduleOf({
        providers: [
          featuresOf(durable, witness, placement, Injectable({ scope: Scope.REQUEST, durable: true })),
        ],
      }),
      moduleOf({ providers: [RequestService, Bubbled] }),
    ];
  }

  describe.each(PLACEMENTS)('%s', (_title, place) => {
    const witness = new Witness();
    let running: RunningApp;
    const callers = [
      httpCallers(() => running.mcp, traffic)[0]!,
      memoryCallers(() => running.app, traffic)[1]!,
    ];

    beforeAll(async () => {
      const placement = place(witness);
      running = await startApp(rootOf(madeModules(witness, placement), placement.providers), {
        configure: (app) => placement.configure?.(app as unknown as McpStdioApp),
      });
    });
    beforeEach(() => witness.reset());
    afterAll(() => running.close());

    it.each(callers.map((caller) => [caller.title, caller] as const))(
      'A7: are kept from running, and run once the guard allows: %s',
      async (_caller, caller) => {
        expect.hasAssertions();
        await expectRefused(caller, witness, MADE);
        await expectServed(caller, witness, MADE);
      },
    );
  });
});

/** Runs some work against an application of its own. */
async function within<T>(root: Type, work: (running: RunningApp) => Promise<T>): Promise<T> {
  const running = await startApp(root);
  try {
    return await work(running);
  } finally {
    await running.close();
  }
}

describe('where Nest skips guards silently', () => {
  it("a guard class that two modules use is in each the one with that module's providers", async () => {
    @Injectable()
    class PolicyGuard implements CanActivate {
      constructor(@Inject('POLICY') private readonly allows: boolean) {}
      canActivate(): boolean {
        return this.allows;
      }
    }
    const policy = (useValue: boolean) => ({ provide: 'POLICY', useValue });
    const open = new Witness();
    const shut = new Witness();
    const guarded = { onMethod: UseGuards(PolicyGuard) };
    const root = rootOf([
      moduleOf({ providers: [featuresOf('open', open, guarded), policy(true)] }),
      moduleOf({ providers: [featuresOf('shut', shut, guarded), policy(false)] }),
    ]);
    await within(root, async ({ mcp }) => {
      for (const caller of httpCallers(() => mcp, traffic)) {
        await expectServed(caller, open, ['open'], false);
        for (const { method, params } of operationsOf('shut', caller.era))
          expect((await caller.ask(method, params))['error']).toEqual(FORBIDDEN);
        for (const listener of listenersOf([caller]))
          expect(await listener.listen(addressesOf(['open', 'shut']))).toEqual({
            resourceSubscriptions: addressesOf(['open']),
          });
      }
      expect(shut.runs).toBe(0);
    });
  });

  it('guards of a base class hold for what a subclass inherits', async () => {
    expect.hasAssertions();
    const witness = new Witness();
    const { PlainGuard } = guardsOf(witness);
    @Injectable()
    class ByClass extends featuresOf('class', witness, { onClass: UseGuards(PlainGuard) }) {}
    @Injectable()
    class ByMethod extends featuresOf('method', witness, { onMethod: UseGuards(PlainGuard) }) {}
    for (const given of [ByClass, ByMethod]) Object.defineProperty(given, 'name', { value: 'Features' });
    await within(
      rootOf([moduleOf({ providers: [ByClass] }), moduleOf({ providers: [ByMethod] })]),
      async ({ mcp }) => {
        for (const caller of httpCallers(() => mcp, traffic))
          await expectRefused(caller, witness, ['class', 'method']);
      },
    );
  });

  it('guards run before the arguments are looked at, in every kind', async () => {
    const witness = new Witness();
    const { PlainGuard } = guardsOf(witness);
    const root = rootOf(hostModules(witness, { onMethod: UseGuards(PlainGuard) }));
    await within(root, async ({ mcp }) => {
      for (const caller of httpCallers(() => mcp, traffic)) {
        const asked = { name: 'provider', arguments: { unknown: 'x' } };
        expect((await caller.ask('prompts/get', asked))['error']).toEqual(FORBIDDEN);
        const completed = {
          ref: { type: 'ref/prompt', name: 'provider' },
          argument: { name: 'topic', value: '' },
          context: { arguments: { unknown: 'x' } },
        };
        expect((await caller.ask('completion/complete', completed))['error']).toEqual(FORBIDDEN);
      }
      expect(witness.runs).toBe(0);
    });
  });
});

describe('A1: a guard that allows', () => {
  it('takes nothing away from any list', async () => {
    const witness = new Witness();
    const { PlainGuard } = guardsOf(witness);
    const lists = (root: Type) =>
      within(root, async ({ mcp }) => {
        const found: unknown[] = [];
        for (const caller of httpCallers(() => mcp, traffic))
          for (const method of ['resources/list', 'resources/templates/list', 'prompts/list'])
            found.push((await caller.ask(method, {}))['result']);
        return found;
      });
    const bare = await lists(rootOf(hostModules(witness, {})));
    witness.allows = true;
    const guarded = await lists(
      rootOf(hostModules(witness, {}), [{ provide: APP_GUARD, useClass: PlainGuard }]),
    );
    expect(guarded).toEqual(bare);
    expect((bare[0] as { resources: unknown[] }).resources).toHaveLength(3);
  });
});

describe('the guards of a completion', () => {
  const steps: string[] = [];
  const step = (name: string): CanActivate => ({
    canActivate(context) {
      if (context.getType<string>() !== 'mcp') return true;
      const { kind } = McpExecutionContext.create(context);
      steps.push(`${name} for ${context.getClass().name}.${context.getHandler().name}, ${kind}`);
      return true;
    },
  });

  /** Lets pass who has the role that stands on the handler. */
  @Injectable()
  class RoleGuard implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext): boolean {
      const role = this.reflector.get<string | undefined>('role', context.getHandler());
      const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
      const roles = headers['x-roles']?.split(',') ?? [];
      return context.getType<string>() !== 'mcp' || role === undefined || roles.includes(role);
    }
  }
  const Role = (role: string) => SetMetadata('role', role);

  class FileDto {
    @IsString()
    path: string;

    @IsIn(['md', 'txt'])
    type: string;
  }

  @UseGuards(step('class'))
  class Owners {
    @McpPrompt()
    @Role('writer')
    @UseGuards(step('method'))
    triage(_args: AskDto): string {
      return 'text';
    }

    @McpResource('file://{type}/{+path}')
    @Role('reader')
    @UseGuards(step('method'))
    file(_params: FileDto): string {
      return 'text';
    }
  }

  @UseGuards(step('own class'))
  class Completions {
    @McpCompletion({ prompt: 'triage', argument: 'topic' })
    @Role('helper')
    @UseGuards(step('own method'))
    topics(): string[] {
      steps.push('topics');
      return ['rain'];
    }

    @McpCompletion({ resource: 'file://{type}/{+path}', argument: 'path' })
    @UseGuards(step('own method'))
    paths(): string[] {
      steps.push('paths');
      return ['a/b'];
    }
  }

  const root = rootOf(
    [moduleOf({ providers: [Owners] }), moduleOf({ providers: [Completions] })],
    [
      { provide: APP_GUARD, useValue: step('app') },
      { provide: APP_GUARD, useClass: RoleGuard },
    ],
  );
  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(root);
  });
  beforeEach(() => void (steps.length = 0));
  afterAll(() => running.close());

  const topic = { ref: { type: 'ref/prompt', name: 'triage' }, argument: { name: 'topic', value: '' } };
  const tone = { ref: { type: 'ref/prompt', name: 'triage' }, argument: { name: 'tone', value: 's' } };
  const file = { type: 'ref/resource', uri: 'file://{type}/{+path}' };
  const path = { ref: file, argument: { name: 'path', value: '' } };
  const type = { ref: file, argument: { name: 'type', value: 'm' } };

  const complete = async (params: Json, roles: string) => {
    const found: Json[] = [];
    const headers = { 'x-roles': roles };
    for (const caller of [
      ...httpCallers(() => running.mcp, traffic, headers),
      ...memoryCallers(() => running.app, traffic, { headers }),
    ]) {
      const { result, error } = await caller.ask('completion/complete', params);
      found.push((error ?? (result as Json)['completion']) as Json);
    }
    for (const one of found) expect(one).toEqual(found[0]);
    return found[0];
  };
  const chain = (names: readonly string[], where: string) =>
    names.map((name) => `${name} for ${where}, completion`);
  const once = () => steps.slice(0, steps.length / 4);

  it("are those of the prompt first, then the completion's own", async () => {
    expect(await complete(topic, 'writer,helper')).toEqual({ values: ['rain'], total: 1, hasMore: false });
    expect(once()).toEqual([
      ...chain(['app', 'class', 'method'], 'Owners.triage'),
      ...chain(['app', 'own class', 'own method'], 'Completions.topics'),
      'topics',
    ]);
  });

  it("are those of the resource first, then the completion's own", async () => {
    expect(await complete(path, 'reader')).toEqual({ values: ['a/b'], total: 1, hasMore: false });
    expect(once()).toEqual([
      ...chain(['app', 'class', 'method'], 'Owners.file'),
      ...chain(['app', 'own class', 'own method'], 'Completions.paths'),
      'paths',
    ]);
  });

  it('refuse who may not have the prompt or the resource, whatever completes it', async () => {
    for (const params of [topic, tone]) expect(await complete(params, 'helper,reader')).toEqual(FORBIDDEN);
    for (const params of [path, type]) expect(await complete(params, 'helper,writer')).toEqual(FORBIDDEN);
    expect(steps.filter((name) => name.includes('Completions') || !name.includes(','))).toEqual([]);
  });

  it('refuse who may have the prompt, but not what completes it', async () => {
    expect(await complete(topic, 'writer')).toEqual(FORBIDDEN);
    expect(steps.filter((name) => name === 'topics')).toEqual([]);
    expect(await complete(tone, 'writer')).toEqual({ values: ['short'], total: 1, hasMore: false });
    expect(await complete(type, 'reader')).toEqual({ values: ['md'], total: 1, hasMore: false });
  });
});

describe('S-119: each address of subscriptions/listen', () => {
  /** Lets pass who asks for what is their own. */
  @Injectable()
  class OwnerGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const { id } = McpExecutionContext.create(context).getArgs<{ id: string }>();
      if (id === 'broken') throw new Error('canary-guard');
      return id.startsWith('mine-');
    }
  }

  class Items {
    @McpResource('item://{id}')
    @UseGuards(OwnerGuard)
    item({ id }: ItemDto): string {
      return id;
    }
  }

  it.each(ADAPTERS)(
    'is judged by itself, and what is refused or unknown is left out, on %s',
    async (adapter) => {
      const running = await startApp(rootOf([moduleOf({ providers: [Items] })]), { adapter });
      try {
        const callers = [
          ...httpCallers(() => running.mcp, traffic),
          ...memoryCallers(() => running.app, traffic),
        ];
        const uris = [
          'item://mine-1',
          'item://other',
          'item://broken',
          'none://x',
          'no uri',
          'item://mine-2',
        ];
        for (const listener of listenersOf(callers))
          expect(await listener.listen(uris)).toEqual({
            resourceSubscriptions: ['item://mine-1', 'item://mine-2'],
          });
      } finally {
        await running.close();
      }
    },
  );
});

describe('a tool beside other kinds', () => {
  it('A6: each guard is told of the kind by the handler it protects', async () => {
    const seen: string[] = [];
    const teller: CanActivate = {
      canActivate(context) {
        if (context.getType<string>() !== 'mcp') return true;
        const view = McpExecutionContext.create(context);
        seen.push(`${view.kind} ${view.getContext().method} ${view.getContext().name}`);
        return true;
      },
    };
    class Both {
      @McpTool()
      run(): string {
        return 'ran';
      }
    }
    const witness = new Witness();
    const root = rootOf(
      [moduleOf({ providers: [Both, featuresOf('both', witness, {})] })],
      [{ provide: APP_GUARD, useValue: teller }],
    );
    await within(root, async ({ mcp }) => {
      const [caller] = httpCallers(() => mcp, traffic);
      await caller!.ask('tools/call', { name: 'run', arguments: {} });
      for (const { method, params } of operationsOf('both', 'modern').slice(1, 5))
        await caller!.ask(method, params);
      expect(seen).toEqual([
        'tool tools/call run',
        'resource resources/read both://item/a%20b',
        'prompt prompts/get both',
        'completion completion/complete both://item/{id}',
        'completion completion/complete both://item/{id}',
        'completion completion/complete both',
        'completion completion/complete both',
      ]);
    });
  });
});

describe('what a guard throws', () => {
  let thrown: () => unknown = () => undefined;
  const thrower: CanActivate = {
    canActivate: () => {
      throw thrown();
    },
  };
  const witness = new Witness();
  const log = new CapturedLog();
  const root = rootOf([
    moduleOf({ providers: [featuresOf('home', witness, { onClass: UseGuards(thrower) })] }),
  ]);
  let running: RunningApp;
  let piped: ReturnType<typeof stdioCallers>;
  let callers: Caller[];

  beforeAll(async () => {
    // The pipe first: it silences the logger of all applications.
    piped = stdioCallers(openPipe(root), traffic);
    await piped[0]!.ask('prompts/list', {});
    running = await startApp(root, { logger: log });
    callers = [
      ...httpCallers(() => running.mcp, traffic),
      ...memoryCallers(() => running.app, traffic),
      ...piped,
    ];
  });
  beforeEach(() => log.clear());
  afterAll(async () => {
    await running.close();
    await piped.end();
  });

  /** The error of each request, by what is asked for. */
  async function errorsOf(caller: Caller): Promise<{ subject: string; error: unknown }[]> {
    const found = [];
    for (const { method, params, kind } of operationsOf('home', caller.era)) {
      const { error } = await caller.ask(method, params);
      found.push({ subject: kind === 'resource' ? (params['uri'] as string) : kind, error });
    }
    return found;
  }
  const isAddress = (subject: string) => subject.includes('://');

  it.each([
    ['A3: an HttpException of 401', () => new UnauthorizedException('Log in first'), 401, 'Log in first'],
    [
      'one of 403',
      () => new ForbiddenException({ message: 'Only for staff', hint: 'canary' }),
      403,
      'Only for staff',
    ],
    ['one of 410', () => new GoneException(['first', 'second']), 410, '- first\n- second'],
    ['one of a status of its own', () => new HttpException('a text', 499), 499, 'a text'],
  ])('%s is an error with its status as code, and its message', async (_what, make, code, message) => {
    thrown = make;
    for (const caller of callers)
      for (const { error } of await errorsOf(caller)) expect(error).toEqual({ code, message });
    expect(log.of('error')).toEqual([]);
  });

  it('S-106: a 404 is, of a resource, one that is not there, and elsewhere a 404', async () => {
    thrown = () => new NotFoundException('Nothing here');
    for (const caller of callers) {
      const notFound = caller.era === 'modern' ? -32602 : -32002;
      for (const { subject, error } of await errorsOf(caller))
        expect(error).toEqual(
          isAddress(subject)
            ? { code: notFound, message: 'Nothing here', data: { uri: subject } }
            : { code: 404, message: 'Nothing here' },
        );
    }
  });

  it('an McpError is as it is', async () => {
    thrown = () => new McpError(4001, 'Buy more', { plan: 'basic' });
    for (const caller of callers)
      for (const { error } of await errorsOf(caller))
        expect(error).toEqual({ code: 4001, message: 'Buy more', data: { plan: 'basic' } });
  });

  it.each([
    ['an Error', () => new Error('canary of the driver')],
    ['an HttpException from 500', () => new HttpException('canary of the driver', 503)],
    ['a text', () => 'canary of the driver'],
    ['nothing', () => undefined],
  ])('I8: %s is a fixed text with a reference, and the log has the rest', async (_what, make) => {
    thrown = make;
    for (const caller of callers) {
      log.clear();
      const errors = await errorsOf(caller);
      const references = errors.map(({ subject, error }) => {
        const { code, message, ...more } = error as { code: number; message: string };
        const kind = isAddress(subject) ? 'resource' : subject;
        expect([code, more]).toEqual([-32603, {}]);
        const [, told, reference] = /^The (\w+) failed \(reference ([0-9a-f-]{36})\)$/.exec(message) ?? [];
        expect(told).toBe(kind);
        return reference!;
      });
      if (piped.includes(caller)) continue;
      expect(log.of('error')).toHaveLength(errors.length);
      for (const reference of references) expect(log.with(reference)).toHaveLength(1);
    }
  });

  it('keeps an address from being listened for, and the stream is open all the same', async () => {
    for (const make of [
      () => new UnauthorizedException(),
      () => new McpError(1, 'no'),
      () => new Error('canary'),
    ]) {
      thrown = make;
      for (const listener of listenersOf(callers))
        expect(await listener.listen(addressesOf(['home']))).toEqual({});
    }
  });

  it('never let a handler run on the way', () => {
    expect(witness.runs).toBe(0);
  });
});

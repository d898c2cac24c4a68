import {
  Controller,
  Inject,
  Injectable,
  Scope,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpTool, type McpStdioApp } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe, type Pipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, modernMessage, openSession, textOf, type Json } from '../support/wire.js';
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

const TOOLS = ['onProvider', 'onController', 'onToken'] as const;
type ToolName = (typeof TOOLS)[number];

/** Three homes of a tool, each in a module of its own so that none gets another's guard by chance. */
function hostModules(
  witness: Witness,
  { onClass = nothing, onMethod = nothing }: Placement,
): Record<ToolName, DynamicModule> {
  @Injectable()
  @onClass
  class ProviderTools {
    @McpTool('onProvider')
    @onMethod
    run(): string {
      return `ran ${++witness.runs}`;
    }
  }

  @Controller('unrelated')
  @onClass
  class ControllerTools {
    @onMethod
    @McpTool('onController')
    run(): string {
      return `ran ${++witness.runs}`;
    }
  }

  @Injectable()
  @onClass
  class TokenTools {
    @McpTool('onToken')
    @onMethod
    run(): string {
      return `ran ${++witness.runs}`;
    }
  }

  return {
    onProvider: moduleOf({ providers: [ProviderTools] }),
    onController: moduleOf({ controllers: [ControllerTools] }),
    onToken: moduleOf({ providers: [{ provide: 'TOOLS', useClass: TokenTools }] }),
  };
}

const REFUSED = { isError: true, content: [{ type: 'text', text: 'Forbidden resource' }] };

const traffic = new Traffic();
afterAll(() => traffic.verify());

describe.each(ADAPTERS)('a guard that refuses, over HTTP on %s', (adapter) => {
  describe.each(PLACEMENTS)('%s', (_title, place) => {
    const witness = new Witness();
    let running: RunningApp;

    beforeAll(async () => {
      const placement = place(witness);
      const hosts = hostModules(witness, placement);
      running = await startApp(rootOf(Object.values(hosts), placement.providers), {
        adapter,
        configure: (app) => placement.configure?.(app as unknown as McpStdioApp),
      });
    });
    beforeEach(() => witness.reset());
    afterAll(() => running.close());

    it.each([...TOOLS])('keeps the tool %s from running in both eras', async (tool) => {
      const now = await callTool(running.mcp, tool, {}, { 'x-tag': 'now' });
      const session = await openSession(running.mcp);
      const before = await session.request('tools/call', { name: tool, arguments: {} }, 7, {
        'x-tag': 'then',
      });
      traffic.observe(now.body, '2026-07-28', 'tools/call');
      traffic.observe(before.body, '2025-11-25', 'tools/call');
      expect([now.status, now.body['id'], now.result]).toMatchObject([200, 1, REFUSED]);
      expect([before.status, before.body['id'], before.result]).toEqual([200, 7, REFUSED]);
      expect(witness.runs).toBe(0);
      const calls = witness.seen.filter(({ type }) => type === 'mcp');
      expect(calls.map(({ tag }) => tag)).toEqual(['now', 'then']);
      expect(new Set(calls.map(({ target }) => target)).size).toBe(1);
      expect(calls[0]!.target).toMatch(/^(Provider|Controller|Token)Tools\.run$/);
    });

    it.each([...TOOLS])('lets the tool %s run once it allows', async (tool) => {
      witness.allows = true;
      expect(textOf((await callTool(running.mcp, tool)).result)).toBe('ran 1');
      const session = await openSession(running.mcp);
      expect(textOf((await session.callTool(tool)).result)).toBe('ran 2');
    });
  });

  describe.each(GLOBAL)('%s at the endpoint', (_title, place) => {
    const witness = new Witness();
    let running: RunningApp;

    beforeAll(async () => {
      const placement = place(witness);
      running = await startApp(rootOf([hostModules(witness, placement).onProvider], placement.providers), {
        adapter,
        configure: (app) => placement.configure?.(app as unknown as McpStdioApp),
      });
      witness.refusesHttp = true;
    });
    afterAll(() => running.close());

    it('answers 403 before any call, and before a session opens', async () => {
      const call = await callTool(running.mcp, 'onProvider');
      expect([call.status, call.body]).toEqual([
        403,
        { jsonrpc: '2.0', error: { code: -32600, message: 'Forbidden resource' } },
      ]);
      expect((await openSession(running.mcp)).initialized.status).toBe(403);
      expect((await modern(running.mcp, 'tools/list')).status).toBe(403);
      expect(witness.runs).toBe(0);
      expect(new Set(witness.seen.map(({ type }) => type))).toEqual(new Set(['http']));
    });
  });
});

describe('a guard that refuses, over stdio', () => {
  describe.each(PLACEMENTS)('%s', (_title, place) => {
    const witness = new Witness();
    let pipe: Pipe;

    beforeAll(() => {
      const placement = place(witness);
      const hosts = hostModules(witness, placement);
      const root = rootOf(Object.values(hosts), placement.providers);
      pipe = openPipe(root, { configure: placement.configure, request: { headers: { 'X-Tag': 'pipe' } } });
    });
    beforeEach(() => witness.reset());
    afterAll(() => pipe.end());

    it('keeps the tools from running, and lets them once it allows', async () => {
      const call = async (tool: string): Promise<Json> => {
        const id = `${tool} ${witness.allows}`;
        pipe.send(modernMessage('tools/call', { name: tool, arguments: {} }, id));
        const answer = await pipe.answer(id);
        traffic.observe(answer, '2026-07-28', 'tools/call');
        return answer['result'] as Json;
      };
      for (const tool of TOOLS) expect(await call(tool)).toMatchObject(REFUSED);
      expect(witness.runs).toBe(0);
      expect(witness.seen.map(({ type, tag }) => [type, tag])).toEqual(TOOLS.map(() => ['mcp', 'pipe']));
      witness.allows = true;
      for (const [index, tool] of TOOLS.entries()) expect(textOf(await call(tool))).toBe(`ran ${index + 1}`);
    });
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

/** Boots, calls the one tool as a caller whom the guard refuses, and gives the answer and the number of runs. */
async function outcomeOf(
  tool: string,
  imports: DynamicModule[],
  witness: Witness,
  providers: Provider[] = [],
): Promise<{ result: Json; runs: number }> {
  return within(rootOf(imports, providers), async ({ mcp }) => {
    const { result } = await callTool(mcp, tool);
    return { result, runs: witness.runs };
  });
}

describe('where Nest skips guards silently', () => {
  it('a guard on the method holds: the pipeline is given the method itself, not a wrapper', async () => {
    const witness = new Witness();
    const { onProvider } = hostModules(witness, { onMethod: UseGuards(guardsOf(witness).PlainGuard) });
    expect(await outcomeOf('onProvider', [onProvider], witness)).toMatchObject({ result: REFUSED, runs: 0 });
  });

  it.each([
    ['class', (guard: Type<CanActivate>) => ({ onClass: UseGuards(guard) })],
    ['method', (guard: Type<CanActivate>) => ({ onMethod: UseGuards(guard) })],
  ])(
    "a guard class on a controller's %s holds, though controllers are no providers",
    async (_where, place) => {
      const witness = new Witness();
      const { onController } = hostModules(witness, place(guardsOf(witness).PlainGuard));
      expect(await outcomeOf('onController', [onController], witness)).toMatchObject({
        result: REFUSED,
        runs: 0,
      });
    },
  );

  it.each(['onProvider', 'onToken'] as const)(
    'a request-scoped APP_GUARD reaches a plain provider (%s), with its REQUEST',
    async (tool) => {
      const witness = new Witness();
      const { ScopedGuard } = guardsOf(witness);
      const outcome = await outcomeOf(tool, [hostModules(witness, {})[tool]], witness, [
        { provide: APP_GUARD, useClass: ScopedGuard },
      ]);
      expect(outcome).toMatchObject({ result: REFUSED, runs: 0 });
      expect(witness.seen.map(({ type }) => type)).toEqual(['http', 'mcp']);
    },
  );

  it("a guard class that two modules use is in each the one with that module's providers", async () => {
    const runs: string[] = [];
    @Injectable()
    class PolicyGuard implements CanActivate {
      constructor(@Inject('POLICY') private readonly allows: boolean) {}
      canActivate(): boolean {
        return this.allows;
      }
    }
    @UseGuards(PolicyGuard)
    class OpenTools {
      @McpTool()
      open(): void {
        runs.push('open');
      }
    }
    @UseGuards(PolicyGuard)
    class ShutTools {
      @McpTool()
      shut(): void {
        runs.push('shut');
      }
    }
    const policy = (useValue: boolean) => ({ provide: 'POLICY', useValue });
    const root = rootOf([
      moduleOf({ providers: [OpenTools, policy(true)] }),
      moduleOf({ providers: [ShutTools, policy(false)] }),
    ]);
    await within(root, async ({ mcp }) => {
      expect((await callTool(mcp, 'shut')).result).toMatchObject(REFUSED);
      expect((await callTool(mcp, 'open')).result).toMatchObject({ content: [] });
      expect(runs).toEqual(['open']);
    });
  });

  it('guards of a base class hold for the tools that a subclass inherits', async () => {
    const witness = new Witness();
    const { PlainGuard } = guardsOf(witness);
    @UseGuards(PlainGuard)
    class GuardedBase {
      @McpTool()
      byClass(): void {
        witness.runs++;
      }
    }
    class OpenBase {
      @McpTool()
      @UseGuards(PlainGuard)
      byMethod(): void {
        witness.runs++;
      }
    }
    @Injectable()
    class FromGuarded extends GuardedBase {}
    @Injectable()
    class FromOpen extends OpenBase {}
    const hosts = [moduleOf({ providers: [FromGuarded] }), moduleOf({ providers: [FromOpen] })];
    expect(await outcomeOf('byClass', hosts, witness)).toMatchObject({ result: REFUSED, runs: 0 });
    expect(await outcomeOf('byMethod', hosts, witness)).toMatchObject({ result: REFUSED, runs: 0 });
  });

  it('guards run before the arguments are looked at', async () => {
    const witness = new Witness();
    const { onProvider } = hostModules(witness, { onMethod: UseGuards(guardsOf(witness).PlainGuard) });
    await within(rootOf([onProvider]), async ({ mcp }) => {
      const { result } = await callTool(mcp, 'onProvider', { unknown: 'member' });
      expect(result).toMatchObject(REFUSED);
    });
  });
});

describe('a tool that Nest would leave unprotected', () => {
  const witness = new Witness();
  const { PlainGuard, ScopedGuard } = guardsOf(witness);
  const give = (tools: Type): [string, Provider][] => [
    ['useValue', { provide: tools, useValue: new tools() }],
    ['useFactory', { provide: tools, useFactory: () => new tools() }],
  ];

  @UseGuards(PlainGuard)
  class ByClass {
    @McpTool()
    shut(): void {
      witness.runs++;
    }
  }

  class ByMethod {
    @McpTool()
    @UseGuards(PlainGuard)
    shut(): void {
      witness.runs++;
    }
  }

  class Plain {
    @McpTool()
    shut(): void {
      witness.runs++;
    }
  }

  const refusal = (imports: DynamicModule[], providers?: Provider[]) =>
    startApp(rootOf(imports, providers)).then(
      async (running) => {
        await running.close();
        throw new Error('the application started');
      },
      (error: Error) => error,
    );

  it.each([...give(ByClass)])(
    'does not boot: a guard class on a class given by %s',
    async (_how, provider) => {
      const error = await refusal([moduleOf({ providers: [provider] })]);
      expect(error.name).toBe('UnprotectedHandlerException');
      expect(error.message).toContain(
        'ByClass.shut cannot be protected as declared: @UseGuards(PlainGuard) is unknown to its module.',
      );
      expect(error.message).toContain('`providers: [TheClass]`');
    },
  );

  it.each([...give(ByMethod)])(
    'does not boot: a guard class on a method given by %s',
    async (_how, provider) => {
      const error = await refusal([moduleOf({ providers: [provider] })]);
      expect(error.name).toBe('UnprotectedHandlerException');
      expect(error.message).toContain('ByMethod.shut cannot be protected as declared');
    },
  );

  it.each([
    ['useValue', { provide: Plain, useValue: new Plain() }],
    ['a token and useFactory', { provide: 'TOOLS', useFactory: () => new Plain() }],
  ] as [string, Provider][])(
    'does not boot: a request-scoped APP_GUARD and a class given by %s',
    async (_how, provider) => {
      const error = await refusal(
        [moduleOf({ providers: [provider] })],
        [{ provide: APP_GUARD, useClass: ScopedGuard }],
      );
      expect(error.name).toBe('UnprotectedHandlerException');
      expect(error.message).toContain(
        'Plain.shut cannot be protected as declared: the request-scoped global enhancer ScopedGuard does not reach it.',
      );
    },
  );

  it('is reached by a request-scoped APP_GUARD when a factory of its class makes it anew for each call', async () => {
    witness.reset();
    const provider = { provide: Plain, useFactory: () => new Plain() };
    const outcome = await outcomeOf('shut', [moduleOf({ providers: [provider] })], witness, [
      { provide: APP_GUARD, useClass: ScopedGuard },
    ]);
    expect(outcome).toMatchObject({ result: REFUSED, runs: 0 });
    expect(witness.seen.map(({ type }) => type)).toEqual(['http', 'mcp']);
  });

  it('does not run what a factory makes for a call when it is of another class than was checked', async () => {
    witness.reset();
    @UseGuards(PlainGuard)
    class Guarded extends Plain {}
    const provider = { provide: Plain, useFactory: () => new Guarded(), scope: Scope.REQUEST };
    const outcome = await outcomeOf('shut', [moduleOf({ providers: [provider] })], witness);
    expect(outcome.runs).toBe(0);
    expect(textOf(outcome.result)).toMatch(/^The tool failed \(reference [0-9a-f-]{36}\)$/);
  });

  it('does not boot: two modules provide the class, of which one gives it by a value', async () => {
    const error = await refusal([
      moduleOf({ providers: [ByClass] }),
      moduleOf({ providers: [{ provide: ByClass, useValue: new ByClass() }] }),
    ]);
    expect(error.name).toBe('UnprotectedHandlerException');
  });

  it('does not boot: a decorator above @McpTool() replaced the guarded method', async () => {
    const replace: MethodDecorator = (_target, _key, descriptor) => {
      const inner = descriptor.value as unknown as (...args: unknown[]) => unknown;
      descriptor.value = function wrapped(this: unknown, ...args: unknown[]) {
        return inner.apply(this, args);
      } as never;
    };
    class Replaced {
      @replace
      @McpTool()
      @UseGuards(PlainGuard)
      shut(): void {
        witness.runs++;
      }
    }
    const error = await refusal([moduleOf({ providers: [Replaced] })]);
    expect(error.name).toBe('UnprotectedHandlerException');
    expect(error.message).toBe(
      'Replaced.shut cannot be protected as declared: a decorator above @McpTool() replaced the method, ' +
        'so what @UseGuards() and its kind stored is lost. Put that decorator last, directly above the method.',
    );
  });

  it('never ran a tool on the way', () => {
    expect(witness.runs).toBe(0);
  });
});

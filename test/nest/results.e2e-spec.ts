import {
  Catch,
  Injectable,
  Module,
  SetMetadata,
  ValidationPipe,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, Reflector } from '@nestjs/core';
import { Matches } from 'class-validator';
import { McpArgs, McpContext, McpModule, McpTool, type McpCaller } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { callTool, openSession, post, textOf } from '../support/wire.js';
import { CapturedLog } from './captured-log.js';

/** What the sources of a tool saw of their end. */
const ends: (() => void)[] = [];
const nextEnd = () => new Promise<void>((resolve) => ends.push(resolve));

@Injectable()
class ResultTools {
  @McpTool({ timeout: 100 })
  async *endless(): AsyncGenerator<string> {
    try {
      for (;;) {
        yield 'x';
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      ends.forEach((end) => end());
    }
  }

  @McpTool()
  async *rush(): AsyncGenerator<string> {
    for (;;) yield 'x'.repeat(1000);
  }

  @McpTool()
  huge(): string {
    return 'x'.repeat(50_000_000);
  }

  @McpTool()
  odd(): unknown {
    const meta: Record<string, unknown> = {};
    meta['self'] = meta;
    return [{ type: 'text', text: 'a', _meta: meta }];
  }

  @McpTool()
  broken(): never {
    throw new Error('canary of the driver');
  }

  @McpTool()
  who(context: McpContext): string {
    return String(context.caller?.id);
  }
}

@Catch()
class HttpFilter implements ExceptionFilter {
  catch(_thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<{
      status?(code: number): { json(body: unknown): void };
      code?(code: number): { send(body: unknown): void };
    }>();
    response.status!(500).json({ message: 'Internal server error' });
  }
}

function rootOf(options: object, providers: object[] = []) {
  @Module({
    imports: [
      McpModule.forRoot({ name: 'results', version: '1', limits: { resultSize: 100_000 }, ...options }),
    ],
    providers: [ResultTools, ...(providers as [])],
  })
  class ResultsModule {}
  return ResultsModule;
}

describe.each(ADAPTERS)('results on %s', (adapter) => {
  let running: RunningApp;
  const log = new CapturedLog();

  beforeAll(async () => {
    running = await startApp(rootOf({}), { adapter, logger: log });
  });

  afterAll(() => running.close());

  it('stop an endless source at the time limit', async () => {
    const stopped = nextEnd();
    const { result } = await callTool(running.mcp, 'endless');
    expect(textOf(result)).toBe('The tool did not finish within 100 ms');
    await stopped;
  });

  it('stop a source that never waits once it gave too much', async () => {
    const { error } = await callTool(running.mcp, 'rush');
    expect(error).toEqual({ code: -32603, message: 'The result is larger than 100000 bytes: ask for less' });
  });

  it('are refused by their size before they are escaped', async () => {
    const { error } = await callTool(running.mcp, 'huge');
    expect(error.message).toBe('The result is larger than 100000 bytes: ask for less');
  });

  it('with blocks that JSON cannot carry are error results, in one line of the log', async () => {
    log.clear();
    const { status, result } = await callTool(running.mcp, 'odd');
    expect([status, result['isError']]).toEqual([200, true]);
    expect(textOf(result)).toMatch(
      /^The tool returned a value that JSON cannot carry \(reference [0-9a-f-]{36}\)$/,
    );
    expect(log.of('debug').filter((line) => line.includes('tools/call "odd"'))).toHaveLength(1);
  });
});

describe('a failure that a filter answers with 500', () => {
  it('is in the log with its stack, under the reference that the client has', async () => {
    const log = new CapturedLog();
    const running = await startApp(rootOf({}, [{ provide: APP_FILTER, useClass: HttpFilter }]), {
      logger: log,
    });
    const { result } = await callTool(running.mcp, 'broken');
    await running.close();
    const reference = /reference ([0-9a-f-]{36})/.exec(textOf(result))?.[1];
    expect(textOf(result)).toBe(`The tool failed (reference ${reference})`);
    const lines = log.of('error').filter((line) => line.includes('canary of the driver'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`reference ${reference}`);
  });
});

describe('the option `caller`', () => {
  it.each([
    ['a promise', () => Promise.resolve({ id: 'alice' })],
    ['an object without id', () => ({ name: 'alice' })],
    ['a number as id', () => ({ id: 7 })],
  ])('that gives %s refuses call and session, and is named', async (_name, caller) => {
    const running = await startApp(rootOf({ caller: caller as unknown as () => McpCaller }));
    const called = await callTool(running.mcp, 'who');
    const opened = await openSession(running.mcp);
    await running.close();
    expect([called.error.code, called.error.message]).toEqual([
      -32603,
      expect.stringContaining('option `caller`'),
    ]);
    expect([opened.initialized.status, opened.id]).toEqual([500, '']);
  });
});

describe('decorators of forRootAsync', () => {
  const Public = () => SetMetadata('public', true);

  @Injectable()
  class ShutUnlessPublic implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext): boolean {
      return this.reflector.get<boolean>('public', context.getClass()) === true;
    }
  }

  it('of one start are gone at the next start of the same module', async () => {
    let decorators: ClassDecorator[] = [Public() as ClassDecorator];
    @Module({
      imports: [
        McpModule.forRootAsync({ useFactory: () => ({ name: 'again', version: '1', http: { decorators } }) }),
      ],
      providers: [{ provide: APP_GUARD, useClass: ShutUnlessPublic }],
    })
    class AgainModule {}
    const statuses: number[] = [];
    for (const next of [[], [Public() as ClassDecorator], []]) {
      const running = await startApp(AgainModule);
      statuses.push((await post(running.mcp, '{}')).status);
      await running.close();
      decorators = next;
    }
    expect(statuses).toEqual([400, 403, 400]);
  });
});

describe('arguments of a type that is not there at run time', () => {
  interface Search {
    code: string;
  }

  class SearchDto implements Search {
    // A flag keeps the pattern out of the schema: class-validator alone can refuse by it.
    @Matches(/^[a-z]+$/i)
    code: string;
  }

  @Injectable()
  class SearchTools {
    @McpTool({ input: SearchDto })
    search(@McpArgs() search: Search): string {
      return `${search.constructor.name} ${search.code}`;
    }

    @McpTool({ input: SearchDto })
    count(context: McpContext): string {
      return context.name;
    }
  }

  it.each([
    ['by the library', []],
    ["by the application's pipe", [{ provide: APP_PIPE, useValue: new ValidationPipe({ transform: true }) }]],
  ])('are validated and made an instance of `input` %s', async (_name, pipes) => {
    @Module({
      imports: [McpModule.forRoot({ name: 'input', version: '1' })],
      providers: [SearchTools, ...pipes],
    })
    class InputModule {}
    const running = await startApp(InputModule);
    const good = await callTool(running.mcp, 'search', { code: 'Abc' });
    const bad = await callTool(running.mcp, 'search', { code: '123' });
    const unseen = await callTool(running.mcp, 'count', { code: '123' });
    await running.close();
    expect([unseen.result['isError'], textOf(unseen.result)]).toEqual([
      true,
      expect.stringContaining('code'),
    ]);
    expect(textOf(good.result)).toBe('SearchDto Abc');
    expect([bad.result['isError'], textOf(bad.result)]).toEqual([true, expect.stringContaining('code')]);
  });
});

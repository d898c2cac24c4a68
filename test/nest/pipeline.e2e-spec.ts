import {
  BadRequestException,
  Catch,
  ConflictException,
  createParamDecorator,
  HttpException,
  Injectable,
  InternalServerErrorException,
  Module,
  RequestTimeoutException,
  SetMetadata,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  type Type,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  BaseExceptionFilter,
  Reflector,
} from '@nestjs/core';
import { Type as TypeOf } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { McpContext, McpError, McpExecutionContext, McpModule, McpTool } from 'nest-mcp';
import { map, NEVER, of, tap, timeout, catchError, throwError, type Observable } from 'rxjs';
import { ADAPTERS, startApp, type AppOptions, type RunningApp } from '../support/app.js';
import { openPipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modernMessage, openSession, textOf, type Json, type Reply } from '../support/wire.js';
import { CapturedLog } from './captured-log.js';
import { counts, WordDto } from './counted-word.dto.js';

const REFERENCE = /reference ([0-9a-f-]{36})/;
/** Fastify adds the charset. */
const JSON_TYPE = /^application\/json(; charset=utf-8)?$/;
const traffic = new Traffic();
afterAll(() => traffic.verify());

function rootOf(tools: Type, providers: Provider[] = []): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'pipeline', version: '1.0.0' })],
    providers: [tools, ...providers],
  })
  class RootModule {}
  return RootModule;
}

/** Runs some work against an application of its own. */
async function within<T>(
  root: Type,
  options: AppOptions,
  work: (running: RunningApp) => Promise<T>,
): Promise<T> {
  const running = await startApp(root, options);
  try {
    return await work(running);
  } finally {
    await running.close();
  }
}

/** Calls a tool in both eras, sees that they agree, and gives the modern answer. */
async function callBoth(
  url: string,
  name: string,
  args: Json = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  const now = await callTool(url, name, args, headers);
  const session = await openSession(url, '2025-11-25', headers);
  const before = await session.request('tools/call', { name, arguments: args }, 1, headers);
  traffic.observe(now.body, '2026-07-28', 'tools/call');
  traffic.observe(before.body, '2025-11-25', 'tools/call');
  expect(common(before)).toEqual(common(now));
  return now;
}

/** What an answer says in either era, references aside. */
function common({ status, body }: Reply): unknown {
  const { resultType: _type, _meta, ...result } = (body['result'] ?? {}) as Json;
  return JSON.parse(JSON.stringify({ status, result, error: body['error'] }).replace(REFERENCE, 'reference'));
}

const refused = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
const requestOf = (context: ArgumentsHost) => context.switchToHttp().getRequest<Json>();

class NoteDto {
  @IsString()
  note: string;
}

describe('the order of a call', () => {
  const steps: string[] = [];
  const step = (context: ArgumentsHost, name: string) =>
    void steps.push(context.getType<string>() === 'mcp' ? name : `${context.getType<string>()}: ${name}`);

  const guard = (name: string): CanActivate => ({
    canActivate(context) {
      step(context, `${name} guard`);
      return true;
    },
  });
  const interceptor = (name: string): NestInterceptor => ({
    intercept(context, next) {
      step(context, `${name} interceptor`);
      return next.handle().pipe(tap({ finalize: () => step(context, `${name} interceptor leaves`) }));
    },
  });
  const pipe = (name: string): PipeTransform => ({
    transform(value: unknown, { type }: ArgumentMetadata) {
      if (type === 'body') steps.push(`${name} pipe`);
      return value;
    },
  });
  const filter = (name: string): ExceptionFilter => {
    @Catch(ConflictException)
    class StepFilter implements ExceptionFilter {
      catch(_thrown: unknown, host: ArgumentsHost): string {
        step(host, `${name} filter`);
        return `mended by ${name}`;
      }
    }
    return new StepFilter();
  };

  @UseGuards(guard('class'))
  @UseInterceptors(interceptor('class'))
  @UsePipes(pipe('class'))
  @UseFilters(filter('class'))
  class OrderTools {
    @McpTool()
    @UseGuards(guard('method'))
    @UseInterceptors(interceptor('method'))
    @UsePipes(pipe('method'))
    @UseFilters(filter('method'))
    conflict(_args: NoteDto): never {
      steps.push('handler');
      throw new ConflictException();
    }
  }

  const APP: Provider[] = [
    { provide: APP_GUARD, useValue: guard('app') },
    { provide: APP_INTERCEPTOR, useValue: interceptor('app') },
    { provide: APP_PIPE, useValue: pipe('app') },
    { provide: APP_FILTER, useValue: filter('app') },
  ];
  const configure = (
    app: Pick<INestApplication, 'useGlobalGuards' | 'useGlobalInterceptors' | 'useGlobalPipes'>,
  ) => {
    app.useGlobalGuards(guard('global'));
    app.useGlobalInterceptors(interceptor('global'));
    app.useGlobalPipes(pipe('global'));
  };
  const LEVELS = ['app', 'global', 'class', 'method'];
  const CALL = [
    ...LEVELS.map((level) => `${level} guard`),
    ...LEVELS.map((level) => `${level} interceptor`),
    ...LEVELS.map((level) => `${level} pipe`),
    'handler',
    ...LEVELS.toReversed().map((level) => `${level} interceptor leaves`),
    'method filter',
  ];
  const ENDPOINT = [
    'http: app guard',
    'http: global guard',
    'http: app interceptor',
    'http: global interceptor',
  ];

  it.each(ADAPTERS)("is Nest's own, after the endpoint's, on %s", async (adapter) => {
    await within(rootOf(OrderTools, APP), { adapter, configure }, async ({ mcp }) => {
      steps.length = 0;
      const { result } = await callTool(mcp, 'conflict', { note: 'x' });
      expect(textOf(result)).toBe('mended by method');
      expect(steps.slice(0, ENDPOINT.length)).toEqual(ENDPOINT);
      expect(steps.filter((name) => !name.startsWith('http: '))).toEqual(CALL);
    });
  });

  it('is the same over stdio, without an endpoint', async () => {
    const channel = openPipe(rootOf(OrderTools, APP), { configure: (app) => configure(app as never) });
    steps.length = 0;
    channel.send(modernMessage('tools/call', { name: 'conflict', arguments: { note: 'x' } }, 1));
    await channel.answer(1);
    expect(steps).toEqual(CALL);
    await channel.end();
  });
});

describe.each(ADAPTERS)('what the pipeline sees on %s', (adapter) => {
  interface Sight {
    type: string;
    className: string;
    handler: unknown;
    roles: unknown;
    request: unknown;
    fault: unknown;
    args: unknown;
    context: McpContext | undefined;
  }
  let sights: Sight[] = [];

  @Injectable()
  class SeeingGuard implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext): boolean {
      let view: McpExecutionContext | undefined;
      let fault: unknown;
      try {
        view = McpExecutionContext.create(context);
      } catch (error) {
        fault = error;
      }
      const request = requestOf(context);
      request['user'] = { sub: 'ann', name: 'Ann' };
      sights.push({
        type: context.getType<string>(),
        className: context.getClass().name,
        handler: context.getHandler(),
        roles: this.reflector.getAllAndOverride('roles', [context.getHandler(), context.getClass()]),
        request,
        fault,
        args: view?.getArgs(),
        context: view?.getContext(),
      });
      return true;
    }
  }

  const CurrentUser = createParamDecorator((member: string | undefined, context: ExecutionContext) => {
    const user = requestOf(context)['user'] as Json;
    return member === undefined ? user : user[member];
  });

  class UpperPipe implements PipeTransform {
    transform(value: unknown): unknown {
      return String(value).toUpperCase();
    }
  }

  @SetMetadata('roles', ['reader'])
  class SeenTools {
    @McpTool()
    @SetMetadata('roles', ['writer'])
    write(
      args: NoteDto,
      @CurrentUser() user: Json,
      context: McpContext,
      @CurrentUser('name', UpperPipe) name: string,
    ) {
      return {
        isDto: args instanceof NoteDto,
        note: args.note,
        user: user['sub'],
        name,
        caller: context.caller?.id,
        isSameRequest: context.request === sights.at(-1)?.request,
      };
    }

    @McpTool()
    read(@CurrentUser('sub') user: string): string {
      return user;
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(rootOf(SeenTools, [{ provide: APP_GUARD, useClass: SeeingGuard }]), { adapter });
  });
  beforeEach(() => {
    sights = [];
  });
  afterAll(() => running.close());

  it('is asked at the endpoint with type http, then for the call with type mcp', async () => {
    await callTool(running.mcp, 'read');
    expect(sights.map(({ type }) => type)).toEqual(['http', 'mcp']);
    expect(sights[0]!.className).toBe('McpEndpointController');
    expect(sights[0]!.request).toBe(sights[1]!.request);
    sights = [];
    const session = await openSession(running.mcp);
    await session.callTool('read');
    expect(sights.map(({ type }) => type)).toEqual(['http', 'http', 'mcp']);
  });

  it('A6: finds class, handler and metadata of the tool', async () => {
    await callTool(running.mcp, 'write', { note: 'x' });
    const seen = sights.at(-1)!;
    expect([seen.className, seen.handler, seen.roles]).toEqual([
      'SeenTools',
      Reflect.get(SeenTools.prototype, 'write'),
      ['writer'],
    ]);
    await callTool(running.mcp, 'read');
    expect(sights.at(-1)).toMatchObject({
      handler: Reflect.get(SeenTools.prototype, 'read'),
      roles: ['reader'],
    });
  });

  it('A6: finds body, params, query and headers on the request, as in any controller', async () => {
    await callTool(`${running.mcp}?page=2`, 'write', { note: 'x' }, { 'x-tenant': 'acme' });
    const request = sights.at(-1)!.request as Json & { headers: Json; params: Json; query: Json };
    expect(request.body).toMatchObject({
      method: 'tools/call',
      params: { name: 'write', arguments: { note: 'x' } },
    });
    expect({ ...request.params }).toEqual({});
    expect({ ...request.query }).toEqual({ page: '2' });
    expect(request.headers['x-tenant']).toBe('acme');
    expect(request['method']).toBe('POST');
  });

  it('McpExecutionContext.create() gives the raw arguments and the context, and refuses another type', async () => {
    await callTool(running.mcp, 'write', { note: 'x' });
    const [endpoint, call] = sights;
    expect(endpoint!.fault).toBeInstanceOf(TypeError);
    expect((endpoint!.fault as Error).message).toContain("takes a context of type 'mcp', not 'http'");
    expect(call!.fault).toBeUndefined();
    expect(call!.args).toEqual({ note: 'x' });
    expect(call!.context).toBeInstanceOf(McpContext);
    expect(call!.context).toMatchObject({
      name: 'write',
      method: 'tools/call',
      transport: 'http',
      era: 'modern',
    });
  });

  it('A5: gives createParamDecorator() the same request, next to the DTO and the context', async () => {
    const { result } = await callBoth(running.mcp, 'write', { note: 'x' });
    expect(result['structuredContent']).toEqual({
      isDto: true,
      note: 'x',
      user: 'ann',
      name: 'ANN',
      caller: 'ann',
      isSameRequest: true,
    });
  });

  it('A5: checks the arguments also of a method that has no parameter for them', async () => {
    expect(textOf((await callBoth(running.mcp, 'read')).result)).toBe('ann');
    const { result } = await callBoth(running.mcp, 'read', { extra: 1 });
    expect(textOf(result)).toBe(
      'Invalid arguments for read:\n- extra: is not a known member (none is known here)',
    );
  });
});

describe('A3: a refusal of a guard or a handler', () => {
  @Injectable()
  class TokenGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      if (context.getType<string>() !== 'http') return true;
      const { authorization } = requestOf(context)['headers'] as Json;
      if (authorization !== 'Bearer good') throw new UnauthorizedException('Log in first');
      return true;
    }
  }

  class RefusingTools {
    @McpTool()
    unauthorized(): never {
      throw new HttpException('Not with this account', 401);
    }

    @McpTool()
    bodied(): never {
      throw new BadRequestException({ message: ['first', 'second'], hint: 'kept back' });
    }

    @McpTool()
    texted(): never {
      throw new HttpException('Just a text', 418);
    }

    @McpTool()
    broken(): never {
      throw new InternalServerErrorException('db.internal refused root:secret');
    }
  }
  const root = rootOf(RefusingTools, [{ provide: APP_GUARD, useClass: TokenGuard }]);
  const token = { authorization: 'Bearer good' };

  it.each(ADAPTERS)(
    'at the endpoint is a 401 with a challenge, before any stream, on %s',
    async (adapter) => {
      await within(root, { adapter }, async ({ mcp }) => {
        const call = await callTool(mcp, 'unauthorized', {}, { accept: 'text/event-stream' });
        expect(call.status).toBe(401);
        expect(call.headers.get('www-authenticate')).toBe('Bearer');
        expect(call.headers.get('content-type')).toMatch(JSON_TYPE);
        expect(call.body).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: 'Log in first' } });
      });
    },
  );

  it.each(ADAPTERS)(
    'in a tool is a result with isError and its own words in a 200, on %s',
    async (adapter) => {
      await within(root, { adapter }, async ({ mcp }) => {
        const unauthorized = await callBoth(mcp, 'unauthorized', {}, token);
        expect([unauthorized.status, unauthorized.result]).toMatchObject([
          200,
          refused('Not with this account'),
        ]);
        expect(unauthorized.headers.get('www-authenticate')).toBeNull();
        expect((await callBoth(mcp, 'texted', {}, token)).result).toMatchObject(refused('Just a text'));
        const bodied = await callBoth(mcp, 'bodied', {}, token);
        expect(bodied.result).toMatchObject(refused('- first\n- second'));
        expect(bodied.text).not.toContain('kept back');
      });
    },
  );

  it('from 500 on says nothing of itself', async () => {
    await within(root, {}, async ({ mcp }) => {
      const { text, result } = await callBoth(mcp, 'broken', {}, token);
      expect(textOf(result)).toMatch(/^The tool failed \(reference [0-9a-f-]{36}\)$/);
      expect(text).not.toMatch(/secret|internal/);
    });
  });
});

describe('A4: exception filters', () => {
  const filter = (answer: unknown): ExceptionFilter => {
    @Catch(ConflictException)
    class TextFilter implements ExceptionFilter {
      catch(): unknown {
        return answer;
      }
    }
    return new TextFilter();
  };

  @UseFilters(filter('by the class'))
  class FilteredTools {
    @McpTool()
    @UseFilters(filter('by the method'))
    onMethod(): never {
      throw new ConflictException('unmended');
    }

    @McpTool()
    onClass(): never {
      throw new ConflictException('unmended');
    }
  }

  class UnfilteredTools {
    @McpTool()
    onApp(): never {
      throw new ConflictException('unmended');
    }

    @McpTool()
    uncaught(): never {
      throw new BadRequestException('another kind');
    }
  }

  class ShapeTools {
    @McpTool()
    @UseFilters(filter({ code: 7 }))
    object(): never {
      throw new ConflictException();
    }

    @McpTool()
    @UseFilters(filter({ isError: true, content: [{ type: 'text', text: 'whole' }] }))
    whole(): never {
      throw new ConflictException();
    }

    @McpTool()
    @UseFilters(filter(undefined))
    nothing(): never {
      throw new ConflictException('as thrown');
    }
  }

  const app = { provide: APP_FILTER, useValue: filter('by the app') };

  it.each(ADAPTERS)(
    'the one on the method wins over the class, that over the app, on %s',
    async (adapter) => {
      await within(rootOf(FilteredTools, [app, UnfilteredTools]), { adapter }, async ({ mcp }) => {
        expect(textOf((await callBoth(mcp, 'onMethod')).result)).toBe('by the method');
        expect(textOf((await callBoth(mcp, 'onClass')).result)).toBe('by the class');
        expect(textOf((await callBoth(mcp, 'onApp')).result)).toBe('by the app');
        expect((await callBoth(mcp, 'uncaught')).result).toMatchObject(refused('another kind'));
      });
    },
  );

  it('a filter sees what a guard, a pipe and the check of the arguments throw', async () => {
    const seen: string[] = [];
    @Catch()
    class EverythingFilter implements ExceptionFilter {
      catch(thrown: Error, host: ArgumentsHost): string {
        seen.push(`${host.getType<string>()} ${thrown.name}`);
        return 'mended';
      }
    }
    class Guarded {
      @McpTool()
      @UseGuards({ canActivate: () => false })
      shut(): void {}

      @McpTool()
      checked(_args: NoteDto): void {}
    }
    await within(
      rootOf(Guarded, [{ provide: APP_FILTER, useClass: EverythingFilter }]),
      {},
      async ({ mcp }) => {
        expect(textOf((await callTool(mcp, 'shut')).result)).toBe('mended');
        expect(textOf((await callTool(mcp, 'checked', {})).result)).toBe('mended');
        expect(seen).toEqual(['mcp ForbiddenException', 'mcp InvalidArgumentsException']);
      },
    );
  });

  it('what a filter returns is the result, as if the handler had returned it', async () => {
    await within(rootOf(ShapeTools), {}, async ({ mcp }) => {
      expect((await callBoth(mcp, 'object')).result).toMatchObject({
        structuredContent: { code: 7 },
        content: [{ type: 'text', text: '{"code":7}' }],
      });
      expect((await callBoth(mcp, 'whole')).result).toMatchObject(refused('whole'));
      expect((await callBoth(mcp, 'nothing')).result).toMatchObject(refused('as thrown'));
    });
  });
});

describe.each(ADAPTERS)('a global filter written for HTTP, on %s', (adapter) => {
  class FailingTools {
    @McpTool()
    conflict(): never {
      throw new ConflictException('taken');
    }

    @McpTool()
    crash(): never {
      throw new TypeError('canary-crash');
    }

    @McpTool()
    fine(): string {
      return 'fine';
    }
  }

  type Respond = (
    response: Record<string, (...args: unknown[]) => unknown>,
    status: number,
    body: Json,
  ) => unknown;
  const by = (respond: Respond) => (): ExceptionFilter => {
    @Catch()
    class RestFilter implements ExceptionFilter {
      catch(thrown: unknown, host: ArgumentsHost): unknown {
        const status = thrown instanceof HttpException ? thrown.getStatus() : 500;
        return respond(host.switchToHttp().getResponse(), status, {
          status,
          title: (thrown as Error).message,
        });
      }
    }
    return new RestFilter();
  };
  const viaAdapter = (app: INestApplication): ExceptionFilter =>
    by((response, status, body) => app.getHttpAdapter().reply(response, body, status))();
  class InheritedFilter extends BaseExceptionFilter {}

  const shared: [string, (app: INestApplication) => ExceptionFilter, Json][] = [
    ['httpAdapter.reply()', viaAdapter, { status: 409, title: 'taken' }],
    [
      'BaseExceptionFilter',
      (app) => new InheritedFilter(app.getHttpAdapter()),
      { statusCode: 409, message: 'taken', error: 'Conflict' },
    ],
    [
      'a returned response',
      by((response, status, body) => response['status']!(status) && response['send']!(body)),
      { status: 409, title: 'taken' },
    ],
  ];
  const express: typeof shared = [
    [
      'status().json()',
      by((response, status, body) => {
        (response['status']!(status) as typeof response)['json']!(body);
      }),
      { status: 409, title: 'taken' },
    ],
    [
      'statusCode and end()',
      by((response, status, body) => {
        response['setHeader']!('Content-Type', 'application/problem+json');
        (response as unknown as Json)['statusCode'] = status;
        response['end']!(JSON.stringify(body));
      }),
      { status: 409, title: 'taken' },
    ],
  ];
  const fastify: typeof shared = [
    [
      'code().header().send()',
      by((response, status, body) => {
        const reply = response['code']!(status) as typeof response;
        (reply['header']!('content-type', 'application/problem+json') as typeof response)['send']!(body);
      }),
      { status: 409, title: 'taken' },
    ],
    [
      'raw.writeHead() and raw.end()',
      by((response, status, body) => {
        const raw = response['raw'] as unknown as typeof response;
        raw['writeHead']!(status, { 'content-type': 'text/plain' });
        raw['end']!(JSON.stringify(body));
      }),
      { status: 409, title: 'taken' },
    ],
  ];

  it.each([...shared, ...(adapter === 'express' ? express : fastify)])(
    'by %s shapes the error and leaves the wire whole',
    async (_how, filter, body) => {
      const configure = (app: INestApplication) => void app.useGlobalFilters(filter(app));
      await within(rootOf(FailingTools), { adapter, configure }, async ({ mcp }) => {
        const conflict = await callBoth(mcp, 'conflict');
        expect(conflict.status).toBe(200);
        expect(conflict.headers.get('content-type')).toMatch(JSON_TYPE);
        expect(conflict.result['isError']).toBe(true);
        expect(JSON.parse(textOf(conflict.result))).toEqual(body);
        const crash = await callBoth(mcp, 'crash');
        expect(textOf(crash.result)).toMatch(/^The tool failed \(reference [0-9a-f-]{36}\)$/);
        expect(crash.text).not.toContain('canary-crash');
        expect((await callBoth(mcp, 'fine')).result).toMatchObject({
          content: [{ type: 'text', text: 'fine' }],
        });
      });
    },
  );

  it('that answers below 400 gives the result', async () => {
    const filter = by((response) => {
      (response['status']!(200) as typeof response)['send']!({ fallback: true });
    });
    const configure = (app: INestApplication) => void app.useGlobalFilters(filter());
    await within(rootOf(FailingTools), { adapter, configure }, async ({ mcp }) => {
      const { result } = await callBoth(mcp, 'conflict');
      expect(result).toMatchObject({ structuredContent: { fallback: true } });
      expect(result['isError']).toBeUndefined();
    });
  });
});

it('a global filter written for HTTP shapes the error over stdio as well', async () => {
  class FailingTools {
    @McpTool()
    conflict(): never {
      throw new ConflictException('taken');
    }
  }
  @Catch()
  class RestFilter implements ExceptionFilter {
    catch(thrown: HttpException, host: ArgumentsHost): void {
      const response = host
        .switchToHttp()
        .getResponse<{ status(code: number): { json(body: unknown): void } }>();
      response.status(thrown.getStatus()).json({ title: thrown.message });
    }
  }
  const pipe = openPipe(rootOf(FailingTools), {
    configure: (app) => void app.useGlobalFilters(new RestFilter()),
  });
  pipe.send(modernMessage('tools/call', { name: 'conflict', arguments: {} }, 1));
  expect((await pipe.answer(1))['result']).toMatchObject(refused('{"title":"taken"}'));
  await pipe.end();
});

describe.each(ADAPTERS)('the response that guards see on %s', (adapter) => {
  interface HeaderResponse {
    header(name: string, value: string): unknown;
    setHeader?(name: string, value: string): unknown;
    raw?: HeaderResponse;
    getHeader(name: string): unknown;
  }
  let read: unknown;

  @Injectable()
  class RateGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const response = context.switchToHttp().getResponse<HeaderResponse>();
      response.header('X-RateLimit-Remaining', '4');
      response.header('Content-Type', 'text/html');
      response.header('Content-Length', '1');
      response.header('Transfer-Encoding', 'identity');
      response.header('Mcp-Session-Id', 'forged');
      (response.raw ?? response).setHeader?.('X-Raw', 'yes');
      read = response.getHeader('x-ratelimit-remaining');
      return true;
    }
  }

  @UseGuards(RateGuard)
  class RatedTools {
    @McpTool()
    plain(): string {
      return 'plain';
    }

    @McpTool()
    async streamed(context: McpContext): Promise<string> {
      await context.progress(1);
      return 'streamed';
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(rootOf(RatedTools), { adapter });
  });
  afterAll(() => running.close());

  it("passes their headers on, but none of the wire's own", async () => {
    const reply = await callBoth(running.mcp, 'plain');
    expect(reply.headers.get('x-ratelimit-remaining')).toBe('4');
    expect(reply.headers.get('content-type')).toMatch(JSON_TYPE);
    expect(reply.headers.get('mcp-session-id')).toBeNull();
    expect(textOf(reply.result)).toBe('plain');
    expect(read).toBe('4');
  });

  it('passes them on before a stream as well', async () => {
    const params = { name: 'streamed', arguments: {}, _meta: { progressToken: 't' } };
    const session = await openSession(running.mcp);
    const reply = await session.request('tools/call', params);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(reply.headers.get('x-ratelimit-remaining')).toBe('4');
    expect(reply.messages.map((message) => message['method'] ?? 'answer')).toEqual([
      'notifications/progress',
      'answer',
    ]);
    for (const message of reply.messages) traffic.observe(message, '2025-11-25', 'tools/call');
  });
});

describe('interceptors', () => {
  const mapping = (project: (value: unknown) => unknown): NestInterceptor => ({
    intercept: (_context: ExecutionContext, next: CallHandler) => next.handle().pipe(map(project)),
  });
  const limited: NestInterceptor = {
    intercept: (_context: ExecutionContext, next: CallHandler): Observable<unknown> =>
      next.handle().pipe(
        timeout(20),
        catchError(() => throwError(() => new RequestTimeoutException('too slow'))),
      ),
  };
  const aborted: unknown[] = [];
  let entered = 0;

  @UseInterceptors(mapping((value) => ({ data: value })))
  class InterceptedTools {
    @McpTool()
    wrapped(): string {
      return 'inner';
    }

    @McpTool()
    @UseInterceptors({ intercept: () => of('cached') })
    cached(): string {
      entered++;
      return 'never';
    }
  }

  class TimedTools {
    @McpTool()
    @UseInterceptors(limited)
    byInterceptor(): Promise<never> {
      return new Promise(() => undefined);
    }

    @McpTool({ timeout: 20 })
    byOption(context: McpContext): Promise<never> {
      context.signal.addEventListener('abort', () => aborted.push((context.signal.reason as Error).name));
      return new Promise(() => undefined);
    }

    @McpTool({ timeout: 20 })
    endless(): Observable<never> {
      return NEVER;
    }

    @McpTool()
    observed(): Observable<number> {
      return of(1, 2, 3);
    }
  }

  it('map what the handler returns, or answer in its place', async () => {
    await within(rootOf(InterceptedTools), {}, async ({ mcp }) => {
      expect((await callBoth(mcp, 'wrapped')).result['structuredContent']).toEqual({ data: 'inner' });
      expect((await callBoth(mcp, 'cached')).result['structuredContent']).toEqual({ data: 'cached' });
      expect(entered).toBe(0);
    });
  });

  it("may limit the time themselves; else the tool's own limit holds and its signal aborts", async () => {
    await within(rootOf(TimedTools), {}, async ({ mcp }) => {
      expect((await callBoth(mcp, 'byInterceptor')).result).toMatchObject(refused('too slow'));
      expect((await callBoth(mcp, 'byOption')).result).toMatchObject(
        refused('The tool did not finish within 20 ms'),
      );
      expect(aborted).toEqual(['TimeoutError', 'TimeoutError']);
      expect((await callBoth(mcp, 'endless')).result).toMatchObject(
        refused('The tool did not finish within 20 ms'),
      );
    });
  });

  it('see an Observable, of which the last value is the result', async () => {
    await within(rootOf(TimedTools), {}, async ({ mcp }) => {
      expect(textOf((await callBoth(mcp, 'observed')).result)).toBe('3');
    });
  });
});

describe('C11: validation happens exactly once', () => {
  let given: { args: unknown; context: unknown } | undefined;
  const metatypes: unknown[] = [];

  class WatchingPipe implements PipeTransform {
    transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
      if (type === 'body') metatypes.push(metatype);
      return value;
    }
  }

  const toolsWith = (onClass: ClassDecorator, onMethod: MethodDecorator): Type => {
    @onClass
    class WordTools {
      @McpTool()
      @UsePipes(WatchingPipe)
      @onMethod
      say(args: WordDto, context: McpContext): string {
        given = { args, context };
        return args.word;
      }
    }
    return WordTools;
  };
  const nothing = (): void => undefined;
  const pipe = new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true });
  class OwnPipe extends ValidationPipe {
    constructor() {
      super({ whitelist: true, transform: true });
    }
  }

  const OURS = 'Invalid arguments for say:\n- word: must not be bad';
  const APPS = '- word must not be bad';
  const PLACES: [string, Type, AppOptions, string][] = [
    ['ours, where none is bound', rootOf(toolsWith(nothing, nothing)), {}, OURS],
    [
      "the app's, by useGlobalPipes()",
      rootOf(toolsWith(nothing, nothing)),
      { configure: (app) => void app.useGlobalPipes(pipe) },
      APPS,
    ],
    [
      "the app's, by APP_PIPE",
      rootOf(toolsWith(nothing, nothing), [{ provide: APP_PIPE, useClass: OwnPipe }]),
      {},
      APPS,
    ],
    ["the app's, as an instance on the class", rootOf(toolsWith(UsePipes(pipe), nothing)), {}, APPS],
    ["the app's, as a class on the class", rootOf(toolsWith(UsePipes(OwnPipe), nothing)), {}, APPS],
    ["the app's, as an instance on the method", rootOf(toolsWith(nothing, UsePipes(pipe))), {}, APPS],
    ["the app's, as a class on the method", rootOf(toolsWith(nothing, UsePipes(OwnPipe))), {}, APPS],
  ];

  describe.each(ADAPTERS)('on %s', (adapter) => {
    it.each(PLACES)('by %s', async (_where, root, options, message) => {
      await within(root, { ...options, adapter }, async ({ mcp }) => {
        given = undefined;
        counts.made = counts.judged = metatypes.length = 0;
        const { result } = await callTool(mcp, 'say', { word: 'good' });
        expect(textOf(result)).toBe('good');
        expect([counts.made, counts.judged]).toEqual([1, 1]);
        expect(given!.args).toBeInstanceOf(WordDto);
        expect(given!.context).toBeInstanceOf(McpContext);
        expect(metatypes).toEqual([WordDto]);

        counts.made = counts.judged = 0;
        given = undefined;
        const bad = await callTool(mcp, 'say', { word: 'bad' });
        expect(bad.result).toMatchObject(refused(message));
        expect([counts.made, counts.judged, given]).toEqual([1, 1, undefined]);

        counts.judged = 0;
        const wrong = await callBoth(mcp, 'say', { word: 'good', times: '3', extra: 1 });
        expect(textOf(wrong.result).split('\n').toSorted()).toEqual([
          '- extra: is not a known member (known: word, times)',
          '- times: must be an integer',
          'Invalid arguments for say:',
        ]);
        expect([counts.judged, given]).toEqual([0, undefined]);
      });
    });
  });
});

describe('what a refusal of arguments says', () => {
  let runs = 0;

  class InnerDto {
    @IsInt()
    size: number;

    @IsIn(['red', 'blue'])
    colour: string;
  }
  class OuterDto {
    @ValidateNested()
    @TypeOf(() => InnerDto)
    inner: InnerDto;
  }
  class DeepDto {
    @ValidateNested({ each: true })
    @TypeOf(() => OuterDto)
    @IsArray()
    list: OuterDto[];

    @IsString({ each: true })
    @IsOptional()
    tags?: string[];
  }
  class DeepTools {
    @McpTool()
    deep(_args: DeepDto): string {
      runs++;
      return 'ran';
    }
  }

  const CASES: [string, Json, string[]][] = [
    ['C1: an element of the wrong type', { list: [], tags: [1] }, ['- tags[0]: must be a string']],
    [
      'C9: a wrong type and a wrong enum two levels deep',
      { list: [{ inner: { size: 'x', colour: 'green' } }] },
      ['- list[0].inner.size: must be an integer', '- list[0].inner.colour: must be one of "red", "blue"'],
    ],
    [
      'C9: missing fields',
      { list: [{ inner: {} }] },
      ['- list[0].inner.size: is required', '- list[0].inner.colour: is required'],
    ],
    ['C9: a missing argument', {}, ['- list: is required']],
  ];

  it.each(CASES)('%s: names field and rule, without running the method', async (_what, args, issues) => {
    await within(rootOf(DeepTools), {}, async ({ mcp }) => {
      const { status, result, text } = await callBoth(mcp, 'deep', args);
      expect([status, result['isError']]).toEqual([200, true]);
      const [title, ...lines] = textOf(result).split('\n');
      expect(title).toBe('Invalid arguments for deep:');
      expect(lines.toSorted()).toEqual(issues.toSorted());
      expect(text).not.toMatch(/Dto|\.ts|    at /);
      expect(runs).toBe(0);
    });
  });
});

describe('an error that nobody foresaw', () => {
  const CANARY = 'canary-5b1f';
  const withStack = () => Object.assign(new Error('plain'), { stack: `Error: plain\n    at ${CANARY}` });
  const hostile = {
    message: () => new Error(CANARY),
    stack: withStack,
    cause: () => new Error('outer', { cause: new Error(CANARY) }),
    deepCause: () => new Error('outer', { cause: new Error('middle', { cause: CANARY }) }),
    toStringOnly: () => ({ toString: () => CANARY }),
    text: () => CANARY,
    serverError: () => new InternalServerErrorException(CANARY),
  };
  const strange = {
    undefined: () => undefined,
    null: () => null,
    number: () => 0,
    symbol: () => Symbol('thrown'),
    frozen: () => Object.freeze({ frozen: true }),
    frozenError: () => Object.freeze(new Error('frozen')),
    bare: () => Object.create(null) as unknown,
    proxy: () =>
      new Proxy(new Error('inner'), {
        get: () => {
          throw new Error('trap');
        },
        getPrototypeOf: () => {
          throw new Error('trap');
        },
        has: () => {
          throw new Error('trap');
        },
      }),
    revoked: () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
    getters: () =>
      Object.defineProperties(new Error('getters'), {
        message: {
          get: () => {
            throw new Error('message getter');
          },
        },
        stack: {
          get: () => {
            throw new Error('stack getter');
          },
        },
        name: {
          get: () => {
            throw new Error('name getter');
          },
        },
        cause: {
          get: () => {
            throw new Error('cause getter');
          },
        },
        getStatus: {
          get: () => {
            throw new Error('status getter');
          },
        },
      }),
    badHttp: () =>
      Object.assign(new Error('x'), {
        getStatus: () => {
          throw new Error('status');
        },
        getResponse: () => null,
      }),
    badResponse: () =>
      Object.assign(new Error('x'), {
        getStatus: () => 400,
        getResponse: () => {
          throw new Error('response');
        },
      }),
    cyclicCause: () => {
      const error = new Error('cyclic');
      error.cause = error;
      return error;
    },
  };
  const THROWN: Record<string, () => unknown> = { ...hostile, ...strange };

  class KindDto {
    @IsString()
    kind: string;
  }
  class ThrowingTools {
    @McpTool()
    sync({ kind }: KindDto): never {
      throw THROWN[kind]!();
    }

    @McpTool()
    async rejected({ kind }: KindDto): Promise<never> {
      await Promise.resolve();
      throw THROWN[kind]!();
    }

    @McpTool()
    observed({ kind }: KindDto): Observable<never> {
      return throwError(() => THROWN[kind]!());
    }

    @McpTool()
    fine(): string {
      return 'fine';
    }
  }

  const TEXT = /^The tool failed \(reference [0-9a-f-]{36}\)$/;

  describe.each(ADAPTERS)('on %s', (adapter) => {
    const log = new CapturedLog();
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(rootOf(ThrowingTools), { adapter, logger: log });
    });
    beforeEach(() => log.clear());
    afterAll(() => running.close());

    it.each(Object.keys(hostile))(
      'I8: is masked on the wire and in the log once, under one reference (%s)',
      async (kind) => {
        for (const tool of ['sync', 'rejected', 'observed']) {
          log.clear();
          const { status, result, text, headers } = await callTool(running.mcp, tool, { kind });
          expect([status, result['isError']]).toEqual([200, true]);
          expect(textOf(result)).toMatch(TEXT);
          expect(text + JSON.stringify([...headers])).not.toContain(CANARY);
          const errors = log.of('error');
          expect(errors).toHaveLength(1);
          expect(errors[0]).toContain(`${tool} failed (reference ${REFERENCE.exec(textOf(result))![1]})`);
          expect(
            log.lines
              .map((line) => line.text)
              .join('\n')
              .split(CANARY),
          ).toHaveLength(2);
        }
      },
    );

    it.each(Object.keys(strange))('is answered like any other when it is strange (%s)', async (kind) => {
      for (const tool of ['sync', 'rejected', 'observed']) {
        const { result } = await callBoth(running.mcp, tool, { kind });
        expect(result['isError']).toBe(true);
        expect(textOf(result)).toMatch(TEXT);
        expect(textOf((await callTool(running.mcp, 'fine')).result)).toBe('fine');
      }
    });
  });
});

describe('McpError', () => {
  class ErrorTools {
    @McpTool()
    own(): never {
      throw new McpError(4001, 'Read-only today', { until: '18:00' });
    }

    @McpTool()
    bare(): never {
      throw new McpError(4002, 'No data');
    }

    @McpTool()
    unsayable(): never {
      throw new McpError(4004, 'Too much', { big: 10n });
    }

    @McpTool()
    capability(): never {
      throw new McpError(-32021, 'Elicitation is needed', { requiredCapabilities: { elicitation: {} } });
    }

    @McpTool()
    @UseGuards({
      canActivate: () => {
        throw new McpError(4003, 'Not for you', [1]);
      },
    })
    guarded(): void {}

    @McpTool()
    async late(context: McpContext): Promise<never> {
      await context.progress(1);
      throw new McpError(-32021, 'Too late for a status', { requiredCapabilities: { sampling: {} } });
    }
  }

  it.each(ADAPTERS)(
    'becomes the JSON-RPC error with its code, message and data in both eras, on %s',
    async (adapter) => {
      await within(rootOf(ErrorTools), { adapter }, async ({ mcp }) => {
        const own = await callBoth(mcp, 'own');
        expect([own.status, own.body]).toEqual([
          200,
          {
            jsonrpc: '2.0',
            id: 1,
            error: { code: 4001, message: 'Read-only today', data: { until: '18:00' } },
          },
        ]);
        expect((await callBoth(mcp, 'bare')).error).toEqual({ code: 4002, message: 'No data' });
        expect((await callBoth(mcp, 'guarded')).error).toEqual({
          code: 4003,
          message: 'Not for you',
          data: [1],
        });
      });
    },
  );

  it('whose data JSON cannot carry is an internal error, and the server goes on', async () => {
    await within(rootOf(ErrorTools), {}, async ({ mcp }) => {
      const reply = await callBoth(mcp, 'unsayable');
      expect([reply.status, reply.body['id'], reply.error.code]).toEqual([200, 1, -32603]);
      expect(reply.error.message).toMatch(/^Internal error \(reference [0-9a-f-]{36}\)$/);
      expect((await callBoth(mcp, 'bare')).error.code).toBe(4002);
    });
    const pipe = openPipe(rootOf(ErrorTools));
    pipe.send(modernMessage('tools/call', { name: 'unsayable', arguments: {} }, 1));
    pipe.send(modernMessage('tools/call', { name: 'bare', arguments: {} }, 2));
    expect((await pipe.answer(1))['error']).toMatchObject({ code: -32603 });
    expect((await pipe.answer(2))['error']).toEqual({ code: 4002, message: 'No data' });
    await pipe.end();
  });

  it.each(ADAPTERS)(
    'S-013: of -32021 is HTTP 400 in 2026-07-28 while nothing is sent, on %s',
    async (adapter) => {
      await within(rootOf(ErrorTools), { adapter }, async ({ mcp }) => {
        const now = await callTool(mcp, 'capability');
        expect([now.status, now.error]).toMatchObject([
          400,
          { code: -32021, data: { requiredCapabilities: { elicitation: {} } } },
        ]);
        const session = await openSession(mcp);
        expect((await session.callTool('capability')).status).toBe(200);
        const params = { name: 'late', arguments: {}, _meta: { progressToken: 1 } };
        const late = await session.request('tools/call', params);
        expect([late.status, late.messages.length, late.error.code]).toEqual([200, 2, -32021]);
      });
    },
  );
});

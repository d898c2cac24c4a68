import {
  ForbiddenException,
  HttpException,
  Injectable,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { callTool, modernHeaders, modernMessage, textOf, type Json } from '../support/wire.js';
import { exchange, RawConnection, rawRequest, statusOf } from './raw-connection.js';
import { LogRecorder, wireApp } from './wire.app.js';

const PARAMS = { name: 'hello' };
const BODY = JSON.stringify(modernMessage('tools/call', PARAMS));
const NOT_ALLOWED = /^Forbidden: this (Host|Origin) is not allowed; the server's operator lists /;

type Headers = Record<string, string | undefined>;

/** A good call with other headers; undefined takes one away. */
function requestWith(headers: Headers, method = 'POST', path = '/mcp', version = '1.1'): Buffer {
  const all: Headers = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': method === 'POST' ? String(BODY.length) : undefined,
    accept: 'application/json, text/event-stream',
    ...(method === 'POST' ? modernHeaders('tools/call', PARAMS) : {}),
    ...headers,
  };
  const pairs = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const bytes = rawRequest(method, path, pairs, method === 'POST' ? BODY : '');
  return version === '1.1'
    ? bytes
    : Buffer.from(bytes.toString('latin1').replace('HTTP/1.1', `HTTP/${version}`));
}

const codeOf = (json: Json) => (json['error'] as { code: number } | undefined)?.code;
const rawOf = (context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<IncomingMessage & { raw?: IncomingMessage }>();
  return request.raw ?? request;
};

/** Counts what gets as far as the guards of the application. */
@Injectable()
class CountingGuard implements CanActivate {
  readonly seen: string[] = [];

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() === 'http') this.seen.push(rawOf(context).method ?? '');
    return true;
  }
}

const counting = {
  providers: [CountingGuard, { provide: APP_GUARD, useExisting: CountingGuard }],
};

const HOSTS: readonly (readonly [string, boolean])[] = [
  ['localhost', true],
  ['localhost:3000', true],
  ['LOCALHOST:3000', true],
  ['127.0.0.1:3000', true],
  ['127.0.0.1', true],
  ['[::1]:3000', true],
  ['[::1]', true],
  ['proxy.example', true],
  ['Proxy.Example:8443', true],
  ['evil.example', false],
  ['localhost.evil.example', false],
  ['evil.example:3000', false],
  ['localhost@evil.example', false],
  ['localhost, evil.example', false],
  ['sub.proxy.example', false],
  ['127.0.0.1.evil.example', false],
  ['0.0.0.0', false],
  ['', false],
];

const ORIGINS: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, true],
  ['http://localhost:5173', true],
  ['https://127.0.0.1', true],
  ['http://[::1]:8080', true],
  ['https://app.example', true],
  ['HTTPS://App.Example', true],
  ['https://app.example:443', true],
  ['http://evil.example', false],
  ['http://app.example', false],
  ['https://app.example:8443', false],
  ['https://app.example.evil.example', false],
  ['https://app.example@evil.example', false],
  ['http://user@localhost', false],
  ['http://localhost.evil.example', false],
  ['https://app.example/path', false],
  ['https://app.example, http://evil.example', false],
  ['null', false],
  ['not a url', false],
  ['file://', false],
  ['', false],
];

describe.each(ADAPTERS)('who may speak to the endpoint on %s', (adapter) => {
  let running: RunningApp;
  let guard: CountingGuard;
  const logs = new LogRecorder();

  beforeAll(async () => {
    const http = { allowedHosts: ['proxy.example'], allowedOrigins: ['https://app.example'] };
    running = await startApp(wireApp({ http }, counting), { adapter, logger: logs });
    guard = running.app.get(CountingGuard);
  });

  beforeEach(() => void guard.seen.splice(0));
  afterAll(() => running.close());

  /** POST, GET and DELETE with forged headers: refused before any guard, or answered as ever. */
  async function expectVerdict(headers: Headers, isAllowed: boolean): Promise<void> {
    const usual = { POST: 200, GET: 400, DELETE: 400 };
    for (const [method, status] of Object.entries(usual)) {
      const answer = await exchange(running.url, requestWith(headers, method));
      expect([method, answer.status]).toEqual([method, isAllowed ? status : 403]);
      if (isAllowed) continue;
      expect(codeOf(answer.json)).toBe(-32600);
      expect(answer.json).not.toHaveProperty('id');
      expect((answer.json['error'] as Json)['message']).toMatch(NOT_ALLOWED);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    }
    expect(guard.seen).toEqual(isAllowed ? Object.keys(usual) : []);
  }

  it.each(HOSTS)('M8: Host %p: %p', (host, isAllowed) => expectVerdict({ host }, isAllowed));

  it.each(ORIGINS)('M7, S-051, S-071: Origin %p: %p', (origin, isAllowed) =>
    expectVerdict({ origin }, isAllowed),
  );

  it('M8: refuses HTTP/1.0 without Host', async () => {
    const answer = await exchange(running.url, requestWith({ host: undefined }, 'POST', '/mcp', '1.0'));
    expect([answer.status, codeOf(answer.json), guard.seen]).toEqual([403, -32600, []]);
  });

  it('needs both to be right', async () => {
    await expectVerdict({ host: 'proxy.example', origin: 'http://evil.example' }, false);
    await expectVerdict({ host: 'evil.example', origin: 'https://app.example' }, false);
  });

  it('does not believe headers of proxies', async () => {
    await expectVerdict({ host: 'evil.example', 'x-forwarded-host': 'localhost' }, false);
    await expectVerdict({ 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }, true);
  });

  it.each([{ host: 'evil.example' }, { origin: 'null' }])(
    'M7, M8: refuses %p without waiting for the body',
    async (forged) => {
      const connection = await RawConnection.open(running.url);
      connection.write(requestWith({ ...forged, 'content-length': '5000000' }));
      const answer = await connection.answer();
      connection.destroy();
      expect([answer.status, answer.headers['connection'], guard.seen]).toEqual([403, 'close', []]);
    },
  );

  it.each(['http://evil.example/mcp', 'http://localhost/mcp', '/mcp#fragment', '/mcp?a=1#fragment'])(
    'M7, M8: looks at host and origin of the address %p as well',
    async (address) => {
      const forged = { host: 'evil.example', origin: 'https://evil.example' };
      const answer = await exchange(running.url, requestWith(forged, 'POST', address));
      expect([answer.status, guard.seen]).toEqual([403, []]);
    },
  );

  it('H7: logs no refusal as an error', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });

  it('leaves other routes alone', async () => {
    const pairs = [['host', 'evil.example']] as const;
    expect(await statusOf(running.url, rawRequest('GET', '/nothing-here', pairs))).toBe(404);
  });

  it('S-050: answers OPTIONS with 405 where no CORS is set up', async () => {
    const answer = await exchange(running.url, requestWith({}, 'OPTIONS'));
    expect([answer.status, answer.headers['allow'], codeOf(answer.json)]).toEqual([
      405,
      'GET, POST, DELETE',
      -32600,
    ]);
  });
});

describe.each(ADAPTERS)('an application on ::1 on %s', (adapter) => {
  it('M8: is met by its loopback names alone', async () => {
    const running = await startApp(wireApp(), { adapter, host: '::1' });
    const statuses: number[] = [];
    for (const host of ['[::1]:3000', 'localhost', '127.0.0.1', 'evil.example', '[::2]'])
      statuses.push((await exchange(running.url, requestWith({ host }))).status);
    const { status } = await callTool(running.mcp, 'hello');
    await running.close();
    expect([...statuses, status]).toEqual([200, 200, 200, 403, 403, 200]);
  });
});

describe.each(ADAPTERS)('the path of the endpoint on %s', (adapter) => {
  it.each(['mcp', '/mcp', '/mcp/', '//mcp'])(
    "A12: under the prefix '/api/', %p is /api/mcp",
    async (path) => {
      const running = await startApp(wireApp({ path }), {
        adapter,
        configure: (app) => app.setGlobalPrefix('/api/'),
      });
      const statuses: number[] = [];
      for (const at of ['/api/mcp', '/api/mcp?a=1', '/mcp', '/api//mcp', '/api'])
        statuses.push(await statusOf(running.url, requestWith({}, 'POST', at)));
      await running.close();
      expect(statuses).toEqual([200, 200, 404, 404, 404]);
    },
  );

  it('D10: never redirects, whatever the slash and the query', async () => {
    const running = await startApp(wireApp({ path: 'a/second' }), { adapter });
    const found: number[] = [];
    for (const at of ['/a/second', '/a/second?x=%2f', '/a/second/', '/a/second/?x=1', '/A/Second'])
      found.push(await statusOf(running.url, requestWith({}, 'POST', at)));
    await running.close();
    // By default Express's router is lenient here and Fastify's is not.
    const lenient = adapter === 'express' ? 200 : 404;
    expect(found).toEqual([200, 200, lenient, lenient, lenient]);
  });
});

/** Express's response or Fastify's reply. */
interface AnyResponse {
  header(name: string, value: string): unknown;
}

/** What a guard can say, by the value of a header that asks for it. */
const GUARD_SAYS = new Map<string, (response: AnyResponse) => boolean>([
  ['401', () => fail(new UnauthorizedException('Who are you?'))],
  [
    '401 with a challenge',
    (response) => {
      response.header('WWW-Authenticate', 'Bearer realm="helpdesk"');
      return fail(new UnauthorizedException());
    },
  ],
  ['403', () => fail(new ForbiddenException('Not you'))],
  ['false', () => false],
  ['429', () => fail(new HttpException('Slow down', 429))],
  ['broken', () => fail(new TypeError('canary of a guard'))],
]);

function fail(error: Error): never {
  throw error;
}

/** Refuses as told, before the endpoint is reached. */
@Injectable()
class RefusingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const verdict = GUARD_SAYS.get(String(rawOf(context).headers['x-verdict']));
    return verdict ? verdict(context.switchToHttp().getResponse<AnyResponse>()) : true;
  }
}

const VERDICTS: readonly (readonly [string, number, string, string?])[] = [
  ['401', 401, 'Who are you?', 'Bearer'],
  ['401 with a challenge', 401, 'Unauthorized', 'Bearer realm="helpdesk"'],
  ['403', 403, 'Not you'],
  ['false', 403, 'Forbidden resource'],
  ['429', 429, 'Slow down'],
];

const BINDINGS = [
  ['APP_GUARD', {}, [RefusingGuard, { provide: APP_GUARD, useExisting: RefusingGuard }]],
  ['http.decorators', { decorators: [UseGuards(RefusingGuard)] }, [RefusingGuard]],
] as const;

describe.each(ADAPTERS)('guards of the endpoint on %s', (adapter) => {
  describe.each(BINDINGS)('bound by %s', (_by, http, providers) => {
    let running: RunningApp;
    const logs = new LogRecorder();

    beforeAll(async () => {
      const root = wireApp(
        { http: { ...http, decorators: 'decorators' in http ? [...http.decorators] : [] } },
        { providers: [...providers] },
      );
      running = await startApp(root, { adapter, logger: logs });
    });

    afterAll(() => running.close());

    it.each(
      VERDICTS.map(([verdict, status, message, challenge]) => ({ verdict, status, message, challenge })),
    )(
      'A3, M2, M6: $verdict is answered before anything is read',
      async ({ verdict, status, message, challenge }) => {
        logs.lines.splice(0);
        for (const method of ['POST', 'GET', 'DELETE']) {
          // What is announced never comes: an answer shows that nobody waits for it.
          const declared = method === 'POST' ? { 'content-length': '5000000' } : {};
          const answer = await exchange(
            running.url,
            requestWith({ 'x-verdict': verdict, ...declared }, method),
          );
          expect(answer.status).toBe(status);
          expect(answer.json).toEqual({ jsonrpc: '2.0', error: { code: -32600, message } });
          expect(answer.headers['content-type']).toMatch(/^application\/json/);
          expect(answer.headers['www-authenticate']).toBe(challenge);
        }
        expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
      },
    );

    it('tells nothing of a guard that breaks but in the log', async () => {
      logs.lines.splice(0);
      const answer = await exchange(running.url, requestWith({ 'x-verdict': 'broken' }));
      expect(answer.status).toBe(500);
      expect(answer.json).toEqual({ jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } });
      expect(logs.ofLevel('error')).toEqual([expect.stringContaining('canary of a guard')]);
    });

    it('lets everyone else through', async () => {
      const { status, result } = await callTool(running.mcp, 'hello');
      expect([status, textOf(result)]).toEqual([200, '{"greeting":"hello"}']);
    });
  });

  it('http.decorators: a mark of the application opens the endpoint to all', async () => {
    const Public = () => SetMetadata('is public', true) as ClassDecorator;

    @Injectable()
    class TokenGuard implements CanActivate {
      constructor(private readonly reflector: Reflector) {}

      canActivate(context: ExecutionContext): boolean {
        if (context.getType() !== 'http') return true;
        return (
          this.reflector.getAllAndOverride<boolean>('is public', [
            context.getHandler(),
            context.getClass(),
          ]) === true
        );
      }
    }

    const providers = [{ provide: APP_GUARD, useClass: TokenGuard }];
    const statuses: number[] = [];
    for (const decorators of [[], [Public()]]) {
      const running = await startApp(wireApp({ http: { decorators } }, { providers }), { adapter });
      statuses.push((await callTool(running.mcp, 'hello')).status);
      await running.close();
    }
    expect(statuses).toEqual([403, 200]);
  });
});

import { Injectable, type CanActivate, type ExecutionContext, UnauthorizedException } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mcpCors } from 'nest-mcp';
import { listenOverHttp, openGet } from '../features/open-stream.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, openSession, replyOf, type Json } from '../support/wire.js';
import { exchange, rawRequest } from './raw-connection.js';
import { HeldCalls, LogRecorder, wireApp } from './wire.app.js';

/** May call, and CORS knows it. */
const PAGE = 'https://app.example';
/** CORS alone knows it. */
const HALF = 'https://half.example';
/** Nobody knows it. */
const STRANGER = 'https://evil.example';

const TOKEN = { authorization: 'Bearer helpdesk' };
const STEPS = { name: 'steps', arguments: { count: 1 }, _meta: { progressToken: 1 } };
const EXPOSED = 'Mcp-Session-Id,WWW-Authenticate';
const SENT = [
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'mcp-param-x',
  'authorization',
  'last-event-id',
];

/** Lets nobody pass without the token, and counts who asked. */
@Injectable()
class TokenGuard implements CanActivate {
  readonly seen: string[] = [];

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<IncomingMessage & { raw?: IncomingMessage }>();
    const { method = '', headers } = request.raw ?? request;
    this.seen.push(method);
    if (headers.authorization !== TOKEN.authorization) throw new UnauthorizedException();
    return true;
  }
}

const guarded = { providers: [TokenGuard, { provide: APP_GUARD, useExisting: TokenGuard }] };
const http = { allowedOrigins: [PAGE] };

const list = (text: string | undefined) => (text ?? '').split(',').map((name) => name.trim());

/** What a browser asks before it sends what a page wants to. It has no token at hand. */
async function preflight(
  { url }: RunningApp,
  origin: string,
  { host = 'localhost', method = 'POST' }: { host?: string; method?: string } = {},
) {
  const headers = [
    ['host', host],
    ['origin', origin],
    ['access-control-request-method', method],
    ['access-control-request-headers', SENT.join(',')],
  ] as const;
  const answer = await exchange(url, rawRequest('OPTIONS', '/mcp', headers));
  const { 'access-control-allow-origin': allowed, allow } = answer.headers;
  return {
    status: answer.status,
    code: (answer.json['error'] as { code: number } | undefined)?.code,
    origin: allowed,
    allow,
    methods: list(answer.headers['access-control-allow-methods']),
    headers: list(answer.headers['access-control-allow-headers']),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
}

/** What a page, or a cache on the way to it, is told by an answer. */
const corsOf = ({ headers }: Answer) => ({
  origin: headers.get('access-control-allow-origin'),
  varies: list(headers.get('vary') ?? '').includes('Origin'),
  exposed: list(headers.get('access-control-expose-headers') ?? '').join(','),
});

/** What fails says its status; its body is nobody's here. */
async function send(url: string, method: string, headers: Record<string, string>): Promise<Answer> {
  return replyOf(await fetch(url, { method, headers }));
}

describe.each(ADAPTERS)('CORS on %s', (adapter) => {
  const page = { origin: PAGE, ...TOKEN };
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let guard: TokenGuard;

  beforeAll(async () => {
    const limits = { body: 10_000, inFlight: 1 };
    running = await startApp(wireApp({ http, limits }, guarded), {
      adapter,
      logger: logs,
      configure: (app) => app.enableCors(mcpCors({ origin: [PAGE, HALF] })),
    });
    guard = running.app.get(TokenGuard);
  });

  beforeEach(() => void guard.seen.splice(0));

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  describe('preflight', () => {
    it.each(['POST', 'GET', 'DELETE'])(
      'D13: is answered for %s with every header, without a token and a guard',
      async (method) => {
        const answer = await preflight(running, PAGE, { method });
        expect(answer).toMatchObject({ status: 204, origin: PAGE });
        expect(answer.methods).toEqual(['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE']);
        expect(answer.headers).toEqual(SENT);
        expect(guard.seen).toEqual([]);
      },
    );

    it('D13: is answered by CORS alone, whatever the endpoint thinks of host and origin', async () => {
      expect(await preflight(running, HALF)).toMatchObject({ status: 204, origin: HALF });
      expect(await preflight(running, STRANGER)).toMatchObject({ status: 204, origin: undefined });
      const host = 'proxy.example';
      expect(await preflight(running, PAGE, { host })).toMatchObject({ status: 204, origin: PAGE });
      expect(guard.seen).toEqual([]);
    });
  });

  it('D12: tells a page of the session id on the true answer', async () => {
    const { initialized, id } = await openSession(running.mcp, '2025-11-25', page);
    expect(corsOf(initialized)).toEqual({ origin: PAGE, varies: true, exposed: EXPOSED });
    expect([initialized.status, id]).toEqual([200, expect.stringMatching(/^[\w-]{22,}$/)]);
  });

  it('D12: tells a page of the challenge of a 401', async () => {
    const refused = await callTool(running.mcp, 'hello', {}, { origin: PAGE });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(corsOf(refused)).toEqual({ origin: PAGE, varies: true, exposed: EXPOSED });
  });

  const session = () => openSession(running.mcp, '2025-11-25', page);
  const call = (args: Json, headers: Record<string, string>) =>
    callTool(running.mcp, 'echo', args, { ...page, ...headers });

  const answers: readonly (readonly [string, number, string | null, () => Promise<Answer>])[] = [
    ['plain JSON', 200, 'application/json', () => call({ text: 'a' }, {})],
    ['a stream', 200, 'text/event-stream', () => modern(running.mcp, 'tools/call', STEPS, page)],
    [
      'a stream in a session',
      200,
      'text/event-stream',
      async () => (await session()).request('tools/call', STEPS),
    ],
    ['a notification', 202, null, async () => (await session()).notify('notifications/initialized')],
    [
      'the end of a session',
      204,
      null,
      async () => send(running.mcp, 'DELETE', { ...page, 'mcp-session-id': (await session()).id }),
    ],
    ['a header that differs', 400, 'application/json', () => call({ text: 'a' }, { 'mcp-name': 'other' })],
    ['a guard', 401, 'application/json', () => call({ text: 'a' }, { authorization: 'none' })],
    [
      'an unknown session',
      404,
      'application/json',
      () => send(running.mcp, 'DELETE', { ...page, 'mcp-session-id': 'unknown' }),
    ],
    ['another method', 405, 'application/json', () => send(running.mcp, 'PUT', page)],
    ['what a client does not take', 406, 'application/json', () => call({ text: 'a' }, { accept: 'a/b' })],
    ['a large body', 413, 'application/json', () => call({ text: 'a'.repeat(10_000) }, {})],
    ['another media type', 415, 'application/json', () => call({}, { 'content-type': 'text/plain' })],
  ];

  it.each(answers)('A15: is on the answer to %s, %d', async (_, status, type, ask) => {
    const answer = await ask();
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0] ?? null]).toEqual([
      status,
      type,
    ]);
    expect(corsOf(answer)).toEqual({ origin: PAGE, varies: true, exposed: EXPOSED });
  });

  it('A15: is on a 503', async () => {
    const held = running.app.get(HeldCalls).of('the only one');
    const first = callTool(running.mcp, 'hold', { key: 'the only one' }, page);
    await held.started;
    const refused = await call({ text: 'a' }, {});
    held.release();
    expect([refused.status, (await first).status]).toEqual([503, 200]);
    expect(corsOf(refused)).toEqual({ origin: PAGE, varies: true, exposed: EXPOSED });
  });

  it('A15: is on streams that wait for changes', async () => {
    const streams = [
      await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic, { headers: page }),
      await openGet(running.mcp, await session(), traffic, '2025-11-25', page),
    ];
    await streams[0]!.count(1);
    for (const stream of streams) {
      const headers = new Headers(stream.headers as Record<string, string>);
      expect([stream.status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(corsOf({ status: stream.status, headers })).toEqual({
        origin: PAGE,
        varies: true,
        exposed: EXPOSED,
      });
      await stream.close();
    }
  });

  it.each([
    ['that CORS knows and http.allowedOrigins does not can read why', HALF, HALF],
    ['that nobody knows reads nothing', STRANGER, null],
  ])('M7: a page %s: 403', async (_, origin, allowed) => {
    const refused = await callTool(running.mcp, 'hello', {}, { ...TOKEN, origin });
    expect([refused.status, refused.error]).toEqual([
      403,
      {
        code: -32600,
        message:
          "Forbidden: this Origin is not allowed; the server's operator lists web pages in http.allowedOrigins of McpModule",
      },
    ]);
    expect(corsOf(refused)).toEqual({ origin: allowed, varies: true, exposed: EXPOSED });
    expect(guard.seen).toEqual([]);
  });

  it('H7: logs no refusal as an error', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

describe.each(ADAPTERS)('other options of CORS on %s', (adapter) => {
  async function withCors<T>(options: object | undefined, ask: (running: RunningApp) => Promise<T>) {
    const running = await startApp(wireApp({ http }, guarded), {
      adapter,
      configure: (app) => {
        if (options) app.enableCors(options);
      },
    });
    try {
      return { told: await ask(running), seen: running.app.get(TokenGuard).seen };
    } finally {
      await running.close();
    }
  }

  const streamTo = (running: RunningApp, origin = PAGE) =>
    modern(running.mcp, 'tools/call', STEPS, { ...TOKEN, origin });

  it('D13: without any, the endpoint answers a preflight: 405, and 403 to whom it does not know', async () => {
    const { told, seen } = await withCors(undefined, async (running) => [
      await preflight(running, STRANGER),
      await preflight(running, PAGE, { host: 'evil.example' }),
    ]);
    for (const answer of told)
      expect(answer).toMatchObject({ status: 403, code: -32600, origin: undefined, allow: undefined });
    expect(seen).toEqual([]);
  });

  it('A15: one origin as text', async () => {
    const { told } = await withCors(mcpCors({ origin: PAGE }), (running) => streamTo(running));
    expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(corsOf(told)).toEqual({ origin: PAGE, varies: true, exposed: EXPOSED });
  });

  it('A15: all origins, which http.allowedOrigins narrows', async () => {
    const { told } = await withCors(mcpCors(), async (running) => [
      await streamTo(running),
      await streamTo(running, STRANGER),
    ]);
    expect(told.map(({ status }) => status)).toEqual([200, 403]);
    for (const answer of told) expect(corsOf(answer)).toMatchObject({ origin: '*', exposed: EXPOSED });
  });

  it("A15: the application's own, without mcpCors()", async () => {
    const own = { origin: [PAGE], exposedHeaders: ['X-Total'] };
    const { told } = await withCors(own, (running) => streamTo(running));
    expect(corsOf(told)).toEqual({ origin: PAGE, varies: true, exposed: 'X-Total' });
  });

  it('D12, D13: a delegate that calls mcpCors()', async () => {
    const delegate = (_request: unknown, give: (error: null, options: object) => void) =>
      give(null, mcpCors({ origin: [PAGE], exposedHeaders: 'X-Total' }));
    const { told } = await withCors(delegate, async (running) => ({
      asked: await preflight(running, PAGE),
      streamed: await streamTo(running),
    }));
    expect(told.asked).toMatchObject({ status: 204, origin: PAGE, headers: SENT });
    expect(corsOf(told.streamed)).toEqual({ origin: PAGE, varies: true, exposed: `X-Total,${EXPOSED}` });
  });

  it("D13: a list of the application's own headers and methods", async () => {
    const options = mcpCors({
      origin: [PAGE],
      methods: 'GET',
      allowedHeaders: ['X-Staff', 'Mcp-Param-Region'],
    });
    const { told } = await withCors(options, (running) => preflight(running, PAGE));
    expect(told.methods).toEqual(['GET', 'POST', 'DELETE']);
    expect(told.headers.map((name) => name.toLowerCase()).toSorted()).toEqual(
      ['accept', 'mcp-param-region', 'x-staff', ...SENT.filter((name) => name !== 'mcp-param-x')].toSorted(),
    );
  });

  it('M7: a function that denies an origin leaves it to the endpoint: 403, no guard asked', async () => {
    const origin = (asked: string | undefined, answer: (error: null, isAllowed: boolean) => void) =>
      answer(null, asked === PAGE);
    const { told, seen } = await withCors(mcpCors({ origin }), async (running) => ({
      denied: [(await preflight(running, STRANGER)).status, (await streamTo(running, STRANGER)).status],
      allowed: [(await preflight(running, PAGE)).status, (await streamTo(running)).status],
    }));
    expect(told).toEqual({ denied: [403, 403], allowed: [204, 200] });
    expect(seen).toEqual(['POST']);
  });

  it('M7: a function that fails for an origin lets nobody in', async () => {
    const origin = (asked: string | undefined, answer: (error: Error | null, isAllowed?: boolean) => void) =>
      asked === PAGE ? answer(null, true) : answer(new Error('Not allowed by CORS'));
    const { told, seen } = await withCors(mcpCors({ origin }), async (running) => [
      (await streamTo(running, STRANGER)).status,
      (await streamTo(running)).status,
    ]);
    // Nothing can come before CORS on Fastify, so the application's own answer to a failure stands there.
    expect(told).toEqual([adapter === 'express' ? 403 : 500, 200]);
    expect(seen).toEqual(['POST']);
  });
});

/** Express's response or Fastify's reply. */
interface AnyResponse {
  header(name: string, value: string): unknown;
}

/** Only what is used of a Fastify instance here. */
interface HookedFastify {
  addHook(
    name: 'onRequest' | 'onSend',
    hook: (request: unknown, reply: AnyResponse, ...rest: unknown[]) => Promise<void>,
  ): void;
}

describe.each(ADAPTERS)('headers that the application sets on every answer on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(wireApp({ limits: { body: 10_000 } }), {
      adapter,
      configure: (app) => {
        app.use((_request: unknown, response: ServerResponse, next: () => void) => {
          response.setHeader('x-before', 'yes');
          next();
        });
        if (adapter === 'express') return;
        const fastify = app.getHttpAdapter().getInstance() as HookedFastify;
        fastify.addHook('onRequest', async (_request, reply) => void reply.header('x-hooked', 'yes'));
        fastify.addHook('onSend', async (_request, reply) => void reply.header('x-sent', 'yes'));
      },
    });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('A14: are on plain JSON, a 202, refusals and streams', async () => {
    const session = await openSession(running.mcp);
    const whole = [
      await callTool(running.mcp, 'hello'),
      await session.notify('notifications/initialized'),
      await callTool(running.mcp, 'hello', {}, { 'mcp-name': 'other' }),
      await callTool(running.mcp, 'hello', {}, { origin: STRANGER }),
    ];
    expect(whole.map(({ status }) => status)).toEqual([200, 202, 400, 403]);
    const tooLarge = await callTool(running.mcp, 'echo', { text: 'x'.repeat(10_000) });
    const streamed = await modern(running.mcp, 'tools/call', STEPS);
    expect([tooLarge.status, streamed.headers.get('content-type')]).toEqual([413, 'text/event-stream']);
    const waiting = [
      await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic),
      await openGet(running.mcp, session, traffic),
    ];
    await waiting[0]!.count(1);
    const opened = waiting.map(({ headers }) => new Headers(headers as Record<string, string>));
    for (const stream of waiting) await stream.close();

    const first = [...whole, tooLarge, streamed].map(({ headers }) => headers).concat(opened);
    expect(first.map((headers) => headers.get('x-before'))).toEqual(first.map(() => 'yes'));
    if (adapter === 'express') return;
    expect(first.map((headers) => headers.get('x-hooked'))).toEqual(first.map(() => 'yes'));
    expect(whole.map(({ headers }) => headers.get('x-sent'))).toEqual(whole.map(() => 'yes'));
  });
});

import {
  Controller,
  Injectable,
  Post,
  Req,
  VersioningType,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import express from 'express';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ADAPTERS, startApp, type AdapterName, type AppOptions, type RunningApp } from '../support/app.js';
import { callTool, modernHeaders, modernMessage, textOf, type Json } from '../support/wire.js';
import { exchange, RawConnection, rawRequest, type RawAnswer } from './raw-connection.js';
import { LogRecorder, wireApp } from './wire.app.js';

const LIMIT = 64 * 1024;
const LIMITS = { body: LIMIT, bodyTime: 300 };

interface SeenRequest extends IncomingMessage {
  raw?: IncomingMessage;
  body?: unknown;
  rawBody?: Buffer;
}

interface Sighting {
  readonly method: string | undefined;
  readonly wasRead: boolean;
  readonly body: unknown;
  readonly rawBody: Buffer | undefined;
  readonly contentLength: string | undefined;
  readonly contentType: string | undefined;
}

/** A guard of the whole application: notes what it sees of each request to the endpoint, and may refuse it. */
@Injectable()
class RecordingGuard implements CanActivate {
  readonly sightings: Sighting[] = [];
  /** Resolves with the first request after `expectOne()`. */
  sighted: Promise<void>;
  private onSight: (() => void) | undefined;

  expectOne(): void {
    this.sighted = new Promise((resolve) => (this.onSight = resolve));
  }

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<SeenRequest>();
    const raw = request.raw ?? request;
    this.sightings.push({
      method: raw.method,
      wasRead: raw.readableDidRead,
      body: request.body,
      rawBody: request.rawBody,
      contentLength: raw.headers['content-length'],
      contentType: raw.headers['content-type'],
    });
    this.onSight?.();
    return raw.headers['x-refused'] === undefined;
  }
}

@Controller('plain')
class PlainController {
  @Post()
  echo(@Req() request: SeenRequest): unknown {
    return { body: request.body };
  }
}

const isExpress = (adapter: AdapterName, app: INestApplication): app is NestExpressApplication =>
  adapter === 'express' && 'useBodyParser' in app;

/** How an application may have set up its body parsers; none of it may matter to the endpoint. */
const SETTINGS: {
  name: string;
  path: string;
  options: AppOptions;
  configure?: (app: INestApplication, adapter: AdapterName) => void;
  /** A route of the application, and what its own parsers make of 24 bytes there. */
  plain?: readonly [path: string, status: number];
}[] = [
  { name: 'by default', path: '/mcp', options: {}, plain: ['/plain', 201] },
  // Nest leaves the parsing of other routes to the adapter then, and the two differ.
  { name: 'with bodyParser: false', path: '/mcp', options: { bodyParser: false } },
  {
    name: 'with rawBody, CORS, a prefix and versions',
    path: '/api/mcp',
    options: { rawBody: true, cors: true },
    plain: ['/api/v1/plain', 201],
    configure: (app) => {
      app.setGlobalPrefix('api');
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
    },
  },
  {
    name: 'with parsers of 10 bytes for every type',
    path: '/mcp',
    options: {},
    plain: ['/plain', 413],
    configure: (app, adapter) => {
      if (isExpress(adapter, app)) {
        app.useBodyParser('json', { type: () => true, limit: 10 });
        app.useBodyParser('text', { type: () => true, limit: 10 });
        app.useBodyParser('raw', { type: () => true, limit: 10 });
        return;
      }
      const fastify = app as NestFastifyApplication;
      fastify.useBodyParser('application/json', { bodyLimit: 10 });
      fastify.useBodyParser('*', { bodyLimit: 10 });
    },
  },
];

interface MatrixRequest {
  readonly name: string;
  readonly method?: string;
  readonly query?: string;
  /** Replaces the usual headers of a good call; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
  readonly status: number;
  readonly code?: number;
  /** Expected beginning of the tool's text. */
  readonly text?: string;
  readonly hasId?: boolean;
  readonly closes?: boolean;
  readonly isInformedFirst?: boolean;
}

const PARAMS = (text: string) => ({ name: 'echo', arguments: { text } });
const good = (text = 'hi') => JSON.stringify(modernMessage('tools/call', PARAMS(text)));
/** A good call of exactly that many bytes. */
const ofSize = (bytes: number) => good('x'.repeat(bytes - good('').length));
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const invalidUtf8 = Buffer.from(good('?').replace('?', '\xff'), 'latin1');
const json = (type: string | undefined) => ({ 'content-type': type });
const CHUNKED = { 'content-length': undefined, 'transfer-encoding': 'chunked' };

const MATRIX: MatrixRequest[] = [
  { name: 'a good call', status: 200, text: 'hi' },
  { name: 'a chunked call', headers: CHUNKED, body: chunked(good()), status: 200, text: 'hi' },
  { name: 'a call of 60 KB', body: ofSize(60_000), status: 200, text: 'xxx' },
  { name: 'a call of exactly the limit', body: ofSize(LIMIT), status: 200, text: 'xxx' },
  {
    name: 'arguments with __proto__',
    body: good().replace('"text":', '"__proto__":{"polluted":1},"text":'),
    status: 200,
    text: 'Invalid arguments for echo',
  },
  { name: 'a scalar', body: '42', status: 400, code: -32600 },
  { name: 'an array', body: `[${good()}]`, status: 400, code: -32600 },
  {
    name: 'Expect: 100-continue',
    headers: { expect: '100-continue' },
    status: 200,
    text: 'hi',
    isInformedFirst: true,
  },
  { name: 'half a JSON text', body: '{"a":', status: 400, code: -32700 },
  { name: 'a byte order mark', body: `\ufeff${good()}`, status: 400, code: -32700 },
  { name: 'length 0', body: '', status: 400, code: -32700 },
  { name: 'no length', headers: { 'content-length': undefined }, body: '', status: 400, code: -32700 },
  {
    name: '99 MB declared and nothing sent',
    headers: { 'content-length': '99000000' },
    body: '',
    status: 413,
    code: -32600,
    closes: true,
  },
  { name: 'one byte over the limit', body: ofSize(LIMIT + 1), status: 413, code: -32600, closes: true },
  {
    name: 'chunks without end',
    headers: CHUNKED,
    body: `${(LIMIT * 2).toString(16)}\r\n${'x'.repeat(LIMIT * 2)}\r\n`,
    status: 413,
    code: -32600,
    closes: true,
  },
  { name: 'text/plain', headers: json('text/plain'), status: 415, code: -32600 },
  {
    name: 'text/plain with application/json as a parameter',
    headers: json('text/plain; a=application/json'),
    status: 415,
    code: -32600,
  },
  {
    name: 'Application/JSON; charset=utf-8',
    headers: json('Application/JSON; charset=utf-8'),
    status: 200,
    text: 'hi',
  },
  { name: 'no media type', headers: json(undefined), status: 415, code: -32600 },
  { name: 'application/json;', headers: json('application/json;'), status: 200, text: 'hi' },
  { name: 'the media type ;;=/', headers: json(';;=/'), status: 415, code: -32600 },
  { name: 'application/jsonx', headers: json('application/jsonx'), status: 415, code: -32600 },
  { name: 'UTF-16', headers: json('application/json; charset=utf-16'), status: 415, code: -32600 },
  { name: 'a form', headers: json('application/x-www-form-urlencoded'), status: 415, code: -32600 },
  { name: 'multipart', headers: json('multipart/form-data; boundary=x'), status: 415, code: -32600 },
  { name: 'invalid UTF-8', body: invalidUtf8, status: 400, code: -32700 },
  {
    name: 'gzip',
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(good()),
    status: 415,
    code: -32600,
  },
  { name: 'identity', headers: { 'content-encoding': 'identity' }, status: 200, text: 'hi' },
  {
    name: '3 of 10 bytes, then silence',
    headers: { 'content-length': '10' },
    body: '{"a',
    status: 408,
    code: -32600,
    closes: true,
  },
  {
    name: 'a refusal by a guard, 5 MB declared',
    headers: { 'x-refused': 'yes', 'content-length': '5000000' },
    body: '{"jsonrpc"',
    status: 403,
    code: -32600,
    closes: true,
  },
  {
    name: 'a refusal by a guard, body small',
    headers: { 'x-refused': 'yes' },
    status: 403,
    code: -32600,
  },
  {
    name: 'GET',
    method: 'GET',
    headers: { 'content-length': undefined },
    body: '',
    status: 400,
    code: -32600,
  },
  { name: 'GET with a body', method: 'GET', status: 400, code: -32600 },
  { name: 'HEAD', method: 'HEAD', headers: { 'content-length': undefined }, body: '', status: 405 },
  { name: 'PUT', method: 'PUT', status: 405, code: -32600 },
  { name: 'PATCH', method: 'PATCH', status: 405, code: -32600 },
  {
    name: 'TRACE',
    method: 'TRACE',
    headers: { 'content-length': undefined },
    body: '',
    status: 405,
    code: -32600,
  },
  { name: 'PROPFIND', method: 'PROPFIND', status: 405, code: -32600 },
  { name: 'DELETE', method: 'DELETE', status: 400, code: -32600 },
  { name: 'DELETE with text', method: 'DELETE', headers: json('text/plain'), status: 400, code: -32600 },
  { name: 'a query', query: '?a=1', status: 200, text: 'hi' },
];

function bytesOf(path: string, request: MatrixRequest): Buffer {
  const { method = 'POST', query = '', body = good() } = request;
  const headers: Record<string, string | undefined> = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'application/json, text/event-stream',
    ...modernHeaders('tools/call', PARAMS('')),
    ...request.headers,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return rawRequest(method, path + query, given, body);
}

const errorOf = (answer: RawAnswer) =>
  (JSON.parse(answer.text) as { id?: unknown; error: { code: number; message: string } }).error;

describe.each(ADAPTERS)('what comes as a body, on %s', (adapter) => {
  describe.each(SETTINGS)(
    'with the parsers of an application $name',
    ({ path, options, configure, plain }) => {
      let running: RunningApp;
      let guard: RecordingGuard;
      let endpoint: string;

      beforeAll(async () => {
        const root = wireApp(
          { limits: LIMITS },
          {
            providers: [RecordingGuard, { provide: APP_GUARD, useExisting: RecordingGuard }],
            controllers: [PlainController],
          },
        );
        running = await startApp(root, {
          adapter,
          ...options,
          configure: (app) => configure?.(app, adapter),
        });
        guard = running.app.get(RecordingGuard);
        endpoint = running.url + path;
      });

      beforeEach(() => void guard.sightings.splice(0));
      afterAll(() => running.close());

      it('leaves the bodies of other routes to those parsers', async () => {
        if (!plain) return;
        const response = await fetch(running.url + plain[0], {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"a":"0123456789abcdef"}',
        });
        expect(response.status).toBe(plain[1]);
        if (response.ok) expect(await response.json()).toEqual({ body: { a: '0123456789abcdef' } });
      });

      it.each(MATRIX)('A17, A18, D3: $name: $status', async (request) => {
        const isHead = request.method === 'HEAD';
        const connection = await RawConnection.open(running.url);
        connection.write(bytesOf(path, request));
        if (request.isInformedFirst) expect((await connection.answer()).status).toBe(100);
        const answer = await connection.answer(isHead);
        connection.destroy();

        expect(answer.status).toBe(request.status);
        // Fastify names the charset, which JSON does not need.
        expect(answer.headers['content-type']?.replace('; charset=utf-8', '')).toBe('application/json');
        expect(answer.headers['connection'] === 'close').toBe(request.closes === true);
        if (request.status === 405) expect(answer.headers['allow']).toBe('GET, POST, DELETE');
        if (request.code !== undefined) {
          expect(errorOf(answer).code).toBe(request.code);
          expect(JSON.parse(answer.text)).not.toHaveProperty('id');
          expect(answer.text).not.toContain('    at ');
        }
        if (request.text !== undefined) {
          const { id, result } = JSON.parse(answer.text) as { id: number; result: Json };
          expect(id).toBe(1);
          expect(textOf(result).startsWith(request.text)).toBe(true);
        }

        // The guard saw the request as it came and the body unread.
        expect(guard.sightings).toHaveLength(1);
        expect(guard.sightings[0]).toMatchObject({ method: request.method ?? 'POST', wasRead: false });
        if ((request.method ?? 'POST') === 'POST') {
          expect(guard.sightings[0]!.rawBody).toBeUndefined();
          const declared = /\r\ncontent-length: (\d+)/.exec(bytesOf(path, request).toString('latin1'))?.[1];
          expect(guard.sightings[0]!.contentLength).toBe(declared);
        }

        const { status, result } = await callTool(endpoint, 'hello');
        expect([status, result['structuredContent']]).toEqual([200, { greeting: 'hello' }]);
      });
    },
  );

  describe('at the edges', () => {
    let running: RunningApp;
    let guard: RecordingGuard;

    beforeAll(async () => {
      const root = wireApp(
        { limits: LIMITS },
        { providers: [RecordingGuard, { provide: APP_GUARD, useExisting: RecordingGuard }] },
      );
      running = await startApp(root, { adapter });
      guard = running.app.get(RecordingGuard);
    });

    afterAll(() => running.close());

    it.each([
      ['413', {}, 413],
      ['403', { 'x-refused': 'yes' }, 403],
    ])('lets a client that still writes read its %s', async (_name, headers, status) => {
      const connection = await RawConnection.open(running.url);
      connection.write(
        bytesOf('/mcp', { name: '', headers: { 'content-length': '3000000', ...headers }, body: '', status }),
      );
      for (let sent = 0; sent < 3_000_000; sent += 100_000) connection.write('x'.repeat(100_000));
      const answer = await connection.answer();
      expect([answer.status, errorOf(answer).code]).toEqual([status, -32600]);
      await connection.closed;
    });

    it('answers 20 pipelined requests in order', async () => {
      const connection = await RawConnection.open(running.url);
      const ids = Array.from({ length: 20 }, (_, index) => index);
      connection.write(
        Buffer.concat(
          ids.map((id) => {
            const body = JSON.stringify(modernMessage('tools/call', PARAMS(`text ${id}`), id));
            return bytesOf('/mcp', { name: '', body, status: 200 });
          }),
        ),
      );
      for (const id of ids) {
        const { result, ...message } = JSON.parse((await connection.answer()).text) as Json;
        expect([message['id'], textOf(result as Json)]).toEqual([id, `text ${id}`]);
      }
      connection.destroy();
    });

    it('keeps the connection after a refusal whose body is small', async () => {
      const connection = await RawConnection.open(running.url);
      const refused: Partial<MatrixRequest>[] = [
        { headers: json('text/plain') },
        { headers: { 'x-refused': 'yes' } },
        { headers: { 'content-encoding': 'gzip' } },
        { body: '{' },
        { method: 'PUT' },
        { headers: { host: 'evil.example' } },
      ];
      for (const request of refused) {
        connection.write(bytesOf('/mcp', { name: '', status: 0, ...request }));
        expect((await connection.answer()).status).toBeGreaterThanOrEqual(400);
        connection.write(bytesOf('/mcp', { name: '', status: 200 }));
        expect((await connection.answer()).status).toBe(200);
      }
      connection.destroy();
    });

    it.each([
      ['a broken chunk', { headers: CHUNKED, body: 'zz\r\n{}\r\n' }],
      ['length and chunks together', { headers: { 'transfer-encoding': 'chunked' } }],
      ['a negative length', { headers: { 'content-length': '-1' } }],
      ['two lengths', { headers: { 'content-length': '5', 'Content-Length': '7' } }],
      ['headers beyond 16 KiB', { headers: { 'x-long': 'x'.repeat(20_000) } }],
    ])('closes the connection after %s and serves on', async (_name, request) => {
      const before = guard.sightings.length;
      const connection = await RawConnection.open(running.url);
      connection.write(bytesOf('/mcp', { name: '', status: 400, ...request }));
      const answer = await connection.answer().catch(() => undefined);
      if (answer) expect([400, 431]).toContain(answer.status);
      await connection.closed;
      expect(guard.sightings.length - before).toBeLessThanOrEqual(1);
      expect((await callTool(running.mcp, 'hello')).status).toBe(200);
    });

    it('F3: runs nothing for a client that vanishes within its body', async () => {
      guard.expectOne();
      const connection = await RawConnection.open(running.url);
      connection.write(
        bytesOf('/mcp', { name: '', headers: { 'content-length': '1000' }, body: '{"jsonrpc"', status: 0 }),
      );
      await guard.sighted;
      connection.destroy();
      await connection.closed;
      expect((await callTool(running.mcp, 'hello')).status).toBe(200);
    });
  });

  describe("with http.readBody: 'before-guards'", () => {
    let running: RunningApp;
    let guard: RecordingGuard;

    beforeAll(async () => {
      const root = wireApp(
        { limits: LIMITS, http: { readBody: 'before-guards' } },
        { providers: [RecordingGuard, { provide: APP_GUARD, useExisting: RecordingGuard }] },
      );
      running = await startApp(root, { adapter, rawBody: true });
      guard = running.app.get(RecordingGuard);
    });

    beforeEach(() => void guard.sightings.splice(0));
    afterAll(() => running.close());

    it('gives the guard the bytes and the value', async () => {
      await exchange(running.url, bytesOf('/mcp', { name: '', status: 200 }));
      const [seen] = guard.sightings;
      const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
      expect(digest(seen!.rawBody!)).toBe(digest(good()));
      expect(seen!.body).toEqual(JSON.parse(good()));
    });

    it.each(MATRIX.filter(({ name }) => !name.startsWith('a refusal by a guard')))(
      'answers $name as in the other order: $status',
      async (request) => {
        const connection = await RawConnection.open(running.url);
        connection.write(bytesOf('/mcp', request));
        if (request.isInformedFirst) await connection.answer();
        const answer = await connection.answer(request.method === 'HEAD');
        connection.destroy();
        expect(answer.status).toBe(request.status);
        if (request.code !== undefined) expect(errorOf(answer).code).toBe(request.code);
        expect(answer.headers['connection'] === 'close').toBe(request.closes === true);
        expect(guard.sightings).toHaveLength(1);
      },
    );

    it('lets the guard speak before what is wrong with the body is told', async () => {
      for (const request of [{ body: '{' }, { headers: json('text/plain') }, {}]) {
        const headers = { ...request.headers, 'x-refused': 'yes' };
        const answer = await exchange(
          running.url,
          bytesOf('/mcp', { name: '', status: 403, ...request, headers }),
        );
        expect([answer.status, errorOf(answer).code]).toEqual([403, -32600]);
      }
    });
  });
});

describe('a body that something on the adapter itself has read', () => {
  it('answers 500 as JSON, says so in the log, and does not hang', async () => {
    const logs = new LogRecorder();
    const outer = express();
    outer.use(express.json());
    const app = await NestFactory.create(wireApp(), new ExpressAdapter(outer), {
      logger: logs,
      abortOnError: false,
    });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const answer = await exchange(`http://127.0.0.1:${port}`, bytesOf('/mcp', { name: '', status: 500 }));
    await app.close();
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      error: {
        code: -32603,
        message: 'Internal error: the body was read before it reached the MCP endpoint',
      },
    });
    expect(logs.ofLevel('error')).toEqual([expect.stringContaining('found its body read already')]);
  });
});

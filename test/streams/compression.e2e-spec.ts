import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import compression from 'compression';
import fastifyCompress from '@fastify/compress';
import { HeldCalls, wireApp } from '../http/wire.app.js';
import { startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, openSession, type Json } from '../support/wire.js';
import { callOf, strictMessages } from './post-stream.js';

type Next = () => void;

/** Takes away what asks for streams to be left alone, as a careless proxy or middleware would. */
function forgetNoTransform(_request: IncomingMessage, response: ServerResponse, next: Next): void {
  const writeHead = response.writeHead.bind(response) as (status: number, headers: unknown) => ServerResponse;
  response.writeHead = ((status: number, headers: Record<string, string> = {}) =>
    writeHead(
      status,
      'cache-control' in headers ? { ...headers, 'cache-control': 'no-cache' } : headers,
    )) as never;
  next();
}

const KINDS: [string, AdapterName, isStreamEncoded: boolean, (app: INestApplication) => unknown][] = [
  ['compression()', 'express', false, (app) => app.use(compression({ threshold: 0 }))],
  [
    'compression() of everything',
    'express',
    false,
    (app) => app.use(compression({ threshold: 0, filter: () => true })),
  ],
  [
    'compression() that is not told to leave streams alone',
    'express',
    true,
    (app) => (app as NestExpressApplication).use(compression({ threshold: 0 }), forgetNoTransform),
  ],
  [
    '@fastify/compress',
    'fastify',
    false,
    (app) => (app as NestFastifyApplication).register(fastifyCompress as never, { threshold: 0 }),
  ],
  [
    'compression() under Fastify, not told to leave streams alone',
    'fastify',
    true,
    (app) => {
      app.use(compression({ threshold: 0 }));
      app.use(forgetNoTransform);
    },
  ],
];

/** A client that takes compressed answers, and what it could read of them so far. */
class Unpacked {
  text = '';
  readonly end: Promise<unknown>;
  private wake: Next | undefined;

  private constructor(readonly response: IncomingMessage) {
    const isPacked = response.headers['content-encoding'] === 'gzip';
    const source = isPacked ? response.pipe(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })) : response;
    source.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
      this.wake?.();
    });
    this.end = once(source, 'end');
  }

  static async open(url: string, method: string, headers: Record<string, string>, body?: string) {
    const sent = request(url, { method, agent: false, headers: { 'accept-encoding': 'gzip', ...headers } });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return new Unpacked(response);
  }

  async until(wanted: string): Promise<void> {
    while (!this.text.includes(wanted)) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

describe.each(KINDS)('under %s, on %s', (_what, adapter, isStreamEncoded, configure) => {
  const traffic = new Traffic();
  const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let running: RunningApp;
  let held: HeldCalls;

  beforeAll(async () => {
    running = await startApp(wireApp({ http: { keepAlive: 1 } }), {
      adapter,
      configure: async (app) => void (await configure(app)),
    });
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('a plain answer is compressed, so it is there', async () => {
    const headers = { ...both, ...modernHeaders('tools/list') };
    const body = JSON.stringify(modernMessage('tools/list'));
    const response = await new Promise<IncomingMessage>((resolve) => {
      const options = {
        method: 'POST',
        agent: false,
        headers: { ...headers, 'accept-encoding': 'gzip' },
      } as const;
      request(running.mcp, options, resolve).end(body);
    });
    expect([response.statusCode, response.headers['content-encoding']]).toEqual([200, 'gzip']);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const message = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString()) as Json;
    traffic.observe(message, '2026-07-28', 'tools/list');
    expect(message).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  });

  it('each event arrives while the call waits for the next one to be sent', async () => {
    const session = await openSession(running.mcp);
    const params = (key: string) => callOf('hold', { key }, 'p');
    const asked = [
      ['m', modernHeaders('tools/call', params('m')), modernMessage('tools/call', params('m'))],
      [
        'l',
        { 'mcp-session-id': session.id },
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('l') },
      ],
    ] as const;
    for (const [key, headers, message] of asked) {
      const opening = Unpacked.open(running.mcp, 'POST', { ...both, ...headers }, JSON.stringify(message));
      const context = await held.of(key).started;
      await context.progress(1);
      const stream = await opening;
      expect(stream.response.headers['content-type']).toBe('text/event-stream');
      expect(stream.response.headers['content-encoding']).toBe(isStreamEncoded ? 'gzip' : undefined);
      await stream.until('"progress":1}');
      for (let step = 2; step <= 5; step++) {
        await context.progress(step, undefined, 'x'.repeat(step * 1_000));
        await stream.until(`"progress":${step},`);
      }
      held.of(key).release();
      await stream.end;
      const messages = strictMessages(stream.text);
      expect(messages.map(({ method }) => method)).toEqual([
        ...Array.from({ length: 5 }, () => 'notifications/progress'),
        undefined,
      ]);
      for (const one of messages)
        traffic.observe(
          one,
          key === 'm' ? '2026-07-28' : '2025-11-25',
          'method' in one ? undefined : 'tools/call',
        );
    }
  });

  it('F1, F7: a standing stream is there at once, its comments come, and it ends', async () => {
    const session = await openSession(running.mcp);
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session.id };
    const stream = await Unpacked.open(running.mcp, 'GET', headers);
    await stream.until('retry: 1000\ndata:\n\n');
    await stream.until('data:\n\n:\n\n');
    const ended = stream.end;
    await fetch(running.mcp, { method: 'DELETE', headers });
    await ended;
  });
});

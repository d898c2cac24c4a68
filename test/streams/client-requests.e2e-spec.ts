import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpDispatcher, type McpContext, type McpPeer, type McpRevision } from 'nest-mcp';
import { McpAskError } from '../../libs/mcp/src/protocol/asking/ask-error.js';
import type { AskOptions } from '../../libs/mcp/src/protocol/legacy/client-requests.js';
import { openGet, type OpenStream } from '../features/open-stream.js';
import { HeldCalls, LogRecorder, wireApp } from '../http/wire.app.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe, type Pipe } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { openSession, post, textOf, type Json, type LegacySession } from '../support/wire.js';
import { callOf, postInSession, postModern, strictMessages } from './post-stream.js';

const LEGACY: McpRevision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const ROOTS = { roots: [{ uri: 'file:///home' }] };
const FOREVER = 1_000_000;

/** What a handler does that needs its client; what came of it is kept, since it may fail before anyone looks. */
function ask(context: McpContext, options: Partial<AskOptions> = {}): { outcome: Promise<unknown> } {
  const { peer, stream } = context['origin'];
  const asked = peer!.requests.ask(
    { method: 'roots/list' },
    { send: (message) => stream!.send(message), signal: context.signal, timeLimit: FOREVER, ...options },
  );
  return { outcome: asked.catch((fault: McpAskError) => fault.answer ?? fault.fault) };
}

/** How many requests wait for an answer of the same client. */
const waiting = (context: McpContext) => context['origin'].peer!.requests.size;

const answerTo = (request: Json, result: Json = ROOTS): Json => ({
  jsonrpc: '2.0',
  id: request['id'],
  result,
});
const cancelOf = (request: Json, reason: string): Json => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId: request['id'], reason },
});

/** Takes the caller's name from a header. */
@Injectable()
class NameGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers?: Json; user?: unknown }>();
    const name = request.headers?.['x-user'];
    if (typeof name === 'string') request.user = { id: name };
    return true;
  }
}

const named = { providers: [{ provide: APP_GUARD, useClass: NameGuard }] };

describe.each(ADAPTERS)('what the server asks a client of a session on %s', (adapter) => {
  const traffic = new Traffic();
  const logs = new LogRecorder();
  let running: RunningApp;
  let held: HeldCalls;
  let calls = 0;

  beforeAll(async () => {
    running = await startApp(wireApp({}, named), { adapter, logger: logs });
    held = running.app.get(HeldCalls);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  interface Call {
    readonly key: string;
    readonly stream: Promise<OpenStream>;
    readonly context: McpContext;
  }

  async function start(
    session: LegacySession,
    id = 'call',
    headers: Record<string, string> = {},
  ): Promise<Call> {
    const key = `call-${++calls}`;
    const params = callOf('hold', { key }, 't');
    const stream = postInSession(running.mcp, session, { id, method: 'tools/call', params }, traffic, {
      headers,
    });
    return { key, stream, context: await held.of(key).started };
  }

  /** The next message of a stream that is asked for something. */
  async function requestOn(stream: OpenStream, count = 1): Promise<Json> {
    return (await stream.count(count))[count - 1]!;
  }

  async function end({ key, stream }: Call): Promise<Json[]> {
    held.of(key).release();
    expect(await (await stream).end).toBe('ended');
    const { messages } = await stream;
    expect(textOf(messages.at(-1)!['result'] as Json)).toBe(`${key} let go`);
    return messages;
  }

  const send = ({ id }: { id: string }, message: Json | Json[], headers: Record<string, string> = {}) =>
    post(running.mcp, JSON.stringify(message), { 'mcp-session-id': id, ...headers });

  it.each(LEGACY)(
    'S-003, S-054, S-076: goes on the stream of the call that asks and on no other, and a POST of %s answers it',
    async (revision) => {
      const session = await openSession(running.mcp, revision);
      const standing = await openGet(running.mcp, session, traffic, revision);
      const other = await start(session, 'other');
      await other.context.progress(1);
      const call = await start(session);
      const asked = ask(call.context);
      const request = await requestOn(await call.stream);
      expect(request).toEqual({ jsonrpc: '2.0', id: expect.any(String) as string, method: 'roots/list' });
      const reply = await send(session, answerTo(request));
      expect([reply.status, reply.text]).toEqual([202, '']);
      expect(await asked.outcome).toEqual(ROOTS);
      // Its id is used once, and its call goes on.
      const again = ask(call.context);
      const second = await requestOn(await call.stream, 2);
      expect(second['id']).not.toBe(request['id']);
      await send(session, answerTo(second));
      await again.outcome;
      expect(waiting(call.context)).toBe(0);
      expect(await end(call)).toHaveLength(3);
      expect((await end(other)).map(({ method }) => method)).toEqual(['notifications/progress', undefined]);
      expect(standing.messages).toEqual([]);
      await standing.close();
    },
  );

  it('several at once get each its own answer, in whatever order they come, in a batch too', async () => {
    const session = await openSession(running.mcp, '2025-03-26');
    const call = await start(session);
    const asked = [1, 2, 3].map(() => ask(call.context));
    await (await call.stream).count(3);
    const { messages } = await call.stream;
    const answers = messages.map((request, at) => answerTo(request, { roots: [], at }));
    const reply = await send(session, answers.toReversed());
    expect([reply.status, reply.text]).toEqual([202, '']);
    expect(await Promise.all(asked.map(({ outcome }) => outcome))).toEqual(
      [0, 1, 2].map((at) => ({ roots: [], at })),
    );
    await end(call);
  });

  it('an error of the client reaches who asked', async () => {
    const session = await openSession(running.mcp);
    const call = await start(session);
    const asked = ask(call.context);
    const { id } = await requestOn(await call.stream);
    const error = { code: -1, message: 'no roots\nhere', data: { a: 1 } };
    expect((await send(session, { jsonrpc: '2.0', id, error })).status).toBe(202);
    expect(await asked.outcome).toEqual(error);
    await end(call);
  });

  it('S-144: who asked is told at once of an answer that is none, alone or in a batch', async () => {
    const session = await openSession(running.mcp, '2025-03-26');
    const call = await start(session);
    for (const [round, outcome] of [{ result: null }, { error: 'no' }, { result: {}, error: {} }].entries())
      for (const isBatch of [false, true]) {
        const asked = ask(call.context);
        const { id } = await requestOn(await call.stream, 2 * round + Number(isBatch) + 1);
        const answer = { jsonrpc: '2.0', id, ...outcome };
        const { status, text } = await send(session, isBatch ? [answer] : answer);
        expect([status, text.includes('-32600'), text.includes(String(id))]).toEqual([
          isBatch ? 200 : 400,
          true,
          true,
        ]);
        expect(await asked.outcome).toBe('invalid');
      }
    await end(call);
  });

  it('S-179: an answer counts once, with that very id, from that session and its own caller alone', async () => {
    const ann = { 'x-user': 'ann' };
    const session = await openSession(running.mcp, '2025-11-25', ann);
    const others = [await openSession(running.mcp, '2025-11-25', ann), await openSession(running.mcp)];
    const call = await start(session, 'call', ann);
    const asked = ask(call.context);
    const request = await requestOn(await call.stream);
    const bad = { roots: [{ uri: 'file:///forged' }] };
    const forged = answerTo(request, bad);
    const statuses = [
      (await send(others[0]!, forged, ann)).status,
      (await send(others[1]!, forged)).status,
      (await send(session, forged, { 'x-user': 'bob' })).status,
      (await send(session, forged)).status,
      (await send(session, { ...forged, id: `${String(request['id'])}0` }, ann)).status,
      (await send(session, { ...forged, id: 1 }, ann)).status,
      (await send(session, { ...forged, id: 'call' }, ann)).status,
    ];
    expect(statuses).toEqual([202, 202, 404, 404, 202, 202, 202]);
    // As the answer to a call of 2026-07-28 it is none at all.
    expect(
      (await post(running.mcp, JSON.stringify(forged), { 'mcp-protocol-version': '2026-07-28' })).status,
    ).toBe(400);
    expect(waiting(call.context)).toBe(1);
    expect((await send(session, answerTo(request), ann)).status).toBe(202);
    expect((await send(session, forged, ann)).status).toBe(202);
    expect(await asked.outcome).toEqual(ROOTS);
    await end(call);
  });

  it('S-124: one that is not answered in time is cancelled on the same stream, and a late answer changes nothing', async () => {
    const session = await openSession(running.mcp);
    const call = await start(session);
    expect(await ask(call.context, { timeLimit: 1 }).outcome).toBe('timeout');
    const stream = await call.stream;
    const [request] = await stream.count(2);
    expect(stream.messages[1]).toEqual(cancelOf(request!, 'No answer in time'));
    expect((await send(session, answerTo(request!))).status).toBe(202);
    expect(await end(call)).toHaveLength(3);
  });

  it('S-124: is cancelled on the same stream when its call is, and the stream ends without an answer', async () => {
    const session = await openSession(running.mcp);
    const call = await start(session);
    const asked = ask(call.context);
    const stream = await call.stream;
    const request = await requestOn(stream);
    await session.notify('notifications/cancelled', { requestId: 'call' });
    expect(await asked.outcome).toBe('ended');
    expect(await stream.end).toBe('ended');
    expect(stream.messages).toEqual([request, cancelOf(request, 'The call that asked is over')]);
    expect(waiting(call.context)).toBe(0);
  });

  it('is given up with the session at DELETE, and nothing is written of it', async () => {
    const session = await openSession(running.mcp);
    const call = await start(session);
    const asked = ask(call.context);
    const stream = await call.stream;
    const request = await requestOn(stream);
    expect(
      (await fetch(running.mcp, { method: 'DELETE', headers: { 'mcp-session-id': session.id } })).status,
    ).toBe(204);
    expect(await asked.outcome).toBe('gone');
    expect(await held.of(call.key).aborted).toBe('AbortError');
    expect(await stream.end).toBe('ended');
    expect(stream.messages).toEqual([request]);
    expect((await send(session, answerTo(request))).status).toBe(404);
    expect(await ask(call.context).outcome).toBe('gone');
  });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'S-078: is replayed to a client of %s whose connection was cut, which answers then',
    async (revision) => {
      const session = await openSession(running.mcp, revision);
      const call = await start(session);
      await call.context.progress(1);
      const stream = await call.stream;
      await stream.count(1);
      const last = /^id: (\S+)$/gm.exec(stream.text.slice(stream.text.lastIndexOf('id: ')))![1]!;
      const raw =
        (call.context.request as { raw?: { socket: NodeJS.EventEmitter } }).raw ?? call.context.request;
      const closed = once((raw as { socket: NodeJS.EventEmitter }).socket, 'close');
      await stream.close();
      await closed;
      const asked = ask(call.context);
      const again = await openGet(running.mcp, session, traffic, revision, { 'last-event-id': last });
      const request = await requestOn(again);
      expect(request).toMatchObject({ method: 'roots/list' });
      expect((await send(session, answerTo(request))).status).toBe(202);
      expect(await asked.outcome).toEqual(ROOTS);
      // On the connection that it went on with.
      const more = ask(call.context);
      await send(session, answerTo(await requestOn(again, 2)));
      await more.outcome;
      held.of(call.key).release();
      expect(await again.end).toBe('ended');
      expect(strictMessages(again.text).map(({ method }) => method)).toEqual([
        'roots/list',
        'roots/list',
        undefined,
      ]);
    },
  );

  it('has no way to a client that takes no stream', async () => {
    const session = await openSession(running.mcp);
    const key = 'plain';
    const plain = session.request('tools/call', callOf('hold', { key }), 1, { accept: 'application/json' });
    const context = await held.of(key).started;
    expect(context['origin'].stream).toBeUndefined();
    held.of(key).release();
    expect((await plain).status).toBe(200);
  });

  it('S-011, S-055: has no peer to ask in 2026-07-28', async () => {
    const stream = postModern(running.mcp, 'tools/call', callOf('hold', { key: 'modern' }), traffic);
    const context = await held.of('modern').started;
    expect(context['origin'].peer).toBeUndefined();
    held.of('modern').release();
    await (
      await stream
    ).end;
  });

  it('is given up when the application closes, and its call is answered', async () => {
    const own = await startApp(wireApp({ limits: { shutdownGrace: 1 } }, named), { adapter });
    const session = await openSession(own.mcp);
    const params = callOf('hold', { key: 'close' });
    const posted = postInSession(own.mcp, session, { id: 1, method: 'tools/call', params }, traffic);
    const context = await own.app.get(HeldCalls).of('close').started;
    const asked = ask(context);
    const stream = await posted;
    const request = await requestOn(stream);
    await own.close();
    expect(await asked.outcome).toBe('ended');
    expect(await stream.end).toBe('ended');
    expect(stream.messages).toHaveLength(3);
    expect(stream.messages[1]).toEqual(cancelOf(request, 'The call that asked is over'));
    expect(textOf(stream.messages[2]!['result'] as Json)).toBe('The server is shutting down');
  });

  it('nothing of all that is logged as a fault', () => {
    expect(logs.ofLevel('error', 'warn', 'fatal')).toEqual([]);
  });
});

/** A channel to one client, without HTTP. */
interface Wire {
  send(message: Json | Json[]): void;
  next(wanted: (message: Json) => boolean): Promise<Json>;
  /** The client is gone. */
  end(): Promise<void>;
  readonly held: HeldCalls;
  readonly messages: Json[];
}

function overStdio(): Promise<Wire> {
  let held!: HeldCalls;
  const pipe: Pipe = openPipe(wireApp({ limits: { shutdownGrace: 1 } }) as unknown as Type, {
    configure: (app) => void (held = (app as unknown as RunningApp['app']).get(HeldCalls)),
  });
  const wire = {
    send: (message: Json | Json[]) => pipe.send(message as Json),
    next: (wanted: (message: Json) => boolean) => pipe.next(wanted),
    end: () => pipe.end(),
    get held() {
      return held;
    },
    get messages() {
      return pipe.lines.map((line) => JSON.parse(line) as Json);
    },
  };
  return Promise.resolve(wire);
}

async function overMemory(): Promise<Wire> {
  const running = await startApp(wireApp({ limits: { shutdownGrace: 1 } }));
  const { app } = running;
  const dispatcher = app.get(McpDispatcher);
  const closing = new AbortController();
  const messages: Json[] = [];
  const looking = new Set<() => void>();
  const take = (bytes: Uint8Array) => {
    messages.push(JSON.parse(Buffer.from(bytes).toString()) as Json);
    looking.forEach((look) => look());
  };
  const peer: McpPeer = { send: take, signal: closing.signal };
  return {
    held: app.get(HeldCalls),
    messages,
    send: (message) =>
      void dispatcher.handleMessage(JSON.stringify(message), peer).then((answer) => answer && take(answer)),
    next: (wanted) =>
      new Promise((resolve) => {
        const look = () => {
          const found = messages.find(wanted);
          if (!found) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
      }),
    end: async () => {
      closing.abort();
      await setImmediate();
      await running.close();
    },
  };
}

describe.each([
  ['stdio', overStdio],
  ['McpDispatcher', overMemory],
] as const)('what the server asks a client on %s', (_name, connect) => {
  const traffic = new Traffic();
  let wire: Wire;

  afterAll(() => traffic.verify());

  const handshake = async (protocolVersion: McpRevision) => {
    wire = await connect();
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion, capabilities: { roots: {} }, clientInfo };
    wire.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params });
    await wire.next(({ id }) => id === 'init');
    wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  };
  const start = (id: string) => {
    wire.send({ jsonrpc: '2.0', id, method: 'tools/call', params: callOf('hold', { key: id }) });
    return wire.held.of(id).started;
  };
  const asking = (count = 1) => {
    let seen = 0;
    return wire.next(({ method, id }) => method === 'roots/list' && id !== undefined && ++seen === count);
  };
  const judge = (revision: McpRevision) => {
    for (const message of wire.messages) {
      const method = message['id'] === 'init' ? 'initialize' : 'tools/call';
      traffic.observe(message, revision, 'method' in message ? undefined : method);
    }
  };

  it.each(LEGACY)(
    'S-003: a client of %s answers on the same channel, once and by the very id',
    async (revision) => {
      await handshake(revision);
      const context = await start('call');
      const asked = ask(context);
      const request = await asking();
      const bad = answerTo(request, { roots: [{ uri: 'file:///forged' }] });
      wire.send({ ...bad, id: 'call' });
      wire.send({ ...bad, id: `${String(request['id'])}0` });
      wire.send(answerTo(request));
      wire.send(bad);
      expect(await asked.outcome).toEqual(ROOTS);
      wire.held.of('call').release();
      const { result } = (await wire.next(({ id }) => id === 'call')) as { result: Json };
      expect(textOf(result)).toBe('call let go');
      await wire.end();
      judge(revision);
      expect(wire.messages).toHaveLength(3);
    },
  );

  it('S-144: who asked is told at once of an answer that is none, and the client is answered nothing', async () => {
    await handshake('2025-11-25');
    const context = await start('call');
    for (const [round, outcome] of [{ result: null }, { error: 'no' }, { result: {}, error: {} }].entries()) {
      const asked = ask(context);
      const { id } = await asking(round + 1);
      wire.send({ jsonrpc: '2.0', id, ...outcome });
      expect(await asked.outcome).toBe('invalid');
    }
    wire.held.of('call').release();
    await wire.next(({ id }) => id === 'call');
    await wire.end();
    judge('2025-11-25');
    expect(wire.messages).toHaveLength(5);
  });

  it('S-124: is cancelled when it is not answered in time, and when its call is cancelled', async () => {
    await handshake('2025-11-25');
    const context = await start('call');
    expect(await ask(context, { timeLimit: 1 }).outcome).toBe('timeout');
    const asked = ask(context);
    const second = await asking(2);
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call' } });
    expect(await asked.outcome).toBe('ended');
    await wire.end();
    judge('2025-11-25');
    const [, first, ...rest] = wire.messages;
    expect(rest).toEqual([
      cancelOf(first!, 'No answer in time'),
      second,
      cancelOf(second, 'The call that asked is over'),
    ]);
  });

  it('is given up when the client goes', async () => {
    await handshake('2025-11-25');
    const context = await start('call');
    const asked = ask(context);
    await asking();
    await wire.end();
    expect(['ended', 'gone']).toContain(await asked.outcome);
    judge('2025-11-25');
  });
});

import { setImmediate } from 'node:timers/promises';
import {
  Injectable,
  Module,
  type CanActivate,
  type ExecutionContext,
  type INestApplicationContext,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { IsString } from 'class-validator';
import {
  McpContext,
  McpDispatcher,
  McpModule,
  McpRegistry,
  McpTool,
  type McpPeer,
  type McpRevision,
} from 'nest-mcp';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { isOfSubscription } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { modernMessage, textOf, type Json } from '../support/wire.js';
import { Changes } from './changes.app.js';
import { acknowledged, eventually, listChange } from './open-stream.js';

class TextDto {
  @IsString()
  text: string;
}

/** What guards saw, and what the handlers that wait were given. */
const seen: Record<string, unknown>[] = [];
const held: { signal: AbortSignal; release: () => void }[] = [];

@Injectable()
class WitnessGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Record<string, unknown>>();
    const { method, url, ip, protocol, headers, user, body } = request;
    seen.push({ method, url, ip, protocol, headers, user, body });
    return (headers as Record<string, string>)['x-refuse'] === undefined;
  }
}

@Injectable()
class Tools {
  @McpTool({ description: 'Says the same' })
  echo({ text }: TextDto): string {
    return text;
  }

  @McpTool({ description: 'Who is calling' })
  who(ctx: McpContext): string {
    return `${ctx.transport} ${ctx.era} ${ctx.caller?.id ?? 'nobody'} ${ctx.sessionId ?? 'no session'}`;
  }

  @McpTool({ description: 'Waits' })
  async wait(ctx: McpContext): Promise<string> {
    await new Promise<void>((resolve) => held.push({ signal: ctx.signal, release: resolve }));
    return 'waited';
  }

  @McpTool({ description: 'Tells how far it is' })
  async steps(ctx: McpContext): Promise<string> {
    ctx.log.info('first');
    await ctx.progress(1);
    ctx.log.info('second');
    await ctx.progress(2);
    return 'done';
  }
}

@Module({
  imports: [
    McpModule.forRoot({ name: 'memory', version: '1.0.0', limits: { line: 4096, handlerTime: 150 } }),
  ],
  providers: [Tools, { provide: APP_GUARD, useClass: WitnessGuard }],
})
class MemoryModule {}

/** The other end of a transport, made of public names alone: every message that is sent to it is kept and judged. */
class Peer {
  readonly sent: Json[] = [];
  readonly answers: Json[] = [];
  readonly closing = new AbortController();
  readonly peer: McpPeer;
  private revision: McpRevision = '2025-11-25';

  constructor(
    private readonly dispatcher: McpDispatcher,
    private readonly traffic: Traffic,
    options: Partial<McpPeer> = {},
  ) {
    this.peer = {
      signal: this.closing.signal,
      send: (message) => {
        const json = JSON.parse(Buffer.from(message).toString('utf8')) as Json;
        this.traffic.observe(json, isOfSubscription(json) ? '2026-07-28' : this.revision, undefined);
        this.sent.push(json);
      },
      ...options,
    };
  }

  /** Hands over what a transport got, as it is. */
  async raw(message: string | Uint8Array): Promise<Json | undefined> {
    const answer = await this.dispatcher.handleMessage(message, this.peer);
    if (answer === undefined) return undefined;
    if (!(answer instanceof Uint8Array)) throw new TypeError('the answer is no bytes');
    const json = JSON.parse(Buffer.from(answer).toString('utf8')) as Json;
    this.answers.push(json);
    return json;
  }

  async modern(method: string, params: Json = {}, id: string | number = 1): Promise<Json | undefined> {
    const answer = await this.raw(JSON.stringify(modernMessage(method, params, id)));
    if (answer) this.traffic.observe(answer, '2026-07-28', method);
    return answer;
  }

  async legacy(method: string, params: Json = {}, id: string | number = 1): Promise<Json | undefined> {
    const answer = await this.raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    if (answer) this.traffic.observe(answer, this.revision, method);
    return answer;
  }

  async initialize(protocolVersion: McpRevision = '2025-11-25'): Promise<void> {
    this.revision = protocolVersion;
    const clientInfo = { name: 'test', version: '1' };
    await this.legacy('initialize', { protocolVersion, capabilities: {}, clientInfo }, 'init');
    await this.notify('notifications/initialized');
  }

  async notify(method: string, params: Json = {}): Promise<void> {
    if (await this.raw(JSON.stringify({ jsonrpc: '2.0', method, params })))
      throw new Error('a notification was answered');
  }
}

const call = (name: string, args: Json = {}, _meta?: Json): Json => ({
  name,
  arguments: args,
  ...(_meta ? { _meta } : {}),
});

describe('a transport of public names, by handleMessage', () => {
  const traffic = new Traffic();
  let app: INestApplicationContext;
  let dispatcher: McpDispatcher;
  let changes: Changes;
  const open = (options: Partial<McpPeer> = {}) => new Peer(dispatcher, traffic, options);

  beforeAll(async () => {
    app = await NestFactory.createApplicationContext(MemoryModule, { logger: false });
    dispatcher = app.get(McpDispatcher);
    changes = new Changes(app);
  });

  beforeEach(() => {
    seen.length = 0;
    held.length = 0;
  });

  afterAll(async () => {
    await app.close();
    await traffic.verify();
  });

  it('serves 2026-07-28, from text and from bytes', async () => {
    const peer = open();
    const message = modernMessage('tools/call', call('echo', { text: 'Grüße 🚀' }), 'ü');
    for (const raw of [JSON.stringify(message), Buffer.from(JSON.stringify(message))]) {
      const answer = await peer.raw(raw);
      expect(answer!['id']).toBe('ü');
      expect(textOf(answer!['result'] as Json)).toBe('Grüße 🚀');
    }
    expect(textOf((await peer.modern('tools/call', call('who')))!['result'] as Json)).toBe(
      'memory modern nobody no session',
    );
  });

  it('takes bytes in any form: an ArrayBuffer, a DataView, and views of a part of one', async () => {
    const peer = open();
    const text = JSON.stringify(modernMessage('tools/call', call('echo', { text: 'Grüße 🚀' })));
    const bytes = new TextEncoder().encode(text);
    const { buffer } = new TextEncoder().encode(`{{${text}}`);
    const forms = [
      bytes.buffer,
      new DataView(bytes.buffer),
      new DataView(buffer, 2, bytes.length),
      new Uint8Array(buffer, 2, bytes.length),
    ];
    for (const raw of forms) {
      const answer = await peer.raw(raw as never);
      expect(textOf(answer!['result'] as Json)).toBe('Grüße 🚀');
    }
  });

  it.each([null, undefined, 7, {}, [123, 125]])(
    'S-004: answers %j, which is no message, and never rejects',
    async (raw) => {
      const peer = open();
      const answer = await peer.raw(raw as never);
      expect(answer).toEqual({
        jsonrpc: '2.0',
        error: { code: -32700, message: expect.any(String) as unknown },
      });
      traffic.observe(answer, '2026-07-28', undefined);
      expect((await peer.legacy('ping'))!['result']).toEqual({});
    },
  );

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'serves %s, one session for one peer',
    async (revision) => {
      const peer = open();
      expect((await peer.legacy('tools/list'))!['error']).toMatchObject({ code: -32602 });
      await peer.initialize(revision);
      expect(peer.answers[1]).toMatchObject({ id: 'init', result: { protocolVersion: revision } });
      const who = await peer.legacy('tools/call', call('who'));
      expect(textOf(who!['result'] as Json)).toBe('memory legacy nobody no session');
      const again = await peer.legacy('initialize', { protocolVersion: revision, capabilities: {} });
      expect(again!['error']).toEqual({ code: -32600, message: 'This channel is initialized already' });
      expect((await peer.modern('tools/call', call('who')))!['result']).toMatchObject({
        content: [{ type: 'text', text: 'memory modern nobody no session' }],
      });
    },
  );

  it('is served to the official clients of both generations', async () => {
    const modern = await connectV2Memory(app, 'auto', traffic);
    const legacy = await connectV1Memory(app, traffic);
    expect(modern.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    for (const client of [modern, legacy]) {
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
      expect(content).toEqual([{ type: 'text', text: 'hi' }]);
      await client.close();
    }
  });

  it('keeps two peers apart: sessions, ids, levels, what they follow, and what is cancelled', async () => {
    const [first, second] = [open(), open()];
    await first.initialize();
    expect((await second.legacy('tools/list'))!['error']).toMatchObject({ code: -32602 });
    await second.initialize();
    await first.legacy('logging/setLevel', { level: 'info' });
    const [one, two] = [
      first.legacy('tools/call', call('wait'), 7),
      second.legacy('tools/call', call('wait'), 7),
    ];
    await eventually(() => held.length === 2);
    await second.notify('notifications/cancelled', { requestId: 7 });
    expect(await two).toBeUndefined();
    held[0]!.release();
    expect((await one)!['id']).toBe(7);
    await first.legacy('tools/call', call('steps'));
    expect([first.sent.length, second.sent.length]).toEqual([2, 0]);
    first.closing.abort();
    await second.legacy('ping');
    await changes.tools();
    await eventually(() => second.sent.length === 1);
    expect([first.sent.length, second.sent]).toEqual([2, [listChange('tools')]]);
    second.closing.abort();
  });

  it.each([
    ['nothing', '', undefined, -32700],
    ['no JSON', '{', undefined, -32700],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), undefined, -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', undefined, -32600],
    ['no method', '{"jsonrpc":"2.0","id":3}', 3, -32600],
    ['another version', '{"jsonrpc":"1.0","id":3,"method":"ping"}', 3, -32600],
    ['an id that is none', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', undefined, -32600],
    [
      'too long, its id first',
      `{"jsonrpc":"2.0","id":"long","method":"${'x'.repeat(4096)}"}`,
      'long',
      -32600,
    ],
    [
      'too deep',
      `{"jsonrpc":"2.0","id":4,"method":"ping","params":${'['.repeat(100)}${']'.repeat(100)}}`,
      4,
      -32600,
    ],
  ])('S-004: answers what is %s with an error, and serves on', async (_name, raw, id, code) => {
    const peer = open();
    const answer = await peer.raw(raw as string);
    expect(answer).toEqual({
      jsonrpc: '2.0',
      ...(id === undefined ? {} : { id }),
      error: { code, message: expect.any(String) as unknown },
    });
    traffic.observe(answer, '2026-07-28', undefined);
    expect((await peer.legacy('ping'))!['result']).toEqual({});
  });

  it('answers neither notifications nor responses', async () => {
    const peer = open();
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/unknown', params: {} },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nothing' } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
      expect(await peer.raw(JSON.stringify(message))).toBeUndefined();
    expect(peer.sent).toEqual([]);
  });

  it('S-042: sends nothing more for a call that was cancelled, and aborts its signal', async () => {
    const peer = open();
    const running = peer.modern('tools/call', call('wait'), 9);
    await eventually(() => held.length === 1);
    await peer.notify('notifications/cancelled', { requestId: '9' });
    expect(held[0]!.signal.aborted).toBe(false);
    await peer.notify('notifications/cancelled', { requestId: 9 });
    expect(await running).toBeUndefined();
    expect(held[0]!.signal.aborted).toBe(true);
  });

  it('ends everything of a peer whose signal aborts, and keeps nothing for it', async () => {
    const before = changes.listeners;
    const peer = open();
    await peer.initialize();
    const running = [
      peer.legacy('tools/call', call('wait'), 1),
      peer.modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, 2),
    ];
    await eventually(() => held.length === 1 && changes.streams === 1);
    expect(changes.listeners).toBe(before + 2);
    peer.closing.abort();
    expect(await Promise.all(running)).toEqual([undefined, undefined]);
    expect(held[0]!.signal.aborted).toBe(true);
    expect([changes.streams, changes.listeners]).toEqual([0, before]);
  });

  it('opens nothing for a peer that is gone already', async () => {
    const before = changes.listeners;
    for (const when of ['before its first message', 'after'] as const) {
      const peer = open();
      if (when === 'after') await peer.initialize();
      peer.closing.abort();
      expect(await peer.modern('subscriptions/listen', { notifications: {} })).toBeUndefined();
      expect(await peer.legacy('initialize', { protocolVersion: '2025-11-25' })).toBeUndefined();
      expect(await peer.modern('tools/call', call('echo', { text: 'x' }))).toBeUndefined();
    }
    expect([changes.streams, changes.listeners]).toEqual([0, before]);
  });

  it('K4: acknowledges a subscription, and answers it at its end', async () => {
    const peer = open();
    const answer = peer.modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub');
    await eventually(() => peer.sent.length === 1);
    await changes.tools();
    await eventually(() => peer.sent.length === 2);
    expect(peer.sent).toEqual([acknowledged({ toolsListChanged: true }, 'sub'), listChange('tools', 'sub')]);
    await peer.notify('notifications/cancelled', { requestId: 'sub' });
    expect(await answer).toBeUndefined();
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the socket is gone');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the socket is gone'))],
  ])('takes a peer whose send() %s for gone, and rejects nothing', async (_name, send) => {
    const peer = open({ send });
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 1 };
    expect(await peer.modern('tools/call', call('steps', {}, _meta))).toBeUndefined();
    expect(await peer.modern('subscriptions/listen', { notifications: {} })).toBeUndefined();
    await setImmediate();
    expect(changes.streams).toBe(0);
  });

  it('answers a call though send() never resolves, and drops what follows the message that waits', async () => {
    const sent: string[] = [];
    const peer = open({
      send: (message) => {
        sent.push((JSON.parse(Buffer.from(message).toString()) as { method: string }).method);
        return new Promise<void>(() => undefined);
      },
    });
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 1 };
    const answer = await peer.modern('tools/call', call('steps', {}, _meta));
    expect(sent).toEqual(['notifications/message']);
    expect(textOf(answer!['result'] as Json)).toBe('done');
  });

  it('A8: shows guards the stand-in request, with what the transport says of its peer', async () => {
    const peer = open({ request: { headers: { Authorization: 'Bearer x' }, user: { sub: 'ann' } } });
    await peer.modern('tools/call', call('who'));
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/',
        ip: 'memory',
        protocol: 'memory',
        headers: { authorization: 'Bearer x' },
        user: { sub: 'ann' },
        body: modernMessage('tools/call', call('who')),
      },
    ]);
    expect(textOf(peer.answers[0]!['result'] as Json)).toBe('memory modern ann no session');
  });

  it('takes the caller that the transport names over the one of the request', async () => {
    const peer = open({ caller: { id: 'bob' }, request: { user: { sub: 'ann' } } });
    const answer = await peer.modern('tools/call', call('who'));
    expect(textOf(answer!['result'] as Json)).toBe('memory modern bob no session');
  });

  it('runs nothing that a guard refuses', async () => {
    const peer = open({ request: { headers: { 'X-Refuse': 'yes' } } });
    const answer = await peer.modern('tools/call', call('wait'));
    expect(answer!['result']).toMatchObject({ isError: true });
    expect(held).toEqual([]);
  });

  it('answers what is still open when the application closes', async () => {
    const own = await NestFactory.createApplicationContext(MemoryModule, { logger: false });
    const peer = new Peer(own.get(McpDispatcher), traffic);
    const answer = peer.modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, 3);
    await eventually(() => peer.sent.length === 1);
    own.get(McpRegistry).remove('tool', 'none');
    await own.close();
    expect((await answer)!['result']).toMatchObject({
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/subscriptionId': 3 },
    });
  });
});

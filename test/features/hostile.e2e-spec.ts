import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  Injectable,
  Module,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IsString } from 'class-validator';
import {
  McpContext,
  McpError,
  McpExecutionContext,
  McpModule,
  McpResource,
  McpTool,
  type McpLimits,
} from 'nest-mcp';
import { RawConnection } from '../http/raw-connection.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  modern,
  modernHeaders,
  modernMessage,
  openSession,
  type Json,
  type LegacySession,
} from '../support/wire.js';
import { Changes } from './changes.app.js';
import {
  acknowledged,
  eventually,
  listenOverHttp,
  openGet,
  resourceChange,
  type OpenStream,
} from './open-stream.js';

class NoteDto {
  @IsString()
  id: string;
}

/** Told of what goes on inside, and holds what is to be held. */
class Stage {
  /** Requests whose guard waits for their client to hang up, and those that are let on after that. */
  awaited = 0;
  letOn = 0;
  chatting = 0;
  chatted = 0;
  private readonly held: (() => void)[] = [];

  hold(): Promise<void> {
    return new Promise((resolve) => this.held.push(resolve));
  }

  get isHolding(): boolean {
    return this.held.length > 0;
  }

  letGo(): void {
    this.held.splice(0).forEach((resume) => resume());
  }
}

const stage = new Stage();

/** Takes as long as the client has patience, where a request asks for that. */
@Injectable()
class PatientGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType<string>() !== 'http') return true;
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    if (headers['x-wait'] === undefined) return true;
    const response = context.switchToHttp().getResponse<ServerResponse & { raw?: ServerResponse }>();
    const closed = once(response.raw ?? response, 'close');
    stage.awaited++;
    await closed;
    stage.letOn++;
    return true;
  }
}

@Injectable()
class SlowGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await stage.hold();
    return true;
  }
}

/** Has much to say before it lets anyone on. */
@Injectable()
class NoisyGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const ctx = McpExecutionContext.create(context).getContext();
    ctx.log.emergency('looking');
    await ctx.progress(1);
    return true;
  }
}

@Injectable()
class Desk {
  @McpTool({ description: 'Waits until it is let go' })
  async wait(): Promise<string> {
    await stage.hold();
    return 'waited';
  }

  @McpTool({ description: 'Tells more than its client reads' })
  async chat(ctx: McpContext): Promise<string> {
    stage.chatting++;
    try {
      for (let step = 1; !ctx.signal.aborted; step++) await ctx.progress(step, undefined, 'x'.repeat(20_000));
    } finally {
      stage.chatted++;
    }
    return 'said';
  }

  @McpTool({ description: 'Tells of its progress by what is no text' })
  async mumble(ctx: McpContext): Promise<string> {
    const messages: unknown[] = [5, Symbol('x'), { a: 1 }, 'done'];
    for (const [step, message] of messages.entries())
      await ctx.progress(step, messages.length, message as string);
    return 'mumbled';
  }

  @McpResource({ uri: 'broken://note' })
  broken(): never {
    throw new McpError(4001, 'broken', () => 'no JSON');
  }

  @McpResource({ uri: 'note://{id}' })
  note({ id }: NoteDto): string {
    return id;
  }

  @UseGuards(SlowGuard)
  @McpResource({ uri: 'slow://{id}' })
  slow({ id }: NoteDto): string {
    return id;
  }

  @UseGuards(NoisyGuard)
  @McpResource({ uri: 'noisy://{id}' })
  noisy({ id }: NoteDto): string {
    return id;
  }
}

function deskModule(limits: Partial<McpLimits> = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'desk', version: '1.0.0', limits })],
    providers: [Desk, { provide: APP_GUARD, useClass: PatientGuard }],
  })
  class DeskModule {}
  return DeskModule;
}

function bytesOf(method: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    accept: 'application/json, text/event-stream',
    ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} /mcp HTTP/1.1`, ...lines, '', body].join('\r\n');
}

function modernBytes(method: string, params: Json): string {
  return bytesOf('POST', modernHeaders(method, params), JSON.stringify(modernMessage(method, params)));
}

describe.each(ADAPTERS)('clients that hang up at a bad moment, on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let changes: Changes;
  const call = (name: string, meta: Json = {}) =>
    modernBytes('tools/call', { name, arguments: {}, _meta: meta });

  beforeAll(async () => {
    running = await startApp(deskModule(), { adapter });
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  /** A stream can be opened again, and tells of changes. */
  async function expectStream(session: LegacySession): Promise<OpenStream> {
    const stream = await openGet(running.mcp, session, traffic);
    expect(stream.status).toBe(200);
    await session.request('resources/subscribe', { uri: 'note://1' });
    changes.update('note://1');
    expect(await stream.count(1)).toEqual([resourceChange('note://1')]);
    return stream;
  }

  async function ready(): Promise<LegacySession> {
    const session = await openSession(running.mcp);
    await session.notify('notifications/initialized');
    return session;
  }

  it('keeps no standing stream for a client that is gone before a guard lets it on', async () => {
    const session = await ready();
    const { awaited, letOn } = stage;
    const connection = await RawConnection.open(running.url);
    connection.write(bytesOf('GET', { 'mcp-session-id': session.id, 'x-wait': '1' }));
    await eventually(() => stage.awaited > awaited);
    connection.destroy();
    await eventually(() => stage.letOn > letOn);
    const stream = await expectStream(session);
    expect(changes.streams).toBe(1);
    await stream.close();
    await eventually(() => changes.streams === 0);
  });

  it('gives a standing stream back that waits behind another answer when the connection breaks', async () => {
    const session = await ready();
    const connection = await RawConnection.open(running.url);
    connection.write(call('wait') + bytesOf('GET', { 'mcp-session-id': session.id }));
    await eventually(() => stage.isHolding && changes.streams === 1);
    connection.destroy();
    await eventually(() => changes.streams === 0);
    stage.letGo();
    await (await expectStream(session)).close();
  });

  it('lets a handler go on that waits for a reader, behind another answer, who is gone', async () => {
    const { chatting, chatted } = stage;
    const connection = await RawConnection.open(running.url);
    connection.write(call('wait') + call('chat', { progressToken: 'p' }));
    await eventually(() => stage.isHolding && stage.chatting > chatting);
    connection.destroy();
    await eventually(() => stage.chatted > chatted);
    stage.letGo();
  });

  it('follows nothing for a subscription that was cancelled while its guard ran', async () => {
    const session = await ready();
    const stream = await expectStream(session);
    const subscribing = session.request('resources/subscribe', { uri: 'slow://1' }, 'sub');
    await eventually(() => stage.isHolding);
    await session.notify('notifications/cancelled', { requestId: 'sub' });
    expect((await subscribing).text).toBe('');
    stage.letGo();
    await session.request('ping');
    changes.update('slow://1', 'note://1');
    expect(await stream.count(2)).toEqual([resourceChange('note://1'), resourceChange('note://1')]);
    await stream.close();
  });

  it('S-119, S-121: sends nothing of what guards say on a listen stream', async () => {
    const params = {
      notifications: { resourceSubscriptions: ['noisy://1'] },
      _meta: { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 'p' },
    };
    const body = JSON.stringify(modernMessage('subscriptions/listen', params, 'sub'));
    const stream = await listenOverHttp(running.mcp, {}, traffic, { body });
    await stream.count(1);
    changes.update('noisy://1');
    expect(await stream.count(2)).toEqual([
      acknowledged({ resourceSubscriptions: ['noisy://1'] }, 'sub'),
      resourceChange('noisy://1', 'sub'),
    ]);
    await stream.close();
  });

  it('keeps no request open that is larger than any list of addresses needs', async () => {
    const most = 131_072;
    const sized = (length: number) => {
      const params = { notifications: { resourceSubscriptions: ['note://1'] }, pad: '' };
      const { length: rest } = JSON.stringify(modernMessage('subscriptions/listen', params, 'sub'));
      return { ...params, pad: 'x'.repeat(length - rest) };
    };
    const refused = await modern(running.mcp, 'subscriptions/listen', sized(most + 1), {}, 'sub');
    expect(refused.error).toEqual({
      code: -32602,
      message: 'Invalid params: a request that listens has at most 131072 characters',
    });
    const body = JSON.stringify(modernMessage('subscriptions/listen', sized(most), 'sub'));
    const stream = await listenOverHttp(running.mcp, {}, traffic, { body });
    expect(await stream.count(1)).toEqual([acknowledged({ resourceSubscriptions: ['note://1'] }, 'sub')]);
    await stream.close();
  });

  it('sends JSON whatever the data of an error and the text of progress are', async () => {
    const read = await modern(running.mcp, 'resources/read', { uri: 'broken://note' });
    expect(read.error).toEqual({ code: 4001, message: 'broken' });
    const told = await callTool(running.mcp, 'mumble');
    expect(told.messages).toHaveLength(1);
    const { messages } = await modern(running.mcp, 'tools/call', {
      name: 'mumble',
      arguments: {},
      _meta: { progressToken: 'p' },
    });
    const params = messages.slice(0, -1).map((message) => message['params']);
    expect(params).toEqual([
      { progressToken: 'p', progress: 0, total: 4 },
      { progressToken: 'p', progress: 1, total: 4 },
      { progressToken: 'p', progress: 2, total: 4 },
      { progressToken: 'p', progress: 3, total: 4, message: 'done' },
    ]);
  });

  it('refuses what cannot be called at once', () => {
    const { registry } = changes;
    const name = 'nothing';
    expect(() => registry.addTool({ name }, undefined as never)).toThrow(
      'McpRegistry.addTool("nothing"): its handler is undefined: give a function',
    );
    expect(() => registry.exposeAll([{ name, handler: null as never }])).toThrow(
      'McpRegistry.exposeAll(), "nothing": its handler is null: give a function',
    );
    expect(registry.describe().map((one) => one.name)).not.toContain(name);
  });
});

describe.each(ADAPTERS)(
  'guards that do not come to an end before a subscription is there, on %s',
  (adapter) => {
    const listen = ({ mcp }: RunningApp) =>
      modern(mcp, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['slow://1'] } });

    it('have the time of a handler', async () => {
      const running = await startApp(deskModule({ handlerTime: 50 }), { adapter });
      expect((await listen(running)).error).toEqual({
        code: -32603,
        message: 'The guards did not finish within 50 ms',
      });
      expect(new Changes(running.app).streams).toBe(0);
      stage.letGo();
      await running.close();
    });

    it('S-119: are not waited for at shutdown, and what was never acknowledged does not end like a subscription', async () => {
      const running = await startApp(deskModule(), { adapter });
      const listening = listen(running);
      await eventually(() => stage.isHolding);
      await running.close();
      const answer = await listening;
      expect(answer.status).toBe(503);
      expect(answer.error).toEqual({ code: -32600, message: 'The server is shutting down' });
      stage.letGo();
    });
  },
);

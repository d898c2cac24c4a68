import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Injectable, Module, NotFoundException } from '@nestjs/common';
import { Exclude } from 'class-transformer';
import { IsInt } from 'class-validator';
import {
  McpContext,
  McpModule,
  McpPrompt,
  McpResource,
  McpTool,
  serveMcpOverStdio,
  type McpRevision,
} from 'nest-mcp';
import { McpServer } from '../../libs/mcp/src/server/mcp.server.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import {
  callTool,
  modern,
  modernHeaders,
  modernMessage,
  openSession,
  textOf,
  type Json,
} from '../support/wire.js';
import { eventually } from './open-stream.js';
import { SlowReader } from './slow-reader.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
const LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
const UNKNOWN_LEVEL = `must be one of ${LEVELS.join(', ')}`;
const LEGACY: McpRevision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

class CountDto {
  @IsInt()
  count: number;
}

class Account {
  readonly name = 'ann';

  @Exclude()
  readonly password = 'hidden-canary';
}

/** What is logged by `data`, one after the other. */
const odd: unknown[] = [];
/** Contexts of calls that are over. */
const over: McpContext[] = [];

@Injectable()
class Talkers {
  @McpTool({ description: 'Logs at every level' })
  levels(ctx: McpContext): string {
    over.push(ctx);
    for (const level of LEVELS) ctx.log[level](`a ${level}`, 'levels');
    return 'done';
  }

  @McpTool({ description: 'Logs odd things' })
  data(ctx: McpContext): string {
    odd.forEach((value) => ctx.log.error(value));
    return 'done';
  }

  @McpTool({ description: 'Logs without a pause' })
  flood({ count }: CountDto, ctx: McpContext): string {
    for (let at = 0; at < count; at++) ctx.log.info(`line ${at} ${'x'.repeat(100)}`);
    return 'done';
  }

  @McpTool({ description: 'Logs, and fails' })
  fail(ctx: McpContext): string {
    ctx.log.warning('about to fail');
    throw new NotFoundException('nothing there');
  }

  @McpResource({ uri: 'note://all' })
  note(ctx: McpContext): string {
    ctx.log.notice('read');
    return 'note';
  }

  @McpPrompt({ description: 'Greets' })
  greet(ctx: McpContext): string {
    ctx.log.notice('prompted');
    return 'hello';
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'talk', version: '1.0.0' })],
  providers: [Talkers],
})
class TalkModule {}

const logOf = (level: string): Json => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level, logger: 'levels', data: `a ${level}` },
});
const isLog = (message: Json) => message['method'] === 'notifications/message';
const levelsOf = (messages: readonly Json[]) =>
  messages.filter(isLog).map(({ params }) => (params as Json)['level']);
const from = (level: string) => LEVELS.slice(LEVELS.indexOf(level as 'debug'));

describe.each(ADAPTERS)('log messages over HTTP on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  const levels = async (level?: unknown, name = 'levels') => {
    const params = { name, ...(level === undefined ? {} : { _meta: { [LEVEL_KEY]: level } }) };
    const reply = await modern(running.mcp, 'tools/call', params);
    reply.messages.forEach((message) =>
      traffic.observe(message, '2026-07-28', 'method' in message ? undefined : 'tools/call'),
    );
    return reply;
  };

  beforeAll(async () => {
    running = await startApp(TalkModule, { adapter });
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('K3, S-113: sends none to a request that asks for none, and answers it as plain JSON', async () => {
    const reply = await levels();
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    expect(reply.messages).toHaveLength(1);
  });

  it.each(LEVELS)(
    'K3, S-113: sends %s and above to the request that asks for it, before its result',
    async (level) => {
      const { messages } = await levels(level);
      expect(messages.slice(0, -1)).toEqual(from(level).map(logOf));
      expect(messages.at(-1)).toHaveProperty('result');
      // The level is of that request alone.
      expect((await levels()).messages).toHaveLength(1);
    },
  );

  it.each(['WARNING', 'trace', '', 3, null, ['info']])(
    'K3: refuses the level %j, and runs nothing',
    async (level) => {
      over.length = 0;
      const reply = await levels(level);
      expect(reply.error).toEqual({
        code: -32602,
        message: `Invalid params: params._meta["${LEVEL_KEY}"] ${UNKNOWN_LEVEL}`,
      });
      expect(over).toEqual([]);
    },
  );

  it('S-054: sends them on the stream of their request alone', async () => {
    const [loud, quiet, louder] = await Promise.all([levels('alert'), levels(), levels('debug')]);
    expect([loud, quiet, louder].map(({ messages }) => levelsOf(messages))).toEqual([
      from('alert'),
      [],
      LEVELS,
    ]);
  });

  it('sends nothing after the result', async () => {
    over.length = 0;
    const { messages } = await levels('debug');
    expect(() => over[0]!.log.emergency('too late')).not.toThrow();
    await over[0]!.progress(1);
    expect(messages).toHaveLength(LEVELS.length + 1);
    // The connection is still good, and carries nothing of it.
    expect((await levels('emergency')).messages.slice(0, -1)).toEqual([logOf('emergency')]);
  });

  it('sends what was logged before a failure, and then the failure', async () => {
    const { messages, result } = await levels('warning', 'fail');
    expect(levelsOf(messages)).toEqual(['warning']);
    expect(result).toMatchObject({ isError: true });
  });

  it.each([
    ['resources/read', { uri: 'note://all' }, 'read'],
    ['prompts/get', { name: 'greet' }, 'prompted'],
  ])('sends them from %s as well', async (method, params, data) => {
    const { messages } = await modern(running.mcp, method, { ...params, _meta: { [LEVEL_KEY]: 'notice' } });
    expect(messages[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'notice', data },
    });
    expect(messages).toHaveLength(2);
  });

  it('sends any data as JSON, and throws for none', async () => {
    const cyclic: Json = { name: 'loop' };
    cyclic['self'] = cyclic;
    odd.splice(
      0,
      odd.length,
      'text',
      { a: [1, { b: null }] },
      new RangeError('too far'),
      { cause: new Error('inner') },
      12n,
      cyclic,
      undefined,
      () => 1,
      Number.NaN,
      new Date(0),
      '\ud800 line\nbreak',
      {
        get boom(): never {
          throw new Error('getter');
        },
      },
    );
    const { messages } = await levels('debug', 'data');
    expect(messages.filter(isLog).map(({ params }) => (params as Json)['data'])).toEqual([
      'text',
      { a: [1, { b: null }] },
      { name: 'RangeError', message: 'too far' },
      { cause: { name: 'Error', message: 'inner' } },
      '12',
      '[data that JSON cannot carry]',
      null,
      null,
      null,
      '1970-01-01T00:00:00.000Z',
      '\ud800 line\nbreak',
      '[data that JSON cannot carry]',
    ]);
  });

  it('S-114: sends of an error its name and message, never its stack', async () => {
    odd.splice(0, odd.length, new Error('only this'));
    const reply = await levels('debug', 'data');
    expect(reply.text).not.toContain('stack');
    expect(reply.text).not.toContain('.ts:');
  });

  it('sends nothing that is hidden from clients: excluded members, and what hangs on an error', async () => {
    const error = Object.assign(new Error('down'), { config: { authorization: 'hidden-canary' } });
    odd.splice(0, odd.length, new Account(), { of: [new Account()] }, error, { cause: error }, [error]);
    const { messages, text } = await levels('debug', 'data');
    const down = { name: 'Error', message: 'down' };
    expect(messages.filter(isLog).map(({ params }) => (params as Json)['data'])).toEqual([
      { name: 'ann' },
      { of: [{ name: 'ann' }] },
      down,
      { cause: down },
      [down],
    ]);
    expect(text).not.toContain('hidden-canary');
  });

  it('replaces data over 256 Ki characters by a text that says so', async () => {
    const most = 'x'.repeat(256 * 1024 - 2);
    odd.splice(0, odd.length, [`${most}xx`]);
    const tooMuch = await levels('debug', 'data');
    odd.splice(0, odd.length, most);
    const fitting = await levels('debug', 'data');
    expect(tooMuch.messages[0]!['params']).toEqual({
      level: 'error',
      data: '[data too large for a log message]',
    });
    expect(fitting.messages[0]!['params']).toEqual({ level: 'error', data: most });
    expect([tooMuch, fitting].map(({ result }) => textOf(result))).toEqual(['done', 'done']);
  });

  it('stays bounded when a handler logs 100 000 lines in one turn, and answers', async () => {
    const params = { name: 'flood', arguments: { count: 100_000 }, _meta: { [LEVEL_KEY]: 'debug' } };
    const reply = await modern(running.mcp, 'tools/call', params);
    expect(textOf(reply.result)).toBe('done');
    // 64 KiB may wait for the reader, and one message more.
    expect(reply.text.length).toBeLessThan(70_000);
    expect((reply.messages[0]!['params'] as Json)['data']).toContain('line 0 ');
  });

  it('stays bounded while the client does not read, and answers once it does', async () => {
    const params = { name: 'flood', arguments: { count: 100_000 }, _meta: { [LEVEL_KEY]: 'debug' } };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders('tools/call', params),
    };
    const slow = await SlowReader.open(
      running.mcp,
      'POST',
      headers,
      JSON.stringify(modernMessage('tools/call', params)),
    );
    expect((await callTool(running.mcp, 'levels')).status).toBe(200);
    const rest = await slow.rest();
    expect(slow.head.length + rest.length).toBeLessThan(70_000);
    expect(slow.head + rest).toContain('"text":"done"');
  });

  it.each(LEGACY)(
    'K3: sends none to a client of %s before logging/setLevel, then from that level on',
    async (revision) => {
      const session = await openSession(running.mcp, revision);
      const other = await openSession(running.mcp, revision);
      expect((await session.callTool('levels')).messages).toHaveLength(1);
      const set = await session.request('logging/setLevel', { level: 'error' });
      traffic.observe(set.body, revision, 'logging/setLevel');
      expect(set.result).toEqual({});
      const { messages } = await session.callTool('levels');
      messages.forEach((message) =>
        traffic.observe(message, revision, 'method' in message ? undefined : 'tools/call'),
      );
      expect(messages.slice(0, -1)).toEqual(from('error').map(logOf));
      expect((await other.callTool('levels')).messages).toHaveLength(1);
      await session.request('logging/setLevel', { level: 'emergency' });
      expect(levelsOf((await session.callTool('levels')).messages)).toEqual(['emergency']);
    },
  );

  it.each([{}, { level: 'loud' }, { level: 0 }, { level: 'toString' }])(
    'K3: refuses logging/setLevel with %j, and keeps the level',
    async (params) => {
      const session = await openSession(running.mcp);
      await session.request('logging/setLevel', { level: 'alert' });
      const refused = await session.request('logging/setLevel', params);
      expect(refused.error).toEqual({ code: -32602, message: `Invalid params: "level" ${UNKNOWN_LEVEL}` });
      expect(levelsOf((await session.callTool('levels')).messages)).toEqual(from('alert'));
    },
  );

  it('takes the level of the session from legacy clients, never that of a request', async () => {
    const session = await openSession(running.mcp);
    const reply = await session.request('tools/call', { name: 'levels', _meta: { [LEVEL_KEY]: 'debug' } });
    expect(reply.messages).toHaveLength(1);
  });

  it('sends none to a client that takes no stream', async () => {
    const params = { name: 'levels', _meta: { [LEVEL_KEY]: 'debug' } };
    const reply = await modern(running.mcp, 'tools/call', params, { accept: 'application/json' });
    expect(reply.messages).toHaveLength(1);
    expect(textOf(reply.result)).toBe('done');
  });

  it('S-059: has no logging/setLevel in 2026-07-28', async () => {
    const reply = await modern(running.mcp, 'logging/setLevel', { level: 'info' });
    expect([reply.status, reply.error.code]).toEqual([404, -32601]);
  });

  it('is heard by the official clients, over HTTP and in memory', async () => {
    const told: Json[] = [];
    const v2 = [
      await connectV2(running.mcp, 'legacy', traffic),
      await connectV2Memory(running.app, 'legacy', traffic),
    ];
    for (const client of v2) {
      client.setNotificationHandler('notifications/message', ({ params }) => void told.push(params as Json));
      await client.setLoggingLevel('alert');
      await client.callTool({ name: 'levels' });
    }
    const v1 = [await connectV1(running.mcp, traffic), await connectV1Memory(running.app, traffic)];
    for (const client of v1) {
      client.setNotificationHandler(
        LoggingMessageNotificationSchema,
        ({ params }) => void told.push(params as Json),
      );
      await client.setLoggingLevel('alert');
      await client.callTool({ name: 'levels' });
    }
    const modernClients = [
      await connectV2(running.mcp, 'auto', traffic),
      await connectV2Memory(running.app, 'auto', traffic),
    ];
    for (const client of modernClients) {
      client.setNotificationHandler('notifications/message', ({ params }) => void told.push(params as Json));
      await client.callTool({ name: 'levels', _meta: { [LEVEL_KEY]: 'alert' } });
    }
    await eventually(() => told.length === 12);
    expect(told.map(({ level }) => level)).toEqual(Array(6).fill(['alert', 'emergency']).flat());
    await Promise.all([...v2, ...v1, ...modernClients].map((client) => client.close()));
    await eventually(() => running.app.get(McpServer).streams.size === 0);
  });
});

describe('log messages on stdio', () => {
  const traffic = new Traffic();
  afterAll(() => traffic.verify());

  it('K3, S-113: is by request in 2026-07-28, by channel in a legacy revision, before each result', async () => {
    const client = new StdioClient(openPipe(TalkModule), traffic);
    await client.modern(1, 'tools/call', { name: 'levels' });
    await client.modern(2, 'tools/call', { name: 'levels', _meta: { [LEVEL_KEY]: 'alert' } });
    await client.initialize('2025-06-18');
    await client.legacy(3, 'tools/call', { name: 'levels' });
    await client.legacy(4, 'logging/setLevel', { level: 'emergency' });
    await client.legacy(5, 'tools/call', { name: 'levels' });
    // What the legacy side set is not of the modern one, nor the other way round.
    await client.modern(6, 'tools/call', { name: 'levels' });
    const refused = await client.modern(7, 'tools/call', { name: 'levels', _meta: { [LEVEL_KEY]: 'all' } });
    expect(refused['error']).toMatchObject({ code: -32602 });
    expect(
      client.pipe.lines.map((line) => {
        const { id, params } = JSON.parse(line) as Json;
        return id ?? (params as Json)['level'];
      }),
    ).toEqual([1, 'alert', 'emergency', 2, 'init', 3, 4, 'emergency', 5, 6, 7]);
    await client.end();
  });

  it('stays bounded while the client does not read, and answers once it does', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(TalkModule, { input, output });
    const params = { name: 'flood', arguments: { count: 100_000 }, _meta: { [LEVEL_KEY]: 'debug' } };
    input.write(`${JSON.stringify(modernMessage('tools/call', params))}\n`);
    await eventually(() => output.readableLength > 0);
    await setImmediate();
    // What Node's streams hold, and the answer.
    expect(output.readableLength + output.writableLength).toBeLessThan(200_000);
    let text = '';
    output.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await eventually(() => text.includes('"text":"done"'));
    expect(text.length).toBeLessThan(200_000);
    const lines = text.trimEnd().split('\n');
    lines.forEach((line, at) => {
      const isLast = at === lines.length - 1;
      traffic.observe(JSON.parse(line), '2026-07-28', isLast ? 'tools/call' : undefined);
    });
    input.end();
    await served;
  });
});

import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Client as ModernClient } from '@modelcontextprotocol/client';
import { serveMcpOverStdio } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, modernMessage, type Json } from '../support/wire.js';
import { Changes, changingApp, waiting } from './changes.app.js';
import {
  acknowledged,
  eventually,
  listChange,
  listenOverHttp,
  openGet,
  resourceChange,
  type ListenOptions,
} from './open-stream.js';

const META_SERVER = 'io.modelcontextprotocol/serverInfo';
const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const ENDED = (id: string | number) => ({
  jsonrpc: '2.0',
  id,
  result: {
    resultType: 'complete',
    _meta: { [META_SUBSCRIPTION]: id, [META_SERVER]: { name: 'desk', version: '1.0.0' } },
  },
});

const uris = (count: number) => Array.from({ length: count }, (_, index) => `ticket://${index}`);

/** Filters that are none, with what the client reads of it. */
const BAD_FILTERS: [string, unknown, string][] = [
  ['missing', undefined, '"notifications" must be an object'],
  ['null', null, '"notifications" must be an object'],
  ['a list', ['toolsListChanged'], '"notifications" must be an object'],
  ['a text as flag', { toolsListChanged: 'yes' }, '"notifications.toolsListChanged" must be true or false'],
  ['null as flag', { promptsListChanged: null }, '"notifications.promptsListChanged" must be true or false'],
  [
    'a text as addresses',
    { resourceSubscriptions: 'note://all' },
    '"notifications.resourceSubscriptions" must be a list of texts',
  ],
  [
    'a number as address',
    { resourceSubscriptions: ['note://all', 1] },
    '"notifications.resourceSubscriptions" must be a list of texts',
  ],
  [
    '101 addresses',
    { resourceSubscriptions: uris(101) },
    '"notifications.resourceSubscriptions" has more than 100 addresses',
  ],
];

describe.each(ADAPTERS)('subscriptions/listen over HTTP on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let changes: Changes;
  const listen = (notifications: unknown, options?: ListenOptions) =>
    listenOverHttp(running.mcp, notifications, traffic, options);

  beforeAll(async () => {
    running = await startApp(changingApp(), { adapter });
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('K4, S-118, S-119, S-120: acknowledges first, then tells what was asked for and nothing else', async () => {
    const stream = await listen(
      { toolsListChanged: true, resourceSubscriptions: ['note://all'] },
      { id: 'sub-a' },
    );
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    await stream.count(1);
    changes.prompts();
    changes.resources();
    changes.update('ticket://1', 'note://all');
    await stream.count(2);
    changes.prompts();
    changes.update('ticket://1');
    await changes.tools();
    expect(await stream.count(3)).toEqual([
      acknowledged({ toolsListChanged: true, resourceSubscriptions: ['note://all'] }, 'sub-a'),
      resourceChange('note://all', 'sub-a'),
      listChange('tools', 'sub-a'),
    ]);
    await stream.close();
  });

  it.each([
    ['toolsListChanged', 'tools'],
    ['promptsListChanged', 'prompts'],
    ['resourcesListChanged', 'resources'],
  ] as const)('S-118: tells one who asked for %s of that list alone', async (flag, list) => {
    const stream = await listen({ [flag]: true }, { id: 7 });
    await stream.count(1);
    await changes.tools();
    changes.prompts();
    changes.resources();
    changes.update('note://all');
    await stream.count(2);
    // The next turn: whatever else the first had told would stand before it.
    await changes.tools();
    changes.prompts();
    changes.resources();
    expect(await stream.count(3)).toEqual([
      acknowledged({ [flag]: true }, 7),
      listChange(list, 7),
      listChange(list, 7),
    ]);
    await stream.close();
  });

  it('S-119: acknowledges a filter that asks for nothing, false flags included', async () => {
    for (const asked of [{}, { toolsListChanged: false, resourceSubscriptions: [] }, { unknown: true }]) {
      const stream = await listen(asked);
      expect(await stream.count(1)).toEqual([acknowledged({}, 'sub')]);
      await stream.close();
    }
  });

  it.each(['"7"', '7', '-1', '9007199254740993', '"é\\u0000"'])(
    'K4, S-120: has the id %s as it was sent, in acknowledgement and changes',
    async (id) => {
      const asked = { notifications: { toolsListChanged: true } };
      const body = JSON.stringify(modernMessage('subscriptions/listen', asked, 0)).replace(
        '"id":0',
        `"id":${id}`,
      );
      const stream = await listen(undefined, { body });
      await stream.count(1);
      await changes.tools();
      await stream.count(2);
      const sent = id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id;
      expect(stream.text.split(`"${META_SUBSCRIPTION}":${sent}}`)).toHaveLength(3);
      await stream.close();
    },
  );

  it('S-055: serves several at once, each by its own filter and id', async () => {
    const streams = await Promise.all([
      listen({ toolsListChanged: true }, { id: 1 }),
      listen({ toolsListChanged: true }, { id: 1 }),
      listen({ resourceSubscriptions: ['ticket://1'] }, { id: '1' }),
    ]);
    await Promise.all(streams.map((stream) => stream.count(1)));
    changes.update('ticket://1');
    await changes.tools();
    const told = await Promise.all(streams.map(async (stream) => (await stream.count(2)).slice(1)));
    expect(told).toEqual([
      [listChange('tools', 1)],
      [listChange('tools', 1)],
      [resourceChange('ticket://1', '1')],
    ]);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('leaves out of the acknowledgement what a guard refuses, what is not there and what is no address', async () => {
    const asked = ['ticket://secret', 'ticket://1', 'nothing://here', 'no address', '', 'note://all'];
    const stream = await listen({ resourceSubscriptions: asked });
    await stream.count(1);
    changes.update('ticket://secret', 'nothing://here', 'note://all');
    expect(await stream.count(2)).toEqual([
      acknowledged({ resourceSubscriptions: ['ticket://1', 'note://all'] }, 'sub'),
      resourceChange('note://all', 'sub'),
    ]);
    await stream.close();
  });

  it('takes 100 addresses, each counted once', async () => {
    const stream = await listen({ resourceSubscriptions: [...uris(100), ...uris(100)] });
    expect(await stream.count(1)).toEqual([acknowledged({ resourceSubscriptions: uris(100) }, 'sub')]);
    await stream.close();
  });

  it.each(BAD_FILTERS)('S-012: refuses a filter that is %s', async (_name, notifications, why) => {
    const reply = await modern(
      running.mcp,
      'subscriptions/listen',
      notifications === undefined ? {} : { notifications },
    );
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    expect(reply.body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message: `Invalid params: ${why}` },
    });
  });

  it('S-113: refuses a level that is none, and opens nothing for it', async () => {
    const _meta = { 'io.modelcontextprotocol/logLevel': 'loud' };
    const reply = await modern(running.mcp, 'subscriptions/listen', { notifications: {}, _meta });
    expect(reply.error.code).toBe(-32602);
    expect(changes.streams).toBe(0);
  });

  it('S-053: refuses a client that takes no stream', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const reply = await modern(running.mcp, 'subscriptions/listen', params, { accept: 'application/json' });
    expect(reply.status).toBe(200);
    expect(reply.error).toEqual({
      code: -32600,
      message: 'This request is answered as a stream: accept text/event-stream',
    });
  });

  it('is a method of 2026-07-28 alone', async () => {
    const client = await connectV1(running.mcp, traffic);
    await expect(
      client.request({ method: 'subscriptions/listen', params: { notifications: {} } } as never, {} as never),
    ).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });

  it('S-056: is over once its client hangs up, and leaves nothing behind', async () => {
    const before = changes.listeners;
    const stream = await listen({ toolsListChanged: true });
    await stream.count(1);
    expect(changes.streams).toBe(1);
    expect(changes.listeners).toBe(before + 1);
    await stream.close();
    await eventually(() => changes.streams === 0);
    expect(changes.listeners).toBe(before);
  });

  it('tells ten changes of one turn once', async () => {
    const stream = await listen({ toolsListChanged: true, resourceSubscriptions: ['note://all'] });
    await stream.count(1);
    const { registry } = changes;
    await Promise.all(Array.from({ length: 10 }, (_, at) => registry.addTool({ name: `t${at}` }, () => at)));
    await stream.count(2);
    for (let at = 0; at < 10; at++) registry.remove('tool', `t${at}`);
    for (let at = 0; at < 10; at++) changes.update('note://all');
    await stream.count(4);
    changes.update('note://all');
    expect((await stream.count(5)).slice(1)).toEqual([
      listChange('tools', 'sub'),
      listChange('tools', 'sub'),
      resourceChange('note://all', 'sub'),
      resourceChange('note://all', 'sub'),
    ]);
    await stream.close();
  });

  it('S-121: carries neither progress nor log messages of calls', async () => {
    const _meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' };
    const body = modernMessage(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true }, _meta },
      'sub',
    );
    const stream = await listen(undefined, { body: JSON.stringify(body) });
    await stream.count(1);
    await changes.registry.addTool({ name: 'chatty' }, async (_args, ctx) => {
      ctx.log.error('to nobody else');
      await ctx.progress(1);
    });
    const reply = await modern(running.mcp, 'tools/call', { name: 'chatty', _meta }, {}, 2);
    expect(reply.messages.map(({ method }) => method)).toEqual([
      'notifications/message',
      'notifications/progress',
      undefined,
    ]);
    changes.registry.remove('tool', 'chatty');
    await stream.count(2);
    await changes.tools();
    const told = await stream.count(3);
    expect(told.slice(1)).toEqual([listChange('tools', 'sub'), listChange('tools', 'sub')]);
    await stream.close();
  });
});

describe.each(ADAPTERS)('the bounds of listening on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let changes: Changes;
  const listen = (user?: string) =>
    listenOverHttp(running.mcp, { toolsListChanged: true }, traffic, {
      headers: user === undefined ? {} : { 'x-user': user },
    });
  const refusal = (user?: string) =>
    modern(
      running.mcp,
      'subscriptions/listen',
      { notifications: {} },
      user === undefined ? {} : { 'x-user': user },
    );

  beforeAll(async () => {
    const options = {
      http: { responses: 'json' as const, keepAlive: 1 },
      limits: { streams: 3, streamsPerCaller: 2, inFlight: 1 },
    };
    running = await startApp(changingApp(options), { adapter });
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('caps the streams of one caller, then those of all, and frees each place', async () => {
    const ann = [await listen('ann'), await listen('ann')];
    await Promise.all(ann.map((stream) => stream.count(1)));
    const own = await refusal('ann');
    expect(own.status).toBe(503);
    expect(own.headers.get('retry-after')).not.toBeNull();
    expect(own.error).toEqual({
      code: -32600,
      message: 'Too many open streams: at most 2 for one caller',
    });
    const bob = await listen('bob');
    await bob.count(1);
    for (const user of ['bob', undefined]) {
      const { status, error } = await refusal(user);
      expect([status, error.message]).toEqual([503, 'Too many open streams: try again later']);
    }
    await ann[0]!.close();
    await eventually(() => changes.streams === 2);
    const again = await listen('ann');
    expect(await again.count(1)).toHaveLength(1);
    await Promise.all([ann[1]!, bob, again].map((stream) => stream.close()));
    await eventually(() => changes.streams === 0);
  });

  it('F7: streams where plain answers are the rule, at once, without a place among the calls in flight', async () => {
    const first = await listen();
    await first.count(1);
    const call = callTool(running.mcp, 'wait');
    await eventually(() => waiting.length === 1);
    const second = await listen();
    expect(await second.count(1)).toHaveLength(1);
    expect((await callTool(running.mcp, 'hello')).status).toBe(503);
    waiting.pop()!();
    expect((await call).status).toBe(200);
    await Promise.all([first, second].map((stream) => stream.close()));
    await eventually(() => changes.streams === 0);
  });

  it('F1: keeps a silent stream alive with comments, which are no messages', async () => {
    const stream = await listen();
    await stream.until(() => stream.text.includes('\n\n:\n\n'));
    expect(stream.messages).toHaveLength(1);
    await stream.close();
  });
});

describe.each(ADAPTERS)('app.close() on %s', (adapter) => {
  it('K4, S-122: ends a subscription with its result, and then the stream', async () => {
    const traffic = new Traffic();
    const running = await startApp(changingApp(), { adapter });
    const changes = new Changes(running.app);
    const streams = [
      await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic, { id: 'text' }),
      await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic, { id: 5 }),
    ];
    await Promise.all(streams.map((stream) => stream.count(1)));
    await running.close();
    for (const stream of streams) expect(await stream.end).toBe('ended');
    expect(streams.map(({ messages }) => messages.slice(1))).toEqual([[ENDED('text')], [ENDED(5)]]);
    expect([changes.streams, changes.listeners]).toEqual([0, 0]);
    await traffic.verify();
  });

  it('opens no further stream while calls get their grace', async () => {
    const traffic = new Traffic();
    const running = await startApp(changingApp(), { adapter });
    const stream = await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic);
    await stream.count(1);
    const call = callTool(running.mcp, 'wait');
    await eventually(() => waiting.length === 1);
    const closing = running.close();
    expect(await stream.end).toBe('ended');
    const refused = await modern(running.mcp, 'subscriptions/listen', { notifications: {} }).catch(
      // A server that takes no connections any more refuses as well.
      () => undefined,
    );
    if (refused)
      expect([refused.status, refused.error.message]).toEqual([503, 'The server is shutting down']);
    waiting.pop()!();
    await call;
    await closing;
    await traffic.verify();
  });
});

describe('subscriptions/listen on stdio', () => {
  const traffic = new Traffic();
  let changes: Changes;
  const connect = (options = {}) =>
    new StdioClient(
      openPipe(changingApp(options), { configure: (app) => void (changes = new Changes(app as never)) }),
      traffic,
    );
  const ofSubscription = (id: string | number) => (message: Json) =>
    ((message['params'] as Json | undefined)?.['_meta'] as Json | undefined)?.[META_SUBSCRIPTION] === id;
  const isAck = (message: Json) => message['method'] === 'notifications/subscriptions/acknowledged';
  const messages = (client: StdioClient) => client.pipe.lines.map((line) => JSON.parse(line) as Json);
  /** Resolves once the server has written that many lines. */
  const count = (client: StdioClient, lines: number) => eventually(() => client.pipe.lines.length >= lines);

  afterAll(() => traffic.verify());

  it('S-043, S-119, S-120: tells several subscriptions apart on the one channel', async () => {
    const client = connect();
    client.sendModern('a', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    client.sendModern(2, 'subscriptions/listen', {
      notifications: { promptsListChanged: true, resourceSubscriptions: ['ticket://1', 'ticket://secret'] },
    });
    await client.pipe.next((message) => isAck(message) && ofSubscription('a')(message));
    await client.pipe.next((message) => isAck(message) && ofSubscription(2)(message));
    await changes.tools();
    changes.prompts();
    changes.update('ticket://secret', 'ticket://1', 'note://all');
    await count(client, 5);
    expect(messages(client).filter(ofSubscription('a'))).toEqual([
      acknowledged({ toolsListChanged: true }, 'a'),
      listChange('tools', 'a'),
    ]);
    expect(messages(client).filter(ofSubscription(2))).toEqual([
      acknowledged({ promptsListChanged: true, resourceSubscriptions: ['ticket://1'] }, 2),
      listChange('prompts', 2),
      resourceChange('ticket://1', 2),
    ]);
    await client.end();
  });

  it('S-122, K4: ends with the result at the end of the input, then with a cancellation that names it', async () => {
    const client = connect();
    client.pipe.write(
      `${JSON.stringify(
        modernMessage('subscriptions/listen', { notifications: { toolsListChanged: true } }, 0),
      ).replace('"id":0', '"id":9007199254740993')}\n`,
    );
    await client.pipe.next(isAck);
    client.sendModern('b', 'subscriptions/listen', { notifications: {} });
    await client.pipe.next((message) => isAck(message) && ofSubscription('b')(message));
    await client.end();
    const [big, text] = ['9007199254740993', '"b"'].map((id) =>
      client.pipe.lines
        .filter((line) => line.includes(`"id":${id},`) || line.includes(`"requestId":${id}`))
        .map((line) => (line.includes('"result"') ? 'result' : line)),
    );
    const named = (id: string) =>
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
    expect(big).toEqual(['result', named('9007199254740993')]);
    expect(text).toEqual(['result', named('"b"')]);
    expect(messages(client).find(({ id }) => id === 'b')).toEqual(ENDED('b'));
    expect(changes.streams).toBe(0);
  });

  it('S-042: is over once its client cancels it, by an id of the same type, and nothing is sent for it', async () => {
    const client = connect();
    client.sendModern(4, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await client.pipe.next(isAck);
    client.notify('notifications/cancelled', { requestId: '4' });
    await client.modern('n1', 'tools/list');
    expect(changes.streams).toBe(1);
    client.notify('notifications/cancelled', { requestId: 4 });
    await client.modern('n2', 'tools/list');
    expect(changes.streams).toBe(0);
    await changes.tools();
    // The id is free again, and what the feed tells now is told to the new one alone.
    client.sendModern(4, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await client.pipe.next(isAck);
    await eventually(() => changes.streams === 1);
    await changes.tools();
    await count(client, 5);
    expect(messages(client).map(({ id, method }) => id ?? method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'n1',
      'n2',
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ]);
    await client.end();
  });

  it('refuses an id that is still in use, by a subscription as by a call, and harms neither', async () => {
    const client = connect();
    const error = { code: -32600, message: 'Invalid request: a call with this id is still running' };
    client.sendModern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await client.pipe.next(isAck);
    client.pipe.send(modernMessage('subscriptions/listen', { notifications: {} }, 1));
    expect(await client.pipe.answer(1)).toEqual({ jsonrpc: '2.0', id: 1, error });
    client.pipe.send(modernMessage('tools/call', { name: 'hello' }, 1));
    await count(client, 3);
    expect(messages(client)[2]).toEqual({ jsonrpc: '2.0', id: 1, error });
    client.sendModern(2, 'tools/call', { name: 'wait' });
    await eventually(() => waiting.length === 1);
    client.pipe.send(modernMessage('subscriptions/listen', { notifications: {} }, 2));
    expect(await client.pipe.answer(2)).toEqual({ jsonrpc: '2.0', id: 2, error });
    waiting.pop()!();
    await changes.tools();
    await count(client, 6);
    expect(messages(client).filter(ofSubscription(1))).toEqual([
      acknowledged({ toolsListChanged: true }, 1),
      listChange('tools', 1),
    ]);
    await client.end();
  });

  it('refuses filters and streams beyond the cap by the same codes, without a status', async () => {
    const client = connect({ limits: { streams: 1 } });
    for (const [name, notifications, why] of BAD_FILTERS) {
      const { error } = await client.modern(
        name,
        'subscriptions/listen',
        notifications === undefined ? {} : { notifications },
      );
      expect(error).toEqual({ code: -32602, message: `Invalid params: ${why}` });
    }
    client.sendModern('one', 'subscriptions/listen', { notifications: {} });
    await client.pipe.next(isAck);
    expect((await client.modern('two', 'subscriptions/listen', { notifications: {} }))['error']).toEqual({
      code: -32600,
      message: 'Too many open streams: try again later',
    });
    await client.end();
  });

  it('works without a place among the calls of the channel', async () => {
    const client = connect({ limits: { inFlightPerChannel: 1 } });
    client.sendModern('l1', 'subscriptions/listen', { notifications: {} });
    client.sendModern('l2', 'subscriptions/listen', { notifications: {} });
    expect(await client.modern('call', 'tools/call', { name: 'hello' })).toHaveProperty('result');
    await client.end();
  });
});

describe('a client on stdio that does not read', () => {
  const traffic = new Traffic();
  const KEPT = 32 * 1024;
  const long = Array.from({ length: 10 }, (_, at) => `ticket://${at}-${'x'.repeat(8_000)}`);
  let changes: Changes;

  const open = (streamBuffer: number) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpOverStdio(changingApp({ limits: { streamBuffer } }), {
      input,
      output,
      configure: (app) => void (changes = new Changes(app as never)),
    });
    const told: Json[] = [];
    return {
      input,
      told,
      /** Resolves once the server has opened it. */
      listen: async (id: string, notifications: Json) => {
        const before = changes?.streams ?? 0;
        input.write(`${JSON.stringify(modernMessage('subscriptions/listen', { notifications }, id))}\n`);
        await eventually(() => changes?.streams === before + 1);
        // Its guards run after it counts as one.
        await eventually(() => changes.listeners === before + 1);
      },
      read: () =>
        void createInterface({ input: output }).on('line', (line) => {
          const message = JSON.parse(line) as Json;
          traffic.observe(message, '2026-07-28', 'id' in message ? 'subscriptions/listen' : undefined);
          told.push(message);
        }),
      end: async () => {
        input.end();
        await served;
      },
    };
  };
  const update = async (...uris: string[]) => {
    changes.update(...uris);
    await setImmediate();
    await setImmediate();
  };

  beforeEach(() => {
    changes = undefined as never;
  });

  afterAll(() => traffic.verify());

  it('is told of each change once when it reads again, after acknowledgements, which are never lost', async () => {
    const client = open(KEPT);
    await client.listen('first', { resourceSubscriptions: long });
    for (let turn = 0; turn < 3; turn++) await update(...long);
    await client.listen('second', { toolsListChanged: true });
    await changes.tools();
    await setImmediate();
    await changes.tools();
    await setImmediate();
    client.read();
    const missed = [
      acknowledged({ resourceSubscriptions: long }, 'first'),
      acknowledged({ toolsListChanged: true }, 'second'),
      ...long.map((uri) => resourceChange(uri, 'first')),
      listChange('tools', 'second'),
    ];
    await eventually(() => client.told.length >= missed.length);
    await update(long[0]!);
    await eventually(() => client.told.length > missed.length);
    expect(client.told).toEqual([...missed, resourceChange(long[0]!, 'first')]);
    await client.end();
  });

  it('is told of all changes where next to nothing may wait for it', async () => {
    const client = open(1);
    await client.listen('small', { resourceSubscriptions: ['ticket://1', ...long.slice(0, 2)] });
    await update(long[0]!);
    await update(long[1]!);
    await update('ticket://1');
    client.read();
    await eventually(() => client.told.length >= 4);
    expect(client.told.slice(1)).toEqual(
      [...long.slice(0, 2), 'ticket://1'].map((uri) => resourceChange(uri, 'small')),
    );
    await client.end();
  });

  it('S-122: reads what changed before the end of its subscription', async () => {
    const client = open(KEPT);
    await client.listen('last', { resourceSubscriptions: long });
    await update(...long);
    const ended = client.end();
    await eventually(() => changes.streams === 0);
    client.read();
    await ended;
    await eventually(() => client.told.length >= long.length + 3);
    expect(client.told.map(({ id, method }) => id ?? method)).toEqual([
      'notifications/subscriptions/acknowledged',
      ...long.map(() => 'notifications/resources/updated'),
      'last',
      'notifications/cancelled',
    ]);
  });
});

/** What a client of either generation is told, in the order it came. */
interface Watcher {
  readonly told: string[];
  close(): Promise<void>;
}

async function watchV2(client: ModernClient): Promise<Watcher> {
  const told: string[] = [];
  client.setNotificationHandler('notifications/tools/list_changed', async () => {
    const { tools } = await client.listTools();
    told.push(`tools ${tools.length}`);
  });
  client.setNotificationHandler('notifications/resources/updated', async ({ params }) => {
    const { contents } = await client.readResource({ uri: params.uri });
    told.push(`updated ${contents[0]!.uri}`);
  });
  if (client.getNegotiatedProtocolVersion() === '2026-07-28') {
    const asked = { toolsListChanged: true, resourceSubscriptions: ['ticket://1'] };
    const subscription = await client.listen(asked);
    expect(subscription.honoredFilter).toEqual(asked);
  } else await client.subscribeResource({ uri: 'ticket://1' });
  return { told, close: () => client.close() };
}

async function watchV1(client: V1Client): Promise<Watcher> {
  const told: string[] = [];
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
    const { tools } = await client.listTools();
    told.push(`tools ${tools.length}`);
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, async ({ params }) => {
    const { contents } = await client.readResource({ uri: params.uri });
    told.push(`updated ${contents[0]!.uri}`);
  });
  await client.subscribeResource({ uri: 'ticket://1' });
  return { told, close: () => client.close() };
}

describe.each(ADAPTERS)('the official clients see changes without polling on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let changes: Changes;

  beforeAll(async () => {
    running = await startApp(changingApp(), { adapter });
    changes = new Changes(running.app);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  const CLIENTS: [string, () => Promise<Watcher>][] = [
    ['v2 client, auto, HTTP', async () => watchV2(await connectV2(running.mcp, 'auto', traffic))],
    ['v2 client, legacy, HTTP', async () => watchV2(await connectV2(running.mcp, 'legacy', traffic))],
    ['v1 client, HTTP', async () => watchV1(await connectV1(running.mcp, traffic))],
    ['v2 client, auto, memory', async () => watchV2(await connectV2Memory(running.app, 'auto', traffic))],
    ['v2 client, legacy, memory', async () => watchV2(await connectV2Memory(running.app, 'legacy', traffic))],
    ['v1 client, memory', async () => watchV1(await connectV1Memory(running.app, traffic))],
  ];

  it.each(CLIENTS)('%s', async (name, watch) => {
    const watcher = await watch();
    if (name.endsWith('HTTP')) await eventually(() => changes.streams === 1);
    changes.update('ticket://2', 'ticket://1');
    await eventually(() => watcher.told.length === 1);
    await changes.registry.addTool({ name: 'later' }, () => 'later');
    await eventually(() => watcher.told.length === 2);
    changes.registry.remove('tool', 'later');
    await eventually(() => watcher.told.length === 3);
    expect(watcher.told).toEqual(['updated ticket://1', 'tools 3', 'tools 2']);
    await watcher.close();
    await eventually(() => changes.streams === 0);
  });

  it('the v2 client reads the end of the server as a graceful one', async () => {
    const own = await startApp(changingApp(), { adapter });
    // The client hangs up as soon as it has the result, and a copy of the stream is never over then: not judged here.
    const client = await connectV2(own.mcp, 'auto', new Traffic());
    const subscription = await client.listen({ toolsListChanged: true });
    await own.close();
    expect(await subscription.closed).toBe('graceful');
    await client.close();
  });

  it('the v2 client hears nothing after it closed its subscription', async () => {
    const client = await connectV2Memory(running.app, 'auto', traffic);
    const subscription = await client.listen({ toolsListChanged: true });
    await subscription.close();
    expect(await subscription.closed).toBe('local');
    await eventually(() => changes.streams === 0);
    await client.close();
  });
});

describe('a second standing stream', () => {
  it('is told of the same change as a subscription of 2026-07-28, each in its own form', async () => {
    const traffic = new Traffic();
    const running = await startApp(changingApp());
    const changes = new Changes(running.app);
    const listening = await listenOverHttp(running.mcp, { toolsListChanged: true }, traffic);
    const client = await connectV1(running.mcp, traffic);
    await eventually(() => changes.streams === 2);
    const refused = await openGet(running.mcp, { id: 'none' }, traffic);
    expect(refused.status).toBe(404);
    await changes.tools();
    expect((await listening.count(2))[1]).toEqual(listChange('tools', 'sub'));
    await client.close();
    await running.close();
    expect(await listening.end).toBe('ended');
    await traffic.verify();
  });
});

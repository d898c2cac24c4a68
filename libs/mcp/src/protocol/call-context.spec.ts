import { McpContext } from './call-context.js';
import { type CallOrigin, type CallSubject, type McpCaller } from './call-origin.js';
import { CallLifetime } from './call-lifetime.js';
import { readId } from './json-rpc.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asking } from './asking/asking.js';
import { McpAskError } from './asking/ask-error.js';
import { McpSuspension, ModernRounds } from './asking/modern-rounds.js';
import { StateSealer } from './asking/state-sealer.js';

function contextOf(origin: Partial<CallOrigin> = {}, subject: Partial<CallSubject> = {}, asking?: Asking) {
  const sent: unknown[] = [];
  const texts: string[] = [];
  const lifetime = new CallLifetime();
  const context = new McpContext(
    {
      transport: 'http',
      era: 'modern',
      revision: '2026-07-28',
      client: { capabilities: {} },
      sessionId: undefined,
      peer: undefined,
      outlet: undefined,
      request: { url: '/mcp' },
      response: undefined,
      callerOf: () => undefined,
      stream: {
        emit: (message) => {
          texts.push(message);
          sent.push((JSON.parse(message) as { params: unknown }).params);
        },
        send: () => undefined,
      },
      ...origin,
    },
    {
      id: readId('1')!,
      method: 'tools/call',
      name: 'a',
      meta: {},
      progressToken: '"t"',
      logLevel: undefined,
      params: undefined,
      ...subject,
    },
    lifetime,
    undefined,
    asking,
  );
  return { context, lifetime, sent, texts };
}

describe('progress', () => {
  it('K1: is sent with token, total and message where they are given', async () => {
    const { context, sent, texts } = contextOf();
    await context.progress(0);
    await context.progress(1, 2);
    await context.progress(1.5, 2, 'half\n"way"');
    expect(sent).toEqual([
      { progressToken: 't', progress: 0 },
      { progressToken: 't', progress: 1, total: 2 },
      { progressToken: 't', progress: 1.5, total: 2, message: 'half\n"way"' },
    ]);
    expect(JSON.parse(texts[0]!)).toMatchObject({ jsonrpc: '2.0', method: 'notifications/progress' });
    expect(texts[0]).not.toContain('"id"');
  });

  it.each(['0', '9007199254740993', '"0"', '-5'])(
    'K1: echoes the token %s with its type and digits',
    async (progressToken) => {
      const { context, texts } = contextOf({}, { progressToken });
      await context.progress(1);
      expect(texts[0]).toContain(`{"progressToken":${progressToken},"progress":1}`);
    },
  );

  it('K1: is not sent without a token or without a stream to send it on', async () => {
    const { context, sent } = contextOf({}, { progressToken: undefined });
    await context.progress(1);
    expect(sent).toEqual([]);
    await expect(contextOf({ stream: undefined }).context.progress(1)).resolves.toBeUndefined();
  });

  it('S-123: grows strictly: what does not exceed the last value is dropped', async () => {
    const { context, sent } = contextOf();
    for (const value of [1, 1, 0.5, -1, 2, 1.999, 2, 2.001]) await context.progress(value);
    expect(sent.map((params) => (params as { progress: number }).progress)).toEqual([1, 2, 2.001]);
  });

  it('takes negative and very large numbers', async () => {
    const { context, sent } = contextOf();
    for (const value of [-5, -0, 1e21, Number.MAX_VALUE]) await context.progress(value);
    expect(sent.map((params) => (params as { progress: number }).progress)).toEqual([
      -5,
      0,
      1e21,
      Number.MAX_VALUE,
    ]);
  });

  it.each([
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [1, Number.NaN],
    [1, Number.NEGATIVE_INFINITY],
  ])(
    'rejects progress %p of %p as a mistake of the handler, with or without a token',
    async (progress, total) => {
      for (const progressToken of ['1', undefined]) {
        const { context, sent } = contextOf({}, { progressToken });
        await expect(context.progress(progress, total)).rejects.toThrow(TypeError);
        expect(sent).toEqual([]);
      }
    },
  );

  it('S-123, F4: stops when the call is answered or ended', async () => {
    const answered = contextOf();
    answered.lifetime.finish();
    await answered.context.progress(1);
    const ended = contextOf();
    ended.lifetime.end('cancelled');
    await ended.context.progress(1);
    expect([answered.sent, ended.sent]).toEqual([[], []]);
  });

  it('S-032: has no message for a client of 2024-11-05, which knows none', async () => {
    const { context, sent } = contextOf({ era: 'legacy', revision: '2024-11-05' });
    await context.progress(1, 2, 'x');
    expect(sent).toEqual([{ progressToken: 't', progress: 1, total: 2 }]);
  });

  it('waits for a slow reader', async () => {
    let drain!: () => void;
    const room = new Promise<void>((resolve) => (drain = resolve));
    const { context } = contextOf({ stream: { emit: () => room, send: () => undefined } });
    let isDone = false;
    const progress = context.progress(1).then(() => (isDone = true));
    await Promise.resolve();
    expect(isDone).toBe(false);
    drain();
    await progress;
    expect(isDone).toBe(true);
  });
});

describe('the caller', () => {
  it('is read as the request stands until the guards have run, and is fixed then', () => {
    let caller: McpCaller | undefined;
    const { context } = contextOf({ callerOf: () => caller });
    expect(context.caller).toBeUndefined();
    caller = { id: 'ann' };
    expect(context.caller).toEqual({ id: 'ann' });
    context.fixCaller();
    caller = { id: 'eve' };
    context.fixCaller();
    expect(context.caller).toEqual({ id: 'ann' });
  });

  it('stays absent when the guards left none', () => {
    let caller: McpCaller | undefined;
    const { context } = contextOf({ callerOf: () => caller });
    context.fixCaller();
    caller = { id: 'eve' };
    expect(context.caller).toBeUndefined();
  });
});

describe('the view of the call', () => {
  it('gives what the message and its transport say', () => {
    const { context, lifetime } = contextOf(
      {
        transport: 'stdio',
        era: 'legacy',
        revision: '2025-03-26',
        sessionId: 's',
        client: { name: 'c', version: '1', capabilities: {} },
      },
      { meta: { progressToken: 't' }, name: 'search' },
    );
    expect(context).toMatchObject({
      requestId: 1,
      method: 'tools/call',
      name: 'search',
      transport: 'stdio',
      era: 'legacy',
      revision: '2025-03-26',
      sessionId: 's',
      client: { name: 'c' },
      meta: { progressToken: 't' },
      request: { url: '/mcp' },
    });
    expect(context.signal).toBe(lifetime.signal);
  });

  it.each([
    ['7', 7],
    ['"7"', '7'],
    ['9007199254740993', '9007199254740993'],
  ])('gives the id %s as %p', (token, value) => {
    expect(contextOf({}, { id: readId(token)! }).context.requestId).toBe(value);
  });
});

describe('an error of a call that is over', () => {
  const caused = (cause: unknown) => new Error('The operation was aborted', { cause });

  it.each(['cancelled', 'disconnected', 'timeout', 'shutdown'] as const)(
    'is known as the handler stopping, when the call was ended as %s',
    (reason) => {
      const { context, lifetime } = contextOf();
      lifetime.end(reason);
      const { reason: thrown } = context.signal as { reason: unknown };
      expect([thrown, caused(thrown)].map((error) => context.isStoppedBy(error))).toEqual([true, true]);
      const others = [undefined, null, 'gone', new Error('gone'), caused(new Error('gone'))];
      expect(others.filter((error) => context.isStoppedBy(error))).toEqual([]);
    },
  );

  it('is none as long as the call goes on, or when it was answered', () => {
    const { context, lifetime } = contextOf();
    expect(context.isStoppedBy(undefined)).toBe(false);
    lifetime.finish();
    lifetime.end('cancelled');
    expect(context.isStoppedBy(undefined)).toBe(false);
  });
});

describe('questions to the client', () => {
  const sealer = new StateSealer([], 60_000);
  const asking: Asking = {
    open: (call) =>
      new ModernRounds(
        call.params,
        call.capabilities,
        sealer,
        { stateSize: 32_768, rounds: 8 },
        () => ({
          caller: call.callerId(),
          method: call.method,
          name: call.name,
          args: call.params?.['arguments'],
        }),
        (why) => call.giveUp(why),
      ),
    form: () => Promise.reject(new TypeError('no form')),
  };
  const client = { capabilities: { elicitation: { url: {} }, roots: {} } };
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(() => process.on('unhandledRejection', note));
  afterAll(() => process.off('unhandledRejection', note));
  afterEach(async () => {
    await nextTurn();
    await nextTurn();
    if (unhandled.length > 0) throw new Error(`Unhandled: ${unhandled.splice(0).join(', ')}`);
  });

  it('S-130: are refused by a rejection where nothing can be asked', async () => {
    const { context } = contextOf({ client }, { method: 'completion/complete' });
    for (const asked of [
      context.elicit('A', {}),
      context.elicitUrl('A', 'https://example.com'),
      context.sample({ messages: [], maxTokens: 1 }),
      context.roots(),
      context.once('x', () => 1),
    ]) {
      const error: unknown = await asked.catch((thrown: unknown) => thrown);
      expect(McpAskError.is(error) && error.fault).toBe('unsupported');
      expect(error).toMatchObject({ message: 'Nothing can be asked during completion/complete' });
    }
    void context.enter();
    expect(context.questions.verdict()).toBeUndefined();
  });

  it('end no process where their handler waits for none of them', async () => {
    const { context } = contextOf({ client }, {}, asking);
    void context.enter();
    void context.elicit('A', {});
    void context.elicitUrl('A', 'nowhere');
    void context.elicitUrl('A', 'https://example.com', { key: 'a' });
    void context.roots({ key: 'a' });
    void context.elicit('A', {}, { key: 'a' });
    void context.once('x', () => Promise.reject(new Error('no')));
    expect(await context.questions.verdict()).toMatchObject({
      requests: { a: { method: 'elicitation/create' } },
    });
    void context.elicit('B', {});
    void context.once('y', () => 1);
  });

  it('are refused with a state that is none, also before the handler', async () => {
    const { context } = contextOf({ client }, { params: { requestState: 'none' } }, asking);
    void context.elicit('A', {});
    await expect(context.once('x', () => 1)).rejects.toMatchObject({ code: -32602 });
    await expect(context.enter()).rejects.toThrow('"requestState" is not a valid state of this call');
    expect(await context.questions.verdict()).toMatchObject({ error: { code: -32602 } });
  });

  it('leave nothing to send for a call that waits for their answers', async () => {
    const { context, sent } = contextOf({ client }, { logLevel: 'debug' }, asking);
    void context.enter();
    await context.progress(1);
    await expect(context.roots()).rejects.toThrow(McpSuspension);
    await context.progress(2);
    context.log.info('late');
    expect(sent).toEqual([{ progressToken: 't', progress: 1 }]);
    await expect(context.enter()).rejects.toThrow(McpSuspension);
  });
});

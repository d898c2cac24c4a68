import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsIn, IsString } from 'class-validator';
import {
  McpBootException,
  McpCompletion,
  McpContext,
  McpModule,
  McpPrompt,
  McpResource,
  type McpRevision,
} from 'nest-mcp';
import { ADAPTERS, startApp } from '../support/app.js';
import { connectV1Memory, connectV2Memory } from '../support/memory.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import type { Json } from '../support/wire.js';
import { completionModule, runs, seen } from './completion.app.js';
import { DOORS, http, openDoors, stdio, type Answer, type Door, type OpenDoors } from './resources.doors.js';

const traffic = new Traffic();
const Root = completionModule();
const TICKET = 'ticket://{team}/{id}{?urgent}';
const REFERENCE = /^The completion failed \(reference [0-9a-f-]{36}\)$/;

let open: OpenDoors;
beforeAll(async () => {
  open = await openDoors(Root, traffic);
});
afterAll(async () => {
  await open.close();
  await traffic.verify();
});

const prompt = (name: string) => ({ type: 'ref/prompt', name });
const template = (uri: string) => ({ type: 'ref/resource', uri });
const completionOf = ({ result }: Answer) => result['completion'] as Json;

describe.each(DOORS)('completion by %s', (name) => {
  let door: Door;
  beforeAll(() => {
    door = open.doors.get(name)!;
  });
  const ask = (ref: unknown, argument: unknown, more: Json = {}) =>
    door.ask('completion/complete', { ref, argument, ...more });
  const complete = (ref: unknown, argument: string, value: string, filled?: Json) =>
    ask(ref, { name: argument, value }, filled ? { context: { arguments: filled } } : {});

  it('S-100: declares completions, as something completes', async () => {
    expect((await door.capabilities())['completions']).toEqual({});
  });

  it('J11, S-112: sends the first 100 of 150 candidates and says that there are more', async () => {
    for (const [ref, prefix] of [
      [prompt('triage'), ''],
      [template(TICKET), 'any-'],
    ] as const) {
      const { values, ...rest } = completionOf(await complete(ref, 'id', ''));
      expect(values).toEqual(Array.from({ length: 100 }, (_, index) => `${prefix}${1000 + index}`));
      expect(rest).toEqual({ total: 150, hasMore: true });
    }
  });

  it('J11: narrows by what was typed', async () => {
    expect(completionOf(await complete(prompt('triage'), 'id', '114'))).toEqual({
      values: Array.from({ length: 10 }, (_, index) => String(1140 + index)),
      total: 10,
      hasMore: false,
    });
    expect(completionOf(await complete(prompt('triage'), 'id', 'x'))).toEqual({
      values: [],
      total: 0,
      hasMore: false,
    });
  });

  it('gives the completer what is filled in and the context', async () => {
    await complete(prompt('triage'), 'id', '11\u{1F600}', { team: 'Billing', note: '' });
    expect(seen.last).toMatchObject({
      typed: '11\u{1F600}',
      filled: { team: 'Billing', note: '' },
      name: 'triage',
      method: 'completion/complete',
      transport: name.split(' ')[0]!.toLowerCase(),
      revision: door.revision,
    });
    const answer = await complete(template(TICKET), 'id', '1001', { team: 'Account' });
    expect(completionOf(answer)['values']).toEqual(['Account-1001']);
    expect(seen.last).toEqual({ typed: '1001', filled: { team: 'Account' }, name: TICKET });
  });

  it('has an empty object where nothing is filled in', async () => {
    await ask(prompt('triage'), { name: 'id', value: '1' }, { context: {} });
    expect(seen.last!['filled']).toEqual({});
  });

  it("fills the application's own parameter decorators", async () => {
    expect(completionOf(await complete(template('plain://{name}'), 'name', ''))['values']).toEqual([
      'said completion completion/complete',
    ]);
  });

  it('makes a request-scoped completer anew for every call', async () => {
    const first = completionOf(await complete(prompt('triage'), 'note', ''))['values'] as string[];
    const second = completionOf(await complete(prompt('triage'), 'note', ''))['values'] as string[];
    expect(Number(second[0])).toBeGreaterThan(Number(first[0]));
  });

  describe('by the values of the schema', () => {
    it.each([
      ['', ['Billing', 'Technical', 'Account', 'Archive']],
      ['A', ['Account', 'Archive']],
      ['aR', ['Archive']],
      ['TECHNICAL', ['Technical']],
      ['x', []],
      ['illing', []],
    ])('completes an enum by itself, whatever the case: %p', async (typed, values) => {
      for (const ref of [prompt('triage'), template(TICKET)])
        expect(completionOf(await complete(ref, 'team', typed))).toEqual({
          values,
          total: values.length,
          hasMore: false,
        });
    });

    it('completes a boolean by itself', async () => {
      expect(completionOf(await complete(prompt('triage'), 'urgent', 't'))['values']).toEqual(['true']);
      expect(completionOf(await complete(template(TICKET), 'urgent', ''))['values']).toEqual([
        'true',
        'false',
      ]);
    });
  });

  describe('what a completer returns', () => {
    it.each([
      ['list', { values: ['a', 'b'], total: 2, hasMore: false }],
      ['set', { values: ['a', 'b'], total: 2, hasMore: false }],
      ['generator', { values: ['a', 'b'], total: 2, hasMore: false }],
      ['promise', { values: ['a'], total: 1, hasMore: false }],
      ['numbers', { values: ['1', '2', 'true'], total: 3, hasMore: false }],
      ['counted', { values: ['a'], total: 7, hasMore: true }],
      ['undefined', { values: [], total: 0, hasMore: false }],
      ['null', { values: [], total: 0, hasMore: false }],
    ])('%s', async (kind, completion) => {
      expect(completionOf(await complete(prompt('kinds'), 'kind', kind))).toEqual(completion);
    });

    it('S-112: never sends more than 100 values, whatever it says of their number', async () => {
      const uncounted = completionOf(await complete(prompt('kinds'), 'kind', 'uncounted'));
      const undercounted = completionOf(await complete(prompt('kinds'), 'kind', 'undercounted'));
      expect([(uncounted['values'] as unknown[]).length, uncounted['hasMore']]).toEqual([100, true]);
      expect([(undercounted['values'] as unknown[]).length, undercounted['hasMore']]).toEqual([100, true]);
      expect(undercounted['total']).toBe(150);
    });

    it.each(['text', 'objects'])(
      '%s: a mistake of the server, which the client reads nothing of',
      async (kind) => {
        const { error } = await complete(prompt('kinds'), 'kind', kind);
        expect(error.code).toBe(-32603);
        expect(error.message).toMatch(REFERENCE);
      },
    );
  });

  it.each(['kind', 'other'])(
    'answers what a completer returns or throws as an error: %s',
    async (argument) => {
      const error = async (kind: string) => (await complete(prompt('kinds'), argument, kind)).error;
      expect(await error('403')).toEqual({ code: 403, message: 'Not yours' });
      expect(await error('404')).toEqual({ code: 404, message: 'No such ticket' });
      expect(await error('mcp')).toEqual({
        code: 4001,
        message: 'read-only today',
        data: { until: '18:00' },
      });
      const unforeseen = await error('plain');
      expect(unforeseen.code).toBe(-32603);
      expect(unforeseen.message).toMatch(REFERENCE);
      expect(completionOf(await complete(prompt('kinds'), 'kind', 'list'))['values']).toEqual(['a', 'b']);
    },
  );

  describe('refusals', () => {
    const OK = { name: 'id', value: '' };
    it.each<[string, unknown, unknown, Json]>([
      ['an unknown prompt', prompt('nothing'), OK, {}],
      ['a prompt named like a member of objects', prompt('__proto__'), OK, {}],
      ['an unknown template', template('nothing://{id}'), OK, {}],
      ['a fixed address', template('ticket://all'), OK, {}],
      ['a template by another spelling', template('ticket://{team}/{id}'), OK, {}],
      ['another kind of reference', { type: 'ref/tool', name: 'triage' }, OK, {}],
      ['no reference', undefined, OK, {}],
      ['a reference that is a text', 'triage', OK, {}],
      ['a prompt without a name', { type: 'ref/prompt' }, OK, {}],
      ['a template without an address', { type: 'ref/resource', name: 'triage' }, OK, {}],
      ['an unknown argument', prompt('triage'), { name: 'x', value: '' }, {}],
      [
        'an argument named like a member of objects',
        prompt('triage'),
        { name: 'constructor', value: '' },
        {},
      ],
      ['an unknown variable', template(TICKET), { name: 'note', value: '' }, {}],
      ['no argument', prompt('triage'), undefined, {}],
      ['an argument without a value', prompt('triage'), { name: 'id' }, {}],
      ['a value that is no text', prompt('triage'), { name: 'id', value: 1 }, {}],
      ['a context that is none', prompt('triage'), OK, { context: 'x' }],
      ['arguments that are none', prompt('triage'), OK, { context: { arguments: [] } }],
      ['arguments that are no texts', prompt('triage'), OK, { context: { arguments: { team: 1 } } }],
    ])('J11, S-112: %s', async (_name, ref, argument, more) => {
      const { error, result } = await ask(ref, argument, more);
      expect([result, error.code]).toEqual([undefined, -32602]);
      expect(error.message).toMatch(/^Invalid params: /);
    });

    it('takes hostile values as the texts they are, and answers the next call', async () => {
      const hostile = ['x'.repeat(100_000), '%'.repeat(50_000), '\u0000\u202e\ud800', '(a+)+$', '../../etc'];
      for (const value of hostile)
        for (const argument of ['id', 'team'])
          expect(completionOf(await complete(prompt('triage'), argument, value))['values']).toEqual([]);
      const filled = JSON.parse('{"__proto__":"x","constructor":"y"}') as Json;
      await complete(prompt('triage'), 'id', '1', filled);
      expect(({} as Json)['x']).toBeUndefined();
      const huge = 'nothing://'.padEnd(100_000, '{a}');
      expect((await complete(template(huge), 'id', '')).error.code).toBe(-32602);
      expect(completionOf(await complete(prompt('triage'), 'team', 'b'))['values']).toEqual(['Billing']);
    });
  });

  it('S-112: discloses nothing of what the caller may not use, nor where the completer itself is guarded', async () => {
    runs.guarded = 0;
    for (const [ref, argument] of [
      [prompt('secret'), 'kind'],
      [prompt('secret'), 'other'],
      [template('secret://{name}'), 'name'],
      [prompt('limited'), 'other'],
    ] as const) {
      const { error, result } = await complete(ref, argument, '');
      expect([result, error]).toEqual([undefined, { code: 403, message: 'Forbidden resource' }]);
    }
    expect(runs.guarded).toBe(0);
  });

  it('S-112: a limit of rate by a guard counts completions too', async () => {
    const codes = [];
    for (let call = 0; call < 3; call++)
      codes.push((await complete(prompt('limited'), 'kind', '')).error?.code);
    expect(codes).toEqual([undefined, undefined, 429]);
  });

  it('S-115: has no hints, and nothing of 2026-07-28 before it', async () => {
    const { result } = await complete(prompt('triage'), 'id', '');
    const members = Object.keys(result).sort();
    expect(members).toEqual(
      door.revision === '2026-07-28' ? ['_meta', 'completion', 'resultType'] : ['completion'],
    );
  });
});

describe.each(ADAPTERS)('completion in each revision on %s', (adapter) => {
  it.each<[McpRevision, unknown]>([
    ['2024-11-05', undefined],
    ['2025-03-26', {}],
    ['2025-06-18', {}],
    ['2025-11-25', {}],
    ['2026-07-28', {}],
  ])('%s completes, with a capability where that revision has one', async (revision, capability) => {
    const door = await http(open.apps[adapter].mcp, revision, traffic);
    expect((await door.capabilities())['completions']).toEqual(capability);
    const argument = { name: 'id', value: '1001' };
    const answer = await door.ask('completion/complete', { ref: prompt('triage'), argument });
    expect(completionOf(answer)).toEqual({ values: ['1001'], total: 1, hasMore: false });
  });
});

it('2024-11-05 completes on stdio as well, without a capability', async () => {
  const door = await stdio(Root, '2024-11-05', traffic);
  expect(Object.keys(await door.capabilities()).sort()).toEqual(['logging', 'prompts', 'resources']);
  const argument = { name: 'team', value: 'bi' };
  const answer = await door.ask('completion/complete', { ref: prompt('triage'), argument });
  expect(completionOf(answer)['values']).toEqual(['Billing']);
  await door.close();
});

describe('completion by the official clients', () => {
  it.each([
    ...ADAPTERS.flatMap((adapter) => [
      [`v2 auto on ${adapter}`, () => connectV2(open.apps[adapter].mcp, 'auto', traffic)] as const,
      [`v2 legacy on ${adapter}`, () => connectV2(open.apps[adapter].mcp, 'legacy', traffic)] as const,
      [`v1 on ${adapter}`, () => connectV1(open.apps[adapter].mcp, traffic)] as const,
    ]),
    ['v2 auto in memory', () => connectV2Memory(open.bare, 'auto', traffic)] as const,
    ['v2 legacy in memory', () => connectV2Memory(open.bare, 'legacy', traffic)] as const,
    ['v1 in memory', () => connectV1Memory(open.bare, traffic)] as const,
  ])('completes arguments and variables: %s', async (_name, connect) => {
    const client = await connect();
    expect(client.getServerCapabilities()?.completions).toEqual({});
    const byPrompt = await client.complete({
      ref: { type: 'ref/prompt', name: 'triage' },
      argument: { name: 'id', value: '' },
    });
    expect(byPrompt.completion).toMatchObject({ total: 150, hasMore: true });
    expect(byPrompt.completion.values).toHaveLength(100);
    const byTemplate = await client.complete({
      ref: { type: 'ref/resource', uri: TICKET },
      argument: { name: 'id', value: '1007' },
      context: { arguments: { team: 'Billing' } },
    });
    expect(byTemplate.completion.values).toEqual(['Billing-1007']);
    const unknown = client.complete({
      ref: { type: 'ref/prompt', name: 'nothing' },
      argument: { name: 'id', value: '' },
    });
    await expect(unknown).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});

describe('whether completion is served at all', () => {
  class NoteDto {
    @IsString()
    note: string;
  }
  class TeamDto {
    @IsIn(['a', 'b'])
    team: string;
  }

  @Injectable()
  class Plain {
    @McpPrompt('plain')
    plain({ note }: NoteDto): string {
      return note;
    }

    @McpResource('plain://{note}')
    read({ note }: NoteDto): string {
      return note;
    }
  }

  @Injectable()
  class Listed {
    @McpResource('listed://{team}')
    read({ team }: TeamDto): string {
      return team;
    }
  }

  @Injectable()
  class Hanging {
    @McpPrompt('hanging')
    hanging({ note }: NoteDto): string {
      return note;
    }

    @McpCompletion({ prompt: 'hanging', argument: 'note' })
    never(typed: string, context: McpContext): Promise<never> {
      signals.push(context.signal);
      return new Promise(() => undefined);
    }
  }

  const signals: AbortSignal[] = [];

  const rootOf = (provider: new () => object, limits = {}) => {
    @Module({
      imports: [McpModule.forRoot({ name: 'some', version: '1.0.0', limits })],
      providers: [provider],
    })
    class SomeModule {}
    return SomeModule;
  };

  async function everywhere(root: ReturnType<typeof rootOf>, work: (door: Door) => Promise<void>) {
    for (const adapter of ADAPTERS) {
      const app = await startApp(root, { adapter });
      try {
        for (const revision of ['2026-07-28', '2025-11-25', '2024-11-05'] as const)
          await work(await http(app.mcp, revision, traffic));
      } finally {
        await app.close();
      }
    }
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      const door = await stdio(root, revision, traffic);
      await work(door);
      await door.close();
    }
  }

  it('J11, S-100: is neither declared nor answered where nothing completes', async () => {
    await everywhere(rootOf(Plain), async (door) => {
      expect((await door.capabilities())['completions']).toBeUndefined();
      const params = { ref: prompt('plain'), argument: { name: 'note', value: '' } };
      expect((await door.ask('completion/complete', params)).error.code).toBe(-32601);
    });
  });

  it('J11, S-100: is served where an enum alone completes; other arguments have no values', async () => {
    await everywhere(rootOf(Listed), async (door) => {
      expect((await door.capabilities())['completions']).toEqual(
        door.revision === '2024-11-05' ? undefined : {},
      );
      const params = { ref: template('listed://{team}'), argument: { name: 'team', value: 'B' } };
      expect(completionOf(await door.ask('completion/complete', params))['values']).toEqual(['b']);
    });
  });

  it('a known argument that nothing completes has no values', async () => {
    const argument = { name: 'other', value: '' };
    for (const door of open.doors.values())
      expect(
        completionOf(await door.ask('completion/complete', { ref: prompt('unlisted'), argument })),
      ).toEqual({ values: [], total: 0, hasMore: false });
  });

  it('ends a completion that takes too long in-band, and aborts it', async () => {
    await everywhere(rootOf(Hanging, { handlerTime: 20 }), async (door) => {
      const params = { ref: prompt('hanging'), argument: { name: 'note', value: '' } };
      expect((await door.ask('completion/complete', params)).error).toEqual({
        code: -32603,
        message: 'The completion did not finish within 20 ms',
      });
      expect(signals.at(-1)!.aborted).toBe(true);
    });
  });

  it.each([
    ['an unknown prompt', { prompt: 'nothing', argument: 'note' }],
    ['an unknown argument', { prompt: 'plain', argument: 'x' }],
    ['an unknown template', { resource: 'plain://{other}/{note}', argument: 'note' }],
    ['an unknown variable', { resource: 'plain://{note}', argument: 'x' }],
  ])('refuses to start where %s is completed', async (_name, of) => {
    @Injectable()
    class Wrong extends Plain {
      @McpCompletion(of)
      wrong(): string[] {
        return [];
      }
    }
    const starting = NestFactory.createApplicationContext(rootOf(Wrong), {
      logger: false,
      abortOnError: false,
    });
    const error = await starting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(McpBootException);
    expect((error as Error).message).toMatch(/Wrong\.wrong/);
  });
});

import { Readable } from 'node:stream';
import { Injectable, Module, NotFoundException, StreamableFile } from '@nestjs/common';
import { Exclude, Expose, Type } from 'class-transformer';
import { IsArray, IsDate, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { McpModule, McpTool } from 'nest-mcp';
import { EMPTY, NEVER, Observable, of, throwError } from 'rxjs';
import { z } from 'zod';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, openSession, textOf, type Json, type LegacySession } from '../support/wire.js';
import { CapturedLog } from './captured-log.js';

class TicketDto {
  @IsInt()
  id: number;

  @IsString()
  name: string;

  @IsOptional()
  @IsString()
  openedAt?: string;
}

class PageDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => TicketDto)
  tickets: TicketDto[];

  @IsInt()
  total: number;
}

/** An entity as an ORM gives it, which knows more than the client may see. */
class TicketEntity {
  id = 7;
  name = 'Printer on fire';
  openedAt = new Date('2026-07-28T10:00:00.000Z');
  passwordHash = 'canary-hash';

  @Exclude()
  internalNote = 'canary-note';
}

class StampDto {
  @Expose()
  @IsDate()
  @Type(() => Date)
  at: Date;
}

const CANARY = /canary/;
const TICKET = { id: 7, name: 'Printer on fire', openedAt: '2026-07-28T10:00:00.000Z' };
const REFERENCE = /\(reference ([0-9a-f-]{36})\)$/;

/** Observables that were let go. */
let torn = 0;

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

/** What the tool `plain` returns, by name. */
const PLAIN: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  zero: () => 0,
  false: () => false,
  empty: () => '',
  bigint: () => 10n,
  deepBigint: () => ({ a: [10n] }),
  date: () => new Date(0),
  map: () => new Map([[1, new Set(['a'])]]),
  bytes: () => Buffer.from([9, 1, 2, 3, 9]).subarray(1, 4),
  entity: () => ({ list: [new TicketEntity()] }),
  cycle: () => cycle,
  function: () => () => 1,
  structured: () => ({ structuredContent: { a: 1 } }),
  blocks: () => [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'AQID', mimeType: 'image/png' },
  ],
  full: () => ({ content: [{ type: 'text', text: 'a' }], structuredContent: { a: 1 }, isError: false }),
  bugs: () => [
    { type: 'bug', text: 'a' },
    { type: 'text', size: 1 },
  ],
  stream: () => Readable.from([Buffer.from([1, 2]), Buffer.from([3])], { objectMode: false }),
  file: () => new StreamableFile(Buffer.from('a\u00e4'), { type: 'text/plain' }),
  image: () => new Blob([Uint8Array.of(1, 2, 3)], { type: 'image/png' }),
  observable: () => of('a', 'b'),
  emptyObservable: () => EMPTY,
  failingObservable: () => throwError(() => new NotFoundException('No such ticket')),
  returnedError: () => new NotFoundException('No such ticket'),
  driver: () => new Error('connect postgres://app:canary@db'),
};

@Injectable()
class OutputTools {
  @McpTool({ input: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] } })
  plain(args: { kind: string }): unknown {
    return PLAIN[args.kind]!();
  }

  @McpTool({ output: TicketDto })
  entity(): TicketEntity {
    return new TicketEntity();
  }

  @McpTool({ output: PageDto })
  page(): unknown {
    return { tickets: [new TicketEntity()], total: 1, next: 'canary' };
  }

  @McpTool({ output: TicketDto })
  fails(): never {
    throw new NotFoundException('No such ticket');
  }

  @McpTool({ output: TicketDto })
  breaks(): never {
    throw new Error('canary of the driver');
  }

  @McpTool({ output: TicketDto })
  refuses(): unknown {
    return { isError: true, content: [{ type: 'text', text: 'Not today' }], structuredContent: { id: 'x' } };
  }

  @McpTool({ output: TicketDto })
  text(): unknown {
    return 'just text';
  }

  @McpTool({ output: TicketDto })
  nothing(): unknown {
    return undefined;
  }

  @McpTool({ output: TicketDto })
  wrong(): unknown {
    return { id: 'seven', name: 'canary-value' };
  }

  @McpTool({ output: TicketDto })
  contentAlone(): unknown {
    return { content: [{ type: 'text', text: 'canary' }] };
  }

  @McpTool({ output: TicketDto })
  structuredAlone(): unknown {
    return { structuredContent: new TicketEntity() };
  }

  @McpTool({ output: StampDto })
  stamp(): StampDto {
    return Object.assign(new StampDto(), { at: new Date(0) });
  }

  @McpTool({ output: z.object({ id: z.number(), name: z.string() }) })
  zod(): unknown {
    return new TicketEntity();
  }

  @McpTool({ output: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } } })
  list(): unknown {
    return [{ id: 1 }, { id: 2 }];
  }

  @McpTool({ output: { type: ['integer', 'null', 'boolean', 'string'] } })
  falsy(): unknown {
    return 0;
  }

  @McpTool({ timeout: 100 })
  never(): Observable<unknown> {
    return new Observable((subscriber) => NEVER.subscribe(subscriber).add(() => torn++));
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'outputs', version: '1' })], providers: [OutputTools] })
class OutputsModule {}

describe.each(ADAPTERS)('outputs on %s', (adapter) => {
  let running: RunningApp;
  let session: LegacySession;
  const log = new CapturedLog();
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(OutputsModule, { adapter, logger: log });
    session = await openSession(running.mcp);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  beforeEach(() => log.clear());

  async function call(name: string, args: Json = {}): Promise<{ modern: Json; legacy: Json }> {
    const now = await callTool(running.mcp, name, args);
    traffic.observe(now.body, '2026-07-28', 'tools/call');
    const then = await session.callTool(name, args);
    traffic.observe(then.body, '2025-11-25', 'tools/call');
    expect([now.status, then.status]).toEqual([200, 200]);
    return { modern: now.result, legacy: then.result };
  }

  describe('without an output schema', () => {
    it.each([
      ['undefined', []],
      ['null', [{ type: 'text', text: 'null' }]],
      ['zero', [{ type: 'text', text: '0' }]],
      ['false', [{ type: 'text', text: 'false' }]],
      ['empty', [{ type: 'text', text: '' }]],
      ['bigint', [{ type: 'text', text: '10' }]],
      ['deepBigint', [{ type: 'text', text: '{"a":["10"]}' }]],
      ['date', [{ type: 'text', text: '1970-01-01T00:00:00.000Z' }]],
      ['map', [{ type: 'text', text: '{"1":["a"]}' }]],
      ['bytes', [{ type: 'text', text: 'AQID' }]],
      ['stream', [{ type: 'text', text: 'AQID' }]],
      ['file', [{ type: 'text', text: 'a\u00e4' }]],
      ['image', [{ type: 'image', data: 'AQID', mimeType: 'image/png' }]],
      ['observable', [{ type: 'text', text: 'b' }]],
      ['emptyObservable', []],
    ])('I1: %s is a result with its documented content', async (kind, content) => {
      const { modern: now, legacy } = await call('plain', { kind });
      expect([now['content'], now['isError']]).toEqual([content, undefined]);
      expect([legacy['content'], legacy['isError']]).toEqual([content, undefined]);
    });

    it.each(['cycle', 'function'])('I1: a %s is an error result that says why', async (kind) => {
      for (const result of Object.values(await call('plain', { kind }))) {
        expect(result['isError']).toBe(true);
        expect(textOf(result)).toMatch(/^The tool returned a value that JSON cannot carry \(reference /);
      }
    });

    it('I5: structured content comes with its text, a whole result as it is', async () => {
      const text = { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } };
      expect((await call('plain', { kind: 'structured' })).legacy).toEqual(text);
      expect((await call('plain', { kind: 'structured' })).modern).toMatchObject(text);
      expect((await call('plain', { kind: 'full' })).legacy).toEqual({
        content: [{ type: 'text', text: 'a' }],
        structuredContent: { a: 1 },
      });
    });

    it('I6: lists of blocks are content, lists of other things with a type are JSON', async () => {
      expect((await call('plain', { kind: 'blocks' })).legacy).toEqual({ content: PLAIN['blocks']!() });
      expect((await call('plain', { kind: 'bugs' })).legacy).toEqual({
        content: [{ type: 'text', text: '[{"type":"bug","text":"a"},{"type":"text","size":1}]' }],
      });
    });

    it('I2: what @Exclude hides is in no result, however deep', async () => {
      for (const result of Object.values(await call('plain', { kind: 'entity' })))
        expect(JSON.stringify(result)).not.toContain('canary-note');
    });

    it('I8: a returned or emitted exception counts as thrown: its message is kept, the unknown masked', async () => {
      for (const kind of ['returnedError', 'failingObservable'])
        for (const result of Object.values(await call('plain', { kind })))
          expect([result['isError'], textOf(result)]).toEqual([true, 'No such ticket']);
      for (const result of Object.values(await call('plain', { kind: 'driver' }))) {
        expect(JSON.stringify(result)).not.toMatch(CANARY);
        const [, reference] = REFERENCE.exec(textOf(result))!;
        expect(log.with(reference!)[0]).toMatch(/canary@db[^]*at .*outputs/);
      }
    });

    it('an Observable is let go when the call ends before it', async () => {
      const before = torn;
      const { modern: now } = await call('never');
      expect(textOf(now)).toBe('The tool did not finish within 100 ms');
      expect(torn - before).toBe(2);
    });
  });

  describe('with an output schema', () => {
    it('S-190: are announced to the revisions that know them, other roots than objects wrapped before 2026-07-28', async () => {
      const now = await modern(running.mcp, 'tools/list');
      traffic.observe(now.body, '2026-07-28', 'tools/list');
      const listed = (result: Json) =>
        (result['tools'] as Json[]).filter((tool) => 'outputSchema' in tool).map((tool) => tool['name']);
      const all = listed(now.result);
      expect(all).toEqual(expect.arrayContaining(['entity', 'zod', 'list', 'falsy']));
      for (const [revision, names] of [
        ['2025-11-25', all],
        ['2025-06-18', all],
        ['2025-03-26', []],
      ] as const) {
        const reply = await (await openSession(running.mcp, revision)).request('tools/list');
        traffic.observe(reply.body, revision, 'tools/list');
        expect(listed(reply.result)).toEqual(names);
        const wrapped = (reply.result['tools'] as Json[]).find((tool) => tool['name'] === 'falsy');
        expect(wrapped!['outputSchema']).toEqual(
          names.length === 0
            ? undefined
            : expect.objectContaining({
                properties: { result: { type: expect.any(Array) } },
                required: ['result'],
              }),
        );
      }
    });

    it.each(['entity', 'structuredAlone'])(
      'I2, S-104: %s gives what the DTO knows, and nothing more',
      async (name) => {
        for (const result of Object.values(await call(name))) {
          expect(result['structuredContent']).toEqual(TICKET);
          expect(JSON.parse(textOf(result))).toEqual(TICKET);
          expect(JSON.stringify(result)).not.toMatch(CANARY);
        }
      },
    );

    it('I2, S-104: nor in lists of it, nor of a zod schema', async () => {
      for (const result of Object.values(await call('page')))
        expect([result['structuredContent'], textOf(result)]).toEqual([
          { tickets: [TICKET], total: 1 },
          JSON.stringify({ tickets: [TICKET], total: 1 }),
        ]);
      for (const result of Object.values(await call('zod')))
        expect(result['structuredContent']).toEqual({ id: 7, name: 'Printer on fire' });
    });

    it('dates are text, as the schema says', async () => {
      expect((await call('stamp')).legacy['structuredContent']).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    });

    it('I3: what is thrown is an error result without structured content', async () => {
      for (const result of Object.values(await call('fails')))
        expect([result['isError'], textOf(result), result['structuredContent']]).toEqual([
          true,
          'No such ticket',
          undefined,
        ]);
      for (const result of Object.values(await call('refuses')))
        expect([result['isError'], textOf(result), result['structuredContent']]).toEqual([
          true,
          'Not today',
          undefined,
        ]);
      for (const result of Object.values(await call('breaks'))) {
        expect(textOf(result)).toMatch(/^The tool failed \(reference /);
        expect(JSON.stringify(result)).not.toMatch(CANARY);
      }
    });

    it.each([
      ['text', /result/],
      ['nothing', /nothing was returned/],
      ['wrong', /- .*\bid\b/],
      ['contentAlone', /structuredContent/],
    ])('I4: %s is an error result, and tool and field are in the log', async (name, detail) => {
      for (const result of Object.values(await call(name))) {
        expect([result['isError'], result['structuredContent']]).toEqual([true, undefined]);
        expect(textOf(result)).toMatch(
          /^The output does not match the tool's output schema \(reference [0-9a-f-]{36}\)$/,
        );
        expect(JSON.stringify(result)).not.toMatch(CANARY);
        const [line] = log.with(REFERENCE.exec(textOf(result))![1]!);
        expect(line).toContain(`${name} failed`);
        expect(line).toMatch(detail);
      }
    });

    it('I6: a list and a falsy value are structured content, before 2026-07-28 as a member `result`', async () => {
      const list = await call('list');
      expect(list.modern['structuredContent']).toEqual([{ id: 1 }, { id: 2 }]);
      expect(list.legacy).toEqual({
        content: [{ type: 'text', text: '[{"id":1},{"id":2}]' }],
        structuredContent: { result: [{ id: 1 }, { id: 2 }] },
      });
      const falsy = await call('falsy');
      expect([falsy.modern['structuredContent'], textOf(falsy.modern)]).toEqual([0, '0']);
      expect(falsy.legacy).toEqual({
        content: [{ type: 'text', text: '0' }],
        structuredContent: { result: 0 },
      });
    });

    /** The official clients compile each output schema and hold every structured result to it. */
    it.each([
      ['v2 client, auto', (url: string) => connectV2(url, 'auto', traffic)],
      ['v2 client, legacy', (url: string) => connectV2(url, 'legacy', traffic)],
      ['v1 client', (url: string) => connectV1(url, traffic)],
    ] as [string, (url: string) => Promise<OutputClient>][])(
      'S-104: are accepted by the %s',
      async (_, connect) => {
        const client = await connect(running.mcp);
        await client.listTools();
        for (const name of ['entity', 'page', 'structuredAlone', 'stamp', 'zod'])
          expect((await client.callTool({ name }))['structuredContent']).toBeDefined();
        for (const name of ['list', 'fails', 'refuses', 'wrong', 'nothing'])
          expect((await client.callTool({ name }))['content']).toHaveLength(1);
        await client.close();
      },
    );
  });
});

interface OutputClient {
  listTools(): Promise<unknown>;
  callTool(call: { name: string }): Promise<Json>;
  close(): Promise<void>;
}

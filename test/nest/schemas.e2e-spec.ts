import { Module, type Type } from '@nestjs/common';
import { type } from 'arktype';
import { IsInt, IsString, Max } from 'class-validator';
import { McpArgs, McpContext, McpModule, McpRegistry, McpTool } from 'nest-mcp';
import * as v from 'valibot';
import { z } from 'zod';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { openPipe } from '../support/stdio.js';
import {
  callTool,
  modern,
  modernMessage,
  openSession,
  textOf,
  type Json,
  type Reply,
} from '../support/wire.js';

class SearchDto {
  @IsString()
  query: string;

  @IsInt()
  @Max(100)
  limit = 20;
}

/** What the handler was given, in its own terms. */
let given: { args: unknown; context: unknown } | undefined;

const zodSearch = z.object({ query: z.string(), limit: z.int().max(100).default(20) });

class SchemaTools {
  @McpTool()
  dto(args: SearchDto, context: McpContext): Json {
    return record(args, context);
  }

  @McpTool({ input: zodSearch })
  zod(args: z.infer<typeof zodSearch>, context: McpContext): Json {
    return record(args, context);
  }

  @McpTool({
    input: v.object({
      query: v.string(),
      limit: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(100)), 20),
    }),
  })
  valibot(context: McpContext, args: { query: string; limit: number }): Json {
    return record(args, context);
  }

  @McpTool({ input: type({ query: 'string', limit: 'number.integer <= 100 = 20' }) })
  arktype(@McpArgs() args: { query: string; limit: number }, context: McpContext): Json {
    return record(args, context);
  }

  @McpTool({
    input: {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer', maximum: 100 } },
      required: ['query'],
      additionalProperties: false,
    },
  })
  raw(args: { query: string; limit?: number }, context: McpContext): Json {
    return record({ limit: 20, ...args }, context);
  }

  @McpTool({
    input: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
      },
      required: ['pair'],
    },
  })
  draft7(args: { pair: [string, number] }): Json {
    return { pair: args.pair };
  }

  @McpTool({
    input: {
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
      },
      required: ['pair'],
    },
  })
  draft2020(args: { pair: [string, number] }): Json {
    return { pair: args.pair };
  }

  @McpTool({
    input: z.object({ word: z.string().refine(async (word) => word !== 'bad', 'must not be bad') }),
  })
  asynchronous(args: { word: string }): string {
    return args.word;
  }

  @McpTool({ input: z.object({ when: z.iso.date().transform((text) => new Date(`${text}T00:00:00Z`)) }) })
  transformed(args: { when: Date }): boolean {
    return args.when instanceof Date && args.when.getUTCFullYear() === 2026;
  }
}

class DroppingTools {
  @McpTool({ unknownMembers: 'drop' })
  dropDto(args: SearchDto): SearchDto {
    return args;
  }

  @McpTool({ unknownMembers: 'drop', input: zodSearch })
  dropZod(args: z.infer<typeof zodSearch>): Json {
    return args;
  }

  @McpTool({
    unknownMembers: 'drop',
    input: {
      type: 'object',
      properties: {
        at: { type: 'object', properties: { x: { type: 'integer' } }, additionalProperties: false },
      },
      additionalProperties: false,
    },
  })
  dropRaw(args: Json): Json {
    return args;
  }

  @McpTool({ unknownMembers: 'drop' })
  dropAll(): string {
    return 'done';
  }
}

function record(args: object, context: unknown): Json {
  given = { args, context };
  return { ...args };
}

function rootOf(...providers: Type[]): Type {
  @Module({ imports: [McpModule.forRoot({ name: 'schemas', version: '1.0.0' })], providers })
  class RootModule {}
  return RootModule;
}

const KINDS = ['dto', 'zod', 'valibot', 'arktype', 'raw'];

describe.each(ADAPTERS)('on %s, every kind of schema', (adapter) => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(rootOf(SchemaTools, DroppingTools), { adapter });
  });
  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });
  beforeEach(() => {
    given = undefined;
  });

  const inBothEras = async (name: string, args: Json): Promise<Json> => {
    const now: Reply = await callTool(running.mcp, name, args);
    const session = await openSession(running.mcp);
    const before = await session.callTool(name, args);
    expect(before.result).toMatchObject({ content: now.result['content'] as Json });
    return now.result;
  };

  it.each(KINDS)('%s: is published as a closed object and fills in its defaults', async (name) => {
    const { result } = await modern(running.mcp, 'tools/list');
    const tool = (result['tools'] as Json[]).find((listed) => listed['name'] === name)!;
    expect(tool['inputSchema']).toMatchObject({
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer', maximum: 100 } },
      required: ['query'],
      additionalProperties: false,
    });
    const called = await inBothEras(name, { query: 'printer' });
    expect(called['structuredContent']).toEqual({ query: 'printer', limit: 20 });
    expect(given!.context).toBeInstanceOf(McpContext);
  });

  it.each(KINDS)('%s: a refusal names each field and rule in the same words', async (name) => {
    const wrong = await inBothEras(name, { limit: 101, extra: true });
    expect(wrong['isError']).toBe(true);
    const [title, ...lines] = textOf(wrong).split('\n');
    expect(title).toBe(`Invalid arguments for ${name}:`);
    expect(lines.toSorted()).toEqual([
      '- extra: is not a known member (known: query, limit)',
      '- limit: must be at most 100',
      '- query: is required',
    ]);
    expect(given).toBeUndefined();
  });

  it.each(KINDS)('%s: hostile member names are refused and pollute nothing', async (name) => {
    const args = JSON.parse(
      '{"query":"x","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    ) as Json;
    const { result } = await callTool(running.mcp, name, args);
    expect(result['isError']).toBe(true);
    expect(({} as Json)['polluted']).toBeUndefined();
    expect(given).toBeUndefined();
  });

  it('B18: each raw schema is read by its own dialect', async () => {
    for (const name of ['draft7', 'draft2020']) {
      expect((await inBothEras(name, { pair: ['a', 1] }))['structuredContent']).toEqual({ pair: ['a', 1] });
      expect(textOf(await inBothEras(name, { pair: ['a', 'b'] }))).toBe(
        `Invalid arguments for ${name}:\n- pair[1]: must be an integer`,
      );
      expect((await inBothEras(name, { pair: ['a', 1, 2] }))['isError']).toBe(true);
    }
  });

  it('rules and transforms of the schema itself run, asynchronous ones too', async () => {
    expect(textOf(await inBothEras('asynchronous', { word: 'good' }))).toBe('good');
    expect(textOf(await inBothEras('asynchronous', { word: 'bad' }))).toBe(
      'Invalid arguments for asynchronous:\n- word: must not be bad',
    );
    expect(textOf(await inBothEras('transformed', { when: '2026-03-01' }))).toBe('true');
  });

  it("C6: unknownMembers: 'drop' takes them away at every level, and the schema says so", async () => {
    const { result } = await modern(running.mcp, 'tools/list');
    const schemas = new Map(
      (result['tools'] as Json[]).map((tool) => [tool['name'], tool['inputSchema'] as Json]),
    );
    for (const name of ['dropDto', 'dropZod', 'dropRaw', 'dropAll']) {
      expect(JSON.stringify(schemas.get(name))).not.toContain('"additionalProperties":false');
    }
    const extra = { query: 'x', extra: 1 };
    expect((await inBothEras('dropDto', extra))['structuredContent']).toEqual({ query: 'x', limit: 20 });
    expect((await inBothEras('dropZod', extra))['structuredContent']).toEqual({ query: 'x', limit: 20 });
    expect((await inBothEras('dropRaw', { at: { x: 1, y: 2 }, z: 3 }))['structuredContent']).toEqual({
      at: { x: 1 },
    });
    expect(textOf(await inBothEras('dropAll', extra))).toBe('done');
    expect((await inBothEras('dropDto', { query: 1, extra: 1 }))['isError']).toBe(true);
  });

  it('the official clients list and call them all', async () => {
    const clients = [
      await connectV2(running.mcp, 'auto', traffic),
      await connectV2(running.mcp, 'legacy', traffic),
      await connectV1(running.mcp, traffic),
    ];
    for (const client of clients) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...KINDS, 'draft7', 'dropRaw']));
      for (const name of KINDS) {
        const result = await client.callTool({ name, arguments: { query: 'x' } });
        expect(result.structuredContent).toEqual({ query: 'x', limit: 20 });
      }
      await client.close();
    }
  });

  it('the report lists each with the bytes of its schemas', async () => {
    const { result } = await modern(running.mcp, 'tools/list');
    const listed = result['tools'] as { name: string; inputSchema: Json }[];
    expect(running.app.get(McpRegistry).describe()).toEqual(
      listed.map(({ name, inputSchema }) => ({
        kind: 'tool',
        name,
        schemaBytes: Buffer.byteLength(JSON.stringify(inputSchema)),
      })),
    );
  });
});

describe('over stdio, every kind of schema', () => {
  it('publishes, accepts and refuses the same as over HTTP', async () => {
    const pipe = openPipe(rootOf(SchemaTools, DroppingTools));
    let id = 0;
    const call = async (name: string, args: Json): Promise<Json> => {
      pipe.send(modernMessage('tools/call', { name, arguments: args }, ++id));
      return (await pipe.answer(id))['result'] as Json;
    };
    for (const name of KINDS) {
      expect((await call(name, { query: 'x' }))['structuredContent']).toEqual({ query: 'x', limit: 20 });
      expect(
        textOf(await call(name, { query: 1, extra: true }))
          .split('\n')
          .toSorted(),
      ).toEqual([
        '- extra: is not a known member (known: query, limit)',
        '- query: must be a string',
        `Invalid arguments for ${name}:`,
      ]);
    }
    expect((await call('dropDto', { query: 'x', extra: 1 }))['structuredContent']).toEqual({
      query: 'x',
      limit: 20,
    });
    await pipe.end();
  });
});

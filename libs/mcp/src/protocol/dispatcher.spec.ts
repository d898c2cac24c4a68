import type { CallOrigin } from './call-origin.js';
import { CallLifetime } from './call-lifetime.js';
import { Dispatcher, type Answer, type Delivery, type Method } from './dispatcher.js';
import { McpError } from './mcp-error.js';
import { parseMessage } from './message-parser.js';
import type { McpEra } from './versions.js';

const method = (answer: () => Answer | Promise<Answer>, era: Method['era'] = 'both'): Method => ({
  era,
  answer,
});

function delivery(name: string, era: McpEra, id = '9007199254740993'): Delivery {
  const text = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(name)}}`;
  const request = parseMessage(Buffer.from(text), { depth: 64, tokens: 100 });
  if (request.kind !== 'request') throw new Error(text);
  const origin: CallOrigin = {
    transport: 'stdio',
    era,
    revision: era === 'modern' ? '2026-07-28' : '2025-11-25',
    client: { capabilities: {} },
    sessionId: undefined,
    peer: undefined,
    outlet: undefined,
    request: {},
    response: undefined,
    callerOf: () => undefined,
    stream: undefined,
  };
  return { request, origin, lifetime: new CallLifetime(), channel: undefined };
}

const CYCLE: unknown[] = [];
CYCLE.push(CYCLE);

const faults: unknown[] = [];
const dispatcher = new Dispatcher(
  new Map<string, Method>([
    ['ok', method(() => ({ result: '{"a":1}' }))],
    ['later', method(async () => ({ result: '{}' }))],
    ['old', method(() => ({ result: '{}' }), 'legacy')],
    ['new', method(() => ({ result: '{}' }), 'modern')],
    ['refused', method(() => ({ error: { code: -32602, message: 'no' } }))],
    ['busy', method(() => ({ error: { code: -32600, message: 'later' }, busy: true }))],
    ['gone', method(() => undefined)],
    ['own', method(() => Promise.reject(new McpError(4001, 'closed', { until: '18:00' })))],
    ['gone resource', method(() => Promise.reject(new McpError(-32002, 'gone', { uri: 'a://1' })))],
    ['url needed', method(() => Promise.reject(new McpError(-32042, 'open this first')))],
    ['cycle', method(() => Promise.reject(new McpError(4001, 'closed', CYCLE)))],
    ['long text', method(() => Promise.reject(new McpError(4001, 'x'.repeat(1024 * 1024))))],
    ['long data', method(() => Promise.reject(new McpError(4001, 'closed', ['x'.repeat(1024 * 1024)])))],
    ['fitting', method(() => Promise.reject(new McpError(4001, 'x'.repeat(1024 * 1024 - 100))))],
    [
      'crash',
      method(() => {
        throw new Error('secret');
      }),
    ],
    ['reject', method(() => Promise.reject(new Error('secret')))],
  ]),
  (fault, name) => {
    faults.push(fault);
    return { code: -32603, message: `Internal error in ${name}` };
  },
);

const dispatch = (name: string, era: McpEra = 'modern', id?: string) =>
  dispatcher.dispatch(delivery(name, era, id));

describe('Dispatcher', () => {
  it.each(['9007199254740993', '"7"', '7', '0', '""'])(
    'S-002: answers with the id %s as it was sent',
    async (id) => {
      expect(await dispatch('ok', 'modern', id)).toEqual({
        message: `{"jsonrpc":"2.0","id":${id},"result":{"a":1}}`,
        error: undefined,
        busy: false,
      });
      expect((await dispatch('refused', 'legacy', id))?.message).toBe(
        `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"no"}}`,
      );
    },
  );

  it('waits for an answer that takes time', async () => {
    expect((await dispatch('later'))?.message).toContain('"result":{}');
  });

  it.each([
    ['no/such', 'modern'],
    ['no/such', 'legacy'],
    ['OK', 'modern'],
    ['old', 'modern'],
    ['new', 'legacy'],
    ['__proto__', 'modern'],
    ['constructor', 'legacy'],
  ] as const)('S-059, S-193: does not know "%s" in the %s era', async (name, era) => {
    expect((await dispatch(name, era))?.error).toEqual({
      code: -32601,
      message: `Method not found: "${name}"`,
    });
  });

  it('knows a method of one era there', async () => {
    expect((await dispatch('old', 'legacy'))?.error).toBeUndefined();
    expect((await dispatch('new', 'modern'))?.error).toBeUndefined();
  });

  it('tells a refusal for lack of room from others', async () => {
    expect(await dispatch('busy')).toMatchObject({ busy: true, error: { code: -32600 } });
    expect(await dispatch('refused')).toMatchObject({ busy: false, error: { code: -32602 } });
  });

  it('gives nothing when the request ended without an answer', async () => {
    expect(await dispatch('gone')).toBeUndefined();
  });

  it('sends a thrown McpError as it stands', async () => {
    expect((await dispatch('own'))?.error).toEqual({
      code: 4001,
      message: 'closed',
      data: { until: '18:00' },
    });
    expect(faults).toEqual([]);
  });

  it.each([
    ['gone resource', -32002, -32602],
    ['url needed', -32042, -32600],
  ])(
    'S-017: sends the code of "%s", %i, as %i in 2026-07-28, which has no such code',
    async (name, own, sent) => {
      expect((await dispatch(name, 'legacy'))?.error?.code).toBe(own);
      expect((await dispatch(name, 'modern'))?.error?.code).toBe(sent);
    },
  );

  it('never rejects: an McpError whose data JSON cannot carry becomes the fixed text', async () => {
    expect((await dispatch('cycle'))?.error).toEqual({ code: -32603, message: 'Internal error in cycle' });
  });

  it.each(['long text', 'long data'])(
    'sends no error of more than 1 MiB: a %s becomes the fixed text, and is told',
    async (name) => {
      faults.length = 0;
      const error = { code: -32603, message: `Internal error in ${name}` };
      const outcome = await dispatch(name);
      expect(outcome?.error).toEqual(error);
      expect(JSON.parse(outcome!.message)).toMatchObject({ error });
      expect(faults).toHaveLength(1);
      expect((await dispatch('fitting'))?.error?.code).toBe(4001);
    },
  );

  it.each(['crash', 'reject'])(
    'never rejects: a %s becomes the fixed text, and is told once',
    async (name) => {
      faults.length = 0;
      const outcome = await dispatch(name);
      expect(outcome?.error).toEqual({ code: -32603, message: `Internal error in ${name}` });
      expect(outcome?.message).not.toContain('secret');
      expect(faults).toEqual([expect.objectContaining({ message: 'secret' })]);
    },
  );
});

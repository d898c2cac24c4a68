import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import {
  modernHeaders,
  modernMessage,
  openSession,
  replyOf,
  textOf,
  type Json,
  type Reply,
} from '../support/wire.js';

/** What each action is on both sides. The tickets are another one each time: some actions change them. */
const ACTIONS = {
  read: { rest: ['GET', ''], tool: 'getTicket', ok: 200, send: {} },
  comment: { rest: ['POST', '/comments'], tool: 'commentTicket', ok: 201, send: { body: 'On it' } },
  close: { rest: ['POST', '/close'], tool: 'closeTicket', ok: 200, send: { resolution: 'Solved' } },
  delete: { rest: ['DELETE', ''], tool: 'deleteTicket', ok: 204, send: {} },
} as const;
type Action = keyof typeof ACTIONS;

const NEEDS_AGENT = 'This needs the role agent or admin';
const NEEDS_ADMIN = 'This needs the role admin';

/** Undefined where the caller may do it, else what both sides say. */
const MATRIX: [string, Record<Action, string | undefined>][] = [
  ['viewer', { read: undefined, comment: NEEDS_AGENT, close: NEEDS_AGENT, delete: NEEDS_ADMIN }],
  ['agent', { read: undefined, comment: undefined, close: undefined, delete: NEEDS_ADMIN }],
  ['admin', { read: undefined, comment: undefined, close: undefined, delete: undefined }],
];
const CASES = MATRIX.flatMap(([role, row]) =>
  (Object.keys(row) as Action[]).map((action): [string, Action, string | undefined] => [
    role,
    action,
    row[action],
  ]),
);

const STRANGERS: [string, Record<string, string>, string][] = [
  ['no token', {}, 'A bearer token is required'],
  ['another scheme', { authorization: 'Basic ZGVtbw==' }, 'A bearer token is required'],
  ['a bad token', { authorization: 'Bearer nobody' }, 'Unknown token'],
  ['a token with more after it', { authorization: 'Bearer demo-admin x' }, 'A bearer token is required'],
];

const traffic = new Traffic();

/** Open tickets, one for each test that may change one. */
async function openTickets(url: string): Promise<string[]> {
  const response = await fetch(`${url}/tickets?status=open&limit=50`, {
    headers: { authorization: 'Bearer demo-viewer' },
  });
  return ((await response.json()) as { items: { id: string }[] }).items.map(({ id }) => id);
}

describe.each(ADAPTERS)('the helpdesk on %s', (adapter) => {
  let running: RunningApp;
  let tickets: string[];

  beforeAll(async () => {
    running = await startApp(AppModule, { adapter, configure: configureApp });
    tickets = await openTickets(running.url);
  });

  afterAll(() => running.close());

  const rest = (action: Action, ticket: string, headers: Record<string, string>) => {
    const {
      rest: [method, path],
      send,
    } = ACTIONS[action];
    const hasBody = method === 'POST';
    return fetch(`${running.url}/tickets/${ticket}${path}`, {
      method,
      headers: { ...headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      ...(hasBody ? { body: JSON.stringify(send) } : {}),
    });
  };

  const mcp = async (action: Action, ticket: string, headers: Record<string, string>): Promise<Reply> => {
    const { tool, send } = ACTIONS[action];
    const params = { name: tool, arguments: { id: ticket, ...send } };
    const response = await traffic.fetch(running.mcp, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...modernHeaders('tools/call', params),
        ...headers,
      },
      body: JSON.stringify(modernMessage('tools/call', params)),
    });
    return replyOf(response);
  };

  it.each(CASES)(
    'A2, A6: as %s, to %s: REST and MCP give the same verdict (%s)',
    async (role, action, refusal) => {
      const headers = { authorization: `Bearer demo-${role}` };
      const [first, second] = tickets.splice(0, 2);
      const response = await rest(action, first!, headers);
      const { status, result } = await mcp(action, second!, headers);
      expect(status).toBe(200);
      if (refusal === undefined) {
        expect(response.status).toBe(ACTIONS[action].ok);
        expect(result['isError']).toBeUndefined();
      } else {
        expect(response.status).toBe(403);
        expect(((await response.json()) as Json)['message']).toBe(refusal);
        expect(result['isError']).toBe(true);
        expect(textOf(result)).toBe(refusal);
      }
    },
  );

  describe.each(STRANGERS)('with %s', (_what, headers, message) => {
    it.each(Object.keys(ACTIONS) as Action[])(
      'A3, M2: neither side lets the caller %s, with the same challenge',
      async (action) => {
        const [ticket] = tickets;
        const response = await rest(action, ticket!, headers);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(((await response.json()) as Json)['message']).toBe(message);
        const reply = await mcp(action, ticket!, headers);
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(reply.result).toBeUndefined();
        const read = await fetch(`${running.url}/tickets/${ticket}`, {
          headers: { authorization: 'Bearer demo-viewer' },
        });
        expect(await read.json()).toMatchObject({ id: ticket, status: 'open' });
      },
    );

    it('M2: the legacy handshake is refused before there is a session', async () => {
      const { initialized, id } = await openSession(running.mcp, '2025-11-25', headers);
      expect([initialized.status, initialized.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(id).toBe('');
    });
  });

  it("S-179: a session does not carry its opener's rights", async () => {
    const session = await openSession(running.mcp, '2025-11-25', { authorization: 'Bearer demo-admin' });
    const [ticket] = tickets;
    const args = { name: 'deleteTicket', arguments: { id: ticket! } };
    const foreign = await session.request('tools/call', args, 2, { authorization: 'Bearer demo-agent' });
    expect(foreign.status).toBe(404);
    const stranger = await session.request('tools/call', args, 3, { authorization: 'Bearer nobody' });
    expect(stranger.status).toBe(401);
    const read = await session.callTool('getTicket', { id: ticket });
    expect(read.result['structuredContent']).toMatchObject({ id: ticket });
  });

  it('GET /health stays open to everyone', async () => {
    expect((await fetch(`${running.url}/health`)).status).toBe(200);
  });
});

describe('the helpdesk over stdio', () => {
  const client = (headers: Record<string, string>) =>
    new StdioClient(openPipe(AppModule, { configure: configureApp, request: { headers } }), traffic);

  it.each(MATRIX)('A8: gives the same verdicts to %s', async (role, row) => {
    const stdio = client({ authorization: `Bearer demo-${role}` });
    for (const [index, action] of (Object.keys(row) as Action[]).entries()) {
      const { tool, send } = ACTIONS[action];
      // Open in the seed, which each application begins with anew.
      const search = { name: 'searchTickets', arguments: { status: 'open', limit: 1 } };
      const page = (await stdio.modern(`find-${action}`, 'tools/call', search))['result'] as Json;
      const [{ id }] = (page['structuredContent'] as { items: [{ id: string }] }).items;
      const call = { name: tool, arguments: { id, ...send } };
      const result = (await stdio.modern(index, 'tools/call', call))['result'] as Json;
      const refusal = row[action];
      expect([action, result['isError'] ?? false]).toEqual([action, refusal !== undefined]);
      if (refusal !== undefined) expect(textOf(result)).toBe(refusal);
    }
    await stdio.end();
  });

  it.each(STRANGERS)('with %s: every tool is refused', async (_what, headers, message) => {
    const stdio = client(headers);
    for (const [index, { tool, send }] of Object.values(ACTIONS).entries()) {
      const call = { name: tool, arguments: { id: 'T-1001', ...send } };
      const { result } = await stdio.modern(index, 'tools/call', call);
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: message }] });
    }
    await stdio.end();
  });
});

describe('in production', () => {
  const { NODE_ENV, HELPDESK_TOKENS } = process.env;
  const restore = (name: string, value: string | undefined) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };

  beforeEach(() => {
    process.env.NODE_ENV = 'production';
    delete process.env.HELPDESK_TOKENS;
  });

  afterEach(() => {
    restore('NODE_ENV', NODE_ENV);
    restore('HELPDESK_TOKENS', HELPDESK_TOKENS);
  });

  it('it does not start with the demo tokens', async () => {
    await expect(startApp(AppModule, { configure: configureApp })).rejects.toThrow(/^Set HELPDESK_TOKENS=/);
  });

  it('it starts with tokens of its own, and the demo tokens are strangers', async () => {
    process.env.HELPDESK_TOKENS = 's3cret:admin:Ana';
    const running = await startApp(AppModule, { configure: configureApp });
    const status = async (token: string) =>
      (await fetch(`${running.url}/tickets`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status('s3cret'), await status('demo-admin')]).toEqual([200, 401]);
    await running.close();
  });
});

afterAll(() => traffic.verify());

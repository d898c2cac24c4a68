import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';

interface ToolResult {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  requestState?: string;
  inputRequests?: Record<string, { params: { message: string } }>;
}

describe('Helpdesk tools', () => {
  let app: INestApplication<Server>;

  beforeEach(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    configureApp(app);
    await app.init();
  });

  afterEach(() => app.close());

  /** Calls a tool as any MCP client does. */
  async function call(
    name: string,
    args: object = {},
    role = 'agent',
    more: object = {},
  ): Promise<ToolResult> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    };
    const { body } = await request(app.getHttpServer())
      .post('/mcp')
      .set({ Authorization: `Bearer demo-${role}`, Accept: 'application/json, text/event-stream' })
      .set({ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name })
      .send({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args, ...more, _meta },
      })
      .expect(200);
    return body.result;
  }

  const data = async (name: string, args?: object) => (await call(name, args)).structuredContent!;
  const items = async (args: object) =>
    (await data('searchTickets', args)).items as Record<string, unknown>[];
  const refusal = async (name: string, args?: object, role?: string) => {
    const { isError, content } = await call(name, args, role);
    expect(isError).toBe(true);
    return content[0]!.text;
  };

  describe('searchTickets', () => {
    it('returns the first 20 of 300 tickets, the latest updated first', async () => {
      const page = await data('searchTickets');
      expect(page).toMatchObject({ total: 300, limit: 20, offset: 0 });
      const updated = (page.items as { updatedAt: string }[]).map(({ updatedAt }) => updatedAt);
      expect(updated).toHaveLength(20);
      expect(updated).toEqual(updated.toSorted().reverse());
    });

    it.each(['open', 'pending', 'closed'])('finds the %s ones', async (status) => {
      const found = await items({ status, limit: 100 });
      expect(found.length).toBeGreaterThan(0);
      expect(new Set(found.map((ticket) => ticket.status))).toEqual(new Set([status]));
    });

    it('narrows by words, priority, customer and assignee together', async () => {
      const { id, subject, priority, customerId, assignee } = await data('getTicket', { id: 'T-1001' });
      const found = await items({ text: subject, priority, customerId, assignee });
      expect(found).toContainEqual(expect.objectContaining({ id, subject, priority, customerId, assignee }));
    });

    it('returns as many as asked for, from where it is asked to', async () => {
      const ids = async (args: object) => (await items(args)).map((ticket) => ticket.id);
      const six = await ids({ limit: 6 });
      expect(six).toHaveLength(6);
      expect(await ids({ limit: 3, offset: 3 })).toEqual(six.slice(3));
    });

    it('returns an empty page where nothing is found', async () => {
      expect(await data('searchTickets', { text: 'no ticket says this' })).toMatchObject({
        total: 0,
        items: [],
      });
    });

    it('leaves descriptions and comments to getTicket', async () => {
      const [ticket] = await items({ limit: 1 });
      expect(ticket).toHaveProperty('commentCount');
      expect(ticket).not.toHaveProperty('comments');
      expect(ticket).not.toHaveProperty('description');
    });

    it('names each argument that is wrong, and what is allowed', async () => {
      expect(
        (await refusal('searchTickets', { status: 'lost', limit: 101, colour: 'red' })).split('\n'),
      ).toEqual(
        expect.arrayContaining([
          'Invalid arguments for searchTickets:',
          '- status: must be one of "open", "pending", "closed"',
          '- limit: must be at most 100',
          expect.stringMatching(/^- colour: is not a known member \(known: .*status.*\)$/),
        ]),
      );
    });
  });

  describe('getTicket', () => {
    it('reads a ticket with its comments and its customer', async () => {
      const ticket = await data('getTicket', { id: 'T-1001' });
      expect(ticket).toMatchObject({ id: 'T-1001', customer: { id: ticket.customerId } });
      expect(ticket.comments).toBeInstanceOf(Array);
      expect(ticket.description).toEqual(expect.any(String));
    });

    it('says what to do about a ticket that does not exist', async () => {
      expect(await refusal('getTicket', { id: 'T-9999' })).toBe(
        'There is no ticket T-9999. Search the tickets to find the right id.',
      );
    });

    it('asks for an id, and for one that looks like an id', async () => {
      expect(await refusal('getTicket')).toBe('Invalid arguments for getTicket:\n- id: is required');
      expect(await refusal('getTicket', { id: '1001' })).toMatch(
        /^Invalid arguments for getTicket:\n- id: must /,
      );
    });
  });

  describe('commentTicket', () => {
    it('adds a comment in the name of the caller; getTicket shows it', async () => {
      const before = (await data('getTicket', { id: 'T-1010' })).comments as object[];
      const comment = await data('commentTicket', { id: 'T-1010', body: 'On it' });
      expect(comment).toMatchObject({ author: 'Maya', body: 'On it', internal: false });
      const after = await data('getTicket', { id: 'T-1010' });
      expect(after.comments).toEqual([...before, comment]);
      expect(after.updatedAt).toBe(comment.createdAt);
    });

    it('keeps an internal one internal', async () => {
      const comment = await data('commentTicket', { id: 'T-1010', body: 'Careful', internal: true });
      expect(comment).toMatchObject({ internal: true });
    });

    it('refuses an empty body, and a flag that is not one', async () => {
      const text = await refusal('commentTicket', { id: 'T-1010', body: '', internal: 'no' });
      expect(text).toContain('- body: must have at least 1 character');
      expect(text).toContain('- internal: must be a boolean');
    });
  });

  describe('closeTicket', () => {
    it('closes once; the same again changes nothing, another resolution is refused', async () => {
      const [ticket] = await items({ status: 'open', limit: 1 });
      const id = ticket!.id as string;
      const closed = await data('closeTicket', { id, resolution: 'Solved by phone' });
      expect(closed).toMatchObject({ id, status: 'closed', resolution: 'Solved by phone' });
      expect(await data('closeTicket', { id, resolution: 'Solved by phone' })).toEqual(closed);
      expect(await refusal('closeTicket', { id, resolution: 'Gave up' })).toBe(
        `Ticket ${id} is already closed: Solved by phone`,
      );
    });
  });

  describe('asking the user', () => {
    const accept = (content: object) => ({ action: 'accept', content });

    /** Answers each round until the call is over. */
    async function talk(name: string, args: object, answers: Record<string, object>) {
      const messages: string[] = [];
      let result = await call(name, args);
      while (result.inputRequests) {
        const [[key, { params }]] = Object.entries(result.inputRequests) as [
          [string, { params: { message: string } }],
        ];
        messages.push(params.message);
        const more = { requestState: result.requestState, inputResponses: { [key]: answers[key] } };
        result = await call(name, args, 'agent', more);
      }
      return { messages, result };
    }
    const idsOf = async (limit: number) =>
      (await items({ status: 'open', limit })).map((ticket) => ticket.id as string);

    it('closes a ticket with the reason that the user gives, or leaves it open', async () => {
      const [id] = await idsOf(1);
      const declined = await talk('closeTicket', { id }, { resolution: { action: 'decline' } });
      expect(declined.result.content[0]!.text).toBe(
        `Ticket ${id} stays open: the user did not say what solved it`,
      );
      const { messages, result } = await talk(
        'closeTicket',
        { id },
        { resolution: accept({ resolution: 'By phone' }) },
      );
      expect(messages).toEqual([`What solved ticket ${id}?`]);
      expect(result.structuredContent).toMatchObject({ id, status: 'closed', resolution: 'By phone' });
    });

    it('asks nobody about tickets that there are none of, or that are closed', async () => {
      const [closed, open] = [await items({ status: 'closed', limit: 1 }), await idsOf(1)];
      const id = closed[0]!.id as string;
      for (const [name, args, why] of [
        ['closeTicket', { id }, `Ticket ${id} is already closed: `],
        ['closeTicket', { id: 'T-9999' }, 'There is no ticket T-9999'],
        ['closeTickets', { ids: [...open, id] }, `Ticket ${id} is already closed: `],
      ] as const) {
        const { messages, result } = await talk(name, args, {});
        expect([messages, result.isError]).toEqual([[], true]);
        expect(result.content[0]!.text).toContain(why);
      }
    });

    it('closes several after it asked twice, and none where the user does not confirm', async () => {
      const ids = await idsOf(3);
      const resolution = accept({ resolution: 'Outage over' });
      const no = await talk('closeTickets', { ids }, { resolution, confirm: accept({ confirmed: false }) });
      expect(no.messages).toEqual([
        'What solved these 3 tickets?',
        `Close ${ids.join(', ')} as "Outage over"?`,
      ]);
      expect(no.result.content[0]!.text).toBe('No ticket is closed: the user did not confirm');
      const yes = await talk('closeTickets', { ids }, { resolution, confirm: accept({ confirmed: true }) });
      expect(yes.result.content[0]!.text).toBe(`Closed ${ids.join(', ')}`);
      for (const id of ids) expect(await data('getTicket', { id })).toMatchObject({ status: 'closed' });
    });
  });

  describe('deleteTicket', () => {
    it('is for admins only, and for good', async () => {
      for (const role of ['viewer', 'agent']) {
        expect(await refusal('deleteTicket', { id: 'T-1020' }, role)).toBe('This needs the role admin');
      }
      expect(await data('getTicket', { id: 'T-1020' })).toMatchObject({ id: 'T-1020' });
      const { content } = await call('deleteTicket', { id: 'T-1020' }, 'admin');
      expect(content).toEqual([{ type: 'text', text: 'Ticket T-1020 is deleted' }]);
      expect(await refusal('getTicket', { id: 'T-1020' })).toContain('no ticket T-1020');
      expect(await refusal('deleteTicket', { id: 'T-1020' }, 'admin')).toContain('no ticket T-1020');
    });
  });

  describe('exportTickets', () => {
    it('writes CSV with a header and a line per ticket', async () => {
      const { content, structuredContent } = await call('exportTickets');
      const lines = content[0]!.text.trimEnd().split('\r\n');
      expect(lines[0]).toBe('id,subject,status,priority,customerId,assignee,createdAt,updatedAt');
      expect(lines).toHaveLength(301);
      expect(structuredContent).toBeUndefined();
    });

    it('gives the tickets of one status as JSON, without their comments', async () => {
      const exported = await data('exportTickets', { format: 'json', status: 'pending' });
      const { total } = await data('searchTickets', { status: 'pending' });
      const tickets = exported.tickets as Record<string, unknown>[];
      expect(exported.total).toBe(total);
      expect(tickets).toHaveLength(total as number);
      expect(new Set(tickets.map(({ status }) => status))).toEqual(new Set(['pending']));
      expect(tickets[0]).not.toHaveProperty('comments');
    });

    it('names the formats there are', async () => {
      expect(await refusal('exportTickets', { format: 'xml' })).toBe(
        'Invalid arguments for exportTickets:\n- format: must be one of "csv", "json"',
      );
    });
  });

  describe('customers', () => {
    it('are found by words of name and company', async () => {
      expect(await data('searchCustomers', { text: 'lantern yifan' })).toMatchObject({
        total: 1,
        items: [{ name: 'Chen Yifan', company: 'Lantern Robotics' }],
      });
    });

    it('are read by id', async () => {
      expect(await data('getCustomer', { id: 'C-101' })).toMatchObject({ name: 'Amara Okafor' });
      expect(await refusal('getCustomer', { id: 'C-999' })).toMatch(/^There is no customer C-999\./);
    });
  });
});

import type { AnyClient } from '../clients/client-cases.js';
import type { Traffic } from '../support/traffic.js';
import type { Json } from '../support/wire.js';

/** What the clients of both generations have in common, as far as these tests use it. */
export interface FeatureClient extends AnyClient {
  listResources(): Promise<{ resources: { uri: string; name: string; mimeType?: string; size?: number }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string; name: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: Contents[] }>;
  listPrompts(): Promise<{ prompts: { name: string; arguments?: { name: string; required?: boolean }[] }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<PromptAnswer>;
  complete(params: Completing): Promise<{ completion: { values: string[]; total?: number } }>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  setLoggingLevel(level: 'info'): Promise<unknown>;
  /** Only the v2 client has it, and uses it in 2026-07-28. */
  listen?(filter: { resourceSubscriptions?: string[]; resourcesListChanged?: boolean }): Promise<{
    honoredFilter: Json;
    close(): Promise<void>;
  }>;
  fallbackNotificationHandler?: (notification: Notice) => Promise<void>;
}

export interface Contents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

export interface PromptAnswer {
  description?: string;
  messages: { role: string; content: { type: string; text?: string; resource?: Contents } }[];
}

export interface Completing {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
  argument: { name: string; value: string };
  context?: { arguments: Record<string, string> };
}

export interface Notice {
  method: string;
  params?: Json;
}

/** What a client is told without having asked for it just now. */
export class Notices {
  readonly seen: Notice[] = [];
  private look = () => {};

  constructor(client: FeatureClient) {
    client.fallbackNotificationHandler = async (notice) => {
      this.seen.push(notice);
      this.look();
    };
  }

  /** The first one of a method that comes, or has come. It is taken out. */
  async take(method: string): Promise<Notice> {
    for (;;) {
      const index = this.seen.findIndex((notice) => notice.method === method);
      if (index >= 0) return this.seen.splice(index, 1)[0]!;
      await new Promise<void>((resolve) => (this.look = resolve));
    }
  }
}

/** A `Traffic` that also tells when a standing GET stream is open: clients open theirs without waiting for it. */
export function watching(traffic: Traffic): { traffic: Traffic; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const fetch: Traffic['fetch'] = async (input, init) => {
    const response = await traffic.fetch(input, init);
    if (init?.method === 'GET' && response.ok) open();
    return response;
  };
  return { traffic: Object.assign(Object.create(traffic) as Traffic, { fetch }), opened };
}

/** Follows one ticket and the list of resources, in the way of the client's era. */
export async function follow(client: FeatureClient, isModern: boolean, uri: string): Promise<void> {
  if (isModern) {
    const { honoredFilter } = await client.listen!({
      resourceSubscriptions: [uri],
      resourcesListChanged: true,
    });
    expect(honoredFilter).toEqual({ resourceSubscriptions: [uri], resourcesListChanged: true });
  } else {
    await client.subscribeResource({ uri });
  }
}

/** Following is refused like reading; in 2026-07-28 the rest of what was asked for is followed all the same. */
export async function followInVain(client: FeatureClient, isModern: boolean, uri: string): Promise<void> {
  if (isModern) {
    const { honoredFilter } = await client.listen!({ resourceSubscriptions: [uri, 'ticket://T-1001'] });
    expect(honoredFilter).toEqual({ resourceSubscriptions: ['ticket://T-1001'] });
  } else {
    await expect(client.subscribeResource({ uri })).rejects.toMatchObject({ code: 403 });
  }
}

const TEMPLATES = ['customer://{id}', 'ticket://{id}', 'ticket://{id}/attachments/{name}'];
const ARTICLES = [
  'kb://articles/reset-a-password',
  'kb://articles/fix-a-csv-import',
  'kb://articles/refund-a-double-charge',
  'kb://articles/connect-a-service-again',
];

/** Finds what the helpdesk offers. */
export async function listEverything(client: FeatureClient): Promise<void> {
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(TEMPLATES);
  const { resources } = await client.listResources();
  expect(resources.slice(0, 4).map(({ uri }) => uri)).toEqual(ARTICLES);
  expect(resources[1]).toMatchObject({ name: 'fix-a-csv-import', mimeType: 'text/markdown', size: 271 });
  const { prompts } = await client.listPrompts();
  expect(prompts).toMatchObject([
    {
      name: 'triageTicket',
      arguments: [
        { name: 'id', required: true },
        { name: 'tone', required: false },
      ],
    },
  ]);
}

/** Reads one resource of each kind; the code of what is not there is the era's own. */
export async function readEverything(client: FeatureClient, notFound: number): Promise<void> {
  const read = async (uri: string) => (await client.readResource({ uri })).contents;
  const [ticket] = await read('ticket://T-1001');
  expect(ticket).toMatchObject({ uri: 'ticket://T-1001', mimeType: 'application/json' });
  const { structuredContent } = await client.callTool({ name: 'getTicket', arguments: { id: 'T-1001' } });
  expect(JSON.parse(ticket!.text!)).toEqual(structuredContent);
  const [customer] = await read('customer://C-101');
  expect(JSON.parse(customer!.text!)).toMatchObject({ id: 'C-101', name: 'Amara Okafor' });
  const [article] = await read(ARTICLES[1]!);
  expect(article).toMatchObject({ mimeType: 'text/markdown', text: expect.stringMatching(/^# Fix a CSV/) });
  const [log] = await read('ticket://T-1156/attachments/crash.log');
  expect(log).toMatchObject({ mimeType: 'text/plain', text: expect.stringContaining('RangeError') });

  for (const uri of ['ticket://T-9999', 'ticket://T-1156/attachments/none.png', 'kb://articles/none'])
    await expect(read(uri)).rejects.toMatchObject({ code: notFound, data: { uri } });
  await expect(read('ticket://1001')).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('- id: must match the pattern'),
  });
}

/** A picture that a tool links to is read, byte for byte. */
export async function openPicture(client: FeatureClient): Promise<Buffer> {
  const { content } = await client.callTool({ name: 'listAttachments', arguments: { id: 'T-1156' } });
  const link = content.find(({ type }) => type === 'resource_link') as unknown as {
    uri: string;
    mimeType: string;
    size: number;
  };
  expect(link).toMatchObject({ name: 'screenshot.png', mimeType: 'image/png', size: 204 });
  const [picture] = (await client.readResource({ uri: link.uri })).contents;
  expect(picture).toMatchObject({ uri: link.uri, mimeType: 'image/png' });
  const bytes = Buffer.from(picture!.blob!, 'base64');
  expect(bytes).toHaveLength(link.size);
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
  return bytes;
}

/** Completes ids, what depends on another argument, and an enum that nobody wrote a completion for. */
export async function completeEverything(client: FeatureClient): Promise<void> {
  const values = async (
    ref: Completing['ref'],
    [name, value]: [string, string],
    context?: Record<string, string>,
  ) =>
    (
      await client.complete({
        ref,
        argument: { name, value },
        ...(context && { context: { arguments: context } }),
      })
    ).completion;
  const ticket = { type: 'ref/resource', uri: 'ticket://{id}' } as const;
  const customer = { type: 'ref/resource', uri: 'customer://{id}' } as const;
  const attachment = { type: 'ref/resource', uri: 'ticket://{id}/attachments/{name}' } as const;
  const triage = { type: 'ref/prompt', name: 'triageTicket' } as const;
  expect((await values(ticket, ['id', 't-100'])).values.toSorted()).toEqual(
    Array.from({ length: 9 }, (_, index) => `T-100${index + 1}`),
  );
  const all = await values(triage, ['id', '']);
  expect(all.values).toHaveLength(100);
  expect(all.total).toBeGreaterThan(250);
  expect((await values(customer, ['id', 'C-101'])).values).toEqual(['C-101']);
  expect((await values(attachment, ['id', 'T-1156'])).values).toEqual(['T-1156']);
  expect((await values(attachment, ['name', 's'], { id: 'T-1156' })).values).toEqual(['screenshot.png']);
  expect((await values(attachment, ['name', 's'])).values).toEqual([]);
  expect((await values(triage, ['tone', 'F'])).values).toEqual(['friendly', 'formal']);
}

/** The prompt embeds the ticket; its arguments are judged like a tool's. */
export async function triage(client: FeatureClient): Promise<void> {
  const get = (args: Record<string, string>) => client.getPrompt({ name: 'triageTicket', arguments: args });
  const { description, messages } = await get({ id: 'T-1001', tone: 'formal' });
  expect(description).toBe('Triage of T-1001: Cannot reset my password');
  const [embedded, request] = messages;
  expect(embedded).toMatchObject({
    role: 'user',
    content: { type: 'resource', resource: { uri: 'ticket://T-1001', mimeType: 'application/json' } },
  });
  expect(JSON.parse(embedded!.content.resource!.text!)).toMatchObject({ id: 'T-1001' });
  expect(request!.content.text).toContain('draft a formal reply to Camille Fournier');
  expect((await get({ id: 'T-1001' })).messages[1]!.content.text).toContain('a friendly reply');
  await expect(get({ id: 'T-1001', tone: 'rude' })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('- tone: must be one of "friendly", "formal", "brief"'),
  });
  await expect(get({ id: 'T-9999' })).rejects.toMatchObject({ code: 404 });
}

/** Log messages come once they are asked for, in the way of the client's era. */
export async function readLog(client: FeatureClient, isModern: boolean, notices: Notices): Promise<void> {
  const args = { format: 'json', status: 'pending' };
  await client.callTool({ name: 'exportTickets', arguments: args });
  expect(notices.seen).toEqual([]);
  const meta = isModern ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
  if (!isModern) await client.setLoggingLevel('info');
  await client.callTool({ name: 'exportTickets', arguments: args, ...meta });
  const { params } = await notices.take('notifications/message');
  expect(params).toMatchObject({ level: 'info', logger: 'export', data: { done: expect.any(Number) } });
}

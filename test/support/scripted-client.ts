import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { serveMcpOverStdio, type McpRevision } from 'nest-mcp';
import { ADAPTERS, startApp, type AdapterName } from './app.js';
import { MemoryTransport } from './memory.js';
import { eventsOf, type Traffic } from './traffic.js';
import { CAPABILITIES_KEY, modernHeaders, modernMessage, VERSION_KEY, type Json } from './wire.js';

/** What a client was asked, in whichever way. */
export interface Asked {
  readonly method: string;
  readonly params: Json;
}

/** An error that the client answers with, where it is a legacy one. */
export class ClientFault {
  constructor(
    readonly code: number,
    readonly message: string,
  ) {}
}

/** What the client says to a question; nothing where it leaves it. Only the answers of raw clients may be of any form. */
export type Answer = Json | ClientFault | undefined;

/** The client's side of a dialogue: the answer to each question. */
export type Script = (asked: Asked) => Answer | Promise<Answer>;

/** How a call came out, whatever the number of its rounds. */
export interface Outcome {
  /** Missing where an error was answered. */
  readonly result: Json;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** What was asked, in order. */
  readonly asked: readonly Asked[];
}

/** A client whose answers are known before. */
export interface ScriptedClient {
  request(method: string, params: Json, script: Script): Promise<Outcome>;
  call(tool: string, args: Json, script: Script): Promise<Outcome>;
  close(): Promise<void>;
}

/** One whose messages can be watched, and that can take back what it called. */
export interface RawSession extends ScriptedClient {
  /** The first notification of a method, also where it came before. */
  notice(method: string): Promise<Json>;
  /** The requests of the server, whole. */
  readonly requests: readonly Json[];
  /** Sends a notification; `params` may name the call that was made last. */
  notify(method: string, params: (callId: number) => Json): Promise<void>;
}

/** A server on one transport, and clients of every kind for it. */
export interface AskingServer {
  open(kind: ClientKind, capabilities?: Json): Promise<ScriptedClient>;
  /** A raw client after a handshake. */
  session(capabilities?: Json, revision?: McpRevision): Promise<RawSession>;
  close(): Promise<void>;
}

export type ClientKind = 'v1 client' | 'v2 client' | 'raw session' | 'raw rounds';
export type ServerKind = AdapterName | 'stdio' | 'memory';

/** One way of asking: a transport, a client, and the era that they meet in. */
export interface Way {
  readonly server: ServerKind;
  readonly client: ClientKind;
  readonly era: 'modern' | 'legacy';
}

export const SERVERS: readonly ServerKind[] = [...ADAPTERS, 'stdio', 'memory'];
const CLIENTS: readonly (readonly [ClientKind, Way['era']])[] = [
  ['v1 client', 'legacy'],
  ['raw session', 'legacy'],
  ['v2 client', 'modern'],
  ['raw rounds', 'modern'],
];

/** The clients that one server is asked by, for `describe.each`. */
export const waysOf = (server: ServerKind): readonly Way[] =>
  CLIENTS.map(([client, era]) => ({ server, client, era }));

/** A client that can be asked anything. */
export const EVERYTHING: Json = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

/** An answer to each message in turn: `{ 'Which seat?': accept({ seat: 'A' }) }`. */
export const byMessage =
  (answers: Readonly<Record<string, Json | ClientFault>>): Script =>
  ({ method, params }) => {
    const key = (params['message'] as string | undefined) ?? method;
    const answer = answers[key];
    if (!answer) throw new Error(`no answer is scripted to ${key}`);
    return answer;
  };

export const accept = (content: Json): Json => ({ action: 'accept', content });
export const decline: Json = { action: 'decline' };
export const cancel: Json = { action: 'cancel' };

/** The messages that were asked, in order. */
export const messagesOf = ({ asked }: Outcome): unknown[] =>
  asked.map(({ method, params }) => params['message'] ?? method);

/** Serves an application on one transport. */
export async function serve(kind: ServerKind, root: Type, traffic: Traffic): Promise<AskingServer> {
  if (kind === 'memory') {
    const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    const transport = () => new MemoryTransport(app, traffic) as ClientTransport;
    return serverOf(transport, () => app.close());
  }
  if (kind === 'stdio')
    return serverOf(
      () => new PipeTransport(root, traffic),
      () => Promise.resolve(),
    );
  const running = await startApp(root, { adapter: kind });
  return serverOf(
    (client) => httpTransport(client, running.mcp, traffic),
    () => running.close(),
  );
}

function serverOf(
  transport: (kind: ClientKind) => ClientTransport,
  close: () => Promise<void>,
): AskingServer {
  return {
    close,
    open: (kind, capabilities = EVERYTHING) => {
      if (kind === 'v1 client') return officialV1(transport(kind), capabilities);
      if (kind === 'v2 client') return officialV2(transport(kind), capabilities);
      const raw = new RawClient(transport(kind), capabilities);
      return kind === 'raw session' ? raw.session() : raw.rounds();
    },
    session: (capabilities = EVERYTHING, revision) =>
      new RawClient(transport('raw session'), capabilities).session(revision),
  };
}

/** As much of a transport as the official clients want. */
interface ClientTransport {
  onmessage?: ((message: never) => void) | undefined;
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
}

const INFO = { name: 'scripted-client', version: '1.0.0' };

async function officialV1(transport: ClientTransport, capabilities: Json): Promise<ScriptedClient> {
  const client = new V1Client(INFO, { capabilities });
  const dialogue = new Dialogue();
  const answer = (asked: unknown) => dialogue.answerOrThrow(asked) as never;
  if (capabilities['elicitation']) client.setRequestHandler(ElicitRequestSchema, answer);
  if (capabilities['sampling']) client.setRequestHandler(CreateMessageRequestSchema, answer);
  if (capabilities['roots']) client.setRequestHandler(ListRootsRequestSchema, answer);
  await client.connect(transport as never);
  return talkTo(client, dialogue);
}

function talkTo(client: V1Client | ModernClient, dialogue: Dialogue): ScriptedClient {
  return dialogue.client(
    {
      'tools/call': (params) => client.callTool(params as never),
      'prompts/get': (params) => client.getPrompt(params as never),
      'resources/read': (params) => client.readResource(params as never),
    },
    () => client.close(),
  );
}

async function officialV2(transport: ClientTransport, capabilities: Json): Promise<ScriptedClient> {
  const client = new ModernClient(INFO, { capabilities, versionNegotiation: { mode: 'auto' } });
  const dialogue = new Dialogue();
  const answer = (asked: unknown) => dialogue.answerOrThrow(asked) as never;
  if (capabilities['elicitation']) client.setRequestHandler('elicitation/create', answer);
  if (capabilities['sampling']) client.setRequestHandler('sampling/createMessage', answer);
  if (capabilities['roots']) client.setRequestHandler('roots/list', answer);
  await client.connect(transport as never);
  return talkTo(client, dialogue);
}

type Send = (params: Json) => Promise<unknown>;

/** One call at a time, and what was asked for it. */
class Dialogue {
  private asked: Asked[] = [];
  private script: Script | undefined;

  async answer(request: unknown): Promise<Answer> {
    const { method, params = {} } = request as { method: string; params?: Json };
    const { _meta: _, ...rest } = params;
    const asked = { method, params: rest };
    this.asked.push(asked);
    if (!this.script) throw new Error(`nothing is scripted, and ${method} was asked`);
    return this.script(asked);
  }

  async answerOrThrow(request: unknown): Promise<Answer> {
    const answer = await this.answer(request);
    if (answer instanceof ClientFault) throw Object.assign(new Error(answer.message), { code: answer.code });
    return answer;
  }

  client(methods: Readonly<Record<string, Send>>, close: () => Promise<void>): ScriptedClient {
    const request: ScriptedClient['request'] = (method, params, script) =>
      this.run(script, () => methods[method]!(params));
    return {
      request,
      call: (name, args, script) => request('tools/call', { name, arguments: args }, script),
      close,
    };
  }

  /** What is answered, where an error too is an answer. */
  async run(script: Script, send: () => Promise<unknown>): Promise<Outcome> {
    this.asked = [];
    this.script = script;
    try {
      const result = (await send()) as Json;
      return { result, error: undefined as never, asked: this.asked };
    } catch (thrown) {
      const { code, message, data } = thrown as { code?: unknown; message: string; data?: unknown };
      if (typeof code !== 'number') throw thrown;
      const error = { code, message: message.replace(/^MCP error -?\d+: /, ''), data };
      return { result: undefined as never, error, asked: this.asked };
    }
  }
}

/** A client of the barest kind: messages, and what was scripted. */
class RawClient {
  private readonly waiting = new Map<unknown, (message: Json) => void>();
  private readonly dialogue = new Dialogue();
  private readonly requests: Json[] = [];
  private readonly notices: Json[] = [];
  private readonly watching = new Set<() => void>();
  private count = 0;

  constructor(
    private readonly transport: ClientTransport,
    private readonly capabilities: Json,
  ) {
    transport.onmessage = ((message: Json) => this.receive(message)) as never;
  }

  /** Before 2026-07-28: a handshake, then questions come as requests. */
  async session(protocolVersion: McpRevision = '2025-11-25'): Promise<RawSession> {
    await this.transport.start();
    const params = { protocolVersion, capabilities: this.capabilities, clientInfo: INFO };
    await this.ask({ jsonrpc: '2.0', method: 'initialize', params });
    await this.transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const client = this.scripted((method, sent) => this.ask({ jsonrpc: '2.0', method, params: sent }));
    return Object.assign(client, {
      requests: this.requests,
      notice: (method: string) => this.notice(method),
      notify: (method: string, paramsOf: (callId: number) => Json) =>
        this.transport.send({ jsonrpc: '2.0', method, params: paramsOf(this.count) }),
    });
  }

  /** 2026-07-28: questions come as results, and the call is sent again with the answers. */
  async rounds(): Promise<ScriptedClient> {
    await this.transport.start();
    return this.scripted(async (method, sent) => {
      const _meta = { [CAPABILITIES_KEY]: this.capabilities };
      let result = await this.ask(modernMessage(method, { ...sent, _meta }));
      while (result['resultType'] === 'input_required') {
        const { inputRequests = {}, requestState } = result as {
          inputRequests?: Record<string, Json>;
          requestState?: string;
        };
        const answers: [string, Answer][] = [];
        for (const [key, asked] of Object.entries(inputRequests))
          answers.push([key, await this.dialogue.answerOrThrow(asked)]);
        const inputResponses: unknown = Object.fromEntries(answers);
        result = await this.ask(modernMessage(method, { ...sent, inputResponses, requestState, _meta }));
      }
      return result;
    });
  }

  private scripted(send: (method: string, params: Json) => Promise<Json>): ScriptedClient {
    const methods = ['tools/call', 'prompts/get', 'resources/read'].map((method): [string, Send] => [
      method,
      (params) => send(method, params),
    ]);
    return this.dialogue.client(Object.fromEntries(methods), () => this.transport.close());
  }

  /** The result of a request under an id of its own; rejects with its error. */
  private async ask(message: Json): Promise<Json> {
    const id = ++this.count;
    const answered = new Promise<Json>((resolve) => this.waiting.set(id, resolve));
    await this.transport.send({ ...message, id });
    const { result, error } = await answered;
    if (error) throw Object.assign(new Error(), error);
    return result as Json;
  }

  private notice(method: string): Promise<Json> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.notices.find((message) => message['method'] === method);
        if (!found) return;
        this.watching.delete(look);
        resolve(found);
      };
      this.watching.add(look);
      look();
    });
  }

  private receive(message: Json): void {
    const { id, method } = message;
    if (method === undefined) this.waiting.get(id)?.(message);
    else if (id !== undefined) void this.answer(message);
    else {
      this.notices.push(message);
      this.watching.forEach((look) => look());
    }
  }

  private async answer(request: Json): Promise<void> {
    this.requests.push(request);
    const answer = await this.dialogue.answer(request);
    if (answer === undefined) return;
    const outcome =
      answer instanceof ClientFault
        ? { error: { code: answer.code, message: answer.message } }
        : { result: answer };
    await this.transport.send({ jsonrpc: '2.0', id: request['id'], ...outcome });
  }
}

function httpTransport(kind: ClientKind, url: string, traffic: Traffic): ClientTransport {
  const options = { fetch: traffic.fetch as never };
  if (kind === 'v1 client') return new V1Http(new URL(url), options) as unknown as ClientTransport;
  if (kind === 'v2 client') return new ModernHttp(new URL(url), options) as unknown as ClientTransport;
  return new PostTransport(url, traffic);
}

/** Streamable HTTP without a GET stream: a POST for each message, and what comes back on it as it comes. */
class PostTransport implements ClientTransport {
  onmessage?: (message: never) => void;
  private session: Record<string, string> = {};
  private readonly closing = new AbortController();

  constructor(
    private readonly url: string,
    private readonly traffic: Traffic,
  ) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: object): Promise<void> {
    const { method, params = {} } = message as { method?: string; params?: Json };
    const isModern = (params['_meta'] as Json | undefined)?.[VERSION_KEY] !== undefined;
    const response = await this.traffic.fetch(this.url, {
      method: 'POST',
      signal: this.closing.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(isModern ? modernHeaders(method!, params) : this.session),
      },
      body: JSON.stringify(message),
    });
    const id = response.headers.get('mcp-session-id');
    const version = params['protocolVersion'] as string;
    if (id && method === 'initialize')
      this.session = { 'mcp-session-id': id, 'mcp-protocol-version': version };
    void this.read(response);
  }

  /** Ends the session, where there is one. */
  async close(): Promise<void> {
    if (this.session['mcp-session-id'])
      await this.traffic.fetch(this.url, { method: 'DELETE', headers: this.session });
    this.closing.abort();
  }

  private async read(response: Response): Promise<void> {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!isStream) {
      const text = await response.text();
      if (text !== '') this.onmessage?.(JSON.parse(text) as never);
      return;
    }
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop()!;
      eventsOf(blocks.join('\n\n'))
        .filter((event) => 'jsonrpc' in event)
        .forEach((event) => this.onmessage?.(event as never));
    }
  }
}

/** An application of its own behind a pair of pipes; every line of it is judged. */
class PipeTransport implements ClientTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  private readonly input = new PassThrough();
  private readonly asked = new Map<unknown, { revision: McpRevision; method: string }>();
  private readonly served: Promise<unknown>;
  private negotiated: McpRevision | undefined;

  constructor(
    root: Type,
    private readonly traffic: Traffic,
  ) {
    Logger.overrideLogger(false);
    const output = new PassThrough();
    createInterface({ input: output }).on('line', (line) => this.receive(line));
    this.served = serveMcpOverStdio(root, { input: this.input, output });
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: object): Promise<void> {
    const { id, method, params } = message as Json;
    const meta = (params as Json | undefined)?.['_meta'] as Json | undefined;
    const revision = (meta?.[VERSION_KEY] ?? this.negotiated ?? '2025-11-25') as McpRevision;
    if (method !== undefined) this.asked.set(id, { revision, method: method as string });
    this.input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.input.end();
    await this.served;
    this.onclose?.();
  }

  private receive(line: string): void {
    const message = JSON.parse(line) as Json;
    const asked = 'method' in message ? undefined : this.asked.get(message['id']);
    const version = (message['result'] as Json | undefined)?.['protocolVersion'] as McpRevision | undefined;
    if (version) this.negotiated = version;
    const revision = version ?? asked?.revision ?? this.negotiated ?? '2026-07-28';
    this.traffic.observe(message, revision, asked?.method);
    this.onmessage?.(message as never);
  }
}

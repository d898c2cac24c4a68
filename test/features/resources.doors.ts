import type { INestApplicationContext, Type } from '@nestjs/common';
import type { McpRevision, McpStdioOptions } from 'nest-mcp';
import { NestFactory } from '@nestjs/core';
import { ADAPTERS, startApp, type AdapterName, type RunningApp } from '../support/app.js';
import { MemoryTransport } from '../support/memory.js';
import { openPipe, StdioClient } from '../support/stdio.js';
import type { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, openSession, post, type Json, type Reply } from '../support/wire.js';

export interface Answer {
  readonly result: Json;
  readonly error: { code: number; message: string; data?: unknown };
}

/** One way into a server: a transport in one era, whose every answer is judged. */
export interface Door {
  readonly revision: McpRevision;
  ask(method: string, params?: Json): Promise<Answer>;
  /** What the server declared. */
  capabilities(): Promise<Json>;
  close(): Promise<void>;
}

export const isModern = (door: Door): boolean => door.revision === '2026-07-28';

/** The code for what is not there. */
export const notFoundCode = (door: Door): number => (isModern(door) ? -32602 : -32002);

const discovered = async (ask: Door['ask']) => (await ask('server/discover')).result['capabilities'] as Json;

export function httpModern(url: string, traffic: Traffic): Door {
  const ask = async (method: string, params: Json = {}) => {
    const reply = await modernOverHttp(url, method, params);
    observe(reply, '2026-07-28', method, traffic);
    return reply;
  };
  return {
    revision: '2026-07-28',
    ask,
    capabilities: () => discovered(ask),
    close: () => Promise.resolve(),
  };
}

/** A modern request whose name goes into its header in Base64 where it is no plain text. */
export function modernOverHttp(url: string, method: string, params: Json, more: Json = {}): Promise<Reply> {
  const headers = modernHeaders(method, params);
  const name = headers['mcp-name'];
  if (name !== undefined && !/^[!-~]*$/.test(name))
    headers['mcp-name'] = `=?base64?${Buffer.from(name).toString('base64')}?=`;
  return post(url, JSON.stringify({ ...modernMessage(method, params), ...more }), headers);
}

export async function httpLegacy(url: string, revision: McpRevision, traffic: Traffic): Promise<Door> {
  const session = await openSession(url, revision);
  observe(session.initialized, revision, 'initialize', traffic);
  return {
    revision,
    ask: async (method, params = {}) => {
      const reply = await session.request(method, params);
      observe(reply, revision, method, traffic);
      return reply;
    },
    capabilities: () => Promise.resolve(session.initialized.result['capabilities'] as Json),
    close: () => Promise.resolve(),
  };
}

export async function stdio(
  root: Type,
  revision: McpRevision,
  traffic: Traffic,
  options?: Omit<McpStdioOptions, 'input' | 'output'>,
): Promise<Door & { readonly client: StdioClient }> {
  const client = new StdioClient(openPipe(root, options), traffic);
  let id = 0;
  const isNew = revision === '2026-07-28';
  const initialized = isNew ? undefined : await client.initialize(revision);
  const ask = async (method: string, params: Json = {}) =>
    (isNew
      ? await client.modern(++id, method, params)
      : await client.legacy(++id, method, params)) as unknown as Answer;
  return {
    client,
    revision,
    ask,
    capabilities: () =>
      initialized
        ? Promise.resolve((initialized['result'] as Json)['capabilities'] as Json)
        : discovered(ask),
    close: () => client.end(),
  };
}

export async function memory(
  app: INestApplicationContext,
  revision: McpRevision,
  traffic: Traffic,
): Promise<Door> {
  const transport = new MemoryTransport(app, traffic);
  const waiting = new Map<unknown, (answer: Answer) => void>();
  transport.onmessage = (message: Json) => waiting.get(message['id'])?.(message as unknown as Answer);
  let id = 0;
  const send = (message: Json) =>
    new Promise<Answer>((resolve) => {
      waiting.set(message['id'], resolve);
      void transport.send(message);
    });
  const isNew = revision === '2026-07-28';
  const ask = (method: string, params: Json = {}) =>
    send(isNew ? modernMessage(method, params, ++id) : { jsonrpc: '2.0', id: ++id, method, params });
  const handshake = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const initialized = isNew ? undefined : await ask('initialize', handshake);
  return {
    revision,
    ask,
    capabilities: () =>
      initialized ? Promise.resolve(initialized.result['capabilities'] as Json) : discovered(ask),
    close: () => transport.close(),
  };
}

function observe(reply: Reply, revision: McpRevision, method: string, traffic: Traffic): void {
  for (const message of reply.messages)
    traffic.observe(message, revision, 'method' in message ? undefined : method);
}

/** Every transport in both eras. */
export const DOORS = [
  'HTTP 2026-07-28 on express',
  'HTTP 2025-11-25 on express',
  'HTTP 2026-07-28 on fastify',
  'HTTP 2025-11-25 on fastify',
  'stdio 2026-07-28',
  'stdio 2025-11-25',
  'memory 2026-07-28',
  'memory 2025-11-25',
];

export interface OpenDoors {
  readonly apps: Readonly<Record<AdapterName, RunningApp>>;
  /** The application without HTTP. */
  readonly bare: INestApplicationContext;
  /** By the names of `DOORS`. */
  readonly doors: ReadonlyMap<string, Door>;
  close(): Promise<void>;
}

/** Starts an application on both adapters and without, and opens every door of it. */
export async function openDoors(root: Type, traffic: Traffic): Promise<OpenDoors> {
  const apps = {} as Record<AdapterName, RunningApp>;
  for (const adapter of ADAPTERS) apps[adapter] = await startApp(root, { adapter });
  const bare = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  const doors = new Map<string, Door>();
  for (const name of DOORS) {
    const [transport, revision, , adapter] = name.split(' ') as [string, McpRevision, string, AdapterName];
    if (transport === 'stdio') doors.set(name, await stdio(root, revision, traffic));
    else if (transport === 'memory') doors.set(name, await memory(bare, revision, traffic));
    else doors.set(name, await http(apps[adapter].mcp, revision, traffic));
  }
  const close = async () => {
    for (const door of doors.values()) await door.close();
    await Promise.all([...Object.values(apps).map((running) => running.close()), bare.close()]);
  };
  return { apps, bare, doors, close };
}

/** The door over HTTP in one revision. */
export function http(url: string, revision: McpRevision, traffic: Traffic): Promise<Door> {
  return revision === '2026-07-28'
    ? Promise.resolve(httpModern(url, traffic))
    : httpLegacy(url, revision, traffic);
}

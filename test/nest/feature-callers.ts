import type { INestApplicationContext } from '@nestjs/common';
import { McpDispatcher, type McpPeer } from 'nest-mcp';
import { StdioClient, type Pipe } from '../support/stdio.js';
import { eventsOf, type Traffic } from '../support/traffic.js';
import {
  modern,
  modernHeaders,
  modernMessage,
  openSession,
  type Json,
  type LegacySession,
} from '../support/wire.js';

/** One client, whatever its transport and era. */
export interface Caller {
  readonly title: string;
  readonly era: 'modern' | 'legacy';
  /** The answer to one request. */
  ask(method: string, params: Json): Promise<Json>;
  /** What of these addresses is honoured by `subscriptions/listen`; a modern caller's alone. */
  listen?(uris: readonly string[]): Promise<unknown>;
}

/** Those that can listen, each with how it does. */
export function listenersOf(callers: readonly Caller[]): (Caller & Required<Pick<Caller, 'listen'>>)[] {
  return callers.filter((caller) => caller.listen !== undefined) as ReturnType<typeof listenersOf>;
}

const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const wanted = (uris: readonly string[]): Json => ({ notifications: { resourceSubscriptions: uris } });

let lastId = 100;

/** Both eras over HTTP; the session is opened with the first request. */
export function httpCallers(
  url: () => string,
  traffic: Traffic,
  headers: Record<string, string> = {},
): Caller[] {
  let session: Promise<LegacySession> | undefined;
  return [
    {
      title: 'HTTP, modern',
      era: 'modern',
      ask: async (method, params) => {
        const { body } = await modern(url(), method, params, headers, ++lastId);
        traffic.observe(body, '2026-07-28', method);
        return body;
      },
      listen: (uris) => listenOverHttp(url(), uris, headers, traffic),
    },
    {
      title: 'HTTP, legacy',
      era: 'legacy',
      ask: async (method, params) => {
        const opened = await (session ??= openSession(url(), '2025-11-25', headers));
        const { body } = await opened.request(method, params, ++lastId);
        traffic.observe(body, '2025-11-25', method);
        return body;
      },
    },
  ];
}

async function listenOverHttp(
  url: string,
  uris: readonly string[],
  headers: Record<string, string>,
  traffic: Traffic,
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders(LISTEN),
      ...headers,
    },
    body: JSON.stringify(modernMessage(LISTEN, wanted(uris), ++lastId)),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const [first] = eventsOf(text.slice(0, text.lastIndexOf('\n\n') + 1));
    if (!first) continue;
    traffic.observe(first, '2026-07-28', undefined);
    // Leaving the loop gives the body up, which closes the connection and ends the subscription.
    return honouredOf(first);
  }
  throw new Error(`nothing was acknowledged: ${response.status} ${text}`);
}

/** Both eras over one pipe. */
export function stdioCallers(pipe: Pipe, traffic: Traffic): Caller[] & { end(): Promise<void> } {
  const client = new StdioClient(pipe, traffic);
  let initialized: Promise<Json> | undefined;
  const callers: Caller[] = [
    {
      title: 'stdio, modern',
      era: 'modern',
      ask: (method, params) => client.modern(++lastId, method, params),
      listen: async (uris) => {
        const id = ++lastId;
        client.sendModern(id, LISTEN, wanted(uris));
        const message = await pipe.next((one) => isAcknowledged(one, id));
        client.notify('notifications/cancelled', { requestId: id });
        return honouredOf(message);
      },
    },
    {
      title: 'stdio, legacy',
      era: 'legacy',
      ask: async (method, params) => {
        await (initialized ??= client.initialize('2025-11-25'));
        return client.legacy(++lastId, method, params);
      },
    },
  ];
  return Object.assign(callers, { end: () => client.end() });
}

/** Both eras through `McpDispatcher`, each as a peer of its own. */
export function memoryCallers(
  app: () => INestApplicationContext,
  traffic: Traffic,
  request: McpPeer['request'] = {},
): Caller[] {
  const sent: Json[] = [];
  let onSent: () => void = () => undefined;
  const peer = (): McpPeer => ({
    request,
    send: (message) => {
      sent.push(JSON.parse(Buffer.from(message).toString('utf8')) as Json);
      onSent();
    },
  });
  const now = peer();
  const before = peer();
  const exchange = async (message: Json, by: McpPeer): Promise<Json | undefined> => {
    const bytes = await app().get(McpDispatcher).handleMessage(JSON.stringify(message), by);
    return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Json);
  };
  const legacy = (method: string, params: Json): Json => ({ jsonrpc: '2.0', id: ++lastId, method, params });
  let initialized: Promise<unknown> | undefined;
  return [
    {
      title: 'memory, modern',
      era: 'modern',
      ask: async (method, params) => {
        const answer = (await exchange(modernMessage(method, params, ++lastId), now))!;
        traffic.observe(answer, '2026-07-28', method);
        return answer;
      },
      listen: async (uris) => {
        const id = ++lastId;
        const acknowledged = new Promise<Json>((resolve) => {
          onSent = () => {
            const found = sent.find((message) => isAcknowledged(message, id));
            if (found) resolve(found);
          };
        });
        const ended = exchange(modernMessage(LISTEN, wanted(uris), id), now);
        const message = await acknowledged;
        traffic.observe(message, '2026-07-28', undefined);
        const cancelled = { method: 'notifications/cancelled', params: { requestId: id } };
        await exchange({ jsonrpc: '2.0', ...cancelled }, now);
        await ended;
        return honouredOf(message);
      },
    },
    {
      title: 'memory, legacy',
      era: 'legacy',
      ask: async (method, params) => {
        const clientInfo = { name: 'test', version: '1' };
        const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
        await (initialized ??= exchange(legacy('initialize', opening), before));
        const answer = (await exchange(legacy(method, params), before))!;
        traffic.observe(answer, '2025-11-25', method);
        return answer;
      },
    },
  ];
}

function isAcknowledged({ method, params }: Json, id: number): boolean {
  const meta = (params as Json | undefined)?.['_meta'] as Json | undefined;
  return method === ACKNOWLEDGED && meta?.[SUBSCRIPTION_KEY] === id;
}

function honouredOf(message: Json): unknown {
  if (message['method'] !== ACKNOWLEDGED) throw new Error(`not acknowledged: ${JSON.stringify(message)}`);
  return (message['params'] as Json)['notifications'];
}

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as V1Sse } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { McpRevision } from 'nest-mcp';
import type { Traffic } from './traffic.js';
import { VERSION_KEY, type Json } from './wire.js';

const INFO = { name: 'test-client', version: '1.0.0' };

/** The official v2 client over HTTP. `auto` lands on 2026-07-28 where the server has it. */
export async function connectV2(
  url: string,
  mode: 'auto' | 'legacy',
  traffic: Traffic,
  headers: Record<string, string> = {},
): Promise<ModernClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  await client.connect(
    new ModernHttp(new URL(url), { fetch: traffic.fetch as never, requestInit: { headers } }),
  );
  return client;
}

/** The official v1 client over HTTP: always a session of 2025-11-25 or earlier. */
export async function connectV1(
  url: string,
  traffic: Traffic,
  headers: Record<string, string> = {},
): Promise<V1Client> {
  const client = new V1Client(INFO);
  await client.connect(
    new V1Http(new URL(url), { fetch: traffic.fetch as never, requestInit: { headers } }) as never,
  );
  return client;
}

/** The official v1 client over HTTP+SSE. */
export async function connectV1Sse(
  url: string,
  traffic: Traffic,
  headers: Record<string, string> = {},
): Promise<V1Client> {
  const client = new V1Client(INFO);
  const transport = new V1Sse(new URL(url), { requestInit: { headers } });
  await client.connect(judged(transport, traffic) as never);
  return client;
}

/** How to start a server that is to be met over stdio. */
export interface ServerCommand {
  readonly entry: string;
  readonly env?: Record<string, string>;
  /** Told what the server writes to stderr. */
  readonly onStderr?: (text: string) => void;
}

/** The official v2 client over stdio. */
export async function connectV2Stdio(
  server: ServerCommand,
  mode: 'auto' | 'legacy',
  traffic: Traffic,
): Promise<ModernClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  await client.connect(judged(heard(new ModernStdio(parametersOf(server)), server), traffic));
  return client;
}

/** The official v1 client over stdio. */
export async function connectV1Stdio(server: ServerCommand, traffic: Traffic): Promise<V1Client> {
  const client = new V1Client(INFO);
  await client.connect(judged(heard(new V1Stdio(parametersOf(server)), server), traffic) as never);
  return client;
}

function parametersOf({ entry, env = {} }: ServerCommand) {
  return {
    command: process.execPath,
    args: [entry],
    env: { NO_COLOR: '1', ...env },
    stderr: 'pipe' as const,
  };
}

type Receive = (message: Json) => void;

function heard<T extends ModernStdio | V1Stdio>(transport: T, server: ServerCommand): T {
  transport.stderr?.on('data', (text: Buffer) => server.onStderr?.(text.toString()));
  return transport;
}

/** Has every message that a client gets on one channel judged on its way to it. */
function judged<T extends ModernStdio | V1Stdio | V1Sse>(transport: T, traffic: Traffic): T {
  const asked = new Map<unknown, { method: string; revision: McpRevision }>();
  let negotiated: McpRevision = '2025-11-25';
  const send = transport.send.bind(transport) as (message: Json) => Promise<void>;
  const sendNoted = ({ ...message }: Json) => {
    const meta = (message['params'] as Json | undefined)?.['_meta'] as Json | undefined;
    const revision = (meta?.[VERSION_KEY] ?? negotiated) as McpRevision;
    asked.set(message['id'], { method: message['method'] as string, revision });
    return send(message);
  };
  const judge: Receive = (message) => {
    const { method, revision } = asked.get(message['id']) ?? { revision: negotiated };
    const version = (message['result'] as Json | undefined)?.['protocolVersion'] as McpRevision | undefined;
    negotiated = version ?? revision;
    traffic.observe(message, version ?? revision, method);
  };
  let receive: Receive | undefined;
  return Object.defineProperty(Object.assign(transport, { send: sendNoted }), 'onmessage', {
    get: () => receive && ((message: Json) => (judge(message), receive?.(message))),
    set: (next: Receive | undefined) => {
      receive = next;
    },
  });
}

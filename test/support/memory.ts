import type { INestApplicationContext } from '@nestjs/common';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpDispatcher, type McpPeer, type McpRevision } from 'nest-mcp';
import { isOfSubscription } from './stdio.js';
import type { Traffic } from './traffic.js';
import { VERSION_KEY, type Json } from './wire.js';

/** Who is at the other end, as the transport knows it. */
export type MemoryPeerOptions = Pick<McpPeer, 'caller' | 'request'>;

/**
 * A transport without any bytes on a wire, made of public names alone: what a client sends is handed to
 * `McpDispatcher.handleMessage()`, and every message that comes back is judged. Fits the clients of both generations.
 */
export class MemoryTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  private readonly closing = new AbortController();
  private readonly asked = new Map<unknown, { revision: McpRevision; method: string }>();
  private readonly peer: McpPeer;
  private readonly dispatcher: McpDispatcher;
  private negotiated: McpRevision = '2025-11-25';

  constructor(
    app: INestApplicationContext,
    private readonly traffic: Traffic,
    options: MemoryPeerOptions = {},
  ) {
    this.dispatcher = app.get(McpDispatcher);
    this.peer = {
      ...options,
      signal: this.closing.signal,
      send: (message) => this.receive(Buffer.from(message).toString('utf8')),
    };
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: object): Promise<void> {
    const { id, method, params } = message as Json;
    const meta = (params as Json | undefined)?.['_meta'] as Json | undefined;
    const revision = (meta?.[VERSION_KEY] ?? this.negotiated) as McpRevision;
    // An answer of the client asks nothing.
    if (method !== undefined) this.asked.set(id, { revision, method: method as string });
    void this.dispatcher.handleMessage(JSON.stringify(message), this.peer).then((answer) => {
      if (answer) this.receive(Buffer.from(answer).toString('utf8'));
    });
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closing.abort();
    this.onclose?.();
    return Promise.resolve();
  }

  private receive(text: string): void {
    const message = JSON.parse(text) as Json;
    const asked = 'method' in message ? undefined : this.asked.get(message['id']);
    const version = (message['result'] as Json | undefined)?.['protocolVersion'] as McpRevision | undefined;
    if (version) this.negotiated = version;
    const revision =
      version ?? asked?.revision ?? (isOfSubscription(message) ? '2026-07-28' : this.negotiated);
    this.traffic.observe(message, revision, asked?.method);
    this.onmessage?.(message as never);
  }
}

const INFO = { name: 'test-client', version: '1.0.0' };

/** The official v2 client in memory. */
export async function connectV2Memory(
  app: INestApplicationContext,
  mode: 'auto' | 'legacy',
  traffic: Traffic,
  options?: MemoryPeerOptions,
): Promise<ModernClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  await client.connect(new MemoryTransport(app, traffic, options) as never);
  return client;
}

/** The official v1 client in memory. */
export async function connectV1Memory(
  app: INestApplicationContext,
  traffic: Traffic,
  options?: MemoryPeerOptions,
): Promise<V1Client> {
  const client = new V1Client(INFO);
  await client.connect(new MemoryTransport(app, traffic, options) as never);
  return client;
}

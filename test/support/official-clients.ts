import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Traffic } from './traffic.js';

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

import type { McpRevision } from 'nest-mcp';
import { Ledger } from './ledger.js';
import { LegacyClient } from './legacy.client.js';
import { ModernClient } from './modern.client.js';
import { OFFICIAL, OfficialClient } from './official.client.js';
import { Random } from './random.js';
import type { ClientSeed, Rumour, SoakClient } from './soak.client.js';
import { SseClient } from './sse.client.js';

const LEGACY: readonly McpRevision[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

export interface RoundSize {
  readonly clients: number;
  /** Of each client. */
  readonly calls: number;
}

/** One round: all clients at once, from their arrival until all have left. */
export async function runRound(url: string, { clients, calls }: RoundSize, seed: number): Promise<Ledger> {
  const random = new Random(seed);
  const ledger = new Ledger();
  const rumours: Rumour[] = [];
  const all = Array.from({ length: clients }, (_, index) => {
    // One in ten is nobody. Others come in pairs, two clients of one caller.
    const user = index % 10 === 9 ? undefined : `user-${Math.floor(index / 2)}`;
    return clientOf(index, { url, seed: random.between(0, 2 ** 31), user, ledger, rumours });
  });
  await Promise.all(all.map((client) => client.live(calls)));
  return ledger;
}

/** Of twenty clients: six of 2026-07-28, eight with sessions, two of HTTP+SSE, four official ones. */
function clientOf(index: number, seed: ClientSeed): SoakClient {
  const place = index % 20;
  if (place < 6) return new ModernClient(seed);
  if (place < 14) return new LegacyClient(seed, LEGACY[place % LEGACY.length]!);
  if (place < 16) return new SseClient(seed);
  return new OfficialClient(seed, OFFICIAL[place % OFFICIAL.length]!);
}

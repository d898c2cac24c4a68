import type { Type } from '@nestjs/common';
import type { McpRevision } from 'nest-mcp';
import { openPipe, StdioClient } from '../support/stdio.js';
import type { Traffic } from '../support/traffic.js';
import { modern, openSession, type Json, type Reply } from '../support/wire.js';

/** A client of one revision on one transport, as far as requests and their answers go; each answer is judged. */
export interface Asker {
  readonly revision: McpRevision;
  /** The whole answer, with `result` or `error`. */
  readonly ask: (method: string, params?: Json) => Promise<Answer>;
}

export interface Answer {
  readonly result: Json;
  readonly error: Reply['error'];
}

export const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** One for each revision over HTTP, the oldest first. */
export async function askHttp(url: string, traffic: Traffic): Promise<Asker[]> {
  const judged = (revision: McpRevision, method: string, reply: Reply): Answer => {
    traffic.observe(reply.body, revision, method);
    return reply;
  };
  const legacy = LEGACY.map(async (revision): Promise<Asker> => {
    const session = await openSession(url, revision);
    return {
      revision,
      ask: async (method, params) => judged(revision, method, await session.request(method, params)),
    };
  });
  return [
    ...(await Promise.all(legacy)),
    {
      revision: '2026-07-28',
      ask: async (method, params) => judged('2026-07-28', method, await modern(url, method, params)),
    },
  ];
}

/** Both eras on one in-process pipe. */
export interface PipedAskers {
  readonly askers: Asker[];
  readonly end: () => Promise<void>;
}

export async function askPipe(root: Type, traffic: Traffic): Promise<PipedAskers> {
  const client = new StdioClient(openPipe(root), traffic);
  await client.initialize('2025-11-25');
  let id = 0;
  return {
    askers: [
      {
        revision: '2025-11-25',
        ask: async (method, params) => answerOf(await client.legacy(++id, method, params)),
      },
      {
        revision: '2026-07-28',
        ask: async (method, params) => answerOf(await client.modern(++id, method, params)),
      },
    ],
    end: () => client.end(),
  };
}

function answerOf(message: Json): Answer {
  return { result: message['result'] as Json, error: message['error'] as Answer['error'] };
}

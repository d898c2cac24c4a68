import type { McpRevision } from 'nest-mcp';
import { SchemaOracle } from './schema-oracle.js';

type Json = Record<string, unknown>;

interface Asked {
  readonly revision: McpRevision | undefined;
  readonly method: string | undefined;
}

/**
 * Watches what a server sends and has every message judged by the schema of its revision.
 * Give `fetch` to a client, or hand single messages to `observe()`; `verify()` at the end.
 */
export class Traffic {
  private readonly oracle = new SchemaOracle();
  private readonly sessions = new Map<string, McpRevision>();
  private readonly reading = new Set<Promise<void>>();
  private readonly faults: string[] = [];
  private seen = 0;

  /** Messages judged so far. */
  get count(): number {
    return this.seen;
  }

  /** A `fetch` whose answers are judged on their way to the client. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const asked = this.readRequest(headers, init?.body);
    const response = await fetch(input, init);
    if (!response.body) return response;
    const [forClient, forJudge] = response.body.tee();
    const reading: Promise<void> = this.read(response, forJudge, asked, init?.signal).finally(() => {
      this.reading.delete(reading);
    });
    this.reading.add(reading);
    return new Response(forClient, response);
  };

  /** Judges one message. */
  observe(message: unknown, revision: McpRevision, method: string | undefined): void {
    this.seen++;
    const fault = this.oracle.fault(message, revision, method);
    if (fault) this.faults.push(fault);
  }

  /** Throws when any message was wrong, or none was seen. */
  async verify(): Promise<void> {
    await Promise.all(this.reading);
    if (this.faults.length > 0)
      throw new Error(`${this.faults.length} invalid messages:\n${this.faults.join('\n')}`);
    if (this.seen === 0) throw new Error('no message was judged');
  }

  private readRequest(headers: Headers, body: unknown): Asked {
    const session = headers.get('mcp-session-id');
    const version = headers.get('mcp-protocol-version');
    const revision =
      (session === null ? undefined : this.sessions.get(session)) ??
      (version as McpRevision | null) ??
      undefined;
    const message = typeof body === 'string' ? (JSON.parse(body) as Json) : {};
    return { revision, method: typeof message['method'] === 'string' ? message['method'] : undefined };
  }

  private async read(
    { headers }: Response,
    body: ReadableStream<Uint8Array>,
    asked: Asked,
    signal: AbortSignal | null | undefined,
  ): Promise<void> {
    const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
    const { text, isWhole } = await textOf(body, signal ?? undefined);
    // Of a stream that was cut whole events are judged, of a document nothing.
    const judged = isWhole ? text : isStream ? text.slice(0, text.lastIndexOf('\n\n') + 2) : '';
    if (judged === '') return;
    const messages = isStream ? eventsOf(judged) : [JSON.parse(judged) as Json];
    for (const message of messages) {
      const revision = this.revisionOf(message, asked, headers.get('mcp-session-id'));
      this.observe(message, revision, 'method' in message ? undefined : asked.method);
    }
  }

  private revisionOf(message: Json, asked: Asked, session: string | null): McpRevision {
    const negotiated = (message['result'] as Json | undefined)?.['protocolVersion'] as
      McpRevision | undefined;
    if (negotiated && session) this.sessions.set(session, negotiated);
    return negotiated ?? asked.revision ?? '2025-11-25';
  }
}

/** What comes until the end, or until the client hangs up: a branch of a body that is cut then may stay open. */
async function textOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<{ text: string; isWhole: boolean }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let hangUp = () => {};
  const cut = new Promise<'cut'>((resolve) => (hangUp = () => resolve('cut')));
  signal?.addEventListener('abort', hangUp);
  let text = '';
  try {
    for (;;) {
      const chunk = await Promise.race([reader.read(), cut]);
      if (chunk === 'cut') return { text, isWhole: false };
      if (chunk.done) return { text, isWhole: true };
      text += decoder.decode(chunk.value, { stream: true });
    }
  } catch (error) {
    // By its name: the TypeError of `fetch` is not the one of the sandbox that a test runs in.
    if (!['AbortError', 'TypeError'].includes((error as Error).name)) throw error;
    return { text, isWhole: false };
  } finally {
    signal?.removeEventListener('abort', hangUp);
  }
}

/** The messages in the text of an event stream. */
export function eventsOf(text: string): Json[] {
  return text
    .split('\n\n')
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Json);
}

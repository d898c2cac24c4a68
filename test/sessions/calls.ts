import type { McpRevision } from 'nest-mcp';
import { OpenStream } from '../features/open-stream.js';
import type { Traffic } from '../support/traffic.js';
import type { Json, LegacySession } from '../support/wire.js';

/** The revisions with sessions over Streamable HTTP, and the one before it that is served there too. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Those whose events have ids. */
export const WITH_IDS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

export function revisionOf({ initialized }: LegacySession): McpRevision {
  return initialized.result['protocolVersion'] as McpRevision;
}

/** A call of `hold` with a progress token of its own; with progress it is answered by a stream at once. */
export const HOLD = (key: string, progress?: number): Json => ({
  name: 'hold',
  arguments: { key, progress },
  _meta: { progressToken: `token of ${key}` },
});

export const progressOf = (key: string, ...steps: number[]): Json[] =>
  steps.map((progress) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: `token of ${key}`, progress },
  }));

export const letGo = (key: string, id: string | number): Json => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: `${key} let go` }] },
});

/** The answer to a ping. */
const isEmpty = ({ result }: Json): boolean => Object.keys(result as Json).length === 0;

const judged = (traffic: Traffic, revision: McpRevision) => (message: Json) =>
  traffic.observe(message, revision, 'result' in message && !isEmpty(message) ? 'tools/call' : undefined);

export interface CallOptions {
  readonly id?: string | number;
  readonly headers?: Record<string, string>;
  /** What is sent in the place of the call. */
  readonly body?: string;
}

/** Sends a call on a connection of its own and gives what answers it, stream or not. */
export function openCall(
  url: string,
  session: LegacySession,
  params: Json,
  traffic: Traffic,
  { id = 1, headers = {}, body }: CallOptions = {},
): Promise<OpenStream> {
  const init = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session.id,
      ...headers,
    },
    body: body ?? JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
  };
  return OpenStream.open(url, init, judged(traffic, revisionOf(session)));
}

/** Comes back to a stream by the id of an event, or opens a standing one without. */
export function takeUp(
  url: string,
  session: LegacySession,
  lastEventId: string | undefined,
  traffic: Traffic,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const init = {
    method: 'GET',
    headers: {
      accept: 'text/event-stream',
      'mcp-session-id': session.id,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...headers,
    },
  };
  return OpenStream.open(url, init, judged(traffic, revisionOf(session)));
}

/** One event of a stream as it came. */
export interface WireEvent {
  readonly id: string | undefined;
  readonly retry: string | undefined;
  readonly data: string;
}

/** The whole events that came so far. Comments are none. */
export function eventsIn({ text }: Pick<OpenStream, 'text'>): WireEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
    const data = field('data');
    return data === undefined ? [] : [{ id: field('id'), retry: field('retry'), data }];
  });
}

/** The id of the event that carried the message of that index, or of the newest event. */
export function idAt(stream: OpenStream, index?: number): string {
  const events = eventsIn(stream);
  const event = index === undefined ? events.at(-1) : events.filter(({ data }) => data !== '')[index];
  if (event?.id === undefined) throw new Error(`no id in: ${stream.text}`);
  return event.id;
}

/** All that came until the server ended the stream. */
export async function messagesOf(stream: OpenStream): Promise<Json[]> {
  expect([stream.status, await stream.end]).toEqual([200, 'ended']);
  return stream.messages;
}

/** What is said of a session that is over, or another's, or never was. */
export const OVER = { code: -32600, message: 'Session not found: send initialize again' };

/** The status of an answer that has no body. */
export async function emptyAnswer(stream: OpenStream): Promise<number> {
  expect([await stream.end, stream.text, stream.headers['content-type']]).toEqual(['ended', '', undefined]);
  return stream.status;
}

/** What is said to a `Last-Event-ID` that names nothing. */
export const unknownEvent = (revision: McpRevision = '2025-11-25'): Json => ({
  jsonrpc: '2.0',
  ...(revision <= '2025-06-18' ? { id: null } : {}),
  error: {
    code: -32600,
    message: 'Last-Event-ID names no event that is kept of a stream of this session',
  },
});

/** The status of an answer that is no stream, and its JSON. */
export async function refusalOf(stream: OpenStream): Promise<[number, Json]> {
  await stream.end;
  return [stream.status, JSON.parse(stream.text) as Json];
}

import type { McpRevision } from 'nest-mcp';
import { OpenStream } from '../features/open-stream.js';
import type { Traffic } from '../support/traffic.js';
import { modernHeaders, modernMessage, type Json, type LegacySession } from '../support/wire.js';

const BOTH = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface PostOptions {
  readonly headers?: Record<string, string>;
  /** The body as text, where a number would lose digits, or where it is a batch. */
  readonly body?: string;
}

/** The call of a tool. */
export function callOf(name: string, args: Json = {}, progressToken?: string | number): Json {
  return { name, arguments: args, ...(progressToken === undefined ? {} : { _meta: { progressToken } }) };
}

/** Posts a request in a session. Resolves once the head of the answer is there, which goes on as a stream. */
export function postInSession(
  url: string,
  { id: session, initialized }: Pick<LegacySession, 'id' | 'initialized'>,
  message: { readonly id: string | number; readonly method: string; readonly params?: Json },
  traffic: Traffic,
  { headers = {}, body }: PostOptions = {},
): Promise<OpenStream> {
  const revision = initialized.result['protocolVersion'] as McpRevision;
  const init = {
    method: 'POST',
    headers: { ...BOTH, 'mcp-session-id': session, ...headers },
    body: body ?? JSON.stringify({ jsonrpc: '2.0', ...message }),
  };
  return OpenStream.open(url, init, (received) =>
    traffic.observe(received, revision, received['id'] === message.id ? message.method : undefined),
  );
}

/** Posts a request of 2026-07-28, likewise. */
export function postModern(
  url: string,
  method: string,
  params: Json,
  traffic: Traffic,
  { headers = {}, id = 1 }: { headers?: Record<string, string>; id?: string | number } = {},
): Promise<OpenStream> {
  const init = {
    method: 'POST',
    headers: { ...BOTH, ...modernHeaders(method, params), ...headers },
    body: JSON.stringify(modernMessage(method, params, id)),
  };
  return OpenStream.open(url, init, (received) =>
    traffic.observe(received, '2026-07-28', 'method' in received ? undefined : method),
  );
}

/** One event as a browser's parser reads it. */
export interface ParsedEvent {
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** The events of a stream, read strictly by the rules for server-sent events: CR, LF and CRLF all end a line. */
export function parseEvents(text: string): ParsedEvent[] {
  const blocks: (readonly [string, string])[][] = [[]];
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.pop() !== '') throw new Error('the stream ends within a line');
  for (const line of lines) {
    if (line === '') blocks.push([]);
    else {
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      blocks.at(-1)!.push([name, value]);
    }
  }
  if (blocks.pop()!.length > 0) throw new Error('the stream ends within an event');
  return blocks.filter((fields) => fields.some(([name]) => name !== '')).map((fields) => ({ fields }));
}

/** The messages of those events. Each has to be one whole `message` event with one line of data. */
export function strictMessages(text: string): Json[] {
  return parseEvents(text).flatMap(({ fields }) => {
    const names = fields.map(([name]) => name);
    const shape = names.filter((name) => name !== 'id').join(' ');
    // An event without a message: an id to come back with.
    if (shape === 'retry data') return [];
    if (shape !== 'event data' || fields[0]![1] !== 'message') throw new Error(`an event of ${names.join()}`);
    return [JSON.parse(fields.at(-1)![1]) as Json];
  });
}

/** Ids and the like in an order of their own, to be compared whatever order they came in. */
export function sorted(values: readonly unknown[]): string[] {
  return values.map(String).toSorted((one, other) => (one < other ? -1 : 1));
}

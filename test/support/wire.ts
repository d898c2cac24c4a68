import type { McpRevision } from 'nest-mcp';
import { eventsOf } from './traffic.js';

export type Json = Record<string, unknown>;

export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** The `_meta` of a modern request. */
export const envelope = (more: Json = {}): Json => ({
  [VERSION_KEY]: '2026-07-28',
  [CAPABILITIES_KEY]: {},
  ...more,
});

/** What came back: status, headers, and the one message or the stream's messages in order. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly messages: Json[];
  /** The last message: the answer. */
  readonly body: Json;
  readonly result: Json;
  readonly error: { code: number; message: string; data?: unknown };
}

/** Posts bytes as they are. */
export async function post(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: body as string,
  });
  return replyOf(response);
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  const messages = text === '' ? [] : isStream ? eventsOf(text) : [JSON.parse(text) as Json];
  const body = messages.at(-1) ?? {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    messages,
    body,
    result: body['result'] as Json,
    error: body['error'] as Reply['error'],
  };
}

/** A modern message as JSON value. */
export function modernMessage(method: string, params: Json = {}, id: string | number = 1): Json {
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: envelope(params['_meta'] as Json | undefined) },
  };
}

/** The headers that mirror a modern message. */
export function modernHeaders(method: string, params: Json = {}): Record<string, string> {
  const name = params['name'] ?? params['uri'];
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

/** One well-formed modern request. */
export function modern(
  url: string,
  method: string,
  params: Json = {},
  headers: Record<string, string> = {},
  id: string | number = 1,
): Promise<Reply> {
  return post(url, JSON.stringify(modernMessage(method, params, id)), {
    ...modernHeaders(method, params),
    ...headers,
  });
}

/** A call of a tool in 2026-07-28. */
export function callTool(
  url: string,
  name: string,
  args: Json = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  return modern(url, 'tools/call', { name, arguments: args }, headers);
}

/** A legacy client of the barest kind: a handshake, then messages in its session. */
export interface LegacySession {
  readonly id: string;
  readonly initialized: Reply;
  request(
    method: string,
    params?: Json,
    id?: string | number,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  callTool(name: string, args?: Json): Promise<Reply>;
  notify(method: string, params?: Json): Promise<Reply>;
}

export async function openSession(
  url: string,
  revision: McpRevision = '2025-11-25',
  headers: Record<string, string> = {},
): Promise<LegacySession> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const initialized = await post(
    url,
    JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
    headers,
  );
  const id = initialized.headers.get('mcp-session-id') ?? '';
  const versionHeader: Record<string, string> =
    revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};
  const inSession = { 'mcp-session-id': id, ...versionHeader, ...headers };
  const request: LegacySession['request'] = (method, requestParams = {}, requestId = 1, more = {}) =>
    post(url, JSON.stringify({ jsonrpc: '2.0', id: requestId, method, params: requestParams }), {
      ...inSession,
      ...more,
    });
  return {
    id,
    initialized,
    request,
    callTool: (name, args = {}) => request('tools/call', { name, arguments: args }),
    notify: (method, notified = {}) =>
      post(url, JSON.stringify({ jsonrpc: '2.0', method, params: notified }), inSession),
  };
}

/** A session that said it is ready. */
export async function ready(
  url: string,
  revision: McpRevision = '2025-11-25',
  headers: Record<string, string> = {},
): Promise<LegacySession> {
  const session = await openSession(url, revision, headers);
  await session.notify('notifications/initialized');
  return session;
}

/** The text of a tool result's first block. */
export function textOf(result: Json): string {
  return (result['content'] as { text: string }[])[0]?.text ?? '';
}

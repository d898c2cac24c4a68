/** What a page has to read of an answer: its session, and how to authorize. */
const EXPOSED = ['Mcp-Session-Id', 'WWW-Authenticate'];

/** What the endpoint takes, legacy sessions included. */
const METHODS = ['GET', 'POST', 'DELETE'];

/** The default of Express's `cors`. That of `@fastify/cors` has no DELETE. */
const USUAL_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

/** What clients send, all revisions. */
const SENT = [
  'Content-Type',
  'Accept',
  'Authorization',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-ID',
];

/** The options of both CORS libraries that are read here; all others are passed on. */
interface CorsMembers {
  readonly origin?: unknown;
  readonly methods?: unknown;
  readonly exposedHeaders?: unknown;
  readonly allowedHeaders?: unknown;
}

/**
 * Options for `app.enableCors()` with what MCP clients in web pages need, the same on Express and Fastify.
 * What is given stays; these are added:
 *
 * - `exposedHeaders`: `Mcp-Session-Id` and `WWW-Authenticate`;
 * - `methods`: GET, POST and DELETE; where none are given, Express's usual ones;
 * - `allowedHeaders`: where none are given there stay none, and a page may send every header it asks for.
 *   A list gets the headers of MCP; the `Mcp-Param-*` headers of arguments that are mirrored by
 *   `@McpProperty({ header })` have to be in it already;
 * - `origin`: one given as text becomes a list of one, for which both libraries send `Vary: Origin`.
 *
 * The endpoint asks for itself who may call: list the same origins in `http.allowedOrigins`.
 *
 * @example
 * app.enableCors(mcpCors({ origin: 'https://app.example.com' }));
 *
 * @throws TypeError for a delegate that chooses options by request: it has to call `mcpCors()` itself.
 *
 * Sources: Streamable HTTP, Session Management, 2025-11-25; Streamable HTTP, Request Headers, 2026-07-28;
 * Authorization, 2025-11-25.
 *
 * @publicApi
 */
export function mcpCors<T extends object>(options: T = {} as T): T {
  if (typeof options === 'function' || 'delegator' in options) {
    throw new TypeError(
      'mcpCors() takes options, not a delegate that chooses them by request: call mcpCors() inside the delegate, on what it gives back',
    );
  }
  const { allowedHeaders, ...rest }: CorsMembers = options;
  const { origin, methods, exposedHeaders } = rest;
  const all: CorsMembers = {
    ...rest,
    ...(typeof origin === 'string' && origin !== '*' ? { origin: [origin] } : {}),
    methods: merged('methods', methods ?? USUAL_METHODS, METHODS),
    exposedHeaders: merged('exposedHeaders', exposedHeaders ?? [], EXPOSED),
    // Left out where there is none: @fastify/cors takes even undefined for a list.
    ...(isGiven(allowedHeaders) ? { allowedHeaders: merged('allowedHeaders', allowedHeaders, SENT) } : {}),
  };
  return all as T;
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

/** A list or comma text and what has to be in it, each name once in the spelling that came first. */
function merged(option: string, given: unknown, needed: readonly string[]): string[] {
  const list: unknown = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(list) || !list.every((name) => typeof name === 'string')) {
    throw new TypeError(`mcpCors(): ${option} has to be a list of names, or their text with commas`);
  }
  const names = new Map<string, string>();
  for (const name of [...list, ...needed].map((each) => each.trim())) {
    const key = name.toLowerCase();
    if (name !== '' && !names.has(key)) names.set(key, name);
  }
  return Array.from(names.values());
}

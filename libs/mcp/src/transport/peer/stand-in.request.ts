import type { McpTransport } from '../../protocol/call-origin.js';

/** What an application says of the request that guards see where there is none of HTTP. */
export interface McpStdioRequestOptions {
  /** Header names in any case. */
  headers?: Record<string, string>;
  user?: unknown;
}

/**
 * The stand-in for the HTTP request on stdio and on transports of the application's own, a new one for each call, so
 * that guards written for routes run unchanged. It has headers (names in lower case), `user`, `body` (the message),
 * empty `params` and `query`, `method` POST, `url` `/`, and as `ip` and `protocol` the name of the transport, `stdio`
 * or `memory`, which no HTTP client can have.
 * @publicApi
 */
export class McpStdioRequest {
  readonly method = 'POST';
  readonly url = '/';
  readonly originalUrl = '/';
  readonly path = '/';
  readonly protocol: McpTransport;
  readonly ip: McpTransport;
  readonly ips: string[] = [];
  readonly hostname = 'localhost';
  readonly headers: Record<string, string>;
  readonly params: Record<string, string> = {};
  readonly query: Record<string, string> = {};
  readonly cookies: Record<string, string> = {};
  readonly socket: { readonly remoteAddress: McpTransport };
  user: unknown;

  constructor(
    { headers, user }: McpStdioRequestOptions,
    /** The JSON-RPC message. */
    readonly body: unknown,
    transport: McpTransport = 'stdio',
  ) {
    this.headers = lowerCase(headers);
    this.user = user;
    this.protocol = transport;
    this.ip = transport;
    this.socket = { remoteAddress: transport };
  }

  /** A header by its name, in any case. */
  get(name: string): string | undefined {
    return this.headers[name.toLowerCase()];
  }

  /** The same under Express's other name. */
  header(name: string): string | undefined {
    return this.get(name);
  }
}

function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

import type { McpServerPlacement, McpSseOptions } from '../mcp.options.js';
import { isObject } from '../protocol/json-rpc.js';
import { checkNames, InvalidOptionException } from './option-checks.js';

/** The paths of HTTP+SSE as they are registered. */
export interface SsePaths {
  readonly path: string;
  readonly messagesPath: string;
}

/** `mcp`, `/mcp`, `/mcp/` and `//mcp` are one path. */
export function normalisePath(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

/**
 * The paths of HTTP+SSE, where it is on.
 *
 * @param endpoint the path of Streamable HTTP
 */
export function ssePathsOf(sse: McpServerPlacement['sse'], endpoint: string): SsePaths | undefined {
  if (sse === undefined || sse === false) return undefined;
  if (sse !== true && !isObject(sse as unknown))
    throw new InvalidOptionException(
      'sse',
      "must be true, false or { path: 'sse', messagesPath: 'messages' }",
    );
  const given: McpSseOptions = sse === true ? {} : sse;
  checkNames('sse', ['path', 'messagesPath'], given);
  const { path = 'sse', messagesPath = 'messages' } = given;
  const paths = Object.entries({ path: endpoint, 'sse.path': path, 'sse.messagesPath': messagesPath });
  const taken = new Map<string, string>();
  for (const [option, value] of paths) {
    if (typeof value !== 'string') throw new InvalidOptionException(option, 'must be a text');
    // Express takes paths in any case.
    const place = normalisePath(value).toLowerCase();
    const other = taken.get(place);
    if (other !== undefined)
      throw new InvalidOptionException(option, `is the same path as \`${other}\`: each has its own`);
    taken.set(place, option);
  }
  for (const [option, value] of [['sse.path', path] as const, ['sse.messagesPath', messagesPath] as const])
    if (
      !normalisePath(value)
        .split('/')
        .every((segment) => /^[\w.~-]+$/.test(segment))
    )
      throw new InvalidOptionException(
        option,
        `is ${JSON.stringify(value)}: write plain segments, for example 'sse'`,
      );
  return { path: normalisePath(path), messagesPath: normalisePath(messagesPath) };
}

/** The path that a proxy puts before those of this application. */
export function publicPath(given: string | undefined): string {
  if (given === undefined) return '';
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  // A path with two slashes at its head would be taken for a host.
  const isPlain =
    url?.search === '' && url.hash === '' && url.username === '' && !/^\/\/./.test(url.pathname);
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new InvalidOptionException(
      'http.publicUrl',
      `has ${JSON.stringify(given)}: write scheme, host and path, for example 'https://example.com/helpdesk'`,
    );
  return url.pathname.replace(/\/+$/, '');
}

const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?)$/i;

export function hostName(host: string): string {
  if (HOST_NAME.test(host)) return host.toLowerCase();
  throw new InvalidOptionException(
    'http.allowedHosts',
    `has ${JSON.stringify(host)}: write a host name without scheme, port and path, for example 'api.example.com'`,
  );
}

export function originOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidOptionException(
    'http.allowedOrigins',
    `has ${JSON.stringify(origin)}: write scheme and host, for example 'https://app.example.com'`,
  );
}

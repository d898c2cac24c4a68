import type { SsePaths } from '../../settings/addresses.js';
import { requestPath } from '../http/request-path.js';

/**
 * The path that leads to the messages, told by how the client found the stream: whatever precedes the route, a global
 * prefix or where the application is mounted, precedes both, and what they have in common is as it was asked for.
 *
 * @param url the address as it was requested, with or without a host and a query
 * @param publicPath what a proxy takes away before it
 */
export function messagesPathOf(url: string, { path, messagesPath }: SsePaths, publicPath: string): string {
  const [own, other] = [segmentsOf(path), segmentsOf(messagesPath)];
  const differing = own.findIndex((segment, index) => segment !== other[index]);
  const shared = differing < 0 ? own.length : differing;
  const asked = segmentsOf(requestPath(url));
  const before = asked.slice(0, Math.max(0, asked.length - (own.length - shared)));
  // Never with two slashes at its head: what follows them would be a host.
  return `${publicPath}/${[...before, ...other.slice(shared)].join('/')}`;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter(Boolean);
}

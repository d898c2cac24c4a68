import type { IncomingMessage } from 'node:http';
import { refuse, type HttpRefusal } from './http-refusal.js';
import { hasShortBody } from './media-types.js';

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Protection against DNS rebinding, before anything is read or anyone is asked. On a loopback socket the
 * `Host` must be a loopback name or an allowed one; elsewhere it must be an allowed one where any is
 * listed. An `Origin`, when there is one, must be listed, or be a loopback page on a loopback socket.
 * Source: Streamable HTTP, Security Warning, all revisions.
 */
export class RequestGate {
  constructor(
    private readonly allowedHosts: ReadonlySet<string>,
    private readonly allowedOrigins: ReadonlySet<string>,
  ) {}

  check(message: IncomingMessage): HttpRefusal | undefined {
    const isLocal = isLoopbackAddress(message.socket?.localAddress);
    if (!this.isHostAllowed(message.headers.host, isLocal)) {
      return forbidden(message, 'Host', 'its names in http.allowedHosts');
    }
    const { origin } = message.headers;
    if (origin === undefined || this.isOriginAllowed(origin, isLocal)) return undefined;
    return forbidden(message, 'Origin', 'web pages in http.allowedOrigins');
  }

  private isHostAllowed(host: string | undefined, isLocal: boolean): boolean {
    if (!isLocal && this.allowedHosts.size === 0) return true;
    const name = hostNameOf(host);
    if (name === undefined) return false;
    return this.allowedHosts.has(name) || (isLocal && LOOPBACK_NAMES.has(name));
  }

  private isOriginAllowed(origin: string, isLocal: boolean): boolean {
    if (this.allowedOrigins.has(origin)) return true;
    const url = /^https?:\/\/[^/?#]+$/i.test(origin) && URL.canParse(origin) ? new URL(origin) : undefined;
    if (!url || url.username !== '' || url.password !== '') return false;
    return this.allowedOrigins.has(url.origin) || (isLocal && LOOPBACK_NAMES.has(url.hostname));
  }
}

/** Bytes of an unread body that may be thrown away to keep the connection. */
const SHORT = 64 * 1024;

function forbidden(message: IncomingMessage, header: string, mend: string): HttpRefusal {
  const text = `Forbidden: this ${header} is not allowed; the server's operator lists ${mend} of McpModule`;
  return refuse(403, text, { closes: !hasShortBody(message, SHORT) });
}

/** A socket without an address is one that was injected in this process. */
function isLoopbackAddress(address: string | undefined): boolean {
  return (
    address === undefined ||
    address === '::1' ||
    address.startsWith('127.') ||
    address.startsWith('::ffff:127.')
  );
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i;

function hostNameOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : HOST.exec(host)?.[1]?.toLowerCase();
}

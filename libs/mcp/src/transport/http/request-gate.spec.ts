import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { RequestGate } from './request-gate.js';

const LOOPBACK = '127.0.0.1';
const PUBLIC = '203.0.113.5';
const open = new RequestGate(new Set(), new Set());
const listed = new RequestGate(new Set(['api.example.com']), new Set(['https://app.example.com']));

const check = (gate: RequestGate, localAddress: string | undefined, headers: IncomingHttpHeaders) =>
  gate.check({ headers, socket: { localAddress } } as IncomingMessage);
const isServed = (gate: RequestGate, address: string | undefined, host?: string, origin?: string) =>
  check(gate, address, {
    ...(host === undefined ? {} : { host }),
    ...(origin === undefined ? {} : { origin }),
  }) === undefined;

describe('Host', () => {
  it.each([
    ['evil.example', false],
    ['evil.example:3000', false],
    ['localhost', true],
    ['LocalHost', true],
    ['localhost:3000', true],
    ['127.0.0.1', true],
    ['127.0.0.1:3000', true],
    ['[::1]:3000', true],
    ['[::1]', true],
    ['localhost.evil.example', false],
    ['evil.example.localhost', false],
    ['127.0.0.1.nip.io', false],
    ['127.0.0.2', false],
    ['0.0.0.0', false],
    ['localhost@evil.example', false],
    ['localhost, evil.example', false],
    ['localhost:3000:4000', false],
    ['localhost/evil', false],
    ['', false],
    [undefined, false],
  ])('M8: on a loopback socket %p is served: %p', (host, served) => {
    for (const address of [LOOPBACK, '127.8.8.8', '::1', '::ffff:127.0.0.1', undefined])
      expect(isServed(open, address, host)).toBe(served);
  });

  it('M8: on a loopback socket a name of a proxy is served once it is allowed', () => {
    expect(isServed(open, LOOPBACK, 'api.example.com')).toBe(false);
    expect(isServed(listed, LOOPBACK, 'api.example.com:8443')).toBe(true);
    expect(isServed(listed, LOOPBACK, 'API.example.com')).toBe(true);
    expect(isServed(listed, LOOPBACK, 'localhost')).toBe(true);
    expect(isServed(listed, LOOPBACK, 'evil.example')).toBe(false);
  });

  it.each([
    [open, 'evil.example', true],
    [open, undefined, true],
    [listed, 'api.example.com', true],
    [listed, 'api.example.com:443', true],
    [listed, 'evil.example', false],
    [listed, 'localhost', false],
    [listed, PUBLIC, false],
    [listed, undefined, false],
  ])('M8: on another socket the list counts, where there is one', (gate, host, served) => {
    expect(isServed(gate, PUBLIC, host)).toBe(served);
    expect(isServed(gate, '::ffff:203.0.113.5', host)).toBe(served);
  });
});

describe('Origin', () => {
  it.each([
    [undefined, true, true],
    ['https://app.example.com', true, true],
    ['https://app.example.com:443', true, true],
    ['HTTPS://APP.example.com', true, true],
    ['http://app.example.com', false, false],
    ['https://app.example.com:8443', false, false],
    ['https://evil.example', false, false],
    ['https://app.example.com.evil.example', false, false],
    ['null', false, false],
    ['not a url', false, false],
    ['', false, false],
    ['*', false, false],
    ['https://app.example.com, https://evil.example', false, false],
    ['https://app.example.com/path', false, false],
    ['https://app.example.com@evil.example', false, false],
    ['https://evil@app.example.com', false, false],
    ['file://', false, false],
    ['chrome-extension://abc', false, false],
    ['http://localhost', true, false],
    ['http://localhost:6274', true, false],
    ['https://127.0.0.1:3000', true, false],
    ['http://[::1]:3000', true, false],
    ['http://localhost.evil.example', false, false],
    ['http://evil@localhost', false, false],
  ])('M7, S-051, S-071: %p is served on a loopback socket %p, elsewhere %p', (origin, local, remote) => {
    expect(isServed(listed, LOOPBACK, 'localhost:3000', origin)).toBe(local);
    expect(isServed(listed, PUBLIC, 'api.example.com', origin)).toBe(remote);
  });

  it('M7: is not served for being the host, on a server that lists none', () => {
    expect(isServed(open, PUBLIC, 'api.example.com', 'https://api.example.com')).toBe(false);
    expect(isServed(open, PUBLIC, 'api.example.com')).toBe(true);
  });
});

describe('a refusal', () => {
  it('is a 403 that says which header and what to list', () => {
    expect(check(open, LOOPBACK, { host: 'evil.example' })).toMatchObject({
      status: 403,
      error: {
        code: -32600,
        message:
          "Forbidden: this Host is not allowed; the server's operator lists its names in http.allowedHosts of McpModule",
      },
    });
    expect(check(open, LOOPBACK, { host: 'localhost', origin: 'null' })).toMatchObject({
      status: 403,
      error: {
        code: -32600,
        message:
          "Forbidden: this Origin is not allowed; the server's operator lists web pages in http.allowedOrigins of McpModule",
      },
    });
  });

  it('keeps the connection when little is left to read', () => {
    const length = (bytes: number) =>
      check(open, LOOPBACK, { host: 'x', 'content-length': String(bytes) })?.closes;
    expect([length(0), length(65_536), length(65_537)]).toEqual([false, false, true]);
    expect(check(open, LOOPBACK, { host: 'x', 'transfer-encoding': 'chunked' })?.closes).toBe(true);
  });
});

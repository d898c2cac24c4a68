import { connect, type Socket } from 'node:net';
import type { Json } from '../support/wire.js';

/** One answer as it came over the wire. Header names in lower case; several lines of one name joined. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const CRLF = '\r\n';

/** A TCP connection that sends exactly what it is told, where an HTTP client would correct it. */
export class RawConnection {
  /** Resolves once the server has ended the connection. */
  readonly closed: Promise<void>;
  private received = Buffer.alloc(0);
  private isOver = false;
  private wake: (() => void) | undefined;

  private constructor(private readonly socket: Socket) {
    this.closed = new Promise((resolve) => {
      const over = () => {
        this.isOver = true;
        this.wake?.();
        resolve();
      };
      socket.on('end', over).on('close', over).on('error', over);
    });
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake?.();
    });
  }

  /** @param url where the server listens; its path is not used */
  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host: hostname.replace(/^\[|\]$/g, '') });
      socket.once('error', reject).once('connect', () => resolve(new RawConnection(socket)));
    });
  }

  write(bytes: string | Uint8Array): this {
    if (!this.socket.destroyed) this.socket.write(bytes);
    return this;
  }

  /** Ends this side only. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** The next whole answer. @param isHead for HEAD, whose answer has no body whatever it announces */
  async answer(isHead = false): Promise<RawAnswer> {
    for (;;) {
      const taken = takeAnswer(this.received, this.isOver, isHead);
      if (taken) {
        this.received = this.received.subarray(taken.length);
        return taken.answer;
      }
      if (this.isOver) throw new Error(`the connection ended after: ${this.received.toString('latin1')}`);
      await this.more();
    }
  }

  /** Waits until what has come so far, from the last whole answer on, contains a text. */
  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.isOver) throw new Error(`the connection ended before ${text}`);
      await this.more();
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

function takeAnswer(
  bytes: Buffer,
  isOver: boolean,
  isHead: boolean,
): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf(CRLF + CRLF);
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split(CRLF);
  const status = Number(statusLine.split(' ')[1]);
  const headers = headersOf(lines);
  const start = headEnd + 4;
  const bare = isHead || status < 200 || status === 204;
  const body = bare ? { text: '', end: start } : takeBody(bytes, start, headers, isOver);
  return body && { answer: { status, headers, text: body.text }, length: body.end };
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

function takeBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
  isOver: boolean,
): { text: string; end: number } | undefined {
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(bytes, start);
  const declared = headers['content-length'];
  if (declared === undefined)
    return isOver ? { text: bytes.toString('utf8', start), end: bytes.length } : undefined;
  const end = start + Number(declared);
  return bytes.length < end ? undefined : { text: bytes.toString('utf8', start, end), end };
}

function takeChunks(bytes: Buffer, start: number): { text: string; end: number } | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf(CRLF, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { text: Buffer.concat(chunks).toString('utf8'), end: next };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}

/** The bytes of a request. A header may be given several times: `[name, value]` pairs keep order and case. */
export function rawRequest(
  method: string,
  path: string,
  headers: readonly (readonly [string, string])[],
  body: string | Uint8Array = '',
): Buffer {
  const head = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(head.join(CRLF) + CRLF + CRLF, 'latin1'), Buffer.from(body)]);
}

/** Sends one request on a connection of its own and gives its answer, which has to be JSON. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
): Promise<RawAnswer & { readonly json: Json }> {
  const answer = await single(url, bytes);
  return { ...answer, json: answer.text === '' ? {} : (JSON.parse(answer.text) as Json) };
}

/** The status of the answer alone, whatever its body is. */
export async function statusOf(url: string, bytes: string | Uint8Array): Promise<number> {
  return (await single(url, bytes)).status;
}

async function single(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await RawConnection.open(url);
  try {
    return await connection.write(bytes).answer();
  } finally {
    connection.destroy();
  }
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that sends one request and then reads only the head of the answer. */
export class SlowReader {
  private constructor(
    private readonly socket: Socket,
    /** The first bytes of the answer. */
    readonly head: string,
  ) {}

  static async open(
    url: string,
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    body = '',
  ): Promise<SlowReader> {
    const { hostname, port, pathname } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    const lines = Object.entries({
      host: hostname,
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    });
    socket.write(
      [`${method} ${pathname} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', body].join(
        '\r\n',
      ),
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return new SlowReader(socket, chunk.toString('latin1'));
  }

  /** Reads all that is left, until the server ends the connection. */
  async rest(): Promise<string> {
    const chunks: Buffer[] = [];
    this.socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.socket.resume();
    if (!this.socket.destroyed) await once(this.socket, 'close');
    return Buffer.concat(chunks).toString('latin1');
  }

  destroy(): void {
    this.socket.destroy();
  }
}

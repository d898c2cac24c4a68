import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Bytes of a body that will never be there. */
const ANNOUNCED = 100_000;
/** Connections that are opened at once: a server's queue is not endless. */
const AT_ONCE = 100;

/** Clients that send the head of a request, and one byte of its body a second. */
export class SlowSockets {
  /** What each was answered; resolves once all are closed. */
  readonly answers: Promise<string[]>;

  private constructor(private readonly sockets: readonly Socket[]) {
    this.answers = Promise.all(sockets.map(answerOn));
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(' ');
    }, 1_000);
    void this.answers.finally(() => clearInterval(drip));
  }

  static async open(url: string, count: number): Promise<SlowSockets> {
    const { hostname, port, host } = new URL(url);
    const head = [
      'POST /mcp HTTP/1.1',
      `host: ${host}`,
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      `content-length: ${ANNOUNCED}`,
    ];
    const sockets: Socket[] = [];
    while (sockets.length < count) {
      const more = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, () =>
        connect({ host: hostname, port: Number(port) }),
      );
      await Promise.all(more.map((socket) => once(socket, 'connect')));
      sockets.push(...more);
    }
    for (const socket of sockets) socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    return new SlowSockets(sockets);
  }

  destroy(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }
}

function answerOn(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return new Promise((resolve) => {
    // A byte that is on its way when the server closes is answered by a reset.
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

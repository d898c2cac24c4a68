import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';

/** ms between two looks at what waits for its reader. */
const LOOK_INTERVAL = 5;

/**
 * The connections of the server, looked after when it closes. One on which nothing was ever asked is ended: clients open
 * one in advance, Node's own `fetch` whenever a stream is cut, and a server that closes waits for it as for a request
 * that is on its way. One whose last answer is not taken yet is waited for: a server that closes would cut it off.
 */
export class Connections {
  /** By both ends of a connection, which has a socket until TLS is agreed on, and another one from then on. */
  private readonly sockets = new Map<unknown, Socket>();
  /** Those on which TLS is still to be agreed on: what they read is no request. */
  private readonly unsecured = new WeakSet<Socket>();
  private isClosing = false;

  watch(server: Server | SecureServer): void {
    const isSecure = server instanceof TlsServer;
    server.on('connection', (socket: Socket) => {
      // On a path there are no ends to know it by again.
      if (isSecure && socket.remotePort === undefined) return;
      if (isSecure) this.unsecured.add(socket);
      this.add(socket);
    });
    server.on('secureConnection', (socket: Socket) => this.add(socket));
  }

  /** Takes no more, and waits `grace` ms for what is on its way. What asked something once is Node's to close. */
  async close(grace: number): Promise<void> {
    this.isClosing = true;
    const sockets = Array.from(this.sockets.values());
    for (const socket of sockets) if (socket.bytesRead === 0 || this.unsecured.has(socket)) socket.destroy();
    const end = performance.now() + grace;
    await Promise.all(sockets.map((socket) => taken(socket, end)));
  }

  private add(socket: Socket): void {
    if (this.isClosing) return void socket.destroy();
    const ends = endsOf(socket);
    this.sockets.set(ends, socket);
    socket.once('close', () => {
      if (this.sockets.get(ends) === socket) this.sockets.delete(ends);
    });
  }
}

function endsOf(socket: Socket): unknown {
  const { localAddress, remoteAddress, remotePort } = socket;
  return remotePort === undefined ? socket : `${localAddress} ${remoteAddress} ${remotePort}`;
}

/** Waits until all that was written has left this process, or nobody takes it, or that is over. */
async function taken(socket: Socket, end: number): Promise<void> {
  // Of little that waits, as over TLS a little always does for a moment, no event tells when it is gone.
  while (!socket.destroyed && socket.writableLength > 0 && performance.now() < end)
    await delay(LOOK_INTERVAL);
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { within } from '../within.js';

/**
 * The connections of the server, looked after when it closes. One on which nothing was ever asked is ended: clients open
 * one in advance, Node's own `fetch` whenever a stream is cut, and a server that closes waits for it as for a request
 * that is on its way. One whose last answer is not taken yet is waited for: a server that closes would cut it off.
 */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private isClosing = false;

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.isClosing) return void socket.destroy();
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Takes no more, and waits `grace` ms for what is on its way. What asked something once is Node's to close. */
  async close(grace: number): Promise<void> {
    this.isClosing = true;
    const sockets = Array.from(this.sockets);
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await within(grace, Promise.all(sockets.map(taken)));
  }
}

/** Resolves once all that was written has left this process, or nobody takes it. */
function taken(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', () => resolve());
  });
}

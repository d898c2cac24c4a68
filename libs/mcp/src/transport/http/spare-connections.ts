import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections on which nothing was ever asked. Clients open one in advance, Node's own `fetch` whenever a stream is cut,
 * and a server that closes waits for it as for a request that is on its way: for seconds, or as long as the client
 * likes. So they are ended once everything else is.
 */
export class SpareConnections {
  private readonly sockets = new Set<Socket>();
  private isClosing = false;

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.isClosing) return void socket.destroy();
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Ends those that are there, and takes no more. What asked something once is Node's to close. */
  close(): void {
    this.isClosing = true;
    for (const socket of Array.from(this.sockets)) if (socket.bytesRead === 0) socket.destroy();
  }
}

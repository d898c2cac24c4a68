import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between clients and a server, as a network that can break. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:port`, which leads to the server. */
    readonly url: string,
  ) {}

  /** @param target where the server listens; its path is not used */
  static async open(target: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer((socket) => proxy.join(socket, connect(Number(port), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy: CuttingProxy = new CuttingProxy(
      server,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    return proxy;
  }

  /** Breaks every connection, on both sides. New ones are let through. */
  cut(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  private join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  }
}

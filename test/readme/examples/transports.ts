import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import {
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { McpDispatcher, McpModule, type McpPeer } from 'nest-mcp';
import { WhoTools } from './who.tools.js';

/** MCP over TCP, each message on a line of its own. */
@Injectable()
export class TcpTransport implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly sockets = new Set<Socket>();
  readonly server = createServer((socket) => this.serve(socket));

  constructor(private readonly dispatcher: McpDispatcher) {}

  async onApplicationBootstrap() {
    this.server.listen(Number(process.env.MCP_TCP_PORT ?? 4000), '127.0.0.1');
    await once(this.server, 'listening');
  }

  beforeApplicationShutdown() {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(socket: Socket) {
    this.sockets.add(socket);
    const gone = new AbortController();
    socket
      .on('error', () => socket.destroy())
      .once('close', () => {
        this.sockets.delete(socket);
        gone.abort(); // what runs for this client is cancelled
      });
    const send = (message: Uint8Array) =>
      new Promise<void>((resolve, reject) => {
        socket.write(`${Buffer.from(message).toString()}\n`, (error) => (error ? reject(error) : resolve()));
      });
    const peer: McpPeer = {
      send, // progress, log messages, changes
      signal: gone.signal,
      caller: { id: 'the local user' },
      request: { headers: { 'x-staff': 'yes' } }, // what guards see
    };
    const receive = async (line: string) => {
      const answer = await this.dispatcher.handleMessage(line, peer); // never rejects
      if (answer) await send(answer);
    };
    createInterface({ input: socket }).on('line', (line) => {
      receive(line).catch(() => socket.destroy());
    });
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [TcpTransport, WhoTools],
})
export class TransportsModule {}

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RunningProxy {
  /** Where clients find what stands behind it. */
  readonly url: string;
  /** The paths that were asked of it. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A proxy that serves what stands at `target` under a prefix, and nothing else. */
export async function startProxy(target: string, prefix: string): Promise<RunningProxy> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { url = '/', method, headers } = incoming;
    asked.push(url.split('?')[0]!);
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end();
    const inner = request(target + url.slice(prefix.length), { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers).flushHeaders();
      answer.pipe(outgoing);
    });
    inner.on('error', () => outgoing.destroy());
    outgoing.on('close', () => inner.destroy());
    incoming.pipe(inner);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    asked,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

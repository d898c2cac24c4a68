import type { McpServer } from '../../server/mcp.server.js';
import { LineReader, type Line } from './line-reader.js';
import { StdioChannel } from './stdio.channel.js';
import type { McpStdioRequestOptions } from './stdio-request.js';

export interface StdioStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Ends serving, as the end of the input does. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Serves one client over two streams until the input ends, the output breaks or the signal aborts; what
 * runs then gets the shutdown grace to be answered. Resolves when everything is written.
 */
export async function serveStreams(
  server: McpServer,
  { input, output, signal }: StdioStreams,
  stand: McpStdioRequestOptions,
): Promise<void> {
  const writer = new LineWriter(output);
  const channel = new StdioChannel(server, stand, (message) => writer.write(message));
  const reader = new LineReader(server.settings.limits.line);
  const pending = new Set<Promise<void>>();
  const receive = (lines: Iterable<Line>) => {
    for (const line of lines) {
      const work = channel.receive(line).finally(() => pending.delete(work));
      pending.add(work);
    }
  };
  const onData = (chunk: Buffer | string) =>
    receive(reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  await new Promise<void>((resolve) => {
    const stop = () => {
      input.off('data', onData).off('end', stop).off('close', stop).off('error', stop);
      signal?.removeEventListener('abort', stop);
      input.pause();
      resolve();
    };
    writer.onBroken = () => {
      channel.endAll('disconnected');
      stop();
    };
    input.on('data', onData).on('end', stop).on('close', stop).on('error', stop);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
  receive(reader.end());
  await server.inFlight.close(writer.isBroken ? 0 : server.settings.limits.shutdownGrace);
  await Promise.all(pending);
  await writer.flush();
}

/** Whole lines on one stream, in order; after the stream broke, nothing. */
class LineWriter {
  isBroken = false;
  onBroken: (() => void) | undefined;

  constructor(private readonly output: NodeJS.WritableStream) {
    const onEnd = () => {
      if (this.isBroken) return;
      this.isBroken = true;
      this.onBroken?.();
    };
    output.on('error', onEnd).on('close', onEnd);
  }

  async write(message: string): Promise<void> {
    if (this.isBroken) return;
    if (!this.output.write(`${message}\n`)) await this.settled('drain');
  }

  /** Resolves when all that was written has left this process. */
  async flush(): Promise<void> {
    if (this.isBroken) return;
    await new Promise<void>((resolve) => {
      this.output.once('close', resolve);
      this.output.write('', () => resolve());
    });
  }

  private settled(event: 'drain'): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.output.off(event, done).off('close', done).off('error', done);
        resolve();
      };
      this.output.on(event, done).on('close', done).on('error', done);
    });
  }
}

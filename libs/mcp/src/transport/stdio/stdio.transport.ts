import type { Writable } from 'node:stream';
import type { McpServer } from '../../server/mcp.server.js';
import { notificationMessage } from '../../protocol/json-rpc.js';
import { BURST_ROOM } from '../burst-room.js';
import { within } from '../within.js';
import { PeerChannel, standInIdentity } from '../peer/peer.channel.js';
import type { McpStdioRequestOptions } from '../peer/stand-in.request.js';
import { LineReader, type Line } from './line-reader.js';

export interface StdioStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Ends serving, as the end of the input does. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Serves one client over two streams until the input ends, the output breaks or the signal aborts; what
 * runs then gets the shutdown grace to be answered, and the client as long to read it. Resolves when
 * everything is written.
 */
export async function serveStreams(
  server: McpServer,
  { input, output, signal }: StdioStreams,
  stand: McpStdioRequestOptions,
): Promise<void> {
  const { limits } = server.settings;
  const writer = new LineWriter(output, { messages: limits.inFlightPerChannel, bytes: limits.resultSize });
  const channel = new PeerChannel(
    server,
    standInIdentity('stdio', stand, (request) => server.settings.callerOf(request)),
    {
      emit: (message) => writer.emit(message),
      send: (message) => void writer.write(message),
      notify: (message) => writer.notify(message, limits.streamBuffer),
    },
  );
  const reader = new LineReader(limits.line);
  const pending = new Set<Promise<void>>();
  const receive = (lines: Iterable<Line>) => {
    for (const line of lines) {
      const work = serve(channel, writer, line)
        .catch((fault: unknown) => server.failed('A message on stdio', fault))
        .finally(() => pending.delete(work));
      pending.add(work);
    }
  };
  const onData = (chunk: Buffer | string) =>
    receive(reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  await new Promise<void>((resolve) => {
    const stop = () => {
      writer.onPressure = undefined;
      input.off('data', onData).off('end', stop).off('close', stop).off('error', stop);
      signal?.removeEventListener('abort', stop);
      input.pause();
      resolve();
    };
    writer.onBroken = () => {
      channel.endAll('disconnected');
      stop();
    };
    // Who does not read is not read from: answers that nobody takes would fill the memory.
    writer.onPressure = (isHigh) => void (isHigh ? input.pause() : input.resume());
    input.on('data', onData).on('end', stop).on('close', stop).on('error', stop);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
  receive(reader.end());
  channel.endOfInput();
  await server.finish(writer.isBroken ? 0 : limits.shutdownGrace);
  await within(
    limits.shutdownGrace,
    Promise.all(pending).then(() => writer.flush()),
  );
  channel.close();
}

/** Answers one line. A request that stayed open for changes is ended by its result and by name. Source: Cancellation, 2026-07-28. */
async function serve(channel: PeerChannel, writer: LineWriter, line: Line): Promise<void> {
  if ('tooLong' in line) return writer.write(channel.refuseLong(line.tooLong));
  const answer = await channel.receive(line.bytes);
  if (!answer) return;
  // After the result nothing of its subscription may come.
  if (answer.ends) writer.catchUp();
  await writer.write(answer.message);
  if (answer.ends)
    await writer.write(notificationMessage('notifications/cancelled', `{"requestId":${answer.ends.text}}`));
}

/** Changes that are kept for a client that does not read. */
const MAX_MISSED = 1_000;

/** How much may wait for the client to read it before the client is not read from any more. */
interface Room {
  readonly messages: number;
  readonly bytes: number;
}

/** Whole lines on one stream, in order; after the stream broke, nothing. */
class LineWriter {
  isBroken = false;
  onBroken: (() => void) | undefined;
  /** Told when more waits for the reader than there is room for, and when it has taken all of it. */
  onPressure: ((isHigh: boolean) => void) | undefined;
  private drained: Promise<void> | undefined;
  private waiting = 0;
  /** What changed while the client did not read. */
  private readonly missed = new Set<string>();

  constructor(
    private readonly output: NodeJS.WritableStream,
    private readonly room: Room,
  ) {
    const onEnd = () => {
      if (this.isBroken) return;
      this.isBroken = true;
      this.onBroken?.();
    };
    output.on('error', onEnd).on('close', onEnd);
  }

  async write(message: string): Promise<void> {
    if (this.isBroken || this.output.write(`${message}\n`)) return;
    this.waiting++;
    if (this.waiting > this.room.messages || this.buffered > this.room.bytes) this.onPressure?.(true);
    this.drained ??= this.drain();
    await this.drained;
  }

  /**
   * Writes a message that may be lost. Waits until a slow reader has room again; of what is emitted meanwhile
   * without waiting a little is kept and the rest dropped, so that nothing piles up.
   */
  async emit(message: string): Promise<void> {
    if (this.buffered <= BURST_ROOM) await this.write(message);
  }

  /** Writes what changed; a client that does not read is told once of each change, when it does. */
  notify(message: string, room: number): void {
    // Only a full stream tells when it is read again, so that nothing is kept before it is full.
    const isFull = this.drained !== undefined && this.buffered > room;
    if (this.missed.size === 0 && !isFull) void this.write(message);
    else if (this.missed.size < MAX_MISSED) this.missed.add(message);
  }

  /** Writes what was kept for a client that does not read. */
  catchUp(): void {
    const missed = Array.from(this.missed);
    this.missed.clear();
    for (const message of missed) void this.write(message);
  }

  /** Resolves when all that was written has left this process. */
  async flush(): Promise<void> {
    if (this.isBroken) return;
    await new Promise<void>((resolve) => {
      this.output.once('close', resolve);
      this.output.write('', () => resolve());
    });
  }

  /** Bytes that the stream holds; a stream that is not Node's own may not tell. */
  get buffered(): number {
    return (this.output as Partial<Writable>).writableLength ?? 0;
  }

  private drain(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.output.off('drain', done).off('close', done).off('error', done);
        this.drained = undefined;
        this.waiting = 0;
        this.onPressure?.(false);
        this.catchUp();
        resolve();
      };
      this.output.on('drain', done).on('close', done).on('error', done);
    });
  }
}

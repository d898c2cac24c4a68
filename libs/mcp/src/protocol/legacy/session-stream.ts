import { randomBytes } from 'node:crypto';
import type { McpEventStore, McpReplayBounds, McpStreamEvent, McpStreamKey } from './event-store.js';

/** One connection that events are written to. */
export interface EventWriter {
  /** Nothing can be written any more. */
  readonly isOver: boolean;
  /** Whether what is written goes out at once; else it waits for others on the same connection. */
  readonly isConnected: boolean;
  /** Whether the reader keeps up, so that what may be lost is worth sending. */
  readonly hasRoom: boolean;
  /** Tells the client that the stream is there. */
  begin(): void;
  /** The first event: none but an id to come back with. */
  prime(id: string): void;
  /** Writes what may be lost; resolves when there is room for more. */
  emit(message: string, id?: string): Promise<void>;
  /** Writes what must not be lost. */
  put(message: string, id?: string): void;
  /** Resolves when there is room again, or nobody who reads. */
  drained(): Promise<void>;
  /** @param onTaken called when the last bytes were handed to the connection */
  end(message?: string, id?: string, onTaken?: () => void): void;
}

/** What every stream of a session shares. */
export interface StreamHome {
  readonly session: string;
  /** Where events are kept; missing in a revision that has no ids for them. */
  readonly events: McpEventStore | undefined;
  readonly bounds: McpReplayBounds;
  /** ms for which a stream is kept that is over, or whose client is away. */
  readonly replayTime: number;
  /** Whether the revision opens a stream with an event that has an id alone. */
  readonly primes: boolean;
  /** The stream can be taken up by its id from now on, or no more. */
  opened(stream: SessionStream): void;
  closed(stream: SessionStream): void;
  /** Told of a store that fails. */
  onFault(fault: unknown): void;
}

/** `p`: the answer to a POST. `g`: the standing stream of a GET. */
export type StreamKind = 'p' | 'g';

/** ms that a stream is kept whose last bytes its connection took. */
const TAKEN_TIME = 10_000;

/**
 * One stream of a session. Its events are numbered and kept, so that a client whose connection was cut takes it up
 * where it was. Connections come and go; what is sent between them waits.
 * Source: Transports, Resumability and Redelivery, 2025-03-26 on; Sending Messages, 2025-11-25 (the first event).
 */
export class SessionStream {
  private key: McpStreamKey | undefined;
  private sequence = 0;
  private writer: EventWriter | undefined;
  /** The connection whose client is being given what it missed. */
  private catching: EventWriter | undefined;
  private isEnded = false;
  /** Runs while no connection is there, until the stream is given up. */
  private waiting: NodeJS.Timeout | undefined;
  /** What the store was given last. */
  private kept: Promise<void> | undefined;

  /**
   * @param first the connection it begins on; nothing is sent on it before it is needed
   * @param tooLarge what is kept of a last message that is too large to be kept
   */
  constructor(
    private readonly home: StreamHome,
    private readonly kind: StreamKind,
    private readonly first: EventWriter,
    private readonly tooLarge?: () => string,
  ) {}

  /** Its name in event ids; empty before it is open. */
  get id(): string {
    return this.key?.stream ?? '';
  }

  /** Whether it is the answer to a request, with which it ends. */
  get isAnswer(): boolean {
    return this.kind === 'p';
  }

  /** Whether an event had that number. */
  hasGiven(sequence: number): boolean {
    return sequence >= 1 && sequence <= this.sequence;
  }

  get isOpen(): boolean {
    return this.key !== undefined;
  }

  /** Whether its client is gone without a number to come back with. */
  get isLost(): boolean {
    if (!this.key) return this.first.isOver;
    return !this.isAttached && this.catching === undefined && this.sequence === 0;
  }

  /** Whether a connection is there to be written to. */
  get isAttached(): boolean {
    if (this.writer?.isOver) this.writer = undefined;
    return this.writer !== undefined;
  }

  /** Whether what is sent goes out at once. */
  get isConnected(): boolean {
    return this.isAttached && this.writer!.isConnected;
  }

  /** Opens the stream before there is a message. */
  begin(): void {
    if (this.key || this.isEnded || this.first.isOver) return;
    this.key = { session: this.home.session, stream: `${this.kind}${randomBytes(9).toString('base64url')}` };
    this.writer = this.first;
    this.writer.begin();
    if (this.canPause) this.writer.prime(this.keep('')!);
    this.home.opened(this);
  }

  /** Sends a message that may be lost to a reader who does not keep up. */
  async emit(message: string): Promise<void> {
    this.begin();
    if (this.isAttached && !this.writer!.hasRoom) return;
    const id = this.keep(message);
    // Without a connection it is the store that may not keep up.
    await (this.writer ? this.writer.emit(message, id) : this.kept);
  }

  /** Sends a message that must not be lost. */
  send(message: string, instead?: () => string): void {
    this.begin();
    const id = this.keep(message, instead);
    this.writer?.put(message, id);
  }

  /** Resolves when there is room for more, or no connection that could take it. */
  drained(): Promise<void> {
    return this.isAttached ? this.writer!.drained() : Promise.resolve();
  }

  /** Sends the last message and ends the stream; without one it just ends. */
  end(message?: string): void {
    if (message !== undefined) this.begin();
    if (this.isEnded) return;
    const id = message === undefined ? undefined : this.keepLast(message);
    this.isEnded = true;
    clearTimeout(this.waiting);
    this.forgetIn(this.home.replayTime);
    if (this.isAttached) this.writer!.end(message, id, () => this.forgetIn(this.takenTime));
    this.writer = undefined;
    this.home.closed(this);
  }

  /** It ends here alone: what is kept of it waits for its client to take it up in another process. */
  leave(): void {
    if (this.isEnded) return;
    this.renew();
    this.isEnded = true;
    clearTimeout(this.waiting);
    if (this.isAttached) this.writer!.end();
    this.writer = undefined;
    this.home.closed(this);
  }

  /** What is kept of it is still wanted. */
  renew(): void {
    const { events, bounds } = this.home;
    if (this.key && this.sequence > 0 && !this.isEnded)
      this.store(() => events?.keep(this.key!, bounds.time));
  }

  /** Its connection is closed: waits for a while for its client to come back, where that knows how. */
  detach(writer: EventWriter): void {
    if (this.catching === writer) this.catching = undefined;
    // The stream of an answer ends with its call, however long that takes.
    if (this.kind === 'p' || this.isAttached || this.catching || this.isEnded) return;
    if (this.sequence === 0) return this.end();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.end(), this.home.replayTime);
    this.waiting.unref();
  }

  /** Ends the connection alone: the client comes back for what follows. Nothing where it would not know how. */
  pause(): void {
    if (!this.canPause || this.isEnded) return;
    this.begin();
    if (this.isAttached) this.writer!.end();
    this.writer = undefined;
    this.catching?.end();
    this.catching = undefined;
  }

  /** Goes on, on another connection, with what follows the event of that number. */
  async resume(writer: EventWriter, after: number): Promise<void> {
    const { events } = this.home;
    if (!this.key || !events) return writer.end();
    if (this.isAttached) this.writer!.end();
    this.catching?.end();
    clearTimeout(this.waiting);
    // What comes while the client catches up is kept, and found there.
    this.writer = undefined;
    this.catching = writer;
    writer.begin();
    try {
      await this.catchUp(writer, this.key, after);
    } catch (fault) {
      // Its client comes back with the last number it got.
      this.home.onFault(fault);
      writer.end();
      this.detach(writer);
    }
  }

  /** Never longer than where they may not have been taken. */
  private get takenTime(): number {
    return Math.min(TAKEN_TIME, this.home.replayTime);
  }

  /** Whether the client can be made to come back. */
  private get canPause(): boolean {
    return this.home.primes && this.home.events !== undefined;
  }

  /** Gives a client what it missed, and what comes meanwhile; then it is connected. */
  private async catchUp(writer: EventWriter, key: McpStreamKey, after: number): Promise<void> {
    let at = after;
    let seen: number;
    do {
      // What is numbered by now is found there, or was not kept; what comes from here on may be found or not.
      seen = this.sequence;
      await this.kept;
      const replay = await this.home.events?.after(key, at);
      if (replay && this.isCatching(writer)) at = await replayTo(writer, key.stream, replay.events, at);
      at = Math.max(at, seen);
    } while (this.sequence > at && this.isCatching(writer));
    // Nothing may come between the last look and this.
    if (this.catching !== writer) return writer.end();
    this.catching = undefined;
    if (this.isEnded) writer.end(undefined, undefined, () => this.forgetIn(this.takenTime));
    else this.writer = writer;
  }

  private isCatching(writer: EventWriter): boolean {
    return this.catching === writer && !writer.isOver;
  }

  /** Numbers a message and keeps it, where its client has a number to come back with, or gets this one. */
  private keep(message: string, instead?: () => string): string | undefined {
    if (!this.key || !this.home.events || this.isEnded) return undefined;
    if (this.sequence === 0 && !this.isAttached) return undefined;
    return this.append(message, instead);
  }

  /** A stream of a single message leaves nothing to come back for. */
  private keepLast(message: string): string | undefined {
    return this.sequence === 0 ? undefined : this.append(message, this.tooLarge);
  }

  private append(message: string, instead?: () => string): string | undefined {
    const { events, bounds } = this.home;
    if (!this.key || !events) return undefined;
    const sequence = ++this.sequence;
    const isLarge = instead && Buffer.byteLength(message) > bounds.bytes;
    this.store(() => events.append(this.key!, { sequence, message: isLarge ? instead() : message }, bounds));
    return eventId(this.key.stream, sequence);
  }

  private forgetIn(time: number): void {
    const { events } = this.home;
    if (this.sequence > 0) this.store(() => events?.end(this.key!, time));
  }

  private store(work: () => void | Promise<void>): void {
    try {
      const stored = work();
      if (stored) this.kept = stored.catch((fault: unknown) => this.home.onFault(fault));
    } catch (fault) {
      this.home.onFault(fault);
    }
  }
}

/**
 * Writes what a client missed, as fast as it reads.
 *
 * @returns the number of the last event that was written
 */
export async function replayTo(
  writer: EventWriter,
  stream: string,
  events: readonly McpStreamEvent[],
  after: number,
): Promise<number> {
  let at = after;
  for (const { sequence, message } of events) {
    if (writer.isOver) return at;
    at = sequence;
    if (message !== '') writer.put(message, eventId(stream, sequence));
    if (!writer.hasRoom) await writer.drained();
  }
  return at;
}

function eventId(stream: string, sequence: number): string {
  return `${stream}.${sequence}`;
}

/** An event id as a client gives it back; nothing where it is none of ours. */
export function readEventId(
  text: string,
): { readonly stream: string; readonly sequence: number } | undefined {
  const [, stream, digits] = /^([gp][\w-]{12})\.(\d{1,15})$/.exec(text) ?? [];
  return stream === undefined ? undefined : { stream, sequence: Number(digits) };
}

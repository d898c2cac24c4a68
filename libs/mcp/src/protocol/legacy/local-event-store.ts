import { Buffer } from 'node:buffer';
import {
  McpEventStore,
  type McpReplay,
  type McpReplayBounds,
  type McpStreamEvent,
  type McpStreamKey,
} from './event-store.js';
import { Expiring, ExpiringMap } from './expiring-map.js';

interface KeptEvent extends McpStreamEvent {
  readonly bytes: number;
}

/** So many events that are gone may stand before those that are kept. */
const MAX_GONE = 32;

/** At most one ended stream for so many bytes of room, and so many in any case. */
const BYTES_PER_ENDED = 1_024;
const MIN_ENDED = 1_000;

class KeptStream extends Expiring {
  isEnded = false;
  bytes = 0;
  private events: (KeptEvent | undefined)[] = [];
  /** Index of the oldest event; moving all the others for each that goes would cost too much. */
  private first = 0;

  constructor(
    readonly name: string,
    readonly session: string,
  ) {
    super();
  }

  get size(): number {
    return this.events.length - this.first;
  }

  push({ sequence, message }: McpStreamEvent): void {
    const bytes = Buffer.byteLength(message);
    this.events.push({ sequence, message, bytes });
    this.bytes += bytes;
  }

  /** The oldest event goes. */
  shift(): void {
    this.bytes -= this.events[this.first]?.bytes ?? 0;
    this.events[this.first] = undefined;
    this.first++;
    if (this.first < MAX_GONE || this.first < this.size) return;
    this.events = this.events.slice(this.first);
    this.first = 0;
  }

  after(last: number): McpStreamEvent[] {
    return this.events.flatMap((event) =>
      event && event.sequence > last ? [{ sequence: event.sequence, message: event.message }] : [],
    );
  }
}

/**
 * The events of this process. Where their messages are too many bytes in all, or ended streams too many, ended streams are forgotten, those that
 * ended first before others; then the streams whose last event is the oldest lose their events, the oldest first. Such a
 * stream is still known, since the answer of a call may be to come. The event that was appended last is always kept.
 */
export class LocalEventStore extends McpEventStore {
  private readonly streams = new ExpiringMap<KeptStream>((stream) => this.release(stream));
  private readonly perSession = new Map<string, Set<KeptStream>>();
  /** Streams that go on and have events, in the order of their last ones. */
  private readonly filled = new Set<KeptStream>();
  /** In the order of their ends. */
  private readonly ended = new Set<KeptStream>();
  private bytes = 0;
  /** Ended streams that may be kept: small ones cost more than their messages. */
  private readonly maxEnded: number;

  /** @param totalBytes what the messages of all streams may have */
  constructor(private readonly totalBytes: number) {
    super();
    this.maxEnded = Math.max(MIN_ENDED, Math.floor(totalBytes / BYTES_PER_ENDED));
  }

  append(key: McpStreamKey, event: McpStreamEvent, bounds: McpReplayBounds): void {
    const now = Date.now();
    const name = nameOf(key);
    const stream = this.streams.get(name, now) ?? this.open(name, key.session);
    if (stream.isEnded) return;
    this.bytes -= stream.bytes;
    stream.push(event);
    while (stream.size > 1 && (stream.size > bounds.events || stream.bytes > bounds.bytes)) stream.shift();
    this.bytes += stream.bytes;
    this.filled.delete(stream);
    this.filled.add(stream);
    this.streams.keep(name, stream, bounds.time, now);
    this.makeRoom(stream);
  }

  end(key: McpStreamKey, time: number): void {
    const now = Date.now();
    const stream = this.streams.get(nameOf(key), now);
    if (!stream) return;
    if (time <= 0) {
      this.forget(stream);
      return;
    }
    stream.isEnded = true;
    this.filled.delete(stream);
    this.ended.add(stream);
    this.streams.keep(stream.name, stream, time, now);
    if (this.ended.size <= this.maxEnded) return;
    const [oldest] = this.ended;
    if (oldest) this.forget(oldest);
  }

  keep(key: McpStreamKey, time: number): void {
    const now = Date.now();
    const stream = this.streams.get(nameOf(key), now);
    if (stream && !stream.isEnded) this.streams.keep(stream.name, stream, time, now);
  }

  after(key: McpStreamKey, sequence: number): McpReplay | undefined {
    const stream = this.streams.get(nameOf(key), Date.now());
    return stream && { events: stream.after(sequence), isEnded: stream.isEnded };
  }

  drop(session: string): void {
    for (const stream of Array.from(this.perSession.get(session) ?? [])) this.forget(stream);
  }

  /** Forgets every stream. */
  close(): void {
    this.streams.clear();
    this.perSession.clear();
    this.filled.clear();
    this.ended.clear();
    this.bytes = 0;
  }

  private open(name: string, session: string): KeptStream {
    const stream = new KeptStream(name, session);
    const siblings = this.perSession.get(session);
    if (siblings) siblings.add(stream);
    else this.perSession.set(session, new Set([stream]));
    return stream;
  }

  private makeRoom(newest: KeptStream): void {
    while (this.bytes > this.totalBytes) {
      const [ended] = this.ended;
      if (ended) {
        this.forget(ended);
        continue;
      }
      const [oldest] = this.filled;
      if (!oldest || (oldest === newest && oldest.size === 1)) return;
      this.bytes -= oldest.bytes;
      oldest.shift();
      this.bytes += oldest.bytes;
      if (oldest.size === 0) this.filled.delete(oldest);
    }
  }

  private forget(stream: KeptStream): void {
    this.streams.delete(stream.name);
    this.release(stream);
  }

  private release(stream: KeptStream): void {
    this.bytes -= stream.bytes;
    this.filled.delete(stream);
    this.ended.delete(stream);
    const siblings = this.perSession.get(stream.session);
    siblings?.delete(stream);
    if (siblings?.size === 0) this.perSession.delete(stream.session);
  }
}

/** A stream's own name has no slash, so that no two keys have the same one. */
function nameOf({ session, stream }: McpStreamKey): string {
  return `${session}/${stream}`;
}

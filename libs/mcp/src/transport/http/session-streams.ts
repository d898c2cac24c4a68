import { setTimeout as delay } from 'node:timers/promises';
import { CallLifetime } from '../../protocol/call-lifetime.js';
import type { McpReplay } from '../../protocol/legacy/event-store.js';
import type { Session } from '../../protocol/legacy/session.js';
import { readEventId, replayTo, type SessionStream } from '../../protocol/legacy/session-stream.js';
import type { McpServer } from '../../server/mcp.server.js';
import { endOnDisconnect } from './disconnects.js';
import type { HttpExchange } from './http-exchange.js';
import { isRefusal, refuse, RETRY, type HttpRefusal } from './http-refusal.js';
import { acceptanceOf } from './media-types.js';
import { SseWriter } from './sse-writer.js';

const LAST_EVENT_HEADER = 'last-event-id';
/** ms between two looks at a stream that is open in another process. */
const LOOK_INTERVAL = 1_000;

/** An event of a stream, as a client names the last one that it saw. */
interface EventPlace {
  readonly stream: string;
  readonly sequence: number;
}

/** Where a client goes on: on a stream that is open here, or after what is kept of one. */
type Beginning = EventPlace & ({ readonly live: SessionStream } | { readonly missed: McpReplay });

/** Of a stream that is over, its client has all. */
const OVER = Symbol('over');

/**
 * What GET opens: a standing stream of the session, for messages that belong to no request; or, by the id of an event,
 * what follows that on its stream.
 * Source: Streamable HTTP, Listening for Messages from the Server; Resumability and Redelivery, 2025-11-25.
 */
export class SessionStreams {
  constructor(private readonly server: McpServer) {}

  /**
   * Opens a stream on this connection.
   *
   * @param release called once the connection is closed
   * @returns why not, where it cannot be; `release` is the caller's then
   */
  async open(
    session: Session,
    exchange: HttpExchange,
    release: () => void,
  ): Promise<HttpRefusal | undefined> {
    if (!acceptanceOf(exchange.message.headers.accept).stream)
      return refuse(406, 'Not acceptable: accept text/event-stream');
    const beginning = await this.beginning(session, exchange.header(LAST_EVENT_HEADER));
    if (isRefusal(beginning)) return beginning;
    if (beginning === OVER) {
      release();
      exchange.send(204, undefined);
      return undefined;
    }
    const { streams, settings } = this.server;
    const full = streams.refusal(session.owner);
    if (full !== undefined) return refuse(503, full, { headers: RETRY });

    const lifetime = new CallLifetime();
    const unwatch = endOnDisconnect(lifetime, exchange);
    const writer = new SseWriter(exchange, settings.streams);
    // At shutdown the stream of a call that runs here ends with its answer.
    const isAnswer = beginning !== undefined && 'live' in beginning && beginning.live.isAnswer;
    const unlist = streams.add(session.owner, () => {
      if (!isAnswer) writer.end();
    });
    let stream: SessionStream | undefined;
    const close = () => {
      unwatch();
      writer.end();
      unlist();
      stream?.detach(writer);
      release();
    };
    // Who hung up while guards ran is told of no more, so nothing may be kept for it.
    if (!lifetime.isOpen) {
      close();
      return undefined;
    }
    lifetime.onEnd = close;
    if (!beginning) stream = session.open(writer);
    else if ('live' in beginning) await (stream = beginning.live).resume(writer, beginning.sequence);
    else stream = await this.goOn(session, beginning, writer, lifetime);
    return undefined;
  }

  /** Nothing where the client names no event. */
  private async beginning(
    session: Session,
    last: string | undefined,
  ): Promise<Beginning | HttpRefusal | typeof OVER | undefined> {
    if (last === undefined) return undefined;
    const place = readEventId(last);
    if (!place) return nothingFollows();
    const missed = session.find(place.stream) ? undefined : await this.missed(session, place);
    // It may have come to its end meanwhile.
    const live = session.find(place.stream);
    if (live?.hasGiven(place.sequence)) return { ...place, live };
    if (!live && missed) return missed.isEnded && missed.events.length === 0 ? OVER : { ...place, missed };
    return nothingFollows();
  }

  /** What is kept of a stream that is over, or open in another process. */
  private async goOn(
    session: Session,
    { stream, sequence, missed }: EventPlace & { readonly missed: McpReplay },
    writer: SseWriter,
    lifetime: CallLifetime,
  ): Promise<SessionStream | undefined> {
    writer.begin();
    const reached = await replayTo(writer, stream, missed.events, sequence);
    if (missed.isEnded) writer.end();
    else if (stream.startsWith('p'))
      await this.follow(session, { stream, sequence: reached }, writer, lifetime);
    else if (!writer.isOver) {
      // A standing stream that another process had is one of this process from here on.
      await this.server.sessions.events.end({ session: session.id, stream }, 0);
      return writer.isOver ? undefined : session.open(writer);
    }
    return undefined;
  }

  /** The stream of a call that runs in another process: what comes there is read from the store. */
  private async follow(
    session: Session,
    { stream, sequence }: EventPlace,
    writer: SseWriter,
    { signal }: CallLifetime,
  ): Promise<void> {
    for (let reached = sequence; !writer.isOver;) {
      await delay(LOOK_INTERVAL, undefined, { signal, ref: false }).catch(() => undefined);
      if (writer.isOver) return;
      const missed = await this.missed(session, { stream, sequence: reached });
      if (missed) reached = await replayTo(writer, stream, missed.events, reached);
      if (!missed || missed.isEnded) writer.end();
    }
  }

  private missed(session: Session, place: EventPlace): Promise<McpReplay | undefined> {
    return this.server.sessions.missed(session, place);
  }
}

function nothingFollows(): HttpRefusal {
  return refuse(400, 'Last-Event-ID names no event that is kept of a stream of this session');
}

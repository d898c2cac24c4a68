import { Buffer } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import {
  McpEventStore,
  McpSessionStore,
  type McpReplay,
  type McpReplayBounds,
  type McpSessionCaps,
  type McpSessionChange,
  type McpSessionData,
  type McpSessionUse,
  type McpStreamEvent,
  type McpStreamKey,
} from 'nest-mcp';

/** What several processes share: rows of JSON text, by their keys. */
export class SharedDatabase {
  readonly sessions = new Map<string, string>();
  readonly streams = new Map<string, string>();
}

/**
 * A command takes a turn on its way there and one on its way back. Those of one process arrive in their order, and each
 * is carried out in one step.
 *
 * @param args as they go over the wire
 */
async function send<Args, Answer>(args: Args, command: (args: Args) => Answer): Promise<Answer> {
  const sent = JSON.stringify(args);
  await turn();
  const answer = JSON.stringify(command(JSON.parse(sent) as Args));
  await turn();
  return (answer === undefined ? undefined : JSON.parse(answer)) as Answer;
}

interface SessionRow {
  session: McpSessionData;
  lastUsed: number;
  over: number;
}

/** Stands in for a store of sessions on the network. Every instance over one database has the same sessions. */
export class SharedSessionStore extends McpSessionStore {
  override readonly isShared = true;

  constructor(private readonly database: SharedDatabase) {
    super();
  }

  create(session: McpSessionData, caps: McpSessionCaps, idle: number): Promise<boolean> {
    return send({ session, caps, idle }, (sent) => {
      const { id, owner } = sent.session;
      const rows = this.rows();
      const held = rows.filter((row) => row.session.owner === owner).length;
      if (rows.length >= sent.caps.max || (owner !== undefined && held >= sent.caps.maxPerCaller))
        return false;
      if (this.row(id)) return false;
      this.write({ session: sent.session, lastUsed: Date.now(), over: Date.now() + sent.idle });
      return true;
    });
  }

  get(id: string): Promise<McpSessionData | undefined> {
    return send(id, (sent) => this.row(sent)?.session);
  }

  touch(id: string, idle: number): Promise<boolean> {
    return send({ id, idle }, (sent) => {
      const row = this.row(sent.id);
      if (row) this.write({ ...row, lastUsed: Date.now(), over: Date.now() + sent.idle });
      return row !== undefined;
    });
  }

  update(id: string, change: McpSessionChange): Promise<boolean> {
    return send({ id, change }, (sent) => {
      const row = this.row(sent.id);
      if (!row) return false;
      const followed = new Set(row.session.followed);
      if ('follow' in sent.change) followed.add(sent.change.follow);
      else if ('unfollow' in sent.change) followed.delete(sent.change.unfollow);
      else Object.assign(row.session, sent.change);
      this.write({ ...row, session: { ...row.session, followed: Array.from(followed) } });
      return true;
    });
  }

  delete(id: string): Promise<boolean> {
    return send(id, (sent) => this.row(sent) !== undefined && this.database.sessions.delete(sent));
  }

  count(owner?: string): Promise<number> {
    return send({ owner }, (sent) => this.rowsOf(sent.owner).length);
  }

  idlest(limit: number, owner?: string): Promise<readonly McpSessionUse[]> {
    return send({ limit, owner }, (sent) =>
      this.rowsOf(sent.owner)
        .toSorted((one, other) => one.lastUsed - other.lastUsed)
        .slice(0, sent.limit)
        .map(({ session, lastUsed }) => ({ id: session.id, lastUsed })),
    );
  }

  private rowsOf(owner: string | undefined): SessionRow[] {
    return this.rows().filter(({ session }) => owner === undefined || session.owner === owner);
  }

  private rows(): SessionRow[] {
    return Array.from(this.database.sessions.keys()).flatMap((id) => this.row(id) ?? []);
  }

  private row(id: string): SessionRow | undefined {
    const text = this.database.sessions.get(id);
    const row = text === undefined ? undefined : (JSON.parse(text) as SessionRow);
    return row && row.over > Date.now() ? row : void this.database.sessions.delete(id);
  }

  private write(row: SessionRow): void {
    this.database.sessions.set(row.session.id, JSON.stringify(row));
  }
}

interface StreamRow {
  session: string;
  events: McpStreamEvent[];
  isEnded: boolean;
  over: number;
}

/** Stands in for a store of events on the network. Every instance over one database has the same streams. */
export class SharedEventStore extends McpEventStore {
  constructor(private readonly database: SharedDatabase) {
    super();
  }

  append(key: McpStreamKey, event: McpStreamEvent, bounds: McpReplayBounds): Promise<void> {
    return send({ key, event, bounds }, (sent) => {
      const row = this.row(sent.key) ?? { session: sent.key.session, events: [], isEnded: false, over: 0 };
      if (row.isEnded) return;
      row.events.push(sent.event);
      const isTooMuch = ({ events }: StreamRow) =>
        events.length > sent.bounds.events ||
        Buffer.byteLength(events.map(({ message }) => message).join('')) > sent.bounds.bytes;
      while (row.events.length > 1 && isTooMuch(row)) row.events.shift();
      this.write(sent.key, { ...row, over: Date.now() + sent.bounds.time });
    });
  }

  end(key: McpStreamKey, time: number): Promise<void> {
    return send({ key, time }, (sent) => {
      const row = this.row(sent.key);
      if (row) this.write(sent.key, { ...row, isEnded: true, over: Date.now() + sent.time });
    });
  }

  keep(key: McpStreamKey, time: number): Promise<void> {
    return send({ key, time }, (sent) => {
      const row = this.row(sent.key);
      if (row && !row.isEnded) this.write(sent.key, { ...row, over: Date.now() + sent.time });
    });
  }

  after(key: McpStreamKey, sequence: number): Promise<McpReplay | undefined> {
    return send({ key, sequence }, (sent) => {
      const row = this.row(sent.key);
      if (!row) return undefined;
      return { events: row.events.filter((event) => event.sequence > sent.sequence), isEnded: row.isEnded };
    });
  }

  drop(session: string): Promise<void> {
    return send(session, (sent) => {
      for (const [name, text] of this.database.streams)
        if ((JSON.parse(text) as StreamRow).session === sent) this.database.streams.delete(name);
    });
  }

  private row({ session, stream }: McpStreamKey): StreamRow | undefined {
    const name = JSON.stringify([session, stream]);
    const text = this.database.streams.get(name);
    const row = text === undefined ? undefined : (JSON.parse(text) as StreamRow);
    return row && row.over > Date.now() ? row : void this.database.streams.delete(name);
  }

  private write({ session, stream }: McpStreamKey, row: StreamRow): void {
    this.database.streams.set(JSON.stringify([session, stream]), JSON.stringify(row));
  }
}

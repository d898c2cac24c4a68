import { Expiring, ExpiringMap } from './expiring-map.js';
import {
  McpSessionStore,
  type McpSessionCaps,
  type McpSessionChange,
  type McpSessionData,
  type McpSessionUse,
} from './session-store.js';

class KeptSession extends Expiring {
  constructor(public data: McpSessionData) {
    super();
  }
}

/** The sessions of this process. What it gives is frozen, and the same object until the session is changed. */
export class LocalSessionStore extends McpSessionStore {
  override readonly isShared = false;
  private readonly sessions = new ExpiringMap<KeptSession>(({ data }) => this.release(data.owner));
  private readonly perOwner = new Map<string, number>();

  create(session: McpSessionData, caps: McpSessionCaps, idle: number): boolean {
    const now = Date.now();
    const { id, owner } = session;
    if (this.sessions.size(now) >= caps.max || this.sessions.get(id, now)) return false;
    if (owner !== undefined) {
      const held = this.perOwner.get(owner) ?? 0;
      if (held >= caps.maxPerCaller) return false;
      this.perOwner.set(owner, held + 1);
    }
    this.sessions.keep(id, new KeptSession(frozenCopy(session)), idle, now);
    return true;
  }

  get(id: string): McpSessionData | undefined {
    return this.sessions.get(id, Date.now())?.data;
  }

  touch(id: string, idle: number): boolean {
    const now = Date.now();
    const session = this.sessions.get(id, now);
    if (session) this.sessions.keep(id, session, idle, now);
    return session !== undefined;
  }

  update(id: string, change: McpSessionChange): boolean {
    const session = this.sessions.get(id, Date.now());
    if (session) session.data = changed(session.data, change);
    return session !== undefined;
  }

  delete(id: string): boolean {
    const session = this.sessions.get(id, Date.now());
    if (!session) return false;
    this.sessions.delete(id);
    this.release(session.data.owner);
    return true;
  }

  count(owner?: string): number {
    const all = this.sessions.size(Date.now());
    return owner === undefined ? all : (this.perOwner.get(owner) ?? 0);
  }

  idlest(limit: number, owner?: string): McpSessionUse[] {
    const found: McpSessionUse[] = [];
    for (const [id, session] of this.sessions.entries(Date.now())) {
      if (found.length >= limit) break;
      if (owner === undefined || session.data.owner === owner) found.push({ id, lastUsed: session.usedAt });
    }
    return found;
  }

  /** Forgets every session. */
  close(): void {
    this.sessions.clear();
    this.perOwner.clear();
  }

  private release(owner: string | undefined): void {
    if (owner === undefined) return;
    const left = (this.perOwner.get(owner) ?? 0) - 1;
    if (left > 0) this.perOwner.set(owner, left);
    else this.perOwner.delete(owner);
  }
}

/** Nobody else holds it or any part of it. It is plain JSON by its contract. */
function frozenCopy(session: McpSessionData): McpSessionData {
  const freeze = (_name: string, value: unknown): unknown => Object.freeze(value);
  return JSON.parse(JSON.stringify(session), freeze) as McpSessionData;
}

function changed(data: McpSessionData, change: McpSessionChange): McpSessionData {
  if ('follow' in change)
    return data.followed.includes(change.follow) ? data : followedBy(data, [...data.followed, change.follow]);
  if ('unfollow' in change)
    return followedBy(
      data,
      data.followed.filter((address) => address !== change.unfollow),
    );
  return Object.freeze({ ...data, ...change });
}

function followedBy(data: McpSessionData, followed: string[]): McpSessionData {
  return Object.freeze({ ...data, followed: Object.freeze(followed) });
}

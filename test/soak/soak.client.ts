import type { Json } from '../support/wire.js';
import { Connections, type Incoming, type SseEvent } from './connections.js';
import type { Ledger } from './ledger.js';
import { Random } from './random.js';

/** What a client is made of. */
export interface ClientSeed {
  readonly url: string;
  readonly seed: number;
  /** The header `x-user`; clients without one are all the same caller, nobody. */
  readonly user: string | undefined;
  readonly ledger: Ledger;
  /** What clients of this round know of each other, to be tried by those whom it is none of. */
  readonly rumours: Rumour[];
}

/** A session, or an event of one, as somebody else might have got hold of it. */
export interface Rumour {
  readonly user: string | undefined;
  readonly session: string;
  readonly event?: string | undefined;
  /** The transport whose session it is. */
  readonly kind: 'http' | 'sse';
}

/** A call of the tool, and what has to come of it. */
export interface PlannedCall {
  readonly id: number;
  readonly params: Json;
  readonly steps: number;
  readonly text: string;
}

const SECRET = /secret-[0-9a-f]{8}/g;
const ATTEMPTS = 2_000;

/** One client: it has a secret, sends that with each call, and has to hear of no other. */
export abstract class SoakClient {
  protected readonly random: Random;
  protected readonly ledger: Ledger;
  protected readonly wire: Connections;
  readonly secret: string;

  constructor(protected readonly seed: ClientSeed) {
    this.random = new Random(seed.seed);
    this.ledger = seed.ledger;
    this.secret = `secret-${this.random.hex()}`;
    const headers: Record<string, string> = seed.user === undefined ? {} : { 'x-user': seed.user };
    this.wire = new Connections(seed.url, headers, (text) => this.hear(text));
  }

  /** Makes its calls, one to three at a time, ids 1 to `calls`, with whatever else it does between them; and leaves. */
  async live(calls: number): Promise<void> {
    try {
      await this.arrive();
      for (let id = 1; id <= calls;) {
        const group = Math.min(this.random.between(1, 3), calls - id + 1);
        await this.callAll(Array.from({ length: group }, (_, index) => this.plan(id + index)));
        id += group;
        await this.digress();
      }
      await this.leave();
    } catch (fault) {
      this.wrong(`ended early: ${fault instanceof Error ? fault.stack : String(fault)}`);
      this.wire.close();
    }
  }

  protected abstract arrive(): Promise<void>;
  protected abstract call(call: PlannedCall): Promise<void>;
  protected abstract digress(): Promise<void>;
  protected abstract leave(): Promise<void>;

  protected async callAll(calls: readonly PlannedCall[]): Promise<void> {
    await Promise.all(calls.map((call) => this.call(call)));
  }

  /** A call whose answer counts. A third of them ask for progress, by a token that all clients use. */
  protected plan(id: number, more: Json = {}): PlannedCall {
    this.ledger.expected++;
    return this.sideCall(id, this.random.between(0, 20), more);
  }

  /** A call whose answer may or may not come. */
  protected sideCall(id: number, delay: number, more: Json = {}): PlannedCall {
    const steps = this.random.chance(1 / 3) ? this.random.between(1, 3) : 0;
    const text = `${this.secret} ${id}`;
    const touches = this.random.chance(0.2) ? { touches: this.note } : {};
    const params: Json = {
      name: 'echo',
      arguments: { text, delay, steps, ...touches, ...more },
      ...(steps > 0 ? { _meta: { progressToken: id } } : {}),
    };
    return { id, params, steps, text: `${text} for ${this.seed.user ?? 'nobody'}` };
  }

  /** The resource that only this client follows. */
  protected get note(): string {
    return `note://${this.secret}`;
  }

  /** Judges what came for one call: its progress in order, then its answer, and nothing else. */
  protected judge(call: PlannedCall, messages: readonly Json[], counts = true): void {
    const progress = Array.from({ length: call.steps }, (_, index) => [call.id, index + 1]);
    const seen = messages.slice(0, -1).map((message) => {
      const { progressToken, progress: reached } = (message['params'] ?? {}) as Json;
      return message['method'] === 'notifications/progress' ? [progressToken, reached] : message;
    });
    const wanted = JSON.stringify([progress, call.id, call.text]);
    const came = JSON.stringify([seen, messages.at(-1)?.['id'], textIn(messages.at(-1))]);
    if (wanted !== came) this.wrong(`wanted ${wanted}, got ${JSON.stringify(messages)}`);
    else if (counts) this.ledger.right++;
  }

  /** The answer to a POST, whole: plain or a stream, told by what it says it is. */
  protected async judgeReply(call: PlannedCall, incoming: Incoming, counts = true): Promise<void> {
    const end = await incoming.end;
    if (incoming.status !== 200 || end !== 'ended')
      return this.wrong(`call ${call.id}: ${incoming.status} ${end} ${incoming.text}`);
    this.judge(call, incoming.isStream ? messagesOf(incoming.events) : jsonOf(incoming.text), counts);
  }

  /** Whatever was heard, all of it has to be this client's own. */
  protected hear(text: string): void {
    for (const [secret] of text.matchAll(SECRET))
      if (secret !== this.secret) this.wrong(`heard ${secret} in ${text}`);
  }

  /** What came on a stream that stays open: nothing but changes of its own resource. */
  protected hearChanges(events: readonly SseEvent[]): void {
    for (const message of messagesOf(events)) {
      const { uri } = (message['params'] ?? {}) as Json;
      if (message['method'] === 'notifications/resources/updated' && uri === this.note)
        this.ledger.did('notified');
      else if (message['method'] !== 'notifications/subscriptions/acknowledged')
        this.wrong(`on its open stream: ${JSON.stringify(message)}`);
    }
  }

  protected wrong(text: string): void {
    this.ledger.fault(`${this.constructor.name} ${this.secret}: ${text}`);
  }

  /** Somebody else's session, of another caller, if one is known by now. */
  protected foreign(kind: Rumour['kind']): Rumour | undefined {
    const others = this.seed.rumours.filter(
      (rumour) => rumour.kind === kind && rumour.user !== this.seed.user,
    );
    return others.length > 0 ? this.random.pick(others) : undefined;
  }

  protected tell(rumour: Omit<Rumour, 'user'>): void {
    if (this.seed.rumours.length < ATTEMPTS) this.seed.rumours.push({ user: this.seed.user, ...rumour });
  }

  /** A request that has to be refused. */
  protected async intrude(refused: Promise<Incoming>, status: number, what: string): Promise<void> {
    const incoming = await refused;
    if (incoming.status !== status) {
      this.wrong(`${what} of another: ${incoming.status}, not ${status}`);
      incoming.cut();
    }
    await incoming.end;
    this.ledger.did('intruded');
  }
}

function textIn(message: Json | undefined): string | undefined {
  const { content } = (message?.['result'] ?? {}) as { content?: { text?: string }[] };
  return content?.[0]?.text;
}

export function messagesOf(events: readonly SseEvent[]): Json[] {
  return events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data) as Json);
}

function jsonOf(text: string): Json[] {
  return text === '' ? [] : [JSON.parse(text) as Json];
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { McpRevision } from 'nest-mcp';
import type { Json } from '../support/wire.js';
import type { Incoming, Outgoing, SseEvent } from './connections.js';
import { messagesOf, SoakClient, type ClientSeed, type PlannedCall } from './soak.client.js';

/** A client with a session: it is cut off and comes back, and ends its session to begin another. */
export class LegacyClient extends SoakClient {
  private session = '';
  private standing: Incoming | undefined;
  /** The last event of the standing stream that was cut. */
  private lastEvent: string | undefined;

  constructor(
    seed: ClientSeed,
    private readonly revision: McpRevision,
  ) {
    super(seed);
  }

  protected async arrive(): Promise<void> {
    const clientInfo = { name: 'soak', version: '1' };
    const params = { protocolVersion: this.revision, capabilities: {}, clientInfo };
    const answer = await this.wire.send('/mcp', { body: request(0, 'initialize', params) });
    await answer.end;
    this.session = String(answer.headers['mcp-session-id']);
    this.tell({ kind: 'http', session: this.session });
    await this.accepted({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const followed = await this.post(request(50, 'resources/subscribe', { uri: this.note }));
    await followed.end;
    if (followed.status !== 200 || !followed.text.includes('"id":50,"result"'))
      this.wrong(`resources/subscribe: ${followed.status} ${followed.text}`);
    this.lastEvent = undefined;
    if (this.random.chance(0.7)) await this.stand();
  }

  protected override async callAll(calls: readonly PlannedCall[]): Promise<void> {
    if (this.revision === '2025-03-26' && calls.length > 1) return this.batch(calls);
    return super.callAll(calls);
  }

  protected async call(call: PlannedCall): Promise<void> {
    if (this.canResume && this.random.chance(0.3)) return this.cutAndResume(call);
    if (this.revision === '2025-11-25' && this.random.chance(0.3)) return this.poll(call);
    await this.judgeReply(call, await this.post(callOf(call)));
  }

  protected async digress(): Promise<void> {
    if (this.random.chance(0.1)) await this.cancel();
    if (this.random.chance(0.15)) await this.tryForeign();
    if (this.random.chance(0.1)) await this.standAgain();
    if (this.random.chance(0.08)) await this.renew();
  }

  protected async leave(): Promise<void> {
    if (this.random.chance(0.2)) {
      // Its call goes on without it, and its session stays until it is idle for long enough.
      const { answer } = this.wire.begin('/mcp', this.inSession(callOf(this.sideCall(1, 100))));
      const gone = answer.then(({ end }) => end).catch(() => undefined);
      await sleep(this.random.between(0, 10));
      this.wire.close();
      await Promise.all([gone, this.standing?.end]);
      this.sitDown();
      this.ledger.abandoned++;
      this.ledger.did('vanished');
      return;
    }
    await this.endSession();
    this.wire.close();
  }

  private get canResume(): boolean {
    return this.revision >= '2025-03-26';
  }

  /** Several calls in one body. */
  private async batch(calls: readonly PlannedCall[]): Promise<void> {
    const incoming = await this.post(calls.map(callOf));
    const end = await incoming.end;
    if (incoming.status !== 200 || end !== 'ended')
      return this.wrong(`a batch: ${incoming.status} ${end} ${incoming.text}`);
    const messages = incoming.isStream ? messagesOf(incoming.events) : (JSON.parse(incoming.text) as Json[]);
    const isOf =
      ({ id }: PlannedCall) =>
      (message: Json) =>
        message['id'] === id || (message['params'] as Json | undefined)?.['progressToken'] === id;
    for (const call of calls) this.judge(call, messages.filter(isOf(call)));
    const strays = messages.filter((message) => !calls.some((call) => isOf(call)(message)));
    if (strays.length > 0) this.wrong(`in a batch: ${JSON.stringify(strays)}`);
    this.ledger.did('batched');
  }

  /** Cuts the connection once an event is there, and gets the rest by that. */
  private async cutAndResume(call: PlannedCall): Promise<void> {
    const incoming = await this.post(callOf(call));
    if (!(await incoming.until(() => incoming.events.length > 0))) return this.judgeReply(call, incoming);
    incoming.cut();
    await incoming.end;
    if (await this.goOn(call, incoming.events)) this.ledger.did('cut and resumed');
  }

  /** The server ends the connection before the answer is there, and the client comes back. */
  private async poll(planned: PlannedCall): Promise<void> {
    const { params } = planned;
    const call = {
      ...planned,
      params: { ...params, arguments: { ...(params['arguments'] as Json), pause: true } },
    };
    const incoming = await this.post(callOf(call));
    await incoming.end;
    if (await this.goOn(call, incoming.events)) this.ledger.did('polled');
  }

  /**
   * What follows the last of those events, which with them has to be all of the call.
   *
   * @returns whether anything was missing
   */
  private async goOn(call: PlannedCall, events: readonly SseEvent[]): Promise<boolean> {
    const all = [...events];
    const isAnswered = () => messagesOf(all).some((message) => message['id'] === call.id);
    const isMissing = !isAnswered();
    const cutAt = performance.now();
    while (!isAnswered()) {
      const resumed = await this.get(all.at(-1)?.id);
      await resumed.end;
      if (resumed.status !== 200 || resumed.events.length === 0) {
        const time = Math.round(performance.now() - cutAt);
        this.wrong(
          `call ${call.id}, ${time} ms after ${JSON.stringify(all)}: ${resumed.status} ${resumed.text}`,
        );
        return true;
      }
      all.push(...resumed.events);
      this.tell({ kind: 'http', session: this.session, event: all.at(-1)?.id });
    }
    const ids = all.map(({ id }) => id);
    if (new Set(ids).size !== ids.length) this.wrong(`events came twice: ${ids.join()}`);
    this.judge(call, messagesOf(all));
    return isMissing;
  }

  private async cancel(): Promise<void> {
    const call = this.sideCall(this.random.between(1, 50), 1_000);
    const running = this.post(callOf(call));
    await sleep(this.random.between(0, 10));
    await this.accepted({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
    const incoming = await running;
    await incoming.end;
    // It may have been cancelled before it was there.
    const answered = incoming.isStream ? messagesOf(incoming.events) : [];
    if (incoming.status === 200 && (!incoming.isStream || answered.some(({ id }) => id === call.id)))
      await this.judgeReply(call, incoming, false);
    else if (incoming.status !== 204 && incoming.status !== 200)
      this.wrong(`a cancelled call: ${incoming.status} ${incoming.text}`);
    this.ledger.did('cancelled');
  }

  private async tryForeign(): Promise<void> {
    const rumour = this.foreign('http');
    if (!rumour) return;
    const { session, event } = rumour;
    const theirs = { 'mcp-session-id': session };
    if (event !== undefined) await this.intrude(this.get(event), 400, `GET after the event ${event}`);
    const way = this.random.pick(['call', 'stream', 'end'] as const);
    if (way === 'call')
      await this.intrude(
        this.wire.send('/mcp', { headers: theirs, body: callOf(this.sideCall(1, 0)) }),
        404,
        'a call in the session',
      );
    else if (way === 'stream') {
      const last: Record<string, string> = event === undefined ? {} : { 'last-event-id': event };
      const headers = { ...theirs, ...last };
      await this.intrude(this.wire.send('/mcp', { method: 'GET', headers }), 404, 'GET in the session');
    } else
      await this.intrude(
        this.wire.send('/mcp', { method: 'DELETE', headers: theirs }),
        404,
        'DELETE of the session',
      );
  }

  /** Ends its session, some of the time with a call in it, and begins another. */
  private async renew(): Promise<void> {
    const isBusy = this.random.chance(0.5);
    const call = this.sideCall(this.random.between(1, 50), 10_000);
    const running = isBusy ? this.post(callOf(call)) : undefined;
    await sleep(this.random.between(0, 10));
    await this.endSession();
    const ended = await running;
    await ended?.end;
    // Where DELETE was there first, the session is as unknown as any.
    const isOver = !ended || [200, 204, 404].includes(ended.status);
    if (!isOver || ended?.text.includes('"result"')) this.wrong(`a call of an ended session: ${ended?.text}`);
    await this.arrive();
    this.ledger.did('renewed');
  }

  private async endSession(): Promise<void> {
    const { standing } = this;
    const answer = await this.wire.send('/mcp', {
      method: 'DELETE',
      headers: { 'mcp-session-id': this.session },
    });
    await answer.end;
    if (answer.status !== 204) this.wrong(`DELETE: ${answer.status} ${answer.text}`);
    // It ends with the session.
    await standing?.end;
    this.sitDown();
  }

  private async stand(): Promise<void> {
    const standing = await this.get(this.lastEvent);
    // Its client was away for too long, or it held nothing to come back to.
    if (standing.status === 400 && this.lastEvent !== undefined) {
      await standing.end;
      this.lastEvent = undefined;
      return this.stand();
    }
    if (standing.status !== 200) this.wrong(`GET: ${standing.status}`);
    this.standing = standing;
  }

  private async standAgain(): Promise<void> {
    const { standing } = this;
    if (!standing) return this.stand();
    standing.cut();
    await standing.end;
    const last = standing.events.at(-1)?.id;
    this.sitDown();
    this.lastEvent = last;
    await this.stand();
    this.ledger.did('listened again');
  }

  private sitDown(): void {
    if (this.standing) this.hearChanges(this.standing.events);
    this.standing = undefined;
    this.lastEvent = undefined;
  }

  private inSession(body: unknown): Outgoing {
    const version: Record<string, string> =
      this.revision >= '2025-06-18' ? { 'mcp-protocol-version': this.revision } : {};
    return { headers: { 'mcp-session-id': this.session, ...version }, body };
  }

  private post(body: unknown): Promise<Incoming> {
    return this.wire.send('/mcp', this.inSession(body));
  }

  private get(lastEvent: string | undefined): Promise<Incoming> {
    const last: Record<string, string> = lastEvent === undefined ? {} : { 'last-event-id': lastEvent };
    return this.wire.send('/mcp', {
      method: 'GET',
      headers: { ...this.inSession(undefined).headers, ...last },
    });
  }

  private async accepted(notification: Json): Promise<void> {
    const answer = await this.post(notification);
    await answer.end;
    if (answer.status !== 202)
      this.wrong(`${String(notification['method'])}: ${answer.status} ${answer.text}`);
  }
}

export function request(id: number, method: string, params: Json): Json {
  return { jsonrpc: '2.0', id, method, params };
}

export function callOf({ id, params }: PlannedCall): Json {
  return request(id, 'tools/call', params);
}

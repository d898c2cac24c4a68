import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../support/wire.js';
import type { Incoming } from './connections.js';
import { callOf, request } from './legacy.client.js';
import { messagesOf, SoakClient, type PlannedCall } from './soak.client.js';

/** An id that no call has. */
const PING = 1_000;

/** A client of HTTP+SSE: it posts, and everything comes on its one stream. */
export class SseClient extends SoakClient {
  private stream: Incoming | undefined;
  private address = '';
  /** Events that were looked at. */
  private seen = 0;
  private readonly running = new Map<number, { readonly call: PlannedCall; readonly messages: Json[] }>();

  protected async arrive(): Promise<void> {
    const stream = await this.wire.send('/sse', { method: 'GET' });
    if (stream.status !== 200) throw new Error(`GET of the stream: ${stream.status}`);
    await stream.until(() => stream.events.length > 0);
    this.stream = stream;
    this.seen = 1;
    this.address = stream.events[0]!.data;
    this.tell({ kind: 'sse', session: this.address });
    const clientInfo = { name: 'soak', version: '1' };
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
    await this.accepted(request(0, 'initialize', params));
    await this.until(() => this.take(0) !== undefined);
    await this.accepted({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await this.accepted(request(50, 'resources/subscribe', { uri: this.note }));
    await this.until(() => this.take(50) !== undefined);
  }

  protected async call(call: PlannedCall): Promise<void> {
    const entry = { call, messages: [] as Json[] };
    this.running.set(call.id, entry);
    await this.accepted(callOf(call));
    await this.until(() => {
      this.sort();
      return entry.messages.some(({ id }) => id === call.id);
    });
    this.running.delete(call.id);
    this.judge(call, entry.messages);
  }

  protected async digress(): Promise<void> {
    if (this.random.chance(0.1)) await this.cancel();
    if (this.random.chance(0.15)) {
      const rumour = this.foreign('sse');
      const body = callOf(this.sideCall(1, 0));
      if (rumour) await this.intrude(this.wire.send(rumour.session, { body }), 404, 'a call on the stream');
    }
    if (this.random.chance(0.08)) {
      // What runs ends with its stream.
      if (this.random.chance(0.5)) await this.accepted(callOf(this.sideCall(1, 10_000)));
      await this.hangUp();
      await this.arrive();
      this.ledger.did('renewed');
    }
  }

  protected async leave(): Promise<void> {
    await this.accepted(callOf(this.sideCall(1, 10_000)));
    await this.hangUp();
    this.wire.close();
    this.ledger.did('vanished');
  }

  private async cancel(): Promise<void> {
    const call = this.sideCall(this.random.between(1, 50), 10_000);
    const entry = { call, messages: [] as Json[] };
    this.running.set(call.id, entry);
    await this.accepted(callOf(call));
    await sleep(this.random.between(0, 10));
    await this.accepted({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
    // The stream is in order: what follows shows that nothing came of it.
    const ping = { call: { ...call, id: PING }, messages: [] as Json[] };
    this.running.set(PING, ping);
    await this.accepted(request(PING, 'ping', {}));
    await this.until(() => {
      this.sort();
      return ping.messages.length > 0;
    });
    this.running.delete(PING);
    this.running.delete(call.id);
    if (entry.messages.some(({ id }) => id !== undefined))
      this.wrong(`of a cancelled call: ${JSON.stringify(entry.messages)}`);
    this.ledger.did('cancelled');
  }

  private async hangUp(): Promise<void> {
    const { stream } = this;
    this.sort();
    stream?.cut();
    await stream?.end;
    this.stream = undefined;
    this.running.clear();
  }

  /** Gives each message that came to the call it belongs to. */
  private sort(): void {
    for (const message of this.fresh()) {
      const { progressToken, uri } = (message['params'] ?? {}) as Json;
      const entry = this.running.get((message['id'] ?? progressToken) as number);
      if (entry) entry.messages.push(message);
      else if (uri === this.note) this.ledger.did('notified');
      // Of a call that is not waited for, there may be progress.
      else if (progressToken === undefined) this.wrong(`on its stream: ${JSON.stringify(message)}`);
    }
  }

  private take(id: number): Json | undefined {
    return this.fresh().find((message) => message['id'] === id);
  }

  private fresh(): Json[] {
    const events = this.stream?.events.slice(this.seen) ?? [];
    this.seen += events.length;
    return messagesOf(events);
  }

  private async until(isSo: () => boolean): Promise<void> {
    if (!(await this.stream!.until(isSo))) throw new Error('the stream was ended');
  }

  private async accepted(message: Json): Promise<void> {
    const answer = await this.wire.send(this.address, { body: message });
    await answer.end;
    if (answer.status !== 202) this.wrong(`a POST: ${answer.status} ${answer.text}`);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { modernHeaders, modernMessage } from '../support/wire.js';
import type { Incoming, Outgoing } from './connections.js';
import { SoakClient, type PlannedCall } from './soak.client.js';

/** A client of 2026-07-28: each request by itself, and a stream that listens. */
export class ModernClient extends SoakClient {
  private listening: Incoming | undefined;

  protected async arrive(): Promise<void> {
    if (this.random.chance(0.5)) await this.listen();
  }

  protected async call(call: PlannedCall): Promise<void> {
    await this.judgeReply(call, await this.wire.send('/mcp', outgoing(call)));
  }

  protected async digress(): Promise<void> {
    if (this.random.chance(0.25)) await this.abort();
    if (this.listening && this.random.chance(0.1)) {
      await this.hangUp();
      await this.listen();
      this.ledger.did('listened again');
    }
  }

  protected async leave(): Promise<void> {
    // Some go in the middle of a call, and of their stream.
    if (this.random.chance(0.2)) {
      const { answer } = this.wire.begin('/mcp', outgoing(this.sideCall(1, 10_000)));
      await Promise.race([answer.catch(() => undefined), sleep(this.random.between(0, 10))]);
      this.wire.close();
      await answer.then(({ end }) => end).catch(() => undefined);
      this.ledger.did('vanished');
    }
    await this.hangUp();
    this.wire.close();
  }

  /** Sends a call and hangs up before its answer can be there. */
  private async abort(): Promise<void> {
    const { answer, hangUp } = this.wire.begin(
      '/mcp',
      outgoing(this.sideCall(this.random.between(1, 50), 10_000)),
    );
    const begun = answer.then(
      (incoming) => incoming,
      () => undefined,
    );
    await Promise.race([begun, sleep(this.random.between(0, 10))]);
    hangUp();
    await (
      await begun
    )?.end;
    this.ledger.did('aborted');
  }

  private async listen(): Promise<void> {
    const params = { notifications: { resourceSubscriptions: [this.note] } };
    const listening = await this.wire.send('/mcp', {
      headers: modernHeaders('subscriptions/listen'),
      body: modernMessage('subscriptions/listen', params, this.random.between(1, 50)),
    });
    if (listening.status !== 200) this.wrong(`subscriptions/listen: ${listening.status}`);
    await listening.until(() => listening.events.length > 0);
    this.listening = listening;
  }

  private async hangUp(): Promise<void> {
    const { listening } = this;
    this.listening = undefined;
    if (!listening) return;
    listening.cut();
    await listening.end;
    this.hearChanges(listening.events);
  }
}

function outgoing({ id, params }: PlannedCall): Outgoing {
  return { headers: modernHeaders('tools/call', params), body: modernMessage('tools/call', params, id) };
}

import type { RoundVerdict } from '../protocol/asking/modern-rounds.js';

/** A call whose outcome is not its handler's to say: its client has to be asked, or answered what it cannot. */
export class CallInterrupted extends Error {
  private static readonly made = new WeakSet<object>();
  override readonly name = 'CallInterrupted';

  constructor(readonly verdict: RoundVerdict) {
    super('The call waits for its client');
    CallInterrupted.made.add(this);
  }

  /** Whatever was thrown: to ask its class would run what a proxy has in store. */
  static is(thrown: unknown): thrown is CallInterrupted {
    return typeof thrown === 'object' && thrown !== null && CallInterrupted.made.has(thrown);
  }
}

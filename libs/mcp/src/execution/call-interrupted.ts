import type { RoundVerdict } from '../protocol/asking/modern-rounds.js';

/** A call whose outcome is not its handler's to say: its client has to be asked, or answered what it cannot. */
export class CallInterrupted extends Error {
  override readonly name = 'CallInterrupted';

  constructor(readonly verdict: RoundVerdict) {
    super('The call waits for its client');
  }
}

/** What clients did beside their calls. */
export type Deed =
  | 'aborted'
  | 'batched'
  | 'cancelled'
  | 'cut and resumed'
  | 'intruded'
  | 'listened again'
  | 'notified'
  | 'polled'
  | 'renewed'
  | 'vanished';

const MAX_FAULTS = 20;

/** What was asked and what came of it, in one round. */
export class Ledger {
  readonly deeds: Partial<Record<Deed, number>> = {};
  /** The first of them. */
  readonly faults: string[] = [];
  expected = 0;
  right = 0;
  /** Sessions whose clients went without a word. */
  abandoned = 0;

  did(deed: Deed): void {
    this.deeds[deed] = (this.deeds[deed] ?? 0) + 1;
  }

  fault(text: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(text.slice(0, 1_000));
  }
}

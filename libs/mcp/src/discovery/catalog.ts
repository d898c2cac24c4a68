import type { HandlerMark } from '../decorators/handler.mark.js';
import { DuplicateHandlerException } from './boot.exceptions.js';
import type { Handler } from './registration.js';
import type { Draft } from './registrars/draft.js';

/** Something that can be called. */
export interface Exposed<Registration, Result> {
  readonly registration: Registration;
  readonly handler: Handler<Result>;
}

interface Entry<Registration, Result> {
  where: string;
  label: string;
  exposed: Exposed<Registration, Result> | undefined;
  isEnabled: boolean;
  /** The reservation that was settled last. */
  turn: number;
  /** Reservations that are neither settled nor given back. */
  pending: number;
  /** Somebody asked for the name to take it from whoever has it. */
  isTaking: boolean;
}

/** How a name is asked for: for something new, in place of what has it, or for what the application declares. */
export type Claim = 'new' | 'replace' | 'declared';

/** A name that is taken for something which is still being made. */
export interface Reservation<Registration, Result> {
  /** False where the name was removed meanwhile, or went to one that was asked for later. */
  settle(exposed: Exposed<Registration, Result>): boolean;
  /** Gives the name back. */
  drop(): void;
}

/** All handlers of one kind by name, in the order they were added; what is disabled or not ready yet is unknown. */
export class Catalog<Registration, Result> {
  private entries = new Map<string, Entry<Registration, Result>>();
  private changes = 0;
  private turns = 0;
  private seen = false;

  constructor(
    private readonly kind: HandlerMark['kind'],
    private readonly onChange: () => void = () => undefined,
  ) {}

  /** Grows with every change of what can be found. */
  get version(): number {
    return this.changes;
  }

  /** Whether there was anything, ever: what was promised to clients once is not taken back. */
  get isOffered(): boolean {
    return this.seen;
  }

  /** @throws DuplicateHandlerException */
  reserve(
    { key: name, label, place: where }: Pick<Draft<Registration>, 'key' | 'label' | 'place'>,
    claim: Claim = 'new',
  ): Reservation<Registration, Result> {
    const taken = this.entries.get(name);
    // What is declared comes first, however late it is found: who asked to replace it before the start wins.
    const isBeaten = claim === 'declared' && taken?.isTaking === true;
    if (taken && claim !== 'replace' && !isBeaten)
      throw new DuplicateHandlerException(this.kind, label, taken.where, where, taken.label);
    const entry: Entry<Registration, Result> = taken ?? {
      where,
      label,
      exposed: undefined,
      isEnabled: true,
      turn: 0,
      pending: 0,
      isTaking: false,
    };
    if (!taken) this.entries.set(name, entry);
    entry.pending++;
    entry.isTaking ||= claim === 'replace';
    const turn = isBeaten ? 0 : ++this.turns;
    const isHeld = () => this.entries.get(name) === entry;
    return {
      settle: (exposed) => {
        entry.pending--;
        if (!isHeld() || entry.turn > turn) return false;
        // In the place of the one it replaces, so that the order of the list stays.
        Object.assign(entry, { where, label, exposed, turn }, taken && { isEnabled: true });
        this.seen = true;
        this.changed();
        return true;
      },
      drop: () => {
        entry.pending--;
        if (entry.pending === 0 && !entry.exposed && isHeld()) this.entries.delete(name);
      },
    };
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  find(name: string): Exposed<Registration, Result> | undefined {
    const entry = this.entries.get(name);
    return entry?.isEnabled ? entry.exposed : undefined;
  }

  /** What can be found, in order. */
  *exposed(): Generator<Exposed<Registration, Result>> {
    for (const { exposed, isEnabled } of this.entries.values()) if (isEnabled && exposed) yield exposed;
  }

  /** The names of those whose registration is like that, disabled ones too. */
  namesOf(isLike: (registration: Registration) => boolean): string[] {
    return [...this.entries]
      .filter(([, { exposed }]) => exposed && isLike(exposed.registration))
      .map(([name]) => name);
  }

  remove(name: string): boolean {
    const entry = this.entries.get(name);
    if (!entry) return false;
    this.entries.delete(name);
    if (entry.exposed && entry.isEnabled) this.changed();
    return true;
  }

  /** @returns whether the name is known */
  setEnabled(name: string, isEnabled: boolean): boolean {
    const entry = this.entries.get(name);
    if (!entry) return false;
    if (entry.isEnabled === isEnabled) return true;
    entry.isEnabled = isEnabled;
    if (entry.exposed) this.changed();
    return true;
  }

  private changed(): void {
    this.changes++;
    this.onChange();
  }
}

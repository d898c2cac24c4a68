import type { Catalog, Claim, Reservation } from './catalog.js';
import type { Draft } from './registrars/draft.js';
import type { Handler, HandlerActivator } from './registration.js';

/** A draft with what has to be done before it can be completed. */
export interface Prepared<Registration> {
  readonly draft: Draft<Registration>;
  readonly prepare?: () => Promise<void>;
}

/** Makes the handler of a registration of one kind. */
export type Activate<Registration, Result> = (
  activator: HandlerActivator,
  registration: Registration,
) => Handler<Result>;

/** Puts handlers into their catalogs. Before the server starts there is nothing to make them with, so they wait. */
export class Placement {
  private readonly waiting: ((activator: HandlerActivator) => void)[] = [];
  private activator: HandlerActivator | undefined;

  start(activator: HandlerActivator): void {
    this.activator = activator;
  }

  /** Places what came before the start. */
  placeWaiting(): void {
    for (const work of this.waiting.splice(0)) this.whenStarted(work);
  }

  /** Takes the names at once, and gives them back where one of the handlers cannot be made. */
  place<Registration, Result>(
    activate: Activate<Registration, Result>,
    catalog: Catalog<Registration, Result>,
    prepared: readonly Prepared<Registration>[],
    claim: Claim,
  ): Promise<void> {
    const reserved: Reservation<Registration, Result>[] = [];
    const drop = () => reserved.forEach((reservation) => reservation.drop());
    try {
      for (const { draft } of prepared) reserved.push(catalog.reserve(draft, claim));
    } catch (error) {
      drop();
      throw error;
    }
    const finish = async () => {
      try {
        const made: Registration[] = [];
        for (const { draft, prepare } of prepared) {
          await prepare?.();
          made.push(await draft.complete());
        }
        this.whenStarted((activator) => {
          const exposed = made.map((registration) => ({
            registration,
            handler: activate(activator, registration),
          }));
          exposed.forEach((one, index) => reserved[index]!.settle(one));
        });
      } catch (error) {
        drop();
        throw error;
      }
    };
    return finish();
  }

  private whenStarted(work: (activator: HandlerActivator) => void): void {
    if (this.activator) work(this.activator);
    else this.waiting.push(work);
  }
}

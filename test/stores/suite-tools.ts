/** Lets time pass for the store and for whoever asks for it, in a suite that any store must pass. */
export interface StoreClock {
  advance(ms: number): Promise<void>;
}

/** Changes what was given, as far as it lets itself be changed. */
export function tryTo(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Nobody can change it or any part of it unseen. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** What was asked for at once, of a store that may answer at once or later. */
export function together<T>(answers: readonly (T | Promise<T>)[]): Promise<T[]> {
  return Promise.all(answers.map((answer) => Promise.resolve(answer)));
}

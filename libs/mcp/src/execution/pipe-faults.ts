/** What pipes threw: it tells of arguments, whoever throws the like elsewhere. */
const PIPE_FAULTS = new WeakSet<object>();

/** Remembers what a pipe threw. */
export function notePipeFault(thrown: unknown): void {
  if (typeof thrown === 'object' && thrown !== null) PIPE_FAULTS.add(thrown);
}

/** Whether a pipe threw it, and not a guard or the handler. */
export function isPipeFault(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && PIPE_FAULTS.has(thrown);
}

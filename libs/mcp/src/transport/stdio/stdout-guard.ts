type Write = typeof process.stdout.write;

/**
 * Keeps stdout for messages: whatever else writes there, a logger or `console.log`, goes to stderr.
 * Source: stdio, all revisions: a server writes nothing but messages to stdout.
 *
 * @returns how to write a message, and how to lift the guard
 */
export function guardStdout(): { write: Write; release: () => void } {
  const { stdout, stderr } = process;
  // eslint-disable-next-line typescript/unbound-method -- bound right here
  const original = stdout.write;
  const write = original.bind(stdout) as Write;
  stdout.write = stderr.write.bind(stderr) as Write;
  return {
    write,
    release: () => {
      stdout.write = original;
    },
  };
}

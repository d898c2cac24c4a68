type Write = typeof process.stdout.write;
type End = typeof process.stdout.end;

/**
 * Keeps stdout for messages: whatever else writes there, a logger or `console.log`, goes to stderr, and
 * nothing in the application can end it. It guards `process.stdout.write` and `process.stdout.end`, so it
 * catches nothing that goes past them: a child process that inherits stdout (give it
 * `stdio: ['ignore', 'pipe', 'inherit']`), `fs.writeSync(1, …)` or native code that writes to the descriptor.
 * Source: stdio, all revisions: a server writes nothing but messages to stdout.
 *
 * @returns how to write a message, and how to lift the guard
 */
export function guardStdout(): { write: Write; release: () => void } {
  const { stdout, stderr } = process;
  // eslint-disable-next-line typescript/unbound-method -- bound right here, or put back as they were
  const { write: originalWrite, end: originalEnd } = stdout;
  const write = originalWrite.bind(stdout) as Write;
  stdout.write = stderr.write.bind(stderr) as Write;
  stdout.end = ((...args: unknown[]) => {
    writeLast(stderr, args);
    return stdout;
  }) as End;
  return {
    write,
    release: () => {
      stdout.write = originalWrite;
      stdout.end = originalEnd;
    },
  };
}

/** Does with a stream what `end` is asked to, but leaves it open. All arguments of `end` are optional. */
function writeLast(stream: NodeJS.WriteStream, args: readonly unknown[]): void {
  const [chunk, encoding] = args.filter((arg) => typeof arg !== 'function');
  const done = args.find((arg) => typeof arg === 'function') as (() => void) | undefined;
  stream.write((chunk ?? '') as string, encoding as BufferEncoding | undefined, () => done?.());
}

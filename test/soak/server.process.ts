import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AdapterName } from '../support/app.js';

/** What a server holds, counted by itself. */
export interface Counts {
  /** Of the process, by their kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly connections: number;
  readonly calls: number;
  readonly streams: number;
  /** Those who are told of changes. */
  readonly listeners: number;
  readonly sessionsAtWork: number;
  readonly sessionsKept: number;
  /** Streams whose events are kept for replay. */
  readonly streamsKept: number;
  readonly timers: number;
}

/** The server under test, alone in its process, so that what is counted is its own. */
export class SoakServer {
  private constructor(
    readonly url: string,
    private readonly child: ReturnType<typeof fork>,
    /** All it wrote: warnings and errors, that is. */
    readonly output: string[],
  ) {}

  static async start(
    entry: string,
    adapter: AdapterName,
    times: { bodyTime: number; replayTime: number },
  ): Promise<SoakServer> {
    const env = {
      ...process.env,
      NO_COLOR: '1',
      BODY_TIME: String(times.bodyTime),
      REPLAY_TIME: String(times.replayTime),
    };
    const child = fork(entry, [adapter], { env, execArgv: ['--expose-gc'], silent: true });
    const output: string[] = [];
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
    const [port] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error(output.join('')))),
    ]);
    return new SoakServer(`http://127.0.0.1:${port as number}`, child, output);
  }

  async counts(): Promise<Counts> {
    return { ...((await this.ask('counts')) as Counts) };
  }

  /** Bytes of its heap after garbage collection. */
  heap(): Promise<number> {
    return this.ask('heap') as Promise<number>;
  }

  /** @returns its exit code */
  async stop(): Promise<number | null> {
    const exit = once(this.child, 'close');
    this.child.send('stop');
    return (await exit)[0] as number | null;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  private async ask(question: 'counts' | 'heap'): Promise<unknown> {
    const answer = once(this.child, 'message');
    this.child.send(question);
    return (await answer)[0] as unknown;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { Type } from '@nestjs/common';
import { Logger } from '@nestjs/common';
import { serveMcpOverStdio, type McpStdioOptions } from 'nest-mcp';
import type { Json } from './wire.js';

/** A client's end of a stdio channel. */
export interface Pipe {
  /** Every line the server wrote so far. */
  readonly lines: string[];
  /** Writes bytes as they are. */
  write(text: string | Uint8Array): void;
  /** Writes one message as a line. */
  send(message: Json): void;
  /** Resolves with the answer to an id, or the first message that fits. */
  next(wanted: (message: Json) => boolean): Promise<Json>;
  answer(id: string | number): Promise<Json>;
  /** Ends the input and waits until the server is done. */
  end(): Promise<void>;
}

/** Serves an application over in-process pipes. */
export function openPipe(root: Type, options: Omit<McpStdioOptions, 'input' | 'output'> = {}): Pipe {
  Logger.overrideLogger(false);
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveMcpOverStdio(root, { ...options, input, output });
  return pipeOf(input, output, served);
}

/** Runs a compiled entry file as a real subprocess. */
export function openProcess(
  entry: string,
  env: Record<string, string> = {},
): Pipe & { exit: Promise<number | null>; stderr: string[]; kill(signal: NodeJS.Signals): void } {
  const child = spawn(process.execPath, [entry], { env: { ...process.env, ...env }, stdio: 'pipe' });
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const pipe = pipeOf(child.stdin, child.stdout, exit);
  return Object.assign(pipe, { exit, stderr, kill: (signal: NodeJS.Signals) => void child.kill(signal) });
}

function pipeOf(input: NodeJS.WritableStream, output: NodeJS.ReadableStream, done: Promise<unknown>): Pipe {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: output }).on('line', (line) => {
    lines.push(line);
    waiting.forEach((look) => look());
  });
  const find = (wanted: (message: Json) => boolean) =>
    lines.map((line) => JSON.parse(line) as Json).find(wanted);
  const next = (wanted: (message: Json) => boolean) =>
    new Promise<Json>((resolve, reject) => {
      const look = () => {
        const found = find(wanted);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      done.then(look, reject);
    });
  return {
    lines,
    write: (text) => void input.write(text),
    send: (message) => void input.write(`${JSON.stringify(message)}\n`),
    next,
    answer: (id) => next((message) => message['id'] === id && !('method' in message)),
    end: async () => {
      input.end();
      await done;
    },
  };
}

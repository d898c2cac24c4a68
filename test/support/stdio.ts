import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Type } from '@nestjs/common';
import { Logger } from '@nestjs/common';
import { serveMcpOverStdio, type McpRevision, type McpStdioOptions } from 'nest-mcp';
import type { Traffic } from './traffic.js';
import { modernMessage, type Json } from './wire.js';

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

/** A server in a process of its own. */
export interface ServerProcess extends Pipe {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exit: Promise<number | null>;
  readonly stderr: string[];
  kill(signal: NodeJS.Signals): void;
}

/** Runs a compiled entry file as a real subprocess. */
export function openProcess(entry: string, env: Record<string, string> = {}): ServerProcess {
  const child = spawn(process.execPath, [entry], { env: { ...process.env, ...env }, stdio: 'pipe' });
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  // Not `exit`: what the process wrote last may be read after it.
  const exit = once(child, 'close').then(([code]) => code as number | null);
  child.stdin.on('error', () => undefined);
  const pipe = pipeOf(child.stdin, child.stdout, exit);
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return Object.assign(pipe, { child, exit, stderr, kill });
}

/** A client on a pipe. It remembers what it asked, so that every line can be judged at the end. */
export class StdioClient {
  private readonly asked = new Map<unknown, { revision: McpRevision; method: string }>();
  private revision: McpRevision | undefined;

  constructor(
    readonly pipe: Pipe,
    private readonly traffic: Traffic,
  ) {}

  /** A request of 2026-07-28, sent without waiting for its answer. */
  sendModern(id: string | number, method: string, params: Json = {}): void {
    this.asked.set(id, { revision: '2026-07-28', method });
    this.pipe.send(modernMessage(method, params, id));
  }

  /** A request without metadata, sent without waiting for its answer. */
  sendLegacy(id: string | number, method: string, params?: Json): void {
    this.asked.set(id, { revision: this.revision ?? '2025-11-25', method });
    this.pipe.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
  }

  modern(id: string | number, method: string, params: Json = {}): Promise<Json> {
    this.sendModern(id, method, params);
    return this.pipe.answer(id);
  }

  legacy(id: string | number, method: string, params?: Json): Promise<Json> {
    this.sendLegacy(id, method, params);
    return this.pipe.answer(id);
  }

  async initialize(protocolVersion: string): Promise<Json> {
    const clientInfo = { name: 'test', version: '1' };
    const answer = await this.legacy('init', 'initialize', { protocolVersion, capabilities: {}, clientInfo });
    const { protocolVersion: revision } = answer['result'] as { protocolVersion: McpRevision };
    this.revision = revision;
    this.asked.set('init', { revision, method: 'initialize' });
    this.pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  notify(method: string, params: Json): void {
    this.pipe.send({ jsonrpc: '2.0', method, params });
  }

  /** Ends the input, waits until the server is done, and has every line judged. */
  async end(): Promise<void> {
    await this.pipe.end();
    for (const line of this.pipe.lines) {
      const message = JSON.parse(line) as Json;
      const asked = this.asked.get(message['id']);
      // Its digits are gone by now, and the official parsers take no such number.
      const isLarge = typeof message['id'] === 'number' && !Number.isSafeInteger(message['id']);
      this.traffic.observe(
        isLarge ? { ...message, id: 0 } : message,
        asked?.revision ?? (isOfSubscription(message) ? '2026-07-28' : (this.revision ?? '2025-11-25')),
        asked?.method,
      );
    }
  }
}

/** Only 2026-07-28 has subscriptions, so what names one is of that revision. */
export function isOfSubscription(message: Json): boolean {
  const meta = (message['params'] as Json | undefined)?.['_meta'] as Json | undefined;
  return meta !== undefined && 'io.modelcontextprotocol/subscriptionId' in meta;
}

function pipeOf(input: NodeJS.WritableStream, output: NodeJS.ReadableStream, done: Promise<unknown>): Pipe {
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: output }).on('line', (line) => {
    lines.push(line);
    waiting.forEach((look) => look(line));
  });
  const next = (wanted: (message: Json) => boolean) =>
    new Promise<Json>((resolve, reject) => {
      const look = (line: string) => {
        const message = JSON.parse(line) as Json;
        if (!wanted(message)) return;
        waiting.delete(look);
        resolve(message);
      };
      waiting.add(look);
      for (const line of lines) if (waiting.has(look)) look(line);
      done
        .then(() => setImmediate())
        .then(() => reject(new Error('the server ended without the message')), reject);
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
      await setImmediate();
    },
  };
}

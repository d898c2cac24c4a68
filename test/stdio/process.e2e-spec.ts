import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { compile, type Compiled } from '../support/compiled.js';
import { openProcess, StdioClient, type ServerProcess } from '../support/stdio.js';
import { Traffic } from '../support/traffic.js';
import { modernMessage, textOf, type Json } from '../support/wire.js';

// Each test starts a process.
jest.setTimeout(30_000);

const traffic = new Traffic();
const running = new Set<ServerProcess>();
let compiled: Compiled;

function start(env: Record<string, string> = {}, entry = 'test/stdio/fixtures/serve.ts'): ServerProcess {
  const server = openProcess(compiled.entry(entry), { NO_COLOR: '1', ...env });
  running.add(server);
  void server.exit.then(() => running.delete(server));
  return server;
}

const call = (name: string, args: Json = {}, meta?: Json): Json => ({
  name,
  arguments: args,
  ...(meta ? { _meta: meta } : {}),
});
const log = ({ stderr }: ServerProcess) => stderr.join('');

/** Resolves once the process has logged the text. */
async function logged(server: ServerProcess, text: string): Promise<void> {
  while (!log(server).includes(text)) await once(server.child.stderr, 'data');
}

beforeAll(() => {
  compiled = compile();
});

afterEach(() => running.forEach((server) => server.kill('SIGKILL')));

afterAll(async () => {
  compiled.remove();
  await traffic.verify();
});

describe('a process that serves over stdio', () => {
  describe('and logs, and holds a timer and a socket open', () => {
    let server: ServerProcess;

    beforeAll(async () => {
      server = start({ CLINGING: '1' });
      const client = new StdioClient(server, traffic);
      await client.modern(1, 'tools/call', call('shout'));
      await client.initialize('2025-11-25');
      await client.legacy(2, 'tools/call', call('shout'));
      await logged(server, 'still here');
      await client.end();
    });

    it('G1, S-041: writes nothing but messages to stdout', () => {
      const answers = server.lines.map((line) => JSON.parse(line) as Json);
      expect(answers.map(({ id }) => id)).toEqual([1, 'init', 2]);
      expect(textOf(answers[0]!['result'] as Json)).toBe('quiet');
    });

    it.each([
      'Starting Nest application',
      'from console.log at boot',
      'from console.log\n',
      'from Logger',
      'from process.stdout.write',
      'from process.stdout.end',
      'ended with a callback',
      'destroyed, but clinging',
    ])('G1: has %j on stderr', (text) => {
      expect(log(server)).toContain(text);
    });

    it('G2: runs the hooks and exits with 0 soon after the end of the input', async () => {
      expect(await server.exit).toBe(0);
      expect(log(server)).toContain('shut down by nobody');
    });
  });

  it('G3: ends cleanly when the client closes its reading end before the answer', async () => {
    const server = start();
    server.send(modernMessage('tools/call', call('hold', { text: 'unread' })));
    await logged(server, 'holding unread');
    server.child.stdout.destroy();
    server.send(modernMessage('tools/list', {}, 2));
    expect(await server.exit).toBe(0);
    expect(log(server)).toContain('destroyed');
    expect(log(server)).not.toMatch(/EPIPE|ERROR/);
  });

  it('answers a last line without newline, then exits with 0', async () => {
    const server = start();
    const client = new StdioClient(server, traffic);
    client.sendLegacy(1, 'ping');
    server.write('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    await client.end();
    expect(server.lines.map((line) => JSON.parse(line) as Json)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
    expect(await server.exit).toBe(0);
  });

  it('answers ten running calls as shutting down after the grace, then exits with 0', async () => {
    const server = start({ GRACE: '100' });
    const client = new StdioClient(server, traffic);
    for (let id = 0; id < 10; id++) client.sendModern(id, 'tools/call', call('hold', { text: `call-${id}` }));
    await logged(server, 'holding call-9');
    await client.end();
    const answers = server.lines.map((line) => JSON.parse(line) as Json);
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const { result } of answers) expect(textOf(result as Json)).toBe('The server is shutting down');
    expect(await server.exit).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('answers what runs and runs every hook on %s', async (signal) => {
    const server = start({ GRACE: '50' });
    server.send(modernMessage('tools/call', call('hold', { text: 'stopped' })));
    await logged(server, 'holding stopped');
    const closed = once(server.child, 'close');
    server.kill(signal);
    const [code, ended] = (await closed) as [number | null, string | null];
    // Nest runs the hooks and then lets the signal do what it does by default.
    expect([code, ended]).toEqual([null, signal]);
    expect(textOf((JSON.parse(server.lines[0]!) as Json)['result'] as Json)).toBe(
      'The server is shutting down',
    );
    expect(log(server)).toContain('destroyed');
    expect(log(server)).toContain(`shut down by ${signal}`);
  });

  it('H7: survives every kind of bad line, and none is logged as a fault', async () => {
    const server = start();
    const client = new StdioClient(server, traffic);
    const bad = [
      '{',
      'nul',
      '[]',
      '"x"',
      '{"id":"\\q","x":',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      '\u0000',
    ];
    for (const line of bad) server.write(`${line}${'['.repeat(100)}\n${line}\n`);
    server.write(Uint8Array.of(0xff, 0xfe, 0x0a));
    await client.legacy('alive', 'ping');
    await client.end();
    expect(server.lines).toHaveLength(bad.length * 2 + 2);
    expect(await server.exit).toBe(0);
    expect(log(server)).not.toMatch(/ERROR|WARN|\n +at /);
  });

  it('keeps all in order for a client that pauses while a tool writes much', async () => {
    const server = start();
    const client = new StdioClient(server, traffic);
    await client.modern('ready', 'tools/list');
    server.child.stdout.pause();
    client.sendModern(1, 'tools/call', call('flood', { count: 2000 }, { progressToken: 'p' }));
    while (server.child.stdout.readableLength === 0) await setImmediate();
    server.child.stdout.resume();
    await server.answer(1);
    await client.end();
    const steps = server.lines
      .map((line) => JSON.parse(line) as Json)
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => (params as Json)['progress']);
    expect(steps).toEqual(Array.from({ length: 2000 }, (_, index) => index + 1));
  });
});

describe('the helpdesk over stdio', () => {
  it('judged line by line, serves both eras as the user of HELPDESK_TOKEN', async () => {
    const server = start({ HELPDESK_TOKEN: 'demo-viewer' }, 'src/main.stdio.ts');
    const client = new StdioClient(server, traffic);
    await client.modern(1, 'server/discover');
    await client.modern(2, 'tools/list');
    await client.modern(3, 'tools/call', call('exportTickets', { format: 'json' }, { progressToken: 7 }));
    await client.initialize('2025-06-18');
    await client.legacy(4, 'tools/list');
    const refused = await client.legacy(5, 'tools/call', call('deleteTicket', { id: 'T-1001' }));
    expect(refused['result']).toEqual({
      content: [{ type: 'text', text: 'This needs the role admin' }],
      isError: true,
    });
    await client.end();
    expect(await server.exit).toBe(0);
  });

  it('does not start with the demo tokens in production: code 1, the reason on stderr, nothing on stdout', async () => {
    const server = start({ NODE_ENV: 'production', HELPDESK_TOKENS: '' }, 'src/main.stdio.ts');
    await server.end();
    expect(await server.exit).toBe(1);
    expect(server.lines).toEqual([]);
    expect(log(server)).toContain('Set HELPDESK_TOKENS');
  });
});

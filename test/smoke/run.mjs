// Runs the README's server as a user would, and meets it with the official client over HTTP and over stdio,
// by the very configurations that the server prints.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_TIME = 120_000;
let passed = 0;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** `npm start`, until it has printed both client configurations. */
async function start(port) {
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let printed = '';
  const configurations = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not up in time:\n${printed}`)), START_TIME);
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const found = [...printed.matchAll(/^\{\n[\s\S]*?^\}$/gm)].map(
        ([json]) => JSON.parse(json).mcpServers.helpdesk,
      );
      if (found.length < 2) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const stop = async () => {
    const exit = once(child, 'exit');
    process.kill(-child.pid, 'SIGTERM');
    await exit;
  };
  return { configurations, stop };
}

async function use(name, transport) {
  const client = new Client({ name: 'smoke', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === 'searchTickets'));
  const found = await client.callTool({ name: 'searchTickets', arguments: { status: 'open', limit: 3 } });
  assert.equal(found.structuredContent.items.length, 3);
  const refused = await client.callTool({ name: 'deleteTicket', arguments: { id: 'T-1001' } });
  assert.equal(refused.isError, true);
  await client.close();
  passed++;
  process.stdout.write(`${name}: listed, called and refused as it should\n`);
}

/** The built package, loaded by an application of either module system. */
async function usePackage() {
  const { stdout, stderr } = spawnSync(process.execPath, [`${ROOT}/test/smoke/consumer.cjs`], {
    encoding: 'utf8',
  });
  const esm = await import(`${ROOT}/libs/mcp/dist/esm/index.js`);
  assert.equal(stdout.trim(), Object.keys(esm).sort().join(' '), stderr);
  passed++;
  process.stdout.write('package: the same names in ESM and CommonJS, a tool called from CommonJS\n');
}

await usePackage();
const server = await start(await freePort());
try {
  const [http, stdio] = await server.configurations;
  const requestInit = { headers: http.headers };
  await use('http', new StreamableHTTPClientTransport(new URL(http.url), { requestInit }));
  await use(
    'stdio',
    new StdioClientTransport({ ...stdio, env: { ...process.env, ...stdio.env }, stderr: 'ignore' }),
  );
} finally {
  await server.stop();
}
process.stdout.write(`smoke: ${passed} passed, 0 failed\n`);

// Runs the README's server as a user would, and meets it with the official client over HTTP and over stdio,
// by the very configurations that the server prints.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
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

/** The packed package, compiled into a strict application of either module system that checks its declarations too. */
async function compilePackage() {
  const folder = mkdtempSync(`${tmpdir()}/nest-mcp-`);
  try {
    const packed = run('npm', ['pack', '--json', '--pack-destination', folder], `${ROOT}/libs/mcp`);
    const [{ filename, files }] = JSON.parse(packed);
    assert.deepEqual(
      files.filter(({ path }) => path.endsWith('.map')),
      [],
    );
    run('tar', ['-xzf', filename], folder);
    mkdirSync(`${folder}/node_modules`);
    for (const name of readdirSync(`${ROOT}/node_modules`))
      if (name !== 'nest-mcp') symlinkSync(`${ROOT}/node_modules/${name}`, `${folder}/node_modules/${name}`);
    symlinkSync(`${folder}/package`, `${folder}/node_modules/nest-mcp`);
    const compiled = ['module', 'commonjs'].map((type) => compile(`${folder}/${type}`, type));
    for (const { code, printed } of await Promise.all(compiled)) assert.equal(code, 0, printed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  passed++;
  process.stdout.write('package: its declarations hold in a strict application, in ESM and in CommonJS\n');
}

/** Every option that a strict application may have on; the declarations of all packages are checked. */
const STRICT = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  declaration: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  noUncheckedIndexedAccess: true,
  outDir: 'dist',
  rootDir: '.',
};

async function compile(folder, type) {
  mkdirSync(folder);
  copyFileSync(`${ROOT}/test/smoke/consumer.ts`, `${folder}/consumer.ts`);
  writeFileSync(`${folder}/package.json`, JSON.stringify({ type }));
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({ compilerOptions: STRICT, files: ['consumer.ts'] }),
  );
  const child = spawn(process.execPath, [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', folder]);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  const [code] = await once(child, 'close');
  return { code, printed };
}

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

await usePackage();
await compilePackage();
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

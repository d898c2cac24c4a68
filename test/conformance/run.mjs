// Runs the official conformance suite against the conformance app, on both adapters, and judges every check
// of every scenario, scored or not: a failure or a warning that the baseline does not list fails the run, and
// so does a listed one that no longer occurs. The baseline only shrinks.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BASELINE = fileURLToPath(new URL('baseline.json', import.meta.url));
const ENTRY = join(ROOT, 'dist/conformance/test/conformance/main.js');
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
/** The suite needs a newer Node than the server under test. */
const RUNNER = ['-y', '-p', 'node@22', '-p', SUITE, 'conformance', 'server'];
const RUNS = {
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
  all: ['--suite', 'all'],
};
const ADAPTERS = ['express', 'fastify'];
const SHOULD_UPDATE = process.argv.includes('--update');

async function startServer(adapter) {
  const child = spawn(process.execPath, [ENTRY, adapter], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  return { url, stop: () => child.kill() };
}

/** The suite itself is green in places when nothing listens, so the server proves that it is there. */
async function assertUp(url) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } }),
  });
  const { result } = await response.json();
  if (!result?.supportedVersions?.includes('2026-07-28'))
    throw new Error('the server under test does not answer');
}

function runSuite(url, options, out) {
  return spawnSync('npx', [...RUNNER, '--url', url, ...options, '-o', out], {
    encoding: 'utf8',
    cwd: tmpdir(),
  });
}

/** `scenario:check` of everything that is neither green nor skipped, and how many checks were green. */
function judge(out) {
  const bad = new Set();
  let good = 0;
  let scenarios = 0;
  for (const folder of readdirSync(out)) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    scenarios++;
    for (const check of JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8'))) {
      if (check.status === 'SUCCESS') good++;
      else if (check.status === 'FAILURE' || check.status === 'WARNING') bad.add(`${scenario}:${check.id}`);
    }
  }
  return { bad: [...bad].sort((a, b) => a.localeCompare(b)), good, scenarios };
}

function compare(bad, known) {
  const unexpected = bad.filter((check) => !known.includes(check));
  const stale = known.filter((check) => !bad.includes(check));
  return { unexpected, stale };
}

const baseline = JSON.parse(readFileSync(BASELINE, 'utf8'));
let passed = 0;
let failed = 0;
for (const adapter of ADAPTERS) {
  const server = await startServer(adapter);
  try {
    for (const [name, options] of Object.entries(RUNS)) {
      const out = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
      await assertUp(server.url);
      const run = runSuite(server.url, options, out);
      await assertUp(server.url);
      const { bad, good, scenarios } = judge(out);
      rmSync(out, { recursive: true, force: true });
      if (scenarios === 0) throw new Error(`the suite did not run:\n${run.stdout}\n${run.stderr}`);
      if (SHOULD_UPDATE) baseline[name] = bad;
      const { unexpected, stale } = compare(bad, baseline[name] ?? []);
      passed += good;
      failed += unexpected.length + stale.length;
      process.stdout.write(
        `${adapter} ${name}: ${scenarios} scenarios, ${good} checks green, ${bad.length} in the baseline\n`,
      );
      for (const check of unexpected) process.stdout.write(`  not green: ${check}\n`);
      for (const check of stale) process.stdout.write(`  green now, take it out of the baseline: ${check}\n`);
    }
  } finally {
    server.stop();
  }
}
if (SHOULD_UPDATE) writeFileSync(BASELINE, `${JSON.stringify(baseline, null, 2)}\n`);
process.stdout.write(`conformance: ${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

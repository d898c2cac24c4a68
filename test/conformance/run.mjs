// Runs the official conformance suite against the conformance app, on both adapters, and judges every check
// of every scenario, scored or not, but those of an extension that is not declared: a failure or a warning that the
// baseline does not list fails the run, and so does a listed one that no longer occurs. The baseline is empty.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BASELINE = fileURLToPath(new URL('baseline.json', import.meta.url));
const ENTRY = join(ROOT, 'dist/conformance/test/conformance/main.js');
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
/** An extension that this server does not declare; the suite runs its scenarios all the same. */
const UNDECLARED = /^tasks-/;
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

/** Not waited for in one go: connections that the server closes meanwhile have to be noticed, or the next use one. */
async function runSuite(url, options, out) {
  const child = spawn('npx', [...RUNNER, '--url', url, ...options, '-o', out], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr };
}

/** The scenarios that a run began, by what it printed: one that throws leaves no folder behind. */
function begunIn({ stdout, stderr }) {
  if (!/^Total: \d+ passed/m.test(stdout))
    throw new Error(`the suite did not run to its end:\n${stdout}\n${stderr}`);
  return [...stdout.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, scenario]) => scenario);
}

/**
 * `scenario:check` of everything that is neither green nor skipped, and how many checks were green. A scenario that
 * ended before it checked anything is green for the suite, and `scenario:nothing-checked` here.
 */
function judge(out, begun) {
  const bad = new Set();
  const missing = new Set(begun);
  let good = 0;
  for (const folder of readdirSync(out)) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    missing.delete(scenario);
    if (UNDECLARED.test(scenario)) continue;
    const checks = JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8'));
    for (const check of checks) {
      if (check.status === 'SUCCESS') good++;
      else if (check.status === 'FAILURE' || check.status === 'WARNING') bad.add(`${scenario}:${check.id}`);
    }
    if (checks.every((check) => check.status === 'INFO')) bad.add(`${scenario}:nothing-checked`);
  }
  for (const scenario of missing) bad.add(`${scenario}:did-not-end`);
  return { bad: [...bad].sort((a, b) => a.localeCompare(b)), good };
}

function compare(bad, known) {
  const unexpected = bad.filter((check) => !known.includes(check));
  const stale = known.filter((check) => !bad.includes(check));
  return { unexpected, stale };
}

const baseline = JSON.parse(readFileSync(BASELINE, 'utf8'));
/** What the baseline lists and was not green with one adapter at least. */
const stillBad = Object.fromEntries(Object.keys(RUNS).map((name) => [name, new Set()]));
let passed = 0;
let failed = 0;
for (const adapter of ADAPTERS) {
  const server = await startServer(adapter);
  try {
    for (const [name, options] of Object.entries(RUNS)) {
      const out = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
      await assertUp(server.url);
      const begun = begunIn(await runSuite(server.url, options, out));
      await assertUp(server.url);
      const { bad, good } = judge(out, begun);
      rmSync(out, { recursive: true, force: true });
      const known = baseline[name] ?? [];
      const { unexpected, stale } = compare(bad, known);
      for (const check of known) if (bad.includes(check)) stillBad[name].add(check);
      passed += good;
      failed += unexpected.length + (SHOULD_UPDATE ? 0 : stale.length);
      process.stdout.write(
        `${adapter} ${name}: ${begun.length} scenarios, ${good} checks green, ${bad.length} not\n`,
      );
      for (const check of unexpected) process.stdout.write(`  not green: ${check}\n`);
      for (const check of stale) process.stdout.write(`  green now, take it out of the baseline: ${check}\n`);
    }
  } finally {
    server.stop();
  }
}
if (SHOULD_UPDATE) {
  const shrunk = Object.fromEntries(Object.entries(stillBad).map(([name, checks]) => [name, [...checks]]));
  writeFileSync(BASELINE, `${JSON.stringify(shrunk, null, 2)}\n`);
}
process.stdout.write(`conformance: ${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

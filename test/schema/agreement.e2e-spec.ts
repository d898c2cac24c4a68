import 'reflect-metadata';
import { differencesOf, STRICTER } from '../../libs/mcp/src/schema/dto/differences.js';
import { dtoContract } from '../../libs/mcp/src/schema/dto/dto.contract.js';
import { startApp, type RunningApp } from '../support/app.js';
import { callTool, textOf } from '../support/wire.js';
import { corpusModule, toolName } from './corpus-app.js';
import { CORPUS, ENTRIES } from './corpus/index.js';
import type { CorpusEntry, Json } from './corpus/entry.js';
import { RESERVED, reasonsOfStrictness, rulesThatRefused } from './differences.js';
import { Bench, CRASH, strictAjv, type Verdicts } from './judges.js';
import { argumentsFor, copyOf, keyOf } from './values.js';

/** Counts over the whole corpus; printed when AGREEMENT_TOTALS is set. */
const totals = {
  values: 0,
  accepted: 0,
  stricter: new Map<string, number>(),
  looser: new Map<string, number>(),
};

/** One for all: compiling its meta-schemas takes longer than judging a DTO. */
const ajv = strictAjv();

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

/** What the judges disagree on although no list says so, as readable lines. */
async function disagreements(entry: CorpusEntry): Promise<string[]> {
  const contract = dtoContract(entry.dto);
  const bench = new Bench(entry, contract, ajv);
  const { stricter, looser } = differencesOf(entry.dto);
  const found: string[] = [];
  const report = (why: string, raw: Json, verdicts?: Verdicts) => {
    const told = verdicts && [
      verdicts.schema.map(({ instancePath, keyword }) => `${instancePath} ${keyword}`),
      verdicts.call,
    ];
    found.push(`${why}: ${keyOf(raw).slice(0, 200)} ${told ? JSON.stringify(told).slice(0, 400) : ''}`);
  };
  for (const raw of argumentsFor(entry, contract.schema)) {
    totals.values += 1;
    const verdicts = await bench.judge(raw);
    const [schema, call, validator] = [verdicts.schema, verdicts.call, verdicts.validator].map(
      (faults) => faults.length === 0,
    );
    if (call) totals.accepted += 1;
    if (call !== (schema && validator) && !isGuarded(raw))
      report('the call decides by itself', raw, verdicts);
    if (schema && !validator && !isGuarded(raw)) {
      const refusing = rulesThatRefused(verdicts.validator);
      for (const { rule } of refusing) count(totals.looser, rule);
      const unlisted = refusing.filter(
        ({ rule, listedAs }) =>
          !listedAs.some((name) => looser.has(name)) && !(rule === CRASH && looser.size > 0),
      );
      const names = unlisted.map(({ rule }) => rule);
      if (refusing.length === 0 || unlisted.length > 0)
        report(`only class-validator refuses (${names.join()})`, raw, verdicts);
    }
    if (!schema && validator) {
      const faults = reasonsOfStrictness(ajv, contract.schema, verdicts.schema, raw, verdicts.instance);
      const listed = faults.map((reasons) => reasons.find((reason) => stricter.has(reason)));
      for (const reason of listed) count(totals.stricter, reason ?? 'none');
      if (faults.length === 0 || listed.includes(undefined))
        report(
          `only the schema refuses (${faults.map((reasons) => reasons.join('/')).join()})`,
          raw,
          verdicts,
        );
    }
  }
  for (const raw of entry.accepts)
    if ((await bench.judge(raw)).call.length > 0) report('is not accepted', raw, await bench.judge(raw));
  for (const raw of entry.refuses)
    if ((await bench.judge(raw)).call.length === 0) report('is not refused', raw);
  return found;
}

function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

/** Names and depths that a call refuses wherever they are, as no schema could say. */
function isGuarded(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > 64) return true;
  return Object.entries(value).some(([name, member]) => RESERVED.has(name) || isGuarded(member, depth + 1));
}

describe('the published schema, the call and class-validator', () => {
  afterAll(() => {
    if (!process.env['AGREEMENT_TOTALS']) return;
    const sorted = (counts: Map<string, number>) =>
      JSON.stringify(Object.fromEntries([...counts].sort(([, a], [, b]) => b - a)));
    process.stderr.write(
      `${ENTRIES.length} DTOs, ${totals.values} values, ${totals.accepted} accepted; ` +
        `only class-validator refuses: ${sorted(totals.looser)}; only the schema refuses: ${sorted(totals.stricter)}\n`,
    );
  });

  describe.each(Object.entries(CORPUS))('%s', (_, entries) => {
    it.each(entries.map((entry) => [entry.name, entry] as const))('agree on %s', async (_name, entry) => {
      expect(await disagreements(entry)).toEqual([]);
    });
  });

  it('are compared on enough DTOs and values', () => {
    expect(new Set(ENTRIES.map(({ dto }) => dto)).size).toBeGreaterThanOrEqual(300);
    expect(totals.values).toBeGreaterThanOrEqual(20_000);
    expect(Object.keys(STRICTER)).toEqual(expect.arrayContaining([...totals.stricter.keys()]));
  });
});

/** Says whether a value gets as far as the tool: JSON.stringify has no infinity, and messages have a depth of their own. */
function isCarried(raw: Json): boolean {
  return !hasInfinity(raw) && depthOf(raw) < 60;
}

function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;
}

/** Every so many DTOs one is called for real, with every so many of its values. */
const EVERY_DTO = 5;
const EVERY_VALUE = 5;

describe('a call over HTTP', () => {
  const sample = ENTRIES.filter((_, index) => index % EVERY_DTO === 0);
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(
      corpusModule(
        sample,
        ({ dto }) => ({ input: dto }),
        () => 'accepted',
      ),
    );
  });

  afterAll(() => running.close());

  it('says what the contract says, word for word', async () => {
    let calls = 0;
    for (const entry of sample) {
      const contract = dtoContract(entry.dto);
      const values = argumentsFor(entry, contract.schema).filter(
        (raw, index) => index % EVERY_VALUE === 0 && isCarried(raw),
      );
      for (const raw of values) {
        calls += 1;
        const issues = await contract.checkRaw(raw);
        const made = issues.length > 0 ? { issues } : await contract.instantiate(copyOf(raw));
        const expected =
          'issues' in made
            ? [`Invalid arguments for ${toolName(entry)}:`, ...made.issues.map((issue) => `- ${issue}`)].join(
                '\n',
              )
            : 'accepted';
        const { result, error } = await callTool(running.mcp, toolName(entry), raw);
        expect([raw, error]).toEqual([raw, undefined]);
        expect([raw, textOf(result)]).toEqual([raw, expected]);
      }
    }
    expect(calls).toBeGreaterThan(800);
  }, 60_000);
});

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ID = /\b(?:S-\d{3}|[A-N]\d{1,2})\b/g;
/** The titles of a spec file: the texts of its describe, it and their tables. */
const TITLE =
  /(['"`])((?:S-\d{3}|[A-N]\d{1,2})[a-z]?(?:\([a-z]\))?(?:, ?(?:S-\d{3}|[A-N]\d{1,2})[a-z]?(?:\([a-z]\))?)*): /g;

const specs = ['libs/mcp/src', 'src', 'test'].flatMap((folder) =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('spec.ts'))
    .map((path) => readFileSync(`${ROOT}/${folder}/${path}`, 'utf8')),
);
const carried = new Set(
  specs.flatMap((text) => [...text.matchAll(TITLE)]).flatMap(([title]) => title.match(ID) ?? []),
);
const listed = readFileSync(`${ROOT}/docs/requirements.md`, 'utf8')
  .split('\n')
  .flatMap((line) => /^\| (S-\d{3}|[A-N]\d{1,2}) /.exec(line)?.[1] ?? []);

describe('the list of requirements', () => {
  it('has each id once', () => {
    expect(listed).toEqual([...new Set(listed)]);
  });

  it('explains every id that a test carries', () => {
    expect([...carried].filter((id) => !listed.includes(id))).toEqual([]);
  });

  it('names nothing that no test carries', () => {
    expect(listed.filter((id) => !carried.has(id))).toEqual([]);
  });
});

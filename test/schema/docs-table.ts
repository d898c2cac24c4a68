import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { differencesOf, looserReason, STRICTER } from '../../libs/mcp/src/schema/dto/differences.js';
import { dtoContract } from '../../libs/mcp/src/schema/dto/dto.contract.js';
import type { CorpusEntry, Json } from './corpus/entry.js';
import { CORPUS } from './corpus/index.js';

/** The files whose DTOs are about one decorator each, in the order of the table. */
const FILES = ['common', 'text', 'numbers', 'arrays', 'enums', 'dates', 'nested', 'optional', 'custom'];

/** Decorators of class-validator that say nothing of a value of their own. */
const SILENT = ['ValidatorConstraint'];

const NO_ANNOTATIONS = ['default', 'title', 'description', 'examples', 'deprecated'];

/** Samples that show more than the shortest one would. */
const CHOSEN: Readonly<Record<string, string>> = {
  ArrayUnique: 'ArrayUniqueDto',
  IsOptional: 'OptionalDto',
  ValidateIf: 'NullableDto',
  ValidateNested: 'NestedDto',
};

interface Sample {
  readonly decorators: readonly string[];
  readonly property: string;
  readonly type: string;
}

/** Both generated parts of the page, by the name in their markers. */
export async function generatedParts(): Promise<Record<string, string>> {
  return { decorators: await decoratorTable(), stricter: strictnessTable() };
}

/** Every decorator that the page has a row for. */
export function documentedDecorators(): string[] {
  return rows().map(({ decorator }) => decorator);
}

/** What class-validator exports as decorators, by the files of its package. */
export function knownDecorators(): string[] {
  const listed = readFileSync(
    join(process.cwd(), 'node_modules/class-validator/types/decorator/decorators.d.ts'),
    'utf8',
  );
  const files = Array.from(listed.matchAll(/'\.\/([\w/-]+)'/g), ([, file]) => file!);
  const declarations = files.flatMap((file) => {
    const source = readFileSync(
      join(process.cwd(), `node_modules/class-validator/types/decorator/${file}.d.ts`),
      'utf8',
    );
    return Array.from(
      source.matchAll(/export declare function ([A-Z]\w*)(?:<[^(]*>)?\([^;]*\): PropertyDecorator;/gs),
      ([, name]) => name!,
    );
  });
  return [...new Set(declarations)].filter((name) => !SILENT.includes(name)).sort();
}

interface Row {
  readonly decorator: string;
  readonly entry: CorpusEntry;
  readonly sample: Sample;
}

/** The first DTO of the corpus for each decorator: the one where it stands alone, or else with the fewest others. */
function rows(): Row[] {
  const found = new Map<string, Row>();
  for (const file of FILES) {
    const samples = samplesOf(file);
    for (const entry of CORPUS[file]!) {
      const sample = samples.get(entry.dto.name);
      for (const written of sample?.decorators ?? []) {
        const decorator = /^@(\w+)/.exec(written)![1]!;
        if (!knownDecorators().includes(decorator)) continue;
        const present = found.get(decorator);
        const isChosen = CHOSEN[decorator] === entry.dto.name;
        if (CHOSEN[decorator] !== undefined && !isChosen) continue;
        if (!present || sample!.decorators.length < present.sample.decorators.length)
          found.set(decorator, { decorator, entry, sample: sample! });
      }
    }
  }
  return [...found.values()];
}

/** The classes of a file with one property, as they are written. */
function samplesOf(file: string): Map<string, Sample> {
  const source = readFileSync(join(process.cwd(), `test/schema/corpus/${file}.dto.ts`), 'utf8');
  const classes = Array.from(
    source.matchAll(/^export class (\w+) \{\n(.*?)^\}/gms),
    ([, name, body]) => [name!, body!] as const,
  );
  return new Map(
    classes.flatMap(([name, body]) => {
      const members = body.trim().split('\n\n');
      const lines = members[0]!.split('\n').map((line) => line.trim());
      const [, property, type] = /^([\w']+)\??: (.*?)(?: = .*)?;$/.exec(lines.at(-1)!) ?? [];
      const decorators = lines
        .slice(0, -1)
        .join('\n')
        .split(/\n(?=@)/);
      const isOne =
        members.length === 1 && property !== undefined && decorators.every((line) => line.startsWith('@'));
      return isOne ? [[name, { decorators, property, type: type! }] as const] : [];
    }),
  );
}

async function decoratorTable(): Promise<string> {
  const lines = await Promise.all(rows().map(rowText));
  return [
    '| decorator | published | a failing call says | what class-validator may still refuse |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

async function rowText({ decorator, entry, sample }: Row): Promise<string> {
  const contract = dtoContract(entry.dto);
  const properties = (contract.schema['properties'] ?? {}) as Json;
  const required = ((contract.schema['required'] ?? []) as string[]).includes(sample.property);
  const keywords = Object.fromEntries(
    Object.entries((properties[sample.property] ?? {}) as Json).filter(
      ([name]) => !NO_ANNOTATIONS.includes(name),
    ),
  );
  const refusal = await refusalOf(entry);
  const written = sample.decorators.map((line) => line.replace(/\s*\n\s*/g, ' ')).join(' ');
  const cells = [
    code(`${written} ${sample.property}${required ? '' : '?'}: ${sample.type}`),
    `${code(JSON.stringify(keywords))}${required ? '' : ', not required'}`,
    refusal,
    remarkOf(decorator, entry),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** What a call really says to the first value of the corpus that it refuses. */
async function refusalOf({ dto, refuses }: CorpusEntry): Promise<string> {
  const raw = refuses[0];
  if (raw === undefined) return 'nothing: any value is taken';
  const contract = dtoContract(dto);
  const issues = await contract.checkRaw(raw);
  const made = issues.length > 0 ? { issues } : await contract.instantiate(raw);
  const [first] = 'issues' in made ? made.issues : [];
  return `${code(JSON.stringify(raw))}: ${code(first ?? '')}`;
}

function remarkOf(decorator: string, { dto }: CorpusEntry): string {
  const { looser } = differencesOf(dto);
  const names = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', true, false)
    .map(({ name, type }) => name ?? type)
    .filter((name) => name.toLowerCase() === decorator.toLowerCase() || looser.size > 0);
  const reasons = names.flatMap((name) => (looser.has(name) ? [looserReason(name)] : []));
  if (looser.has('custom')) reasons.push(looserReason('custom'));
  return [...new Set(reasons.filter((reason) => reason !== undefined))].join('; ') || '–';
}

function strictnessTable(): string {
  return Object.entries(STRICTER)
    .map(([key, sentence]) => `- **${key}**: ${sentence}`)
    .join('\n');
}

function code(text: string): string {
  const escaped = text.replaceAll('|', '\\|').replaceAll('\n', '\\n');
  return escaped.includes('`') ? `\`\` ${escaped} \`\`` : `\`${escaped}\``;
}

/** The page with its generated parts made anew. */
export function withParts(page: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(\n<!-- end -->)`),
        (_, start: string, end: string) =>
          `${start}\n<!-- prettier-ignore-start -->\n${part}\n<!-- prettier-ignore-end -->\n${end}`,
      ),
    page,
  );
}

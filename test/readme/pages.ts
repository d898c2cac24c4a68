import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The sources that tests run. */
const examples = [
  ...readdirSync(new URL('./examples', import.meta.url)).map((name) => `./examples/${name}`),
  './example.ts',
  '../../src/main.stdio.ts',
].map((path) => `\n${linesOf(read(path)).join('\n')}\n`);

/** A page of the documentation, by its path from the root. */
export function pageOf(path: string): string {
  return read(`../../${path}`);
}

/** The TypeScript that a text shows. */
export function blocksOf(text: string): string[] {
  return Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), ([, block]) => block!);
}

/** The paragraphs of a block that stand in none of the sources, whatever their indentation there. */
export function unprovenOf(block: string): string[] {
  return block
    .split(/\n\s*\n/)
    .map((paragraph) => linesOf(paragraph).join('\n'))
    .filter((paragraph) => !examples.some((source) => source.includes(`\n${paragraph}\n`)));
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

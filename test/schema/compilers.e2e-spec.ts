import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';
import ts from 'typescript';

const ROOT = process.cwd();
const run = promisify(execFile);

/** Writes the schemas of the whole corpus, in both directions, to the standard output. */
const PRINT = `
import 'reflect-metadata';
import { CORPUS } from './test/schema/corpus/index.js';
import { dtoSchemaPlan } from './libs/mcp/src/schema/dto/dto-schema.factory.js';
const view = (dto, direction) => {
  try { return dtoSchemaPlan(dto, { direction }).schema; } catch (error) { return error.message; }
};
const all = Object.entries(CORPUS).flatMap(([file, entries]) =>
  entries.map(({ name, dto }) => [file + '/' + name, view(dto, 'input'), view(dto, 'output')]));
process.stdout.write(JSON.stringify(all));
`;

const LIBRARY = 'libs/mcp/src';
const CORPUS = 'test/schema/corpus';

/** Sources by their path in the workspace. */
function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file));
}

/** A folder that is a package named as the library, so that the corpus finds it by its name. */
function makePackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nest-mcp-corpus-'));
  const manifest = { name: 'nest-mcp', type: 'module', exports: './libs/mcp/src/index.js' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'print.js'), PRINT);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function write(folder: string, source: string, code: string): void {
  const target = join(folder, source.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}

/** The corpus in a whole program, so that the compiler knows the types of every import, under the workspace's own options. */
function compileWithTsc(folder: string): void {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const corpus = sources(CORPUS).map((source) => join(ROOT, source));
  const program = ts.createProgram(corpus, {
    ...options,
    outDir: folder,
    rootDir: ROOT,
    incremental: false,
    declaration: false,
    sourceMap: false,
    noEmitOnError: false,
  });
  for (const source of corpus) program.emit(program.getSourceFile(source));
}

async function compileWithSwc(folder: string, from: string): Promise<void> {
  for (const source of sources(from)) {
    const { code } = await transformFile(join(ROOT, source), {
      swcrc: false,
      module: { type: 'es6' },
      jsc: {
        target: 'es2022',
        keepClassNames: true,
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      },
    });
    write(folder, source, code);
  }
}

async function print(folder: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(folder, 'print.js')], { maxBuffer: 2 ** 26 });
  return stdout;
}

describe('the schemas of the corpus', () => {
  const folders: string[] = [];

  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  it('are the same, compiled by tsc and by SWC', async () => {
    const [tsc, swc] = [makePackage(), makePackage()];
    folders.push(tsc, swc);
    compileWithTsc(tsc);
    await compileWithSwc(swc, CORPUS);
    for (const folder of folders) await compileWithSwc(folder, LIBRARY);
    const [byTsc, bySwc] = await Promise.all([print(tsc), print(swc)]);
    const [left, right] = [byTsc, bySwc].map((text) => JSON.parse(text) as unknown[]);
    expect(left!.length).toBeGreaterThan(300);
    expect(right).toEqual(left);
    expect(bySwc).toBe(byTsc);
  }, 60_000);
});

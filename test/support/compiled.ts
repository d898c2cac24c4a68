import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = process.cwd();

export interface Compiled {
  /** Where the JavaScript of a source file is, by its path from the root of the workspace. */
  entry(source: string): string;
  remove(): void;
}

/**
 * Compiles demo, library and the processes of the tests into a folder of its own, so that a test needs no
 * build before it and disturbs none. The folder is a package named `nest-mcp`: in it, a package may import
 * itself by its name.
 *
 * @param processes the folder with the processes of the tests
 */
export function compile(processes = 'test/stdio/fixtures'): Compiled {
  const folder = mkdtempSync(join(tmpdir(), 'nest-mcp-'));
  for (const part of ['src', 'libs/mcp/src', processes]) {
    for (const file of readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts') || file.endsWith('.d.ts')) continue;
      const target = join(folder, part, file.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, javascriptOf(join(ROOT, part, file)));
    }
  }
  const manifest = { name: 'nest-mcp', type: 'module', exports: './libs/mcp/src/index.js' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    entry: (source) => join(folder, source.replace(/\.ts$/, '.js')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function javascriptOf(file: string): string {
  return transformFileSync(file, {
    swcrc: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
  }).code;
}

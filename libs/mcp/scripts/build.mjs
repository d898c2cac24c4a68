// Builds the publishable package: ESM and CommonJS, each with its declarations.
import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const lib = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

rmSync(`${lib}/dist`, { recursive: true, force: true });
for (const config of ['tsconfig.lib.json', 'tsconfig.cjs.json']) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', `${lib}/${config}`], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// npm packs what lies beside package.json.
for (const name of ['README.md', 'LICENSE']) copyFileSync(`${lib}/../../${name}`, `${lib}/${name}`);
writeFileSync(`${lib}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');

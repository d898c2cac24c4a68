import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import * as api from './index.js';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** Sources by their path under `src`, without specs. */
function sourcesUnder(folder: string): Map<string, string> {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const paths = names
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

interface Import {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
}

function importsOf(source: string): Import[] {
  const statements = source.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'"`;]*?\bfrom\s+['"]([^'"]+)['"]/gm);
  const others = source.matchAll(/(?:^\s*import\s+|\bimport\()['"]([^'"]+)['"]/gm);
  return [
    ...Array.from(statements, ([, type, specifier]) => ({
      specifier: specifier!,
      isTypeOnly: type !== undefined,
    })),
    ...Array.from(others, ([, specifier]) => ({ specifier: specifier!, isTypeOnly: false })),
  ];
}

/** What the files of one layer may import. A folder may always import itself. */
interface Rule {
  /** Folders and files under `src`. */
  readonly own: readonly string[];
  readonly packages: RegExp;
  /** Imports for which more is needed than being listed. */
  readonly unless?: (path: string, found: Import) => string | undefined;
}

const NEST = /^@nestjs\/(?:common|core)(?:\/|$)/;
const FOUNDATION_FILES = ['mcp.constants.ts', 'mcp.exceptions.ts', 'mcp.options.ts', 'mcp.settings.ts'];
const FOUNDATION = [...FOUNDATION_FILES, 'settings'];
const ROOTS = ['mcp.module.ts', 'serve-mcp-over-stdio.ts'];
const MAY_KNOW_NEST = /\.(?:controller|filter|transport|dispatcher)\.ts$|\/body-gate\.ts$/;

const FOUNDATION_RULE: Rule = {
  own: ['protocol', ...FOUNDATION],
  packages: NEST,
  unless: (_, { specifier, isTypeOnly }) =>
    NEST.test(specifier) && !isTypeOnly ? 'of Nest only types are wanted here' : undefined,
};

const RULES: Readonly<Record<string, Rule>> = {
  protocol: { own: [], packages: /^node:(?:crypto|buffer)$/ },
  schema: {
    own: ['decorators/metadata-keys.ts'],
    // The converters are loaded where a schema of their library is given, and are the application's.
    packages:
      /^(?:node:.*|(?:class-validator|class-transformer|ajv|@standard-schema\/spec|zod|@valibot\/to-json-schema)(?:\/.*)?)$/,
  },
  decorators: {
    own: ['protocol', 'schema'],
    packages: /^(?:reflect-metadata|class-validator)$/,
    unless: (_, { specifier, isTypeOnly }) =>
      specifier.startsWith('../schema/') && !isTypeOnly
        ? 'of the schemas only types are wanted here'
        : undefined,
  },
  discovery: {
    own: ['decorators', 'schema', 'protocol', ...FOUNDATION],
    packages: /^(?:@nestjs\/(?:common|core)(?:\/|$)|rxjs$)/,
  },
  execution: {
    own: ['discovery', 'schema', 'decorators', 'protocol', ...FOUNDATION],
    packages: /^(?:@nestjs\/(?:common|core)|rxjs|node:)/,
  },
  server: { own: ['protocol', 'discovery', 'execution', ...FOUNDATION], packages: NEST },
  transport: {
    own: ['protocol', 'server', 'decorators/metadata-keys.ts', ...FOUNDATION],
    packages: /^(?:@nestjs\/(?:common|core)(?:\/|$)|node:)/,
    unless: (path, { specifier }) =>
      NEST.test(specifier) && !MAY_KNOW_NEST.test(path) ? 'this file has to do without Nest' : undefined,
  },
  foundation: FOUNDATION_RULE,
  settings: FOUNDATION_RULE,
};

/** Inside `schema`: which of its folders may import which others. The files beside them are for all. */
const SCHEMA_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  walk: [],
  metadata: [],
  messages: ['metadata', 'walk'],
  check: ['messages', 'walk'],
  dto: ['metadata', 'messages', 'check', 'walk'],
  foreign: ['messages', 'check', 'walk'],
  forms: ['walk'],
};

/** The folder of `schema` that a path lies in, if any. */
const schemaFolder = (path: string): string | undefined => /^schema\/([^/]+)\//.exec(path)?.[1];

function isKeptInSchema(path: string, target: string): boolean {
  const [from, to] = [schemaFolder(path), schemaFolder(target)];
  return from === undefined || to === undefined || from === to || SCHEMA_FOLDERS[from]!.includes(to);
}

function ruleOf(path: string): { rule: Rule | undefined; folder: string } {
  if (FOUNDATION.includes(path)) return { rule: RULES['foundation'], folder: path };
  const folder = path.split('/')[0]!;
  return { rule: path.includes('/') ? RULES[folder] : undefined, folder };
}

/** Every import that breaks the layers, as a sentence. */
function violations(files: ReadonlyMap<string, string>): string[] {
  return Array.from(files).flatMap(([path, source]) =>
    importsOf(source).flatMap((found) => {
      const why = violationOf(path, found);
      return why === undefined ? [] : [`${path} imports ${found.specifier}: ${why}`];
    }),
  );
}

function violationOf(path: string, found: Import): string | undefined {
  const { specifier } = found;
  const isOwn = specifier.startsWith('.');
  const target = isOwn ? posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts') : specifier;
  if (target === 'index.ts' || target === 'nest-mcp') return 'nobody imports the index';
  if (path === 'index.ts') return undefined;
  if (ROOTS.includes(target)) return 'only the index imports it';
  if (ROOTS.includes(path)) return undefined;
  const { rule, folder } = ruleOf(path);
  if (!rule) return 'there is no rule for this place';
  if (!isOwn)
    return rule.packages.test(specifier) ? rule.unless?.(path, found) : 'not a package of this layer';
  const isAllowed = [folder, ...rule.own].some((own) => target === own || target.startsWith(`${own}/`));
  if (!isAllowed || !isKeptInSchema(path, target)) return 'not a layer below';
  return rule.unless?.(path, found);
}

describe('layers', () => {
  const files = sourcesUnder('.');

  it('are read from every source, with all kinds of imports', () => {
    expect(files.size).toBeGreaterThan(60);
    for (const folder of Object.keys(RULES).filter((name) => name !== 'foundation'))
      expect(Array.from(files.keys()).some((path) => path.startsWith(`${folder}/`))).toBe(true);
    for (const path of [...FOUNDATION_FILES, ...ROOTS, 'index.ts']) expect(files.has(path)).toBe(true);
    const count = Array.from(files.values(), (source) => importsOf(source).length).reduce(
      (sum, n) => sum + n,
      0,
    );
    expect(count).toBeGreaterThan(200);
  });

  it('are kept: no file imports what lies above it', () => {
    expect(violations(files)).toEqual([]);
  });

  it.each([
    ['protocol/x.ts', "import { Injectable } from '@nestjs/common';"],
    ['protocol/x.ts', "import type { McpServer } from '../server/mcp.server.js';"],
    ['protocol/x.ts', "import type { McpSettings } from '../mcp.settings.js';"],
    ['protocol/x.ts', "import { readFileSync } from 'node:fs';"],
    ['protocol/legacy/x.ts', "import { x } from '../../schema/json-schema.js';"],
    ['protocol/x.ts', "export { McpTool } from '../decorators/tool.decorator.js';"],
    ['protocol/x.ts', "export * from '../decorators/tool.decorator.js';"],
    ['protocol/x.ts', "import 'reflect-metadata';"],
    ['protocol/x.ts', "const { Ajv } = await import('ajv');"],
    ['protocol/x.ts', "import {\n  a,\n  type B,\n} from '../execution/validation.js';"],
    ['protocol/x.ts', 'import { a } from "@nestjs/core";'],
    ['schema/x.ts', "import { Injectable } from '@nestjs/common';"],
    ['schema/x.ts', "import { x } from '../protocol/json-rpc.js';"],
    ['schema/x.ts', "import { x } from '../decorators/tool.decorator.js';"],
    ['schema/x.ts', "import { x } from 'ajv-formats';"],
    ['schema/walk/x.ts', "import { x } from '../dto/validator-rules.js';"],
    ['schema/dto/x.ts', "import { x } from '../foreign/raw.contract.js';"],
    ['schema/metadata/x.ts', "import { x } from '../dto/dto-graph.js';"],
    ['decorators/x.ts', "import { SetMetadata } from '@nestjs/common';"],
    ['decorators/x.ts', "import { x } from '../schema/json-schema.js';"],
    ['discovery/x.ts', "import { x } from '../execution/validation.js';"],
    ['discovery/x.ts', "import { x } from '@nestjs/swagger';"],
    ['discovery/x.ts', "import { x } from '@nestjs/common-extra';"],
    ['execution/x.ts', "import { x } from '../server/mcp.server.js';"],
    ['execution/x.ts', "import { x } from '../transport/http/status-map.js';"],
    ['server/x.ts', "import { x } from '../transport/http/status-map.js';"],
    ['server/x.ts', "import { x } from '../schema/json-schema.js';"],
    ['transport/http/x.ts', "import { x } from '../../execution/validation.js';"],
    ['transport/http/x.ts', "import { x } from '../../decorators/tool.decorator.js';"],
    ['transport/http/x.ts', "import type { x } from '@nestjs/common';"],
    ['transport/http/x.controller.ts', "import { x } from '@nestjs/platform-express';"],
    ['transport/http/x.ts', "import { x } from 'express';"],
    ['mcp.options.ts', "import { Module } from '@nestjs/common';"],
    ['mcp.settings.ts', "import { x } from './server/mcp.server.js';"],
    ['server/x.ts', "import { McpModule } from '../mcp.module.js';"],
    ['mcp.module.ts', "import { x } from './serve-mcp-over-stdio.js';"],
    ['mcp.module.ts', "import { x } from './index.js';"],
    ['transport/stdio/x.ts', "import { x } from '../../index.js';"],
    ['transport/stdio/x.ts', "import { x } from 'nest-mcp';"],
    ['elsewhere/x.ts', "import { x } from '../protocol/json-rpc.js';"],
    ['elsewhere.ts', "import { x } from './protocol/json-rpc.js';"],
  ])('would be seen to be broken if %s had: %s', (path, source) => {
    expect(violations(new Map([[path, `/** A file. */\n${source}\n`]]))).toHaveLength(1);
  });

  it.each([
    ['protocol/x.ts', "import { createHash } from 'node:crypto';\nimport { a } from './legacy/a.js';"],
    [
      'schema/x.ts',
      "import { a } from 'class-transformer/cjs/storage.js';\nawait import('ajv/dist/2020.js');",
    ],
    ['transport/http/x.filter.ts', "import { Catch } from '@nestjs/common';"],
    ['transport/http/body-gate.ts', "import { Catch } from '@nestjs/common';"],
    ['mcp.options.ts', "import type { Type } from '@nestjs/common';"],
    ['index.ts', "export { McpModule } from './mcp.module.js';"],
  ])('allow what %s may have', (path, source) => {
    expect(violations(new Map([[path, source]]))).toEqual([]);
  });
});

describe('the protocol core', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nest-mcp-protocol-'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [path, source] of sourcesUnder('protocol')) {
      const { code } = transformSync(source, {
        swcrc: false,
        configFile: false,
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
      });
      const target = join(folder, path.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, code);
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('loads and answers a ping in a bare Node process that has neither Nest nor any other package', () => {
    const modules = Array.from(
      sourcesUnder('protocol').keys(),
      (path) => `./${path.replace(/\.ts$/, '.js')}`,
    );
    const script = `
      const loaded = await Promise.all(${JSON.stringify(modules)}.map((path) => import(path)));
      const { Dispatcher } = await import('./protocol/dispatcher.js');
      const { parseMessage } = await import('./protocol/message-parser.js');
      const { CallLifetime } = await import('./protocol/call-lifetime.js');
      const packages = await Promise.all(
        ['@nestjs/common', 'rxjs', 'reflect-metadata', 'class-validator', 'ajv'].map((name) =>
          import(name).then(() => name, (error) => error.code)));
      const request = parseMessage(Buffer.from('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'), { depth: 64, tokens: 100 });
      const dispatcher = new Dispatcher(new Map([['ping', { era: 'both', answer: () => ({ result: '{}' }) }]]), String);
      const outcome = await dispatcher.dispatch({ request, origin: { era: 'legacy' }, lifetime: new CallLifetime(), channel: undefined });
      console.log(JSON.stringify({ loaded: loaded.length, packages, message: outcome.message }));
    `;
    writeFileSync(join(folder, 'main.js'), script);
    const output = execFileSync(process.execPath, ['main.js'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect(JSON.parse(output)).toEqual({
      loaded: modules.length,
      packages: Array.from({ length: 5 }, () => 'ERR_MODULE_NOT_FOUND'),
      message: '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
    });
  });
});

describe('the public API', () => {
  it('has these names at run time and no others', () => {
    expect(Object.keys(api).toSorted()).toEqual([
      'InjectMcpRegistry',
      'McpArgs',
      'McpAskError',
      'McpBootException',
      'McpCompletion',
      'McpContext',
      'McpCtx',
      'McpDispatcher',
      'McpError',
      'McpEventBus',
      'McpEventStore',
      'McpExecutionContext',
      'McpModule',
      'McpPrompt',
      'McpProperty',
      'McpRegistry',
      'McpResource',
      'McpSessionStore',
      'McpStdioRequest',
      'McpSuspension',
      'McpTool',
      'content',
      'jsonSchemaOf',
      'mcpCors',
      'schema',
      'serveMcpOverStdio',
    ]);
  });

  it('has these types and no others', () => {
    const index = readFileSync(join(ROOT, 'index.ts'), 'utf8');
    const exported = Array.from(index.matchAll(/export (type )?\{([^}]*)\}/g)).flatMap(([, type, names]) =>
      names!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && (type !== undefined || name.startsWith('type ')))
        .map((name) => name.replace(/^type /, '')),
    );
    expect(index).not.toMatch(/export \*/);
    expect(exported.toSorted()).toEqual([
      'AddedGuard as McpAddedGuard',
      'AddedHandler as McpAddedHandler',
      'AudioBlock as McpAudioBlock',
      'ClientInfo as McpClientInfo',
      'ContentBlock as McpContentBlock',
      'ImageBlock as McpImageBlock',
      'JsonSchema',
      'ListKind as McpListKind',
      'McpAdded',
      'McpAnnotations',
      'McpAskFault',
      'McpAskOptions',
      'McpBusMessage',
      'McpCacheHints',
      'McpCaller',
      'McpChange',
      'McpClientLog',
      'McpCompletionOf',
      'McpContentOptions',
      'McpElicited',
      'McpEra',
      'McpExposable',
      'McpExposed',
      'McpForm',
      'McpHandlerKind',
      'McpHttpOptions',
      'McpIcon',
      'McpLimits',
      'McpLinkOptions',
      'McpLogLevel',
      'McpModelPreferences',
      'McpModuleAsyncOptions',
      'McpModuleOptions',
      'McpNamed',
      'McpPeer',
      'McpPromptOptions',
      'McpPropertyOptions',
      'McpReplay',
      'McpReplayBounds',
      'McpResourceOptions',
      'McpRevision',
      'McpSampled',
      'McpSampledBlock',
      'McpSampling',
      'McpSamplingMessage',
      'McpSamplingTool',
      'McpSchema',
      'McpServerPlacement',
      'McpSessionCaps',
      'McpSessionChange',
      'McpSessionData',
      'McpSessionOptions',
      'McpSessionSignal',
      'McpSessionUse',
      'McpSseOptions',
      'McpStdioApp',
      'McpStdioOptions',
      'McpStdioRequestOptions',
      'McpStreamEvent',
      'McpStreamKey',
      'McpToolOptions',
      'McpToolResultBlock',
      'McpToolUseBlock',
      'McpTransport',
      'PromptMessage as McpPromptMessage',
      'ResourceBlock as McpResourceBlock',
      'ResourceContents as McpResourceContents',
      'ResourceLinkBlock as McpResourceLinkBlock',
      'TextBlock as McpTextBlock',
    ]);
  });
});

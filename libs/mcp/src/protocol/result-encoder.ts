import { blockFor, type ToolResult } from './content.js';
import { isObject } from './json-rpc.js';
import type { Page } from './pagination.js';
import { META_SERVER } from './request-meta.js';
import { eraOf, type McpRevision } from './versions.js';

/** Display data of a server or a tool. Source: Base Protocol, Icons, 2025-11-25. */
export interface McpIcon {
  /** An `https:` or `data:` address. */
  src: string;
  mimeType?: string;
  /** `"48x48"` or `"any"`. */
  sizes?: string[];
  theme?: 'light' | 'dark';
}

/** The server as clients see it. */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly McpIcon[];
  readonly instructions?: string;
}

/** A tool's hints; every one is sent. Source: Tools, Tool Annotations, 2025-03-26. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as it is listed, before it takes the shape of a revision. */
export interface ToolDescriptor {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly McpIcon[];
  readonly inputSchema: Record<string, unknown>;
  /** What the structured content of its results keeps to. */
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations: ToolAnnotations;
  readonly meta?: Record<string, unknown>;
}

/** The features that this server offers, as capabilities. */
export interface ServerFeatures {
  readonly tools: boolean;
}

const hasTitle = (revision: McpRevision) => revision >= '2025-06-18';
const hasIcons = (revision: McpRevision) => revision >= '2025-11-25';

/**
 * Gives neutral results the shape of the caller's revision. What a revision does not have is never sent
 * to its clients: above all no member of 2026-07-28 reaches a legacy client.
 */
export class ResultEncoder {
  private readonly modernMeta: string;
  private readonly modernMetaMembers: Record<string, unknown>;

  constructor(
    private readonly server: ServerIdentity,
    private readonly features: ServerFeatures,
  ) {
    this.modernMetaMembers = { [META_SERVER]: this.implementation('2026-07-28') };
    this.modernMeta = JSON.stringify(this.modernMetaMembers);
  }

  /** The result of `initialize`. Source: Lifecycle, Initialization. */
  initialize(revision: McpRevision): string {
    const { instructions } = this.server;
    return JSON.stringify({
      protocolVersion: revision,
      capabilities: this.capabilities(),
      serverInfo: this.implementation(revision),
      ...(instructions === undefined ? {} : { instructions }),
    });
  }

  /** The result of `server/discover`. Source: Discovery, 2026-07-28. */
  discover(supportedVersions: readonly McpRevision[]): string {
    const { instructions } = this.server;
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions,
      capabilities: this.capabilities(),
      ...(instructions === undefined ? {} : { instructions }),
      ttlMs: 0,
      cacheScope: 'private',
      _meta: this.modernMetaMembers,
    });
  }

  /** An item of `tools/list`. */
  tool(tool: ToolDescriptor, revision: McpRevision): string {
    const { name, title, description, icons, inputSchema, outputSchema, annotations, meta } = tool;
    const isTitled = hasTitle(revision);
    return JSON.stringify({
      name,
      title: isTitled ? title : undefined,
      description,
      icons: hasIcons(revision) ? icons : undefined,
      inputSchema: schemaFor(inputSchema, revision),
      outputSchema: outputSchemaFor(outputSchema, revision),
      annotations: annotationsFor(annotations, title, revision),
      _meta: isTitled ? meta : undefined,
    });
  }

  /** The result of `tools/list`. */
  toolPage(page: Page, revision: McpRevision): string {
    const next = page.next === undefined ? '' : `,"nextCursor":${JSON.stringify(page.next)}`;
    if (eraOf(revision) === 'legacy') return `{"tools":[${page.items}]${next}}`;
    const hints = '"ttlMs":0,"cacheScope":"private"';
    return `{"resultType":"complete","tools":[${page.items}]${next},${hints},"_meta":${this.modernMeta}}`;
  }

  /** The result of `tools/call`. */
  toolResult(result: ToolResult, revision: McpRevision): string {
    const isModern = eraOf(revision) === 'modern';
    const content = `"content":${JSON.stringify(result.content.map((block) => blockFor(block, revision)))}`;
    const hasStructured = isModern || (revision >= '2025-06-18' && result.structuredIsObject === true);
    const structured =
      result.structured !== undefined && hasStructured ? `,"structuredContent":${result.structured}` : '';
    const isError = result.isError ? ',"isError":true' : '';
    if (!isModern) {
      const meta = result.meta ? `,"_meta":${JSON.stringify(result.meta)}` : '';
      return `{${content}${structured}${isError}${meta}}`;
    }
    const meta = result.meta
      ? JSON.stringify({ ...result.meta, ...this.modernMetaMembers })
      : this.modernMeta;
    return `{"resultType":"complete",${content}${structured}${isError},"_meta":${meta}}`;
  }

  private capabilities(): Record<string, unknown> {
    return this.features.tools ? { tools: {} } : {};
  }

  private implementation(revision: McpRevision): Record<string, unknown> {
    const { name, version, title, websiteUrl, icons } = this.server;
    return {
      name,
      ...(hasTitle(revision) && title !== undefined ? { title } : {}),
      version,
      ...(hasIcons(revision) && websiteUrl !== undefined ? { websiteUrl } : {}),
      ...(hasIcons(revision) && icons !== undefined ? { icons } : {}),
    };
  }
}

/**
 * Whether a schema's root says that it is of objects, as the legacy revisions demand of an output schema.
 * Source: Tools, Output Schema, 2025-06-18.
 */
export function hasObjectRoot(schema: Record<string, unknown>): boolean {
  return schema['type'] === 'object';
}

function outputSchemaFor(schema: Record<string, unknown> | undefined, revision: McpRevision): unknown {
  if (schema === undefined || revision < '2025-06-18') return undefined;
  return eraOf(revision) === 'modern' || hasObjectRoot(schema) ? schemaFor(schema, revision) : undefined;
}

/** The legacy revisions know no `true` or `false` as the schema of a property, so their clients refuse the list. */
function schemaFor(schema: Record<string, unknown>, revision: McpRevision): Record<string, unknown> {
  const { properties } = schema;
  if (eraOf(revision) === 'modern' || !isObject(properties)) return schema;
  const members = Object.entries(properties);
  if (!members.some(([, member]) => typeof member === 'boolean')) return schema;
  const written = members.map(([name, member]) => [name, member === true ? {} : member || { not: {} }]);
  return { ...schema, properties: Object.fromEntries(written) as unknown };
}

function annotationsFor(
  annotations: ToolAnnotations,
  title: string | undefined,
  revision: McpRevision,
): unknown {
  if (revision === '2024-11-05') return undefined;
  return revision === '2025-03-26' && title !== undefined ? { title, ...annotations } : annotations;
}

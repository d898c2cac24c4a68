import {
  blockFor,
  contentsFor,
  type CompletionResult,
  type PromptResult,
  type ReadResult,
  type ToolResult,
} from './content.js';
import type {
  CacheHints,
  PromptDescriptor,
  ResourceDescriptor,
  ServerFeatures,
  ServerIdentity,
  ToolDescriptor,
} from './descriptors.js';
import { hasIcons, hasTitle, promptItem, resourceItem, toolItem } from './item-encoder.js';
import type { JsonObject, RequestId } from './json-rpc.js';
import type { Page } from './pagination.js';
import { META_SERVER, META_SUBSCRIPTION } from './request-meta.js';
import { eraOf, type McpRevision } from './versions.js';

type Members = Record<string, unknown>;

/**
 * Gives neutral results the shape of the caller's revision. What a revision does not have is never sent
 * to its clients: above all no member of 2026-07-28 reaches a legacy client.
 */
export class ResultEncoder {
  private readonly modernMeta: string;
  private readonly modernMetaMembers: Members;
  private readonly serverHints: string;
  private readonly modernEmpty: string;

  /** @param cache hints of the lists and of `server/discover` */
  constructor(
    private readonly server: ServerIdentity,
    private readonly cache: CacheHints,
  ) {
    this.modernMetaMembers = { [META_SERVER]: this.implementation('2026-07-28') };
    this.modernMeta = JSON.stringify(this.modernMetaMembers);
    this.serverHints = hintsOf(cache);
    this.modernEmpty = `{"resultType":"complete","_meta":${this.modernMeta}}`;
  }

  /**
   * The result of `initialize`. Source: Lifecycle, Initialization.
   *
   * @param remembers whether anything is kept of the client, which is what changes are told by
   */
  initialize(revision: McpRevision, features: ServerFeatures, remembers = true): string {
    return JSON.stringify({
      protocolVersion: revision,
      capabilities: remembers
        ? capabilitiesOf(features, revision)
        : statelessCapabilities(features, revision),
      serverInfo: this.implementation(revision),
      instructions: this.server.instructions,
    });
  }

  /** The result of `server/discover`. Source: Discovery, 2026-07-28. */
  discover(supported: readonly McpRevision[], features: ServerFeatures): string {
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: supported,
      capabilities: capabilitiesOf(features, '2026-07-28'),
      instructions: this.server.instructions,
      ttlMs: this.cache.ttlMs,
      cacheScope: this.cache.scope,
      _meta: this.modernMetaMembers,
    });
  }

  /** An item of `tools/list`. */
  tool(tool: ToolDescriptor, revision: McpRevision): string {
    return toolItem(tool, revision);
  }

  /** An item of `resources/list`; of `resources/templates/list` where it is a template. */
  resource(resource: ResourceDescriptor, revision: McpRevision): string {
    return resourceItem(resource, revision);
  }

  /** An item of `prompts/list`. */
  prompt(prompt: PromptDescriptor, revision: McpRevision): string {
    return promptItem(prompt, revision);
  }

  /** The result of a list. The hints are the same on each page. Source: Pagination; Caching, 2026-07-28. */
  page(
    member: 'tools' | 'resources' | 'resourceTemplates' | 'prompts',
    page: Page,
    revision: McpRevision,
  ): string {
    const next = page.next === undefined ? '' : `,"nextCursor":${JSON.stringify(page.next)}`;
    const items = `"${member}":[${page.items}]${next}`;
    if (eraOf(revision) === 'legacy') return `{${items}}`;
    return `{"resultType":"complete",${items},${this.serverHints},"_meta":${this.modernMeta}}`;
  }

  /** The result of `tools/call`. */
  toolResult(result: ToolResult, revision: McpRevision): string {
    // The blocks of the newest revisions are those of the library: nothing is copied for them.
    const blocks =
      revision >= '2025-11-25' ? result.content : result.content.map((block) => blockFor(block, revision));
    const isError = result.isError ? ',"isError":true' : '';
    const content = `"content":${JSON.stringify(blocks)}${structuredFor(result, revision)}${isError}`;
    return this.complete(content, result.meta, revision);
  }

  /** The result of `resources/read`. */
  readResult(result: ReadResult, revision: McpRevision, cache: CacheHints): string {
    const contents = result.contents.map((item) => contentsFor(item, revision));
    const hints = eraOf(revision) === 'modern' ? `,${hintsOf(cache)}` : '';
    return this.complete(`"contents":${JSON.stringify(contents)}${hints}`, result.meta, revision);
  }

  /** The result of `prompts/get`. */
  promptResult(result: PromptResult, revision: McpRevision): string {
    const { description } = result;
    const messages = result.messages.map(({ role, content }) => ({
      role,
      content: blockFor(content, revision),
    }));
    const opening = description === undefined ? '' : `"description":${JSON.stringify(description)},`;
    return this.complete(`${opening}"messages":${JSON.stringify(messages)}`, result.meta, revision);
  }

  /** The result of `completion/complete`. */
  completionResult({ values, total, hasMore }: CompletionResult, revision: McpRevision): string {
    const completion = JSON.stringify({ values, total, hasMore });
    return this.complete(`"completion":${completion}`, undefined, revision);
  }

  /** The result of a call whose client is asked. Source: Multi Round-Trip Requests, 2026-07-28. */
  inputRequired(requests: JsonObject, state: string): string {
    const members = `"inputRequests":${JSON.stringify(requests)},"requestState":${JSON.stringify(state)}`;
    return `{"resultType":"input_required",${members},"_meta":${this.modernMeta}}`;
  }

  /** The result of a request that is only acknowledged. */
  emptyResult(revision: McpRevision): string {
    return eraOf(revision) === 'modern' ? this.modernEmpty : '{}';
  }

  /**
   * The result of `subscriptions/listen` at its graceful end.
   * Source: Subscriptions, Graceful Closure, 2026-07-28.
   */
  subscriptionResult(id: RequestId): string {
    const others = this.modernMeta.slice(1);
    return `{"resultType":"complete","_meta":{"${META_SUBSCRIPTION}":${id.text},${others}}`;
  }

  private complete(members: string, meta: Members | undefined, revision: McpRevision): string {
    if (eraOf(revision) === 'legacy') {
      const own = meta && legacyMeta(meta);
      return own ? `{${members},"_meta":${JSON.stringify(own)}}` : `{${members}}`;
    }
    const all = meta ? JSON.stringify({ ...meta, ...this.modernMetaMembers }) : this.modernMeta;
    return `{"resultType":"complete",${members},"_meta":${all}}`;
  }

  private implementation(revision: McpRevision): Members {
    const { name, version, title, websiteUrl, icons } = this.server;
    return {
      name,
      title: hasTitle(revision) ? title : undefined,
      version,
      websiteUrl: hasIcons(revision) ? websiteUrl : undefined,
      icons: hasIcons(revision) ? icons : undefined,
    };
  }
}

/**
 * Whether a schema's root says that it is of objects, as the legacy revisions demand of an output schema.
 * Source: Tools, Output Schema, 2025-06-18.
 */
export function hasObjectRoot(schema: Members): boolean {
  return schema['type'] === 'object';
}

/** 2024-11-05 has completion without a capability. Source: the capabilities of each revision's schema. */
function capabilitiesOf(features: ServerFeatures, revision: McpRevision): Members {
  const { tools, resources, prompts, completions } = features;
  return {
    ...(tools ? { tools: { listChanged: true } } : {}),
    ...(resources ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(prompts ? { prompts: { listChanged: true } } : {}),
    ...(completions && revision !== '2024-11-05' ? { completions: {} } : {}),
    ...(tools || resources || prompts ? { logging: {} } : {}),
  };
}

/** A server that keeps nothing of its clients can tell them nothing by itself. */
function statelessCapabilities(features: ServerFeatures, revision: McpRevision): Members {
  const { completions } = capabilitiesOf(features, revision);
  const { tools, resources, prompts } = features;
  return {
    ...(tools ? { tools: {} } : {}),
    ...(resources ? { resources: {} } : {}),
    ...(prompts ? { prompts: {} } : {}),
    ...(completions ? { completions } : {}),
  };
}

/** Source: Tools, Structured Content, of each revision. */
function structuredFor({ structured, structuredIsObject }: ToolResult, revision: McpRevision): string {
  if (structured === undefined || revision < '2025-06-18') return '';
  const isBare = structuredIsObject === true || eraOf(revision) === 'modern';
  return `,"structuredContent":${isBare ? structured : `{"result":${structured}}`}`;
}

function hintsOf({ ttlMs, scope }: CacheHints): string {
  return `"ttlMs":${ttlMs},"cacheScope":"${scope}"`;
}

/** The server's name in `_meta` is of 2026-07-28, whoever put it there. */
function legacyMeta(meta: Members): Members | undefined {
  if (!(META_SERVER in meta)) return meta;
  const { [META_SERVER]: _, ...own } = meta;
  return Object.keys(own).length > 0 ? own : undefined;
}

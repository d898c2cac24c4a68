/** Display data of a server, tool, resource or prompt. Source: Base Protocol, Icons, 2025-11-25. */
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

/** For whom a piece of content is meant, and how much it matters. Source: Resources, Annotations. */
export interface McpAnnotations {
  audience?: ('user' | 'assistant')[];
  /** From 0, least, to 1, most important. */
  priority?: number;
  /** ISO 8601; 2025-06-18 and later. */
  lastModified?: string;
}

/** How long a client may keep what it got, and for whom. Source: Caching, 2026-07-28. */
export interface McpCacheHints {
  /** ms that it stays fresh; 0 is stale at once. */
  ttlMs?: number;
  /** `'public'`: the same for every caller. `'private'`: for this caller alone. */
  scope?: 'public' | 'private';
}

/** Cache hints with every default filled in. */
export type CacheHints = Required<Readonly<McpCacheHints>>;

/** What everything that is listed has in common, before it takes the shape of a revision. */
export interface NamedDescriptor {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly McpIcon[];
  readonly meta?: Record<string, unknown>;
}

/** A tool's hints; every one is sent. Source: Tools, Tool Annotations, 2025-03-26. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface ToolDescriptor extends NamedDescriptor {
  readonly inputSchema: Record<string, unknown>;
  /** The same for the revisions that have no `x-mcp-header`. */
  readonly legacyInputSchema: Record<string, unknown>;
  /** What the structured content of its results keeps to. */
  readonly outputSchema?: Record<string, unknown>;
  /** The same with a root of objects, for the revisions that demand one. */
  readonly legacyOutputSchema?: Record<string, unknown>;
  readonly annotations: ToolAnnotations;
}

/** A resource, or a template of resources where its address has variables. */
export interface ResourceDescriptor extends NamedDescriptor {
  /** The address of a resource, or the template of addresses. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly mimeType?: string;
  /** Bytes; of a resource alone. */
  readonly size?: number;
  readonly annotations?: McpAnnotations;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface PromptDescriptor extends NamedDescriptor {
  readonly arguments: readonly PromptArgument[];
}

/** The features that this server offers, as capabilities. */
export interface ServerFeatures {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
  readonly completions: boolean;
}

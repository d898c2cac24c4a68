import { isObject } from './json-rpc.js';
import type { McpRevision } from './versions.js';

/** One block of a tool's result. Source: Tools, Tool Result. */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: 'resource_link'; uri: string; name: string };

/** A tool's result before it takes the shape of a revision. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  /** JSON text of the structured content, where there is some. */
  readonly structured?: string;
  /** Whether the structured content is an object, as the legacy revisions demand. */
  readonly structuredIsObject?: boolean;
  readonly isError?: boolean;
  readonly meta?: Record<string, unknown>;
}

/** Characters that a block takes on the wire at least. */
export function roughSize(block: ContentBlock): number {
  const { text, data, resource } = block as {
    text?: string;
    data?: string;
    resource?: { text?: string; blob?: string };
  };
  return 24 + (text ?? data ?? resource?.text ?? resource?.blob ?? '').length;
}

/** What a client reads of a result that exceeds `limits.resultSize`. */
export function tooLargeText(bytes: number): string {
  return `The result is larger than ${bytes} bytes: ask for less`;
}

/** A result of one text. */
export function textResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A failure that a model reads and can act on. */
export function errorResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** What a block of each kind may have. Source: the content types of 2026-07-28. */
const BLOCK_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: membersOf('text'),
  image: membersOf('data', 'mimeType'),
  audio: membersOf('data', 'mimeType'),
  resource: membersOf('resource'),
  resource_link: membersOf('uri', 'name', 'title', 'description', 'mimeType', 'size', 'icons'),
};
const RESOURCE_MEMBERS = new Set(['uri', 'mimeType', 'text', 'blob', '_meta']);

function membersOf(...names: string[]): ReadonlySet<string> {
  return new Set(['type', 'annotations', '_meta', ...names]);
}

function hasOnly(value: object, known: ReadonlySet<string> | undefined): boolean {
  return known !== undefined && Object.keys(value).every((name) => known.has(name));
}

/**
 * Whether a value has the shape of a content block, so that a handler's own blocks pass as they are. One with
 * members that no block has is data that happens to have a `type`: a row of messages, say.
 */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value) || !hasOnly(value, BLOCK_MEMBERS[String(value['type'])])) return false;
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string';
    case 'image':
    case 'audio':
      return typeof value['data'] === 'string' && typeof value['mimeType'] === 'string';
    case 'resource':
      return isResourceContents(value['resource']);
    case 'resource_link':
      return typeof value['uri'] === 'string' && typeof value['name'] === 'string';
    default:
      return false;
  }
}

function isResourceContents(value: unknown): boolean {
  if (!isObject(value) || typeof value['uri'] !== 'string' || !hasOnly(value, RESOURCE_MEMBERS)) return false;
  return (typeof value['text'] === 'string') !== (typeof value['blob'] === 'string');
}

/**
 * A block as a client of that revision can read it: kinds it does not know become text.
 * Source: the content types of each revision's schema.
 */
export function blockFor(block: ContentBlock, revision: McpRevision): ContentBlock {
  if (block.type === 'audio' && revision === '2024-11-05') {
    return { type: 'text', text: `[audio, ${block.mimeType}]` };
  }
  if (block.type === 'resource_link' && revision <= '2025-03-26') {
    return { type: 'text', text: `${block.name}: ${block.uri}` };
  }
  return block;
}

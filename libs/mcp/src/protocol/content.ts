import type { McpAnnotations, McpIcon } from './descriptors.js';
import { isObject } from './json-rpc.js';
import type { McpRevision } from './versions.js';

/** What every content block may have. Source: Tools, Tool Result, 2026-07-28. */
interface BlockMembers {
  annotations?: McpAnnotations;
  /** 2025-06-18 and later. */
  _meta?: Record<string, unknown>;
}

/** A text. Source: Tools, Text Content. */
export interface TextBlock extends BlockMembers {
  type: 'text';
  text: string;
}

/** A picture as Base64. Source: Tools, Image Content. */
export interface ImageBlock extends BlockMembers {
  type: 'image';
  data: string;
  mimeType: string;
}

/** A sound as Base64; 2025-03-26 and later. Source: Tools, Audio Content. */
export interface AudioBlock extends BlockMembers {
  type: 'audio';
  data: string;
  mimeType: string;
}

/** A resource that a client may read; 2025-06-18 and later. Source: Tools, Resource Links. */
export interface ResourceLinkBlock extends BlockMembers {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** 2025-11-25 and later. */
  icons?: readonly McpIcon[];
}

/** A resource with what is in it. Source: Tools, Embedded Resources. */
export interface ResourceBlock extends BlockMembers {
  type: 'resource';
  resource: ResourceContents;
}

/** One block of a tool's result or a prompt's message. Source: Tools, Tool Result. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock;

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

/** One content of a resource: text, or bytes as Base64. Source: Resources, Resource Contents. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: Record<string, unknown>;
}

/** What was read of a resource, before it takes the shape of a revision. */
export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  readonly meta?: Record<string, unknown>;
}

/** One message of a prompt: one block of one speaker. Source: Prompts, Prompt Messages. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** A prompt with its arguments filled in, before it takes the shape of a revision. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly meta?: Record<string, unknown>;
}

/** At most 100 values that complete an argument. Source: Completion. */
export interface CompletionResult {
  readonly values: readonly string[];
  /** How many there are in all, where it is known. */
  readonly total?: number;
  readonly hasMore: boolean;
}

/** Characters that the members of any block or content take beside its text. */
const MEMBERS_SIZE = 24;

/** Characters that a block takes on the wire at least. */
export function roughSize(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return MEMBERS_SIZE + block.text.length;
    case 'image':
    case 'audio':
      return MEMBERS_SIZE + block.data.length;
    case 'resource':
      return MEMBERS_SIZE + sizeOfContents(block.resource);
    case 'resource_link':
      return MEMBERS_SIZE + block.uri.length + block.name.length + (block.description?.length ?? 0);
  }
}

/** Characters that the contents of a resource take on the wire at least. */
export function roughSizeOf(contents: readonly ResourceContents[]): number {
  return contents.reduce((sum, item) => sum + sizeOfContents(item), 0);
}

/** Characters that the messages of a prompt take on the wire at least. */
export function roughSizeOfMessages(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, message) => sum + MEMBERS_SIZE + roughSize(message.content), 0);
}

/** `{"uri":"","text":""}` has 20 characters. */
function sizeOfContents({ uri, text, blob }: ResourceContents): number {
  return 20 + uri.length + (text ?? blob ?? '').length;
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
const BLOCK_MEMBERS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  Object.entries({
    text: membersOf('text'),
    image: membersOf('data', 'mimeType'),
    audio: membersOf('data', 'mimeType'),
    resource: membersOf('resource'),
    resource_link: membersOf('uri', 'name', 'title', 'description', 'mimeType', 'size', 'icons'),
  }),
);
const CONTENTS_MEMBERS: ReadonlySet<string> = new Set(['uri', 'mimeType', 'text', 'blob', '_meta']);
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['role', 'content']);

function membersOf(...names: string[]): ReadonlySet<string> {
  return new Set(['type', 'annotations', '_meta', ...names]);
}

function hasOnly(value: object, known: ReadonlySet<string> | undefined): boolean {
  return known !== undefined && Object.keys(value).every((name) => known.has(name));
}

/**
 * Whether a value has the shape of a content block, so that a handler's own blocks pass as they are. One with
 * members that no block has is data that happens to have a `type`: a row of messages, say. One whose members
 * are of the wrong kind would make clients refuse the whole answer.
 */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value) || !hasOnly(value, BLOCK_MEMBERS.get(value['type']))) return false;
  const { annotations, _meta: meta } = value;
  if (!(annotations === undefined || isAnnotations(annotations))) return false;
  if (!(meta === undefined || isObject(meta))) return false;
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string';
    case 'image':
    case 'audio':
      return typeof value['mimeType'] === 'string' && isBase64(value['data']);
    case 'resource':
      return isResourceContents(value['resource']);
    default:
      return isLink(value);
  }
}

/** Whether a value is one content of a resource and nothing else. Source: Resources, Resource Contents. */
export function isResourceContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || !hasOnly(value, CONTENTS_MEMBERS)) return false;
  const { uri, mimeType, text, blob, _meta: meta } = value;
  if (typeof uri !== 'string' || !isTextOrAbsent(mimeType)) return false;
  if (!(meta === undefined || isObject(meta))) return false;
  return text === undefined ? isBase64(blob) : typeof text === 'string' && blob === undefined;
}

/** Whether a value is one message of a prompt and nothing else. Source: Prompts, Prompt Messages. */
export function isPromptMessage(value: unknown): value is PromptMessage {
  if (!isObject(value) || !hasOnly(value, MESSAGE_MEMBERS)) return false;
  return (value['role'] === 'user' || value['role'] === 'assistant') && isContentBlock(value['content']);
}

/** Whether a value can annotate a block or a resource. Source: Resources, Annotations. */
export function isAnnotations(value: unknown): value is McpAnnotations {
  if (!isObject(value)) return false;
  const { audience, priority, lastModified } = value;
  const isAudience =
    audience === undefined ||
    (Array.isArray(audience) && audience.every((role) => role === 'user' || role === 'assistant'));
  const isPriority =
    priority === undefined || (typeof priority === 'number' && priority >= 0 && priority <= 1);
  return isAudience && isPriority && isTextOrAbsent(lastModified);
}

function isLink({ uri, name, title, description, mimeType, size, icons }: Record<string, unknown>): boolean {
  return (
    typeof uri === 'string' &&
    typeof name === 'string' &&
    [title, description, mimeType].every(isTextOrAbsent) &&
    (size === undefined || (Number.isSafeInteger(size) && (size as number) >= 0)) &&
    (icons === undefined || (Array.isArray(icons) && icons.every(isIcon)))
  );
}

function isIcon(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { src, mimeType, sizes, theme } = value;
  return (
    typeof src === 'string' &&
    isTextOrAbsent(mimeType) &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/;
/** The last four characters: of two and three of them the bits beyond the last byte are 0. */
const BASE64_END = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;

/**
 * Whether a value is Base64 of the standard alphabet with padding and nothing else. A plain search and a look at
 * the end: 8 MiB take some milliseconds. Source: RFC 4648, sections 3.5 and 4.
 */
export function isBase64(value: unknown): boolean {
  if (typeof value !== 'string' || value.length % 4 !== 0) return false;
  const padding = value.search(NOT_BASE64);
  if (padding !== -1 && padding < value.length - 2) return false;
  return value === '' || BASE64_END.test(value.slice(-4));
}

/**
 * A block as a client of that revision can read it: kinds it does not know become text, members it does not
 * know are left out. A block that needs no change is given back as it is.
 * Source: the content types of each revision's schema.
 */
export function blockFor(block: ContentBlock, revision: McpRevision): ContentBlock {
  if (revision >= '2025-11-25') return block;
  if (revision === '2025-06-18')
    return block.type === 'resource_link' && block.icons ? { ...block, icons: undefined } : block;
  const annotations = annotationsFor(block.annotations, revision);
  if (block.type === 'resource_link') return asText(`${block.name}: ${block.uri}`, annotations);
  if (block.type === 'audio' && revision === '2024-11-05')
    return asText(`[audio, ${block.mimeType}]`, annotations);
  const bare =
    block._meta === undefined && annotations === block.annotations
      ? block
      : { ...block, annotations, _meta: undefined };
  if (bare.type !== 'resource') return bare;
  const resource = contentsFor(bare.resource, revision);
  return resource === bare.resource ? bare : { ...bare, resource };
}

function asText(text: string, annotations: McpAnnotations | undefined): TextBlock {
  return annotations ? { type: 'text', text, annotations } : { type: 'text', text };
}

/** The content of a resource as that revision has it; one that needs no change is given back as it is. */
export function contentsFor(contents: ResourceContents, revision: McpRevision): ResourceContents {
  return contents._meta === undefined || revision >= '2025-06-18'
    ? contents
    : { ...contents, _meta: undefined };
}

/** Annotations as that revision has them; nothing where it has none of them. */
export function annotationsFor(
  annotations: McpAnnotations | undefined,
  revision: McpRevision,
): McpAnnotations | undefined {
  if (annotations?.lastModified === undefined || revision >= '2025-06-18') return annotations;
  const { lastModified: _, ...known } = annotations;
  return Object.keys(known).length > 0 ? known : undefined;
}

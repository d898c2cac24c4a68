import { blockFor, isContentBlock, type ContentBlock } from '../content.js';
import { isObject } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import { assertHas, FIRST_WITH_TOOLS } from './revision-needs.js';

type SaidBlock = Extract<ContentBlock, { readonly type: 'text' | 'image' | 'audio' }>;

/** The model wants to use a tool. Source: Sampling, Tool Use Content, 2025-11-25 on. @publicApi */
export interface McpToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** What came of it. Source: Sampling, Tool Result Content, 2025-11-25 on. @publicApi */
export interface McpToolResultBlock {
  type: 'tool_result';
  toolUseId: string;
  content: readonly ContentBlock[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** What a client's model says: a text, picture or sound; from 2025-11-25 on also the wish to use a tool. @publicApi */
export type McpSampledBlock = SaidBlock | McpToolUseBlock;

/**
 * What was said to a model, or by it. Of a list of blocks a client before 2025-11-25 gets each as a message of its own.
 * Source: Sampling, all revisions.
 * @publicApi
 */
export interface McpSamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: MessageBlock | readonly MessageBlock[];
  readonly _meta?: Record<string, unknown>;
}

type MessageBlock = McpSampledBlock | McpToolResultBlock;

const FIRST_WITH_LISTS = '2025-11-25';
/** The first revision that has such a block in a message. */
const FIRST_WITH: Readonly<Record<MessageBlock['type'], McpRevision>> = {
  text: '2024-11-05',
  image: '2024-11-05',
  audio: '2025-03-26',
  tool_use: FIRST_WITH_TOOLS,
  tool_result: FIRST_WITH_TOOLS,
};

/**
 * Messages as a client of that revision takes them.
 *
 * @throws TypeError where they are none; McpAskError where that revision has no such content
 */
export function messagesFor(messages: readonly unknown[], revision: McpRevision): McpSamplingMessage[] {
  const given = messages.map((message, index) => readMessage(message, index));
  assertBalanced(given);
  return revision >= FIRST_WITH_LISTS ? given : given.flatMap((message) => singleBlocks(message, revision));
}

/** What is wrong with what a client says that its model said; nothing where that is content of its revision. */
export function faultOfSampled(content: unknown, revision: McpRevision): string | undefined {
  if (!isObject(content) && !Array.isArray(content)) return 'has no "content"';
  const isFitting = Array.isArray(content)
    ? revision >= FIRST_WITH_LISTS && content.every((block) => isSampled(block, revision))
    : isSampled(content, revision);
  return isFitting ? undefined : `has "content" that is none of ${revision}`;
}

/** Members that no block has are of no account in what a client says. */
function isSampled(block: unknown, revision: McpRevision): boolean {
  if (!isObject(block)) return false;
  const { type, text, data, mimeType } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'audio':
    case 'image':
      return revision >= FIRST_WITH[type] && typeof data === 'string' && typeof mimeType === 'string';
    default:
      return revision >= FIRST_WITH_TOOLS && isToolUse(block);
  }
}

function isToolUse(block: Readonly<Record<string, unknown>>): boolean {
  const { type, id, name, input } = block;
  return type === 'tool_use' && typeof id === 'string' && typeof name === 'string' && isObject(input);
}

function isToolResult(block: Readonly<Record<string, unknown>>): boolean {
  const { type, toolUseId, content, isError, structuredContent } = block;
  return (
    type === 'tool_result' &&
    typeof toolUseId === 'string' &&
    Array.isArray(content) &&
    content.every(isContentBlock) &&
    (structuredContent === undefined || isObject(structuredContent)) &&
    (isError === undefined || typeof isError === 'boolean')
  );
}

function readMessage(message: unknown, index: number): McpSamplingMessage {
  const place = `ctx.sample: messages[${index}]`;
  if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant'))
    throw new TypeError(`${place} must be { role: 'user' or 'assistant', content }`);
  const { content } = message;
  for (const [number, block] of blocksOf(content).entries())
    if (!isMessageBlock(block))
      throw new TypeError(
        `${place}.content${Array.isArray(content) ? `[${number}]` : ''} must be a block of the type text, image, audio, tool_use or tool_result, with all that its type needs`,
      );
  return message as unknown as McpSamplingMessage;
}

function isMessageBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (isToolUse(block) || isToolResult(block)) return true;
  return isContentBlock(block) && block.type in FIRST_WITH;
}

function blocksOf<T>(content: T | readonly T[]): readonly T[] {
  return Array.isArray(content) ? content : [content as T];
}

function singleBlocks({ role, content }: McpSamplingMessage, revision: McpRevision): McpSamplingMessage[] {
  return blocksOf(content).map((block) => {
    assertHas(revision, FIRST_WITH[block.type], `sampling/createMessage with ${block.type}`);
    return { role, content: blockFor(block as SaidBlock, revision) as SaidBlock };
  });
}

/**
 * Every use of a tool is followed by its result, in the very next message, which holds nothing else.
 * Source: Sampling, Message Content Constraints, 2025-11-25.
 */
function assertBalanced(messages: readonly McpSamplingMessage[]): void {
  let open: readonly string[] = [];
  for (const { role, content } of messages) {
    const blocks = blocksOf(content);
    const results = blocks.filter((block) => block.type === 'tool_result');
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length))
      throw new TypeError('ctx.sample: a message with tool results is of the user, and holds nothing else');
    const answered = results.map((block) => block.toolUseId);
    if (open.some((id) => !answered.includes(id)) || answered.some((id) => !open.includes(id)))
      throw new TypeError(UNBALANCED);
    const uses = blocks.filter((block) => block.type === 'tool_use');
    if (uses.length > 0 && role !== 'assistant')
      throw new TypeError('ctx.sample: a message with a tool_use is of the assistant');
    open = uses.map(({ id }) => id);
  }
  if (open.length > 0) throw new TypeError(UNBALANCED);
}

const UNBALANCED = 'ctx.sample: each tool_use needs its tool_result in the very next message';

import {
  isContentBlock,
  roughSizeOfMessages,
  type ContentBlock,
  type PromptMessage,
  type PromptResult,
} from '../protocol/content.js';
import { isObject } from '../protocol/json-rpc.js';
import { uriFault } from '../protocol/uri.js';
import {
  asRefusal,
  hasOnly,
  isScalar,
  ResultTooLargeException,
  toPlain,
  UnserialisableResultException,
} from './plain-value.js';
import { isError } from './result.mapper.js';
import { usualType } from './resource.mapper.js';
import { ByteRun, drain, isBytes, sourceOf, type ResultBounds, type ValueSource } from './value-source.js';

type MaybePromise<T> = T | Promise<T>;
type Role = PromptMessage['role'];

const MESSAGE_MEMBERS = new Set(['role', 'content']);
const WHOLE_MEMBERS = new Set(['description', 'messages', '_meta']);
const BLOCK_TYPES: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);
const INSTEAD =
  'return a text, a content block, { role, content }, a list of these, or { description, messages }';

/**
 * What a prompt's handler returns, as its messages.
 *
 * | returned                                             | messages                                                   |
 * | ---------------------------------------------------- | ---------------------------------------------------------- |
 * | string                                               | one text of the user                                       |
 * | number, boolean, bigint, `Date`, object whose `toJSON` gives a primitive | its text, the same                     |
 * | content block                                        | one message of the user                                    |
 * | `{ role, content }`, an instance that has just these | one message; content is a block or a text, or a list of these: then one message each |
 * | list (array, `Set`) of the above, at least one       | each of them, in order                                     |
 * | whole result: `messages` (a list as above), `description`, `_meta` | as it is. Only here the list may be empty    |
 * | stream in object mode, async iterable, generator     | each item by this table, in order, but for whole results   |
 * | `Error`                                              | as if it had been thrown                                   |
 * | `undefined`, `null`, bytes, any other object         | refused, with what to return instead                       |
 *
 * What lies inside a value is written by the table of `toPlain`. An embedded resource without a media type gets
 * the one of its kind, which a prompt has to tell.
 *
 * @throws UnserialisableResultException
 * @throws ResultTooLargeException
 */
export function mapPrompt(value: unknown, bounds: ResultBounds): MaybePromise<PromptResult> {
  if (typeof value !== 'object' || value === null)
    return within({ messages: messagesOf(value, value) }, bounds);
  if (isError(value)) throw value;
  try {
    const source = isBytes(value) ? undefined : sourceOf(value, bounds);
    return source ? promptOf(source, bounds) : within(objectPrompt(value, bounds), bounds);
  } catch (error) {
    throw asRefusal(error);
  }
}

function objectPrompt(value: object, bounds: ResultBounds): PromptResult {
  const plain = plainOf(value, bounds);
  return isObject(plain) && 'messages' in plain
    ? wholePrompt(value, plain)
    : { messages: messagesOf(value, plain) };
}

/** Bytes are Base64 text in a plain value, and would pass for a message. */
function plainOf(value: unknown, { resultSize }: ResultBounds): unknown {
  return isBytes(value) ? value : toPlain(value, resultSize);
}

function wholePrompt(value: object, plain: Record<string, unknown>): PromptResult {
  if (!hasOnly(plain, WHOLE_MEMBERS)) throw refusal('an object with messages and members that no prompt has');
  const { description, messages, _meta: meta } = plain;
  if (!Array.isArray(messages)) throw refusal('messages that are no list');
  if (!(description === undefined || typeof description === 'string'))
    throw refusal('a description that is no text');
  if (!(meta === undefined || isObject(meta))) throw refusal('a _meta that is no object');
  return {
    ...(description === undefined ? {} : { description }),
    messages: listed(memberOf(value, 'messages'), messages),
    ...(meta ? { meta } : {}),
  };
}

async function promptOf(source: ValueSource, bounds: ResultBounds): Promise<PromptResult> {
  if (source.kind === 'bytes') {
    source.stop();
    throw refusal('bytes');
  }
  const messages: PromptMessage[] = [];
  await drain(source, bounds, (item) => {
    if (isError(item)) throw item;
    const found = messagesOf(item, item instanceof ByteRun ? item : plainOf(item, bounds));
    for (const message of found) messages.push(message);
    return roughSizeOfMessages(found);
  });
  // Of a call that has ended nobody reads the messages, nor a complaint.
  if (messages.length === 0 && !bounds.call.signal.aborted) throw refusal('no message');
  return { messages };
}

/**
 * @param value as the handler gave it, where it is known: bytes are told by it
 * @param plain the same as plain JSON value
 */
function messagesOf(value: unknown, plain: unknown): PromptMessage[] {
  if (plain === undefined || plain === null) throw refusal('nothing');
  if (!Array.isArray(plain)) return messagesOfOne(value, plain);
  if (plain.length === 0) throw refusal('an empty list');
  return listed(value, plain);
}

function listed(value: unknown, plain: readonly unknown[]): PromptMessage[] {
  const items = itemsOf(value);
  return plain.flatMap((item, index) => messagesOfOne(items[index], item));
}

function messagesOfOne(value: unknown, plain: unknown): PromptMessage[] {
  if (isObject(plain) && 'role' in plain) return messagesBy(value, plain);
  return [messageOf('user', value, plain)];
}

function messagesBy(value: unknown, plain: Record<string, unknown>): PromptMessage[] {
  const { role, content } = plain;
  if (role !== 'user' && role !== 'assistant')
    throw refusal('a message whose role is neither "user" nor "assistant"');
  if (!hasOnly(plain, MESSAGE_MEMBERS)) throw refusal('a message that has more than role and content');
  if (content === undefined || content === null) throw refusal('a message without content');
  const given = memberOf(value, 'content');
  if (!Array.isArray(content)) return [messageOf(role, given, content)];
  if (content.length === 0) throw refusal('a message with an empty list for content');
  const parts = itemsOf(given);
  return content.map((part, index) => messageOf(role, parts[index], part));
}

function messageOf(role: Role, value: unknown, plain: unknown): PromptMessage {
  if (value instanceof ByteRun || isBytes(value)) throw refusal('bytes');
  if (isScalar(plain)) return { role, content: { type: 'text', text: String(plain) } };
  if (isContentBlock(plain)) return { role, content: checkedBlock(plain) };
  throw refusal(described(plain));
}

function checkedBlock(block: ContentBlock): ContentBlock {
  if (block.type === 'resource_link') refuseFault(block.uri);
  if (block.type !== 'resource') return block;
  refuseFault(block.resource.uri);
  const { resource } = block;
  return resource.mimeType === undefined
    ? { ...block, resource: { ...resource, mimeType: usualType(resource) } }
    : block;
}

function refuseFault(uri: string): void {
  const fault = uriFault(uri);
  if (fault !== undefined)
    throw new UnserialisableResultException(`the prompt returned a resource whose uri ${fault}`);
}

/** Names kinds, never what is in a value: the text goes to the log. */
function described(plain: unknown): string {
  if (plain === undefined || plain === null) return 'a list in which an item is nothing';
  if (Array.isArray(plain)) return 'a list within a list';
  if (typeof plain !== 'object') return `a ${typeof plain}`;
  const { type } = plain as { type?: unknown };
  return BLOCK_TYPES.has(type)
    ? `a block of type "${String(type)}" that is not as its type has it (bytes are Base64)`
    : 'an object that is no message';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function itemsOf(value: unknown): readonly unknown[] {
  if (value instanceof Set) return [...(value as Set<unknown>)];
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function within(result: PromptResult, { resultSize }: ResultBounds): PromptResult {
  if (roughSizeOfMessages(result.messages) > resultSize) throw new ResultTooLargeException(resultSize);
  return result;
}

function refusal(what: string): UnserialisableResultException {
  return new UnserialisableResultException(`the prompt returned ${what}: ${INSTEAD}`);
}

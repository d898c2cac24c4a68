import { isObject, type JsonObject } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import { McpAskError } from './ask-error.js';
import { actionOf, AnswerFault, type Question } from './question.js';

/** The first revisions that have elicitation, and its url mode, and tools in sampling. */
const FIRST_WITH_ELICITATION = '2025-06-18';
const FIRST_WITH_URLS = '2025-11-25';

/** The parameters of a form, in the words of a revision. Source: Elicitation, 2025-06-18 on. */
export function formParams(message: string, requestedSchema: JsonObject, revision: McpRevision): JsonObject {
  assertHas(revision, FIRST_WITH_ELICITATION, 'elicitation/create');
  return {
    ...(revision >= FIRST_WITH_URLS ? { mode: 'form' } : {}),
    message,
    requestedSchema,
  };
}

/** Asks the user to open an address. Source: Elicitation, URL Mode, 2025-11-25 on. */
export function urlQuestion(message: string, url: string, revision: McpRevision): Question {
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError(`ctx.elicitUrl(message, url): ${JSON.stringify(url)} is no http(s) URL`);
  assertHas(revision, FIRST_WITH_URLS, 'elicitation/create in url mode');
  return {
    kind: 'elicitation',
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
    needs: { elicitation: { url: {} } },
    read: (answer) => ({ action: actionOf(answer) }),
  };
}

/**
 * What a model is asked for, as `sampling/createMessage` has it: `messages` and `maxTokens`, and whatever else the
 * client's revision knows.
 * @publicApi
 */
export interface McpSampling {
  readonly messages: readonly unknown[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  /** Tools that the model may use; needs a client that declared `sampling.tools`. */
  readonly tools?: readonly unknown[];
  readonly [more: string]: unknown;
}

/** What the client's model said. @publicApi */
export interface McpSampled {
  readonly role: 'assistant' | 'user';
  /** A content block; from 2025-11-25 on maybe a list of them. */
  readonly content: unknown;
  readonly model: string;
  readonly stopReason?: string;
}

/** Asks the client's model. Source: Sampling, all revisions. */
export function samplingQuestion(request: McpSampling, revision: McpRevision): Question {
  const { messages, maxTokens, tools, toolChoice, includeContext } = request;
  if (!Array.isArray(messages) || !Number.isSafeInteger(maxTokens) || maxTokens < 1)
    throw new TypeError(
      'ctx.sample({ messages, maxTokens }): messages must be a list, maxTokens a positive integer',
    );
  assertBalanced(messages);
  const usesTools = tools !== undefined || toolChoice !== undefined;
  if (usesTools) assertHas(revision, FIRST_WITH_URLS, 'sampling/createMessage with tools');
  const usesContext =
    includeContext !== undefined && includeContext !== 'none' && revision >= FIRST_WITH_URLS;
  return {
    kind: 'sampling',
    method: 'sampling/createMessage',
    params: { ...request },
    needs: { sampling: { ...(usesTools ? { tools: {} } : {}), ...(usesContext ? { context: {} } : {}) } },
    read: (answer) => {
      const { role, content, model } = answer;
      if ((role !== 'assistant' && role !== 'user') || typeof model !== 'string')
        throw new AnswerFault('has no "role" or no "model"');
      if (!isObject(content) && !Array.isArray(content)) throw new AnswerFault('has no "content"');
      return answer;
    },
  };
}

/** Asks what the client works on. Source: Roots, all revisions. */
export function rootsQuestion(): Question {
  return {
    kind: 'roots',
    method: 'roots/list',
    params: undefined,
    needs: { roots: {} },
    read: ({ roots }) => {
      if (!Array.isArray(roots) || !roots.every((root) => isObject(root) && typeof root['uri'] === 'string'))
        throw new AnswerFault('has no "roots" with addresses');
      return roots as unknown;
    },
  };
}

function assertHas(revision: McpRevision, first: string, what: string): void {
  if (revision < first)
    throw new McpAskError('unsupported', `A client of ${revision} has no ${what}: it came with ${first}`);
}

interface ContentLike {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly toolUseId?: unknown;
}

/**
 * Every use of a tool is followed by its result, in the very next message, which holds nothing else.
 * Source: Sampling, Message Content Constraints, 2025-11-25.
 */
function assertBalanced(messages: readonly unknown[]): void {
  let open: unknown[] = [];
  for (const message of messages) {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    const blocks = (Array.isArray(content) ? content : [content]) as (ContentLike | undefined)[];
    const results = blocks.filter((block) => block?.type === 'tool_result');
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length))
      throw new TypeError('ctx.sample: a message with tool results is of the user, and holds nothing else');
    const answered = results.map((block) => block?.toolUseId);
    if (open.some((id) => !answered.includes(id)) || answered.some((id) => !open.includes(id)))
      throw new TypeError('ctx.sample: each tool_use needs its tool_result in the very next message');
    open =
      role === 'assistant'
        ? blocks.filter((block) => block?.type === 'tool_use').map((block) => block?.id)
        : [];
  }
  if (open.length > 0)
    throw new TypeError('ctx.sample: each tool_use needs its tool_result in the very next message');
}

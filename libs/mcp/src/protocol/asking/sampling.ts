import { isObject, type JsonObject } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import { AnswerFault, type Question } from './question.js';
import { assertHas, FIRST_WITH_TOOLS } from './revision-needs.js';
import {
  faultOfSampled,
  messagesFor,
  type McpSampledBlock,
  type McpSamplingMessage,
} from './sampling-messages.js';

/**
 * What a model is asked for, as `sampling/createMessage` has it. Source: Sampling, all revisions.
 * @publicApi
 */
export interface McpSampling {
  readonly messages: readonly McpSamplingMessage[];
  /** Tokens. */
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: McpModelPreferences;
  /** Other than `none` is for a client that declared `sampling.context`; deprecated since 2025-11-25. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** Tools that the model may use; needs a client that declared `sampling.tools`. 2025-11-25 on. */
  readonly tools?: readonly McpSamplingTool[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
  /** For the provider of the model. */
  readonly metadata?: Record<string, unknown>;
  readonly [more: string]: unknown;
}

/** Advice which model to take; each priority is 0 to 1. Source: Sampling, Model Preferences. @publicApi */
export interface McpModelPreferences {
  readonly hints?: readonly { readonly name?: string }[];
  readonly costPriority?: number;
  readonly speedPriority?: number;
  readonly intelligencePriority?: number;
}

/** A tool for the model to use, which its handler runs. Source: Sampling, Tool Use, 2025-11-25 on. @publicApi */
export interface McpSamplingTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema of objects, such as `jsonSchemaOf` gives. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** What the client's model said. @publicApi */
export interface McpSampled {
  readonly role: 'assistant' | 'user';
  /** From 2025-11-25 on maybe a list. */
  readonly content: McpSampledBlock | readonly McpSampledBlock[];
  readonly model: string;
  readonly stopReason?: string;
}

/** What each parameter must be. */
const PARAMETERS: readonly (readonly [name: string, what: string, fits: (value: unknown) => boolean])[] = [
  ['messages', 'a list of messages', Array.isArray],
  ['maxTokens', 'a positive integer', (value) => Number.isSafeInteger(value) && (value as number) > 0],
  ['systemPrompt', 'a text', optional(isText)],
  ['temperature', 'a number', optional(Number.isFinite)],
  ['stopSequences', 'a list of texts', optional((value) => Array.isArray(value) && value.every(isText))],
  [
    'modelPreferences',
    '{ hints: [{ name }], costPriority, speedPriority, intelligencePriority }, each priority 0 to 1',
    optional(isPreferences),
  ],
  [
    'includeContext',
    "'none', 'thisServer' or 'allServers'",
    optional(oneOf('none', 'thisServer', 'allServers')),
  ],
  [
    'tools',
    "a list of { name, inputSchema: { type: 'object' } }",
    optional((value) => Array.isArray(value) && value.every(isTool)),
  ],
  [
    'toolChoice',
    "{ mode: 'auto', 'required' or 'none' }",
    optional((value) => isObject(value) && optional(oneOf('auto', 'required', 'none'))(value['mode'])),
  ],
  ['metadata', 'an object', optional(isObject)],
];

/** Asks the client's model, in the words of its revision. Source: Sampling, all revisions. */
export function samplingQuestion(request: McpSampling, revision: McpRevision): Question {
  for (const [name, what, fits] of PARAMETERS)
    if (!fits((request as McpSampling | undefined)?.[name]))
      throw new TypeError(`ctx.sample: ${name} must be ${what}`);
  const { tools, toolChoice, includeContext } = request;
  const usesTools = tools !== undefined || toolChoice !== undefined;
  if (usesTools) assertHas(revision, FIRST_WITH_TOOLS, 'sampling/createMessage with tools');
  const usesContext =
    includeContext !== undefined && includeContext !== 'none' && revision >= FIRST_WITH_CONTEXT;
  return {
    kind: 'sampling',
    method: 'sampling/createMessage',
    params: { ...request, messages: messagesFor(request.messages, revision) },
    needs: { sampling: { ...(usesTools ? { tools: {} } : {}), ...(usesContext ? { context: {} } : {}) } },
    read: (answer) => readSampled(answer, revision),
  };
}

/** The first revision that has a capability for it. */
const FIRST_WITH_CONTEXT = '2025-11-25';

function readSampled(answer: JsonObject, revision: McpRevision): JsonObject {
  const { role, content, model, stopReason } = answer;
  if ((role !== 'assistant' && role !== 'user') || !isText(model))
    throw new AnswerFault('has no "role" or no "model"');
  if (!optional(isText)(stopReason)) throw new AnswerFault('has a "stopReason" that is no text');
  const fault = faultOfSampled(content, revision);
  if (fault !== undefined) throw new AnswerFault(fault);
  return answer;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function optional(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || fits(value);
}

function oneOf(...choices: readonly unknown[]): (value: unknown) => boolean {
  return (value) => choices.includes(value);
}

function isPreferences(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { hints, costPriority, speedPriority, intelligencePriority } = value;
  return (
    optional((list) => Array.isArray(list) && list.every(isHint))(hints) &&
    [costPriority, speedPriority, intelligencePriority].every(optional(isShare))
  );
}

function isHint(value: unknown): boolean {
  return isObject(value) && optional(isText)(value['name']);
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isTool(value: unknown): boolean {
  if (!isObject(value) || !isText(value['name'])) return false;
  const { inputSchema } = value;
  return isObject(inputSchema) && inputSchema['type'] === 'object';
}

import type { McpRegistry } from '../discovery/mcp.registry.js';
import { completionKey } from '../discovery/registrars/completion.registrar.js';
import type { Handler, HandlerRegistration } from '../discovery/registration.js';
import type { CompletionResult } from '../protocol/content.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { isObject, quote, type JsonObject } from '../protocol/json-rpc.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import { endedError, invalidParams } from './answers.js';
import type { Call, CallRunner, ResultWriter } from './call.runner.js';

/** The prompt or resource whose argument is completed. */
interface Target {
  readonly kind: 'prompt' | 'resource';
  readonly name: string;
  readonly handler: Handler<unknown>;
  readonly registration: HandlerRegistration;
  readonly argumentNames: readonly string[];
}

/** What completes the enums of a schema: the texts that an argument may have, or nothing where it is open. */
export type ChoicesOf = (
  registration: HandlerRegistration,
  argument: string,
) => readonly string[] | undefined;

const MOST_VALUES = 100;

/** `completion/complete`. Source: Completion, all revisions. */
export class CompletionHandler {
  private readonly writer: ResultWriter<CompletionResult>;

  constructor(
    private readonly registry: McpRegistry,
    private readonly runner: CallRunner,
    private readonly choicesOf: ChoicesOf,
    encoder: ResultEncoder,
  ) {
    this.writer = {
      roughSize: ({ values }) => values.reduce((sum, value) => sum + value.length, 0),
      encode: (value, revision) => encoder.completionResult(value, revision),
      ended: endedError,
    };
  }

  /** Whether any argument can be completed. */
  get isOffered(): boolean {
    const { completions, prompts, resources } = this.registry;
    if (completions.isOffered) return true;
    const hasChoices = (registration: HandlerRegistration, names: readonly string[]) =>
      names.some((name) => this.choicesOf(registration, name) !== undefined);
    for (const { registration } of prompts.exposed())
      if (hasChoices(registration, namesOf(registration.descriptor.arguments))) return true;
    for (const { registration } of resources.exposed())
      if (registration.template && hasChoices(registration, namesOf(registration.template.variables)))
        return true;
    return false;
  }

  complete(delivery: Delivery): Answer | Promise<Answer> {
    const { params } = delivery.request;
    const target = this.target(params?.['ref']);
    if (typeof target === 'string') return invalidParams(target);
    const argument = params?.['argument'];
    if (!isObject(argument) || typeof argument['name'] !== 'string' || typeof argument['value'] !== 'string')
      return invalidParams('"argument" must have a "name" and a "value", both of them texts');
    const { name, value } = argument as { name: string; value: string };
    if (!target.argumentNames.includes(name))
      return invalidParams(`${quote(target.name)} has no argument ${quote(name)}`);
    const filled = filledOf(params);
    if (typeof filled === 'string') return invalidParams(filled);
    return this.runner.run(delivery, {
      name: target.name,
      handler: this.handler(target, name, value),
      raw: { ...filled, [name]: value },
      timeout: undefined,
      writer: this.writer,
    });
  }

  /** The guards of what is completed come first, then those of what completes. */
  private handler(target: Target, argument: string, typed: string): Call<CompletionResult>['handler'] {
    const { completions } = this.registry;
    const own = completions.find(completionKey({ kind: target.kind, name: target.name, argument }));
    return {
      invoke: async (raw, context, origin) => {
        await target.handler.admit(raw, context, origin);
        if (own) return own.handler.invoke(raw, context, origin);
        return matching(this.choicesOf(target.registration, argument) ?? [], typed);
      },
    };
  }

  private target(ref: unknown): Target | string {
    const { type, name, uri } = isObject(ref) ? ref : ({} as JsonObject);
    if (type === 'ref/prompt') {
      if (typeof name !== 'string') return '"ref.name" must be a string';
      const prompt = this.registry.prompts.find(name);
      if (!prompt) return `unknown prompt ${quote(name)}`;
      const { handler, registration } = prompt;
      const argumentNames = namesOf(registration.descriptor.arguments);
      return { kind: 'prompt', name, handler, registration, argumentNames };
    }
    if (type !== 'ref/resource') return '"ref.type" must be "ref/prompt" or "ref/resource"';
    if (typeof uri !== 'string') return '"ref.uri" must be a string';
    const resource = this.registry.templateOf(uri);
    if (!resource) return `unknown resource template ${quote(uri)}`;
    const { handler, registration } = resource;
    return {
      kind: 'resource',
      name: uri,
      handler,
      registration,
      argumentNames: namesOf(registration.template!.variables),
    };
  }
}

function namesOf(named: readonly { readonly name: string }[]): string[] {
  return named.map(({ name }) => name);
}

/** The arguments that are filled in already. Source: Completion, 2025-06-18. */
function filledOf(params: JsonObject | undefined): Record<string, string> | string {
  const context = params?.['context'];
  if (context === undefined) return {};
  const filled = isObject(context) ? (context['arguments'] ?? {}) : undefined;
  if (!isObject(filled) || !Object.values(filled).every((value) => typeof value === 'string'))
    return '"context.arguments" must be an object of texts';
  return filled as Record<string, string>;
}

/** The choices that begin like that, whatever the case. */
function matching(choices: readonly string[], typed: string): CompletionResult {
  const start = typed.toLowerCase();
  const found = choices.filter((choice) => choice.toLowerCase().startsWith(start));
  return {
    values: found.slice(0, MOST_VALUES),
    total: found.length,
    hasMore: found.length > MOST_VALUES,
  };
}

import type { Catalog } from '../discovery/catalog.js';
import type { PromptRegistration } from '../discovery/registration.js';
import { roughSize, type PromptResult } from '../protocol/content.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { isObject, quote } from '../protocol/json-rpc.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import { endedError, invalidParams } from './answers.js';
import type { CallRunner, ResultWriter } from './call.runner.js';

/** `prompts/get`. Source: Prompts, all revisions. */
export class PromptsHandler {
  private readonly writer: ResultWriter<PromptResult>;

  constructor(
    private readonly prompts: Catalog<PromptRegistration, PromptResult>,
    private readonly runner: CallRunner,
    encoder: ResultEncoder,
  ) {
    this.writer = {
      roughSize: ({ messages }) => messages.reduce((sum, { content }) => sum + roughSize(content), 0),
      encode: (value, revision) => encoder.promptResult(value, revision),
      ended: endedError,
    };
  }

  get(delivery: Delivery): Answer | Promise<Answer> {
    const { params } = delivery.request;
    const name = params?.['name'];
    if (typeof name !== 'string') return invalidParams('"name" must be a string');
    const prompt = this.prompts.find(name);
    if (!prompt) return invalidParams(`unknown prompt ${quote(name)}`);
    const raw = Object.hasOwn(params!, 'arguments') ? params!['arguments'] : {};
    if (!isObject(raw)) return invalidParams('"arguments" must be an object');
    const bad = Object.keys(raw).find((argument) => typeof raw[argument] !== 'string');
    if (bad !== undefined) return invalidParams(`"arguments": ${quote(bad)} must be a text`);
    const { handler, registration } = prompt;
    return this.runner.run(delivery, {
      name,
      handler,
      raw,
      timeout: registration.timeout,
      writer: this.writer,
    });
  }
}

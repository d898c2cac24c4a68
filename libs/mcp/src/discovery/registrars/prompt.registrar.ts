import { Injectable } from '@nestjs/common';
import type { McpPromptOptions } from '../../decorators/prompt.decorator.js';
import { argumentsOf } from '../../schema/forms/text-values.js';
import { textContract } from '../../schema/forms/text.contract.js';
import { HandlerBinder, registrationOf } from '../handler.binder.js';
import { NAMED_OPTIONS, OptionChecks } from '../option.checks.js';
import type { HandlerLocation, PromptRegistration } from '../registration.js';
import { checkedName, placeOf, type Draft } from './draft.js';

/** All that may be said of a prompt. */
export const PROMPT_OPTIONS: readonly string[] = [
  ...NAMED_OPTIONS,
  'args',
  'timeout',
] satisfies (keyof McpPromptOptions)[];

/** Turns methods into prompts; refuses every mistake it can see. */
@Injectable()
export class PromptRegistrar {
  constructor(private readonly binder: HandlerBinder) {}

  draft(location: HandlerLocation, options: McpPromptOptions): Draft<PromptRegistration> {
    const { where } = location;
    const name = checkedName('prompt', options.name ?? location.methodName, where, (message) =>
      this.binder.warn(message),
    );
    const checks = new OptionChecks('prompt', where);
    checks.names(PROMPT_OPTIONS, options);
    checks.named(options);
    checks.timeout(options.timeout);
    checks.schema('args', options.args);
    const bound = this.binder.bind(location, { kind: 'prompt', option: 'args', input: options.args });
    return {
      key: name,
      label: name,
      place: placeOf(location),
      complete: async () => {
        const contract = textContract(await this.binder.contract(bound, 'prompt'));
        const { title, description, icons, meta } = options;
        return {
          ...registrationOf(bound, contract, options.timeout),
          descriptor: { name, title, description, icons, meta, arguments: argumentsOf(contract.schema) },
        };
      },
    };
  }
}

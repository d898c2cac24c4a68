import { UnknownCompletionTargetException } from './boot.exceptions.js';
import type { CompletionRegistration, PromptRegistration, ResourceRegistration } from './registration.js';

/** Where what is completed is looked up. */
interface Targets {
  readonly prompts: { find(name: string): { readonly registration: PromptRegistration } | undefined };
  templateOf(uri: string): { readonly registration: ResourceRegistration } | undefined;
}

/** Refuses a completion of what is not there: it would never be asked for. */
export function assertTarget({ of, location: { where } }: CompletionRegistration, targets: Targets): void {
  const known =
    of.kind === 'prompt'
      ? targets.prompts.find(of.name)?.registration.descriptor.arguments
      : targets.templateOf(of.name)?.registration.template?.variables;
  if (!known)
    throw new UnknownCompletionTargetException(
      where,
      `names the ${of.kind} ${JSON.stringify(of.name)}, which is not there: write it as it is declared`,
    );
  const names = known.map(({ name }) => name);
  if (!names.includes(of.argument))
    throw new UnknownCompletionTargetException(
      where,
      `names the argument ${JSON.stringify(of.argument)}, but ${JSON.stringify(of.name)} has ` +
        (names.length === 0 ? 'none' : names.join(', ')),
    );
}

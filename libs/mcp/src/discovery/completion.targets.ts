import { UnknownCompletionTargetException } from './boot.exceptions.js';
import type { CompletionRegistration, PromptRegistration, ResourceRegistration } from './registration.js';

/** Where what is completed is looked up. */
interface Targets {
  readonly prompts: { find(name: string): { readonly registration: PromptRegistration } | undefined };
  readonly resources: { has(address: string): boolean };
  templateOf(uri: string): { readonly registration: ResourceRegistration } | undefined;
}

/** Refuses a completion of what is not there: it would never be asked for. */
export function assertTarget({ of, location: { where } }: CompletionRegistration, targets: Targets): void {
  const known =
    of.kind === 'prompt'
      ? targets.prompts.find(of.name)?.registration.descriptor.arguments
      : targets.templateOf(of.name)?.registration.template?.variables;
  const name = JSON.stringify(of.name);
  if (!known) {
    const isFixed = of.kind === 'resource' && !of.name.includes('{') && targets.resources.has(of.name);
    const what = of.kind === 'prompt' ? 'prompt' : 'resource template';
    throw new UnknownCompletionTargetException(
      where,
      isFixed
        ? `names ${name}, a fixed address, which has no variables: a template has, with names in braces`
        : `names the ${what} ${name}, which is not there: write it as it is declared`,
    );
  }
  const names = known.map((one) => one.name);
  if (names.includes(of.argument)) return;
  throw new UnknownCompletionTargetException(
    where,
    `names the argument ${JSON.stringify(of.argument)}, but ${name} has ` +
      (names.length === 0 ? 'none: declare it there first' : `${names.join(', ')}: write one of these`),
  );
}

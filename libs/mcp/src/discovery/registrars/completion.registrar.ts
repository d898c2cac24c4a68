import { Injectable } from '@nestjs/common';
import type { McpCompletionOf } from '../../decorators/completion.decorator.js';
import { emptyContract } from '../../schema/contract.factory.js';
import { UnknownCompletionTargetException } from '../boot.exceptions.js';
import { HandlerBinder, registrationOf } from '../handler.binder.js';
import type { CompletionRegistration, CompletionTarget, HandlerLocation } from '../registration.js';
import { placeOf, type Draft } from './draft.js';

/** Turns methods into completions; refuses every mistake it can see. */
@Injectable()
export class CompletionRegistrar {
  constructor(private readonly binder: HandlerBinder) {}

  draft(location: HandlerLocation, options: McpCompletionOf): Draft<CompletionRegistration> {
    const of = targetOf(options, location.where);
    const bound = this.binder.bindCompletion(location);
    return {
      key: completionKey(of),
      label: `${of.argument} of ${of.name}`,
      place: placeOf(location),
      // What was typed is a part of a value, so no schema can judge it.
      complete: () => Promise.resolve({ ...registrationOf(bound, emptyContract, undefined), of }),
    };
  }
}

/** What a completion is found by. */
export function completionKey({ kind, name, argument }: CompletionTarget): string {
  return `${kind} ${name} ${argument}`;
}

function targetOf(options: McpCompletionOf, where: string): CompletionTarget {
  const { prompt, resource, argument, ...unknown } = (options ?? {}) as Record<string, unknown>;
  const isTold = typeof (prompt ?? resource) === 'string' && typeof argument === 'string';
  if (!isTold || (prompt !== undefined && resource !== undefined) || Object.keys(unknown).length > 0) {
    throw new UnknownCompletionTargetException(
      where,
      "needs what it completes: { prompt: 'triage', argument: 'id' } or { resource: 'ticket://{id}', argument: 'id' }",
    );
  }
  return prompt === undefined
    ? { kind: 'resource', name: resource as string, argument: argument as string }
    : { kind: 'prompt', name: prompt as string, argument: argument as string };
}

import type { CompletionResult } from '../../protocol/content.js';
import { mapCompletion } from '../completion.mapper.js';
import type { ResultBounds } from '../value-source.js';
import { MappedOutcomes } from './mapped.outcomes.js';

/** What a completion gives. */
export class CompletionOutcomes extends MappedOutcomes<CompletionResult> {
  returned(value: unknown, bounds: ResultBounds): CompletionResult | Promise<CompletionResult> {
    return mapCompletion(value, bounds);
  }
}

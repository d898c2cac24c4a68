import type { PromptResult } from '../../protocol/content.js';
import { mapPrompt } from '../prompt.mapper.js';
import type { ResultBounds } from '../value-source.js';
import { MappedOutcomes } from './mapped.outcomes.js';

/** What a prompt gives. */
export class PromptOutcomes extends MappedOutcomes<PromptResult> {
  returned(value: unknown, bounds: ResultBounds): PromptResult | Promise<PromptResult> {
    return mapPrompt(value, bounds);
  }
}

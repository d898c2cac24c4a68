import type { McpRevision } from '../versions.js';
import { McpAskError } from './ask-error.js';

/** The first revisions that have elicitation, and its url mode, and tools in sampling. */
export const FIRST_WITH_ELICITATION = '2025-06-18';
export const FIRST_WITH_URLS = '2025-11-25';
export const FIRST_WITH_TOOLS = '2025-11-25';

/**
 * Refuses to ask for what a client's revision does not have.
 *
 * @throws McpAskError `unsupported`
 */
export function assertHas(revision: McpRevision, first: string, what: string): void {
  if (revision < first)
    throw new McpAskError('unsupported', `A client of ${revision} has no ${what}: it came with ${first}`);
}

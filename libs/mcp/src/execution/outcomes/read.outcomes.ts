import type { ResourceRegistration } from '../../discovery/registration.js';
import type { McpContext } from '../../protocol/call-context.js';
import type { ReadResult } from '../../protocol/content.js';
import { resourceNotFound } from '../../protocol/resource-errors.js';
import type { ExceptionMapper } from '../exception.mapper.js';
import { mapRead } from '../resource.mapper.js';
import type { ResultBounds } from '../value-source.js';
import { MappedOutcomes } from './mapped.outcomes.js';

/** What a resource gives. The address of a call is the context's name. */
export class ReadOutcomes extends MappedOutcomes<ReadResult> {
  private readonly mimeType: string | undefined;

  constructor(exceptions: ExceptionMapper, { descriptor }: ResourceRegistration) {
    super(exceptions);
    this.mimeType = descriptor.mimeType;
  }

  async returned(value: unknown, bounds: ResultBounds, { name: uri, era }: McpContext): Promise<ReadResult> {
    const { mimeType } = this;
    const read = await mapRead(value, bounds, mimeType === undefined ? { uri } : { uri, mimeType });
    if (!read) throw resourceNotFound(uri, era);
    return read;
  }
}

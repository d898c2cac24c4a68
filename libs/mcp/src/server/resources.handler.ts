import { roughSizeOf, type ReadResult } from '../protocol/content.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import type { CacheHints } from '../protocol/descriptors.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import { endedError } from './answers.js';
import type { CallRunner, ResultWriter } from './call.runner.js';
import type { ResourceFinder } from './resource.finder.js';

/** `resources/read`. Source: Resources, all revisions. */
export class ResourcesHandler {
  private readonly writers = new WeakMap<CacheHints, ResultWriter<ReadResult>>();

  constructor(
    private readonly finder: ResourceFinder,
    private readonly runner: CallRunner,
    private readonly encoder: ResultEncoder,
  ) {}

  read(delivery: Delivery): Promise<Answer> {
    const { request, origin } = delivery;
    const { uri, resource, raw } = this.finder.find(request.params?.['uri'], origin.era);
    const { handler, registration } = resource;
    return this.runner.run(delivery, {
      name: uri,
      handler,
      raw,
      timeout: registration.timeout,
      writer: this.writer(registration.cache),
    });
  }

  private writer(cache: CacheHints): ResultWriter<ReadResult> {
    let writer = this.writers.get(cache);
    if (!writer) {
      writer = {
        roughSize: ({ contents }) => roughSizeOf(contents),
        encode: (value, revision) => this.encoder.readResult(value, revision, cache),
        ended: endedError,
      };
      this.writers.set(cache, writer);
    }
    return writer;
  }
}

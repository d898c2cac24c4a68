import type { Catalog, Exposed } from '../discovery/catalog.js';
import type { ResourceRegistration } from '../discovery/registration.js';
import type { ReadResult } from '../protocol/content.js';
import type { JsonObject } from '../protocol/json-rpc.js';
import { invalidUri, resourceNotFound } from '../protocol/resource-errors.js';
import { isUri } from '../protocol/uri.js';
import type { McpEra } from '../protocol/versions.js';

type ReadyResource = Exposed<ResourceRegistration, ReadResult>;

/** A resource with the variables of its address. */
export interface FoundResource {
  readonly uri: string;
  readonly resource: ReadyResource;
  readonly raw: JsonObject;
}

/** Finds what an address names: a fixed address first, then templates in the order they were registered. */
export class ResourceFinder {
  private templates: readonly ReadyResource[] = [];
  private version = -1;

  constructor(private readonly resources: Catalog<ResourceRegistration, ReadResult>) {}

  /** @throws McpError where the text is no URI, or names nothing */
  find(uri: unknown, era: McpEra): FoundResource {
    if (!isUri(uri)) throw invalidUri(uri);
    const fixed = this.resources.find(uri);
    if (fixed) return { uri, resource: fixed, raw: {} };
    for (const resource of this.listedTemplates()) {
      const variables = resource.registration.template!.match(uri);
      if (variables) return { uri, resource, raw: { ...variables } };
    }
    throw resourceNotFound(uri, era);
  }

  private listedTemplates(): readonly ReadyResource[] {
    const { resources } = this;
    if (this.version !== resources.version) {
      this.version = resources.version;
      this.templates = [...resources.exposed()].filter(({ registration }) => registration.template);
    }
    return this.templates;
  }
}

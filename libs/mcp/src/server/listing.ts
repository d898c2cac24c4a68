import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { PagedList, type Page } from '../protocol/pagination.js';
import type { McpRevision } from '../protocol/versions.js';
import { invalidParams } from './answers.js';

/** What is listed, and how. */
export interface ListingSource {
  readonly method: string;
  readonly pageSize: number;
  /** Grows whenever `items` gives something else. */
  version(): number;
  /** Name and JSON text of each item in the words of that revision, in order. */
  items(revision: McpRevision): Iterable<{ readonly name: string; readonly json: string }>;
  /** The result around a page. */
  result(page: Page, revision: McpRevision): string;
}

/** A list that is ready as bytes: made at start, and again by the first who asks after a change. */
export class Listing {
  private version = -1;
  private readonly lists = new Map<McpRevision, { pages: PagedList; results: WeakMap<Page, string> }>();

  constructor(private readonly source: ListingSource) {}

  answer({ request, origin }: Delivery): Answer {
    const cursor = request.params?.['cursor'];
    if (cursor !== undefined && typeof cursor !== 'string') return invalidParams('"cursor" must be a string');
    const { pages, results } = this.list(origin.revision);
    const page = pages.page(cursor);
    if (!page) return invalidParams(`"cursor" is not one that ${this.source.method} gave`);
    let result = results.get(page);
    if (result === undefined) results.set(page, (result = this.source.result(page, origin.revision)));
    return { result };
  }

  /** Makes the first page of each of these revisions. */
  prepare(revisions: readonly McpRevision[]): void {
    for (const revision of revisions) this.list(revision).pages.page(undefined);
  }

  private list(revision: McpRevision) {
    const { source } = this;
    const version = source.version();
    if (version !== this.version) {
      this.lists.clear();
      this.version = version;
    }
    let list = this.lists.get(revision);
    if (!list) {
      const pages = new PagedList(source.method, [...source.items(revision)], source.pageSize);
      this.lists.set(revision, (list = { pages, results: new WeakMap() }));
    }
    return list;
  }
}

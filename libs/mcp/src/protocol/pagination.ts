import { createHash } from 'node:crypto';

/** A page of a list as JSON text of its items, and the cursor of the next page. */
export interface Page {
  readonly items: string;
  readonly next: string | undefined;
}

/**
 * A list cut into pages once. A cursor names the item its page follows, by digest: it is the same after
 * a restart and on every instance, tells nothing, and one that was not handed out is simply unknown.
 * Source: Pagination, all revisions.
 */
export class PagedList {
  private readonly pages = new Map<string | undefined, Page>();

  /**
   * @param kind what is listed, so that a cursor of one list is unknown to another
   * @param items name and JSON text of each item, in order
   * @param pageSize items on a page
   */
  constructor(kind: string, items: readonly { name: string; json: string }[], pageSize: number) {
    let cursor: string | undefined;
    for (let start = 0; start === 0 || start < items.length; start += pageSize) {
      const page = items.slice(start, start + pageSize);
      const isLast = start + pageSize >= items.length;
      const next = isLast ? undefined : cursorAfter(kind, page.at(-1)!.name);
      this.pages.set(cursor, { items: page.map((item) => item.json).join(','), next });
      cursor = next;
    }
  }

  /** The page of a cursor, the first without one; nothing for a cursor that was never given out. */
  page(cursor: string | undefined): Page | undefined {
    return this.pages.get(cursor);
  }

  /** Every page with the cursor that leads to it. */
  entries(): Iterable<[string | undefined, Page]> {
    return this.pages;
  }
}

function cursorAfter(kind: string, name: string): string {
  return createHash('sha256').update(`${kind}\0${name}`).digest('base64url').slice(0, 22);
}

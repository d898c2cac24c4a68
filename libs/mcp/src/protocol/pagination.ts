import { createHash } from 'node:crypto';

/** A page of a list as JSON text of its items, and the cursor of the next page. */
export interface Page {
  readonly items: string;
  readonly next: string | undefined;
}

/** Characters of a cursor: 132 bits of the digest. */
const CURSOR_LENGTH = 22;

/**
 * A list in pages. A cursor names the item its page follows, by digest: it is the same after a restart and on
 * every instance, tells nothing, and one that names no item of the list is simply unknown. So whatever comes or
 * goes elsewhere in the list between two pages, none of the items that stay is lost or repeated.
 * Source: Pagination, all revisions.
 */
export class PagedList {
  /** By the index of the first item. Only of the pages that a list has when it is read from its start. */
  private readonly pages = new Map<number, Page>();
  private starts: ReadonlyMap<string, number> | undefined;

  /**
   * @param kind what is listed, so that a cursor of one list is unknown to another
   * @param items name and JSON text of each item, in order; the names are unique
   * @param pageSize items on a page
   */
  constructor(
    private readonly kind: string,
    private readonly items: readonly { readonly name: string; readonly json: string }[],
    private readonly pageSize: number,
  ) {}

  /** The page of a cursor, the first without one; nothing for a cursor that names no item. */
  page(cursor: string | undefined): Page | undefined {
    const start = cursor === undefined ? 0 : this.startOf(cursor);
    if (start === undefined) return undefined;
    const known = this.pages.get(start);
    if (known) return known;
    const page = this.pageAt(start);
    if (start % this.pageSize === 0) this.pages.set(start, page);
    return page;
  }

  /** A list that nobody asks for a second page needs no digests but those of the cursors it gives. */
  private startOf(cursor: string): number | undefined {
    if (cursor.length !== CURSOR_LENGTH) return undefined;
    this.starts ??= new Map(this.items.map(({ name }, index) => [cursorAfter(this.kind, name), index + 1]));
    return this.starts.get(cursor);
  }

  private pageAt(start: number): Page {
    const end = start + this.pageSize;
    const page = this.items.slice(start, end);
    return {
      items: page.map((item) => item.json).join(','),
      next: end < this.items.length ? cursorAfter(this.kind, page.at(-1)!.name) : undefined,
    };
  }
}

function cursorAfter(kind: string, name: string): string {
  return createHash('sha256').update(`${kind}\0${name}`).digest('base64url').slice(0, CURSOR_LENGTH);
}

import { PagedList } from './pagination.js';

const items = Array.from({ length: 250 }, (_, index) => ({ name: `tool-${index}`, json: String(index) }));

function follow(list: PagedList): { numbers: number[]; sizes: number[]; cursors: string[] } {
  const numbers: number[] = [];
  const sizes: number[] = [];
  const cursors: string[] = [];
  let cursor: string | undefined;
  do {
    const page = list.page(cursor)!;
    const found = JSON.parse(`[${page.items}]`) as number[];
    numbers.push(...found);
    sizes.push(found.length);
    cursor = page.next;
    if (cursor !== undefined) cursors.push(cursor);
  } while (cursor !== undefined);
  return { numbers, sizes, cursors };
}

describe('PagedList', () => {
  it('J10: gives 250 items in pages of 100 without loss or repeat, in order', () => {
    const { numbers, sizes } = follow(new PagedList('tools', items, 100));
    expect(numbers).toEqual(items.map((_, index) => index));
    expect(sizes).toEqual([100, 100, 50]);
  });

  it.each([
    [0, 100, [0]],
    [1, 100, [1]],
    [100, 100, [100]],
    [101, 100, [100, 1]],
    [3, 1, [1, 1, 1]],
  ])('cuts %d items by %d into pages of %j', (count, pageSize, sizes) => {
    expect(follow(new PagedList('tools', items.slice(0, count), pageSize)).sizes).toEqual(sizes);
  });

  it('J10: gives the same cursors when it is built again', () => {
    const [first, second] = [100, 100].map((size) => follow(new PagedList('tools', items, size)).cursors);
    expect(first).toEqual(second);
    expect(first).toHaveLength(2);
  });

  it('keeps a cursor good when the list grows behind it', () => {
    const [cursor] = follow(new PagedList('tools', items.slice(0, 150), 100)).cursors;
    expect(new PagedList('tools', items, 100).page(cursor)?.items.split(',')[0]).toBe('100');
  });

  it.each(['garbage', '', '0', 'MTAw', 'a'.repeat(1024 * 1024), '__proto__', 'undefined'])(
    'J10: does not know a cursor that it never gave',
    (cursor) => {
      expect(new PagedList('tools', items, 100).page(cursor)).toBeUndefined();
    },
  );

  it('does not know the cursor of another list', () => {
    const { cursors } = follow(new PagedList('prompts', items, 100));
    expect(new PagedList('tools', items, 100).page(cursors[0])).toBeUndefined();
  });

  it('tells nothing by its cursors', () => {
    const { cursors } = follow(new PagedList('tools', items, 100));
    for (const cursor of cursors) expect(cursor).toMatch(/^[\w-]{22}$/);
  });

  it('lists every page with the cursor that leads to it', () => {
    const list = new PagedList('tools', items, 100);
    const keys = Array.from(list.entries(), ([cursor]) => cursor);
    expect(keys).toEqual([undefined, ...follow(list).cursors]);
  });
});

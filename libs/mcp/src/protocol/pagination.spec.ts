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

  it('makes a page once and keeps it', () => {
    const list = new PagedList('tools', items, 100);
    const cursor = list.page(undefined)!.next;
    expect(list.page(undefined)).toBe(list.page(undefined));
    expect(list.page(cursor)).toBe(list.page(cursor));
  });
});

describe('J10: a list that changes between two pages', () => {
  const firstPage = new PagedList('tools', items, 100).page(undefined)!;
  const rest = (changed: typeof items) => {
    const list = new PagedList('tools', changed, 100);
    const numbers: number[] = [];
    for (let cursor = firstPage.next; cursor !== undefined;) {
      const page = list.page(cursor)!;
      numbers.push(...(JSON.parse(`[${page.items}]`) as number[]));
      cursor = page.next;
    }
    return numbers;
  };
  const numbers = items.map((_, index) => index);
  const added = { name: 'new', json: '-1' };

  it('loses and repeats nothing where an item came before', () => {
    expect(rest([added, ...items])).toEqual(numbers.slice(100));
    expect(rest([...items.slice(0, 50), added, ...items.slice(50)])).toEqual(numbers.slice(100));
  });

  it('shows an item that came behind', () => {
    expect(rest([...items.slice(0, 100), added, ...items.slice(100)])).toEqual([-1, ...numbers.slice(100)]);
    expect(rest([...items, added])).toEqual([...numbers.slice(100), -1]);
  });

  it('loses and repeats nothing where an item went before or behind', () => {
    expect(rest(items.filter((_, index) => index !== 7))).toEqual(numbers.slice(100));
    expect(rest(items.filter((_, index) => index !== 107))).toEqual(
      numbers.slice(100).filter((number) => number !== 107),
    );
    expect(rest(items.slice(60))).toEqual(numbers.slice(100));
  });

  it('ends where all the rest went, even if one page holds what stayed', () => {
    const list = new PagedList('tools', items.slice(50, 100), 100);
    expect(list.page(firstPage.next)).toEqual({ items: '', next: undefined });
  });

  it('does not know a cursor whose item went', () => {
    const list = new PagedList(
      'tools',
      items.filter((_, index) => index !== 99),
      100,
    );
    expect(list.page(firstPage.next)).toBeUndefined();
  });

  it('keeps no page that starts elsewhere than a full reading does', () => {
    const list = new PagedList('tools', [added, ...items], 100);
    const [first, second] = [1, 2].map(() => list.page(firstPage.next));
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });
});

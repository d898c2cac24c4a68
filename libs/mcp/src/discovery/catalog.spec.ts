import { DuplicateHandlerException } from './boot.exceptions.js';
import { Catalog } from './catalog.js';

type Item = Parameters<ReturnType<Catalog<string, never>['reserve']>['settle']>[0];

const item = (registration: string): Item => ({ registration, handler: undefined as never });

function catalogOf() {
  let changes = 0;
  const catalog = new Catalog<string, never>('tool', () => void changes++);
  const reserve = (key: string, replaces = false) =>
    catalog.reserve({ key, label: key, place: `the place of ${key}` }, replaces ? 'replace' : 'new');
  const add = (key: string, value = key, replaces = false) => reserve(key, replaces).settle(item(value));
  const listed = () => [...catalog.exposed()].map(({ registration }) => registration);
  return { catalog, reserve, add, listed, changes: () => changes };
}

describe('Catalog', () => {
  it('lists in the order in which names were taken, not in that in which they were ready', () => {
    const { catalog, reserve, listed } = catalogOf();
    const [first, second] = [reserve('a'), reserve('b')];
    second.settle(item('b'));
    expect([listed(), catalog.find('a'), catalog.has('a')]).toEqual([['b'], undefined, true]);
    first.settle(item('a'));
    expect(listed()).toEqual(['a', 'b']);
  });

  it('refuses a name that is taken, also by what is not ready or disabled', () => {
    const { catalog, reserve, add } = catalogOf();
    reserve('waiting');
    add('off');
    catalog.setEnabled('off', false);
    expect(() => reserve('waiting')).toThrow(DuplicateHandlerException);
    expect(() => reserve('off')).toThrow('by the place of off and by the place of off');
  });

  it('replaces in place', () => {
    const { add, listed } = catalogOf();
    add('a');
    add('b');
    expect(add('a', 'new a', true)).toBe(true);
    expect(listed()).toEqual(['new a', 'b']);
  });

  it('has what was asked for last, whichever is ready first', () => {
    const { reserve, add, listed } = catalogOf();
    add('a');
    const [second, third] = [reserve('a', true), reserve('a', true)];
    expect(third.settle(item('third'))).toBe(true);
    expect(second.settle(item('second'))).toBe(false);
    expect(listed()).toEqual(['third']);
    const [fourth, fifth] = [reserve('a', true), reserve('a', true)];
    expect([fourth.settle(item('fourth')), fifth.settle(item('fifth'))]).toEqual([true, true]);
    expect(listed()).toEqual(['fifth']);
  });

  it('gives a name back where what it was for cannot be made, but not what was there, or is still to come', () => {
    const { catalog, reserve, add, listed } = catalogOf();
    reserve('a').drop();
    expect(catalog.has('a')).toBe(false);
    add('b');
    reserve('b', true).drop();
    expect(listed()).toEqual(['b']);
    const [failing, replacing] = [reserve('c'), reserve('c', true)];
    failing.drop();
    expect(catalog.has('c')).toBe(true);
    expect(replacing.settle(item('c'))).toBe(true);
    expect(listed()).toEqual(['b', 'c']);
  });

  it('exposes nothing that was removed before it was ready, though the name was taken again', () => {
    const { catalog, reserve, listed } = catalogOf();
    const first = reserve('a');
    expect(catalog.remove('a')).toBe(true);
    const second = reserve('a');
    expect(first.settle(item('first'))).toBe(false);
    first.drop();
    expect(second.settle(item('second'))).toBe(true);
    expect(listed()).toEqual(['second']);
  });

  it('hides what is disabled, keeps its name, and shows it again in its place', () => {
    const { catalog, add, listed } = catalogOf();
    add('a');
    add('b');
    expect(catalog.setEnabled('a', false)).toBe(true);
    expect([listed(), catalog.find('a'), catalog.has('a')]).toEqual([['b'], undefined, true]);
    expect(catalog.setEnabled('a', true)).toBe(true);
    expect(listed()).toEqual(['a', 'b']);
    expect(catalog.setEnabled('never', true)).toBe(false);
  });

  it('counts and tells only what changes what can be found', () => {
    const { catalog, reserve, add, changes } = catalogOf();
    const waiting = reserve('waiting');
    catalog.setEnabled('waiting', false);
    catalog.remove('never');
    reserve('dropped').drop();
    expect([changes(), catalog.version, catalog.isOffered]).toEqual([0, 0, false]);
    waiting.settle(item('waiting'));
    add('a');
    catalog.setEnabled('a', true);
    catalog.setEnabled('a', false);
    catalog.remove('a');
    expect([changes(), catalog.version, catalog.isOffered]).toEqual([3, 3, true]);
    // What was promised to clients once is not taken back.
    catalog.remove('waiting');
    expect(catalog.isOffered).toBe(true);
  });

  it('finds names by what was registered, disabled ones too', () => {
    const { catalog, add, reserve } = catalogOf();
    add('a', 'x');
    add('b', 'x');
    add('c', 'y');
    reserve('d');
    catalog.setEnabled('b', false);
    expect(catalog.namesOf((registration) => registration === 'x')).toEqual(['a', 'b']);
  });

  it('gives a name that was to be replaced before it was declared to who asked for it', () => {
    const { catalog, reserve, listed } = catalogOf();
    const replacement = reserve('a', true);
    const declared = catalog.reserve({ key: 'a', label: 'a', place: 'the class' }, 'declared');
    expect(declared.settle(item('declared'))).toBe(true);
    replacement.settle(item('replacement'));
    expect(listed()).toEqual(['replacement']);
    expect(() => catalog.reserve({ key: 'b', label: 'b', place: 'the class' }, 'declared')).not.toThrow();
    reserve('c');
    expect(() => catalog.reserve({ key: 'c', label: 'c', place: 'the class' }, 'declared')).toThrow(
      DuplicateHandlerException,
    );
  });
});

import { jest } from '@jest/globals';
import type { JsonObject } from '../json-rpc.js';
import { digest, StateSealer, type StateBinding } from './state-sealer.js';

const TIME = 600_000;
const OLD = 'an old secret of at least 32 bytes';
const NEW = new Uint8Array(32).fill(7);
const CONTENT = {
  rounds: 1,
  answers: { a: { digest: 'x', answer: { action: 'accept' } } },
  asked: {},
  once: {},
};
const BINDING: StateBinding = {
  caller: 'ann',
  method: 'tools/call',
  name: 'book',
  args: { day: 'mon', room: { floor: 1, seat: 'A' } },
};
const sealer = new StateSealer([OLD], TIME);
const bytesOf = (state: string) => Buffer.from(state, 'base64url');
const json = (text: string) => JSON.parse(text) as JsonObject;

/** A generator of the same numbers in every run (mulberry32), each below `below`. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe('a sealed state', () => {
  it('is opened by what it was sealed for, and gives what was sealed', () => {
    const state = sealer.seal(CONTENT, BINDING);
    expect(state).toMatch(/^[\w-]+$/);
    expect(sealer.open(state, BINDING)).toEqual(CONTENT);
    expect(sealer.open(state, BINDING)).toEqual(CONTENT);
  });

  it('S-134: shows nothing of its content, and is another one each time', () => {
    const states = Array.from({ length: 50 }, () => sealer.seal(CONTENT, BINDING));
    expect(new Set(states).size).toBe(50);
    expect(new Set(states.map((state) => bytesOf(state).subarray(5, 17).toString('hex'))).size).toBe(50);
    for (const state of states) expect(bytesOf(state).toString('latin1')).not.toMatch(/accept|rounds|ann/);
  });

  it('keeps members of any name', () => {
    const content = json('{"once":{"__proto__":1,"constructor":2,"toString":3}}');
    const opened = sealer.open(sealer.seal(content, BINDING), BINDING);
    expect(JSON.stringify(opened)).toBe(JSON.stringify(content));
  });

  it('S-134: is refused with any single bit of it flipped', () => {
    const bytes = bytesOf(sealer.seal(CONTENT, BINDING));
    const opened = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      return sealer.open(changed.toString('base64url'), BINDING);
    });
    expect(opened.filter((content) => content !== undefined)).toEqual([]);
  });

  it('S-134: is refused cut to any length, as text and as bytes', () => {
    const state = sealer.seal(CONTENT, BINDING);
    const bytes = bytesOf(state);
    for (let length = 0; length < state.length; length++)
      expect(sealer.open(state.slice(0, length), BINDING)).toBeUndefined();
    for (let length = 0; length < bytes.length; length++)
      expect(sealer.open(bytes.subarray(0, length).toString('base64url'), BINDING)).toBeUndefined();
  });

  it('S-134: is refused in any other spelling of the same bytes, and with anything beside it', () => {
    // One byte more or less of content gives the texts of all three lengths.
    for (const pad of ['', 'x', 'xx']) {
      const state = sealer.seal({ pad }, BINDING);
      const bytes = bytesOf(state);
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const twins = Array.from(alphabet, (last) => state.slice(0, -1) + last).filter(
        (twin) => twin !== state,
      );
      const spelled = [
        `${state}=`,
        `${state}==`,
        ` ${state}`,
        `${state}\n`,
        `${state}\0`,
        `${state}é`,
        `${state}A`,
      ];
      const others = [...spelled, ...twins, bytes.toString('base64') + (state.length % 4 ? '' : '\t')];
      for (const other of others) expect([other, sealer.open(other, BINDING)]).toEqual([other, undefined]);
      expect(sealer.open(state, BINDING)).toEqual({ pad });
    }
  });

  it.each([
    '',
    'a',
    '=',
    'null',
    '{}',
    '\u0000',
    '💥',
    'A'.repeat(44),
    'A'.repeat(100_000),
    `${'_'.repeat(63)}`,
  ])('S-134: is not the text %j', (text) => {
    expect(sealer.open(text, BINDING)).toBeUndefined();
  });

  it('S-134: is refused after any of 2000 random changes', () => {
    const next = random(20_260_728);
    const bytes = bytesOf(sealer.seal(CONTENT, BINDING));
    const changes: ((given: Buffer) => Buffer)[] = [
      (given) => given.fill(next(256), next(given.length)),
      (given) => Buffer.concat([given, Buffer.from([next(256)])]),
      (given) => Buffer.concat([given.subarray(0, next(given.length)), given.subarray(next(given.length))]),
      (given) => given.map((byte) => (next(8) === 0 ? next(256) : byte)) as Buffer,
      (given) => {
        const [from, to] = [next(given.length), next(given.length)];
        [given[from], given[to]] = [given[to]!, given[from]!];
        return given;
      },
    ];
    for (let round = 0; round < 2_000; round++) {
      const changed = changes[next(changes.length)]!(Buffer.from(bytes));
      if (changed.equals(bytes)) continue;
      expect(sealer.open(Buffer.from(changed).toString('base64url'), BINDING)).toBeUndefined();
    }
    expect(sealer.open(bytes.toString('base64url'), BINDING)).toEqual(CONTENT);
  });
});

describe('the time of a state', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('S-134: is over one millisecond after its limit, not at it', () => {
    const state = sealer.seal(CONTENT, BINDING);
    jest.advanceTimersByTime(TIME);
    expect(sealer.open(state, BINDING)).toEqual(CONTENT);
    jest.advanceTimersByTime(1);
    expect(sealer.open(state, BINDING)).toBeUndefined();
    expect(sealer.open(sealer.seal(CONTENT, BINDING), BINDING)).toEqual(CONTENT);
  });
});

describe('what a state is bound to', () => {
  it.each<[string, Partial<StateBinding>]>([
    ['caller', { caller: 'bob' }],
    ['caller, where there is none', { caller: undefined }],
    ['caller, where it is a text like none', { caller: 'null' }],
    ['method', { method: 'prompts/get' }],
    ['name', { name: 'Book' }],
    ['arguments', { args: { day: 'tue', room: { floor: 1, seat: 'A' } } }],
    ['type of a value', { args: { day: 'mon', room: { floor: '1', seat: 'A' } } }],
    ['number of arguments', { args: { day: 'mon', room: { floor: 1, seat: 'A' }, more: null } }],
    ['arguments, where there are none', { args: undefined }],
    ['place of a member', { args: { day: 'mon', floor: 1, room: { seat: 'A' } } }],
  ])('S-134, S-140: is refused for another %s', (_, other) => {
    const state = sealer.seal(CONTENT, BINDING);
    expect(sealer.open(state, { ...BINDING, ...other })).toBeUndefined();
  });

  it('does not depend on the order of members, but on that of a list', () => {
    const state = sealer.seal(CONTENT, BINDING);
    const args = { room: { seat: 'A', floor: 1 }, day: 'mon' };
    expect(sealer.open(state, { ...BINDING, args })).toEqual(CONTENT);
    const listed = sealer.seal(CONTENT, { ...BINDING, args: { list: [1, 2] } });
    expect(sealer.open(listed, { ...BINDING, args: { list: [2, 1] } })).toBeUndefined();
  });

  it('S-134: has members named __proto__ as any other', () => {
    const [one, two, none] = ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', '{}'].map(json);
    const state = sealer.seal(CONTENT, { ...BINDING, args: one });
    expect(sealer.open(state, { ...BINDING, args: json('{"__proto__":{"a":1}}') })).toEqual(CONTENT);
    expect(sealer.open(state, { ...BINDING, args: two })).toBeUndefined();
    expect(sealer.open(state, { ...BINDING, args: none })).toBeUndefined();
  });

  it('S-134: cannot be shifted from one part into another', () => {
    const state = sealer.seal(CONTENT, { caller: 'a","b', method: 'c', name: 'd', args: undefined });
    expect(sealer.open(state, { caller: 'a', method: 'b","c', name: 'd', args: undefined })).toBeUndefined();
  });
});

describe('keys', () => {
  it('S-134: another key opens nothing, also one that is random', () => {
    const state = sealer.seal(CONTENT, BINDING);
    for (const keys of [[NEW], [`${OLD}.`], []])
      expect(new StateSealer(keys, TIME).open(state, BINDING)).toBeUndefined();
    const [one, two] = [new StateSealer([], TIME), new StateSealer([], TIME)];
    expect(one.open(one.seal(CONTENT, BINDING), BINDING)).toEqual(CONTENT);
    expect(two.open(one.seal(CONTENT, BINDING), BINDING)).toBeUndefined();
  });

  it('all open, and the newest seals', () => {
    const rotated = new StateSealer([NEW, OLD], TIME);
    expect(rotated.open(sealer.seal(CONTENT, BINDING), BINDING)).toEqual(CONTENT);
    const state = rotated.seal(CONTENT, BINDING);
    expect(sealer.open(state, BINDING)).toBeUndefined();
    expect(new StateSealer([NEW], TIME).open(state, BINDING)).toEqual(CONTENT);
  });

  it('are the same as text and as the bytes of it', () => {
    const bytes = new StateSealer([new Uint8Array(Buffer.from(OLD))], TIME);
    expect(bytes.open(sealer.seal(CONTENT, BINDING), BINDING)).toEqual(CONTENT);
  });
});

describe('digest', () => {
  it.each([
    ['{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', true],
    ['{"10":1,"9":2}', '{"9":2,"10":1}', true],
    ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}', true],
    ['{"__proto__":1}', '{}', false],
    ['[{"a":1}]', '{"0":{"a":1}}', false],
    ['"1"', '1', false],
    ['null', '{}', false],
  ])('of %s and %s is the same: %p', (one, two, isSame) => {
    expect(digest(JSON.parse(one)).equals(digest(JSON.parse(two)))).toBe(isSame);
  });
});

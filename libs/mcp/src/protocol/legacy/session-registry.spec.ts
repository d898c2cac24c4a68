import { jest } from '@jest/globals';
import { CallLifetime } from '../call-lifetime.js';
import { readId } from '../json-rpc.js';
import type { McpRevision } from '../versions.js';
import { LegacyPeer } from './legacy-peer.js';
import { Session, SessionRegistry, type SessionLimits } from './session-registry.js';

const client = { name: 'a', version: '1', capabilities: {} };
const MINUTE = 60_000;
const NOTHING = { tools: false, resources: false, prompts: false, completions: false };
const peerOf = (revision: McpRevision = '2025-11-25') => new LegacyPeer({ revision, client }, NOTHING);
const ignore = () => undefined;

const registryOf = (limits: Partial<SessionLimits> = {}) =>
  new SessionRegistry({ idle: 30 * MINUTE, max: 1000, maxPerCaller: 20, ...limits });
const open = (registry: SessionRegistry, owner?: string) => registry.open(peerOf(), owner, ignore);

function keepBusy(session: Session, token = '1'): CallLifetime {
  const lifetime = new CallLifetime();
  session.add(readId(token)!, lifetime);
  return lifetime;
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('session ids', () => {
  it('S-079, S-180: are 32 hexadecimal digits, and 100 000 of them are all different', () => {
    const ids = new Set<string>();
    for (let index = 0; index < 100_000; index++) ids.add(new Session(peerOf(), undefined, ignore).id);
    expect(ids.size).toBe(100_000);
    for (const id of [...ids].slice(0, 100)) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('finding a session', () => {
  it('E2: gives each client its own, with what initialize settled', () => {
    const registry = registryOf();
    const [first, second] = [open(registry, 'ann')!, registry.open(peerOf('2025-03-26'), 'bob', ignore)!];
    expect(first.id).not.toBe(second.id);
    expect(registry.find(first.id, 'ann')).toBe(first);
    expect(registry.find(second.id, 'bob')).toMatchObject({ revision: '2025-03-26', client });
  });

  it.each([
    ['ann', 'bob'],
    ['ann', undefined],
    [undefined, 'ann'],
  ])('takes the session of %p for unknown when %p asks, and does not count it as use', (owner, asker) => {
    const registry = registryOf();
    const session = open(registry, owner)!;
    jest.advanceTimersByTime(20 * MINUTE);
    expect(registry.find(session.id, asker)).toBeUndefined();
    jest.advanceTimersByTime(10 * MINUTE);
    expect(registry.find(session.id, owner)).toBeUndefined();
  });

  it.each(['', 'x', '0'.repeat(32), '__proto__', 'constructor'])('E1: does not know %p', (id) => {
    const registry = registryOf();
    open(registry);
    expect(registry.find(id, undefined)).toBeUndefined();
    expect(registry.size).toBe(1);
  });
});

describe('the idle time-out', () => {
  it('E6: ends a thousand abandoned sessions and leaves no timer', () => {
    const registry = registryOf();
    const sessions = Array.from({ length: 1000 }, () => open(registry)!);
    jest.advanceTimersByTime(30 * MINUTE - 1);
    expect(registry.size).toBe(1000);
    jest.advanceTimersByTime(1);
    expect(registry.size).toBe(0);
    expect(registry.find(sessions[0]!.id, undefined)).toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('counts from the last use', () => {
    const registry = registryOf();
    const [used, unused] = [open(registry)!, open(registry)!];
    jest.advanceTimersByTime(29 * MINUTE);
    registry.find(used.id, undefined);
    jest.advanceTimersByTime(MINUTE);
    expect(registry.size).toBe(1);
    expect(registry.find(unused.id, undefined)).toBeUndefined();
    jest.advanceTimersByTime(29 * MINUTE - 1);
    expect(registry.find(used.id, undefined)).toBe(used);
  });

  it('never ends a session that is busy, and starts over when it is not', () => {
    const registry = registryOf();
    const session = open(registry)!;
    const lifetime = keepBusy(session);
    jest.advanceTimersByTime(300 * MINUTE);
    expect(registry.size).toBe(1);
    expect(lifetime.isOpen).toBe(true);
    session.remove(readId('1')!);
    jest.advanceTimersByTime(61 * MINUTE);
    expect(registry.size).toBe(0);
  });

  it('frees the caller for new sessions', () => {
    const registry = registryOf({ maxPerCaller: 1 });
    keepBusy(open(registry, 'ann')!).finish();
    expect(open(registry, 'ann')).toBeUndefined();
    const other = registryOf({ maxPerCaller: 1 });
    open(other, 'ann');
    jest.advanceTimersByTime(30 * MINUTE);
    expect(other.size).toBe(0);
    expect(open(other, 'ann')).toBeDefined();
  });
});

describe('caps', () => {
  it('make room by ending the longest-idle session', () => {
    const registry = registryOf({ max: 2 });
    const [first, second] = [open(registry)!, open(registry)!];
    registry.find(first.id, undefined);
    const third = open(registry)!;
    expect(registry.size).toBe(2);
    expect(registry.find(second.id, undefined)).toBeUndefined();
    expect(registry.find(first.id, undefined)).toBe(first);
    expect(registry.find(third.id, undefined)).toBe(third);
  });

  it('pass over a busy session, however long ago it was used', () => {
    const registry = registryOf({ max: 2 });
    const [busy, idle] = [open(registry)!, open(registry)!];
    const lifetime = keepBusy(busy);
    expect(open(registry)).toBeDefined();
    expect(registry.find(busy.id, undefined)).toBe(busy);
    expect(registry.find(idle.id, undefined)).toBeUndefined();
    expect(lifetime.isOpen).toBe(true);
  });

  it('refuse when every session is busy', () => {
    const registry = registryOf({ max: 2 });
    [open(registry)!, open(registry)!].forEach((session) => keepBusy(session));
    expect(open(registry)).toBeUndefined();
    expect(registry.size).toBe(2);
  });

  it('of one caller end only sessions of that caller', () => {
    const registry = registryOf({ maxPerCaller: 2 });
    const others = open(registry, 'bob')!;
    const [first, second] = [open(registry, 'ann')!, open(registry, 'ann')!];
    const third = open(registry, 'ann')!;
    expect(registry.size).toBe(3);
    expect(registry.find(first.id, 'ann')).toBeUndefined();
    expect(registry.find(second.id, 'ann')).toBe(second);
    expect(registry.find(third.id, 'ann')).toBe(third);
    expect(registry.find(others.id, 'bob')).toBe(others);
  });

  it('of one caller refuse when all of that caller are busy, and others still get in', () => {
    const registry = registryOf({ maxPerCaller: 2 });
    [open(registry, 'ann')!, open(registry, 'ann')!].forEach((session) => keepBusy(session));
    expect(open(registry, 'ann')).toBeUndefined();
    expect(open(registry, 'bob')).toBeDefined();
    expect(open(registry)).toBeDefined();
  });

  it('of one caller do not apply without a caller', () => {
    const registry = registryOf({ maxPerCaller: 1 });
    for (let index = 0; index < 10; index++) open(registry);
    expect(registry.size).toBe(10);
  });
});

describe('ending a session', () => {
  it('E8: aborts what runs in it, once, and frees the caller', () => {
    const registry = registryOf({ maxPerCaller: 1 });
    const session = open(registry, 'ann')!;
    const lifetime = keepBusy(session);
    registry.end(session);
    registry.end(session);
    expect(lifetime.endReason).toBe('cancelled');
    expect(registry.find(session.id, 'ann')).toBeUndefined();
    expect(open(registry, 'ann')).toBeDefined();
    expect(registry.size).toBe(1);
  });

  it('counts a caller down once when a session is ended twice', () => {
    const registry = registryOf({ maxPerCaller: 2 });
    const [first, second] = [open(registry, 'ann')!, open(registry, 'ann')!];
    registry.end(first);
    registry.end(first);
    keepBusy(second);
    keepBusy(open(registry, 'ann')!);
    expect(open(registry, 'ann')).toBeUndefined();
  });

  it('of the whole registry leaves neither session nor timer', () => {
    const registry = registryOf();
    open(registry, 'ann');
    registry.close();
    expect(registry.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});

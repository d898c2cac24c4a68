import { jest } from '@jest/globals';
import { CallLifetime } from './call-lifetime.js';
import { Channel, InFlight } from './in-flight.js';
import { readId } from './json-rpc.js';

const idOf = (token: string) => readId(token)!;

interface Running {
  readonly lifetime: CallLifetime;
  readonly end: Promise<unknown>;
  resolve(value: string): void;
  reject(error: Error): void;
}

function start(inFlight: InFlight, token = '1', channel?: Channel, timeLimit = 1000): Running {
  const lifetime = new CallLifetime();
  let settle!: { resolve(value: string): void; reject(error: Error): void };
  const work = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const end = inFlight.follow(idOf(token), lifetime, channel, timeLimit, work);
  return { lifetime, end, ...settle };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a call in flight', () => {
  it('gives what its handler gives and frees its slot', async () => {
    const inFlight = new InFlight(2);
    const channel = new Channel();
    const call = start(inFlight, '1', channel);
    expect([inFlight.size, channel.isBusy, channel.has(idOf('1'))]).toEqual([1, true, true]);
    call.resolve('done');
    expect(await call.end).toEqual({ value: 'done' });
    expect([inFlight.size, channel.isBusy, call.lifetime.isOpen]).toEqual([0, false, false]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects as its handler does and frees its slot', async () => {
    const inFlight = new InFlight(2);
    const channel = new Channel();
    const call = start(inFlight, '1', channel);
    call.reject(new Error('no'));
    await expect(call.end).rejects.toThrow('no');
    expect([inFlight.size, channel.isBusy]).toEqual([0, false]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends at its time limit, not before, and a late result is dropped', async () => {
    const inFlight = new InFlight(2);
    const call = start(inFlight, '1', new Channel(), 1000);
    jest.advanceTimersByTime(999);
    expect(call.lifetime.isOpen).toBe(true);
    jest.advanceTimersByTime(1);
    expect(await call.end).toEqual({ ended: 'timeout' });
    expect(call.lifetime.signal.aborted).toBe(true);
    expect(inFlight.size).toBe(0);
    call.resolve('late');
    await Promise.resolve();
    expect(await call.end).toEqual({ ended: 'timeout' });
  });

  it('drops a late rejection without leaving it unhandled', async () => {
    const call = start(new InFlight(2));
    call.lifetime.end('cancelled');
    call.reject(new Error('late'));
    expect(await call.end).toEqual({ ended: 'cancelled' });
  });

  it('leaves a later call with the same id alone when it settles late', async () => {
    const inFlight = new InFlight(2);
    const channel = new Channel();
    const [late, failing] = [start(inFlight, '1', channel), start(inFlight, '2', channel)];
    channel.endAll('cancelled');
    const later = [start(inFlight, '1', channel), start(inFlight, '2', channel)];
    late.resolve('late');
    failing.reject(new Error('late'));
    await jest.advanceTimersByTimeAsync(0);
    expect([inFlight.size, channel.has(idOf('1')), channel.has(idOf('2'))]).toEqual([2, true, true]);
    later.forEach((call) => call.resolve('x'));
    expect(await Promise.all(later.map((call) => call.end))).toEqual([{ value: 'x' }, { value: 'x' }]);
  });

  it('is over at once when it ended before, whatever its handler still does', async () => {
    const inFlight = new InFlight(2);
    const lifetime = new CallLifetime();
    lifetime.end('disconnected');
    const running = Promise.reject(new Error('late'));
    expect(await inFlight.follow(idOf('1'), lifetime, undefined, 1000, running)).toEqual({
      ended: 'disconnected',
    });
    expect([inFlight.size, jest.getTimerCount()]).toEqual([0, 0]);
  });
});

describe('the time limit', () => {
  it('stands still while its client is asked, and goes on with what was left', async () => {
    const call = start(new InFlight(2), '1', undefined, 1000);
    jest.advanceTimersByTime(400);
    const resume = call.lifetime.pause();
    jest.advanceTimersByTime(600_000);
    expect([call.lifetime.isOpen, jest.getTimerCount()]).toEqual([true, 0]);
    resume();
    jest.advanceTimersByTime(599);
    expect(call.lifetime.isOpen).toBe(true);
    jest.advanceTimersByTime(1);
    expect(await call.end).toEqual({ ended: 'timeout' });
  });

  it('goes on after the last of several pauses, and counts the time between them', async () => {
    const call = start(new InFlight(2), '1', undefined, 1000);
    const [first, second] = [call.lifetime.pause(), call.lifetime.pause()];
    jest.advanceTimersByTime(5000);
    first();
    first();
    jest.advanceTimersByTime(5000);
    second();
    jest.advanceTimersByTime(900);
    call.lifetime.pause()();
    const third = call.lifetime.pause();
    jest.advanceTimersByTime(5000);
    third();
    jest.advanceTimersByTime(99);
    expect([call.lifetime.isOpen, jest.getTimerCount()]).toEqual([true, 1]);
    jest.advanceTimersByTime(1);
    expect(await call.end).toEqual({ ended: 'timeout' });
  });

  it('does not begin for a call that asked before it was followed', async () => {
    const lifetime = new CallLifetime();
    const resume = lifetime.pause();
    const running = new Promise<string>(() => undefined);
    const end = new InFlight(2).follow(idOf('1'), lifetime, undefined, 1000, running);
    jest.advanceTimersByTime(5000);
    expect([lifetime.isOpen, jest.getTimerCount()]).toEqual([true, 0]);
    resume();
    jest.advanceTimersByTime(1000);
    expect(await end).toEqual({ ended: 'timeout' });
  });

  it.each(['answer', 'failure', 'end'] as const)(
    'starts no timer once the call is over by its %s',
    async (how) => {
      const call = start(new InFlight(2));
      const resume = call.lifetime.pause();
      if (how === 'answer') call.resolve('done');
      else if (how === 'failure') call.reject(new Error('no'));
      else call.lifetime.end('cancelled');
      await call.end.catch(() => undefined);
      resume();
      call.lifetime.pause()();
      expect(jest.getTimerCount()).toBe(0);
      jest.advanceTimersByTime(5000);
      expect(call.lifetime.endReason).toBe(how === 'end' ? 'cancelled' : undefined);
    },
  );

  it('is no longer nor shorter for a clock that is set meanwhile', async () => {
    const call = start(new InFlight(2), '1', undefined, 1000);
    jest.setSystemTime(Date.now() + 3_600_000);
    call.lifetime.pause()();
    jest.advanceTimersByTime(999);
    expect(call.lifetime.isOpen).toBe(true);
    jest.advanceTimersByTime(1);
    expect(await call.end).toEqual({ ended: 'timeout' });
  });
});

describe('cancellation', () => {
  const cancel = (channel: Channel, token: string) => {
    const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${token}}}`;
    channel.cancel((JSON.parse(text) as { params: Record<string, unknown> }).params, text);
  };

  it.each([
    ['1', '1'],
    ['"a"', '"a"'],
    ['"a"', String.raw`"\u0061"`],
    [String.raw`"\u0061"`, '"a"'],
    ['9007199254740993', '9007199254740993'],
  ])('ends the call with id %s that %s names', async (token, reference) => {
    const channel = new Channel();
    const call = start(new InFlight(2), token, channel);
    cancel(channel, reference);
    expect(await call.end).toEqual({ ended: 'cancelled' });
    expect(call.lifetime.signal.aborted).toBe(true);
    expect([channel.isBusy, jest.getTimerCount()]).toEqual([false, 0]);
  });

  it.each([
    ['1', '"1"'],
    ['"1"', '1'],
    ['1', '1.0'],
    ['9007199254740993', '9007199254740992'],
    ['1', '2'],
    ['1', 'null'],
    ['1', '{}'],
    ['1', '[1]'],
  ])('leaves the call with id %s alone when %s is named', async (token, reference) => {
    const channel = new Channel();
    const call = start(new InFlight(2), token, channel);
    cancel(channel, reference);
    expect(call.lifetime.isOpen).toBe(true);
    call.resolve('x');
    expect(await call.end).toEqual({ value: 'x' });
    cancel(channel, token);
  });

  it('ignores a notification without a reference', () => {
    const channel = new Channel();
    expect(() =>
      channel.cancel(undefined, '{"jsonrpc":"2.0","method":"notifications/cancelled"}'),
    ).not.toThrow();
    expect(() => channel.cancel({}, '{"params":{}}')).not.toThrow();
  });

  it('of a channel leaves the same id of another channel alone', async () => {
    const inFlight = new InFlight(2);
    const [mine, other] = [new Channel(), new Channel()];
    const calls = [start(inFlight, '1', mine), start(inFlight, '1', other)];
    mine.endAll('cancelled');
    expect(await calls[0]!.end).toEqual({ ended: 'cancelled' });
    expect(other.isBusy).toBe(true);
    calls[1]!.resolve('x');
    expect(await calls[1]!.end).toEqual({ value: 'x' });
  });
});

describe('refusals', () => {
  it('of a second call with an id that still runs leave the first one unharmed', async () => {
    const inFlight = new InFlight(5);
    const channel = new Channel();
    const call = start(inFlight, '"a"', channel);
    expect(inFlight.refusal(idOf(String.raw`"\u0061"`), channel)).toEqual({
      code: -32600,
      message: 'Invalid request: a call with this id is still running',
      busy: false,
    });
    expect(inFlight.refusal(idOf('"b"'), channel)).toBeUndefined();
    call.resolve('x');
    expect(await call.end).toEqual({ value: 'x' });
    expect(inFlight.refusal(idOf('"a"'), channel)).toBeUndefined();
  });

  it('take no account of ids where every request stands alone', async () => {
    const inFlight = new InFlight(5);
    const call = start(inFlight, '1');
    expect(inFlight.refusal(idOf('1'), undefined)).toBeUndefined();
    call.resolve('x');
    await call.end;
  });

  it('come at the cap of a channel and at the cap of the process', async () => {
    const inFlight = new InFlight(2);
    const channel = new Channel(1);
    const calls = [start(inFlight, '1', channel)];
    expect(inFlight.refusal(idOf('2'), channel)).toMatchObject({
      message: 'Too many calls in flight on this channel: at most 1',
      busy: true,
    });
    expect(inFlight.refusal(idOf('2'), new Channel(1))).toBeUndefined();
    calls.push(start(inFlight, '1'));
    expect(inFlight.refusal(idOf('2'), undefined)).toMatchObject({
      message: 'Too many calls in flight: try again shortly',
      busy: true,
    });
    calls.forEach((call) => call.resolve('x'));
    await Promise.all(calls.map((call) => call.end));
    expect(inFlight.refusal(idOf('2'), channel)).toBeUndefined();
  });
});

describe('shutdown', () => {
  it('takes no further call and waits for those that run', async () => {
    const inFlight = new InFlight(5);
    const call = start(inFlight, '1', undefined, 60_000);
    const closed = inFlight.close(5000);
    expect(inFlight.refusal(idOf('2'), undefined)).toMatchObject({
      message: 'The server is shutting down',
      busy: true,
    });
    call.resolve('x');
    expect(await call.end).toEqual({ value: 'x' });
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends what still runs after the grace time', async () => {
    const inFlight = new InFlight(5);
    const call = start(inFlight, '1', undefined, 60_000);
    const closed = inFlight.close(5000);
    jest.advanceTimersByTime(4999);
    expect(call.lifetime.isOpen).toBe(true);
    jest.advanceTimersByTime(1);
    await closed;
    expect(await call.end).toEqual({ ended: 'shutdown' });
    expect(inFlight.size).toBe(0);
  });

  it('is over at once when nothing runs, also a second time', async () => {
    const inFlight = new InFlight(5);
    await expect(inFlight.close(5000)).resolves.toBeUndefined();
    await expect(inFlight.close(5000)).resolves.toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });
});

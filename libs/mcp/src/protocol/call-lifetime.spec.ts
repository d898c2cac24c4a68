import { CallLifetime, type EndReason } from './call-lifetime.js';

describe('CallLifetime', () => {
  it('is open until its answer is known', () => {
    const lifetime = new CallLifetime();
    expect(lifetime.isOpen).toBe(true);
    lifetime.finish();
    expect(lifetime.isOpen).toBe(false);
    expect(lifetime.endReason).toBeUndefined();
    expect(lifetime.signal.aborted).toBe(false);
  });

  it.each([
    ['cancelled', 'AbortError', 'The client cancelled the call'],
    ['disconnected', 'AbortError', 'The client closed the connection'],
    ['timeout', 'TimeoutError', 'The call ran into its time limit'],
    ['shutdown', 'AbortError', 'The server is shutting down'],
  ] as [EndReason, string, string][])('aborts its signal when it is %s', (reason, name, message) => {
    const lifetime = new CallLifetime();
    const { signal } = lifetime;
    lifetime.end(reason);
    expect(lifetime.isOpen).toBe(false);
    expect(lifetime.endReason).toBe(reason);
    expect(signal.reason).toMatchObject({ name, message });
    expect(() => signal.throwIfAborted()).toThrow(message);
  });

  it('has an aborted signal for a handler that asks only after the end', () => {
    const lifetime = new CallLifetime();
    lifetime.end('timeout');
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(lifetime.signal).toBe(lifetime.signal);
  });

  it('ends once: the first reason stays and is told once', () => {
    const lifetime = new CallLifetime();
    const told: EndReason[] = [];
    lifetime.onEnd = (reason) => told.push(reason);
    lifetime.end('cancelled');
    lifetime.end('timeout');
    lifetime.finish();
    expect(told).toEqual(['cancelled']);
    expect(lifetime.endReason).toBe('cancelled');
  });

  it.each(['cancelled', 'disconnected', 'timeout', 'shutdown'] as EndReason[])(
    'is over when it is %s, before what ended it is told',
    (reason) => {
      const lifetime = new CallLifetime();
      const { over } = lifetime;
      const told: boolean[] = [];
      lifetime.onEnd = () => told.push(over.aborted);
      expect(over.aborted).toBe(false);
      lifetime.end(reason);
      lifetime.finish();
      expect([over.aborted, told, lifetime.over]).toEqual([true, [true], over]);
    },
  );

  it('is over once it is answered, whereas its signal stays', () => {
    const lifetime = new CallLifetime();
    const { over, signal } = lifetime;
    lifetime.finish();
    expect([over.aborted, signal.aborted]).toEqual([true, false]);
  });

  it('is over for who asks only after the end', () => {
    const [ended, answered] = [new CallLifetime(), new CallLifetime()];
    ended.end('cancelled');
    answered.finish();
    expect([ended.over.aborted, answered.over.aborted]).toEqual([true, true]);
    expect(ended.over).toBe(ended.over);
  });

  it('is paused until the last who paused it lets it go on, each of whom counts once', () => {
    const lifetime = new CallLifetime();
    const told: boolean[] = [];
    lifetime.onPause = (isPaused) => told.push(isPaused);
    const [first, second] = [lifetime.pause(), lifetime.pause()];
    first();
    first();
    expect([lifetime.isPaused, told]).toEqual([true, [true]]);
    second();
    expect([lifetime.isPaused, told]).toEqual([false, [true, false]]);
    lifetime.pause()();
    second();
    expect([lifetime.isPaused, told]).toEqual([false, [true, false, true, false]]);
  });

  it('can be paused where nobody listens', () => {
    const lifetime = new CallLifetime();
    const resume = lifetime.pause();
    expect(lifetime.isPaused).toBe(true);
    resume();
    expect(lifetime.isPaused).toBe(false);
  });

  it('S-124: cannot be cancelled once it is answered', () => {
    const lifetime = new CallLifetime();
    const { signal } = lifetime;
    lifetime.onEnd = () => {
      throw new Error('told after the answer');
    };
    lifetime.finish();
    lifetime.end('cancelled');
    expect(signal.aborted).toBe(false);
  });
});

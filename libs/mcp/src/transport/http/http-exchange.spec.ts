import { EventEmitter } from 'node:events';
import { requestWith, type FrameworkRequest } from './http-exchange.js';

describe('the request of one message of a batch', () => {
  const setUp = () => {
    const request = Object.assign(new EventEmitter(), { body: 'all' });
    const own = requestWith(request as FrameworkRequest, 'one') as typeof request;
    return { request, own };
  };

  it('has a body of its own, and so is what is set on it', () => {
    const { request, own } = setUp();
    Object.assign(own, { user: 'ada' });
    expect([request.body, own.body]).toEqual(['all', 'one']);
    expect(request).not.toHaveProperty('user');
  });

  it('has the listeners of the whole request: they are told, counted and go', () => {
    const { request, own } = setUp();
    const told: string[] = [];
    const first = () => told.push('first');
    expect(own.on('close', first)).toBe(own);
    expect(own.once('close', () => told.push('once'))).toBe(own);
    expect([request.listenerCount('close'), own.listenerCount('close'), own.eventNames()]).toEqual([
      2,
      2,
      ['close'],
    ]);
    request.emit('close');
    request.emit('close');
    expect(told).toEqual(['first', 'once', 'first']);
    expect(own.off('close', first)).toBe(own);
    request.emit('close');
    expect([told.length, request.eventNames(), own.eventNames()]).toEqual([3, [], []]);
    // One that listens to the request itself is taken off by whoever may.
    request.on('end', first);
    own.removeAllListeners('end');
    expect(request.listenerCount('end')).toBe(0);
  });

  it('is as good without any events, as that of Fastify is', () => {
    const own = requestWith({ body: 'all' }, 'one');
    expect([own.body, 'on' in own]).toEqual(['one', false]);
  });
});

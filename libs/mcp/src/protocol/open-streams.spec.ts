import { OpenStreams } from './open-streams.js';

const nothing = () => undefined;

describe('OpenStreams', () => {
  it('counts those of a caller and of all, and refuses beyond either', () => {
    const streams = new OpenStreams({ streams: 3, streamsPerCaller: 2 });
    const releases = [streams.add('ann', nothing), streams.add('ann', () => undefined)];
    expect(streams.refusal('ann')).toBe('Too many open streams: at most 2 for one caller');
    expect([streams.refusal('bob'), streams.refusal(undefined)]).toEqual([undefined, undefined]);
    streams.add(undefined, () => undefined);
    expect(streams.refusal('bob')).toBe('Too many open streams: try again later');
    expect(streams.refusal(undefined)).toBe('Too many open streams: try again later');
    releases[0]!();
    expect([streams.refusal('ann'), streams.size]).toEqual([undefined, 2]);
  });

  it('frees a place once, however often it is told', () => {
    const streams = new OpenStreams({ streams: 9, streamsPerCaller: 2 });
    const release = streams.add('ann', () => undefined);
    streams.add('ann', () => undefined);
    release();
    release();
    expect(streams.size).toBe(1);
    streams.add('ann', () => undefined);
    expect(streams.refusal('ann')).toBeDefined();
  });

  it('ends all of them at once, also while each frees its place, and takes no further one', () => {
    const streams = new OpenStreams({ streams: 9, streamsPerCaller: 9 });
    let ended = 0;
    for (let at = 0; at < 5; at++) {
      const release = streams.add('ann', () => {
        ended++;
        release();
      });
    }
    streams.close();
    expect([ended, streams.size, streams.refusal('bob')]).toEqual([5, 0, 'The server is shutting down']);
  });
});

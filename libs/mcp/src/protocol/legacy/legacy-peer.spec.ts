import type { McpChange } from '../changes.js';
import { LegacyPeer, MAX_FOLLOWED, MAX_FOLLOWED_LENGTH } from './legacy-peer.js';

const TOOLS: McpChange = { kind: 'list', list: 'tools' };
const NOTE: McpChange = { kind: 'resource', uri: 'note://all' };

function peerWith(features: Partial<Record<'tools' | 'resources' | 'prompts', boolean>> = { tools: true }) {
  const sent: string[] = [];
  const handshake = { revision: '2025-11-25', client: { capabilities: {} } } as const;
  const all = { tools: false, resources: false, prompts: false, completions: false, ...features };
  const peer = new LegacyPeer(handshake, all);
  peer.send = (message) => void sent.push(message);
  return { peer, sent };
}

describe('LegacyPeer', () => {
  it('is told nothing before it is ready, or while no stream is open', () => {
    const { peer, sent } = peerWith();
    peer.notify(TOOLS);
    peer.isReady = true;
    const { send } = peer;
    peer.send = undefined;
    peer.notify(TOOLS);
    expect(sent).toEqual([]);
    peer.send = send;
    peer.notify(TOOLS);
    expect(sent).toEqual(['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}']);
  });

  it('S-032: is told of lists that the handshake promised, and of resources that it follows', () => {
    const { peer, sent } = peerWith({ tools: true });
    peer.isReady = true;
    peer.notify({ kind: 'list', list: 'prompts' });
    peer.notify({ kind: 'list', list: 'resources' });
    peer.notify(NOTE);
    expect(sent).toEqual([]);
    expect(peer.follow('note://all')).toBe(true);
    peer.notify(NOTE);
    peer.notify({ kind: 'resource', uri: 'note://other' });
    expect(sent).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://all"}}',
    ]);
    peer.unfollow('note://all');
    peer.unfollow('never://followed');
    peer.notify(NOTE);
    expect(sent).toHaveLength(1);
  });

  it('follows so many resources and no more, the same one again excepted', () => {
    const { peer } = peerWith();
    for (let at = 0; at < MAX_FOLLOWED; at++) expect(peer.follow(`a://${at}`)).toBe(true);
    expect(peer.follow('b://1')).toBe(false);
    expect(peer.follow('a://0')).toBe(true);
    peer.unfollow('a://0');
    expect(peer.follow('b://1')).toBe(true);
  });

  it('follows addresses of so many characters together and no more, and gives room back', () => {
    const { peer } = peerWith();
    const long = (at: number) => `a://${at}`.padEnd(MAX_FOLLOWED_LENGTH / 16, 'x');
    for (let at = 0; at < 16; at++) expect(peer.follow(long(at))).toBe(true);
    expect(peer.follow('a:')).toBe(false);
    expect(peer.follow(long(0))).toBe(true);
    // What is not followed gives nothing back.
    peer.unfollow(long(16));
    expect(peer.follow('a:')).toBe(false);
    peer.unfollow(long(0));
    peer.unfollow(long(0));
    expect(peer.follow(long(16))).toBe(true);
    expect(peer.follow('a:')).toBe(false);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import type { ListKind, McpChange } from '../changes.js';
import type { ResponseMessage } from '../json-rpc.js';
import {
  LegacyPeer,
  MAX_FOLLOWED,
  MAX_FOLLOWED_LENGTH,
  type PeerKeeper,
  type PeerState,
} from './legacy-peer.js';
import type { McpSessionChange } from './session-store.js';

const TOOLS: McpChange = { kind: 'list', list: 'tools' };
const NOTE: McpChange = { kind: 'resource', uri: 'note://all' };
const TOOLS_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const NOTE_UPDATED =
  '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://all"}}';
const HANDSHAKE = { revision: '2025-11-25', client: { capabilities: {} } } as const;

function peerWith(lists: readonly ListKind[] = ['tools'], latest?: PeerKeeper['latest'], state?: PeerState) {
  const sent: string[] = [];
  const kept: McpSessionChange[] = [];
  const keeper = { update: (change: McpSessionChange) => void kept.push(change) };
  const peer = new LegacyPeer(HANDSHAKE, lists, latest ? { ...keeper, latest } : keeper, state);
  peer.send = (message) => void sent.push(message);
  return { peer, sent, kept };
}

const answer = (): ResponseMessage => ({
  kind: 'response',
  id: { text: '"a"', key: '"a"' },
  source: { text: '', value: { result: {} } },
});

describe('LegacyPeer', () => {
  it('is told nothing before it is ready, or while no stream is open', async () => {
    const { peer, sent } = peerWith();
    peer.notify(TOOLS);
    await peer.becomeReady();
    const { send } = peer;
    peer.send = undefined;
    peer.notify(TOOLS);
    expect(sent).toEqual([]);
    peer.send = send;
    peer.notify(TOOLS);
    expect(sent).toEqual([TOOLS_CHANGED]);
  });

  it('S-032: is told of lists that the handshake promised, and of resources that it follows', async () => {
    const { peer, sent } = peerWith(['tools']);
    await peer.becomeReady();
    peer.notify({ kind: 'list', list: 'prompts' });
    peer.notify({ kind: 'list', list: 'resources' });
    peer.notify(NOTE);
    expect(sent).toEqual([]);
    expect(await peer.follow('note://all')).toBe(true);
    peer.notify(NOTE);
    peer.notify({ kind: 'resource', uri: 'note://other' });
    expect(sent).toEqual([NOTE_UPDATED]);
    await peer.unfollow('note://all');
    await peer.unfollow('never://followed');
    peer.notify(NOTE);
    expect(sent).toHaveLength(1);
  });

  it('follows so many resources and no more, the same one again excepted', async () => {
    const { peer } = peerWith();
    for (let at = 0; at < MAX_FOLLOWED; at++) expect(await peer.follow(`a://${at}`)).toBe(true);
    expect(await peer.follow('b://1')).toBe(false);
    expect(await peer.follow('a://0')).toBe(true);
    await peer.unfollow('a://0');
    expect(await peer.follow('b://1')).toBe(true);
  });

  it('follows addresses of so many characters together and no more, and gives room back', async () => {
    const { peer } = peerWith();
    const long = (at: number) => `a://${at}`.padEnd(MAX_FOLLOWED_LENGTH / 16, 'x');
    for (let at = 0; at < 16; at++) expect(await peer.follow(long(at))).toBe(true);
    expect(await peer.follow('a:')).toBe(false);
    expect(await peer.follow(long(0))).toBe(true);
    // What is not followed gives nothing back.
    await peer.unfollow(long(16));
    expect(await peer.follow('a:')).toBe(false);
    await peer.unfollow(long(0));
    await peer.unfollow(long(0));
    expect(await peer.follow(long(16))).toBe(true);
    expect(await peer.follow('a:')).toBe(false);
  });

  it('does all that without a keeper as well', async () => {
    const peer = new LegacyPeer(HANDSHAKE, ['tools']);
    const sent: string[] = [];
    peer.send = (message) => void sent.push(message);
    await peer.becomeReady();
    await peer.setLogLevel('info');
    await peer.follow('note://all');
    peer.notify(NOTE);
    await peer.unfollow('note://all');
    peer.notify(NOTE);
    expect([peer.isReady, peer.logLevel, sent]).toEqual([true, 'info', [NOTE_UPDATED]]);
  });
});

describe('what a client sets up', () => {
  it('is kept, each thing once, and only where it changes something', async () => {
    const { peer, kept } = peerWith();
    await peer.becomeReady();
    await peer.becomeReady();
    await peer.setLogLevel('debug');
    await peer.follow('a://1');
    await peer.follow('a://1');
    await peer.unfollow('a://2');
    await peer.unfollow('a://1');
    expect(kept).toEqual([
      { isReady: true },
      { logLevel: 'debug' },
      { follow: 'a://1' },
      { unfollow: 'a://1' },
    ]);
    expect(peer.changes).toBe(4);
  });

  it('is there again from what was kept, its room included', async () => {
    const followed = Array.from({ length: MAX_FOLLOWED - 1 }, (_, at) => `a://${at}`);
    const { peer, sent, kept } = peerWith(['tools'], undefined, {
      isReady: true,
      logLevel: 'error',
      followed: [...followed, 'note://all'],
    });
    peer.notify(TOOLS);
    peer.notify(NOTE);
    expect([peer.isReady, peer.logLevel, sent]).toEqual([true, 'error', [TOOLS_CHANGED, NOTE_UPDATED]]);
    expect([await peer.follow('b://1'), kept]).toEqual([false, []]);
    peer.refresh({ isReady: true, followed: [] });
    expect([await peer.follow('b://1'), peer.logLevel]).toEqual([true, undefined]);
  });

  it('fails where it cannot be kept', async () => {
    const keeper = { update: () => Promise.reject(new Error('down')) };
    const peer = new LegacyPeer(HANDSHAKE, ['tools'], keeper);
    await expect(peer.becomeReady()).rejects.toThrow('down');
    await expect(peer.setLogLevel('info')).rejects.toThrow('down');
    await expect(peer.follow('a://1')).rejects.toThrow('down');
  });
});

describe('a peer whose state other processes change', () => {
  const ready: PeerState = { isReady: true, followed: [] };

  it('is told by the state as it is now', async () => {
    let state: PeerState | undefined = { ...ready, followed: ['note://all'] };
    const { peer, sent } = peerWith(['tools'], () => Promise.resolve(state));
    peer.notify(NOTE);
    await turn();
    expect(sent).toEqual([NOTE_UPDATED]);
    state = ready;
    peer.notify(NOTE);
    await turn();
    expect(sent).toHaveLength(1);
    // It is over, or the store failed.
    state = undefined;
    peer.notify(TOOLS);
    await turn();
    expect(sent).toHaveLength(1);
  });

  it('is not asked about without a stream, and told nothing where that closed meanwhile', async () => {
    let looks = 0;
    const { peer, sent } = peerWith(['tools'], async () => {
      looks++;
      await turn();
      return ready;
    });
    peer.notify(TOOLS);
    peer.send = undefined;
    await turn();
    await turn();
    peer.notify(TOOLS);
    expect([looks, sent]).toEqual([1, []]);
  });

  it('keeps what it set up here while that look was on its way', async () => {
    const { peer, sent } = peerWith(
      ['tools'],
      async () => {
        await turn();
        return { isReady: true, followed: [] };
      },
      ready,
    );
    peer.notify(NOTE);
    await peer.follow('note://all');
    await turn();
    await turn();
    expect(sent).toEqual([NOTE_UPDATED]);
    peer.notify(NOTE);
    await turn();
    await turn();
    expect(sent).toHaveLength(1);
  });
});

describe('requests to a client', () => {
  it('have no answer where none was ever asked', () => {
    const { peer } = peerWith();
    expect(peer.answer(answer())).toBe(false);
    expect(peer.requests).toBe(peer.requests);
    expect(peer.answer(answer())).toBe(false);
  });

  it('end with it', async () => {
    const { peer } = peerWith();
    const options = { send: () => undefined, signal: new AbortController().signal, timeLimit: 1000 };
    const asked = peer.requests.ask({ method: 'roots/list' }, options);
    peer.close();
    await expect(asked).rejects.toMatchObject({ fault: 'gone' });
    expect(peer.requests.size).toBe(0);
  });
});

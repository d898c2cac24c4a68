import { Injectable } from '@nestjs/common';
import type { McpCaller } from '../../protocol/call-origin.js';
import { McpServer } from '../../server/mcp.server.js';
import { PeerChannel, standInIdentity, type PeerOutlet } from './peer.channel.js';
import type { McpStdioRequestOptions } from './stand-in.request.js';

/**
 * The other end of a transport of the application's own. One object is one channel, with at most one legacy session:
 * give the same one with every message of that client.
 * @publicApi
 */
export interface McpPeer {
  /**
   * Sends a message that is no answer: progress and log messages of a call, changes. A promise says when there is room
   * for more; until then progress waits and log messages are dropped. Where it fails, the peer counts as gone.
   */
  send(message: Uint8Array): void | Promise<void>;
  /** Who it is; default what the module's option `caller` says of `request`. */
  readonly caller?: McpCaller;
  /** What guards see as the request. */
  readonly request?: McpStdioRequestOptions;
  /** To be aborted when the channel is closed: what runs is cancelled, and nothing is kept for it. */
  readonly signal?: AbortSignal;
}

/**
 * The way in for a transport of the application's own: bytes in, bytes out. Guards and all that is global apply as
 * on the endpoint's handlers; who may connect is the transport's to decide.
 *
 * @example
 * constructor(private readonly dispatcher: McpDispatcher) {}
 * async onMessage(socket: WebSocket, data: Uint8Array) {
 *   const answer = await this.dispatcher.handleMessage(data, this.peerOf(socket));
 *   if (answer) socket.send(answer);
 * }
 * @publicApi
 */
@Injectable()
export abstract class McpDispatcher {
  /**
   * Serves one message of either era: a JSON-RPC message in UTF-8. Never rejects; what cannot be read is answered by
   * an error.
   *
   * @returns the answer; nothing to a notification, and to a request that was cancelled. That to
   * `subscriptions/listen` comes when it ends
   */
  abstract handleMessage(raw: string | Uint8Array, peer: McpPeer): Promise<Uint8Array | undefined>;
}

/** The channels of all peers, each as long as its peer. */
@Injectable()
export class PeerDispatcher extends McpDispatcher {
  private readonly channels = new WeakMap<McpPeer, PeerChannel>();

  constructor(private readonly server: McpServer) {
    super();
  }

  async handleMessage(raw: string | Uint8Array, peer: McpPeer): Promise<Uint8Array | undefined> {
    const channel = this.channels.get(peer) ?? this.open(peer);
    const answer = await channel.receive(bytesOf(raw));
    return answer && Buffer.from(answer.message);
  }

  private open(peer: McpPeer): PeerChannel {
    const { request = {}, caller, signal } = peer;
    const channel: PeerChannel = new PeerChannel(
      this.server,
      standInIdentity('memory', request, (stand) => caller ?? this.server.settings.callerOf(stand)),
      outletOf(peer, () => channel.close()),
    );
    this.channels.set(peer, channel);
    if (signal?.aborted) channel.close();
    signal?.addEventListener('abort', () => channel.close(), { once: true });
    return channel;
  }
}

/** Bytes of whatever a transport hands on; what is none of it is an empty message, which is refused. */
function bytesOf(raw: unknown): Uint8Array {
  if (typeof raw === 'string') return Buffer.from(raw);
  if (ArrayBuffer.isView(raw)) return new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength);
  return raw instanceof ArrayBuffer ? new Uint8Array(raw) : new Uint8Array();
}

/** What is sent to the peer; while it has no room, what may be lost is. */
function outletOf(peer: McpPeer, onBroken: () => void): PeerOutlet {
  let waiting: Promise<void> | undefined;
  const send = (message: string): void | Promise<void> => {
    try {
      return peer.send(Buffer.from(message))?.catch(onBroken);
    } catch {
      onBroken();
    }
  };
  return {
    emit: async (message) => {
      if (waiting) return;
      waiting = send(message) ?? undefined;
      await waiting;
      waiting = undefined;
    },
    send: (message) => void send(message),
    notify: (message) => void send(message),
  };
}

import type { Socket } from 'node:net';
import type { CallLifetime } from '../../protocol/call-lifetime.js';
import type { HttpExchange } from './http-exchange.js';

/** What waits for the end of a connection beside its response. One listener serves all of a socket. */
const watched = new WeakMap<Socket, SocketEnd>();

/**
 * Ends the call when its client closes the connection. A response tells of that only while it holds the
 * socket; the response to a pipelined request gets it when all before it are answered, so until then the
 * socket itself is asked.
 * Source: Streamable HTTP, Cancellation, 2026-07-28: closing the stream cancels the request.
 *
 * @returns what stops watching; to be called once the call is over
 */
export function endOnDisconnect(lifetime: CallLifetime, { raw, message }: HttpExchange): () => void {
  const onClose = () => lifetime.end('disconnected');
  raw.once('close', onClose);
  const { socket } = message;
  const isQueued = raw.socket === null;
  if (raw.destroyed || (isQueued && socket.destroyed)) onClose();
  const unwatch = isQueued && !socket.destroyed ? onSocketClose(socket, onClose) : undefined;
  return () => {
    raw.off('close', onClose);
    unwatch?.();
  };
}

/**
 * Calls back when the socket closes. Any number of responses may wait on one socket, too many for a listener each.
 *
 * @returns what stops watching
 */
export function onSocketClose(socket: Socket, onClose: () => void): () => void {
  let end = watched.get(socket);
  if (!end) watched.set(socket, (end = new SocketEnd(socket)));
  end.add(onClose);
  return () => end.delete(onClose);
}

/** Listens to the socket as long as somebody waits for its end. */
class SocketEnd {
  private readonly waiting = new Set<() => void>();

  constructor(private readonly socket: Socket) {
    socket.on('close', this.onClose);
  }

  add(onClose: () => void): void {
    this.waiting.add(onClose);
  }

  delete(onClose: () => void): void {
    if (!this.waiting.delete(onClose) || this.waiting.size > 0) return;
    this.socket.off('close', this.onClose);
    watched.delete(this.socket);
  }

  private readonly onClose = (): void => this.waiting.forEach((onClose) => onClose());
}

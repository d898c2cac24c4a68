import type { Socket } from 'node:net';
import type { CallLifetime } from '../../protocol/call-lifetime.js';
import type { HttpExchange } from './http-exchange.js';

/** The calls whose answers wait behind others on their connection. One listener serves all of a socket. */
const queued = new WeakMap<Socket, QueuedCalls>();

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
  else if (isQueued) callsOf(socket).add(lifetime);
  return () => {
    raw.off('close', onClose);
    if (isQueued) queued.get(socket)?.delete(lifetime);
  };
}

function callsOf(socket: Socket): QueuedCalls {
  let calls = queued.get(socket);
  if (!calls) queued.set(socket, (calls = new QueuedCalls(socket)));
  return calls;
}

/** Listens to the socket as long as there is a call on it. */
class QueuedCalls {
  private readonly lifetimes = new Set<CallLifetime>();

  constructor(private readonly socket: Socket) {
    socket.on('close', this.onClose);
  }

  add(lifetime: CallLifetime): void {
    this.lifetimes.add(lifetime);
  }

  delete(lifetime: CallLifetime): void {
    this.lifetimes.delete(lifetime);
    if (this.lifetimes.size > 0) return;
    this.socket.off('close', this.onClose);
    queued.delete(this.socket);
  }

  private readonly onClose = (): void => this.lifetimes.forEach((lifetime) => lifetime.end('disconnected'));
}

import type { IncomingMessage } from 'node:http';
import { ErrorCode } from '../../protocol/error-codes.js';
import { refuse, shuttingDown, type HttpRefusal } from './http-refusal.js';
import { checkBodyHeaders, tooLarge } from './media-types.js';

export interface BodyLimits {
  /** Bytes. */
  readonly body: number;
  /** ms. */
  readonly bodyTime: number;
}

/** The client went away before its body was there: nobody is left to answer. */
export const GONE = Symbol('gone');

/**
 * Reads requests' bodies from Node's stream, whatever adapter is in front: the size counted, the time
 * bounded. Adapters' own parsers have other limits and other answers, so none of them takes part.
 */
export class BodyReader {
  private readonly reading = new Set<(outcome: HttpRefusal) => void>();
  private isClosed = false;

  constructor(private readonly limits: BodyLimits) {}

  read(message: IncomingMessage): Promise<Buffer | HttpRefusal | typeof GONE> {
    const { limits } = this;
    const refusal = this.isClosed ? shuttingDown({ closes: true }) : checkBodyHeaders(message, limits.body);
    if (refusal) return Promise.resolve(refusal);
    if (message.readableDidRead) return Promise.resolve(alreadyRead());
    if (message.destroyed) return Promise.resolve(GONE);
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (outcome: Buffer | HttpRefusal | typeof GONE) => {
        clearTimeout(timer);
        this.reading.delete(finish);
        message.off('data', onData).off('end', onEnd).off('close', onClose);
        // What still listens for errors would keep them as long as the answer takes.
        chunks.length = 0;
        resolve(outcome);
      };
      const onData = (chunk: Buffer) => {
        size += chunk.length;
        if (size > limits.body) finish(tooLarge(limits.body));
        else chunks.push(chunk);
      };
      const onEnd = () => finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
      const onClose = () => finish(GONE);
      const timer = setTimeout(
        () => finish(refuse(408, `The body was not there within ${limits.bodyTime} ms`, { closes: true })),
        limits.bodyTime,
      );
      this.reading.add(finish);
      message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    });
  }

  /** Lets go of every body that is still coming. */
  close(): void {
    this.isClosed = true;
    this.reading.forEach((finish) => finish(shuttingDown({ closes: true })));
  }
}

function alreadyRead(): HttpRefusal {
  const message = 'Internal error: the body was read before it reached the MCP endpoint';
  return { status: 500, error: { code: ErrorCode.InternalError, message } };
}
